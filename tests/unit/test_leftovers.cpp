// SPDX-License-Identifier: BSD-3-Clause
// What killed jobs leave beside a file, and who removes it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "storage/file_lock.hpp"
#include "storage/leftovers.hpp"
#include "storage/name_lock.hpp"
#include "storage/temporary_name.hpp"
#include "support/folder.hpp"

using namespace shoal;
using testing::Folder;

namespace {

void made(const std::string& path, int days) {
  std::ofstream(path) << "x";
  const timespec then{std::time(nullptr) - 86400L * days, 0};
  const timespec times[2] = {then, then};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

bool exists(const std::string& path) {
  return std::filesystem::exists(std::filesystem::symlink_status(path));
}

}  // namespace

TEST_CASE("leftovers: names") {
  for (const std::string path : {"his.nc", "/tmp/his.nc", "x"})
    CHECK(is_temporary_name(std::filesystem::path(temporary_name(path)).filename().string(), path));
  const std::string longest(300, 'n');
  CHECK(is_temporary_name(temporary_name(longest), longest));
  const std::string other_end = longest.substr(0, longest.size() - 1) + "_";
  CHECK(!is_temporary_name(temporary_name(other_end), longest));
  CHECK(name_lock_path(other_end) != name_lock_path(longest));
  for (const char* other :
       {"his.nc", ".his.nc.tmp", ".his.nc.0123456789abcdeg.tmp", ".his.nc.0123456789abcdef.tmp.json",
        ".his.nc2.0123456789abcdef.tmp", ".his.nc.0123456789abcdef0.tmp", "his.nc.0123456789abcdef.tmp"})
    CHECK_MESSAGE(!is_temporary_name(other, "his.nc"), other);
  CHECK(is_temporary_name(".his.nc.0123456789abcdef.tmp", "his.nc"));
  CHECK(is_temporary_name(temporary_name("/tmp/his.nc")));
  for (const char* other : {"his.nc", ".tmp", "/tmp/.his.nc.new.tmp", "his.nc.0123456789abcdef.tmp"})
    CHECK_MESSAGE(!is_temporary_name(other), other);
}

TEST_CASE("leftovers: old ones that nobody has locked go, and nothing else") {
  const Folder folder;
  const std::string target = folder.file("his.nc");
  const std::string old = folder.file(".his.nc.0000000000000001.tmp"),
                    fresh = folder.file(".his.nc.0000000000000002.tmp"),
                    locked = folder.file(".his.nc.0000000000000003.tmp"),
                    link = folder.file(".his.nc.0000000000000004.tmp"),
                    of_other = folder.file(".hers.nc.0000000000000005.tmp"),
                    alone = folder.file(".his.nc.0000000000000006.tmp.json");
  made(target, 9);
  made(old, 2);
  made(old + ".json", 2);
  made(fresh, 0);
  made(locked, 2);
  made(of_other, 2);
  made(alone, 2);
  const std::string lock_file = folder.file(".his.nc.new.tmp");
  made(lock_file, 2);
  std::filesystem::create_symlink(target, link);
  FileLock lock;
  REQUIRE(lock.take(locked) == FileLock::Outcome::locked);
  remove_files_left_beside(target);
  CHECK(!exists(old));
  CHECK(!exists(old + ".json"));
  CHECK(!exists(alone));
  CHECK(!exists(lock_file));
  for (const auto& stays : {target, fresh, locked, link, of_other})
    CHECK_MESSAGE(exists(stays), stays);
  remove_files_left_beside(folder.file("no/such/folder"));  // says nothing
  if (::geteuid() != 0) return;
  made(old, 2);
  REQUIRE(::chown(old.c_str(), 4711, 4711) == 0);
  remove_files_left_beside(target);
  CHECK(exists(old));
}

namespace {

/// A process that has the lock of the name, lists a file, makes it, and is killed.
void make_and_be_killed(const std::string& target, const std::string& file) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    NameLock lock;
    lock.take(target, true);
    lock.note(file);
    std::ofstream(file) << "half a file";
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  REQUIRE(exists(file));
}

}  // namespace

TEST_CASE("lock of a name: one at a time, and its file goes with it") {
  const Folder folder;
  const std::string target = folder.file("his.nc");
  NameLock lock;
  CHECK(lock.take(target, true) == FileLock::Outcome::locked);
  CHECK(exists(name_lock_path(target)));
  NameLock other;
  CHECK(other.take(target, true) == FileLock::Outcome::taken);
  other.release();
  CHECK(exists(name_lock_path(target)));
  lock.release();
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(other.take(target, true) == FileLock::Outcome::locked);
  other.release();
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("lock of a name: what has its name and is no file of this user is left alone") {
  const Folder folder;
  const std::string target = folder.file("his.nc"), precious = folder.file("precious");
  std::ofstream(precious) << "precious";
  std::filesystem::create_symlink(precious, name_lock_path(target));
  for (const bool is_link : {true, false}) {
    CAPTURE(is_link);
    if (!is_link) {
      std::filesystem::remove(name_lock_path(target));
      std::filesystem::create_hard_link(precious, name_lock_path(target));
    }
    NameLock lock;
    CHECK(lock.take(target, true) == FileLock::Outcome::locked);
    lock.note(folder.file(".his.nc.0123456789abcdef.tmp"));
    lock.release();
    CHECK(exists(name_lock_path(target)));
    CHECK(std::filesystem::file_size(precious) == 8);
  }
}

TEST_CASE("lock of a name: files of killed jobs go with the next, or once they are old") {
  const Folder folder;
  const std::string target = folder.file("his.nc"), file = temporary_name(target);
  make_and_be_killed(target, file);
  NameLock lock;
  // Where locks may be known on their own node alone, the job may be alive.
  CHECK(lock.take(target, false) == FileLock::Outcome::locked);
  lock.note(temporary_name(target));
  lock.release();
  CHECK(exists(file));
  CHECK(exists(name_lock_path(target)));
  made(file, 2);
  CHECK(lock.take(target, false) == FileLock::Outcome::locked);
  CHECK(!exists(file));
  lock.release();
  CHECK(std::filesystem::is_empty(folder.path()));
  // Where there is one node it is not.
  make_and_be_killed(target, file);
  CHECK(lock.take(target, true) == FileLock::Outcome::locked);
  CHECK(!exists(file));
  lock.release();
  CHECK(std::filesystem::is_empty(folder.path()));
}
