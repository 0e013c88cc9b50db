// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/figures.hpp"

namespace shoal {

/// The name that is looked for.
inline constexpr const char* k_machine_file = "machine.toml";

/// Of a file in TOML. Error(setting, not_found) with the path as file: unknown keys, with the nearest one;
/// values that cannot be; a build without TOML. Local.
Machine read_machine(const std::string& path);
/// Is it a machine file at all, whatever else is wrong with it? Local.
bool is_machine_file(const std::string& path);
/// The text of such a file, with a comment on each part. Error(setting): a build without TOML.
std::string text_of(const Machine& machine);

/// Puts figures in the place of those of the same mount point, or behind them.
void replace_file_system(Machine& machine, const FileSystemFigures& figures);

/// The file system that holds the path, or the folder that it will be in: the one with the longest mount
/// point in front of it. nullptr: none. Local.
const FileSystemFigures* file_system_for(const Machine& machine, const std::string& path);

/// What the file says of a dataset.
struct FoundMachine {
  std::optional<MachineFigures> figures;
  std::vector<std::string> warnings;
};
/// request: of the setting: auto, none or a path. settings: the path of the settings file, beside which auto
/// looks. kind: of the file system of the dataset, as FileSystem::type. today: "2026-11-25". Warnings: of
/// figures of another kind of file system, or none of it, which are not used; of old ones. Errors as of
/// read_machine. Local.
FoundMachine find_machine(const std::string& request, const std::string& settings, const std::string& dataset,
                          const std::string& kind, const std::string& today);

/// "2026-11-25", by UTC.
std::string date_of_today();

}  // namespace shoal
