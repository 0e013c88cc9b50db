// SPDX-License-Identifier: BSD-3-Clause
// What killed jobs leave beside a file, and who removes it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "storage/file_lock.hpp"
#include "storage/leftovers.hpp"
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
  for (const char* other :
       {"his.nc", ".his.nc.tmp", ".his.nc.0123456789abcdeg.tmp", ".his.nc.0123456789abcdef.tmp.json",
        ".his.nc2.0123456789abcdef.tmp", ".his.nc.0123456789abcdef0.tmp", "his.nc.0123456789abcdef.tmp"})
    CHECK_MESSAGE(!is_temporary_name(other, "his.nc"), other);
  CHECK(is_temporary_name(".his.nc.0123456789abcdef.tmp", "his.nc"));
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
  std::filesystem::create_symlink(target, link);
  FileLock lock;
  REQUIRE(lock.take(locked) == FileLock::Outcome::locked);
  remove_files_left_beside(target);
  CHECK(!exists(old));
  CHECK(!exists(old + ".json"));
  CHECK(!exists(alone));
  for (const auto& stays : {target, fresh, locked, link, of_other})
    CHECK_MESSAGE(exists(stays), stays);
  remove_files_left_beside(folder.file("no/such/folder"));  // says nothing
  if (::geteuid() != 0) return;
  made(old, 2);
  REQUIRE(::chown(old.c_str(), 4711, 4711) == 0);
  remove_files_left_beside(target);
  CHECK(exists(old));
}
