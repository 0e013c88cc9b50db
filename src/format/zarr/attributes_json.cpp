// SPDX-License-Identifier: BSD-3-Clause
#include "format/zarr/attributes_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "format/checks.hpp"
#include "format/zarr/types_json.hpp"

namespace shoal::zarr {

namespace {

constexpr const char* k_dimensions_name = "_ARRAY_DIMENSIONS";  // xarray's, in version 2
constexpr const char* k_latin1 = " latin-1";
constexpr std::size_t k_most_padding = std::size_t{1} << 20;

std::string chars_of(const Attribute& attribute) {
  return {reinterpret_cast<const char*>(attribute.data.data()), attribute.data.size()};
}

Json string_json(const std::string& text, bool latin1) {
  return latin1 ? from_latin1(text) : text;
}

Json numbers_json(const Attribute& attribute) {
  const std::size_t size = size_of(attribute.type);
  if (attribute.count() == 1) return number_json(attribute.type, attribute.data.data());
  Json values = Json::array();
  for (std::size_t at = 0; at < attribute.data.size(); at += size)
    values.push_back(number_json(attribute.type, attribute.data.data() + at));
  return values;
}

bool is_text(const Json& json) {
  return json.is_string() && !special_number(json, false);
}

// The type that values have by themselves; none: no type has them all.
Type natural_type(const Json* first, const Json* end) {
  const auto all = [&](auto&& is) { return std::all_of(first, end, is); };
  if (first == end) return Type::double_;
  if (all(is_text)) return Type::string;
  if (all([](const Json& json) { return json.is_boolean(); })) return Type::byte_;
  if (!all([](const Json& json) { return json.is_number() || special_number(json, false); }))
    return Type::none;
  std::int64_t value = 0;
  const auto fits = [&](Type type) {
    return all([&](const Json& json) {
      return json.is_number_integer() && read_number(json, type, false, reinterpret_cast<std::byte*>(&value));
    });
  };
  for (const Type type : {Type::int_, Type::int64, Type::uint64})
    if (fits(type)) return type;
  return Type::double_;
}

std::optional<Attribute> with_numbers(const std::string& name, Type type, const Json* first, const Json* end,
                                      bool exact) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = type;
  attribute.data.resize(static_cast<std::size_t>(end - first) * size_of(type));
  std::byte* to = attribute.data.data();
  for (; first != end; ++first, to += size_of(type)) {
    const Json value = first->is_boolean() && type == Type::byte_ ? Json(first->get<bool>() ? 1 : 0) : *first;
    if (!read_number(value, type, exact, to)) return std::nullopt;
    // A noted float that has been changed to a double.
    if (exact && value.is_number() && number_json(type, to) != value) return std::nullopt;
  }
  return attribute;
}

std::optional<Attribute> natural_attribute(const std::string& name, const Json& json) {
  if (is_text(json)) return Attribute::text(name, json.get_ref<const std::string&>());
  const bool is_list = json.is_array();
  const Json* const first = is_list ? (json.empty() ? nullptr : &json.front()) : &json;
  const Json* const end = first + (is_list ? json.size() : 1);
  const Type type = natural_type(first, end);
  if (type == Type::none) return std::nullopt;
  if (type != Type::string) return with_numbers(name, type, first, end, false);
  Attribute attribute;
  attribute.name = name;
  attribute.type = Type::string;
  for (const Json* text = first; text != end; ++text)
    attribute.strings.push_back(text->get_ref<const std::string&>());
  return attribute;
}

constexpr const char* k_json = "json";

/// Attributes that Zarr's conventions have as JSON, and Shoal as texts.
bool is_of_convention(const std::string& name) {
  return name == "multiscales" || name == "zarr_conventions";
}

/// An object or a list; otherwise null.
Json convention_json(const std::string& text) {
  Json json;
  const Status status = caught([&] { json = without_specials(parse_json(text)); });
  return status.ok() && json.is_structured() && json_text(json) == text ? json : Json();
}

struct TypeNote {
  Type type = Type::none;
  bool latin1 = false;
  std::size_t length = 0;
};

TypeNote type_note(std::string text) {
  TypeNote note;
  if (text.ends_with(k_latin1)) {
    note.latin1 = true;
    text.resize(text.size() - std::strlen(k_latin1));
  }
  if (const std::size_t bracket = text.find('['); bracket != std::string::npos && text.ends_with(']')) {
    const auto read = std::from_chars(text.data() + bracket + 1, text.data() + text.size(), note.length);
    if (read.ec != std::errc() || note.length > k_most_padding) return {};
    text.resize(bracket);
  }
  for (int number = static_cast<int>(Type::byte_); number <= static_cast<int>(Type::string); ++number)
    if (text == name_of(static_cast<Type>(number))) note.type = static_cast<Type>(number);
  return note;
}

std::optional<Attribute> noted_attribute(const std::string& name, const Json& json, const TypeNote& note) {
  if (note.type == Type::none) return std::nullopt;
  const bool is_list = json.is_array();
  const Json* const first = is_list ? (json.empty() ? nullptr : &json.front()) : &json;
  const Json* const end = first + (is_list ? json.size() : 1);
  if (note.type != Type::char_ && note.type != Type::string)
    return with_numbers(name, note.type, first, end, true);
  if (note.type == Type::char_ && is_list) return std::nullopt;
  Attribute attribute;
  attribute.name = name;
  attribute.type = Type::string;
  for (const Json* text = first; text != end; ++text) {
    if (!text->is_string()) return std::nullopt;
    const auto& utf8 = text->get_ref<const std::string&>();
    auto bytes = note.latin1 ? to_latin1(utf8) : utf8;
    if (!bytes) return std::nullopt;
    attribute.strings.push_back(std::move(*bytes));
  }
  if (note.type == Type::string) return attribute;
  std::string text = attribute.strings.at(0);
  text.resize(std::max(text.size(), note.length), '\0');
  return Attribute::text(name, text);
}

// Why xarray, and others that read CF, must not see the attribute; they read as from NetCDF without it.
bool must_be_hidden(const Attribute& attribute, const ArrayMetadata& array) {
  // xarray takes only a _FillValue of the array's type, and none of texts; it would mask characters.
  if (attribute.name == k_fill_name) return !fill_attribute_json(attribute, array);
  // It is missing without being said, and JSON has no number for it.
  const bool is_float = attribute.type == Type::float_ || attribute.type == Type::double_;
  return attribute.name == "missing_value" && is_float && attribute.count() == 1 &&
         number_json(attribute.type, attribute.data.data()) == "NaN";
}

// NCZarr's and Shoal's own.
bool is_note_of_programs(const std::string& name, bool of_group, int version) {
  const std::string small = lower(name);
  return (of_group || version == 2) &&
         (small.starts_with("_nczarr") || small == "_ncproperties" || name == k_notes_name);
}

std::string fault_of_name(const std::string& name) {
  try {
    check_name(name, "attribute");
    return {};
  } catch (const Error&) {
    return "name not of NetCDF";
  }
}

template <class Owner>
void read_attributes_of(const Json& json, const AttributeNotes& notes, const ArrayMetadata* array,
                        Owner& owner) {
  if (!json.is_object())
    damaged(fmt::format("the attributes are {}, which is no object in braces", shown(json)));
  const auto keep = [&](const std::string& name, const Json& value) {
    owner.kept.push_back({name, json_text(without_specials(value))});
  };
  for (const auto& [name, value] : json.items()) {
    if (is_note_of_programs(name, array == nullptr, owner.version) ||
        (array != nullptr && owner.version == 2 && name == k_dimensions_name)) {
      if (name != k_notes_name) keep(name, value);
      continue;
    }
    std::string unread = fault_of_name(name);
    std::optional<Attribute> attribute;
    if (unread.empty() && array != nullptr && name == k_fill_name)
      attribute = fill_attribute_of(value, *array);
    if (unread.empty() && !attribute) {
      const Json* note = find_member(notes.types, name.c_str());
      attribute = attribute_from(
          name, value, note != nullptr && note->is_string() ? note->get<std::string>() : "", unread);
    }
    if (attribute) {
      owner.attributes.push_back(std::move(*attribute));
    } else {
      owner.unread.push_back({name, unread});
      keep(name, value);
    }
  }
  for (const auto& [name, hidden] : notes.hidden.items()) {
    if (!hidden.is_array() || hidden.size() != 2 || !hidden[0].is_string() || !fault_of_name(name).empty() ||
        find_attribute(owner.attributes, name) != nullptr)
      continue;
    if (auto attribute = noted_attribute(name, hidden[1], type_note(hidden[0].template get<std::string>())))
      owner.attributes.push_back(std::move(*attribute));
  }
}

}  // namespace

