// Names in groups: what is in them, where dimensions are found, and other names.
#include "conformance/support.hpp"
#include "shoal/groups.h"

using namespace shoal;
using namespace shoal::testing;

namespace {

const char* const k_path = "groups.nc";
constexpr std::int64_t k_x = 14, k_depth = 3;

using Names = std::vector<std::string>;

void text(shoal_dataset* file, const char* of, const char* name, const std::string& value) {
  ok(shoal_put_att(file, of, name, SHOAL_CHAR, static_cast<std::int64_t>(value.size()), value.c_str()));
}

std::string text_of(const shoal_dataset* file, const char* of, const char* name) {
  int number = -1;
  ok(shoal_find_att(file, of, name, &number));
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  ok(shoal_inq_att(file, of, number, &info));
  std::string value(static_cast<std::size_t>(info.count), ' ');
  ok(shoal_get_att(file, of, name, SHOAL_CHAR, value.data()));
  return value;
}

std::string groups_of(const shoal_dataset* file) {
  Names names;
  int n = -1;
  ok(shoal_num_groups(file, &n));
  for (int i = 0; i < n; ++i) {
    shoal_group_info info = SHOAL_GROUP_INFO_INIT;
    ok(shoal_inq_group(file, i, &info));
    names.push_back(std::string(info.name) + ":" + std::to_string(info.attributes));
    int found = -1;
    ok(shoal_find_group(file, ("/" + std::string(info.name)).c_str(), &found));
    CHECK(found == i);
  }
  return joined(names, " ");
}

/// "name(dimensions)" of all variables, sorted: a file that is opened has those of a group together.
std::string variables_of(const shoal_dataset* file) {
  shoal_file_info all = SHOAL_FILE_INFO_INIT;
  ok(shoal_inq_file(file, &all));
  Names names;
  for (int v = 0; v < all.variables; ++v) {
    shoal_var_info info = SHOAL_VAR_INFO_INIT;
    ok(shoal_inq_var(file, v, &info));
    std::string one = info.name;
    const Dims dims(std::vector<std::int64_t>(info.dims, info.dims + info.ndims));
    one += "(";
    for (int d = 0; d < info.ndims; ++d) {
      shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
      ok(shoal_inq_dim(file, static_cast<int>(dims[d]), &dim));
      one += std::string(d > 0 ? " " : "") + dim.name;
    }
    names.push_back(one + ")");
  }
  std::sort(names.begin(), names.end());
  return joined(names, " ");
}

Cut cut_of(std::int64_t length) {
  const std::int64_t from = length * world_rank() / world_size();
  const std::int64_t to = length * (world_rank() + 1) / world_size();
  return {MPI_COMM_WORLD, {length}, Box({from}, {to - from}), {0}, {0}};
}

/// All levels of this rank's cells.
void write(shoal_dataset* file, const char* name, const Cut& cut, std::int64_t levels, std::int64_t record,
           int seed) {
  const Box& tile = cut.tile();
  TestArray array(SHOAL_FLOAT, levels > 0 ? Dims{levels, tile.count[0]} : tile.count);
  for_local_cells(levels > 0 ? Dims{levels} : Dims{}, tile, tile,
                  [&](const Dims& i, const Dims& at) { array.set(at, value_of(seed, i)); });
  ok(shoal_write(file, name, cut.handle(), array.c(), SHOAL_RECORD(record)));
}

void check(shoal_dataset* file, const char* name, const Dims& shape, std::int64_t record, int seed) {
  CAPTURE(name);
  TestArray array(SHOAL_FLOAT, shape);
  ok(shoal_get(file, name, array.c(), SHOAL_RECORD(record)));
  std::int64_t wrong = 0;
  for_cells(Box::whole(shape), [&](const Dims& i) { wrong += array.get(i) == value_of(seed, i) ? 0 : 1; });
  CHECK(wrong == 0);
}

void check_cut(shoal_dataset* file, const char* name, const Cut& cut, std::int64_t record, int seed) {
  CAPTURE(name);
  TestArray array(SHOAL_FLOAT, cut.tile().count);
  ok(shoal_read(file, name, cut.handle(), array.c(), SHOAL_RECORD(record)));
  std::int64_t wrong = 0;
  for_local_cells({}, cut.tile(), cut.tile(), [&](const Dims& i, const Dims& at) {
    wrong += array.get(at) == value_of(seed, i) ? 0 : 1;
  });
  CHECK(wrong == 0);
}

void put(shoal_dataset* file, const char* name, std::int64_t n, int seed) {
  TestArray array(SHOAL_FLOAT, {n});
  for (std::int64_t i = 0; i < n; ++i)
    array.set({i}, value_of(seed, {i}));
  ok(shoal_put(file, name, array.c(), nullptr));
}

/// time and x of the file, depth of ocean; a group in a group, and one that nothing is in.
shoal_dataset* new_file(const Cut& cut, const std::string& settings = "") {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, (full_settings(", ") + settings).c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "x", k_x);
  def_dim(file, "ocean/depth", k_depth);
  ok(shoal_def_var(file, "surface", SHOAL_FLOAT, "time x", cut.handle()));
  ok(shoal_def_var(file, "ocean/depth", SHOAL_FLOAT, "depth", nullptr));
  ok(shoal_def_var(file, "/ocean/temp", SHOAL_FLOAT, "time depth x", cut.handle()));
  ok(shoal_def_var(file, "ocean/ice/conc", SHOAL_FLOAT, "time x", cut.handle()));
  ok(shoal_def_var(file, "ocean/ice/mask", SHOAL_FLOAT, "x", cut.handle()));
  ok(shoal_def_group(file, "nothing/at all"));
  ok(shoal_def_group(file, "/ocean/"));
  text(file, nullptr, "title", "all");
  text(file, "ocean", "title", "water");
  text(file, "/ocean/ice", "title", "frozen");
  text(file, "ocean/ice/", "source", "here");
  text(file, "ocean/temp", "units", "degC");
  ok(shoal_end_define(file));
  return file;
}

