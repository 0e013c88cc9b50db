// SPDX-License-Identifier: BSD-3-Clause
// Files of settings: whose count, and what is opened at all.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "storage/below.hpp"
#include "storage/text_file.hpp"
#include "support/folder.hpp"
#include "support/says.hpp"

using namespace shoal;
using testing::Folder;

namespace {

constexpr std::uint64_t k_most = 1000;

std::string written(const Folder& folder, const std::string& name,
                    const std::string& text = "writers = 2\n") {
  std::ofstream(folder.file(name)) << text;
  return folder.file(name);
}

std::string why_not(const std::string& path) {
  const FoundText found = find_text(path, k_most);
  CHECK(found.there);
  CHECK(found.text.empty() != found.why_not.empty());
  return found.why_not;
}

std::string error_of(const std::string& path) {
  try {
    text_of_file(path, k_most);
  } catch (const Error& e) {
    CHECK(e.status().file == path);
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("settings files: those of the user and of root count, unless everybody may write to them") {
  constexpr uid_t k_user = 1000, k_other = 1001;
  CHECK(why_not_trusted(k_user, 0644, k_user).empty());
  CHECK(why_not_trusted(k_user, 0600, k_user).empty());
  CHECK(why_not_trusted(k_user, 0664, k_user).empty());  // umask 002
  CHECK(why_not_trusted(0, 0644, k_user).empty());
  CHECK(why_not_trusted(0, 0644, 0).empty());
  says(why_not_trusted(k_other, 0644, k_user), "belongs to user 1001");
  says(why_not_trusted(k_other, 0644, 0), "belongs to user 1001");
  says(why_not_trusted(k_user, 0666, k_user), "every user may write to it (mode 0666)");
  says(why_not_trusted(0, 0602, k_user), "mode 0602");
}

TEST_CASE("settings files that are found: owner, mode, links, kinds, size") {
  const Folder folder;
  CHECK(!find_text(folder.file("none"), k_most).there);
  const std::string mine = written(folder, "mine");
  CHECK(find_text(mine, k_most).text == "writers = 2\n");
  ::chmod(mine.c_str(), 0664);
  CHECK(find_text(mine, k_most).text == "writers = 2\n");
  ::chmod(mine.c_str(), 0646);
  says(why_not(mine), "every user may write");
  ::chmod(mine.c_str(), 0644);
  // A link leads where its owner wants; one that leads nowhere is as no file.
  std::filesystem::create_symlink(mine, folder.file("link"));
  CHECK(find_text(folder.file("link"), k_most).text == "writers = 2\n");
  std::filesystem::create_symlink("nowhere", folder.file("dangling"));
  CHECK(!find_text(folder.file("dangling"), k_most).there);
  std::filesystem::create_symlink("/dev/zero", folder.file("zero"));
  says(why_not(folder.file("zero")), "every user may write");
  says(why_not(folder.path()), "is a folder");
  REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
  says(why_not(folder.file("fifo")), "a pipe");
  CHECK(find_text(written(folder, "full", std::string(k_most, ' ')), k_most).text.size() == k_most);
  says(why_not(written(folder, "huge", std::string(k_most + 1, ' '))), "has more than");
  if (::geteuid() != 0) return;
  const std::string theirs = written(folder, "theirs");
  REQUIRE(::chown(theirs.c_str(), 4711, 4711) == 0);
  says(why_not(theirs), "belongs to user 4711");
  REQUIRE(::lchown(folder.file("link").c_str(), 4711, 4711) == 0);
  says(why_not(folder.file("link")), "belongs to user 4711");
}

TEST_CASE("files of text that are named: any owner, but regular and of bounded size") {
  const Folder folder;
  const std::string path = written(folder, "ocean.nml");
  ::chmod(path.c_str(), 0666);
  CHECK(text_of_file(path, k_most) == "writers = 2\n");
  says(error_of(folder.file("none")), "No such file");
  says(error_of("/dev/zero"), "a device");
  says(error_of(folder.path()), "is a folder");
  REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
  says(error_of(folder.file("fifo")), "a pipe");
  says(error_of(written(folder, "huge", std::string(k_most + 1, ' '))), "has more than");
  // Files of /proc say that they have no bytes.
  CHECK(!text_of_file("/proc/self/status", k_most_settings_bytes).empty());
}

TEST_CASE("files that are written below a folder: none elsewhere, no links on the way") {
  const Folder folder;
  std::filesystem::create_directories(folder.file("a/b"));
  for (const char* name : {"report.json", "a/b/report.json", "a/../report.json", "./a//b/r", "new/r"})
    CHECK_MESSAGE(why_not_below(folder.file(name), folder.path()).empty(), name);
  CHECK(why_not_below(folder.file("r"), folder.path() + "/").empty());
  says(why_not_below(folder.file("../r"), folder.path()), "not below the folder");
  says(why_not_below("/etc/r", folder.path()), "not below the folder");
  says(why_not_below(folder.path(), folder.path()), "not below the folder");
  says(why_not_below(folder.path() + "2/r", folder.path()), "not below the folder");
  CHECK(why_not_below("report.json", "").empty());  // the folder where the program runs
  CHECK(why_not_below("report.json", ".").empty());
  says(why_not_below("../report.json", "."), "not below");
  std::filesystem::create_symlink("/etc/passwd", folder.file("a/link"));
  std::filesystem::create_symlink("/etc", folder.file("out"));
  says(why_not_below(folder.file("a/link"), folder.path()), "a/link' is a link");
  says(why_not_below(folder.file("out/r"), folder.path()), "out' is a link");
}
