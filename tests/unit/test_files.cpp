// SPDX-License-Identifier: BSD-3-Clause
// Locks, files that take another's place, and what dead processes leave.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.hpp"
#include "comm/shared_memory.hpp"
#include "storage/file_lock.hpp"
#include "storage/replacement.hpp"
#include "storage/temporary_name.hpp"
#include "storage/whole_file.hpp"
#include "support/folder.hpp"

namespace {

using namespace shoal;
namespace fs = std::filesystem;
using Outcome = FileLock::Outcome;

class Folder : public testing::Folder {
 public:
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(path()), fs::directory_iterator());
  }
};

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A process that does the work and waits; killed with this.
class Child {
 public:
  template <class Work>
  explicit Child(Work&& work) {
    std::array<int, 2> ready{};
    REQUIRE(::pipe(ready.data()) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      const char done = work() ? 'y' : 'n';
      if (::write(ready[1], &done, 1) != 1) ::_exit(1);
      for (;;)
        ::pause();
    }
    char done = 'n';
    REQUIRE(::read(ready[0], &done, 1) == 1);
    ::close(ready[0]);
    ::close(ready[1]);
    CHECK(done == 'y');
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

int names_in_shared_memory() {
  int found = 0;
  for (const auto& entry : fs::directory_iterator(SharedMemory::k_folder))
    found += entry.path().filename().string().rfind("shoal-", 0) == 0 ? 1 : 0;
  return found;
}

}  // namespace

TEST_CASE("a lock is another process's until that is dead") {
  const Folder folder;
  const std::string path = folder.file("x.nc");
  write(path, "data");
  Child other([&] {
    static FileLock lock;
    return lock.take(path) == Outcome::locked;
  });
  FileLock mine;
  CHECK(mine.take(path) == Outcome::taken);
  CHECK(!mine.is_of(path));
  other.kill();
  CHECK(mine.take(path) == Outcome::locked);
  CHECK(mine.is_of(path));
  FileLock again;
  CHECK(again.take(path) == Outcome::taken);
  mine.release();
  CHECK(again.take(path) == Outcome::locked);
}

TEST_CASE("a lock is in nobody's way but a writer's") {
  const Folder folder;
  const std::string path = folder.file("x.nc");
  write(path, "data");
  FileLock lock;
  REQUIRE(lock.take(path) == Outcome::locked);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  CHECK(::flock(fd, LOCK_SH | LOCK_NB) == 0);  // as HDF5 does to read
  CHECK(::flock(fd, LOCK_EX | LOCK_NB) == 0);
  struct flock range {};  // as MPI-IO does around what it writes
  range.l_type = F_WRLCK;
  range.l_len = off_t{1} << 40U;
  CHECK(::fcntl(fd, F_SETLK, &range) == 0);
  ::close(fd);
  FileLock second;
  CHECK(second.take(path) == Outcome::taken);  // and that close took nothing away
  CHECK(lock.take(folder.file("none")) == Outcome::locked);
  CHECK(!lock.is_of(folder.file("none")));
  CHECK(lock.take("/dev/null") == Outcome::locked);
}

TEST_CASE("a lock is of the file that has the name now") {
  const Folder folder;
  const std::string path = folder.file("x.nc");
  write(path, "old");
  write(folder.file("new"), "new");
  FileLock old;
  REQUIRE(old.take(path) == Outcome::locked);
  fs::rename(folder.file("new"), path);
  CHECK(!old.is_of(path));
  FileLock now;
  CHECK(now.take(path) == Outcome::locked);
  CHECK(now.is_of(path));
}

TEST_CASE("what lies where a temporary file was made once is not touched") {
  const Folder folder;
  const std::string path = folder.file("x.raw.json");
  write(folder.file("victim"), "precious");
  fs::create_symlink("victim", path + ".tmp");
  replace_whole_file(path, "header", true);
  CHECK(text_of(path) == "header");
  CHECK(text_of(folder.file("victim")) == "precious");
  CHECK(folder.files() == 3);
  replace_whole_file(path, "another", false);
  CHECK(text_of(path) == "another");
  CHECK(folder.files() == 3);
}

TEST_CASE("a whole file keeps its permissions, and stays what it was where it cannot be replaced") {
  const Folder folder;
  const std::string path = folder.file("x.json");
  write(path, "one");
  REQUIRE(::chmod(path.c_str(), 0604) == 0);
  replace_whole_file(path, "two", false);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0604U);
  try {
    replace_whole_file(folder.file("none/x.json"), "three", false);
    FAIL("there is no such folder");
  } catch (const Error& e) {
    CHECK(e.code() == Code::not_found);
    CHECK(e.status().file == folder.file("none/x.json"));
  }
}