void write_record(shoal_dataset* file, const Cut& cut, std::int64_t record) {
  const int seed = static_cast<int>(10 * record);
  write(file, "surface", cut, 0, record, seed);
  write(file, "ocean/temp", cut, k_depth, record, seed + 1);
  write(file, "ocean/ice/conc", cut, 0, record, seed + 2);
}

void check_record(shoal_dataset* file, const Cut& cut, std::int64_t record) {
  const int seed = static_cast<int>(10 * record);
  check(file, "surface", {k_x}, record, seed);
  check(file, "ocean/temp", {k_depth, k_x}, record, seed + 1);
  check(file, "/ocean/ice/conc", {k_x}, record, seed + 2);
  check_cut(file, "ocean/ice/conc", cut, record, seed + 2);
}

bool no_groups() {
  return skipped(has_full_format(), "it has no format with groups");
}

}  // namespace

TEST_CASE("groups: dimensions, variables and attributes in groups") {
  if (no_groups()) return;
  const Cut cut = cut_of(k_x);
  shoal_dataset* file = new_file(cut);
  const std::string groups = "ocean:1 ocean/ice:2 nothing:0 nothing/at all:0";
  CHECK(groups_of(file) == groups);
  put(file, "ocean/depth", k_depth, 5);
  write(file, "ocean/ice/mask", cut, 0, -1, 6);
  write_record(file, cut, 0);
  write_record(file, cut, 1);
  ok(shoal_close(&file, 0));

  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  CHECK(groups_of(file) == groups);
  const std::string variables =
      "ocean/depth(ocean/depth) ocean/ice/conc(time x) ocean/ice/mask(x) "
      "ocean/temp(time ocean/depth x) surface(time x)";
  if (in_one_file()) CHECK(variables_of(file) == variables);
  CHECK(text_of(file, "/", "title") == "all");
  CHECK(text_of(file, "ocean", "title") == "water");
  CHECK(text_of(file, "/ocean/ice/", "title") == "frozen");
  CHECK(text_of(file, "ocean/ice", "source") == "here");
  CHECK(text_of(file, "/ocean/temp", "units") == "degC");
  check(file, "ocean/depth", {k_depth}, -1, 5);
  check(file, "ocean/ice/mask", {k_x}, -1, 6);
  check_record(file, cut, 0);
  check_record(file, cut, 1);
  ok(shoal_close(&file, 0));
  if (!in_one_file()) return;

  // More of everything, in what is there and in new groups.
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, nullptr, &file));
  ok(shoal_def_var(file, "ocean/salt", SHOAL_FLOAT, "depth x", cut.handle()));
  def_dim(file, "ocean/ice/cat", 2);
  ok(shoal_def_var(file, "ocean/ice/cat", SHOAL_FLOAT, "cat", nullptr));
  ok(shoal_def_var(file, "land/snow/depth", SHOAL_FLOAT, "x", cut.handle()));
  text(file, "land", "title", "dry");
  text(file, "ocean", "title", "wet");
  ok(shoal_end_define(file));
  CHECK(groups_of(file) == groups + " land:1 land/snow:0");
  write(file, "ocean/salt", cut, k_depth, -1, 7);
  write(file, "land/snow/depth", cut, 0, -1, 8);
  put(file, "ocean/ice/cat", 2, 9);
  write_record(file, cut, 2);
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  CHECK(variables_of(file) ==
        "land/snow/depth(x) ocean/depth(ocean/depth) ocean/ice/cat(ocean/ice/cat) ocean/ice/conc(time x) "
        "ocean/ice/mask(x) ocean/salt(ocean/depth x) ocean/temp(time ocean/depth x) surface(time x)");
  CHECK(text_of(file, "ocean", "title") == "wet");
  check(file, "ocean/salt", {k_depth, k_x}, -1, 7);
  check(file, "land/snow/depth", {k_x}, -1, 8);
  check(file, "ocean/ice/cat", {2}, -1, 9);
  check_record(file, cut, 0);
  check_record(file, cut, 2);
  ok(shoal_close(&file, 0));
}

