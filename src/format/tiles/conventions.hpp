// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/schema.hpp"
#include "format/tiles/span.hpp"

namespace shoal::tiles {

/// The header of one file, as its catalog gives it.
struct Header {
  std::string path;
  Schema schema;
};

/// What the conventions of one kind of model say of a set: spans[file][dimension of that file's own schema].
struct Cutting {
  Numbered<Numbered<Span>> spans;
  Numbered<Numbered<std::int64_t>> global;  ///< [file][dimension]: length of the whole, -1: not cut
  std::vector<std::int64_t> numbers;        ///< [file]
  std::int64_t total = -1;                  ///< files that there should be; -1: nothing says it
  bool land_left_out = false;               ///< files for land alone are not written, and not in total
  bool variables_differ = false;            ///< a file need not have variables that have no cells in it
  bool appended = false;  ///< what is cut is unlimited: entries of one file follow those of another
};

/// By the first file. Error(format): it has none of the conventions.
SetStyle style_of(const Header& header);
Cutting cutting_of(SetStyle style, const std::vector<Header>& headers);

/// Attributes that describe the cutting alone, and are left out of the whole.
bool describes_cutting(SetStyle style, const std::string& attribute, bool of_variable);
/// A variable that was added only to carry such an attribute.
bool is_made_axis(const VariableDef& variable);

/// The numbers of an attribute as integers; nothing if there is none, or it is text.
std::optional<std::vector<std::int64_t>> integers_of(const std::vector<Attribute>& attributes,
                                                     const std::string& name);

}  // namespace shoal::tiles
