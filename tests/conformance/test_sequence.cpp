// Sequences that models make: append, overwrite, records that are skipped, reading what was just written, a
// new cut midway.
#include <unistd.h>

#include <cstdlib>

#include "conformance/support.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr std::int64_t k_ny = 9;
constexpr std::int64_t k_nx = 14;

struct Model {
  explicit Model(const std::string& the_format, unsigned seed = 1) : format(the_format), random(seed) {
    recut();
  }
  ~Model() { shoal_abandon(&file); }

  void recut() {
    tiles = random_tiles({k_ny, k_nx}, world_size(), false, random);
    cut = std::make_unique<Cut>(MPI_COMM_WORLD, Dims{k_ny, k_nx},
                                tiles[static_cast<std::size_t>(world_rank())], Dims{1, 2}, Dims{0, 1});
  }
  void create(const std::string& settings = "") {
    ok(shoal_create(MPI_COMM_WORLD, "sequence.nc", ("format=" + format + "," + settings).c_str(), &file));
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "y", k_ny);
    def_dim(file, "x", k_nx);
    ok(shoal_def_var(file, "a", SHOAL_FLOAT, "time y x", cut->handle()));
    ok(shoal_def_var(file, "b", SHOAL_INT, "time y x", cut->handle()));
    ok(shoal_def_var(file, "t", SHOAL_DOUBLE, "time", nullptr));
  }
  void reopen(int mode) {
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "sequence.nc", mode, nullptr, &file));
  }
  void write(const char* name, std::int64_t record, int version) {
    TestArray array(SHOAL_DOUBLE, cut->tile().count);
    for_cells(cut->tile(), [&](const Dims& i) {
      array.set({i[0] - cut->tile().first[0], i[1] - cut->tile().first[1]},
                value_of(version, joined(Dims{record}, i)));
    });
    ok(shoal_write(file, name, cut->handle(), array.c(), SHOAL_RECORD(record)));
  }
  void put_time(std::int64_t record, double value) {
    const shoal_array s = scalar(value, SHOAL_DOUBLE);
    ok(shoal_put(file, "t", &s, SHOAL_RECORD(record)));
  }
  /// version < 0: the fill value.
  void check(const char* name, std::int64_t record, int version, double fill = 0) {
    CAPTURE(name);
    CAPTURE(record);
    const Box around = cut->around();
    TestArray array(SHOAL_DOUBLE, around.count);
    array.fill(-1);
    ok(shoal_read(file, name, cut->handle(), array.c(), SHOAL_RECORD(record)));
    if (cut->tile().empty()) return;
    int wrong = 0;
    for_cells(intersection(around, Box::whole({k_ny, k_nx})), [&](const Dims& i) {
      const double expected = version < 0 ? fill : value_of(version, joined(Dims{record}, i));
      if (array.get({i[0] - around.first[0], i[1] - around.first[1]}) != expected) ++wrong;
    });
    CHECK(wrong == 0);
  }
  std::int64_t records() {
    int index = -1;
    ok(shoal_find_dim(file, "time", &index));
    shoal_dim_info info = SHOAL_DIM_INFO_INIT;
    ok(shoal_inq_dim(file, index, &info));
    return info.length;
  }

  std::string format;
  std::mt19937 random;
  std::vector<Box> tiles;
  std::unique_ptr<Cut> cut;
  shoal_dataset* file = nullptr;
};

}  // namespace

