// Datasets of several files: who writes what into which file, and what is refused.
#include <filesystem>
#include <fstream>

#include "comm/nodes.hpp"
#include "conformance/support.hpp"
#include "support/parts.hpp"

namespace shoal::testing {

namespace {

constexpr std::int64_t k_columns = 13;
constexpr std::int64_t k_rows = 11;

struct Grid {
  int columns = 1, rows = 1;
};

/// Tiles as near to a square as the number of ranks allows.
Grid grid_of(int ranks) {
  return ranks % 2 == 0 ? Grid{2, ranks / 2} : Grid{1, ranks};
}

Box tile_of(int rank, int ranks) {
  const Grid grid = grid_of(ranks);
  const std::int64_t row = rank / grid.columns;
  const std::int64_t column = rank % grid.columns;
  const Dims first{k_rows * row / grid.rows, k_columns * column / grid.columns};
  const Dims end{k_rows * (row + 1) / grid.rows, k_columns * (column + 1) / grid.columns};
  return {first, {end[0] - first[0], end[1] - first[1]}};
}

double value_of_cell(std::int64_t record, std::int64_t row, std::int64_t column) {
  return static_cast<double>(1000 * record + k_columns * row + column);
}

/// Where variables get their decomposition.
enum class CutComes { with_definition, with_field };

void def_field(shoal_dataset* file, const char* name, int type, const char* dims, const Cut& cut,
               CutComes comes) {
  const bool later = comes == CutComes::with_field;
  ok(shoal_def_var(file, name, type, dims, later ? nullptr : cut.handle()));
  if (later) ok(shoal_def_cut(file, name));
}

/// Two records of temp(time, y, x) and a fixed mask(y, x), a coordinate x, a replicated lat(y, x), no
/// coordinate y.
int write_set(const std::string& path, const std::string& settings,
              CutComes comes = CutComes::with_definition) {
  const Box tile = tile_of(world_rank(), world_size());
  const Cut cut(MPI_COMM_WORLD, {k_rows, k_columns}, tile, {0, 0}, {0, 0});
  shoal_dataset* file = nullptr;
  const int code = shoal_create(MPI_COMM_WORLD, path.c_str(), settings.c_str(), &file);
  if (code != SHOAL_OK) return code;
  def_dim(file, "x", k_columns);
  def_dim(file, "y", k_rows);
  def_dim(file, "time", 0);
  ok(shoal_def_var(file, "x", SHOAL_DOUBLE, "x", nullptr));
  ok(shoal_def_var(file, "lat", SHOAL_DOUBLE, "y x", nullptr));
  def_field(file, "temp", SHOAL_FLOAT, "time y x", cut, comes);
  def_field(file, "mask", SHOAL_INT, "y x", cut, comes);
  const int defined = shoal_end_define(file);
  if (defined != SHOAL_OK) {
    const std::string message = shoal_error_message();
    shoal_abandon(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!message.empty());
    return defined;
  }
  TestArray x(SHOAL_DOUBLE, {k_columns});
  for_cells(Box::whole({k_columns}), [&](const Dims& i) { x.set(i, static_cast<double>(10 * i[0])); });
  ok(shoal_put(file, "x", x.c(), nullptr));
  TestArray lat(SHOAL_DOUBLE, {k_rows, k_columns});
  for_cells(Box::whole({k_rows, k_columns}),
            [&](const Dims& i) { lat.set(i, value_of_cell(0, i[0], i[1])); });
  ok(shoal_put(file, "lat", lat.c(), nullptr));
  TestArray temp(SHOAL_DOUBLE, tile.count);
  for (std::int64_t record = 0; record < 2; ++record) {
    for_cells(Box::whole(tile.count), [&](const Dims& i) {
      temp.set(i, value_of_cell(record, tile.first[0] + i[0], tile.first[1] + i[1]));
    });
    ok(shoal_write(file, "temp", cut.handle(), temp.c(), SHOAL_RECORD(record)));
    temp.fill(-7);  // what was written was taken
  }
  for_cells(Box::whole(tile.count), [&](const Dims& i) {
    temp.set(i, value_of_cell(1, tile.first[0] + i[0], tile.first[1] + i[1]));
  });
  ok(shoal_write(file, "mask", cut.handle(), temp.c(), nullptr));
  return shoal_close(&file, 0);
}

std::vector<int> int_attribute(shoal_dataset* file, const char* variable, const char* name, std::size_t n) {
  std::vector<int> values(n);
  ok(shoal_get_att(file, variable, name, SHOAL_INT, values.data()));
  return values;
}

/// First cell and number of cells that a file holds of a dimension; all of it where it is not cut.
std::pair<std::int64_t, std::int64_t> part_of(shoal_dataset* file, const char* axis, std::int64_t length) {
  int found = 0;
  if (shoal_find_var(file, axis, &found) != SHOAL_OK ||
      shoal_find_att(file, axis, "domain_decomposition", &found) != SHOAL_OK)
    return {0, length};
  const auto values = int_attribute(file, axis, "domain_decomposition", 4);
  CHECK(values[0] == 1);
  CHECK(values[1] == length);
  return {values[2] - 1, values[3] - values[2] + 1};
}

/// One file of the set, checked value by value; the box of cells that it says it holds.
Box check_file(const std::string& path, int files) {
  shoal_dataset* file = nullptr;
  ok(shoal_open(MPI_COMM_SELF, path.c_str(), SHOAL_READ, "", &file));
  CHECK(int_attribute(file, nullptr, "NumFilesInSet", 1)[0] == files);
  const auto [column_first, columns] = part_of(file, "x", k_columns);
  const auto [row_first, rows] = part_of(file, "y", k_rows);
  const Box box({row_first, column_first}, {rows, columns});
  TestArray temp(SHOAL_DOUBLE, {2, box.count[0], box.count[1]});
  ok(shoal_get(file, "temp", temp.c(), SHOAL_RECORD(SHOAL_ALL_RECORDS)));
  TestArray mask(SHOAL_INT, box.count);
  ok(shoal_get(file, "mask", mask.c(), nullptr));
  TestArray lat(SHOAL_DOUBLE, box.count);
  ok(shoal_get(file, "lat", lat.c(), nullptr));
  TestArray along_x(SHOAL_DOUBLE, {box.count[1]});
  ok(shoal_get(file, "x", along_x.c(), nullptr));
  TestArray along_y(SHOAL_DOUBLE, {box.count[0]});
  const bool has_y = rows < k_rows;  // made, since the model has none
  if (has_y) ok(shoal_get(file, "y", along_y.c(), nullptr));
  std::int64_t wrong = 0;
  for_cells(Box::whole(box.count), [&](const Dims& i) {
    const std::int64_t row = box.first[0] + i[0];
    const std::int64_t column = box.first[1] + i[1];
    for (std::int64_t r = 0; r < 2; ++r)
      wrong += temp.get({r, i[0], i[1]}) != value_of_cell(r, row, column) ? 1 : 0;
    wrong += mask.get(i) != value_of_cell(1, row, column) ? 1 : 0;
    wrong += lat.get(i) != value_of_cell(0, row, column) ? 1 : 0;
    wrong += along_x.get({i[1]}) != static_cast<double>(10 * column) ? 1 : 0;
    wrong += has_y && along_y.get({i[0]}) != static_cast<double>(row + 1) ? 1 : 0;
  });
  CHECK(wrong == 0);
  ok(shoal_close(&file, 0));
  return box;
}

void check_set(const std::string& path, int files) {
  MPI_Barrier(MPI_COMM_WORLD);
  std::int64_t cells = 0;
  for (int i = 0; i < files; ++i) {
    const std::string digits = std::to_string(i);
    cells += check_file(path + "." + std::string(4 - digits.size(), '0') + digits, files).cells();
  }
  CHECK(cells == k_rows * k_columns);
  const std::string digits = std::to_string(files);
  CHECK(!std::filesystem::exists(path + "." + std::string(4 - digits.size(), '0') + digits));
  CHECK(!std::filesystem::exists(path));
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

TEST_CASE("a file for each process, node or domain, in every format") {
  if (skipped(in_one_file(), "it chooses layouts itself")) return;
  const int ranks = world_size();
  const int nodes = Nodes(Comm(MPI_COMM_WORLD), 0).count();
  const Grid grid = grid_of(ranks);
  for (const auto& format : in_part(formats())) {
    CAPTURE(format);
    const std::string with_format = ", format=" + format;
    ok(write_set("layout.nc", "layout=process" + with_format));
    check_set("layout.nc", ranks);
    const int code = write_set("layout.nc", "layout=node" + with_format);
    if (code == SHOAL_OK) {
      check_set("layout.nc", nodes);  // what was there of the larger set is gone
    } else {
      CHECK(nodes > 1);  // whose ranks may lie anywhere
      fails(code, SHOAL_SETTING, {"boxes of their own", "layout=process"});
      alike(code);
    }
    ok(write_set("layout.nc", "io_layout=1x" + std::to_string(grid.rows) + with_format));
    check_set("layout.nc", grid.rows);
    ok(write_set("layout.nc",
                 "layout=domains, io_layout=" + std::to_string(grid.columns) + "x1" + with_format));
    check_set("layout.nc", grid.columns);
  }
}

TEST_CASE("domains need not divide the tiles evenly") {
  if (skipped(in_one_file(), "it chooses layouts itself")) return;
  const Grid grid = grid_of(world_size());
  if (grid.rows < 3) return;
  ok(write_set("layout.nc", "io_layout=1x2"));
  check_set("layout.nc", 2);
}

TEST_CASE("layouts that cannot be are refused on all ranks alike") {
  if (skipped(in_one_file(), "it chooses layouts itself")) return;
  int code = write_set("layout.nc", "io_layout=3x100");
  fails(code, SHOAL_SETTING, {"io_layout 3x100", "tiles"});
  alike(code);
  code = write_set("layout.nc", "layout=domains");
  fails(code, SHOAL_SETTING, {"io_layout=NXxNY"});
  alike(code);
  code = write_set("layout.nc", "layout=process, io_layout=2x2");
  fails(code, SHOAL_SETTING, {"io_layout is for layout=domains"});
  alike(code);
  ok(write_set("layout.nc", "layout=process"));
  code = write_set("layout.nc", "layout=process, exists=error");
  fails(code, SHOAL_EXISTS, {"layout.nc.0000", "exists=replace"});
  alike(code);
}

// ---- Files that are made when fields say how dimensions are cut

TEST_CASE("a set whose decompositions come with the fields") {
  if (skipped(in_one_file(), "it chooses layouts itself")) return;
  const Grid grid = grid_of(world_size());
  for (const auto& format : in_part(formats())) {
    CAPTURE(format);
    const std::string with_format = ", format=" + format;
    ok(write_set("later.nc", "layout=process" + with_format, CutComes::with_field));
    check_set("later.nc", world_size());
    ok(write_set("later.nc", "io_layout=1x" + std::to_string(grid.rows) + with_format, CutComes::with_field));
    check_set("later.nc", grid.rows);
    // Too many bytes to be held: files are made before all variables were written.
    ok(write_set("later.nc", "layout=process, stage_bytes=64KiB" + with_format, CutComes::with_field));
    check_set("later.nc", world_size());
  }
}

namespace {

/// A set of one file a rank, with so many variables (y, x) whose decomposition comes later.
shoal_dataset* open_set_of_fields(const std::vector<const char*>& names) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "later.nc", "layout=process", &file));
  def_dim(file, "x", k_columns);
  def_dim(file, "y", k_rows);
  for (const char* name : names) {
    ok(shoal_def_var(file, name, SHOAL_INT, "y x", nullptr));
    ok(shoal_def_cut(file, name));
  }
  ok(shoal_end_define(file));
  ok(shoal_sync(file, 0));  // of nothing: files can wait on
  return file;
}

TestArray filled(const Box& tile, int value) {
  TestArray values(SHOAL_INT, tile.count);
  values.fill(value);
  return values;
}

}  // namespace

