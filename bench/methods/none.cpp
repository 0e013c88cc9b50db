// SPDX-License-Identifier: BSD-3-Clause
// No output at all: what a program's computation takes by itself.
#include "method.hpp"

namespace shoal::bench {

namespace {

class None : public Method {
 public:
  void create(Run&) override {}
  void put(Run&, std::int64_t) override {}
  void finish(Run& run) override { run.at_peak(); }
  void open(Run&) override {}
  void get(Run&, std::int64_t) override {}
  void close(Run& run) override { run.at_peak(); }
  std::int64_t wrong_in_file(Run&) override { return 0; }
};

}  // namespace

std::unique_ptr<Method> make_none(const MethodEntry&) {
  return std::make_unique<None>();
}

}  // namespace shoal::bench
