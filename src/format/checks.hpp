// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "format/schema.hpp"

namespace shoal {

/// NetCDF's rules for names of dimensions, variables and attributes: 1 to 256 bytes of valid UTF-8; the first
/// character a letter, a digit, '_' or beyond ASCII; no control character, no '/', no blank at the end.
/// `what` is "dimension", "variable" or "attribute". Throws Error(invalid_argument) that shows the name.
/// Names are not normalised. Local.
void check_name(const std::string& name, const char* what);

/// `wanted` must be what is in the file, with its changes made (`changed`), and something added: the same
/// format, all dimensions, variables (same type, same dimensions, same order) and attributes of that, which
/// may have new values. Names of one kind are there once. Lengths of unlimited dimensions are not compared.
/// Throws Error(invalid_argument, exists) with what is missing or differs. Local.
void check_extends(const Schema& in_file, const Schema& wanted);

}  // namespace shoal
