// Other names for dimensions, variables and attributes, and attributes that go: new ones, and those of a file
// with data.
#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

const char* const k_path = "renames.nc";
const char* const k_long = "a_name_that_is_longer_than_the_one_before_by_far";

std::vector<std::string> every_format() {
  std::vector<std::string> all = formats();
  if (is_native() && in_one_file()) all.emplace_back("raw");
  return all;
}

void reopen(shoal_dataset*& file, int mode) {
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, mode, nullptr, &file));
}

std::vector<std::string> names_of_dims(const shoal_dataset* file) {
  shoal_file_info all = SHOAL_FILE_INFO_INIT;
  ok(shoal_inq_file(file, &all));
  std::vector<std::string> names;
  for (int i = 0; i < all.dimensions; ++i) {
    shoal_dim_info info = SHOAL_DIM_INFO_INIT;
    ok(shoal_inq_dim(file, i, &info));
    names.emplace_back(info.name);
  }
  return names;
}

std::vector<std::string> names_of_variables(const shoal_dataset* file) {
  shoal_file_info all = SHOAL_FILE_INFO_INIT;
  ok(shoal_inq_file(file, &all));
  std::vector<std::string> names;
  for (int i = 0; i < all.variables; ++i) {
    shoal_var_info info = SHOAL_VAR_INFO_INIT;
    ok(shoal_inq_var(file, i, &info));
    names.emplace_back(info.name);
  }
  return names;
}

/// "name=text" of those that are text, "name" of others.
std::vector<std::string> attributes_of(const shoal_dataset* file, const char* variable) {
  int n = 0;
  if (variable == nullptr) {
    shoal_file_info all = SHOAL_FILE_INFO_INIT;
    ok(shoal_inq_file(file, &all));
    n = all.attributes;
  } else {
    int v = -1;
    ok(shoal_find_var(file, variable, &v));
    shoal_var_info info = SHOAL_VAR_INFO_INIT;
    ok(shoal_inq_var(file, v, &info));
    n = info.attributes;
  }
  std::vector<std::string> found;
  for (int i = 0; i < n; ++i) {
    shoal_att_info info = SHOAL_ATT_INFO_INIT;
    ok(shoal_inq_att(file, variable, i, &info));
    std::string one = info.name;
    if (one == "NumFilesInSet" || one == "domain_decomposition") continue;  // of sets
    if (info.type == SHOAL_CHAR) {
      std::string text(static_cast<std::size_t>(info.count), ' ');
      ok(shoal_get_att(file, variable, one.c_str(), SHOAL_CHAR, text.data()));
      one += "=" + text;
    }
    found.push_back(one);
  }
  return found;
}

void text(shoal_dataset* file, const char* variable, const char* name, const std::string& value) {
  ok(shoal_put_att(file, variable, name, SHOAL_CHAR, static_cast<std::int64_t>(value.size()), value.c_str()));
}

using Names = std::vector<std::string>;

/// netCDF-C makes no coordinate variable of one that is in a netCDF-4 file; variables, and in the classic
/// model attributes, change their order.
bool by_netcdf4(const std::string& format) {
  return driver() == "netcdf" || (driver() == "gather" && has_chunks(format));
}

Names sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

/// As one text; where netCDF-C has changed the order, sorted.
std::string listed(const Names& names, const std::string& format) {
  return joined(by_netcdf4(format) ? sorted(names) : names, ", ");
}

/// Other names of a dimension and its coordinate.
void rename_both(shoal_dataset* file, const std::string& format, const char* name, const char* to) {
  ok(shoal_rename_dim(file, name, to));
  ok(shoal_rename_var(file, name, to));
  if (!by_netcdf4(format)) return;
  const int code = shoal_end_define(file);
  fails(code, SHOAL_NOT_SUPPORTED, {"driver native", to});
  alike(code);
}

constexpr std::int64_t k_x = 24;

Cut cut_of_x() {
  const std::int64_t from = k_x * world_rank() / world_size();
  const std::int64_t to = k_x * (world_rank() + 1) / world_size();
  return {MPI_COMM_WORLD, {k_x}, Box({from}, {to - from}), {0}, {0}};
}

void write(shoal_dataset* file, const char* name, const Cut& cut, std::int64_t record, double offset) {
  TestArray array(SHOAL_DOUBLE, cut.tile().count);
  for_cells(cut.tile(), [&](const Dims& i) {
    array.set({i[0] - cut.tile().first[0]}, offset + static_cast<double>(i[0]));
  });
  ok(shoal_write(file, name, cut.handle(), array.c(), SHOAL_RECORD(record)));
}

