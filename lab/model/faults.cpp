// SPDX-License-Identifier: BSD-3-Clause
#include "model/faults.hpp"

namespace shoal::lab {

int Faults::request(Operation operation, ClientId client) {
  int error = 0;
  for (std::size_t i = 0; i < parameters_.errors.size(); ++i) {
    const ErrorFault& fault = parameters_.errors[i];
    if (fault.operation != operation || (fault.client >= 0 && fault.client != client)) continue;
    const std::int64_t number = ++requests_of_errors_[i];
    const bool due =
        number >= fault.at_request && (fault.times == 0 || number < fault.at_request + fault.times);
    if (due && error == 0) error = fault.error;
  }
  return error;
}

Seconds Faults::stall(int server, ClientId client) {
  Seconds seconds = 0;
  for (std::size_t i = 0; i < parameters_.stalls.size(); ++i) {
    const StallFault& fault = parameters_.stalls[i];
    const bool counts =
        (fault.server < 0 || fault.server == server) && (fault.client < 0 || fault.client == client);
    if (counts && fault.at_request > 0 && ++requests_of_stalls_[i] == fault.at_request)
      seconds = fault.seconds;
  }
  return seconds;
}

}  // namespace shoal::lab
