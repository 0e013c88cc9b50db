// SPDX-License-Identifier: BSD-3-Clause
#include "storage/container.hpp"

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/error.hpp"
#include "storage/directory_sync.hpp"
#include "storage/paths.hpp"

namespace shoal {

namespace {

/// One object. Its other functions are for formats of many.
class OneObject : public Container {
 public:
  explicit OneObject(std::string path) : path_(std::move(path)) {}
  const std::string& path() const override { return path_; }
  std::vector<std::string> list(const std::string& beginning) override {
    return beginning.empty() ? std::vector<std::string>{""} : std::vector<std::string>{};
  }
  std::vector<std::string> children(const std::string& /*folder*/) override { return {}; }
  void remove_below(const std::string& /*folder*/) override { throw has_one(); }
  void copy(const std::string& /*object*/, const std::string& /*to*/) override { throw has_one(); }
  void remove(const std::string& /*object*/) override { throw has_one(); }
  void publish(const std::string& /*made*/, const std::string& /*object*/, bool /*durable*/) override {
    throw has_one();
  }
  void sync_name(const std::string& /*object*/) override { sync_directory_of(path_); }

 protected:
  Error has_one() const { return Error(Code::internal, "a file holds one object").in_file(path_); }

 private:
  std::string path_;
};

class FileContainer final : public OneObject {
 public:
  FileContainer(std::string path, StoreOpener open) : OneObject(std::move(path)), open_(std::move(open)) {}
  std::unique_ptr<Store> open(const std::string& object, StoreMode mode) override {
    if (!object.empty()) throw has_one();
    return open_(path(), mode);
  }

 private:
  StoreOpener open_;
};

class OpenContainer final : public OneObject {
 public:
  explicit OpenContainer(std::unique_ptr<Store> store) : OneObject(store->path()), store_(std::move(store)) {}
  std::unique_ptr<Store> open(const std::string& object, StoreMode /*mode*/) override {
    if (!object.empty() || !store_) throw has_one();
    return std::move(store_);
  }

 private:
  std::unique_ptr<Store> store_;
};

class FolderContainer final : public Container {
 public:
  FolderContainer(std::string path, StoreOpener open) : path_(std::move(path)), open_(std::move(open)) {}

  const std::string& path() const override { return path_; }

  std::unique_ptr<Store> open(const std::string& object, StoreMode mode) override {
    const std::string at = joined_path(path_, object);
    const bool may_make = mode != StoreMode::read && mode != StoreMode::write;
    if (const std::string folder = folder_of(at); may_make && !is_a_folder(folder)) {
      make_folder(path_);  // the folders above it are the user's
      make_folders(folder);
    }
    return open_(at, mode);
  }

  std::vector<std::string> list(const std::string& beginning) override {
    std::vector<std::string> objects;
    const auto end = beginning.rfind('/');  // of the folder that has them all
    list_below(end == std::string::npos ? "" : beginning.substr(0, end), beginning, objects);
    return objects;
  }

  std::vector<std::string> children(const std::string& folder) override {
    const std::string at = joined_path(path_, folder);
    if (!is_a_folder(at)) return {};
    std::vector<std::string> names = names_in_folder(at);
    for (std::string& name : names)
      if (kind_of_path(joined_path(at, name)) == PathKind::folder) name += '/';
    return names;
  }

  void remove_below(const std::string& folder) override {
    std::string at = joined_path(path_, folder);
    while (at.size() > path_.size() && at.ends_with('/'))
      at.pop_back();
    if (at.size() > path_.size()) remove_all(at);
  }

  void copy(const std::string& object, const std::string& to) override {
    make_folders(folder_of(joined_path(path_, to)));
    link_or_copy(joined_path(path_, object), joined_path(path_, to));
  }

  void remove(const std::string& object) override { remove_file(joined_path(path_, object)); }

  void publish(const std::string& made, const std::string& object, bool durable) override {
    const std::string from = joined_path(path_, made);
    const std::string to = joined_path(path_, object);
    bool is_done = std::rename(from.c_str(), to.c_str()) == 0;
    if (!is_done && errno == ENOENT && !is_a_folder(folder_of(to))) {
      make_folders(folder_of(to));
      if (durable) sync_name(object);  // or the object would go to a folder that has no name yet
      is_done = std::rename(from.c_str(), to.c_str()) == 0;
    }
    if (!is_done) throw errno_error(errno, "it cannot be given its name (rename)").in_file(to);
    if (durable) sync_directory_of(to);
  }

  void sync_name(const std::string& object) override {
    for (std::string at = joined_path(path_, object); at.size() > path_.size(); at = folder_of(at))
      sync_directory_of(at);
  }

 private:
  void list_below(const std::string& folder, const std::string& beginning,
                  std::vector<std::string>& objects) const {
    const std::string at = joined_path(path_, folder);
    if (!is_a_folder(at)) return;
    for (const std::string& name : names_in_folder(at)) {
      const std::string object = joined_path(folder, name);
      const PathKind kind = kind_of_name(joined_path(path_, object));
      if (kind == PathKind::folder)
        list_below(object, beginning, objects);
      else if (kind == PathKind::file && object.starts_with(beginning))
        objects.push_back(object);
    }
  }

  std::string path_;
  StoreOpener open_;
};

using FolderReplacer = std::function<std::shared_ptr<Container>(std::shared_ptr<Container>)>;

FolderReplacer& folder_replacer() {
  static FolderReplacer replacer;
  return replacer;
}

}  // namespace

void Container::put(const std::string& object, std::span<const std::byte> bytes) {
  const auto store = open(object, StoreMode::create);
  store->write(0, bytes);
  store->close();
}

std::shared_ptr<Container> file_container(const std::string& path, StoreOpener open) {
  return std::make_shared<FileContainer>(path, std::move(open));
}

std::shared_ptr<Container> folder_container(const std::string& path, StoreOpener open) {
  auto folder = std::make_shared<FolderContainer>(path, std::move(open));
  return folder_replacer() ? folder_replacer()(std::move(folder)) : folder;
}

void replace_folders(FolderReplacer by) {
  folder_replacer() = std::move(by);
}

std::shared_ptr<Container> container_of(std::unique_ptr<Store> store) {
  return std::make_shared<OpenContainer>(std::move(store));
}

}  // namespace shoal