TEST_CASE("names beside differ, are hidden, and are never too long") {
  CHECK(temporary_name("a/x.nc") != temporary_name("a/x.nc"));
  CHECK(temporary_name("a/x.nc").rfind("a/.x.nc.", 0) == 0);
  CHECK(fs::path(temporary_name("x.nc")).parent_path().empty());
  std::string name;
  for (int i = 0; i < 127; ++i)
    name += "\xc3\xa9";
  const std::string beside = temporary_name(name);
  CHECK(beside.size() < 240);
  CHECK((beside.size() - std::string("..0123456789abcdef.tmp").size()) % 2 == 0);  // whole letters
}

namespace {

/// x.raw, a link to a file in another folder, with its header beside the link.
std::string old_file_through_link(const Folder& folder) {
  fs::create_directories(folder.file("far"));
  const std::string path = folder.file("x.raw");
  write(folder.file("far/data"), "old");
  write(path + ".json", "old header");
  fs::create_symlink("far/data", path);
  return path;
}

}  // namespace

TEST_CASE("a replacement that is not committed leaves nothing") {
  const Folder folder;
  const std::string path = folder.file("x.raw");
  write(path, "old");
  write(path + ".json", "old header");
  {
    const Replacement replacement(path, {".json"});
    write(replacement.beside(), "new");
    write(replacement.beside() + ".json", "new header");
    CHECK(text_of(path) == "old");
  }
  CHECK(text_of(path) == "old");
  CHECK(folder.files() == 2);
}

TEST_CASE("a replacement brings the files that belong to it, also through a link to another folder") {
  const Folder folder;
  const std::string path = old_file_through_link(folder);
  Replacement replacement(path, {".json"});
  CHECK(fs::path(replacement.beside()).parent_path().filename() == "far");
  write(replacement.beside(), "new");
  write(replacement.beside() + ".json", "new header");
  replacement.commit(true);
  CHECK(fs::is_symlink(path));
  CHECK(text_of(path) == "new");
  CHECK(text_of(path + ".json") == "new header");
  CHECK(folder.files() == 3);
  CHECK(std::distance(fs::directory_iterator(folder.file("far")), fs::directory_iterator()) == 1);
}

TEST_CASE("a replacement that cannot be renamed leaves all as it was, and can be tried again") {
  const Folder folder;
  const std::string path = folder.file("x.raw");
  write(path, "old");
  write(path + ".json", "old header");
  Replacement replacement(path, {".json"});
  CHECK_THROWS_AS(replacement.commit(false), Error);  // nobody made the new file
  CHECK(text_of(path + ".json") == "old header");
  CHECK(folder.files() == 2);
  write(replacement.beside(), "new");
  replacement.commit(false);
  CHECK(text_of(path) == "new");
}

TEST_CASE("a replacement that cannot put an old header aside leaves all as it was") {
  const Folder folder;
  const std::string path = old_file_through_link(folder);
  fs::permissions(folder.file("far"), fs::perms::all);
  {
    Replacement replacement(path, {".json"});
    write(replacement.beside(), "new");
    fs::permissions(folder.file("."), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_exec);
    const uid_t me = ::geteuid();
    if (me == 0) REQUIRE(::seteuid(65534) == 0);  // root may rename anything
    CHECK_THROWS_AS(replacement.commit(false), Error);
    REQUIRE(::seteuid(me) == 0);
  }
  fs::permissions(folder.file("."), fs::perms::owner_all);
  CHECK(text_of(path) == "old");
  CHECK(text_of(path + ".json") == "old header");
  CHECK(folder.files() == 3);
}

TEST_CASE("a replacement by a relative path does not follow the working folder") {
  const Folder folder;
  fs::create_directories(folder.file("elsewhere"));
  const fs::path before = fs::current_path();
  fs::current_path(folder.file("."));
  Replacement replacement("x.raw", {".json"}, Replacement::What::of_free_name);
  write(replacement.beside(), "new");
  write(replacement.beside() + ".json", "new header");
  fs::current_path("elsewhere");
  replacement.commit(true);
  fs::current_path(before);
  CHECK(text_of(folder.file("x.raw")) == "new");
  CHECK(text_of(folder.file("x.raw.json")) == "new header");
  CHECK(folder.files() == 3);
}