Json attribute_json(const Attribute& attribute, std::string& note) {
  note = name_of(attribute.type);
  Json json;
  if (attribute.type == Type::string) {
    const bool latin1 = !std::all_of(attribute.strings.begin(), attribute.strings.end(), is_utf8);
    json = Json::array();
    for (const std::string& text : attribute.strings)
      json.push_back(string_json(text, latin1));
    if (json.size() == 1) json = Json(json[0]);
    if (latin1) note += k_latin1;
  } else if (attribute.type == Type::char_) {
    std::string text = chars_of(attribute);
    // Zeros at the end are none of the text to readers of NetCDF, either.
    while (!text.empty() && text.back() == '\0')
      text.pop_back();
    if (text.size() < attribute.data.size()) note += fmt::format("[{}]", attribute.data.size());
    if (is_of_convention(attribute.name)) {
      json = convention_json(text);
      if (!json.is_null()) {
        note = k_json;
        return json;
      }
    }
    const bool latin1 = !is_utf8(text);
    json = string_json(text, latin1);
    if (latin1) note += k_latin1;
  } else {
    json = numbers_json(attribute);
  }
  const auto natural = natural_attribute(attribute.name, json);
  if (natural && have_same_values(*natural, attribute)) note.clear();
  return json;
}

std::optional<Attribute> attribute_from(const std::string& name, const Json& json, const std::string& note,
                                        std::string& unread) {
  if (note == k_json && is_of_convention(name) && json.is_structured())
    return Attribute::text(name, json_text(without_specials(json)));
  if (!note.empty())
    if (auto attribute = noted_attribute(name, json, type_note(note))) return attribute;
  auto attribute = natural_attribute(name, json);
  if (!attribute) unread = json.is_null() ? "null" : json.is_object() ? "json object" : "json list";
  return attribute;
}

