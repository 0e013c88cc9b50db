// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "storage/past_cache.hpp"
#include "storage/store.hpp"
#include "support/faulty_store.hpp"
#include "support/folder.hpp"

namespace {

using namespace shoal;
namespace fs = std::filesystem;

using testing::Folder;

std::vector<std::byte> pattern(std::size_t n) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i)
    bytes[i] = static_cast<std::byte>(i * 31 + i / 256);
  return bytes;
}

std::size_t system_page() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// How many pages of the file's first bytes the system has in memory.
std::size_t pages_in_memory(const std::string& path, std::size_t bytes) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(descriptor >= 0);
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  REQUIRE(mapped != MAP_FAILED);
  std::vector<unsigned char> there((bytes + system_page() - 1) / system_page());
  REQUIRE(::mincore(mapped, bytes, there.data()) == 0);
  ::munmap(mapped, bytes);
  ::close(descriptor);
  return static_cast<std::size_t>(
      std::count_if(there.begin(), there.end(), [](unsigned char page) { return (page & 1U) != 0; }));
}

/// Can a file of the folder be written past the page cache?
bool has_past_cache(const Folder& folder) {
  const int descriptor = ::open(folder.file("probe").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(descriptor >= 0);
  const bool possible = PastCache(descriptor).possible();
  ::close(descriptor);
  if (!possible) MESSAGE("skipped: ", folder.path(), " has no files that are written past the page cache");
  return possible;
}

template <class Work>
Status status_of(Work work) {
  return caught(work);
}

bool mentions(const Status& status, const std::string& text) {
  return status.text().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("bytes come back from where they were put") {
  const Folder folder;
  const std::string path = folder.file("a.bin");
  auto store = open_posix_store(path, StoreMode::create);
  CHECK(store->path() == path);
  CHECK(store->size() == 0);
  const auto bytes = pattern(100000);
  store->write(5000, bytes);
  CHECK(store->size() == 105000);
  store->write(0, {});
  std::vector<std::byte> back(bytes.size());
  CHECK(store->read(5000, back) == bytes.size());
  CHECK(back == bytes);
  std::vector<std::byte> hole(5000, std::byte{1});
  CHECK(store->read(0, hole) == hole.size());
  CHECK(hole == std::vector<std::byte>(5000));
  // The end of the file cuts a read short.
  CHECK(store->read(104999, back) == 1);
  CHECK(store->read(105000, back) == 0);
  CHECK(store->read(1 << 30, back) == 0);
  store->sync();
  store->close();
  CHECK(status_of([&] { store->write(0, bytes); }).code == Code::state);
  CHECK(status_of([&] { store->close(); }).code == Code::state);
}

TEST_CASE("bytes written past the page cache are where they were put, and nothing else is touched") {
  const Folder on_disk("/var/tmp"), in_memory("/dev/shm");
  for (const Folder* folder : {&on_disk, &in_memory}) {
    const std::string path = folder->file("a.bin");
    auto store = open_posix_store(path, StoreMode::create);
    std::vector<std::byte> expected(3 << 20, std::byte{0x5a});
    store->write(0, expected);
    const auto source = pattern(expected.size());
    std::mt19937 random(7);
    const auto up_to = [&](std::size_t n) { return random() % n; };
    for (int i = 0; i < 200; ++i) {
      // Whole pages, none, and ends of any number of bytes; from memory at any address.
      std::size_t bytes = up_to(i % 3 == 0 ? 2 << 20 : 200000);
      std::size_t to = up_to(expected.size() - bytes);
      const std::size_t from = up_to(source.size() - bytes);
      if (i % 4 == 0) to = to / PastCache::k_page * PastCache::k_page;
      if (i % 8 == 0) bytes = bytes / PastCache::k_page * PastCache::k_page;
      const std::span<const std::byte> part{source.data() + from, bytes};
      const std::size_t past = store->write_past_cache(to, part);
      CHECK(past % PastCache::k_page == 0);
      CHECK(past <= bytes);
      std::copy(part.begin(), part.end(), expected.begin() + static_cast<std::ptrdiff_t>(to));
      if (i % 5 == 0) store->write(to + bytes / 2, part.first(bytes / 3));  // in turns with the ordinary way
      if (i % 5 == 0)
        std::copy_n(part.begin(), bytes / 3, expected.begin() + static_cast<std::ptrdiff_t>(to + bytes / 2));
    }
    std::vector<std::byte> found(expected.size());
    CHECK(store->read(0, found) == found.size());
    CHECK(found == expected);
    CHECK(store->size() == expected.size());
    store->close();
    CHECK(status_of([&] { store->write_past_cache(0, source); }).code == Code::state);
  }
}

TEST_CASE("bytes written past the page cache are not in it") {
  const Folder folder("/var/tmp");
  if (!has_past_cache(folder)) return;
  const auto bytes = pattern(1 << 20);
  for (const std::size_t begin : {0, 1, 4096, 5000}) {
    CAPTURE(begin);
    const std::string path = folder.file("a.bin");
    auto store = open_posix_store(path, StoreMode::create);
    const std::size_t end = begin + bytes.size();
    const std::size_t pages = end / PastCache::k_page - (begin + PastCache::k_page - 1) / PastCache::k_page;
    CHECK(store->write_past_cache(begin, bytes) == pages * PastCache::k_page);
    CHECK(pages_in_memory(path, end) <= 2);
    std::vector<std::byte> found(bytes.size());
    CHECK(store->read(begin, found) == found.size());
    CHECK(found == bytes);
    // What is written next in the ordinary way stays.
    const std::size_t before = pages_in_memory(path, end);
    store->write(end, bytes);
    CHECK(pages_in_memory(path, end + bytes.size()) >= before + bytes.size() / system_page() - 1);
  }
}

TEST_CASE("offsets beyond 4 GiB") {
  const Folder folder;
  auto store = open_posix_store(folder.file("sparse.bin"), StoreMode::create);
  const auto bytes = pattern(10);
  const std::uint64_t far = (std::uint64_t{1} << 32) + 12345;
  store->write(far, bytes);
  CHECK(store->size() == far + 10);
  std::vector<std::byte> back(10);
  CHECK(store->read(far, back) == 10);
  CHECK(back == bytes);
  const Status status = status_of([&] { store->write(~std::uint64_t{0} - 3, bytes); });
  CHECK(status.code == Code::invalid_argument);
  CHECK(mentions(status, "sparse.bin"));
}

TEST_CASE("cutting and extending") {
  const Folder folder;
  auto store = open_posix_store(folder.file("a.bin"), StoreMode::create);
  store->write(0, pattern(100));
  store->resize(10);
  CHECK(store->size() == 10);
  store->resize(20);
  std::vector<std::byte> back(20);
  CHECK(store->read(0, back) == 20);
  auto expected = pattern(10);
  expected.resize(20);
  CHECK(back == expected);
}

TEST_CASE("modes of opening") {
  const Folder folder;
  const std::string path = folder.file("a.bin");
  {
    auto store = open_posix_store(path, StoreMode::create);
    store->write(0, pattern(10));
  }
  CHECK(status_of([&] { open_posix_store(path, StoreMode::create_exclusive); }).code == Code::exists);
  {
    auto store = open_posix_store(path, StoreMode::read);
    CHECK(store->size() == 10);
    const Status status = status_of([&] { store->write(0, pattern(1)); });
    CHECK_FALSE(status.ok());
    CHECK(mentions(status, "reading only"));
  }
  {
    auto store = open_posix_store(path, StoreMode::write);
    CHECK(store->size() == 10);
    store->write(10, pattern(5));
    CHECK(store->size() == 15);
  }
  CHECK(open_posix_store(path, StoreMode::create)->size() == 0);
  CHECK(open_posix_store(folder.file("new.bin"), StoreMode::create_exclusive)->size() == 0);
}

TEST_CASE("a store's descriptor is not inherited by other programs") {
  const Folder folder;
  const int before = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(before);
  auto store = open_posix_store(folder.file("a.bin"), StoreMode::create);
  // The lowest free descriptor is the one that open gives out.
  CHECK((::fcntl(before, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("errors of opening say what to do") {
  const Folder folder;
  Status status = status_of([&] { open_posix_store(folder.file("no.nc"), StoreMode::read); });
  CHECK(status.code == Code::not_found);
  CHECK(status.file == folder.file("no.nc"));
  CHECK(mentions(status, "has no such file"));

  for (const StoreMode mode :
       {StoreMode::create, StoreMode::create_exclusive, StoreMode::read, StoreMode::write}) {
    status = status_of([&] { open_posix_store(folder.file("out/his.nc"), mode); });
    CHECK(status.code == Code::not_found);
    CHECK(mentions(status, "the folder '" + folder.file("out") + "' does not exist"));
  }
  for (const StoreMode mode : {StoreMode::create, StoreMode::read, StoreMode::write}) {
    status = status_of([&] { open_posix_store(folder.path(), mode); });
    CHECK_FALSE(status.ok());
    CHECK(mentions(status, "names a folder"));
  }
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  for (const StoreMode mode : {StoreMode::create, StoreMode::read, StoreMode::write}) {
    status = status_of([&] { open_posix_store(folder.file("pipe"), mode); });
    CHECK(status.code == Code::invalid_argument);
    CHECK(mentions(status, "names a pipe"));
  }
  open_posix_store(folder.file("file"), StoreMode::create);
  status = status_of([&] { open_posix_store(folder.file("file/his.nc"), StoreMode::create); });
  CHECK(status.code == Code::not_found);
  CHECK(mentions(status, "file"));
}

TEST_CASE("no permission" * doctest::skip(::geteuid() == 0)) {
  const Folder folder;
  const std::string path = folder.file("a.bin");
  open_posix_store(path, StoreMode::create);
  REQUIRE(::chmod(path.c_str(), 0400) == 0);
  Status status = status_of([&] { open_posix_store(path, StoreMode::write); });
  CHECK(status.code == Code::permission);
  CHECK(mentions(status, "may not be written"));
  REQUIRE(::chmod(path.c_str(), 0) == 0);
  status = status_of([&] { open_posix_store(path, StoreMode::read); });
  CHECK(status.code == Code::permission);
  CHECK(mentions(status, "may not be read"));
  REQUIRE(::chmod(folder.path().c_str(), 0500) == 0);
  status = status_of([&] { open_posix_store(folder.file("b.bin"), StoreMode::create); });
  CHECK(status.code == Code::permission);
  CHECK(mentions(status, folder.path()));
  REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
}

TEST_CASE("a full device" * doctest::skip(!fs::exists("/dev/full"))) {
  auto store = open_posix_store("/dev/full", StoreMode::write);
  const Status status = status_of([&] { store->write(0, pattern(10)); });
  CHECK(status.code == Code::no_space);
  CHECK(status.file == "/dev/full");
  CHECK(mentions(status, "are free there"));
}

TEST_CASE("a file that grows beyond what the process may write") {
  const Folder folder;
  auto store = open_posix_store(folder.file("a.bin"), StoreMode::create);
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Status status = status_of([&] { store->write(0, pattern(5000)); });
  small.rlim_cur = 300000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Status past_cache = status_of([&] { store->write_past_cache(100, pattern(1 << 20)); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(past_cache.code == Code::no_space);
  CHECK(mentions(past_cache, "ulimit -f"));
  CHECK(status.code == Code::no_space);
  // The first thousand were accepted, the rest was tried and refused.
  CHECK(mentions(status, "1000 were written"));
  CHECK(mentions(status, "ulimit -f"));
}

TEST_CASE("the fault strikes the calls it is meant for, over all stores of the opener") {
  const Folder folder;
  const StoreOpener opener = with_fault(open_posix_store, {"write", 2, 2, ENOSPC});
  auto a = opener(folder.file("a"), StoreMode::create);
  auto b = opener(folder.file("b"), StoreMode::create);
  const auto bytes = pattern(8);
  a->write(0, bytes);
  b->write(0, bytes);
  Status status = status_of([&] { a->write(8, bytes); });
  CHECK(status.code == Code::no_space);
  CHECK(status.file == folder.file("a"));
  CHECK(mentions(status, "injected"));
  status = status_of([&] { b->write(8, bytes); });
  CHECK(status.code == Code::no_space);
  CHECK(status.file == folder.file("b"));
  a->write(8, bytes);
  CHECK(a->size() == 16);
  CHECK(b->size() == 8);
}

TEST_CASE("every operation can fail, and only that one") {
  const Folder folder;
  const auto run = [&](const std::string& operation) {
    const StoreOpener opener = with_fault(open_posix_store, {operation, 0, -1, EIO});
    std::vector<std::string> failed;
    const auto note = [&](const std::string& name, auto work) {
      const Status status = status_of(work);
      if (!status.ok()) failed.push_back(name);
      if (!status.ok()) CHECK(status.code == Code::io);
    };
    std::unique_ptr<Store> store;
    note("open", [&] { store = opener(folder.file("f"), StoreMode::create); });
    if (store == nullptr) return failed;
    std::vector<std::byte> bytes(4);
    note("write", [&] { store->write(0, bytes); });
    note("read", [&] { store->read(0, bytes); });
    note("resize", [&] { store->resize(2); });
    note("sync", [&] { store->sync(); });
    note("close", [&] { store->close(); });
    return failed;
  };
  for (const std::string operation : {"open", "write", "read", "sync", "resize", "close"})
    CHECK(run(operation) == std::vector<std::string>{operation});
  const Status status = status_of([] { with_fault(open_posix_store, {"seek", 0, 1, EIO}); });
  CHECK(status.code == Code::invalid_argument);
  CHECK(mentions(status, "resize"));
}

TEST_CASE("the kind of file system, of files that are and of files to be") {
  const Folder folder;
  const FileSystem here = file_system_of(folder.path());
  CHECK_FALSE(here.type.empty());
  CHECK(here.free > 0);
  CHECK(file_system_of(folder.file("not/yet/there.nc")).type == here.type);
  open_posix_store(folder.file("file"), StoreMode::create);
  CHECK(file_system_of(folder.file("file")).type == here.type);
  CHECK(file_system_of(folder.file("file/below")).type == here.type);
  CHECK_FALSE(file_system_of("relative.nc").type.empty());
  // A number that is no name: /proc is no place for files.
  if (fs::exists("/proc/self")) CHECK(file_system_of("/proc/self").type == "0x9fa0");
}