void check(shoal_dataset* file, const char* name, std::int64_t n, std::int64_t record, double offset) {
  CAPTURE(name);
  TestArray array(SHOAL_DOUBLE, {n});
  ok(shoal_get(file, name, array.c(), SHOAL_RECORD(record)));
  for (std::int64_t i = 0; i < n; ++i)
    CHECK(array.get({i}) == offset + static_cast<double>(i));
}

void put(shoal_dataset* file, const char* name, std::int64_t n, std::int64_t record, double offset) {
  TestArray array(SHOAL_DOUBLE, {n});
  for (std::int64_t i = 0; i < n; ++i)
    array.set({i}, offset + static_cast<double>(i));
  ok(shoal_put(file, name, array.c(), SHOAL_RECORD(record)));
}

/// time, x and y, coordinates of x and y, fields of both, with data.
shoal_dataset* new_file(const std::string& settings, const Cut& cut) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, settings.c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "y", 3);
  def_dim(file, "x", k_x);
  ok(shoal_def_var(file, "time", SHOAL_DOUBLE, "time", nullptr));
  ok(shoal_def_var(file, "temp", SHOAL_FLOAT, "time x", cut.handle()));
  ok(shoal_def_var(file, "x", SHOAL_DOUBLE, "x", nullptr));
  ok(shoal_def_var(file, "y", SHOAL_DOUBLE, "y", nullptr));
  ok(shoal_def_var(file, "other", SHOAL_DOUBLE, "y", nullptr));
  const float fill = -9;
  ok(shoal_def_fill(file, "temp", SHOAL_FLOAT, &fill));
  text(file, "temp", "units", "degC");
  text(file, "temp", "long_name", "temperature");
  text(file, "temp", "comment", "none");
  text(file, nullptr, "title", "a run");
  text(file, nullptr, "history", "made");
  text(file, nullptr, "author", "nobody");
  ok(shoal_end_define(file));
  return file;
}

// A record of a variable in one dimension.
void put_time(shoal_dataset* file, const char* name, std::int64_t record, double value) {
  const shoal_array one = scalar(value, SHOAL_DOUBLE);
  ok(shoal_put(file, name, &one, SHOAL_RECORD(record)));
}

double time_of(shoal_dataset* file, const char* name, std::int64_t record) {
  double value = 0;
  const shoal_array one = scalar(value, SHOAL_DOUBLE);
  ok(shoal_get(file, name, &one, SHOAL_RECORD(record)));
  return value;
}

void fill(shoal_dataset* file, const Cut& cut) {
  put(file, "x", k_x, SHOAL_NO_RECORD, 100);
  put(file, "y", 3, SHOAL_NO_RECORD, 200);
  put(file, "other", 3, SHOAL_NO_RECORD, 300);
  put_time(file, "time", 0, 400);
  write(file, "temp", cut, 0, 0);
}

}  // namespace

