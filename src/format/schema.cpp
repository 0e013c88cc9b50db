// SPDX-License-Identifier: BSD-3-Clause
#include "format/schema.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/field_bytes.hpp"
#include "base/names.hpp"
#include "base/text.hpp"

namespace shoal {

Attribute Attribute::text(std::string name, const std::string& value) {
  Attribute attribute{std::move(name), Type::char_, {}, {}};
  attribute.data.resize(value.size());
  if (!value.empty()) std::memcpy(attribute.data.data(), value.data(), value.size());
  return attribute;
}

Attribute Attribute::numbers(std::string name, Type type, const void* values, std::int64_t count) {
  if (!is_number(type))
    throw Error(Code::type, "attribute '{}': numbers cannot be of type {}", name, name_of(type));
  if (count < 0)
    throw Error(Code::invalid_argument, "attribute '{}': {} values; a count is 0 or more", name, count);
  Attribute attribute{std::move(name), type, {}, {}};
  attribute.data.resize(static_cast<std::size_t>(count) * size_of(type));
  if (!attribute.data.empty()) std::memcpy(attribute.data.data(), values, attribute.data.size());
  return attribute;
}

namespace {
/// Index of the item of a name: as it is, or, where none is called so, in another form of Unicode. -1: none.
template <class Items>
int index_of(const Items& items, const std::string& name) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].name == name) return static_cast<int>(i);
  if (is_ascii(name)) return -1;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (same_name(items[i].name, name)) return static_cast<int>(i);
  return -1;
}
}  // namespace

const std::vector<Attribute>& Schema::attributes_of(int owner) const {
  if (is_group(owner)) return groups.at(group_number(owner)).attributes;
  return owner == k_of_file ? attributes : variables.at(owner).attributes;
}

std::vector<Attribute>& Schema::attributes_of(int owner) {
  return const_cast<std::vector<Attribute>&>(std::as_const(*this).attributes_of(owner));  // NOLINT
}

const std::vector<UnreadAttribute>& Schema::unread_of(int owner) const {
  if (is_group(owner)) return groups.at(group_number(owner)).unread;
  return owner == k_of_file ? unread : variables.at(owner).unread;
}

std::vector<UnreadAttribute>& Schema::unread_of(int owner) {
  return const_cast<std::vector<UnreadAttribute>&>(std::as_const(*this).unread_of(owner));  // NOLINT
}

int Schema::find_dim(const std::string& name) const {
  return index_of(dims, name);
}

int Schema::record_dim() const {
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d].unlimited) return static_cast<int>(d);
  return -1;
}

int Schema::find_variable(const std::string& name) const {
  return index_of(variables, name);
}

bool Schema::has_record(int variable) const {
  const auto& ids = variables.at(variable).dims;
  return !ids.empty() && dims.at(ids.front()).unlimited;
}

Dims Schema::shape(int variable) const {
  const auto& definition = variables.at(variable);
  if (definition.dims.count() > k_max_dims)
    throw Error(Code::not_supported, "{} dimensions; Shoal reads and writes up to {}", definition.dims.size(),
                k_max_dims)
        .of_variable(definition.name);
  Dims lengths;
  for (const int id : definition.dims)
    lengths.push_back(dims.at(id).length);
  return lengths;
}

std::string text_of(const SchemaChange& change) {
  using Kind = SchemaChange::Kind;
  const std::string what = change.kind == Kind::rename_dim        ? "dimension"
                           : change.kind == Kind::rename_variable ? "variable"
                           : change.kind == Kind::rename_group    ? "group"
                                                                  : "attribute";
  if (change.kind == Kind::delete_attribute) return "delete " + what + " '" + change.name + "'";
  return "rename " + what + " '" + change.name + "' to '" + change.to + "'";
}

namespace {
// With all that is in it.
void rename_group(Schema& schema, const SchemaChange& change) {
  const auto rename = [&](auto& items) {
    for (auto& item : items)
      if (item.name == change.name || item.name.starts_with(change.name + '/'))
        item.name = change.to + item.name.substr(change.name.size());
  };
  rename(schema.groups);
  rename(schema.dims);
  rename(schema.variables);
}
}  // namespace

