// SPDX-License-Identifier: BSD-3-Clause
// A bare method once more, in a plugin that is linked with a door of Shoal before the library: its calls are
// the door's, those of the program remain the library's.
#include "method.hpp"

extern "C" shoal::bench::Method* shoal_bench_make_door(const shoal::bench::MethodEntry* entry) {
  return shoal::bench::SHOAL_BENCH_MAKE_BARE(*entry).release();
}
