// SPDX-License-Identifier: BSD-3-Clause
#include "format/reference/reference.hpp"

#include "capi/handles.hpp"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

namespace {

std::vector<std::string> paths_of(const char* const* paths, int n) {
  if (n < 1) throw Error(Code::invalid_argument, "the number of paths is {}; give one or more", n);
  require(paths, "paths");
  std::vector<std::string> out;
  for (int i = 0; i < n; ++i)
    out.push_back(required_text(paths[i], "paths"));
  return out;
}

}  // namespace

int shoal_write_reference(const char* const* paths, int n, const char* out) {
  return guard([&] { write_reference(paths_of(paths, n), required_text(out, "out")); });
}

int shoal_write_master(const char* const* paths, int n, const char* out) {
  return guard([&] { write_virtual_master(paths_of(paths, n), required_text(out, "out")); });
}
