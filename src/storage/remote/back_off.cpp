// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/back_off.hpp"

#include <algorithm>
#include <cmath>

namespace shoal {

namespace {

// A server that is asked too often wants to be left alone for seconds; a lost packet needs no wait at all.
constexpr double k_first_wait = 0.2;
constexpr double k_most_wait = 20;

bool is_of_load(const std::string& code) {
  return code == "SlowDown" || code == "InternalError" || code == "ServiceUnavailable" || code == "Busy" ||
         code == "RequestTimeout" || code == "OperationAborted" || code == "ThrottlingException" ||
         code == "TooManyRequests";
}

}  // namespace

double longest_wait(int try_number) {
  return std::min(k_most_wait, k_first_wait * std::pow(2.0, std::clamp(try_number - 2, 0, 30)));
}

bool may_pass(long status, const std::string& code) {
  if (status == 501 || status == 505 || status == 507) return false;  // says what the server has not
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status < 600) ||
         is_of_load(code);
}

long status_of_code(const std::string& code) {
  if (code == "PreconditionFailed") return 412;
  if (code == "NoSuchKey" || code == "NoSuchUpload" || code == "NoSuchBucket") return 404;
  if (code == "AccessDenied") return 403;
  return is_of_load(code) ? 503 : 400;
}

}  // namespace shoal
