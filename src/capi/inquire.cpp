// SPDX-License-Identifier: BSD-3-Clause
// What is in a file.
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/language.hpp"
#include "base/text.hpp"
#include "capi/handles.hpp"
#include "capi/structs.hpp"
#include "codec/convert.hpp"
#include "codec/filters.hpp"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

namespace {

// Error(invalid_argument) for an index that is not there.
template <class T>
const T& at(const std::vector<T>& items, int index, const char* what) {
  if (index < 0 || static_cast<std::size_t>(index) >= items.size())
    throw Error(Code::not_found, "there is no {} number {}; there are {}, counting {}", what, as_index(index),
                items.size(), counted_from());
  return items[static_cast<std::size_t>(index)];
}

const char* storage_of(const Dataset& dataset, int variable, const VariableDef& definition) {
  if (!definition.filters.empty()) return "compressed";
  if (!definition.chunks.empty()) return "chunked";
  const auto placement = dataset.placement(variable);
  if (!placement) return "undecided";
  switch (placement->kind) {
    case Placement::Kind::regular:
      return "contiguous";
    case Placement::Kind::listed:
      return "chunked";
    case Placement::Kind::encoded:
      return "compressed";
    case Placement::Kind::library:
      return "library";
  }
  return "undecided";
}

void copy_numbers(const Attribute& attribute, Type type, void* values) {
  const std::size_t from_size = size_of(attribute.type);
  const std::size_t to_size = size_of(type);
  const ConvertRun convert = find_conversion({attribute.type, from_size, false}, {type, to_size, false});
  const ConversionErrors conversion_errors = convert(
      attribute.data.data(), static_cast<int64_t>(from_size), static_cast<std::byte*>(values),
      static_cast<int64_t>(to_size), attribute.count(), static_cast<const std::byte*>(default_fill(type)));
  if (conversion_errors.count > 0)
    throw Error(Code::range, "value {} of attribute '{}' does not fit from {} to {}", conversion_errors.first,
                attribute.name, name_of(attribute.type), name_of(type));
}

void copy_texts(const Attribute& attribute, char** out) {
  for (std::size_t i = 0; i < attribute.strings.size(); ++i) {
    out[i] = strdup(attribute.strings[i].c_str());
    if (out[i] == nullptr) {
      shoal_free_strings(static_cast<int64_t>(i), out);
      throw std::bad_alloc();
    }
  }
}

void copy_values(const Attribute& a, Type wanted, void* values) {
  const bool plain = wanted == a.type || (is_number(wanted) && is_number(a.type));
  if (!plain)
    throw Error(Code::type, "attribute '{}' is of type {} and cannot be read as {}", a.name, name_of(a.type),
                name_of(wanted));
  if (a.type == Type::string)
    copy_texts(a, static_cast<char**>(values));
  else if (wanted == a.type)
    std::memcpy(values, a.data.data(), a.data.size());
  else
    copy_numbers(a, wanted, values);
}

}  // namespace

int shoal_inq_file(const shoal_dataset* dataset, shoal_file_info* out) {
  return guard([&] {
    require(out, "out");
    const Dataset& d = dataset_of(dataset);
    const Schema& schema = d.schema();
    const shoal_file_info made{0,
                               d.path().c_str(),
                               name_of(schema.format),
                               d.driver_name().c_str(),
                               d.writable() ? 1 : 0,
                               static_cast<int>(schema.dims.size()),
                               static_cast<int>(schema.variables.size()),
                               static_cast<int>(schema.attributes.size())};
    hand_out(made, out, k_file_info_0_2, "shoal_file_info");
  });
}

int shoal_inq_dim(const shoal_dataset* dataset, int index, shoal_dim_info* out) {
  return guard([&] {
    require(out, "out");
    const Dimension& dim = at(dataset_of(dataset).schema().dims, index, "dimension");
    const shoal_dim_info made{0, dim.name.c_str(), dim.length, dim.unlimited ? 1 : 0};
    hand_out(made, out, k_dim_info_0_2, "shoal_dim_info");
  });
}

