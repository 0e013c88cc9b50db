// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "driver/driver.hpp"
#include "driver/served/servers.hpp"

namespace shoal {

/// The options of a dataset, from its packed settings.
using OptionsOf = std::function<DriverOptions(const Bytes& settings)>;

/// On a server: makes the calls that the node leader sends, until Call::stop.
void serve(const Servers& servers, const OptionsOf& options_of);

/// On all computing ranks: sends Call::stop. Servers drop their part of datasets that are still open.
void stop_servers(Servers& servers);

}  // namespace shoal
