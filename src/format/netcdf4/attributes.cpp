// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/attributes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace shoal::netcdf4 {

namespace {

Id text_type(std::size_t length) {
  Id type(check(H5Tcopy(H5T_C_S1), "make a text type"));
  check(H5Tset_size(type, std::max<std::size_t>(length, 1)), "make a text type");
  return type;
}

void create_and_write(hid_t object, const char* name, hid_t file, hid_t memory, hid_t space,
                      const void* values) {
  const Id attribute(
      check(H5Acreate2(object, name, file, space, H5P_DEFAULT, H5P_DEFAULT), "create an attribute"));
  if (values != nullptr) check(H5Awrite(attribute, memory, values), "write an attribute");
}

Id list_space(std::size_t count) {
  const hsize_t n = count;
  return Id(check(H5Screate_simple(1, &n, nullptr), "make a space"));
}

Id scalar_space() {
  return Id(check(H5Screate(H5S_SCALAR), "make a space"));
}
Id null_space() {
  return Id(check(H5Screate(H5S_NULL), "make a space"));
}

// Text of fixed length without its padding; netCDF keeps zeros at the end only when nothing else is there to
// pad with.
std::string unpadded(const char* text, std::size_t size, H5T_str_t padding) {
  std::string result(text, size);
  if (padding == H5T_STR_NULLTERM) {
    result.resize(std::min(result.find('\0'), size));
  } else {
    const char pad = padding == H5T_STR_SPACEPAD ? ' ' : '\0';
    const auto last = result.find_last_not_of(pad);
    result.resize(last == std::string::npos ? 0 : last + 1);
  }
  return result;
}

std::vector<std::string> read_strings(hid_t attribute, hid_t type, hid_t space, std::size_t count) {
  std::vector<std::string> result(count);
  if (count == 0) return result;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(count, nullptr);
    auto memory = memory_type(Type::string);
    check(H5Tset_cset(memory, H5Tget_cset(type)), "read an attribute");
    check(H5Aread(attribute, memory, texts.data()), "read an attribute");
    for (std::size_t i = 0; i < count; ++i)
      if (texts[i] != nullptr) result[i] = texts[i];
    H5Dvlen_reclaim(memory, space, H5P_DEFAULT, texts.data());
    return result;
  }
  const auto size = H5Tget_size(type);
  std::vector<char> texts(count * size);
  check(H5Aread(attribute, type, texts.data()), "read an attribute");
  for (std::size_t i = 0; i < count; ++i)
    result[i] = unpadded(texts.data() + i * size, size, H5Tget_strpad(type));
  return result;
}

// What a type without a counterpart is.
std::string kind_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_COMPOUND:
      return "compound";
    case H5T_ENUM:
      return "enum";
    case H5T_OPAQUE:
      return "opaque";
    case H5T_VLEN:
      return "variable length";
    case H5T_ARRAY:
      return "array";
    case H5T_REFERENCE:
      return "reference";
    case H5T_BITFIELD:
      return "bit field";
    default:
      return fmt::format("numbers of {} bits", 8 * H5Tget_size(type));
  }
}

// False for a type that has no counterpart, which goes to unread.
bool read_attribute(hid_t object, const std::string& name, Attribute& result,
                    std::vector<UnreadAttribute>& unread) {
  const Id attribute(check(H5Aopen(object, name.c_str(), H5P_DEFAULT), "open an attribute"));
  const Id type(check(H5Aget_type(attribute), "read the type of an attribute"));
  const Id space(check(H5Aget_space(attribute), "read the shape of an attribute"));
  const auto n = check(H5Sget_simple_extent_npoints(space), "read the shape of an attribute");
  const auto count = static_cast<std::size_t>(n);
  const auto meaning = file_type(type);
  if (!meaning.fits) {
    unread.push_back({name, kind_of(type)});
    return false;
  }
  result.name = name;
  if (H5Tget_class(type) == H5T_STRING) {
    if (H5Tis_variable_str(type) > 0 || count > 1) {
      result.type = Type::string;
      result.strings = read_strings(attribute, type, space, count);
      return true;
    }
    result.type = Type::char_;
    result.data.resize(count * H5Tget_size(type));
    if (count > 0) check(H5Aread(attribute, type, result.data.data()), "read an attribute");
    return true;
  }
  result.type = meaning.type;
  result.data.resize(count * size_of(meaning.type));
  if (count > 0)
    check(H5Aread(attribute, memory_type(meaning.type), result.data.data()), "read an attribute");
  return true;
}

}  // namespace