TEST_CASE("groups: dimensions are looked for outwards, and each group has its own") {
  if (no_groups()) return;
  if (skipped(in_one_file(), "sets of files cut dimensions of one length")) return;
  const Cut of_file = cut_of(k_x), of_group = cut_of(5);
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings().c_str(), &file));
  def_dim(file, "x", k_x);
  def_dim(file, "t", SHOAL_UNLIMITED);
  def_dim(file, "a/x", 5);
  def_dim(file, "a/t", SHOAL_UNLIMITED);
  ok(shoal_def_var(file, "v", SHOAL_FLOAT, "t x", of_file.handle()));
  ok(shoal_def_var(file, "a/v", SHOAL_FLOAT, "t x", of_group.handle()));
  ok(shoal_def_var(file, "a/b/v", SHOAL_FLOAT, "/t, /x", of_file.handle()));
  ok(shoal_def_var(file, "a/b/x", SHOAL_FLOAT, "x", nullptr));
  const int dims[] = {1, 0};
  ok(shoal_def_var_dims(file, "a/w", SHOAL_FLOAT, 2, dims, of_file.handle()));
  const int code = shoal_def_var(file, "a/u", SHOAL_FLOAT, "t z", nullptr);
  fails(code, SHOAL_NOT_FOUND, {"no dimension 'z'"});
  ok(shoal_end_define(file));
  CHECK(variables_of(file) == "a/b/v(t x) a/b/x(a/x) a/v(a/t a/x) a/w(t x) v(t x)");
  write(file, "v", of_file, 0, 0, 1);
  for (const int record : {0, 1})
    write(file, "a/v", of_group, 0, record, 2 + record);
  write(file, "a/b/v", of_file, 0, 0, 4);
  write(file, "a/w", of_file, 0, 0, 5);
  put(file, "a/b/x", 5, 6);
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  CHECK(variables_of(file) == "a/b/v(t x) a/b/x(a/x) a/v(a/t a/x) a/w(t x) v(t x)");
  std::int64_t records = -1;
  ok(shoal_num_records(file, "a/v", &records));
  CHECK(records == 2);
  ok(shoal_num_records(file, "v", &records));
  CHECK(records == 1);
  check(file, "v", {k_x}, 0, 1);
  check(file, "a/v", {5}, 1, 3);
  check(file, "a/b/v", {k_x}, 0, 4);
  check(file, "a/w", {k_x}, 0, 5);
  check(file, "a/b/x", {5}, -1, 6);
  ok(shoal_close(&file, 0));
}

