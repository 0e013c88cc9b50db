// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace shoal {

/// The longest wait in seconds before a try, the first of which that waits is number 2. Waits are taken at
/// random up to it ("full jitter"), so that ranks that failed together do not come again together.
double longest_wait(int try_number);

/// Can a try succeed after one with this answer? Of HTTP's status, and the server's own code ("": none).
bool may_pass(long status, const std::string& code);

/// The status that an error has which came under "200 OK", as happens after long work of the server.
long status_of_code(const std::string& code);

}  // namespace shoal