Json attributes_json(const std::vector<Attribute>& attributes, const std::vector<KeptAttribute>& kept,
                     const ArrayMetadata* array, AttributeNotes& notes) {
  Json json = Json::object();
  for (const Attribute& attribute : attributes) {
    if (attribute.name == k_notes_name)
      throw Error(
          Code::invalid_argument,
          "an attribute cannot be called '{}' in Zarr, where Shoal has its notes; choose another name",
          k_notes_name);
    const bool is_flag = attribute.name == "flag_values" || attribute.name == "flag_meanings";
    if (array != nullptr && array->implies_flags && is_flag) continue;
    std::string note;
    if (array != nullptr && must_be_hidden(attribute, *array)) {
      const Json value = attribute_json(attribute, note);
      notes.hidden[attribute.name] = {note.empty() ? name_of(attribute.type) : note, value};
      continue;
    }
    if (array != nullptr && attribute.name == k_fill_name)
      json[attribute.name] = *fill_attribute_json(attribute, *array);
    else
      json[attribute.name] = attribute_json(attribute, note);
    if (!note.empty()) notes.types[attribute.name] = note;
  }
  for (const KeptAttribute& one : kept)
    if (!json.contains(one.name)) json[one.name] = parse_json(one.json);
  return json;
}

void read_attributes(const Json& json, const AttributeNotes& notes, ArrayMetadata& array) {
  const ArrayMetadata types = [&] {
    ArrayMetadata of;
    of.type = array.type;
    of.stored_as = array.stored_as;
    return of;
  }();
  read_attributes_of(json, notes, &types, array);
}

void read_attributes(const Json& json, const AttributeNotes& notes, GroupMetadata& group) {
  read_attributes_of(json, notes, nullptr, group);
}

}  // namespace shoal::zarr
