// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/box.hpp"
#include "base/bytes.hpp"

/// JSON of Zarr's metadata, for the sources of this folder alone.
namespace shoal::zarr {

using Json = nlohmann::ordered_json;

/// Error(format): the metadata are damaged.
[[noreturn]] void damaged(const std::string& what);

/// The document. NaN, Infinity and -Infinity, which are no JSON but what Python writes, are texts with a zero
/// in front, which special_number knows. Error(format): no JSON, deeper than any metadata, a name twice.
Json parse_json(const std::string& text);
/// On one line, or with so many blanks a level.
std::string json_text(const Json& json, int indent = -1);
/// NaN, Infinity or -Infinity, as Python writes them, or (quoted) as a text.
std::optional<double> special_number(const Json& json, bool quoted);
/// A number as JSON has it: NaN, Infinity and -Infinity as texts.
Json json_of(double value);
/// Those that parse_json made texts of are texts without a zero.
Json without_specials(Json json);

/// The member, of an object; nullptr: there is none.
const Json* find_member(const Json& json, const char* name);
/// Error(format): there is none. `whose` is for messages.
const Json& member(const Json& json, const char* name, const std::string& whose);
const std::string& text_member(const Json& json, const char* name, const std::string& whose);
/// Up to k_max_dims whole numbers of at least `least`; nullopt: more than that. Error(format): others.
std::optional<Dims> dims_member(const Json& json, const char* name, std::int64_t least,
                                const std::string& whose);
/// A whole number as int64; nullopt: none, or a larger one.
std::optional<std::int64_t> whole_number(const Json& json);
/// As it is, shortened, for messages.
std::string shown(const Json& json);

/// Text that is not UTF-8, as if it was Latin-1, and back (nullopt: it has other characters).
std::string from_latin1(const std::string& text);
std::optional<std::string> to_latin1(const std::string& text);

/// nullopt: it is none.
std::optional<Bytes> from_base64(const std::string& text);

}  // namespace shoal::zarr
