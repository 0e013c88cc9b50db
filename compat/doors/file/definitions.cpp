// SPDX-License-Identifier: BSD-3-Clause
#include "file/definitions.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace door {

namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

// Files that another library made may have names in another form.
template <class Named>
int index_of(const std::vector<Named>& all, const char* name) {
  if (name == nullptr) return -1;
  const std::string kept = kept_name(name);
  const bool plain = is_ascii(kept);
  // Most names of a model begin alike, and differ at their end.
  const auto is_kept = [&](const std::string& other) {
    return other.size() == kept.size() && (kept.empty() || other.back() == kept.back()) && other == kept;
  };
  const auto found = std::find_if(all.begin(), all.end(), [&](const Named& one) {
    return is_kept(one.name) || (!plain && kept_name(one.name.c_str()) == kept);
  });
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

template <class T>
std::vector<char> bytes_of(T value) {
  std::vector<char> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// Bytes of the UTF-8 character at `at`; 0: it is none.
std::size_t character(const unsigned char* at) {
  const std::size_t length = *at < 0x80                   ? 1
                             : *at >= 0xC2 && *at <= 0xDF ? 2
                             : *at >= 0xE0 && *at <= 0xEF ? 3
                             : *at >= 0xF0 && *at <= 0xF4 ? 4
                                                          : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at[i] & 0xC0) != 0x80) return 0;
  // Longer than it has to be, half of a pair, beyond the last character.
  if ((*at == 0xE0 && at[1] < 0xA0) || (*at == 0xED && at[1] > 0x9F)) return 0;
  if ((*at == 0xF0 && at[1] < 0x90) || (*at == 0xF4 && at[1] > 0x8F)) return 0;
  return length;
}

}  // namespace

std::size_t size_of(nc_type type) {
  static constexpr std::array<std::size_t, 13> sizes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8, sizeof(char*)};
  return type > NC_NAT && type <= NC_STRING ? sizes[static_cast<std::size_t>(type)] : 0;
}

int find(const std::vector<Dimension>& dims, const char* name) {
  return index_of(dims, name);
}
int find(const std::vector<Variable>& vars, const char* name) {
  return index_of(vars, name);
}
int find(const Attributes& attributes, const char* name) {
  return index_of(attributes, name);
}

int check_name(const char* name) {
  if (name == nullptr || *name == '\0') return NC_EBADNAME;
  if (std::strchr(name, '/') != nullptr) return NC_EBADNAME;
  const auto* at = reinterpret_cast<const unsigned char*>(name);
  const bool letter = (*at | 0x20) >= 'a' && (*at | 0x20) <= 'z';
  const bool digit = *at >= '0' && *at <= '9';
  if (*at < 0x80 && !letter && !digit && *at != '_') return NC_EBADNAME;
  while (*at != 0) {
    const std::size_t length = character(at);
    if (length == 0 || *at < 0x20 || *at == 0x7F) return NC_EBADNAME;
    at += length;
  }
  if (at[-1] == ' ') return NC_EBADNAME;
  return std::strlen(name) > NC_MAX_NAME ? NC_EMAXNAME : NC_NOERR;
}

int check_asked(const char* name) {
  for (const auto* at = reinterpret_cast<const unsigned char*>(name); *at != 0; at += character(at))
    if (character(at) == 0) return NC_EBADNAME;
  return kept_name(name).size() > NC_MAX_NAME ? NC_EMAXNAME : NC_NOERR;
}

bool is_reserved(const char* name) {
  static constexpr std::array<std::string_view, 14> k_reserved = {
      "CLASS",          "DIMENSION_LIST",    "NAME",
      "REFERENCE_LIST", "_ARRAY_DIMENSIONS", "_Codecs",
      "_Format",        "_IsNetcdf4",        "_NCProperties",
      "_NCZARR_ATTR",   "_Netcdf4Dimid",     "_Netcdf4Coordinates",
      "_nc3_strict",    "_SuperblockVersion"};
  return std::find(k_reserved.begin(), k_reserved.end(), name) != k_reserved.end();
}

std::string kept_name(const char* name) {
  const std::string_view given(name);
  if (is_ascii(given)) return name;
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t bytes = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(name), static_cast<utf8proc_ssize_t>(given.size()), &made,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owned(made, &std::free);
  if (bytes < 0) return name;
  return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(bytes)};
}

std::vector<char> default_fill(nc_type type) {
  switch (type) {
    case NC_BYTE:
      return bytes_of(NC_FILL_BYTE);
    case NC_SHORT:
      return bytes_of(NC_FILL_SHORT);
    case NC_INT:
      return bytes_of(static_cast<int>(NC_FILL_INT));
    case NC_FLOAT:
      return bytes_of(static_cast<float>(NC_FILL_FLOAT));
    case NC_DOUBLE:
      return bytes_of(static_cast<double>(NC_FILL_DOUBLE));
    case NC_UBYTE:
      return bytes_of(static_cast<unsigned char>(NC_FILL_UBYTE));
    case NC_USHORT:
      return bytes_of(static_cast<unsigned short>(NC_FILL_USHORT));
    case NC_UINT:
      return bytes_of(static_cast<unsigned>(NC_FILL_UINT));
    case NC_INT64:
      return bytes_of(static_cast<long long>(NC_FILL_INT64));
    case NC_UINT64:
      return bytes_of(static_cast<unsigned long long>(NC_FILL_UINT64));
    default:
      return bytes_of(NC_FILL_CHAR);
  }
}

std::vector<char> fill_of(const Variable& var) {
  const int own = find(var.attributes, "_FillValue");
  if (own < 0) return default_fill(var.type);
  const Attribute& attribute = var.attributes[static_cast<std::size_t>(own)];
  return attribute.type == var.type && attribute.count >= 1 ? attribute.bytes : default_fill(var.type);
}

}  // namespace door
