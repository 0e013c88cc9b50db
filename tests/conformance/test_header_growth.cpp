// Definitions that have no place in a classic file: its data move to a new one.
#include <filesystem>

#include "comm/nodes.hpp"
#include "conformance/support.hpp"
#include "format/classic/header.hpp"
#include "storage/store.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

const char* const k_path = "header_growth.nc";

/// A line of cells of which ranks have even parts, or nothing.
struct Line {
  explicit Line(std::int64_t n)
      : length(n),
        cut(MPI_COMM_WORLD, {n},
            Box({n * world_rank() / world_size()},
                {n * (world_rank() + 1) / world_size() - n * world_rank() / world_size()}),
            {0}, {0}) {}

  void write(shoal_dataset* file, const char* name, std::int64_t record, double offset) const {
    TestArray array(SHOAL_FLOAT, cut.tile().count);
    for_cells(cut.tile(), [&](const Dims& i) {
      array.set({i[0] - cut.tile().first[0]}, offset + static_cast<double>(i[0]));
    });
    ok(shoal_write(file, name, cut.handle(), array.c(), SHOAL_RECORD(record)));
  }
  void check(shoal_dataset* file, const char* name, std::int64_t record, double offset,
             double step = 1) const {
    CAPTURE(name);
    CAPTURE(record);
    TestArray array(SHOAL_FLOAT, {length});
    ok(shoal_get(file, name, array.c(), SHOAL_RECORD(record)));
    for (std::int64_t i = 0; i < length; ++i)
      CHECK(array.get({i}) == offset + step * static_cast<double>(i));
  }
  void check_fill(shoal_dataset* file, const char* name, std::int64_t record) const {
    check(file, name, record, fill_value(SHOAL_FLOAT), 0);
  }

  std::int64_t length;
  Cut cut;
};

std::vector<std::string> classic_ones() {
  std::vector<std::string> found;
  for (const auto& format : formats())
    if (format.rfind("cdf", 0) == 0) found.push_back(format);
  return found;
}

/// Two variables of records, one of them of bytes, and a fixed one if asked for.
shoal_dataset* make_file(const std::string& settings, const Line& line, bool with_fixed) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, settings.c_str(), &file));
  ok(shoal_def_dim(file, "time", SHOAL_UNLIMITED));
  ok(shoal_def_dim(file, "x", line.length));
  if (with_fixed) ok(shoal_def_var(file, "depth", SHOAL_FLOAT, "x", line.cut.handle()));
  ok(shoal_def_var(file, "flag", SHOAL_BYTE, "time", nullptr));
  ok(shoal_def_var(file, "temp", SHOAL_FLOAT, "time x", line.cut.handle()));
  return file;
}

/// Without room in the header.
shoal_dataset* new_file(const std::string& format, const Line& line) {
  return make_file("header_reserve=0, alignment=4, format=" + format, line, true);
}

void put_flag(shoal_dataset* file, std::int64_t record) {
  TestArray array(SHOAL_BYTE, {});
  array.set({}, static_cast<double>(record + 1));
  ok(shoal_put(file, "flag", array.c(), SHOAL_RECORD(record)));
}

void write_record(shoal_dataset* file, const Line& line, std::int64_t record) {
  line.write(file, "temp", record, 100.0 * static_cast<double>(record));
  put_flag(file, record);
}

void check_records(shoal_dataset* file, const Line& line, std::int64_t records) {
  line.check(file, "depth", -1, 7);
  for (std::int64_t record = 0; record < records; ++record) {
    line.check(file, "temp", record, 100.0 * static_cast<double>(record));
    TestArray flag(SHOAL_BYTE, {});
    ok(shoal_get(file, "flag", flag.c(), SHOAL_RECORD(record)));
    CHECK(flag.get({}) == static_cast<double>(record + 1));
  }
}

void put_text(shoal_dataset* file, const char* name, std::size_t bytes) {
  const std::string text(bytes, 'x');
  ok(shoal_put_att(file, nullptr, name, SHOAL_CHAR, static_cast<std::int64_t>(bytes), text.c_str()));
}

