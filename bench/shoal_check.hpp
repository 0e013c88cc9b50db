// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <shoal/shoal.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace shoal::bench {

/// A combination that cannot be, in the words of the library that refuses it. Thrown on all ranks alike: the
/// benchmark leaves the case out, says so, and goes on.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Refused for what Shoal says that it cannot do, std::runtime_error for other failures.
void check_shoal(int code, const std::string& what);

struct FreeDecomposition {
  void operator()(shoal_decomposition* d) const { shoal_decomposition_free(&d); }
};
using ShoalDecomposition = std::unique_ptr<shoal_decomposition, FreeDecomposition>;

}  // namespace shoal::bench