TEST_CASE("a replacement that is kept has a name of its own, with what belongs to it") {
  const Folder folder;
  Replacement replacement(folder.file("x.raw"), {".json"}, Replacement::What::of_free_name);
  write(replacement.beside(), "new");
  write(replacement.beside() + ".json", "new header");
  write(folder.file("x.raw"), "somebody's");
  CHECK_THROWS_AS(replacement.commit(false), Error);
  const std::string kept = replacement.keep();
  CHECK(kept.starts_with(folder.file("x.raw.kept.")));
  CHECK(text_of(kept) == "new");
  CHECK(text_of(kept + ".json") == "new header");
  CHECK(text_of(folder.file("x.raw")) == "somebody's");
  CHECK(folder.files() == 3);
}

TEST_CASE("a replacement is refused where there is a pipe, and what was made is removed") {
  const Folder folder;
  const std::string pipe = folder.file("x.nc");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string made = temporary_name(pipe);
  write(made, "new");
  try {
    Replacement(pipe, {}, made).commit(false);
    FAIL("a pipe was replaced");
  } catch (const Error& e) {
    CHECK(e.code() == Code::invalid_argument);
    CHECK(e.status().file == pipe);
  }
  CHECK(fs::is_fifo(pipe));
  CHECK(folder.files() == 1);
}

TEST_CASE("a replacement whose second file finds no room can be tried again") {
  const Folder folder;
  const std::string path = old_file_through_link(folder);
  Replacement replacement(path, {".json"});
  write(replacement.beside(), "new");
  write(replacement.beside() + ".json", "new header");
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit none = before;
  none.rlim_cur = 0;
  ::setrlimit(RLIMIT_FSIZE, &none);
  CHECK_THROWS_AS(replacement.commit(false), Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(text_of(path) == "old");
  CHECK(text_of(path + ".json") == "old header");
  write(replacement.beside() + ".json", "newer header");
  replacement.commit(false);
  CHECK(text_of(path) == "new");
  CHECK(text_of(path + ".json") == "newer header");
  CHECK(folder.files() == 3);
}

TEST_CASE("shared memory has no name, whenever its process is killed") {
  const int before = names_in_shared_memory();
  Child other([] {
    static SharedFd file;
    SharedMemory::make(file);
    return file.fd >= 0;
  });
  CHECK(names_in_shared_memory() == before);
  other.kill();
  CHECK(names_in_shared_memory() == before);
}

TEST_CASE("shared memory is opened through the process that made it, or by a name") {
  SharedFd made;
  SharedMemory memory = SharedMemory::make(made);
  REQUIRE(::ftruncate(made.fd, 4096) == 0);
  SharedFd other;
  REQUIRE(memory.open_by_process(other));
  struct stat a {};
  struct stat b {};
  REQUIRE(::fstat(made.fd, &a) == 0);
  REQUIRE(::fstat(other.fd, &b) == 0);
  CHECK(a.st_ino == b.st_ino);
  SharedMemory elsewhere = memory;  // in another container the numbers are of something else
  elsewhere.inode += 1;
  SharedFd none;
  CHECK(!elsewhere.open_by_process(none));
  CHECK(none.fd < 0);
  CHECK_THROWS_AS(memory.open_by_name(none), Error);
  memory.give_name(made);
  SharedFd named;
  memory.open_by_name(named);
  REQUIRE(::fstat(named.fd, &b) == 0);
  CHECK(a.st_ino == b.st_ino);
  memory.take_name_away();
  SharedFd gone;
  CHECK_THROWS_AS(memory.open_by_name(gone), Error);
}

TEST_CASE("names that dead processes left go, and no others") {
  const Folder folder;
  const auto old_file = [&](const std::string& name) {
    write(folder.file(name), "");
    const std::array<timespec, 2> long_ago{};
    REQUIRE(::utimensat(AT_FDCWD, folder.file(name).c_str(), long_ago.data(), 0) == 0);
  };
  old_file("shoal-12-abc");
  old_file("shoal-13-abc");
  old_file("shoal-12-abc.nc");
  old_file("shoal-x");
  old_file("sem.shoal-12-abc");
  write(folder.file("shoal-14-abc"), "");  // a moment ago
  const int fd = ::open(folder.file("shoal-13-abc").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(fd, LOCK_SH | LOCK_NB) == 0);  // somebody has it
  CHECK(remove_leftovers(folder.path()) == 1);
  CHECK(!fs::exists(folder.file("shoal-12-abc")));
  CHECK(folder.files() == 5);
  ::close(fd);
  CHECK(remove_leftovers(folder.path()) == 1);
}
