// SPDX-License-Identifier: BSD-3-Clause
// What references say of attributes is JSON, whatever bytes are in these.
#include <nlohmann/json.hpp>

#include "format/reference/json.hpp"
#include "fuzz.hpp"

using namespace shoal;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static constexpr Type k_types[] = {Type::byte_,   Type::short_, Type::int_,   Type::float_,
                                     Type::double_, Type::ubyte,  Type::ushort, Type::uint,
                                     Type::int64,   Type::uint64, Type::char_,  Type::string};
  const Type type = k_types[data[0] % std::size(k_types)];
  const std::string text = fuzz::text_of(data + 1, size - 1);
  Attribute attribute = Attribute::text("a", text);
  if (type == Type::string) {
    attribute.type = type;
    attribute.data.clear();
    attribute.strings = {text, text.substr(text.size() / 2)};
  } else if (type != Type::char_) {
    const std::size_t count = text.size() / size_of(type);
    attribute = Attribute::numbers("a", type, text.data(), static_cast<std::int64_t>(count));
  }
  const std::string value = reference::json_value(attribute);
  const bool special = type == Type::float_ || type == Type::double_;  // NaN, Infinity
  fuzz::require(special || nlohmann::json::accept(value), "the value of an attribute is JSON");
  fuzz::require(nlohmann::json::accept(reference::json_string(text)), "a text is JSON");
  const auto base = reference::base64(reinterpret_cast<const std::byte*>(text.data()), text.size());
  fuzz::require(base.size() == (text.size() + 2) / 3 * 4, "base64 has four letters for three bytes");
  return 0;
}