bool is_reserved(const std::string& attribute) {
  static constexpr std::array k_reserved{k_class, k_name,        k_dimension_list, k_reference_list,
                                         k_dimid, k_coordinates, k_strict,         k_properties};
  return std::any_of(k_reserved.begin(), k_reserved.end(),
                     [&](const char* name) { return attribute == name; });
}

std::vector<Attribute> read_attributes(hid_t object, std::vector<UnreadAttribute>& unread) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->push_back(name);
    return 0;
  };
  hsize_t position = 0;
  // Where their order was not kept, asking for it fails.
  if (H5Aiterate2(object, H5_INDEX_CRT_ORDER, H5_ITER_INC, &position, collect, &names) < 0) {
    names.clear();
    position = 0;
    check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, collect, &names), "list the attributes");
  }
  std::vector<Attribute> result;
  for (const auto& name : names) {
    Attribute attribute;
    if (!is_reserved(name) && read_attribute(object, name, attribute, unread))
      result.push_back(std::move(attribute));
  }
  return result;
}

void change_attribute(hid_t object, const SchemaChange& change) {
  if (change.kind == SchemaChange::Kind::delete_attribute)
    check(H5Adelete(object, change.name.c_str()), "delete an attribute");
  else
    check(H5Arename(object, change.name.c_str(), change.to.c_str()), "rename an attribute");
}

void write_attribute(hid_t object, const Attribute& attribute, bool replace) {
  const char* name = attribute.name.c_str();
  if (replace && has_attribute(object, name)) check(H5Adelete(object, name), "replace an attribute");
  const auto count = static_cast<std::size_t>(attribute.count());
  if (attribute.type == Type::char_) {
    const auto type = text_type(count);
    create_and_write(object, name, type, type, count == 0 ? null_space() : scalar_space(),
                     count == 0 ? nullptr : attribute.data.data());
    return;
  }
  const auto type = memory_type(attribute.type);
  const auto space = count == 0 ? null_space() : list_space(count);
  if (attribute.type == Type::string) {
    std::vector<const char*> texts;
    for (const auto& text : attribute.strings)
      texts.push_back(text.c_str());
    create_and_write(object, name, type, type, space, count == 0 ? nullptr : texts.data());
  } else {
    create_and_write(object, name, type, type, space, count == 0 ? nullptr : attribute.data.data());
  }
}

void write_text(hid_t object, const char* name, const std::string& text, bool terminated) {
  const auto type = text_type(text.size() + (terminated ? 1 : 0));
  create_and_write(object, name, type, type, scalar_space(), text.c_str());
}

void write_int(hid_t object, const char* name, int value, bool replace) {
  if (replace && has_attribute(object, name)) check(H5Adelete(object, name), "replace an attribute");
  create_and_write(object, name, H5T_NATIVE_INT, H5T_NATIVE_INT, scalar_space(), &value);
}

void write_ints(hid_t object, const char* name, const std::vector<int>& values) {
  create_and_write(object, name, H5T_NATIVE_INT, H5T_NATIVE_INT, list_space(values.size()), values.data());
}

bool has_attribute(hid_t object, const char* name) {
  return check(H5Aexists(object, name), "look for an attribute") > 0;
}

std::string read_text(hid_t object, const char* name) {
  const Id attribute(check(H5Aopen(object, name, H5P_DEFAULT), "open an attribute"));
  const Id type(check(H5Aget_type(attribute), "read the type of an attribute"));
  const Id space(check(H5Aget_space(attribute), "read the shape of an attribute"));
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return {};
  return read_strings(attribute, type, space, 1)[0];
}

std::vector<int> read_ints(hid_t object, const char* name) {
  const Id attribute(check(H5Aopen(object, name, H5P_DEFAULT), "open an attribute"));
  const Id type(check(H5Aget_type(attribute), "read the type of an attribute"));
  const Id space(check(H5Aget_space(attribute), "read the shape of an attribute"));
  if (H5Tget_class(type) != H5T_INTEGER) return {};
  std::vector<int> values(
      static_cast<std::size_t>(check(H5Sget_simple_extent_npoints(space), "read an attribute")));
  if (!values.empty()) check(H5Aread(attribute, H5T_NATIVE_INT, values.data()), "read an attribute");
  return values;
}

}  // namespace shoal::netcdf4
