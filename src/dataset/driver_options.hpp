// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "dataset/settings.hpp"
#include "driver/driver.hpp"
#include "machine/machine_file.hpp"

namespace shoal {

/// What the setting fill says. Local.
FillMode fill_mode_of(const Settings& settings);

/// Figures of the machine that a dataset of this path is chosen by (setting machine): measured ones, or, for
/// one that is written, default ones of the kind of file system; nothing for drivers that have no
/// use for them. Errors as of read_machine. Local.
FoundMachine resolve_machine(const Settings& settings, const SettingSources& sources, const std::string& path,
                             const FileSystemFinder& find_file_system, OpenMode mode);

/// What options leave open is chosen by the figures of the machine that they have, or as on all machines.
/// Local.
void choose_by_machine(DriverOptions& options);

/// What settings say to drivers, and where they say nothing, what was measured. Error(setting): two of them
/// that contradict each other. Local.
DriverOptions driver_options_of(const Settings& settings, const std::optional<MachineFigures>& machine);

}  // namespace shoal
