#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "storage/store.hpp"

namespace shoal::testing {

/// Called before a store does it; empty: nothing.
struct StoreCalls {
  std::function<void(std::uint64_t offset, std::size_t bytes)> write = {};
  std::function<void()> read = {}, sync = {};
};

/// POSIX stores that report their calls.
inline StoreOpener watched(StoreCalls calls) {
  class WatchedStore final : public Store {
   public:
    WatchedStore(std::unique_ptr<Store> inner, StoreCalls calls)
        : inner_(std::move(inner)), calls_(std::move(calls)) {}
    const std::string& path() const override { return inner_->path(); }
    void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
      if (calls_.write) calls_.write(offset, bytes.size());
      inner_->write(offset, bytes);
    }
    std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
      if (calls_.read) calls_.read();
      return inner_->read(offset, bytes);
    }
    std::uint64_t size() override { return inner_->size(); }
    void resize(std::uint64_t size) override { inner_->resize(size); }
    void sync() override {
      if (calls_.sync) calls_.sync();
      inner_->sync();
    }
    void close() override { inner_->close(); }

   private:
    std::unique_ptr<Store> inner_;
    StoreCalls calls_;
  };
  return [calls = std::move(calls)](const std::string& path, StoreMode mode) {
    return std::make_unique<WatchedStore>(open_posix_store(path, mode), calls);
  };
}

}  // namespace shoal::testing
