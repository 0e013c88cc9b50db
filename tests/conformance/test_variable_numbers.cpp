// Data calls of variables that are given by their number.
#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

const char* const k_path = "variable_numbers.nc";
constexpr std::int64_t k_x = 21;

shoal_variable number_of(const shoal_dataset* file, const char* name) {
  shoal_variable variable = -1;
  ok(shoal_find_var(file, name, &variable));
  return variable;
}

double value_at(std::int64_t record, std::int64_t x) {
  return 1000.0 * static_cast<double>(record) + static_cast<double>(x);
}

}  // namespace

TEST_CASE("variables by number: written, put, read and got as by name, also after a rename" *
          doctest::test_suite("basic")) {
  const std::int64_t from = k_x * world_rank() / world_size();
  const std::int64_t mine = k_x * (world_rank() + 1) / world_size() - from;
  const Cut cut(MPI_COMM_WORLD, {k_x}, Box({from}, {mine}), {0}, {0});
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format).c_str(), &file));
    ok(shoal_def_dim(file, "time", SHOAL_UNLIMITED));
    ok(shoal_def_dim(file, "x", k_x));
    ok(shoal_def_dim(file, "z", k_x));
    ok(shoal_def_var(file, "level", SHOAL_DOUBLE, "z", nullptr));
    // Files of a set are cut as the decomposition of the definition says.
    ok(shoal_def_var(file, "temp", SHOAL_DOUBLE, "time x", cut.handle()));
    const shoal_variable temp = number_of(file, "temp"), level = number_of(file, "level");
    CHECK(level == 0);
    CHECK(temp == 1);

    TestArray tile(SHOAL_DOUBLE, {mine});
    for (std::int64_t record = 0; record < 2; ++record) {
      for (std::int64_t i = 0; i < mine; ++i)
        tile.set({i}, value_at(record, from + i));
      ok(shoal_write_variable(file, temp, cut.handle(), tile.c(), SHOAL_RECORD(record)));
    }
    TestArray all(SHOAL_DOUBLE, {k_x});
    for (std::int64_t i = 0; i < k_x; ++i)
      all.set({i}, value_at(9, i));
    ok(shoal_put_variable(file, level, all.c(), nullptr));
    ok(shoal_sync(file, 0));
    ok(shoal_rename_var(file, "temp", "salt"));
    ok(shoal_end_define(file));
    for (std::int64_t i = 0; i < mine; ++i)
      tile.set({i}, value_at(2, from + i));
    ok(shoal_write_variable(file, temp, nullptr, tile.c(), SHOAL_RECORD(2)));
    CHECK(number_of(file, "salt") == temp);
    ok(shoal_rename_var(file, "salt", "temp"));
    ok(shoal_close(&file, 0));

    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    const shoal_variable there = number_of(file, "temp");
    std::int64_t records = 0;
    ok(shoal_num_records(file, nullptr, &records));
    for (std::int64_t record = 0; record < records; ++record) {
      ok(shoal_read_variable(file, there, cut.handle(), tile.c(), SHOAL_RECORD(record)));
      for (std::int64_t i = 0; i < mine; ++i)
        CHECK(tile.get({i}) == value_at(record, from + i));
    }
    ok(shoal_get_variable(file, number_of(file, "level"), all.c(), nullptr));
    for (std::int64_t i = 0; i < k_x; ++i)
      CHECK(all.get({i}) == value_at(9, i));
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE(
    "variables by number: one that is not there is an error on all ranks, and the dataset stays usable") {
  const Cut cut(MPI_COMM_WORLD, {world_size()}, Box({world_rank()}, {1}), {0}, {0});
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + formats().front()).c_str(), &file));
  ok(shoal_def_dim(file, "x", world_size()));
  ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "x", cut.handle()));
  TestArray tile(SHOAL_DOUBLE, {1});
  tile.set({0}, 7);
  ok(shoal_write_variable(file, 0, cut.handle(), tile.c(), nullptr));
  // Of a write, the others learn of it at sync; on a single rank it is an error at once.
  const shoal_variable mine = world_rank() == world_size() - 1 ? 5 : 0;
  int code = shoal_write_variable(file, mine, cut.handle(), tile.c(), nullptr);
  if (world_size() > 1) {
    CHECK(code == SHOAL_OK);
    code = shoal_sync(file, 0);
    alike(code);
  }
  fails(code, SHOAL_INVALID_ARGUMENT, {"no variable 5"});
  ok(shoal_write_variable(file, 0, cut.handle(), tile.c(), nullptr));
  ok(shoal_close(&file, 0));

  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  for (const shoal_variable wrong : {-1, 1, 1000000}) {
    code = shoal_read_variable(file, wrong, cut.handle(), tile.c(), nullptr);
    fails(code, SHOAL_INVALID_ARGUMENT, {k_path, "no variable"});
    alike(code);
  }
  ok(shoal_read_variable(file, 0, cut.handle(), tile.c(), nullptr));
  CHECK(tile.get({0}) == 7);
  ok(shoal_close(&file, 0));
}