TEST_CASE("a rank with bad arguments in the first field of a set") {
  if (skipped(in_one_file(), "it chooses layouts itself")) return;
  if (world_size() < 2) return;
  const Box tile = tile_of(world_rank(), world_size());
  const Cut cut(MPI_COMM_WORLD, {k_rows, k_columns}, tile, {0, 0}, {0, 0});
  shoal_dataset* file = open_set_of_fields({"mask"});
  TestArray values = filled(tile, 3);
  const bool bad = world_rank() == 1;
  shoal_write(file, bad ? "musk" : "mask", cut.handle(), values.c(), nullptr);
  int code = shoal_sync(file, 0);
  fails(code, SHOAL_NOT_FOUND, {"musk", "rank 1"});
  alike(code);
  ok(shoal_write(file, "mask", cut.handle(), values.c(), nullptr));
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, "later.nc", SHOAL_READ, "", &file));
  TestArray got = filled(tile, 0);
  ok(shoal_read(file, "mask", cut.handle(), got.c(), nullptr));
  for_cells(Box::whole(tile.count), [&](const Dims& i) { CHECK(got.get(i) == 3); });
  ok(shoal_close(&file, 0));
}

TEST_CASE("fields that cut a set otherwise than its files") {
  if (skipped(in_one_file(), "it chooses layouts itself")) return;
  if (world_size() < 2) return;
  const Box tile = tile_of(world_rank(), world_size());
  const Cut cut(MPI_COMM_WORLD, {k_rows, k_columns}, tile, {0, 0}, {0, 0});
  SUBCASE("files were needed before a field came") {
    shoal_dataset* file = open_set_of_fields({"mask"});
    TestArray whole = filled(Box::whole({k_rows, k_columns}), 5);
    ok(shoal_put(file, "mask", whole.c(), nullptr));
    ok(shoal_sync(file, 0));
    TestArray values = filled(tile, 3);
    ok(shoal_write(file, "mask", cut.handle(), values.c(), nullptr));
    const int code = shoal_close(&file, 0);
    fails(code, SHOAL_NOT_SUPPORTED, {"mask", "otherwise than the files of the set", "layout=one"});
    alike(code);
  }
  SUBCASE("a put counts more than the field before it") {
    shoal_dataset* file = open_set_of_fields({"mask", "other"});
    TestArray values = filled(tile, 3);
    TestArray whole = filled(Box::whole({k_rows, k_columns}), 5);
    ok(shoal_write(file, "mask", cut.handle(), values.c(), nullptr));
    ok(shoal_put(file, "mask", whole.c(), nullptr));
    ok(shoal_write(file, "other", cut.handle(), values.c(), nullptr));
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "later.nc", SHOAL_READ, "", &file));
    TestArray got = filled(tile, 0);
    ok(shoal_read(file, "mask", cut.handle(), got.c(), nullptr));
    for_cells(Box::whole(tile.count), [&](const Dims& i) { CHECK(got.get(i) == 5); });
    ok(shoal_close(&file, 0));
  }
  SUBCASE("two fields differ") {
    const int other = world_size() - 1 - world_rank();
    const Box turned = tile_of(other, world_size());
    const Cut differs(MPI_COMM_WORLD, {k_rows, k_columns}, turned, {0, 0}, {0, 0});
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "differs.nc", "layout=process", &file));
    def_dim(file, "x", k_columns);
    def_dim(file, "y", k_rows);
    def_dim(file, "z", 2);
    for (const char* dims : {"y x", "z y x"}) {
      const std::string name = dims[0] == 'y' ? "mask" : "temp";
      ok(shoal_def_var(file, name.c_str(), SHOAL_INT, dims, nullptr));
      ok(shoal_def_cut(file, name.c_str()));
    }
    TestArray values = filled(tile, 3);
    ok(shoal_write(file, "mask", cut.handle(), values.c(), nullptr));
    TestArray levels(SHOAL_INT, {2, turned.count[0], turned.count[1]});
    const int code = shoal_write(file, "temp", differs.handle(), levels.c(), nullptr);
    fails(code, SHOAL_NOT_SUPPORTED, {"cut differently", "layout=one"});
    alike(code);
    fails(shoal_sync(file, 0), SHOAL_NOT_SUPPORTED, {"cut differently"});
    fails(shoal_close(&file, 0), SHOAL_NOT_SUPPORTED, {"cut differently"});
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!std::filesystem::exists("differs.nc.0000"));
  }
}