TEST_CASE("a run is continued: append on another cut, and overwrite") {
  if (skipped(in_one_file(), "sets of files are not extended")) return;
  for (const auto& format : formats()) {
    CAPTURE(format);
    Model m(format);
    m.create();
    for (int r = 0; r < 3; ++r) {
      m.write("a", r, 1);
      m.write("b", r, 2);
      m.put_time(r, 10.0 * r);
    }
    CHECK(m.records() == 3);
    m.reopen(SHOAL_WRITE);
    m.recut();
    CHECK(m.records() == 3);
    m.write("a", 3, 1);
    m.write("b", 3, 2);
    m.put_time(3, 30.0);
    m.write("a", 1, 5);  // again
    m.write("a", 1, 6);  // and once more
    m.check("a", 1, 6);  // as it is before any sync
    m.reopen(SHOAL_READ);
    m.recut();
    CHECK(m.records() == 4);
    for (int r = 0; r < 4; ++r) {
      m.check("a", r, r == 1 ? 6 : 1);
      m.check("b", r, 2);
    }
    TestArray t(SHOAL_DOUBLE, {4});
    ok(shoal_get(m.file, "t", t.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
    for (std::int64_t r = 0; r < 4; ++r)
      CHECK(t.get({r}) == 10.0 * static_cast<double>(r));
    ok(shoal_close(&m.file, 0));
  }
}

TEST_CASE("records that were skipped, and variables that were not written, have the fill value") {
  if (skipped(in_one_file(), "sets of files are read when they are closed")) return;
  for (const auto& format : formats()) {
    CAPTURE(format);
    Model m(format, 3);
    m.create();
    m.write("a", 4, 1);
    m.write("a", 1, 2);
    ok(shoal_sync(m.file, 0));
    m.check("a", 0, -1, fill_value(SHOAL_FLOAT));
    m.write("b", 2, 3);
    m.reopen(SHOAL_READ);
    m.recut();
    CHECK(m.records() == 5);
    for (int r = 0; r < 5; ++r) {
      m.check("a", r, r == 4 ? 1 : r == 1 ? 2 : -1, fill_value(SHOAL_FLOAT));
      m.check("b", r, r == 2 ? 3 : -1, fill_value(SHOAL_INT));
    }
    TestArray t(SHOAL_DOUBLE, {5});
    ok(shoal_get(m.file, "t", t.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
    for (std::int64_t r = 0; r < 5; ++r)
      CHECK(t.get({r}) == fill_value(SHOAL_DOUBLE));
    ok(shoal_close(&m.file, 0));
  }
}

TEST_CASE("committed records are in the file while it is open, and when it is abandoned") {
  if (skipped(is_native(), "its library counts records when they are written, and files cannot be left open"))
    return;
  for (const auto& format : formats()) {
    CAPTURE(format);
    Model m(format, 5);
    m.create();
    m.write("a", 0, 1);
    m.put_time(0, 1.5);
    ok(shoal_sync(m.file, 0));
    m.write("a", 1, 2);
    m.put_time(1, 2.5);
    shoal_dataset* reader = nullptr;
    ok(shoal_open(MPI_COMM_WORLD, "sequence.nc", SHOAL_READ, nullptr, &reader));
    std::swap(m.file, reader);
    CHECK(m.records() == 1);
    m.check("a", 0, 1);
    ok(shoal_close(&m.file, 0));
    m.file = reader;
    shoal_abandon(&m.file);
    CHECK(m.file == nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(shoal_open(MPI_COMM_WORLD, "sequence.nc", SHOAL_READ, nullptr, &m.file));
    CHECK(m.records() == 1);
    m.check("a", 0, 1);
    ok(shoal_close(&m.file, 0));
  }
}

TEST_CASE(
    "the decomposition comes with the call, changes midway, and may be freed before the file is closed") {
  if (skipped(in_one_file(), "sets of files are read when they are closed")) return;
  for (const auto& format : formats()) {
    CAPTURE(format);
    Model m(format, 7);
    ok(shoal_create(MPI_COMM_WORLD, "sequence.nc", ("format=" + format).c_str(), &m.file));
    def_dim(m.file, "y", k_ny);
    def_dim(m.file, "x", k_nx);
    def_dim(m.file, "time", SHOAL_UNLIMITED);
    ok(shoal_def_var(m.file, "a", SHOAL_FLOAT, "time y x", nullptr));
    for (int r = 0; r < 4; ++r) {
      m.write("a", r, r);
      m.recut();
    }
    for (int r = 0; r < 4; ++r)
      m.check("a", r, r);
    // Without one: the last of the calls counts.
    const Box around = m.cut->around();
    TestArray array(SHOAL_DOUBLE, around.count);
    ok(shoal_read(m.file, "a", nullptr, array.c(), SHOAL_RECORD(2)));
    m.cut.reset();
    ok(shoal_sync(m.file, 0));
    ok(shoal_close(&m.file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "sequence.nc", SHOAL_READ, nullptr, &m.file));
    const int code = shoal_read(m.file, "a", nullptr, array.c(), SHOAL_RECORD(2));
    fails(code, SHOAL_INVALID_ARGUMENT, {"'a'", "decomposition"});
    alike(code);
    ok(shoal_close(&m.file, 0));
  }
}

TEST_CASE("an empty file, and a define phase without data") {
  if (skipped(in_one_file(), "sets of files are not extended")) return;
  for (const auto& format : formats()) {
    CAPTURE(format);
    Model m(format);
    ok(shoal_create(MPI_COMM_WORLD, "sequence.nc", ("format=" + format).c_str(), &m.file));
    m.reopen(SHOAL_WRITE);
    ok(shoal_put_att(m.file, nullptr, "title", SHOAL_CHAR, 4, "none"));
    m.reopen(SHOAL_READ);
    shoal_file_info info = SHOAL_FILE_INFO_INIT;
    ok(shoal_inq_file(m.file, &info));
    CHECK(info.attributes >= 1);
    CHECK(info.variables == 0);
    CHECK(std::string(info.format) == format);
    ok(shoal_close(&m.file, 0));
  }
}
