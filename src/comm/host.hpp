// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// The name of the host that this rank is on. Local.
std::string host_name();
/// The cores of this host, whoever may use them; 0: not known. Local.
int cores_of_host();

}  // namespace shoal