TEST_CASE("ranks without cells have no file, and take part all the same") {
  if (skipped(in_one_file(), "it chooses layouts itself")) return;
  if (world_size() < 2) return;
  const bool idle = world_rank() == 0;
  const std::int64_t first = idle ? 0 : k_rows * (world_rank() - 1) / (world_size() - 1);
  const std::int64_t end = idle ? 0 : k_rows * world_rank() / (world_size() - 1);
  const Box tile({first, 0}, {end - first, idle ? 0 : k_columns});
  const Cut cut(MPI_COMM_WORLD, {k_rows, k_columns}, tile, {0, 0}, {0, 0});
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "layout.nc", "layout=process", &file));
  def_dim(file, "x", k_columns);
  def_dim(file, "y", k_rows);
  ok(shoal_def_var(file, "x", SHOAL_DOUBLE, "x", nullptr));
  ok(shoal_def_var(file, "mask", SHOAL_INT, "y x", cut.handle()));
  TestArray mask(SHOAL_INT, tile.count);
  for_cells(Box::whole(tile.count),
            [&](const Dims& i) { mask.set(i, value_of_cell(0, tile.first[0] + i[0], i[1])); });
  ok(shoal_write(file, "mask", nullptr, mask.c(), nullptr));
  ok(shoal_close(&file, 0));
  MPI_Barrier(MPI_COMM_WORLD);
  std::int64_t cells = 0;
  for (int i = 0; i < world_size() - 1; ++i) {
    ok(shoal_open(MPI_COMM_SELF, ("layout.nc.000" + std::to_string(i)).c_str(), SHOAL_READ, "", &file));
    const auto [row_first, rows] = part_of(file, "y", k_rows);
    TestArray got(SHOAL_INT, {rows, k_columns});
    ok(shoal_get(file, "mask", got.c(), nullptr));
    const std::int64_t above = row_first;
    for_cells(Box::whole({rows, k_columns}), [&](const Dims& at) {
      ++cells;
      CHECK(got.get(at) == value_of_cell(0, above + at[0], at[1]));
    });
    ok(shoal_close(&file, 0));
  }
  CHECK(cells == k_rows * k_columns);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a rank with bad values does not stop the other files") {
  if (skipped(in_one_file(), "it chooses layouts itself")) return;
  const Box tile = tile_of(world_rank(), world_size());
  const Cut cut(MPI_COMM_WORLD, {k_rows, k_columns}, tile, {0, 0}, {0, 0});
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "layout.nc", "layout=process", &file));
  def_dim(file, "x", k_columns);
  def_dim(file, "y", k_rows);
  ok(shoal_def_var(file, "small", SHOAL_BYTE, "y x", cut.handle()));
  TestArray values(SHOAL_INT, tile.count);
  values.fill(world_rank() == world_size() - 1 ? 1000 : 7);
  ok(shoal_write(file, "small", nullptr, values.c(), nullptr));
  const int code = shoal_close(&file, 0);
  fails(code, SHOAL_RANGE, {"small", "1000", "rank " + std::to_string(world_size() - 1)});
  alike(code);
}

