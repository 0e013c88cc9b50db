// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "driver/driver.hpp"
#include "driver/served/servers.hpp"

namespace shoal {

/// The options of a dataset, from its packed settings.
using OptionsOf = std::function<DriverOptions(const Bytes& settings)>;

/// Do what the node leader of this node says, until it says stop. By a rank that serves.
void serve(const Servers& servers, const OptionsOf& options_of);

/// Say it. What the servers have of datasets that are still open is dropped. By all computing ranks.
void stop_servers(Servers& servers);

}  // namespace shoal
