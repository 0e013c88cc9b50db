// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "format/schema.hpp"

namespace shoal {

/// NetCDF's rules for names of dimensions, variables, attributes and groups: 1 to 256 bytes of valid UTF-8;
/// the first character a letter, a digit, '_' or beyond ASCII; no control character, no '/', no blank at the
/// end. `what` is "dimension", "variable", "attribute" or "group". Throws Error(invalid_argument) that shows
/// the name. Names are not normalised. Local.
void check_name(const std::string& name, const char* what);
/// Is each name of the path (group_paths.hpp) one that netCDF allows, and has the format groups, if it is in
/// one? `what` is "dimension", "variable" or "group". Error(invalid_argument). Local.
void check_path(const std::string& path, const char* what, Format format);

/// `wanted` must be what is in the file, with its changes made (`changed`), and something added: the same
/// format, all groups, dimensions, variables (same type, same dimensions, same order) and attributes of that,
/// which may have new values. Names of one kind are there once. Lengths of unlimited dimensions are not
/// compared. Throws Error(invalid_argument, exists) with what is missing or differs. Local.
void check_extends(const Schema& in_file, const Schema& wanted);

}  // namespace shoal
