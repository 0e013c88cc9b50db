// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "driver/file/shared_file.hpp"
#include "storage/gluster.hpp"
#include "storage/striping.hpp"

using namespace shoal;
using Sharing = FileSystem::Sharing;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, and a program lfs there, first on PATH.
class FakeLustre {
 public:
  explicit FakeLustre(const std::string& script) {
    std::string name = "fake_lustre_XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = fs::absolute(name);
    const char* path = std::getenv("PATH");
    path_before_ = path == nullptr ? "" : path;
    setenv("PATH", (folder_.string() + ":" + path_before_).c_str(), 1);
    if (script.empty()) return;
    std::ofstream(folder_ / "lfs") << "#!/bin/sh\n" << script;
    fs::permissions(folder_ / "lfs", fs::perms::owner_all);
  }
  ~FakeLustre() {
    setenv("PATH", path_before_.c_str(), 1);
    fs::remove_all(folder_);
  }
  std::string folder() const { return folder_.string(); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string text(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  fs::path folder_;
  std::string path_before_;
};

// Notes its arguments beside the file that it makes, as Lustre's does: last, and never over another one.
const std::string k_lfs = R"(for last; do :; done
echo "$@" >> "$(dirname "$last")/calls"
[ -e "$last" ] && { echo "file exists" >&2; exit 17; }
: > "$last"
)";

using Libraries = std::vector<std::string>;
const Libraries k_no_library{"no such library.so"};
const Libraries k_fake_library{SHOAL_FAKE_LUSTREAPI};

DriverOptions with(std::int64_t count, std::int64_t bytes, const std::string& type,
                   const Libraries& libraries = k_no_library) {
  DriverOptions options;
  options.system.lustre_libraries = libraries;
  options.stripes.count = count;
  options.stripes.bytes = bytes;
  options.system.find_file_system = [type](const std::string&) { return file_system_named(type); };
  return options;
}

OpenMode with_stripes(const std::string& path, OpenMode mode, const DriverOptions& options,
                      std::vector<std::string>& warnings) {
  return with_stripes(path, mode, options.stripes, options.system, warnings);
}

}  // namespace

TEST_CASE("file systems by their numbers") {
  const std::vector<std::tuple<std::uint64_t, const char*, Sharing>> known{
      {0xEF53, "ext4", Sharing::local},        {0x58465342, "xfs", Sharing::local},
      {0x9123683E, "btrfs", Sharing::local},   {0x794C7630, "overlay", Sharing::local},
      {0x01021994, "tmpfs", Sharing::local},   {0x0BD00BD0, "lustre", Sharing::coherent},
      {0x47504653, "gpfs", Sharing::coherent}, {0x19830326, "beegfs", Sharing::coherent},
      {0x00C36400, "ceph", Sharing::coherent}, {0x6969, "nfs", Sharing::close_to_open},
      {0xFE534D42, "smb", Sharing::cached},    {0x65735546, "fuse", Sharing::cached},
  };
  for (const auto& [number, name, sharing] : known) {
    CAPTURE(name);
    for (const FileSystem& found : {file_system_of_kind(number), file_system_named(name)}) {
      CHECK(found.type == name);
      CHECK(found.sharing == sharing);
    }
  }
  // What Lustre's messages begin with is not what statfs gives.
  CHECK(file_system_of_kind(0x0BD00BD3).type == "0xbd00bd3");
  CHECK(file_system_of_kind(0x0BD00BD3).sharing == Sharing::unknown);
  CHECK(file_system_named("no such").sharing == Sharing::unknown);
}

TEST_CASE("file systems of user space by the type of their mount") {
  constexpr std::uint64_t k_fuse = 0x65735546;
  CHECK(file_system_of_kind(k_fuse, "fuse.glusterfs").type == "glusterfs");
  CHECK(file_system_of_kind(k_fuse, "fuse.ceph-fuse").sharing == Sharing::coherent);
  CHECK(file_system_of_kind(k_fuse, "fuseblk").sharing == Sharing::local);
  CHECK(file_system_of_kind(k_fuse, "fuse.other").type == "fuse");
  CHECK(file_system_of_kind(k_fuse, "").sharing == Sharing::cached);
  CHECK(file_system_of_kind(k_fuse, "fuse.labfs-lustre").type == "lustre");
  CHECK(file_system_of_kind(k_fuse, "fuse.labfs-nfs").sharing == Sharing::close_to_open);
  CHECK(file_system_of_kind(k_fuse, "fuse.labfs-dvs").sharing == Sharing::unknown);
  CHECK(file_system_of_kind(0xEF53, "fuse.glusterfs").type == "ext4");  // the number counts first
}

