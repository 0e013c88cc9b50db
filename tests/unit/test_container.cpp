#include "storage/container.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "pack/pieces.hpp"
#include "storage/file_lock.hpp"
#include "storage/location.hpp"
#include "storage/replacement.hpp"
#include "support/folder.hpp"

using namespace shoal;
using shoal::testing::Folder;

namespace {

void write(Container& container, const std::string& object, const std::string& text, StoreMode mode) {
  const auto store = container.open(object, mode);
  store->write(0, std::as_bytes(std::span(text)));
  store->close();
}

std::string text_in(Container& container, const std::string& object) {
  const auto store = container.open(object, StoreMode::read);
  std::string text(static_cast<std::size_t>(store->size()), ' ');
  store->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

template <class T>
concept TakesBareNumbers = requires {
  T{100, 0, 3000};
};
template <class T>
concept TakesLocation = requires {
  T{{0, 100}, 0, 3000};
};

template <class Work>
Code code_of(Work&& work) {
  return caught(work).code;
}

}  // namespace

TEST_CASE("containers: a folder makes the folders of its objects, lists, publishes and removes them") {
  const Folder folder;
  const auto container = folder_container(folder.file("set"), open_posix_store);
  CHECK(container->list("").empty());
  write(*container, "temp/0/1", "one", StoreMode::write_or_create);
  write(*container, "temp/0/2", "two", StoreMode::create_exclusive);
  write(*container, "header.new", "head", StoreMode::create);
  write(*container, "temp/0/1", "ONE", StoreMode::write_or_create);
  CHECK(sorted(container->list("temp/")) == std::vector<std::string>{"temp/0/1", "temp/0/2"});
  CHECK(text_in(*container, "temp/0/1") == "ONE");
  container->publish("header.new", "header", true);
  CHECK(sorted(container->list("")) == std::vector<std::string>{"header", "temp/0/1", "temp/0/2"});
  CHECK(text_in(*container, "header") == "head");
  container->sync_name("temp/0/2");
  container->remove("temp/0/2");
  container->remove("temp/0/2");
  CHECK(container->list("temp/") == std::vector<std::string>{"temp/0/1"});
  CHECK(code_of([&] { container->open("temp/0/2", StoreMode::read); }) == Code::not_found);
  CHECK(code_of([&] { container->open("temp/0/2", StoreMode::write); }) == Code::not_found);
  const auto nowhere = folder_container(folder.file("missing/set"), open_posix_store);
  CHECK(code_of([&] { nowhere->open("header", StoreMode::create); }) == Code::not_found);
}

TEST_CASE("containers: a file is one object without a name") {
  const Folder folder;
  const auto container = file_container(folder.file("a.nc"), open_posix_store);
  write(*container, "", "bytes", StoreMode::create);
  CHECK(text_in(*container, "") == "bytes");
  CHECK(container->list("") == std::vector<std::string>{""});
  CHECK(code_of([&] { container->open("other", StoreMode::read); }) == Code::internal);
  CHECK(code_of([&] { container->remove(""); }) == Code::internal);
}

TEST_CASE("locations: bytes behind one are in the same object, and nowhere is no place") {
  const Location at{7, 100};
  CHECK(at + 28 == Location{7, 128});
  CHECK(at.is_placed());
  CHECK_FALSE(k_nowhere.is_placed());
  CHECK_FALSE(Location{7, 100} == Location{8, 100});
  // Without its braces a location would take the numbers behind it.
  static_assert(TakesLocation<Extent> && !TakesBareNumbers<Extent>);
}

TEST_CASE("a new folder replaces an old one, a file, and is replaced by a file") {
  const Folder folder;
  const std::string path = folder.file("set");
  const auto make = [&](const std::string& at, const std::string& text) {
    write(*folder_container(at, open_posix_store), "v0/r0", text, StoreMode::create);
  };
  const auto beside = [&] {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.file("")))
      ++n;
    return n;
  };
  {
    Replacement first(path, {}, Replacement::What::of_free_name);
    make(first.beside(), "first");
    first.commit(true);
  }
  CHECK(text_in(*folder_container(path, open_posix_store), "v0/r0") == "first");
  {
    Replacement given_up(path, {}, Replacement::What::of_folder);
    make(given_up.beside(), "never");
  }
  CHECK(beside() == 1);
  {
    Replacement second(path, {}, Replacement::What::of_folder);
    make(second.beside(), "second");
    second.take_over_rights();
    second.commit(true);
  }
  CHECK(text_in(*folder_container(path, open_posix_store), "v0/r0") == "second");
  CHECK(beside() == 1);
  {
    Replacement refused(path);
    write(*file_container(refused.beside(), open_posix_store), "", "a file", StoreMode::create_exclusive);
    CHECK(caught([&] { refused.commit(true); }).code != Code::ok);
  }
  CHECK(text_in(*folder_container(path, open_posix_store), "v0/r0") == "second");
  {
    Replacement file(path, {}, Replacement::What::of_folder);
    write(*file_container(file.beside(), open_posix_store), "", "a file", StoreMode::create_exclusive);
    file.take_over_rights();
    file.commit(false);
  }
  CHECK(text_in(*file_container(path, open_posix_store), "") == "a file");
  {
    Replacement third(path);
    make(third.beside(), "third");
    third.commit(false);
  }
  CHECK(text_in(*folder_container(path, open_posix_store), "v0/r0") == "third");
  CHECK(beside() == 1);
}

TEST_CASE("locks of folders: one process, or two datasets of it, have it at a time") {
  const Folder folder;
  write(*folder_container(folder.file("set"), open_posix_store), "v0/r0", "x", StoreMode::create);
  FileLock first;
  CHECK(first.take(folder.file("set")) == FileLock::Outcome::locked);
  CHECK(first.is_of(folder.file("set")));
  FileLock second;
  CHECK(second.take(folder.file("set")) == FileLock::Outcome::taken);
  first.release();
  CHECK(second.take(folder.file("set")) == FileLock::Outcome::locked);
}

TEST_CASE("containers: a folder shows what is right below, drops what is below a folder, and copies") {
  const Folder folder;
  const auto container = folder_container(folder.file("set"), open_posix_store);
  CHECK(container->children("").empty());
  write(*container, "temp/c/0/1", "one", StoreMode::write_or_create);
  write(*container, "temp/c/5", "two", StoreMode::write_or_create);
  write(*container, "temp/zarr.json", "{}", StoreMode::write_or_create);
  CHECK(sorted(container->children("")) == std::vector<std::string>{"temp/"});
  CHECK(sorted(container->children("temp/")) == std::vector<std::string>{"c/", "zarr.json"});
  CHECK(sorted(container->children("temp/c/")) == std::vector<std::string>{"0/", "5"});
  container->copy("temp/c/0/1", "salt/c/0/1");
  CHECK(text_in(*container, "salt/c/0/1") == "one");
  CHECK(text_in(*container, "temp/c/0/1") == "one");
  container->remove_below("temp/");
  container->remove_below("temp/");
  CHECK(container->list("") == std::vector<std::string>{"salt/c/0/1"});
  CHECK_FALSE(std::filesystem::exists(folder.file("set") + "/temp"));
}
