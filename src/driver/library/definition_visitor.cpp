// SPDX-License-Identifier: BSD-3-Clause
#include "driver/library/definition_visitor.hpp"

#include <vector>

namespace shoal {

namespace {

bool same(const Attribute& a, const Attribute& b) {
  return a.type == b.type && a.data == b.data && a.strings == b.strings;
}

}  // namespace

void for_each_new(const Schema& in_file, const Schema& wanted, DefinitionVisitor& visitor) {
  for (const SchemaChange& change : wanted.changes)
    visitor.change(change);
  const Schema schema = changed(in_file, wanted.changes);
  for (std::size_t g = schema.groups.size(); g < wanted.groups.size(); ++g)
    visitor.group(static_cast<int>(g), wanted.groups[g]);
  for (std::size_t d = schema.dims.size(); d < wanted.dims.size(); ++d)
    visitor.dimension(static_cast<int>(d), wanted.dims[d]);
  const auto attributes = [&](int v, const std::vector<Attribute>& had, const std::vector<Attribute>& has) {
    for (const auto& attribute : has) {
      const Attribute* old = find_attribute(had, attribute.name);
      if (old == nullptr || !same(*old, attribute)) visitor.attribute(v, attribute);
    }
  };
  attributes(k_of_file, schema.attributes, wanted.attributes);
  for (std::size_t g = 0; g < wanted.groups.size(); ++g)
    attributes(of_group(static_cast<int>(g)),
               g < schema.groups.size() ? schema.groups[g].attributes : std::vector<Attribute>{},
               wanted.groups[g].attributes);
  for (std::size_t v = 0; v < wanted.variables.size(); ++v) {
    const bool is_new = v >= schema.variables.size();
    if (is_new) visitor.variable(static_cast<int>(v), wanted.variables[v]);
    attributes(static_cast<int>(v), is_new ? std::vector<Attribute>{} : schema.variables[v].attributes,
               wanted.variables[v].attributes);
  }
}

}  // namespace shoal