TEST_CASE("the type of a mount by its device") {
  const std::string text =
      "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
      "90 22 0:52 / /glu\\040ster rw,relatime shared:7 master:2 - fuse.glusterfs host:/vol rw,user_id=0\n"
      "91 22 0:5 /sub /other rw - fuse.sshfs me@host: rw\n"
      "92 22 0:60 / /cut rw\n";
  CHECK(mount_of(text, 0, 52).type == "fuse.glusterfs");
  CHECK(mount_of(text, 0, 52).point == "/glu ster");
  CHECK(mount_of(text, 0, 5).type == "fuse.sshfs");  // no optional fields, and the start of another's number
  CHECK(mount_of(text, 0, 5).point.empty());         // a folder of it, not its root
  CHECK(mount_of(text, 8, 1).type == "ext4");
  CHECK(mount_of(text, 8, 1).point == "/");
  CHECK(mount_of(text, 0, 60).type.empty());
  CHECK(mount_of(text, 9, 9).type.empty());
  CHECK(mount_of("", 0, 1).type.empty());
}

TEST_CASE("what a client of GlusterFS keeps, as its folder .meta gives it") {
  std::string name = "fake_gluster_XXXXXX";
  REQUIRE(mkdtemp(name.data()) != nullptr);
  const fs::path here = fs::absolute(name);
  const fs::path active = here / ".meta" / "graphs" / "active";
  CHECK_FALSE(gluster_caches(here).has_value());
  const auto has = [&](const std::string& translator, const std::string& type) {
    fs::create_directories(active / translator);
    std::ofstream(active / translator / "type") << type << "\n";
  };
  const auto mounted = [&](const std::string& direct, const std::string& attribute,
                           const std::string& entry) {
    fs::create_directories(here / ".meta" / "root");
    std::ofstream(here / ".meta" / "root" / "private")
        << "[xlator.mount.fuse.priv]\nfd = 7\nvolfile = None\ndirect_io_mode = " << direct
        << "\nentry_timeout = " << entry << "\nattribute_timeout = " << attribute << "\n";
  };
  has("a-write-behind", "cluster/distribute");  // the volume may be called anything
  has("a-write-behind-client-0", "protocol/client");
  has("top", "debug/io-stats");
  CHECK_FALSE(gluster_caches(here).has_value());  // how it was mounted is not known
  mounted("1", "0.000000", "0.000000");
  REQUIRE(gluster_caches(here).has_value());
  CHECK(gluster_caches(here)->empty());
  has("a-md-cache", "performance/md-cache");
  has("a-io-threads", "performance/io-threads");
  mounted("2", "0.000000", "1.000000");
  using Names = std::vector<std::string>;
  CHECK(gluster_caches(here) ==
        Names{"performance.stat-prefetch", "direct-io-mode=enable", "entry-timeout=0"});
  mounted("none", "0", "0");
  CHECK_FALSE(gluster_caches(here).has_value());
  fs::remove_all(here);
}

TEST_CASE("what is wrong with a client of GlusterFS is said, and nothing else") {
  FileSystem where = file_system_named("glusterfs");
  where.caches = {"performance.quick-read", "performance.write-behind", "attribute-timeout=0"};
  const std::string text = sharing_warning(where, false);
  CHECK(text.find("KEY off): performance.quick-read, performance.write-behind; mount with -o "
                  "attribute-timeout=0;") != std::string::npos);
  CHECK(text.find("direct-io-mode") == std::string::npos);
  where.sharing = Sharing::coherent;
  CHECK(sharing_warning(where, true).empty());
}

