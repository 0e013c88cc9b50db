#include "support/whole_container.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "storage/container.hpp"

namespace shoal::testing {

namespace {

std::atomic<std::int64_t> put_objects = 0;

class WholeContainer final : public Container, public std::enable_shared_from_this<WholeContainer> {
 public:
  explicit WholeContainer(std::shared_ptr<Container> folder) : folder_(std::move(folder)) {}

  const std::string& path() const override { return folder_->path(); }
  std::unique_ptr<Store> open(const std::string& object, StoreMode mode) override;
  bool stores_whole() const override { return true; }
  void put(const std::string& object, std::span<const std::byte> bytes) override {
    const std::string made = ".putting." + std::to_string(::getpid()) + "." + std::to_string(++put_objects);
    const auto store = folder_->open(made, StoreMode::create);
    store->write(0, bytes);
    store->close();
    folder_->publish(made, object, false);
  }
  std::vector<std::string> list(const std::string& beginning) override { return folder_->list(beginning); }
  std::vector<std::string> children(const std::string& folder) override { return folder_->children(folder); }
  void remove_below(const std::string& folder) override { folder_->remove_below(folder); }
  void copy(const std::string& object, const std::string& to) override { folder_->copy(object, to); }
  void remove(const std::string& object) override { folder_->remove(object); }
  void publish(const std::string& made, const std::string& object, bool durable) override {
    folder_->publish(made, object, durable);
  }
  void sync_name(const std::string& object) override { folder_->sync_name(object); }

 private:
  std::shared_ptr<Container> folder_;
};

/// Bytes of an object in memory until they are put.
class WholeStore final : public Store {
 public:
  WholeStore(std::shared_ptr<WholeContainer> container, std::string object, std::string path, Bytes bytes,
             bool is_changed)
      : container_(std::move(container)),
        object_(std::move(object)),
        path_(std::move(path)),
        bytes_(std::move(bytes)),
        is_changed_(is_changed) {}

  const std::string& path() const override { return path_; }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (bytes_.size() < offset + bytes.size()) bytes_.resize(offset + bytes.size());
    std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
    is_changed_ = true;
  }
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    if (offset >= bytes_.size()) return 0;
    const std::size_t n = std::min<std::size_t>(bytes.size(), bytes_.size() - offset);
    std::memcpy(bytes.data(), bytes_.data() + offset, n);
    return n;
  }
  std::uint64_t size() override { return bytes_.size(); }
  void resize(std::uint64_t size) override {
    bytes_.resize(size);
    is_changed_ = true;
  }
  void sync() override { put(); }
  void close() override { put(); }

 private:
  void put() {
    if (std::exchange(is_changed_, false)) container_->put(object_, bytes_);
  }
  std::shared_ptr<WholeContainer> container_;
  std::string object_, path_;
  Bytes bytes_;
  bool is_changed_;
};

Bytes all_of(Store& store) {
  Bytes bytes(store.size());
  bytes.resize(store.read(0, bytes));
  return bytes;
}

std::unique_ptr<Store> WholeContainer::open(const std::string& object, StoreMode mode) {
  if (mode == StoreMode::read) return folder_->open(object, mode);
  if (mode == StoreMode::create_exclusive) folder_->open(object, mode)->close();
  Bytes bytes;
  bool is_new = true;
  if (mode == StoreMode::write || mode == StoreMode::write_or_create) {
    const Status there = caught([&] { bytes = all_of(*folder_->open(object, StoreMode::read)); });
    if (!there.ok() && (there.code != Code::not_found || mode == StoreMode::write)) throw Error(there);
    is_new = !there.ok();
  }
  return std::make_unique<WholeStore>(shared_from_this(), object, path() + "/" + object, std::move(bytes),
                                      is_new);
}

}  // namespace

void replace_folders_if_asked() {
  const char* const kind = std::getenv("TEST_CONTAINER");
  if (kind == nullptr || std::string(kind) != "whole") return;
  replace_folders(
      [](std::shared_ptr<Container> folder) { return std::make_shared<WholeContainer>(std::move(folder)); });
}

std::int64_t objects_put() {
  return put_objects;
}

}  // namespace shoal::testing
