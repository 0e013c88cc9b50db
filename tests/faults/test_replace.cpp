// A file that a new one replaces: what it is until the first commit, and after; and files that two want to
// write.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "faults/support.hpp"

using namespace shoal;
using namespace shoal::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t k_cells = 5000;

/// A folder of its own, empty, that all ranks see.
class Folder {
 public:
  explicit Folder(const std::string& name) : path_(fs::absolute(name).string()) {
    if (world_rank() == 0) {
      fs::remove_all(path_);
      fs::create_directories(path_);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Folder() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (world_rank() == 0) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(path_))
      all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::string path_;
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

DatasetOptions with(const std::string& settings) {
  DatasetOptions options;
  options.settings = settings;
  return options;
}

std::unique_ptr<Dataset> made(Line& line, const std::string& path, const DatasetOptions& options) {
  auto file = Dataset::create(MPI_COMM_WORLD, path, options);
  line.define(*file);
  return file;
}

/// A file of so many records that is there before; driver native.
void make_old(Line& line, const std::string& path, std::int64_t records, const std::string& settings = "") {
  auto file = made(line, path, with(settings));
  for (std::int64_t record = 0; record < records; ++record)
    file->write(line.call(record));
  file->close(false);
  MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<std::string> variants() {
  std::vector<std::string> all{"driver=native",
                               "driver=native, ranks_per_node=1",
                               "driver=native, background=thread",
                               "driver=native, format=netcdf4",
                               "driver=native, format=netcdf4, compression=deflate:1",
                               "driver=native, format=raw",
                               "driver=gather, format=ascii",
                               "driver=mpiio",
                               "driver=mpiio, format=raw, access=independent"};
#ifdef SHOAL_HAVE_PNETCDF
  all.insert(all.end(), {"driver=pnetcdf", "driver=pnetcdf, access=independent",
                         "driver=pnetcdf, access=nonblocking, replicated_access=independent"});
#endif
#ifdef SHOAL_HAVE_NETCDF
  all.insert(all.end(), {"driver=gather", "driver=gather, format=netcdf4", "driver=netcdf, format=netcdf4",
                         "driver=netcdf, format=netcdf4, access=independent"});
#endif
  return all;
}

/// Only on rank 0, which is all that need look.
struct Seen {
  explicit Seen(std::string of) : path(std::move(of)) {
    if (world_rank() != 0) return;
    bytes = bytes_of(path);
    header = bytes_of(path + ".json");
  }
  void check_unchanged() const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) {
      CHECK(bytes_of(path) == bytes);
      CHECK(bytes_of(path + ".json") == header);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::string path, bytes, header;
};

void check_names(const Folder& folder, const std::vector<std::string>& expected) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) {
    std::vector<std::string> found = folder.names();
    // OMPIO has one beside an open file over several nodes, for shared file pointers.
    std::erase_if(found, [](const std::string& name) { return name.ends_with(".lock"); });
    CHECK(found == expected);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<std::string> names_of(const std::string& variant) {
  const bool has_header =
      variant.find("raw") != std::string::npos || variant.find("ascii") != std::string::npos;
  return has_header ? std::vector<std::string>{"x.nc", "x.nc.json"} : std::vector<std::string>{"x.nc"};
}

}  // namespace

TEST_CASE("an old file stays until the new one is committed") {
  for (const auto& variant : variants()) {
    CAPTURE(variant);
    const Folder folder("replace");
    const std::string path = folder.file("x.nc");
    Line line(k_cells);
    const std::string format =
        variant.substr(variant.find(',') == std::string::npos ? variant.size() : variant.find(','));
    const bool plain = format.find("format=") != std::string::npos;
    make_old(line, path, 3, plain ? variant : "");
    const Seen old(path);
    auto file = made(line, path, with(variant));
    all_ok(outcome_of([&] { file->write(line.call(0)); }));
    old.check_unchanged();
    all_ok(outcome_of([&] { file->sync(false); }));
    check_names(folder, names_of(variant));
    if (world_rank() == 0) CHECK(bytes_of(path) != old.bytes);
    // Handles that are made only now find it under its new name, too.
    all_ok(outcome_of([&] {
      file->write(line.call(1));
      file->sync(true);
      file->write(line.call(2));
      if (variant.find("format=ascii") == std::string::npos) line.check(*file, 1);
      file->close(false);
    }));
    check_names(folder, names_of(variant));
    check_records(line, path, 3);
  }
}

TEST_CASE("a new file has no name until its first commit, and two of one name find each other") {
  for (const auto& variant : variants()) {
    CAPTURE(variant);
    const Folder folder("replace");
    const std::string path = folder.file("x.nc");
    Line line(k_cells);
    if (world_rank() == 0) std::ofstream(folder.file(".x.nc.new.tmp")) << "left by a job that was killed";
    MPI_Barrier(MPI_COMM_WORLD);
    auto file = made(line, path, with(variant));
    all_ok(outcome_of([&] {
      file->write(line.call(0));
      file->end_define();
    }));
    if (world_rank() == 0) CHECK_FALSE(fs::exists(path));
    MPI_Barrier(MPI_COMM_WORLD);
    all_got(outcome_of([&] { Dataset::create(MPI_COMM_WORLD, path, with(variant)); }), Code::state,
            {path, "open for writing already"});
    all_ok(outcome_of([&] { file->sync(false); }));
    check_names(folder, names_of(variant));
    all_ok(outcome_of([&] {
      file->write(line.call(1));
      file->close(false);
    }));
    check_names(folder, names_of(variant));
    check_records(line, path, 2);
  }
}

TEST_CASE("programs may change their working folder while a new file has no name yet") {
  for (const auto& variant : variants()) {
    CAPTURE(variant);
    const Folder folder("replace"), elsewhere("elsewhere");
    Line line(k_cells);
    const fs::path before = fs::current_path();
    fs::current_path(fs::path(folder.file("x.nc")).parent_path());
    auto file = made(line, "x.nc", with(variant));
    all_ok(outcome_of([&] { file->write(line.call(0)); }));
    fs::current_path(fs::path(elsewhere.file("x.nc")).parent_path());
    all_ok(outcome_of([&] {
      file->sync(false);
      file->write(line.call(1));
      file->sync(false);
      file->close(false);
    }));
    fs::current_path(before);
    check_names(folder, names_of(variant));
    check_names(elsewhere, {});
    check_records(line, folder.file("x.nc"), 2);
  }
}

TEST_CASE("a new file that is dropped leaves nothing, and one whose name somebody took is kept") {
  for (const auto& variant : variants()) {
    if (variant.find("driver=native") == std::string::npos) continue;
    CAPTURE(variant);
    const Folder folder("replace");
    const std::string path = folder.file("x.nc");
    Line line(k_cells);
    auto file = made(line, path, with(variant));
    all_ok(outcome_of([&] { file->write(line.call(0)); }));
    file.reset();
    check_names(folder, {});
    file = made(line, path, with(variant));
    all_ok(outcome_of([&] { file->write(line.call(0)); }));
    if (world_rank() == 0) std::ofstream(path) << "somebody's";
    MPI_Barrier(MPI_COMM_WORLD);
    all_got(outcome_of([&] { file->sync(false); }), Code::exists, {path, "it stays"});
    if (world_rank() == 0) {
      CHECK(bytes_of(path) == "somebody's");
      fs::remove(path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    all_ok(outcome_of([&] { file->close(false); }));
    check_names(folder, names_of(variant));
    check_records(line, path, 1);
  }
}

namespace {

std::string only_name_with(const Folder& folder, const std::string& part) {
  const auto names = folder.names();
  std::vector<std::string> found;
  std::copy_if(names.begin(), names.end(), std::back_inserter(found),
               [&](const std::string& name) { return name.find(part) != std::string::npos; });
  CHECK(found.size() == 1);
  return found.empty() ? "" : found.front();
}

}  // namespace

TEST_CASE("two that make one name and see no lock of each other each have their own file") {
  for (const std::string variant : {"driver=native", "driver=native, format=netcdf4", "driver=mpiio"}) {
    CAPTURE(variant);
    const Folder folder("replace");
    const std::string path = folder.file("x.nc");
    Line line(k_cells);
    auto first = made(line, path, with(variant));
    all_ok(outcome_of([&] {
      first->write(line.call(0));
      first->end_define();
    }));
    if (world_rank() == 0) {              // as if locks were known on their own node alone
      const auto names = folder.names();  // over nodes Open MPI has a file of its own beside one that is open
      CHECK(std::count_if(names.begin(), names.end(),
                          [](const auto& name) { return fs::path(name).extension() != ".lock"; }) == 2);
      CHECK(fs::file_size(folder.file(".x.nc.new.tmp")) < 100);
      fs::remove(folder.file(".x.nc.new.tmp"));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    auto second = made(line, path, with(variant));
    all_ok(outcome_of([&] {
      second->write(line.call(0));
      second->write(line.call(1));
      first->close(false);
    }));
    check_records(line, path, 1);
    all_got(outcome_of([&] { second->close(false); }), Code::exists,
            {path, "the new file is whole", "x.nc.kept."});
    // The one that is kept is no later job's to take, or to remove.
    if (world_rank() == 0) fs::remove(path);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int again = 0; again < 2; ++again)
      all_ok(outcome_of([&] { made(line, path, with(variant))->close(false); }));
    if (world_rank() == 0) fs::rename(folder.file(only_name_with(folder, ".kept.")), path);
    check_names(folder, {"x.nc"});
    check_records(line, path, 2);
  }
}

TEST_CASE("what a killed job listed goes with the next that makes the name, and nothing else does") {
  for (const bool is_new : {true, false}) {
    CAPTURE(is_new);
    const Folder folder("replace");
    const std::string path = folder.file("x.nc");
    Line line(k_cells);
    if (!is_new) make_old(line, path, 1);
    if (world_rank() == 0) {
      for (const char* name : {".x.nc.0000000000000001.tmp", ".x.nc.0000000000000001.tmp.json",
                               ".x.nc.0000000000000002.tmp", ".y.nc.0000000000000003.tmp", "y.nc"})
        std::ofstream(folder.file(name)) << "data";
      std::ofstream(folder.file(".x.nc.new.tmp"))
          << ".x.nc.0000000000000001.tmp\n.y.nc.0000000000000003.tmp\ny.nc\n../replace/y.nc\n";
    }
    MPI_Barrier(MPI_COMM_WORLD);
    auto file = made(line, path, with(""));
    if (world_rank() == 0) CHECK_FALSE(fs::exists(folder.file(".x.nc.0000000000000001.tmp")));
    all_ok(outcome_of([&] {
      file->write(line.call(0));
      file->close(false);
    }));
    check_names(folder, {".x.nc.0000000000000002.tmp", ".y.nc.0000000000000003.tmp", "x.nc", "y.nc"});
  }
}

TEST_CASE("a tool's file under a name that nobody can foresee is made in its place") {
  const Folder folder("replace");
  const std::string name = ".x.nc.0123456789abcdef.tmp";
  Line line(k_cells);
  auto file = made(line, folder.file(name), with("exists=error"));
  all_ok(outcome_of([&] { file->end_define(); }));
  check_names(folder, {name});
  all_ok(outcome_of([&] {
    file->write(line.call(0));
    file->close(false);
  }));
  check_names(folder, {name});
  check_records(line, folder.file(name), 1);
}

TEST_CASE("a file that another one replaces while it is opened is not read by the other one's header") {
  const Folder folder("replace");
  const std::string path = folder.file("x.nc");
  const std::string other = folder.file("other.nc");
  Line line(k_cells);
  make_old(line, path, 2, "header_reserve=0");
  make_old(line, other, 2, "header_reserve=1MiB");
  DatasetOptions options;
  if (world_rank() == 0)
    options.open_store = [&](const std::string& file, StoreMode mode) {
      auto store = open_posix_store(file, mode);
      if (file == path && fs::exists(other)) fs::rename(other, path);
      return store;
    };
  std::unique_ptr<Dataset> file;
  const Outcome outcome = outcome_of([&] {
    file = Dataset::open(MPI_COMM_WORLD, path, false, options);
    line.check(*file, 1);
  });
  if (outcome.code != Code::ok) all_got(outcome, Code::state, {path, "was replaced"});
}

TEST_CASE("an old file stays where the new one is closed at once, and ranks store after its first commit") {
  for (const auto& variant : variants()) {
    CAPTURE(variant);
    const Folder folder("replace");
    const std::string path = folder.file("x.nc");
    Line line(k_cells);
    make_old(line, path, 2);
    auto file = made(line, path, with(variant));
    all_ok(outcome_of([&] { file->sync(false); }));  // nobody but rank 0 has touched it
    all_ok(outcome_of([&] {
      file->write(line.call(0));
      file->close(false);
    }));
    check_records(line, path, 1);
    all_ok(outcome_of([&] {
      file = made(line, path, with(variant));
      file->write(line.call(0));
      file->write(line.call(1));
      file->close(true);
    }));
    check_names(folder, names_of(variant));
    check_records(line, path, 2);
  }
}

TEST_CASE("an old file stays where the new one is dropped") {
  for (const auto& variant : variants()) {
    if (variant.find("driver=native") == std::string::npos &&
        variant.find("driver=gather") == std::string::npos)
      continue;  // closing a file of MPI-IO is collective: one that is dropped stays open
    CAPTURE(variant);
    const Folder folder("replace");
    const std::string path = folder.file("x.nc");
    Line line(k_cells);
    make_old(line, path, 2);
    const Seen old(path);
    auto file = made(line, path, with(variant));
    all_ok(outcome_of([&] {
      file->write(line.call(0));
      file->end_define();
    }));
    file.reset();
    old.check_unchanged();
    check_names(folder, {"x.nc"});
  }
}

TEST_CASE("an old file stays where the first commit fails, and goes with the next") {
  for (const std::string format : {"cdf5", "netcdf4", "raw"}) {
    CAPTURE(format);
    const Folder folder("replace");
    const std::string path = folder.file("x.nc");
    Line line(k_cells);
    make_old(line, path, 2);
    const Seen old(path);
    DatasetOptions options = options_with("format=" + format, 0, {"sync", 0, 1, 28});
    auto file = made(line, path, options);
    const Outcome failed = outcome_of([&] {
      file->write(line.call(0));
      file->sync(true);
    });
    all_got(failed, Code::no_space, {path});
    CHECK(failed.message.find(".tmp") == std::string::npos);
    old.check_unchanged();
    all_ok(outcome_of([&] {
      file->write(line.call(0));
      file->sync(true);
    }));
    all_ok(outcome_of([&] { file->close(false); }));
    check_names(folder, names_of("format=" + format));
    check_records(line, path, 1);
  }
}

TEST_CASE("an old file stays where close fails") {
  const Folder folder("replace");
  const std::string path = folder.file("x.nc");
  Line line(k_cells);
  make_old(line, path, 2);
  const Seen old(path);
  auto file = made(line, path, options_with("", 0, {"write", 0, -1, 28}));
  all_got(outcome_of([&] {
            file->write(line.call(0));
            file->close(false);
          }),
          Code::no_space, {path});
  file.reset();
  old.check_unchanged();
  check_names(folder, {"x.nc"});
}

TEST_CASE("values that do not fit are no reason to keep the old file") {
  const Folder folder("replace");
  const std::string path = folder.file("x.nc");
  Line line(k_cells);
  make_old(line, path, 2);
  auto file = Dataset::create(MPI_COMM_WORLD, path, {});
  file->def_dim("x", k_cells);
  file->def_var("small", Type::byte_, "x", line.cut);
  const Outcome outcome = outcome_of([&] {
    DataCall call = line.call(5, "small");
    call.section.record = -1;
    file->write(call);
    file->close(false);
  });
  all_got(outcome, Code::range, {path});
  file.reset();
  check_names(folder, {"x.nc"});
  all_ok(outcome_of([&] {
    const auto again = Dataset::open(MPI_COMM_WORLD, path, false, {});
    CHECK(again->schema().find_variable("small") == 0);
    again->close(false);
  }));
}

TEST_CASE("setting replace=at_once") {
  const Folder folder("replace");
  const std::string path = folder.file("x.nc");
  Line line(k_cells);
  make_old(line, path, 2);
  const Seen old(path);
  auto file = made(line, path, with("replace=at_once"));
  if (world_rank() == 0) {
    CHECK(bytes_of(path) != old.bytes);
    CHECK(folder.names() == std::vector<std::string>{"x.nc"});
  }
  file->close(false);
}

TEST_CASE("links, other names and permissions of a file that is replaced") {
  const Folder folder("replace");
  const std::string path = folder.file("x.nc");
  const std::string link = folder.file("link.nc");
  const std::string other = folder.file("other.nc");
  Line line(k_cells);
  make_old(line, path, 2);
  const Seen old(path);
  if (world_rank() == 0) {
    fs::create_symlink("x.nc", link);
    REQUIRE(::link(path.c_str(), other.c_str()) == 0);
    REQUIRE(::chmod(path.c_str(), 0640) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  all_ok(outcome_of([&] {
    auto file = made(line, link, with(""));
    file->write(line.call(0));
    file->close(false);
  }));
  if (world_rank() == 0) {
    CHECK(fs::is_symlink(link));
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0640U);
    CHECK(bytes_of(other) == old.bytes);
  }
  check_names(folder, {"link.nc", "other.nc", "x.nc"});
  check_records(line, path, 1);
  // A link that leads nowhere: the file is made there.
  if (world_rank() == 0) fs::remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
  make_old(line, link, 1);
  if (world_rank() == 0) CHECK(fs::is_symlink(link));
  check_records(line, path, 1);
}

TEST_CASE("what is no plain file is neither written nor removed") {
  const Folder folder("special");
  Line line(k_cells);
  const std::string pipe = folder.file("x.nc");
  if (world_rank() == 0) REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (const auto& variant : variants())
    for (const std::string& path : {pipe, std::string("/dev/null")}) {
      CAPTURE(variant);
      const Outcome outcome = outcome_of([&] { made(line, path, with(variant))->close(false); });
      all_got(outcome, Code::invalid_argument, {path, "a pipe, a socket or a device"});
      MPI_Barrier(MPI_COMM_WORLD);
      if (world_rank() == 0) CHECK((fs::is_fifo(path) || fs::is_character_file(path)));
    }
}

TEST_CASE("files of a set that replaces another stay until it is committed") {
  if (world_size() < 2) return;
  const Folder folder("replace");
  const std::string path = folder.file("x.nc");
  Line line(k_cells);
  make_old(line, path, 2, "layout=process");
  std::vector<std::string> expected;
  if (world_rank() == 0) {
    expected = folder.names();
    fs::copy_file(path + ".0000", path + ".0099");  // of a larger set that was there before
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const Seen first(path + ".0000");
  auto file = made(line, path, with("layout=process"));
  file->write(line.call(0));
  first.check_unchanged();
  if (world_rank() == 0) CHECK(fs::exists(path + ".0099"));
  MPI_Barrier(MPI_COMM_WORLD);
  all_ok(outcome_of([&] { file->sync(false); }));
  check_names(folder, expected);
  if (world_rank() == 0) CHECK(bytes_of(path + ".0000") != first.bytes);
  all_ok(outcome_of([&] { file->close(false); }));
}

TEST_CASE("a file that is written is refused to others who want to write it") {
  for (const auto& variant : variants()) {
    CAPTURE(variant);
    const Folder folder("replace");
    const std::string path = folder.file("x.nc");
    Line line(k_cells);
    auto file = made(line, path, with(variant));
    all_ok(outcome_of([&] {
      file->write(line.call(0));
      file->sync(false);
    }));
    const Seen before(path);
    all_got(outcome_of([&] { Dataset::create(MPI_COMM_WORLD, path, with(variant)); }), Code::state,
            {path, "open for writing already", "lock=off"});
    all_got(outcome_of([&] { Dataset::open(MPI_COMM_WORLD, path, true, {}); }), Code::state, {path});
    before.check_unchanged();
    all_ok(outcome_of([&] {
      Dataset::open(MPI_COMM_WORLD, path, false, {})->close(false);
      file->write(line.call(1));
      file->close(false);
      file = Dataset::open(MPI_COMM_WORLD, path, true, {});
      file->close(false);
    }));
    check_records(line, path, 2);
    // One that is not there yet under its name is looked for there as well.
    file = made(line, path, with(variant));
    all_got(outcome_of([&] { Dataset::open(MPI_COMM_WORLD, path, true, {}); }), Code::state, {path});
    all_ok(outcome_of([&] { file->sync(false); }));
    all_got(outcome_of([&] { Dataset::open(MPI_COMM_WORLD, path, true, {}); }), Code::state, {path});
    all_ok(outcome_of([&] { file->close(false); }));
  }
}

TEST_CASE("setting lock=off, and a dataset that is dropped") {
  const Folder folder("replace");
  const std::string path = folder.file("x.nc");
  Line line(k_cells);
  make_old(line, path, 2);
  auto file = Dataset::open(MPI_COMM_WORLD, path, true, {});
  all_ok(outcome_of([&] { Dataset::open(MPI_COMM_WORLD, path, true, with("lock=off"))->close(false); }));
  all_got(outcome_of([&] { Dataset::open(MPI_COMM_WORLD, path, true, {}); }), Code::state, {path});
  file.reset();
  MPI_Barrier(MPI_COMM_WORLD);
  all_ok(outcome_of([&] { Dataset::open(MPI_COMM_WORLD, path, true, {})->close(false); }));
}