TEST_CASE("groups: other names in a group, and attributes that go") {
  if (no_groups()) return;
  if (skipped(in_one_file(), "sets of files are not extended")) return;
  const Cut cut = cut_of(k_x);
  shoal_dataset* file = new_file(cut);
  put(file, "ocean/depth", k_depth, 5);
  write(file, "ocean/ice/mask", cut, 0, -1, 6);
  write_record(file, cut, 0);
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, nullptr, &file));
  const bool by_netcdf = !is_native();
  if (by_netcdf) {
    ok(shoal_rename_var(file, "ocean/temp", "t"));
    const int code = shoal_end_define(file);
    fails(code, SHOAL_NOT_SUPPORTED, {"'time'", "driver native"});
    alike(code);
  } else {
    ok(shoal_rename_var(file, "ocean/temp", "t"));
    ok(shoal_rename_var(file, "/ocean/ice/conc", "/ocean/ice/a"));
    ok(shoal_rename_dim(file, "ocean/depth", "z"));
    ok(shoal_rename_var(file, "ocean/depth", "ocean/z"));
  }
  const std::string z = by_netcdf ? "ocean/depth" : "ocean/z", t = by_netcdf ? "ocean/temp" : "ocean/t",
                    conc = by_netcdf ? "ocean/ice/conc" : "ocean/ice/a";
  ok(shoal_rename_att(file, "ocean/ice", "source", "from"));
  ok(shoal_delete_att(file, "ocean/", "title"));
  fails(shoal_rename_var(file, "ocean/ice/mask", "mask/of"), SHOAL_INVALID_ARGUMENT, {"another group"});
  fails(shoal_rename_dim(file, "x", "ocean/x"), SHOAL_INVALID_ARGUMENT, {"another group"});
  fails(shoal_rename_var(file, "surface", "nothing"), SHOAL_EXISTS, {"group 'nothing'"});
  ok(shoal_end_define(file));
  const std::string all =
      z + "(" + z + ") " + conc + "(time x) ocean/ice/mask(x) " + t + "(time " + z + " x) surface(time x)";
  const auto sorted = [](const std::string& names) {
    auto found = words(names);
    std::sort(found.begin(), found.end());
    return joined(found, " ");
  };
  CHECK(sorted(variables_of(file)) == sorted(all));
  write(file, t.c_str(), cut, k_depth, 1, 11);
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  CHECK(sorted(variables_of(file)) == sorted(all));
  CHECK(groups_of(file) == "ocean:0 ocean/ice:2 nothing:0 nothing/at all:0");
  CHECK(text_of(file, "ocean/ice", "from") == "here");
  check(file, z.c_str(), {k_depth}, -1, 5);
  check(file, "ocean/ice/mask", {k_x}, -1, 6);
  check(file, conc.c_str(), {k_x}, 0, 2);
  check(file, t.c_str(), {k_depth, k_x}, 0, 1);
  check(file, t.c_str(), {k_depth, k_x}, 1, 11);
  ok(shoal_close(&file, 0));
}

TEST_CASE("groups: a group with data gets another name, and all that is in it another path") {
  if (no_groups()) return;
  if (skipped(in_one_file(), "sets of files are not opened to be written")) return;
  const Cut cut = cut_of(k_x);
  shoal_dataset* file = new_file(cut);
  write_record(file, cut, 0);
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, nullptr, &file));
  ok(shoal_rename_group(file, "ocean", "sea"));
  CHECK(groups_of(file) == "sea:1 sea/ice:2 nothing:0 nothing/at all:0");
  const int code = shoal_end_define(file);
  alike(code);
  if (!is_native()) {
    fails(code, SHOAL_NOT_SUPPORTED, {"group 'ocean'", "driver native"});
    CHECK(groups_of(file) == "ocean:1 ocean/ice:2 nothing:0 nothing/at all:0");
    check_record(file, cut, 0);
    return ok(shoal_close(&file, 0));
  }
  ok(code);
  write(file, "sea/temp", cut, k_depth, 1, 11);
  ok(shoal_rename_group(file, "/sea/ice/", "frozen"));
  ok(shoal_rename_group(file, "nothing", "ocean"));
  fails(shoal_rename_group(file, "sea", "surface"), SHOAL_EXISTS, {"variable 'surface'"});
  fails(shoal_rename_group(file, "sea", "ocean/sea"), SHOAL_INVALID_ARGUMENT, {"another group"});
  write(file, "sea/frozen/conc", cut, 0, 1, 12);
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  CHECK(groups_of(file) == "sea:1 sea/frozen:2 ocean:0 ocean/at all:0");
  CHECK(variables_of(file) ==
        "sea/depth(sea/depth) sea/frozen/conc(time x) sea/frozen/mask(x) sea/temp(time sea/depth x) "
        "surface(time x)");
  CHECK(text_of(file, "sea", "title") == "water");
  for (const int record : {0, 1}) {
    check(file, "sea/temp", {k_depth, k_x}, record, 10 * record + 1);
    check_cut(file, "sea/frozen/conc", cut, record, 10 * record + 2);
  }
  ok(shoal_close(&file, 0));
}

