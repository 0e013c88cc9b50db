// SPDX-License-Identifier: BSD-3-Clause
// Did all ranks define the same? Packs definitions to bytes, and finds the first difference in words.
#include <fmt/core.h>

#include <algorithm>

#include "base/language.hpp"
#include "base/text.hpp"
#include "dataset/definitions.hpp"

namespace shoal {

Bytes packed_definitions(const Schema& schema,
                         const std::vector<std::shared_ptr<const Decomposition>>& decompositions) {
  // Ranks may know different record counts between two commits; that is no difference of definitions.
  Schema plain = schema;
  for (auto& dim : plain.dims)
    if (dim.unlimited) dim.length = 0;
  ByteWriter out;
  pack(out, plain);
  // Decompositions are objects of one rank; what ranks share is which variables have the same one.
  std::vector<std::int64_t> numbers;
  std::vector<const Decomposition*> seen;
  for (const auto& d : decompositions) {
    if (d == nullptr) {
      numbers.push_back(-1);
      continue;
    }
    const auto at = std::find(seen.begin(), seen.end(), d.get());
    numbers.push_back(at - seen.begin());
    if (at == seen.end()) seen.push_back(d.get());
  }
  out.put(numbers);
  return out.take();
}

namespace {

std::string quoted(const std::string& name) {
  return fmt::format("'{}'", name);
}

std::string dims_text(const Schema& schema, const VariableDef& v) {
  std::vector<std::string> names;
  for (const int d : v.dims)
    names.push_back(schema.dims[static_cast<std::size_t>(d)].name);
  return fmt::format("({})", joined(as_listed(std::move(names)), " "));
}

std::string attributes_difference(const std::vector<Attribute>& mine, const std::vector<Attribute>& root,
                                  const std::string& of) {
  for (std::size_t i = 0; i < std::max(mine.size(), root.size()); ++i) {
    if (i >= mine.size()) return fmt::format("attribute {}{} is missing here", quoted(root[i].name), of);
    if (i >= root.size()) return fmt::format("attribute {}{} is missing on rank 0", quoted(mine[i].name), of);
    if (mine[i].name != root[i].name)
      return fmt::format("attribute {}{} is {} here and {} on rank 0", i, of, quoted(mine[i].name),
                         quoted(root[i].name));
    if (mine[i].type != root[i].type || mine[i].data != root[i].data || mine[i].strings != root[i].strings)
      return fmt::format(
          "attribute {}{} has another value than on rank 0 (a time of day? let rank 0 broadcast it)",
          quoted(mine[i].name), of);
  }
  return "";
}

std::string dims_difference(const Schema& mine, const Schema& root) {
  for (std::size_t i = 0; i < std::max(mine.dims.size(), root.dims.size()); ++i) {
    if (i >= mine.dims.size()) return fmt::format("dimension {} is missing here", quoted(root.dims[i].name));
    if (i >= root.dims.size())
      return fmt::format("dimension {} is missing on rank 0", quoted(mine.dims[i].name));
    const Dimension& m = mine.dims[i];
    const Dimension& r = root.dims[i];
    if (m.name != r.name)
      return fmt::format("dimension {} is {} here and {} on rank 0", i, quoted(m.name), quoted(r.name));
    if (m.length != r.length || m.unlimited != r.unlimited)
      return fmt::format("dimension {} has length {} here and {} on rank 0", quoted(m.name), m.length,
                         r.length);
  }
  return "";
}

std::string variables_difference(const Schema& mine, const Schema& root) {
  for (std::size_t i = 0; i < std::max(mine.variables.size(), root.variables.size()); ++i) {
    if (i >= mine.variables.size())
      return fmt::format("variable {} is missing here", quoted(root.variables[i].name));
    if (i >= root.variables.size())
      return fmt::format("variable {} is missing on rank 0", quoted(mine.variables[i].name));
    const VariableDef& m = mine.variables[i];
    const VariableDef& r = root.variables[i];
    if (m.name != r.name)
      return fmt::format("variable {} is {} here and {} on rank 0", i, quoted(m.name), quoted(r.name));
    const std::string name = "variable " + quoted(m.name);
    if (m.type != r.type)
      return fmt::format("{} is {} here and {} on rank 0", name, name_of(m.type), name_of(r.type));
    if (m.dims != r.dims)
      return fmt::format("{} has dimensions {} here and {} on rank 0", name, dims_text(mine, m),
                         dims_text(root, r));
    if (m.distributed != r.distributed)
      return name + (m.distributed ? " has a decomposition here and none on rank 0"
                                   : " has no decomposition here and one on rank 0");
    if (m.chunks != r.chunks) return name + " has other chunks than on rank 0";
    if (m.filters != r.filters)
      return fmt::format("{} is compressed by {} here and by {} on rank 0", name, text_of(m.filters),
                         text_of(r.filters));
    if (m.no_fill != r.no_fill) return name + " has another fill mode than on rank 0";
    const std::string difference = attributes_difference(m.attributes, r.attributes, " of " + name);
    if (!difference.empty()) return difference;
  }
  return "";
}

// Names that come to the same by other calls.
std::string changes_difference(const Schema& mine, const Schema& root) {
  for (std::size_t i = 0; i < std::max(mine.changes.size(), root.changes.size()); ++i) {
    const std::string m = i < mine.changes.size() ? text_of(mine.changes[i]) : "nothing more";
    const std::string r = i < root.changes.size() ? text_of(root.changes[i]) : "nothing more";
    if (m != r) return fmt::format("this rank asked to {}, rank 0 to {}", m, r);
  }
  return "";
}

}  // namespace

std::string first_difference(const Bytes& mine, const Bytes& of_root) {
  ByteReader my_reader(mine);
  ByteReader root_reader(of_root);
  const Schema m = unpack_schema(my_reader);
  const Schema r = unpack_schema(root_reader);
  std::string difference = dims_difference(m, r);
  if (difference.empty()) difference = attributes_difference(m.attributes, r.attributes, " of the file");
  if (difference.empty()) difference = variables_difference(m, r);
  if (difference.empty()) difference = changes_difference(m, r);
  if (difference.empty()) difference = "variables share decompositions in another way than on rank 0";
  return difference;
}

}  // namespace shoal