int shoal_inq_var(const shoal_dataset* dataset, shoal_variable variable, shoal_var_info* out) {
  return guard([&] {
    require(out, "out");
    const Dataset& d = dataset_of(dataset);
    const Schema& schema = d.schema();
    const VariableDef& v = at(schema.variables, variable, "variable");
    thread_local std::string filters;
    filters = text_of(v.filters);
    const shoal_var_info made{0,
                              v.name.c_str(),
                              static_cast<int>(v.type),
                              static_cast<int>(v.dims.size()),
                              v.dims.data(),
                              schema.has_record(variable) ? 1 : 0,
                              static_cast<int>(v.attributes.size()),
                              is_logical(v) ? 1 : 0,
                              d.is_packed(v.name) ? 1 : 0,
                              v.chunks.empty() ? nullptr : v.chunks.data(),
                              storage_of(d, variable, v),
                              filters.c_str()};
    hand_out(made, out, k_var_info_0_2, "shoal_var_info");
  });
}

int shoal_inq_att(const shoal_dataset* dataset, const char* variable, int index, shoal_att_info* out) {
  return guard([&] {
    require(out, "out");
    const Attribute& a = at(dataset_of(dataset).attributes_of(variable), index, "attribute");
    const shoal_att_info made{0, a.name.c_str(), static_cast<int>(a.type), a.count()};
    hand_out(made, out, k_att_info_0_2, "shoal_att_info");
  });
}

int shoal_inq_unread_att(const shoal_dataset* dataset, const char* variable, int index, const char** name,
                         const char** type) {
  return guard([&] {
    require(name, "name");
    const Dataset& file = dataset_of(dataset);
    const auto& unread = file.schema().unread_of(file.owner(variable));
    const bool there = index >= 0 && static_cast<std::size_t>(index) < unread.size();
    const UnreadAttribute* found = there ? &unread[static_cast<std::size_t>(index)] : nullptr;
    *name = there ? found->name.c_str() : nullptr;
    if (type != nullptr) *type = there ? found->type.c_str() : nullptr;
  });
}

int shoal_num_records(const shoal_dataset* dataset, const char* variable, int64_t* out) {
  return guard([&] {
    require(out, "out");
    *out = dataset_of(dataset).num_records(variable);
  });
}

int shoal_find_dim(const shoal_dataset* dataset, const char* name, int* out) {
  return guard([&] {
    require(out, "out");
    *out = dataset_of(dataset).dimension(required_text(name, "name"));
  });
}

int shoal_find_var(const shoal_dataset* dataset, const char* name, shoal_variable* out) {
  return guard([&] {
    require(out, "out");
    *out = dataset_of(dataset).variable(required_text(name, "name"));
  });
}

int shoal_find_att(const shoal_dataset* dataset, const char* variable, const char* name, int* out) {
  return guard([&] {
    require(out, "out");
    const auto& attributes = dataset_of(dataset).attributes_of(variable);
    *out = static_cast<int>(&find_attribute_or_throw(attributes, required_text(name, "name")) -
                            attributes.data());
  });
}

int shoal_get_att(const shoal_dataset* dataset, const char* variable, const char* name, int type,
                  void* values) {
  return guard([&] {
    const Type wanted = type_of(type);
    const Attribute& a =
        find_attribute_or_throw(dataset_of(dataset).attributes_of(variable), required_text(name, "name"));
    if (a.count() == 0) return;
    require(values, "values");
    copy_values(a, wanted, values);
  });
}

int shoal_inq_fill(const shoal_dataset* dataset, const char* variable, int* fill, int type, void* value) {
  return guard([&] {
    const Dataset& d = dataset_of(dataset);
    const int index = d.variable(required_text(variable, "variable"));
    const VariableDef& v = d.schema().variable(index);
    try {
      require_plain(v);
    } catch (const Error& e) {
      throw e.in_file(d.path());
    }
    if (value != nullptr) {
      const Attribute* own = find_attribute(v.attributes, "_FillValue");
      Attribute one{"_FillValue", v.type, fill_of(v), {}};
      if (v.type == Type::string)
        one.strings = {own != nullptr && !own->strings.empty() ? own->strings.front() : std::string()};
      copy_values(one, type_of(type), value);
    }
    if (fill != nullptr) *fill = d.fills(index) ? 1 : 0;
  });
}
