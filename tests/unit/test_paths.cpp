// SPDX-License-Identifier: BSD-3-Clause
// Paths: their text, and what the system says of them.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "storage/below.hpp"
#include "storage/paths.hpp"
#include "support/folder.hpp"

using namespace shoal;
using testing::Folder;

TEST_CASE("paths: the text of one") {
  CHECK(folder_of("his.nc") == ".");
  CHECK(folder_of("/his.nc") == "/");
  CHECK(folder_of("run//his.nc") == "run");
  CHECK(folder_of("/") == "/");
  CHECK(folder_of(".") == ".");
  CHECK(file_name_of("run/his.0001.nc") == "his.0001.nc");
  CHECK(stem_of("run/his.0001.nc") == "his.0001");
  CHECK(extension_of("run/his.0001.nc") == ".nc");
  CHECK(extension_of("run.d/his").empty());
  CHECK(joined_path("", "his.nc") == "his.nc");
  CHECK(joined_path("run/", "his.nc") == "run/his.nc");
  CHECK(joined_path("run", "/his.nc") == "/his.nc");
  CHECK(path_beside("his.nc", "other.nc") == "other.nc");
  CHECK(path_beside("run/his.nc", "other.nc") == "run/other.nc");
  CHECK(relative_path("/a/b/his.nc", "/a/c") == "../b/his.nc");
  CHECK(name_one_folder("/a//b/his.nc", "/a/b/other.nc"));
  CHECK(!name_one_folder("/a/his.nc", "/a/b/his.nc"));
}

TEST_CASE("paths: below a folder") {
  CHECK(is_below("/a/b/his.nc", "/a"));
  CHECK(is_below("/a/b/his.nc", "/a/"));
  CHECK(is_below("/a", "/a"));
  CHECK(is_below("/a", "/"));
  CHECK(!is_below("/ab/his.nc", "/a"));
  CHECK(!is_below("/a", "/a/b"));
}

TEST_CASE("paths: what is there") {
  const Folder folder;
  const std::string file = folder.path() + "/his.nc", link = folder.path() + "/link",
                    lost = folder.path() + "/lost", pipe = folder.path() + "/pipe",
                    none = folder.path() + "/none";
  std::ofstream(file) << "x";
  REQUIRE(::symlink(file.c_str(), link.c_str()) == 0);
  REQUIRE(::symlink(none.c_str(), lost.c_str()) == 0);
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(kind_of_path(file) == PathKind::file);
  CHECK(kind_of_path(link) == PathKind::file);
  CHECK(kind_of_name(link) == PathKind::link);
  CHECK(kind_of_path(lost) == PathKind::nothing);
  CHECK(kind_of_path(pipe) == PathKind::special);
  CHECK(kind_of_path(folder.path()) == PathKind::folder);
  CHECK(kind_of_path(file + "/below") == PathKind::nothing);
  CHECK(kind_of_path(std::string(5000, 'n')) == PathKind::unknown);
  CHECK(!path_exists(std::string(5000, 'n')));
  CHECK(path_exists(pipe));
  CHECK(!path_exists(lost));
  CHECK(is_free_name(none));
  CHECK(!is_free_name(lost));
  CHECK(!is_free_name(file + "/below"));
  CHECK(file_number(link) == file_number(file));
  CHECK(file_number(none) == 0);
  CHECK(identity_of(link) == identity_of(file));
  CHECK(identity_of(none).empty());
  CHECK(block_bytes_of(folder.path()) > 0);
  CHECK(block_bytes_of(none) == 0);
  std::filesystem::create_directory(folder.path() + "/sub");
  CHECK(resolved_path(folder.path() + "/./sub/../link") == resolved_path(file));
  CHECK(resolved_path(folder.path() + "/none/../new.nc") == resolved_path(folder.path()) + "/new.nc");
  CHECK(target_of(lost) == none);
}

TEST_CASE("paths: the names in a folder, and removing one") {
  const Folder folder;
  for (const char* name : {"/his.1.nc", "/his.2.nc", "/other"})
    std::ofstream(folder.path() + name) << "x";
  std::vector<std::string> names = names_in_folder(folder.path());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"his.1.nc", "his.2.nc", "other"});
  CHECK(paths_that_match(folder.path() + "/his.*.nc").size() == 2);
  CHECK(paths_that_match(folder.path() + "/nothing.*").empty());
  remove_file(folder.path() + "/other");
  remove_file(folder.path() + "/other");
  CHECK(names_in_folder(folder.path()).size() == 2);
  const std::string none = folder.path() + "/none";
  const Status listed = caught([&] { names_in_folder(none); });
  CHECK(listed.code == Code::not_found);
  CHECK(listed.file == none);
  const Status removed = caught([&] { remove_file(folder.path()); });
  CHECK(removed.file == folder.path());
  CHECK(removed.message.starts_with("removing it: "));
}
