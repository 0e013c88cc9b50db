// SPDX-License-Identifier: BSD-3-Clause
#include "support/faulty_store.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace shoal {
namespace {

/// The fault, and how often its operation was called so far, shared by all stores of one opener.
class FaultCounter {
 public:
  explicit FaultCounter(Fault fault) : fault_(std::move(fault)) {}

  /// Counts a call if it is of the fault's operation; true if this one has to fail.
  bool strikes(std::string_view operation) {
    if (operation != fault_.operation) return false;
    const std::int64_t call = calls_.fetch_add(1);
    return call >= fault_.after && (fault_.times < 0 || call - fault_.after < fault_.times);
  }

  void check(std::string_view operation, const std::string& path) {
    if (strikes(operation)) fail(operation, path);
  }

  [[noreturn]] void fail(std::string_view operation, const std::string& path) const {
    throw errno_error(fault_.error_number, "injected fault in " + std::string(operation)).in_file(path);
  }

 private:
  Fault fault_;
  std::atomic<std::int64_t> calls_ = 0;
};

class FaultyStore final : public Store {
 public:
  FaultyStore(std::unique_ptr<Store> inner, std::shared_ptr<FaultCounter> counter)
      : inner_(std::move(inner)), counter_(std::move(counter)) {}

  const std::string& path() const override { return inner_->path(); }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    counter_->check("write", path());
    inner_->write(offset, bytes);
  }
  std::size_t write_past_cache(std::uint64_t offset, std::span<const std::byte> bytes) override {
    counter_->check("write", path());
    return inner_->write_past_cache(offset, bytes);
  }
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    counter_->check("read", path());
    return inner_->read(offset, bytes);
  }
  std::uint64_t size() override { return inner_->size(); }
  void resize(std::uint64_t size) override {
    counter_->check("resize", path());
    inner_->resize(size);
  }
  void sync() override {
    counter_->check("sync", path());
    inner_->sync();
  }
  void close() override {
    // A failing close(2) closes nevertheless, so no descriptor leaks from a test.
    const bool fails = counter_->strikes("close");
    inner_->close();
    if (fails) counter_->fail("close", path());
  }

 private:
  std::unique_ptr<Store> inner_;
  std::shared_ptr<FaultCounter> counter_;
};

}  // namespace

StoreOpener with_fault(StoreOpener inner, Fault fault) {
  static const std::vector<std::string> k_operations{"open", "write", "read", "sync", "resize", "close"};
  if (std::find(k_operations.begin(), k_operations.end(), fault.operation) == k_operations.end())
    throw Error(Code::invalid_argument, "no fault for the operation '" + fault.operation + "'; allowed are " +
                                            joined(k_operations, ", "));
  auto counter = std::make_shared<FaultCounter>(std::move(fault));
  return
      [inner = std::move(inner), counter](const std::string& path, StoreMode mode) -> std::unique_ptr<Store> {
        counter->check("open", path);
        return std::make_unique<FaultyStore>(inner(path, mode), counter);
      };
}

}  // namespace shoal