TEST_CASE("what several nodes that write one file are told") {
  for (const char* type : {"ext4", "tmpfs", "lustre", "gpfs", "beegfs", "ceph", "0x1234"})
    for (const bool mpi_io : {false, true})
      CHECK(sharing_warning(file_system_named(type), mpi_io).empty());
  const auto says = [](const char* type, bool mpi_io, const char* word) {
    const std::string text = sharing_warning(file_system_named(type), mpi_io);
    CHECK_MESSAGE(text.find(word) != std::string::npos, text, " does not say ", word);
  };
  says("nfs", false, "one node store for all");
  says("nfs", true, "driver native or gather");
  says("glusterfs", false, "performance.write-behind");
  says("glusterfs", true, "attribute-timeout=0,entry-timeout=0");
  says("fuse", false, "direct_io");
  says("cifs", true, "cache=none");
  FileSystem where = file_system_named("nfs");
  where.free = std::uint64_t{1} << 63;
  where.caches = {"a", "b=0"};
  ByteWriter out;
  pack(out, where);
  const Bytes message = out.take();
  ByteReader in(message);
  const FileSystem same = unpack_file_system(in);
  CHECK(same.type == "nfs");
  CHECK(same.free == where.free);
  CHECK(same.sharing == Sharing::close_to_open);
  CHECK(same.caches == where.caches);
}

TEST_CASE("new files on Lustre get their stripes from lfs") {
  const FakeLustre here(k_lfs);
  std::vector<std::string> warnings;
  const auto file = here.file("new file; touch bad.nc");  // no shell looks at it
  CHECK(with_stripes(file, OpenMode::create, with(4, 1048576, "lustre"), warnings) == OpenMode::create);
  CHECK(fs::exists(file));
  CHECK(here.text("calls") == "setstripe -c 4 -S 1048576 " + file + "\n");
  // One that must be new is new still, and made.
  const auto second = here.file("second.nc");
  CHECK(with_stripes(second, OpenMode::create_exclusive, with(0, std::int64_t{3} << 30, "lustre"),
                     warnings) == OpenMode::create);
  CHECK(here.text("calls").find("setstripe -S 3221225472 " + second) != std::string::npos);
  CHECK(warnings.empty());
  // Nothing is asked for, or the file is there to stay.
  CHECK(with_stripes(here.file("x"), OpenMode::create, with(0, 0, "lustre"), warnings) == OpenMode::create);
  CHECK(with_stripes(second, OpenMode::write, with(4, 0, "lustre"), warnings) == OpenMode::write);
  CHECK(with_stripes(second, OpenMode::create_exclusive, with(4, 0, "lustre"), warnings) ==
        OpenMode::create_exclusive);
  CHECK_FALSE(fs::exists(here.file("x")));
  CHECK(warnings.empty());
}

TEST_CASE("a file that is replaced gets new stripes, and stays where they cannot be had") {
  const FakeLustre here(k_lfs);
  std::vector<std::string> warnings;
  const auto file = here.file("old.nc");
  std::ofstream(file) << "old";
  std::ofstream(here.file("old.nc.striped")) << "left by a job that was killed";
  CHECK(with_stripes(file, OpenMode::create, with(2, 0, "lustre"), warnings) == OpenMode::create);
  CHECK(here.text("old.nc").empty());
  CHECK(warnings.empty());
  CHECK_FALSE(fs::exists(here.file("old.nc.striped")));

  const FakeLustre failing("echo 'error: no such\npool' >&2; exit 3\n");
  const auto kept = failing.file("kept.nc");
  std::ofstream(kept) << "old";
  CHECK(with_stripes(kept, OpenMode::create, with(2, 65536, "lustre"), warnings) == OpenMode::create);
  CHECK(failing.text("kept.nc") == "old");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("error: no such pool") != std::string::npos);
  CHECK(warnings[0].find("lfs setstripe -c 2 -S 65536 " + fs::path(kept).parent_path().string()) !=
        std::string::npos);
  CHECK_FALSE(
      make_striped_file(fs::path(kept).parent_path().string(), {1, 0}, k_no_library).empty());  // a folder
}

TEST_CASE("without lfs, or not on Lustre, a warning says that stripes were not set") {
  std::vector<std::string> warnings;
  const FakeLustre here("");
  const std::string before = std::getenv("PATH");
  setenv("PATH", here.file("").c_str(), 1);
  CHECK(with_stripes(here.file("a.nc"), OpenMode::create, with(2, 0, "lustre"), warnings) ==
        OpenMode::create);
  setenv("PATH", before.c_str(), 1);
  CHECK(with_stripes(here.file("b.nc"), OpenMode::create, with(2, 0, "xfs"), warnings) == OpenMode::create);
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].find("no liblustreapi.so.1, and the program lfs was not found") != std::string::npos);
  CHECK(warnings[1].find("on xfs") != std::string::npos);
  CHECK_FALSE(fs::exists(here.file("a.nc")));
}