TEST_CASE("renames: new definitions have the new names only") {
  for (const auto& format : every_format()) {
    CAPTURE(format);
    const Cut cut = cut_of_x();
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format).c_str(), &file));
    def_dim(file, "a", k_x);
    ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "a", cut.handle()));
    text(file, "v", "one", "1");
    text(file, "v", "two", "2");
    ok(shoal_rename_dim(file, "a", "x"));
    ok(shoal_rename_var(file, "v", "w"));
    ok(shoal_rename_att(file, "w", "one", "three"));
    ok(shoal_delete_att(file, "w", "two"));
    text(file, "w", "one", "again");
    def_dim(file, "a", 2);
    ok(shoal_def_var(file, "v", SHOAL_INT, "a", nullptr));
    write(file, "w", cut, SHOAL_NO_RECORD, 5);
    reopen(file, SHOAL_READ);
    check(file, "w", k_x, SHOAL_NO_RECORD, 5);
    const Names wanted{"three=1", "one=again"};
    CHECK(listed(attributes_of(file, "w"), format) == listed(wanted, format));
    int index = -1;
    ok(shoal_find_dim(file, "a", &index));
    ok(shoal_find_var(file, "v", &index));
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("renames: what is in a file, with data, in one open file and after opening it again") {
  for (const auto& format : every_format())
    for (const bool opened : {false, true}) {
      CAPTURE(format);
      CAPTURE(opened);
      if (opened && !in_one_file()) continue;
      const Cut cut = cut_of_x();
      shoal_dataset* file = new_file("format=" + format, cut);
      fill(file, cut);
      if (opened) reopen(file, SHOAL_WRITE);
      // Coordinates go with their dimensions.
      rename_both(file, format, "x", k_long);
      rename_both(file, format, "time", "t");
      const char* const x = by_netcdf4(format) ? "x" : k_long;
      const char* const t = by_netcdf4(format) ? "time" : "t";
      ok(shoal_rename_var(file, "temp", "temperature"));
      ok(shoal_rename_att(file, "temperature", "units", "unit_of_the_values"));
      ok(shoal_delete_att(file, "temperature", "long_name"));
      ok(shoal_rename_att(file, nullptr, "title", "name"));
      ok(shoal_delete_att(file, nullptr, "history"));
      text(file, nullptr, "title", "another");
      text(file, "temperature", "comment", "none at all");
      int index = 7;
      fails(shoal_find_var(file, "temp", &index), SHOAL_NOT_FOUND, {"temperature"});
      ok(shoal_find_var(file, "temperature", &index));
      CHECK(index == 1);
      write(file, "temperature", cut, 1, 50);
      put_time(file, t, 1, 401);
      for (const int mode : {SHOAL_READ, SHOAL_WRITE, SHOAL_READ}) {
        if (mode == SHOAL_WRITE && !in_one_file()) continue;
        reopen(file, mode);
        CAPTURE(mode);
        const Names dims{t, "y", x};
        const Names variables{t, "temperature", x, "y", "other"};
        const Names of_field{"_FillValue", "unit_of_the_values=degC", "comment=none at all"};
        const Names of_file{"name=a run", "author=nobody", "title=another"};
        if (in_one_file()) {
          CHECK(listed(names_of_dims(file), format) == listed(dims, format));
          CHECK(listed(names_of_variables(file), format) == listed(variables, format));
        }
        CHECK(listed(attributes_of(file, "temperature"), format) == listed(of_field, format));
        CHECK(listed(attributes_of(file, nullptr), format) == listed(of_file, format));
        check(file, x, k_x, SHOAL_NO_RECORD, 100);
        check(file, "y", 3, SHOAL_NO_RECORD, 200);
        check(file, "other", 3, SHOAL_NO_RECORD, 300);
        check(file, "temperature", k_x, 0, 0);
        check(file, "temperature", k_x, 1, 50);
        CHECK(time_of(file, t, 0) == 400);
        CHECK(time_of(file, t, 1) == 401);
        if (mode != SHOAL_WRITE) continue;
        const Cut again = cut_of_x();
        write(file, "temperature", again, 1, 50);
        put_time(file, t, 1, 401);
      }
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE("renames: a variable becomes the coordinate of a dimension, and ceases to be one") {
  for (const auto& format : every_format())
    for (const std::string what :
         {"dimension away", "variable away", "another variable", "two", "dimension to it", "new variable"}) {
      if (!in_one_file() && what != "variable away") continue;
      const bool becomes = what == "another variable" || what == "two" || what == "dimension to it";
      if (by_netcdf4(format) && becomes) continue;
      if ((format == "raw" || format == "ascii") && what == "new variable")
        continue;  // no variables after records
      if (format == "zarr" && (what == "another variable" || what == "two"))
        continue;  // names are free again with the next commit
      CAPTURE(format);
      CAPTURE(what);
      const Cut cut = cut_of_x();
      shoal_dataset* file = new_file("format=" + format, cut);
      fill(file, cut);
      if (in_one_file()) reopen(file, SHOAL_WRITE);
      std::string y = "y", x = "x", other = "other", time = "time", dim_y = "y", dim_x = "x", dim_t = "time";
      if (what == "dimension away") {
        ok(shoal_rename_dim(file, "y", "rows"));
        ok(shoal_rename_dim(file, "x", "columns"));
        ok(shoal_rename_dim(file, "time", "steps"));
        dim_y = "rows", dim_x = "columns", dim_t = "steps";
      } else if (what == "variable away") {
        ok(shoal_rename_var(file, "y", "latitude"));
        ok(shoal_rename_var(file, "x", "longitude"));
        ok(shoal_rename_var(file, "time", "seconds"));
        y = "latitude", x = "longitude", time = "seconds";
      } else if (what == "another variable") {
        ok(shoal_rename_var(file, "y", "latitude"));
        ok(shoal_rename_var(file, "other", "y"));
        y = "latitude", other = "y";
      } else if (what == "two") {  // by a third name
        ok(shoal_rename_var(file, "y", "between"));
        ok(shoal_rename_var(file, "other", "y"));
        ok(shoal_rename_var(file, "between", "other"));
        y = "other", other = "y";
      } else if (what == "dimension to it") {
        ok(shoal_rename_dim(file, "y", "other"));
        dim_y = "other";
      } else {
        ok(shoal_rename_dim(file, "y", "z"));
        dim_y = "z";
        ok(shoal_def_var(file, "z", SHOAL_DOUBLE, "z", nullptr));
        put(file, "z", 3, SHOAL_NO_RECORD, 700);
      }
      write(file, "temp", cut, 1, 50);
      put_time(file, time.c_str(), 1, 401);
      for (const int mode : {SHOAL_READ, SHOAL_WRITE, SHOAL_READ}) {
        if (mode == SHOAL_WRITE && !in_one_file()) continue;
        CAPTURE(mode);
        reopen(file, mode);
        const Names dims{dim_t, dim_y, dim_x};
        Names variables{time, "temp", x, y, other};
        if (what == "new variable") variables.emplace_back("z");
        if (in_one_file()) {
          CHECK(listed(names_of_dims(file), format) == listed(dims, format));
          CHECK(listed(names_of_variables(file), format) == listed(variables, format));
        }
        for (const auto& [name, dim] : std::vector<std::pair<std::string, std::string>>{
                 {time, dim_t}, {x, dim_x}, {y, dim_y}, {other, dim_y}}) {
          int v = -1, d = -1;
          ok(shoal_find_var(file, name.c_str(), &v));
          ok(shoal_find_dim(file, dim.c_str(), &d));
          shoal_var_info info = SHOAL_VAR_INFO_INIT;
          ok(shoal_inq_var(file, v, &info));
          CHECK(info.ndims == 1);
          CHECK(info.dims[0] == d);
        }
        check(file, x.c_str(), k_x, SHOAL_NO_RECORD, 100);
        check(file, y.c_str(), 3, SHOAL_NO_RECORD, 200);
        check(file, other.c_str(), 3, SHOAL_NO_RECORD, 300);
        if (what == "new variable") check(file, "z", 3, SHOAL_NO_RECORD, 700);
        check(file, "temp", k_x, 0, 0);
        check(file, "temp", k_x, 1, 50);
        CHECK(time_of(file, time.c_str(), 0) == 400);
        CHECK(time_of(file, time.c_str(), 1) == 401);
      }
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE("renames: names that change places, and attributes by a third name") {
  for (const auto& format : every_format()) {
    if (!in_one_file()) continue;
    CAPTURE(format);
    const Cut cut = cut_of_x();
    shoal_dataset* file = new_file("format=" + format, cut);
    write(file, "temp", cut, 0, 0);
    put(file, "other", 3, SHOAL_NO_RECORD, 300);
    reopen(file, SHOAL_WRITE);
    ok(shoal_rename_att(file, "temp", "units", "between"));
    ok(shoal_rename_att(file, "temp", "comment", "units"));
    ok(shoal_rename_att(file, "temp", "between", "comment"));
    ok(shoal_delete_att(file, "temp", "long_name"));
    text(file, "temp", "long_name", "again");
    ok(shoal_rename_att(file, "temp", "long_name", "name"));
    ok(shoal_rename_var(file, "temp", "between"));
    ok(shoal_rename_var(file, "other", "temp"));
    ok(shoal_rename_var(file, "between", "other"));
    if (format == "zarr") {
      fails(shoal_end_define(file), SHOAL_NOT_SUPPORTED, {"until the next commit", "sync"});
      ok(shoal_rename_var(file, "temp", "between"));
      ok(shoal_sync(file, 0));
      ok(shoal_rename_var(file, "other", "temp"));
      ok(shoal_sync(file, 0));
      ok(shoal_rename_var(file, "between", "other"));
      reopen(file, SHOAL_READ);
      check(file, "other", k_x, 0, 0);
      check(file, "temp", 3, SHOAL_NO_RECORD, 300);
      ok(shoal_close(&file, 0));
      continue;
    }
    reopen(file, SHOAL_READ);
    const Names wanted{"_FillValue", "comment=degC", "units=none", "name=again"};
    CHECK(listed(attributes_of(file, "other"), format) == listed(wanted, format));
    check(file, "other", k_x, 0, 0);
    check(file, "temp", 3, SHOAL_NO_RECORD, 300);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("renames: what cannot be is refused, and ranks that differ keep the old names") {
  if (skipped(in_one_file(), "it opens the file again for writing")) return;
  for (const auto& format : every_format()) {
    CAPTURE(format);
    const Cut cut = cut_of_x();
    shoal_dataset* file = new_file("format=" + format, cut);
    write(file, "temp", cut, 0, 0);
    ok(shoal_sync(file, 0));
    fails(shoal_rename_dim(file, "tiem", "z"), SHOAL_NOT_FOUND, {"did you mean 'time'"});
    fails(shoal_rename_dim(file, "x", "y"), SHOAL_EXISTS, {"'y'"});
    fails(shoal_rename_dim(file, "x", "a/b"), SHOAL_INVALID_ARGUMENT, {"'/'"});
    fails(shoal_rename_dim(file, "x", nullptr), SHOAL_INVALID_ARGUMENT, {"new_name"});
    fails(shoal_rename_var(file, "tepm", "z"), SHOAL_NOT_FOUND, {"did you mean 'temp'"});
    fails(shoal_rename_var(file, "temp", "x"), SHOAL_EXISTS, {"'x'"});
    fails(shoal_rename_att(file, "temp", "unit", "z"), SHOAL_NOT_FOUND, {"did you mean 'units'"});
    fails(shoal_rename_att(file, "temp", "units", "comment"), SHOAL_EXISTS, {"comment"});
    fails(shoal_rename_att(file, "temp", "_FillValue", "fill"), SHOAL_NOT_SUPPORTED, {"_FillValue"});
    fails(shoal_rename_att(file, "temp", "units", "_FillValue"), SHOAL_EXISTS, {"_FillValue"});
    text(file, "other", "units", "m");
    fails(shoal_rename_att(file, "other", "units", "_FillValue"), SHOAL_NOT_SUPPORTED, {"def_fill"});
    fails(shoal_delete_att(file, "temp", "_FillValue"), SHOAL_NOT_SUPPORTED, {"_FillValue"});
    fails(shoal_delete_att(file, nullptr, "titel"), SHOAL_NOT_FOUND, {"did you mean 'title'"});
    ok(shoal_rename_var(file, "temp", "temp"));
    ok(shoal_end_define(file));
    if (world_size() > 1) {
      const bool last = world_rank() == world_size() - 1;
      ok(shoal_rename_var(file, "temp", last ? "b" : "a"));
      int code = shoal_end_define(file);
      fails(code, SHOAL_OUT_OF_STEP, {"different definitions"});
      alike(code);
      if (last) ok(shoal_delete_att(file, "temp", "units"));
      code = shoal_end_define(file);
      fails(code, SHOAL_OUT_OF_STEP, {"units"});
      alike(code);
      // The same in the end, by another way.
      if (last) ok(shoal_rename_att(file, "temp", "units", "u"));
      if (last) ok(shoal_rename_att(file, "temp", "u", "units"));
      code = shoal_end_define(file);
      fails(code, SHOAL_OUT_OF_STEP, {"rename attribute 'units' to 'u'"});
      alike(code);
    }
    write(file, "temp", cut, 1, 50);
    reopen(file, SHOAL_READ);
    fails(shoal_rename_var(file, "temp", "z"), SHOAL_STATE, {"reading"});
    check(file, "temp", k_x, 0, 0);
    check(file, "temp", k_x, 1, 50);
    const Names wanted{"_FillValue", "units=degC", "long_name=temperature", "comment=none"};
    CHECK(listed(attributes_of(file, "temp"), format) == listed(wanted, format));
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("renames: a header without room for a longer name: the data move") {
  if (skipped(in_one_file(), "one file")) return;
  for (const auto& format : formats()) {
    if (format.rfind("cdf", 0) != 0) continue;
    CAPTURE(format);
    const Cut cut = cut_of_x();
    shoal_dataset* file = new_file("header_reserve=0, format=" + format, cut);
    write(file, "temp", cut, 0, 0);
    put(file, "other", 3, SHOAL_NO_RECORD, 300);
    reopen(file, SHOAL_WRITE);
    ok(shoal_rename_var(file, "temp", k_long));
    ok(shoal_end_define(file));
    const char* name = k_long;
    check(file, name, k_x, 0, 0);
    ok(shoal_rename_var(file, name, "t"));
    write(file, "t", cut, 1, 50);
    reopen(file, SHOAL_READ);
    check(file, "t", k_x, 0, 0);
    check(file, "t", k_x, 1, 50);
    check(file, "other", 3, SHOAL_NO_RECORD, 300);
    ok(shoal_close(&file, 0));
  }
}