bool has_moved(shoal_dataset* file) {
  const std::string report = shoal_report(file);
  int moved = report.find("\"bytes_moved\": 0") == std::string::npos ? 1 : 0;
  MPI_Bcast(&moved, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return moved != 0;
}

/// Where the variables of the file that is there begin.
std::vector<std::int64_t> begins() {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto store = open_posix_store(k_path, StoreMode::read);
  const ClassicHeader header = decode_header(*store);
  store->close();
  MPI_Barrier(MPI_COMM_WORLD);
  return header.begins;
}

/// Do ranks of a node follow each other? Else their parts of a line form no box.
bool nodes_follow_ranks() {
  const Nodes nodes(Comm(MPI_COMM_WORLD), 0);
  const int mine = nodes.index();
  std::vector<int> all(static_cast<std::size_t>(world_size()));
  MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return std::is_sorted(all.begin(), all.end());
}

/// Settings of sets that a line of cells can be written to.
std::vector<std::string> set_layouts() {
  std::vector<std::string> found{"layout=process"};
  if (nodes_follow_ranks()) found.emplace_back("layout=node");
  if (world_size() > 1) found.emplace_back("layout=domains, io_layout=2x1");
  return found;
}

void check_no_leftovers() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0)
    for (const auto& entry : std::filesystem::directory_iterator("."))
      CHECK(entry.path().filename().string().rfind(std::string(".") + k_path, 0) != 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

void reopen(shoal_dataset*& file, int mode) {
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, mode, nullptr, &file));
}

}  // namespace

TEST_CASE("header growth: attributes and variables in a file with records and without free space") {
  if (skipped(in_one_file() && !classic_ones().empty(), "one classic file")) return;
  for (const auto& format : classic_ones())
    for (const std::int64_t length : {std::int64_t{2}, std::int64_t{30000}}) {
      CAPTURE(format);
      CAPTURE(length);
      const Line line(length);
      shoal_dataset* file = new_file(format, line);
      line.write(file, "depth", -1, 7);
      for (std::int64_t record = 0; record < 3; ++record)
        write_record(file, line, record);
      reopen(file, SHOAL_WRITE);
      put_text(file, "history", 4);
      ok(shoal_end_define(file));
      CHECK(has_moved(file));
      check_records(file, line, 3);
      put_text(file, "more", 100000);
      ok(shoal_def_var(file, "salt", SHOAL_FLOAT, "time x", line.cut.handle()));
      ok(shoal_def_var(file, "late", SHOAL_FLOAT, "x", line.cut.handle()));
      ok(shoal_def_var(file, "count", SHOAL_FLOAT, "time x", nullptr));
      ok(shoal_end_define(file));
      line.write(file, "salt", 1, 50);
      write_record(file, line, 3);
      check_records(file, line, 4);
      ok(shoal_sync(file, 0));
      ok(shoal_rename_var(file, "late", "a_name_that_is_longer_than_the_one_before_by_far"));
      ok(shoal_end_define(file));
      reopen(file, SHOAL_READ);
      check_records(file, line, 4);
      line.check(file, "salt", 1, 50);
      for (const std::int64_t record : {0, 2, 3})
        line.check_fill(file, "salt", record);
      line.check_fill(file, "count", 2);
      line.check_fill(file, "a_name_that_is_longer_than_the_one_before_by_far", -1);
      ok(shoal_close(&file, 0));
      check_no_leftovers();
    }
}

TEST_CASE("header growth: in a new file, before its first sync and after") {
  if (skipped(in_one_file() && !classic_ones().empty(), "one classic file")) return;
  for (const auto& format : classic_ones())
    for (const bool synced : {false, true}) {
      CAPTURE(format);
      const Line line(5000);
      shoal_dataset* file = new_file(format, line);
      line.write(file, "depth", -1, 7);
      write_record(file, line, 0);
      if (synced) ok(shoal_sync(file, 0));
      put_text(file, "more", 200000);
      ok(shoal_def_var(file, "salt", SHOAL_FLOAT, "time x", line.cut.handle()));
      write_record(file, line, 1);
      line.write(file, "salt", 1, 50);
      reopen(file, SHOAL_READ);
      check_records(file, line, 2);
      line.check_fill(file, "salt", 0);
      line.check(file, "salt", 1, 50);
      ok(shoal_close(&file, 0));
      check_no_leftovers();
    }
}

