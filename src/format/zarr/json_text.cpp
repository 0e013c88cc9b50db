// SPDX-License-Identifier: BSD-3-Clause
#include "format/zarr/json_text.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "base/error.hpp"
#include "base/printable.hpp"

namespace shoal::zarr {

namespace {

constexpr std::size_t k_most_bytes = std::size_t{256} << 20;  // a million arrays have less
constexpr std::size_t k_most_levels = 64;  // of lists and objects; consolidated metadata have 10
// The library looks a name up among all of its object, so that very many would take very long.
constexpr std::size_t k_most_members = 100'000;

constexpr std::string_view k_specials[] = {"NaN", "Infinity", "-Infinity"};

// The text with JSON in place of what Python alone takes.
std::string with_specials_quoted(const std::string& text) {
  std::string out;
  std::size_t copied = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') ++i;
      continue;
    }
    if (c != 'N' && c != 'I' && c != '-') continue;
    for (const std::string_view special : k_specials) {
      if (text.compare(i, special.size(), special) != 0) continue;
      out.append(text, copied, i - copied).append("\"\\u0000").append(special).append("\"");
      i += special.size() - 1;
      copied = i + 1;
      break;
    }
  }
  if (copied == 0) return text;
  return out.append(text, copied);
}

// The library's own text begins with a number in brackets.
std::string message_of(const Json::exception& error) {
  const std::string what = error.what();
  const std::size_t at = what.find("] ");
  return at == std::string::npos ? what : what.substr(at + 2);
}

// Makes the document of what the library's parser finds. The library's own way looks each name up among all
// of its object, which takes long where consolidated metadata have thousands of arrays, and takes the last of
// two members of one name.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // no JSON has it
  bool start_object(std::size_t) override {
    names_.emplace_back();
    return open(Json::object());
  }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second)
      damaged(fmt::format("an object has two members '{}'", printable_name(name)));
    name_ = std::move(name);
    return true;
  }
  bool end_object() override {
    names_.pop_back();
    return end_array();
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    damaged(message_of(error));
  }

 private:
  // What is open stays where it is: its list or object grows only when it is closed.
  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    auto& members = open_.back()->get_ref<Json::object_t&>();
    members.push_back({std::move(name_), std::move(value)});
    return &members.back().second;
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() >= k_most_levels)
      damaged(fmt::format("lists and objects are nested more than {} times", k_most_levels));
    open_.push_back(place(std::move(value)));
    return true;
  }

  Json root_;
  std::vector<Json*> open_;
  std::vector<std::unordered_set<std::string>> names_;
  std::string name_;
};

}  // namespace

void damaged(const std::string& what) {
  throw Error(Code::format, without_middle("the metadata are damaged: " + what));
}

Json parse_json(const std::string& text) {
  if (text.size() > k_most_bytes)
    damaged(fmt::format("they have {} bytes; up to {} are read", text.size(), k_most_bytes));
  Builder builder;
  Json::sax_parse(with_specials_quoted(text), &builder);
  return builder.take();
}

std::string json_text(const Json& json, int indent) {
  try {
    return json.dump(indent) + (indent < 0 ? "" : "\n");
  } catch (const Json::exception& error) {
    throw Error(Code::invalid_argument, "a name or a text cannot stand in the metadata: {}",
                message_of(error));
  }
}

std::optional<double> special_number(const Json& json, bool quoted) {
  if (!json.is_string()) return std::nullopt;
  std::string_view text = json.get_ref<const std::string&>();
  if (!text.empty() && text.front() == '\0')
    text.remove_prefix(1);
  else if (!quoted)
    return std::nullopt;
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

Json json_of(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

Json without_specials(Json json) {
  if (const auto number = special_number(json, false)) return json_of(*number);
  if (json.is_structured())
    for (Json& element : json)
      element = without_specials(std::move(element));
  return json;
}

const Json* find_member(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

const Json& member(const Json& json, const char* name, const std::string& whose) {
  if (!json.is_object()) damaged(whose + " is no object in braces");
  const Json* found = find_member(json, name);
  if (found == nullptr) damaged(fmt::format("{} has no \"{}\"", whose, name));
  return *found;
}

const std::string& text_member(const Json& json, const char* name, const std::string& whose) {
  const Json& found = member(json, name, whose);
  if (!found.is_string())
    damaged(fmt::format("\"{}\" of {} is {}, which is no text", name, whose, shown(found)));
  return found.get_ref<const std::string&>();
}

std::optional<std::int64_t> whole_number(const Json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  if (json.is_number_unsigned() && !std::in_range<std::int64_t>(json.get<std::uint64_t>()))
    return std::nullopt;
  return json.get<std::int64_t>();
}

std::optional<Dims> dims_member(const Json& json, const char* name, std::int64_t least,
                                const std::string& whose) {
  const Json& found = member(json, name, whose);
  if (!found.is_array())
    damaged(fmt::format("\"{}\" of {} is {}, which is no list", name, whose, shown(found)));
  for (const Json& element : found) {
    const auto number = whole_number(element);
    if (!number || *number < least)
      damaged(fmt::format("\"{}\" of {} has {}; allowed are whole numbers from {} to {}", name, whose,
                          shown(element), least, std::numeric_limits<std::int64_t>::max()));
  }
  if (found.size() > static_cast<std::size_t>(k_max_dims)) return std::nullopt;
  Dims dims;
  for (const Json& element : found)
    dims.push_back(element.get<std::int64_t>());
  return dims;
}

std::string shown(const Json& json) {
  constexpr std::size_t k_most = 80;
  // A long list is not made text of first.
  if (json.is_structured() && json.size() > k_most) return json.is_array() ? "a list" : "an object";
  std::string text = json.dump();
  if (text.size() > k_most) text = text.substr(0, k_most) + "...";
  return printable_name(text);
}

std::string from_latin1(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0U | code >> 6U);
      out += static_cast<char>(0x80U | (code & 0x3FU));
    }
  }
  return out;
}

std::optional<std::string> to_latin1(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    if (code < 0x80) {
      out += text[i];
    } else {
      if (code > 0xC3 || i + 1 == text.size()) return std::nullopt;
      const auto next = static_cast<unsigned char>(text[++i]);
      out += static_cast<char>((code & 0x03U) << 6U | (next & 0x3FU));
    }
  }
  return out;
}

std::optional<Bytes> from_base64(const std::string& text) {
  Bytes out;
  if (text.size() % 4 != 0) return std::nullopt;
  out.reserve(text.size() / 4 * 3);
  const auto digit = [](char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
  };
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t digits = i + 4 == text.size() ? 4 - padding : 4;
    unsigned word = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const int value = j < digits ? digit(text[i + j]) : 0;
      if (value < 0) return std::nullopt;
      word = word << 6U | static_cast<unsigned>(value);
    }
    for (std::size_t j = 0; j + 1 < digits; ++j)
      out.push_back(static_cast<std::byte>(word >> (16 - 8 * j) & 0xFFU));
  }
  return out;
}

}  // namespace shoal::zarr