TEST_CASE("groups: compressed fields, and chunks") {
  if (no_groups() || skipped(compresses_parts(), "it does not compress here")) return;
  const Cut cut = cut_of(k_x);
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings().c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "x", k_x);
  ok(shoal_def_var(file, "deep/down/v", SHOAL_FLOAT, "time x", cut.handle()));
  const std::int64_t chunks[] = {1, 5};
  ok(shoal_def_chunks(file, "deep/down/v", chunks));
  ok(shoal_def_compression(file, "/deep/down/v", "shuffle+deflate:1"));
  for (const int record : {0, 1})
    write(file, "deep/down/v", cut, 0, record, record);
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  for (const int record : {0, 1})
    check(file, "deep/down/v", {k_x}, record, record);
  ok(shoal_close(&file, 0));
}

TEST_CASE("groups: cells that are left out, and a list of water points, in a group") {
  if (no_groups()) return;
  if (skipped(in_one_file(), "water points go to one file")) return;
  const Cut cut = cut_of(k_x);
  const auto is_water = [](std::int64_t cell) { return cell % 4 != 3; };
  std::vector<std::int8_t> active;
  for (std::int64_t i = 0; i < cut.tile().count[0]; ++i)
    active.push_back(is_water(cut.tile().first[0] + i) ? 1 : 0);
  shoal_array mask = shoal_array_of(active.data(), SHOAL_LOGICAL, 1, cut.tile().count.data());
  mask.element_size = 1;
  shoal_decomposition* masked = nullptr;
  ok(shoal_masked(MPI_COMM_WORLD, cut.handle(), &mask, &masked));
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings().c_str(), &file));
  def_dim(file, "x", k_x);
  ok(shoal_def_gathered(file, "sea/water", "x", masked));
  const std::vector<std::string> hides = {"'sea/x' would hide 'x'", "'sea/water'"};
  fails(shoal_def_dim(file, "sea/x", 5), SHOAL_NOT_SUPPORTED, hides);
  def_dim(file, "sea/y", 2);
  fails(shoal_rename_dim(file, "sea/y", "x"), SHOAL_NOT_SUPPORTED, hides);
  def_dim(file, "air/x", 5);
  ok(shoal_def_var(file, "sea/of_water", SHOAL_FLOAT, "water", masked));
  ok(shoal_def_var(file, "sea/deep/of_grid", SHOAL_FLOAT, "x", masked));
  TestArray array(SHOAL_FLOAT, cut.tile().count);
  for_cells(cut.tile(), [&](const Dims& i) { array.set({i[0] - cut.tile().first[0]}, value_of(1, i)); });
  for (const char* name : {"sea/of_water", "sea/deep/of_grid"})
    ok(shoal_write(file, name, masked, array.c(), nullptr));
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  CHECK(text_of(file, "sea/water", "compress") == "x");
  int number = -1;
  ok(shoal_find_att(file, "sea/deep/of_grid", "_FillValue", &number));
  const std::int64_t points = k_x - k_x / 4;
  TestArray of_water(SHOAL_FLOAT, {points}), of_grid(SHOAL_FLOAT, {k_x}),
      on_grid(SHOAL_FLOAT, cut.tile().count);
  ok(shoal_get(file, "sea/of_water", of_water.c(), nullptr));
  ok(shoal_get(file, "sea/deep/of_grid", of_grid.c(), nullptr));
  ok(shoal_read(file, "sea/of_water", cut.handle(), on_grid.c(), nullptr));
  std::int64_t point = 0;
  for (std::int64_t cell = 0; cell < k_x; ++cell) {
    const double right = is_water(cell) ? value_of(1, {cell}) : fill_value(SHOAL_FLOAT);
    CHECK(of_grid.get({cell}) == right);
    if (is_water(cell)) CHECK(of_water.get({point++}) == right);
    const std::int64_t here = cell - cut.tile().first[0];
    if (here >= 0 && here < cut.tile().count[0]) CHECK(on_grid.get({here}) == right);
  }
  ok(shoal_close(&file, 0));
  shoal_decomposition_free(&masked);
}