TEST_CASE("header growth: what the format cannot hold is refused before anything moves") {
  if (skipped(in_one_file() && has_format("cdf1"), "a cdf1 file")) return;
  const Line line(10);
  shoal_dataset* file = new_file("cdf1", line);
  line.write(file, "depth", -1, 7);
  write_record(file, line, 0);
  reopen(file, SHOAL_WRITE);
  ok(shoal_def_dim(file, "large", 1500000000));
  for (const char* name : {"a", "b", "c"})
    ok(shoal_def_var(file, name, SHOAL_BYTE, "large", nullptr));
  const int code = shoal_end_define(file);
  fails(code, SHOAL_NOT_SUPPORTED, {"'flag'", "cdf1 files allow up to 2147483647"});
  alike(code);
  write_record(file, line, 1);
  reopen(file, SHOAL_READ);
  check_records(file, line, 2);
  ok(shoal_close(&file, 0));
  check_no_leftovers();
}

// Libraries would move the records within the file, where a kill loses them.
TEST_CASE("header growth: the first variable without records") {
  if (skipped(in_one_file() && !classic_ones().empty(), "one classic file")) return;
  for (const auto& format : classic_ones())
    for (const std::int64_t length : {std::int64_t{2}, std::int64_t{30000}}) {
      CAPTURE(format);
      CAPTURE(length);
      const Line line(length);
      shoal_dataset* file = make_file("header_reserve=8KiB, format=" + format, line, false);
      for (std::int64_t record = 0; record < 3; ++record)
        write_record(file, line, record);
      ok(shoal_close(&file, 0));
      const auto before = begins();
      ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, nullptr, &file));
      ok(shoal_def_var(file, "depth", SHOAL_FLOAT, "x", line.cut.handle()));
      ok(shoal_end_define(file));
      const bool moved = has_moved(file);
      line.write(file, "depth", -1, 7);
      ok(shoal_close(&file, 0));
      const auto after = begins();
      for (std::size_t v = 0; v < before.size(); ++v)
        CHECK((moved || after[v] == before[v]));
      ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
      check_records(file, line, 3);
      ok(shoal_close(&file, 0));
      check_no_leftovers();
    }
}

// Of z some ranks have no cells, and so their files have no such dimension where ranks have their own.
TEST_CASE("header growth: in each file of a set") {
  if (skipped(in_one_file() && !classic_ones().empty(), "it chooses layouts itself")) return;
  for (const auto& format : classic_ones())
    for (const auto& layout : set_layouts()) {
      CAPTURE(format);
      CAPTURE(layout);
      const Line line(5000);
      const Line short_line(2);
      shoal_dataset* file = new_file(format + ", " + layout, line);
      line.write(file, "depth", -1, 7);
      write_record(file, line, 0);
      put_text(file, "more", 100000);
      ok(shoal_def_dim(file, "z", short_line.length));
      ok(shoal_def_var(file, "salt", SHOAL_FLOAT, "time x", line.cut.handle()));
      ok(shoal_def_var(file, "late", SHOAL_FLOAT, "time z", short_line.cut.handle()));
      ok(shoal_end_define(file));
      CHECK(has_moved(file));
      write_record(file, line, 1);
      line.write(file, "salt", 1, 50);
      short_line.write(file, "late", 1, 60);
      ok(shoal_sync(file, 0));
      ok(shoal_rename_var(file, "late", std::string(150, 'l').c_str()));
      ok(shoal_def_var(file, "last", SHOAL_FLOAT, "time z", short_line.cut.handle()));
      short_line.write(file, "last", 2, 70);
      write_record(file, line, 2);
      reopen(file, SHOAL_READ);
      check_records(file, line, 3);
      line.check_fill(file, "salt", 0);
      line.check(file, "salt", 1, 50);
      short_line.check_fill(file, "last", 0);
      short_line.check(file, "last", 2, 70);
      short_line.check_fill(file, std::string(150, 'l').c_str(), 0);
      short_line.check(file, std::string(150, 'l').c_str(), 1, 60);
      ok(shoal_close(&file, 0));
      check_no_leftovers();
    }
}