Schema changed(Schema schema, const std::vector<SchemaChange>& changes) {
  for (const SchemaChange& change : changes) {
    const auto index = static_cast<std::size_t>(change.index);
    const bool of_other =
        change.kind == SchemaChange::Kind::rename_dim || change.kind == SchemaChange::Kind::rename_group;
    auto& attributes = schema.attributes_of(of_other ? k_of_file : change.index);
    const auto attribute = std::find_if(attributes.begin(), attributes.end(),
                                        [&](const Attribute& a) { return a.name == change.name; });
    switch (change.kind) {
      case SchemaChange::Kind::rename_dim:
        schema.dims.at(index).name = change.to;
        break;
      case SchemaChange::Kind::rename_variable:
        schema.variables.at(index).name = change.to;
        break;
      case SchemaChange::Kind::rename_group:
        rename_group(schema, change);
        break;
      case SchemaChange::Kind::rename_attribute:
        if (attribute != attributes.end()) attribute->name = change.to;
        break;
      case SchemaChange::Kind::delete_attribute:
        if (attribute != attributes.end()) attributes.erase(attribute);
        break;
    }
  }
  return schema;
}

bool have_same_values(const Attribute& a, const Attribute& b) {
  return a.type == b.type && a.data == b.data && a.strings == b.strings;
}

const Attribute* find_attribute(const std::vector<Attribute>& attributes, const std::string& name) {
  const int i = index_of(attributes, name);
  return i < 0 ? nullptr : &attributes[static_cast<std::size_t>(i)];
}

Bytes fill_of(const VariableDef& variable) {
  const void* standard = default_fill(variable.type);
  if (standard == nullptr) return {};
  // One of another type or length is none by netCDF's rules.
  const Attribute* own = find_attribute(variable.attributes, k_fill_name);
  if (own != nullptr && fault_of_fill(variable).empty()) return own->data;
  Bytes value(size_of(variable.type));
  std::memcpy(value.data(), standard, value.size());
  return value;
}

std::string fault_of_fill(const VariableDef& variable) {
  const Attribute* own = find_attribute(variable.attributes, k_fill_name);
  if (own == nullptr || variable.type == Type::none) return {};
  if (own->type != variable.type)
    return fmt::format("its _FillValue is of type {}, the variable of type {}", name_of(own->type),
                       name_of(variable.type));
  return own->count() == 1 ? std::string() : fmt::format("its _FillValue has {} values", own->count());
}

void require_plain(const VariableDef& variable) {
  if (variable.fits_plainly) return;
  throw Error(Code::not_supported, "{}",
              variable.refusal.empty()
                  ? "the variable is of a type that Shoal cannot read or write (compound, "
                    "enum, opaque, ...), or has too many dimensions"
                  : variable.refusal)
      .of_variable(variable.name);
}

namespace {

template <class Io, class AnySchema>
void visit_schema(Io& io, AnySchema& schema) {
  const auto attribute = [](auto& to, auto& a) { to(a.name, a.type, a.data, a.strings); };
  const auto unread = [](auto& to, auto& a) { to(a.name, a.type); };
  io(schema.format);
  io.each(schema.groups, [&](auto& to, auto& group) {
    to(group.name);
    to.each(group.attributes, attribute);
    to.each(group.unread, unread);
  });
  io.each(schema.dims, [](auto& to, auto& dim) { to(dim.name, dim.length, dim.unlimited); });
  io.each(schema.attributes, attribute);
  io.each(schema.unread, unread);
  io.each(schema.variables, [&](auto& to, auto& v) {
    to(v.name, v.type, v.dims);
    to.each(v.attributes, attribute);
    to.each(v.unread, unread);
    to(v.no_fill, v.distributed, v.independent, v.chunks, v.filters, v.fits_plainly, v.refusal,
       v.in_other_files, v.absent);
  });
  io.each(schema.changes, [](auto& to, auto& c) { to(c.kind, c.index, c.name, c.to); });
}

}  // namespace

void pack(ByteWriter& out, const Schema& schema) {
  FieldWriter io(out);
  visit_schema(io, schema);
}

Schema unpack_schema(ByteReader& in) {
  Schema schema;
  FieldReader io(in);
  visit_schema(io, schema);
  return schema;
}

}  // namespace shoal
