// SPDX-License-Identifier: BSD-3-Clause
// A bare method once more, in a plugin that is linked with a door of Shoal before the library: its calls are
// the door's, those of the program remain the library's. Settings of Shoal come by the environment, as a
// program of these libraries has no other way.
#include "method.hpp"

#include <cstdlib>
#include <memory>
#include <utility>

namespace shoal::bench {

namespace {

// Of the environment, while a file is made, where the variant says it.
class Background {
 public:
  explicit Background(const KeyValues& settings) {
    const auto value = settings.find("background");
    is_set_ = value != settings.end();
    if (is_set_) setenv("SHOAL_BACKGROUND", value->second.c_str(), 1);
  }
  ~Background() {
    if (is_set_) unsetenv("SHOAL_BACKGROUND");
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  bool is_set_ = false;
};

class Door : public Method {
 public:
  explicit Door(std::unique_ptr<Method> bare) : bare_(std::move(bare)) {}
  void prepare(Run& run) override { bare_->prepare(run); }
  void create(Run& run) override {
    const Background background(run.settings);
    bare_->create(run);
  }
  void put(Run& run, std::int64_t record) override { bare_->put(run, record); }
  void sync(Run& run) override { bare_->sync(run); }
  void finish(Run& run) override { bare_->finish(run); }
  void open(Run& run) override { bare_->open(run); }
  void get(Run& run, std::int64_t record) override { bare_->get(run, record); }
  void close(Run& run) override { bare_->close(run); }

 private:
  std::unique_ptr<Method> bare_;
};

}  // namespace

}  // namespace shoal::bench

extern "C" shoal::bench::Method* shoal_bench_make_door(const shoal::bench::MethodEntry* entry) {
  return std::make_unique<shoal::bench::Door>(shoal::bench::SHOAL_BENCH_MAKE_BARE(*entry)).release();
}
