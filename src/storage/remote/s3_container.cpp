// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/s3_container.hpp"

#ifdef SHOAL_HAVE_CURL
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "storage/remote/byte_ranges.hpp"
#include "storage/remote/object_bytes.hpp"

namespace shoal {

namespace {

/// An object that is put together in memory, and stored as a whole.
class S3Store final : public Store {
 public:
  /// before: the object that is there, whose bytes count where nothing is written; null: none counts.
  S3Store(std::shared_ptr<S3Bucket> bucket, std::string key, std::unique_ptr<RangedObject> before,
          bool only_new)
      : bucket_(std::move(bucket)),
        key_(std::move(key)),
        path_(bucket_->shown(key_)),
        before_(std::move(before)),
        before_end_(before_ ? before_->size() : 0),
        size_(before_end_),
        only_new_(only_new),
        is_changed_(!before_) {}

  const std::string& path() const override { return path_; }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (bytes.empty()) return;
    if (offset > UINT64_MAX - bytes.size())
      throw Error(Code::no_space, "no object has byte {}", offset).in_file(path_);
    const std::uint64_t end = offset + bytes.size();
    in_context(path_, [&] { memory_.resize(std::max(size_, end), std::max(offset, memory_.size())); });
    std::memcpy(memory_.bytes().data() + offset, bytes.data(), bytes.size());
    known_.add(offset, end);
    size_ = memory_.size();
    is_changed_ = true;
  }

  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    if (before_ && !is_changed_) return before_->read(offset, bytes);
    if (offset >= size_) return 0;
    bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), size_ - offset));
    fetch(offset, offset + bytes.size());
    std::memcpy(bytes.data(), memory_.bytes().data() + offset, bytes.size());
    return bytes.size();
  }

  std::uint64_t size() override { return size_; }

  void resize(std::uint64_t size) override {
    if (size == size_) return;
    in_context(path_, [&] { memory_.resize(size, size); });
    known_.cut(size);
    before_end_ = std::min(before_end_, size);
    size_ = size;
    is_changed_ = true;
  }

  void sync() override {
    if (!is_changed_) return;
    fetch(0, before_end_);
    bucket_->put(key_, memory_.bytes(), only_new_);
    only_new_ = false;
    is_changed_ = false;
    before_.reset();  // memory has all of it
    before_end_ = 0;
  }

  void close() override {
    sync();
    memory_.clear();
    before_.reset();
  }

 private:
  /// Bytes of the object as it was, which nobody has written.
  void fetch(std::uint64_t begin, std::uint64_t end) {
    end = std::min(end, before_end_);
    for (const auto& [first, last] : known_.gaps(begin, end)) {
      before_->read(first, memory_.bytes().subspan(first, last - first));
      known_.add(first, last);
    }
  }

  std::shared_ptr<S3Bucket> bucket_;
  std::string key_;
  std::string path_;
  std::unique_ptr<RangedObject> before_;
  std::uint64_t before_end_;  // what is behind it is in memory
  ObjectBytes memory_;        // of the first change on
  ByteRanges known_;          // what memory has of the bytes before before_end_
  std::uint64_t size_;
  bool only_new_;
  bool is_changed_;
};

class S3Container final : public Container {
 public:
  S3Container(std::shared_ptr<S3Bucket> bucket, const std::string& root)
      : bucket_(std::move(bucket)), root_(root), path_(bucket_->shown(root)) {}

  const std::string& path() const override { return path_; }

  std::unique_ptr<Store> open(const std::string& object, StoreMode mode) override {
    return open_s3_object(bucket_, key_of(object), mode, false);
  }

  std::vector<std::string> list(const std::string& beginning) override {
    std::vector<std::string> objects;
    bucket_->list(below(beginning), false, [&](ObjectPage&& page) {
      for (const std::string& key : page.keys)
        if (const std::string name = name_of_key(key); !name.empty() && !name.ends_with('/'))
          objects.push_back(name);  // others are made by consoles, to show a folder
    });
    return objects;
  }

  std::vector<std::string> children(const std::string& folder) override {
    const std::string prefix = below(as_folder(folder));
    std::vector<std::string> names;
    const auto take = [&](const std::string& key) {
      if (key.size() > prefix.size() && key.starts_with(prefix)) names.push_back(key.substr(prefix.size()));
    };
    bucket_->list(prefix, true, [&](ObjectPage&& page) {
      std::for_each(page.keys.begin(), page.keys.end(), take);
      std::for_each(page.folders.begin(), page.folders.end(), take);
    });
    return names;
  }

  void remove_below(const std::string& folder) override {
    if (folder.find_first_not_of('/') == std::string::npos) return;  // as of a folder: the container stays
    // All keys first: a list does not go on well while its objects go.
    std::vector<std::string> keys;
    const std::string prefix = below(as_folder(folder));
    bucket_->list(prefix, false, [&](ObjectPage&& page) {
      for (std::string& key : page.keys)
        if (key.starts_with(prefix)) keys.push_back(std::move(key));
    });
    bucket_->remove(keys);
  }

  void copy(const std::string& object, const std::string& to) override {
    bucket_->copy(key_of(object), key_of(to));
  }

  void remove(const std::string& object) override { bucket_->remove(key_of(object)); }

  void publish(const std::string& made, const std::string& object, bool /*durable*/) override {
    bucket_->copy(key_of(made), key_of(object));
    caught([&] { bucket_->remove(key_of(made)); });  // a draft that stays harms nobody
  }

  void sync_name(const std::string& /*object*/) override {}  // what was stored is durable
  bool stores_whole() const override { return true; }
  void put(const std::string& object, std::span<const std::byte> bytes) override {
    bucket_->put(key_of(object), bytes, false);
  }

 private:
  static std::string as_folder(const std::string& folder) {
    return folder.empty() || folder.ends_with('/') ? folder : folder + '/';
  }
  std::string below(const std::string& name) const { return root_.empty() ? name : root_ + '/' + name; }
  std::string key_of(const std::string& object) const { return object.empty() ? root_ : below(object); }
  std::string name_of_key(const std::string& key) const {
    const std::string begin = below("");
    return key.starts_with(begin) ? key.substr(begin.size()) : "";
  }

  std::shared_ptr<S3Bucket> bucket_;
  std::string root_;
  std::string path_;
};

}  // namespace

std::shared_ptr<Container> s3_container(std::shared_ptr<S3Bucket> bucket, const std::string& root) {
  return std::make_shared<S3Container>(std::move(bucket), root);
}

std::unique_ptr<Store> open_s3_object(const std::shared_ptr<S3Bucket>& bucket, const std::string& key,
                                      StoreMode mode, bool cached) {
  if (key.empty())
    throw Error(Code::invalid_argument, "the URL names a bucket, and no object in it")
        .in_file(bucket->shown(key));
  if (mode == StoreMode::read) return reading_store(bucket->open(key), cached);
  std::unique_ptr<RangedObject> before;
  if (mode == StoreMode::create_exclusive && bucket->has(key))
    throw Error(Code::exists, "it is there already").in_file(bucket->shown(key));
  if (mode == StoreMode::write || mode == StoreMode::write_or_create) {
    try {
      before = bucket->open(key);
    } catch (const Error& error) {
      if (mode == StoreMode::write || error.code() != Code::not_found) throw;
    }
  }
  return std::make_unique<S3Store>(bucket, key, std::move(before), mode == StoreMode::create_exclusive);
}

}  // namespace shoal
#endif
