// SPDX-License-Identifier: BSD-3-Clause
#include "format/zarr/types_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/names.hpp"
#include "codec/convert.hpp"
#include "format/reference/json.hpp"

namespace shoal::zarr {

namespace {

struct NumberName {
  const char* name;      ///< of version 3
  const char* of_array;  ///< of version 2, without the order of bytes
  Type type;
};
constexpr NumberName k_numbers[] = {{"int8", "i1", Type::byte_},     {"uint8", "u1", Type::ubyte},
                                    {"int16", "i2", Type::short_},   {"uint16", "u2", Type::ushort},
                                    {"int32", "i4", Type::int_},     {"uint32", "u4", Type::uint},
                                    {"int64", "i8", Type::int64},    {"uint64", "u8", Type::uint64},
                                    {"float32", "f4", Type::float_}, {"float64", "f8", Type::double_}};

// zarr-python's names in version 3, which the specification does not have.
constexpr const char* k_fixed_bytes = "null_terminated_bytes";
constexpr const char* k_fixed_unicode = "fixed_length_utf32";
constexpr std::int64_t k_longest_text = std::int64_t{1} << 24;  // bytes of a text of fixed length

void set_number(ArrayMetadata& array, Type type) {
  array.type = type;
  array.stored_as = StoredAs::numbers;
  array.element = size_of(type);
}
void set_logical(ArrayMetadata& array) {
  array.type = Type::byte_;
  array.stored_as = StoredAs::logicals;
  array.element = 1;
}
void set_texts(ArrayMetadata& array, StoredAs stored_as, std::size_t element) {
  array.type = Type::string;
  array.stored_as = stored_as;
  array.element = element;
}
void refuse_type(ArrayMetadata& array, const std::string& name) {
  array.type = Type::none;
  array.refusal = fmt::format(
      "its data type is {}; Shoal reads integers of 8 to 64 bits, float32, float64, bool and texts", name);
}

bool is_texts(const ArrayMetadata& array) {
  return array.type == Type::string;
}

void read_fixed_texts(const Json& data_type, bool unicode, ArrayMetadata& array) {
  const Json* configuration = find_member(data_type, "configuration");
  const Json* length = configuration == nullptr ? nullptr : find_member(*configuration, "length_bytes");
  const auto bytes = length == nullptr ? std::nullopt : whole_number(*length);
  if (!bytes || *bytes < 1 || *bytes > k_longest_text || (unicode && *bytes % 4 != 0))
    return refuse_type(array, shown(data_type));
  set_texts(array, unicode ? StoredAs::fixed_unicode : StoredAs::fixed_bytes,
            static_cast<std::size_t>(*bytes));
}

// What a dtype with these letters is, for messages.
std::string type_words(const std::string& text) {
  const char kind = text.size() > 1 ? text[1] : ' ';
  const char* words = kind == 'M'   ? "datetime64, "
                      : kind == 'm' ? "timedelta64, "
                      : kind == 'c' ? "complex, "
                      : kind == 'f' ? "a float of another length, "
                      : kind == 'V' ? "bytes without a type, "
                      : kind == 'O' ? "objects without filter vlen-utf8, "
                                    : "";
  return fmt::format("{}\"{}\"", words, text);
}

template <class T>
bool read_float(const Json& json, bool quoted, T& value) {
  if (const auto special = special_number(json, quoted)) {
    value = static_cast<T>(*special);
    return true;
  }
  if (!json.is_number()) return false;
  const double number = json.get<double>();
  if (std::abs(number) > static_cast<double>(std::numeric_limits<T>::max())) return false;
  value = static_cast<T>(number);
  return true;
}

template <class T>
bool read_integer(const Json& json, T& value) {
  const auto take = [&](auto number) {
    if (!std::in_range<T>(number)) return false;
    value = static_cast<T>(number);
    return true;
  };
  if (json.is_number_unsigned()) return take(json.get<std::uint64_t>());
  if (json.is_number_integer()) return take(json.get<std::int64_t>());
  // Some writers give 0.0 for integers, too.
  constexpr double k_most = 9007199254740992.0;  // from there on doubles are no single integers
  if (!json.is_number_float()) return false;
  const double number = json.get<double>();
  return std::abs(number) <= k_most && number == std::floor(number) &&
         take(static_cast<std::int64_t>(number));
}

// A float whose bits stand in the text, most significant digit first: "0x7fc00001".
bool read_bits(const Json& json, std::size_t size, std::byte* to) {
  if (!json.is_string()) return false;
  const auto& text = json.get_ref<const std::string&>();
  if (!text.starts_with("0x") || text.size() != 2 + 2 * size) return false;
  std::uint64_t bits = 0;
  const auto read = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return false;
  const auto low = static_cast<std::uint32_t>(bits);
  std::memcpy(to, size == sizeof low ? static_cast<const void*>(&low) : &bits, size);
  return true;
}

template <class Float, class Bits>
Json float_fill(const std::byte* p) {
  const auto value = number_json(sizeof(Float) == sizeof(float) ? Type::float_ : Type::double_, p);
  Bits bits{};
  std::memcpy(&bits, p, sizeof bits);
  // Another NaN than the usual one is told by its bits.
  if (value != "NaN" || bits == std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN())) return value;
  return fmt::format("0x{:0{}x}", bits, 2 * sizeof bits);
}

std::string text_fill(const Json& json, const ArrayMetadata& array) {
  if (!json.is_string()) damaged(fmt::format("\"fill_value\" is {}, which is no text", shown(json)));
  const auto& text = json.get_ref<const std::string&>();
  if (array.stored_as != StoredAs::fixed_bytes) return text;
  const auto bytes = from_base64(text);
  if (!bytes) damaged(fmt::format("\"fill_value\" is {}, which is not base64", shown(json)));
  std::string fill(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  while (!fill.empty() && fill.back() == '\0')
    fill.pop_back();
  return fill;
}

}  // namespace

void read_data_type(const Json& json, ArrayMetadata& array) {
  const Json* name_json = json.is_object() ? find_member(json, "name") : &json;
  if (name_json == nullptr || !name_json->is_string())
    damaged(fmt::format("\"data_type\" is {}, which is no name", shown(json)));
  const auto& name = name_json->get_ref<const std::string&>();
  for (const NumberName& number : k_numbers)
    if (name == number.name) return set_number(array, number.type);
  if (name == "bool") return set_logical(array);
  if (name == "string") return set_texts(array, StoredAs::texts, 0);
  if (name == k_fixed_bytes || name == k_fixed_unicode)
    return read_fixed_texts(json, name == k_fixed_unicode, array);
  refuse_type(array, fmt::format("\"{}\"", name));
}

void read_dtype(const Json& json, ArrayMetadata& array) {
  if (json.is_array()) return refuse_type(array, "a structure, " + shown(json));
  if (!json.is_string()) damaged(fmt::format("\"dtype\" is {}, which is no text", shown(json)));
  const auto& text = json.get_ref<const std::string&>();
  const char order = text.empty() ? ' ' : text[0];
  if (order != '<' && order != '>' && order != '|') return refuse_type(array, type_words(text));
  const std::string letters = text.substr(1);
  for (const NumberName& number : k_numbers)
    if (letters == number.of_array && (order != '|' || size_of(number.type) == 1)) {
      set_number(array, number.type);
      array.big_endian = order == '>' && array.element > 1;
      return;
    }
  if (letters == "b1") return set_logical(array);
  if (letters == "O") return set_texts(array, StoredAs::texts, 0);
  if (letters.starts_with('S') || letters.starts_with('U')) {
    std::int64_t length = 0;
    const char* const end = letters.data() + letters.size();
    const auto read = std::from_chars(letters.data() + 1, end, length);
    if (read.ec == std::errc() && read.ptr == end && length > 0 && length <= k_longest_text / 4) {
      const bool unicode = letters[0] == 'U';
      set_texts(array, unicode ? StoredAs::fixed_unicode : StoredAs::fixed_bytes,
                static_cast<std::size_t>(unicode ? 4 * length : length));
      array.big_endian = unicode && order == '>';
      return;
    }
  }
  refuse_type(array, type_words(text));
}

Json data_type_of(const ArrayMetadata& array) {
  if (array.stored_as == StoredAs::logicals) return "bool";
  if (array.stored_as == StoredAs::characters) return "uint8";
  if (array.stored_as == StoredAs::texts) return "string";
  if (array.stored_as == StoredAs::fixed_bytes || array.stored_as == StoredAs::fixed_unicode) {
    Json json;
    json["name"] = array.stored_as == StoredAs::fixed_bytes ? k_fixed_bytes : k_fixed_unicode;
    json["configuration"]["length_bytes"] = array.element;
    return json;
  }
  for (const NumberName& number : k_numbers)
    if (array.stored_as == StoredAs::numbers && array.type == number.type) return number.name;
  throw Error(Code::not_supported,
              "values of type {} cannot be stored in Zarr as they are; allowed are numbers, char and string",
              name_of(array.type));
}

bool read_number(const Json& json, Type type, bool quoted, std::byte* to) {
  return with_number(type, [&](auto value) {
    bool read = false;
    if constexpr (std::is_floating_point_v<decltype(value)>)
      read = read_float(json, quoted, value);
    else
      read = read_integer(json, value);
    if (read) std::memcpy(to, &value, sizeof value);
    return read;
  });
}

Json number_json(Type type, const std::byte* p) {
  return with_number(type, [&](auto value) -> Json {
    std::memcpy(&value, p, sizeof value);
    // A float is the double that has its value: what readers make of it is what they get from NetCDF.
    if constexpr (std::is_floating_point_v<decltype(value)>)
      return json_of(static_cast<double>(value));
    else
      return value;
  });
}

void read_fill(const Json& json, ArrayMetadata& array) {
  if (array.type == Type::none) return;
  array.fill.clear();
  array.fill_text.clear();
  if (json.is_null() && array.version == 2) return;
  if (is_texts(array)) {
    // A number for a text is what other programs give by default, and means no text.
    if (!json.is_number()) array.fill_text = text_fill(json, array);
    return;
  }
  Bytes fill(size_of(array.type));
  const bool is_float = array.type == Type::float_ || array.type == Type::double_;
  bool read = false;
  if (json.is_boolean() && array.stored_as == StoredAs::logicals) {
    fill[0] = std::byte{json.get<bool>()};
    read = true;
  } else {
    read = read_number(json, array.type, true, fill.data()) ||
           (is_float && read_bits(json, fill.size(), fill.data()));
  }
  if (!read)
    damaged(
        fmt::format("\"fill_value\" is {}, which is no value of type {}", shown(json), name_of(array.type)));
  array.fill = std::move(fill);
}

Json fill_of(const ArrayMetadata& array) {
  if (array.stored_as == StoredAs::fixed_bytes)
    return reference::base64(reinterpret_cast<const std::byte*>(array.fill_text.data()),
                             array.fill_text.size());
  if (is_texts(array)) return is_utf8(array.fill_text) ? array.fill_text : from_latin1(array.fill_text);
  if (array.stored_as == StoredAs::logicals) {
    const std::byte fill = array.fill.empty() ? std::byte{0} : array.fill[0];
    if (fill > std::byte{1})
      throw Error(Code::not_supported,
                  "cells without a value are {} in an array of logical values; bool has 0 and 1 alone",
                  std::to_integer<int>(fill));
    return fill == std::byte{1};
  }
  const Attribute* own = find_attribute(array.attributes, k_fill_name);
  const bool said = own != nullptr && own->type == array.type && own->count() == 1;
  const std::byte* const p = !array.fill.empty() ? array.fill.data()
                             : said              ? own->data.data()
                                                 : static_cast<const std::byte*>(default_fill(array.type));
  if (array.type == Type::float_) return float_fill<float, std::uint32_t>(p);
  if (array.type == Type::double_) return float_fill<double, std::uint64_t>(p);
  return number_json(array.type, p);
}

std::optional<Attribute> fill_attribute_of(const Json& json, const ArrayMetadata& array) {
  if (is_texts(array) && json.is_string()) {
    Attribute text;
    text.name = k_fill_name;
    text.type = Type::string;
    text.strings = {json.get<std::string>()};
    return text;
  }
  if (!is_number(array.type)) return std::nullopt;
  Bytes value(size_of(array.type));
  const bool is_float = array.type == Type::float_ || array.type == Type::double_;
  if (json.is_string() && is_float && !special_number(json, true)) {
    const auto bytes = from_base64(json.get_ref<const std::string&>());
    double number = 0;
    if (!bytes || bytes->size() != sizeof number) return std::nullopt;
    std::memcpy(&number, bytes->data(), sizeof number);
    if (machine_is_big_endian())
      std::reverse(reinterpret_cast<std::byte*>(&number), reinterpret_cast<std::byte*>(&number + 1));
    if (array.type == Type::float_) {
      if (std::isfinite(number) && std::abs(number) > static_cast<double>(std::numeric_limits<float>::max()))
        return std::nullopt;
      const auto narrow = static_cast<float>(number);
      std::memcpy(value.data(), &narrow, sizeof narrow);
    } else {
      std::memcpy(value.data(), &number, sizeof number);
    }
  } else if (json.is_boolean() && array.stored_as == StoredAs::logicals) {
    value[0] = std::byte{json.get<bool>()};
  } else if (!read_number(json, array.type, true, value.data())) {
    return std::nullopt;
  }
  return Attribute::numbers(k_fill_name, array.type, value.data(), 1);
}

std::optional<Json> fill_attribute_json(const Attribute& attribute, const ArrayMetadata& array) {
  if (attribute.type != array.type || attribute.count() != 1 || array.stored_as != StoredAs::numbers)
    return std::nullopt;
  if (array.type != Type::float_ && array.type != Type::double_)
    return number_json(array.type, attribute.data.data());
  return with_number(array.type, [&](auto value) -> Json {
    std::memcpy(&value, attribute.data.data(), sizeof value);
    auto number = static_cast<double>(value);
    Bytes bytes(sizeof number);
    std::memcpy(bytes.data(), &number, sizeof number);
    if (machine_is_big_endian()) std::reverse(bytes.begin(), bytes.end());
    return reference::base64(bytes.data(), bytes.size());
  });
}

}  // namespace shoal::zarr