TEST_CASE("new files on Lustre get their stripes from its library, where there is one") {
  const FakeLustre here("echo 'lfs was called' >&2; exit 1\n");
  std::vector<std::string> warnings;
  const auto file = here.file("new.nc");
  CHECK(with_stripes(file, OpenMode::create,
                     with(4, 1048576, "lustre", {"no such library.so", SHOAL_FAKE_LUSTREAPI}),
                     warnings) == OpenMode::create);
  CHECK(fs::exists(file));
  CHECK(here.text("calls") == "llapi_file_create 1048576 -1 4 0 " + file + "\n");
  // One that is there is replaced by one with its permissions; what is not set is the folder's.
  std::ofstream(file) << "old";
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  CHECK(with_stripes(file, OpenMode::create, with(0, std::int64_t{3} << 30, "lustre", k_fake_library),
                     warnings) == OpenMode::create);
  CHECK(here.text("new.nc").empty());
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(here.text("calls").find("llapi_file_create 3221225472 -1 0 0 " + file + ".striped\n") !=
        std::string::npos);
  // More than an int holds is nothing that it may mistake for a small number.
  CHECK(make_striped_file(here.file("many.nc"), {(std::int64_t{1} << 32) + 1, 0}, k_fake_library).empty());
  CHECK(here.text("calls").find("llapi_file_create 0 -1 2147483647 0 ") != std::string::npos);
  CHECK(warnings.empty());
}

TEST_CASE("Lustre's library fails: the file is as it was, and a warning says why and what to do") {
  const FakeLustre here(k_lfs);
  std::vector<std::string> warnings;
  setenv("FAKE_LUSTRE_ERRNO", std::to_string(EINVAL).c_str(), 1);
  const auto kept = here.file("kept.nc");
  std::ofstream(kept) << "old";
  const auto fresh = here.file("fresh.nc");
  for (const auto& file : {kept, fresh})
    CHECK(with_stripes(file, OpenMode::create, with(2, 65536, "lustre", k_fake_library), warnings) ==
          OpenMode::create);
  unsetenv("FAKE_LUSTRE_ERRNO");
  CHECK(here.text("kept.nc") == "old");
  CHECK_FALSE(fs::exists(here.file("kept.nc.striped")));
  CHECK_FALSE(fs::exists(fresh));
  REQUIRE(warnings.size() == 2);
  for (const std::string& words :
       {fresh + ": Invalid argument", "lfs setstripe -c 2 -S 65536 " + here.folder()})
    CHECK_MESSAGE(warnings[1].find(words) != std::string::npos, warnings[1], " does not say ", words);
  CHECK(here.text("calls").find("printed") == std::string::npos);
}

// Needs LD_LIBRARY_PATH: see CMakeLists.txt.
TEST_CASE("Lustre's library is found where the loader looks" * doctest::skip()) {
  const FakeLustre here(k_lfs);
  CHECK(make_striped_file(here.file("new.nc"), {4, 65536}).empty());
  CHECK(here.text("calls") == "llapi_file_create 65536 -1 4 0 " + here.file("new.nc") + "\n");
}

TEST_CASE("libraries get stripes as hints") {
  std::vector<std::string> warnings;
  DriverOptions options = with(8, 4194304, "lustre");
  options.library.hints = {{"striping_factor", "3"}};
  add_stripe_hints(options.library.hints, options.stripes, file_system_named("lustre"), warnings);
  CHECK(options.library.hints == Hints{{"striping_factor", "3"}, {"striping_unit", "4194304"}});
  CHECK(warnings.empty());
  DriverOptions elsewhere = with(8, 0, "gpfs");
  add_stripe_hints(elsewhere.library.hints, elsewhere.stripes, file_system_named("gpfs"), warnings);
  CHECK(elsewhere.library.hints.empty());
  CHECK(warnings.size() == 1);
}
