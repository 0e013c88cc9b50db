// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/raw/raw_layout.hpp"
#include "format/schema.hpp"

namespace shoal {

/// What the header file of a raw or ascii file says. docs/file_formats.md has its grammar.
struct RawHeader {
  Schema schema;
  RawLayout layout;
  bool swapped = false;  ///< raw: the bytes are not in this machine's order
};

/// Error(exists) if there is a file where the header of `path` would go that is none of Shoal's, not even a
/// damaged one. Local.
void refuse_foreign_header(const std::string& path);

/// Has the file a header file beside it, and of what format is it then? Other JSON files count as none.
/// Error(io, permission) if it cannot be read. Local.
std::optional<Format> format_beside(const std::string& path);

/// The text of a header file.
std::string encode_raw_header(const Schema& schema, const RawLayout& layout, bool swapped);
/// The header in the text. Error(format) says what in it is wrong, and of which variable, but not in
/// which file. Checked: names, types, and that slabs lie where no other does.
RawHeader decode_raw_header(const std::string& text);
/// The same of the header file of a data file. Error(not_found) if there is none.
RawHeader read_raw_header(const std::string& path);

}  // namespace shoal