TEST_CASE("groups: names that cannot be") {
  if (no_groups()) return;
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings().c_str(), &file));
  def_dim(file, "x", k_x);
  ok(shoal_def_var(file, "v", SHOAL_FLOAT, "x", nullptr));
  ok(shoal_def_var(file, "g/v", SHOAL_FLOAT, "x", nullptr));
  fails(shoal_def_var(file, "g", SHOAL_FLOAT, "x", nullptr), SHOAL_EXISTS, {"group 'g'"});
  fails(shoal_def_dim(file, "g", 2), SHOAL_EXISTS, {"group 'g'"});
  fails(shoal_def_var(file, "v/w", SHOAL_FLOAT, "x", nullptr), SHOAL_EXISTS, {"variable 'v'"});
  fails(shoal_def_group(file, "x/y"), SHOAL_EXISTS, {"dimension 'x'"});
  for (const char* name : {"g//v", "/", "g/", "g/ ", "//v", "g/v "})
    fails(shoal_def_var(file, name, SHOAL_FLOAT, "x", nullptr), SHOAL_INVALID_ARGUMENT, {"may be called"});
  fails(shoal_def_var(file, "/g/v", SHOAL_FLOAT, "x", nullptr), SHOAL_EXISTS, {"'g/v'"});
  fails(shoal_put_att(file, "h/", "a", SHOAL_CHAR, 1, "b"), SHOAL_NOT_FOUND, {"no group 'h/'"});
  int number = -1;
  fails(shoal_find_group(file, "gg", &number), SHOAL_NOT_FOUND, {"did you mean 'g'"});
  fails(shoal_find_var(file, "g/w", &number), SHOAL_NOT_FOUND, {"'g/w'"});
  for (const char* name : {"/", ""})
    fails(shoal_find_group(file, name, &number), SHOAL_NOT_FOUND, {"the file itself"});
  CHECK(groups_of(file) == "g:0");
  def_dim(file, "g/h/z", k_depth);
  for (const char* variable : {"w", "g/w", "other/w", "gg/w"})
    fails(shoal_def_var(file, variable, SHOAL_FLOAT, "/g/h/z", nullptr), SHOAL_INVALID_ARGUMENT,
          {"'g/h/z' is in the group 'g/h'"});
  ok(shoal_def_var(file, "g/h/w", SHOAL_FLOAT, "/g/h/z x", nullptr));
  ok(shoal_def_var(file, "g/h/i/w", SHOAL_FLOAT, "z", nullptr));
  ok(shoal_end_define(file));
  CHECK(variables_of(file) == "g/h/i/w(g/h/z) g/h/w(g/h/z x) g/v(x) v(x)");
  ok(shoal_close(&file, 0));
}

TEST_CASE("groups: formats that have none say so") {
  for (const auto& format : formats()) {
    if (traits_of(format_of(format)).has_groups) continue;
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format).c_str(), &file));
    def_dim(file, "x", k_x);
    const Names words{"format " + format + " has no groups", "netcdf4"};
    fails(shoal_def_var(file, "g/v", SHOAL_FLOAT, "x", nullptr), SHOAL_INVALID_ARGUMENT, words);
    fails(shoal_def_dim(file, "g/x", 3), SHOAL_INVALID_ARGUMENT, words);
    fails(shoal_def_group(file, "g"), SHOAL_NOT_SUPPORTED, words);
    ok(shoal_def_var(file, "/v", SHOAL_FLOAT, "/x", nullptr));
    CHECK(groups_of(file).empty());
    CHECK(variables_of(file) == "v(x)");
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("groups: ranks that make others are told so") {
  if (no_groups() || world_size() == 1) return;
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings().c_str(), &file));
  def_dim(file, "x", k_x);
  ok(shoal_def_group(file, world_rank() == 0 ? "here" : "there"));
  int code = shoal_end_define(file);
  fails(code, SHOAL_OUT_OF_STEP, {"group"});
  alike(code);
  ok(shoal_def_group(file, "here"));
  text(file, "here", "title", world_rank() == 0 ? "a" : "b");
  code = shoal_end_define(file);
  fails(code, SHOAL_OUT_OF_STEP, {"title", "group 'here'"});
  alike(code);
  ok(shoal_close(&file, 0));
}
