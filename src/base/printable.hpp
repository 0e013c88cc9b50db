// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace shoal {

/// A text for a terminal or a log: names and values in it may come from files of strangers. Control
/// characters, by which a terminal is told what to do, are written as \x1b or \u202e; line feeds and tabs
/// stay. Of bytes that are no UTF-8, those are written so that are control characters in other encodings.
std::string printable(std::string_view text);
/// The same in one line: of a name or a path.
std::string printable_name(std::string_view name);
/// A message without the middle of what is too long to be read, as a text of a million bytes that it quotes.
std::string without_middle(std::string message);

}  // namespace shoal