TEST_CASE("fields of a set cannot be read while it is written") {
  if (skipped(in_one_file(), "it chooses layouts itself")) return;
  const Box tile = tile_of(world_rank(), world_size());
  const Cut cut(MPI_COMM_WORLD, {k_rows, k_columns}, tile, {0, 0}, {0, 0});
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "layout.nc", "layout=process", &file));
  def_dim(file, "x", k_columns);
  def_dim(file, "y", k_rows);
  ok(shoal_def_var(file, "mask", SHOAL_INT, "y x", cut.handle()));
  TestArray values(SHOAL_INT, tile.count);
  values.fill(3);
  ok(shoal_write(file, "mask", nullptr, values.c(), nullptr));
  const int code = shoal_read(file, "mask", nullptr, values.c(), nullptr);
  fails(code, SHOAL_STATE, {"close it"});
  alike(code);
  ok(shoal_close(&file, 0));
}

TEST_CASE("a file that only looks like one of the set by its name is not touched") {
  if (skipped(in_one_file(), "it chooses layouts itself")) return;
  if (world_rank() == 0) std::ofstream("layout.nc.2011") << "a diary";
  MPI_Barrier(MPI_COMM_WORLD);
  const int code = write_set("layout.nc", "layout=process");
  fails(code, SHOAL_EXISTS, {"layout.nc.2011", "another name"});
  alike(code);
  std::string text;
  std::getline(std::ifstream("layout.nc.2011"), text);
  CHECK(text == "a diary");
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) std::filesystem::remove("layout.nc.2011");
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace shoal::testing
