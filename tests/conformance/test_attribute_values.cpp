// SPDX-License-Identifier: BSD-3-Clause
// Ranks that give other values of attributes: an error, or rank 0's count (setting attributes).
#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr const char* k_path = "attribute_values.nc";
constexpr std::int64_t k_each = 3, k_rows = 4;

std::int64_t columns() {
  return k_each * world_size();
}

/// A tile of columns for each rank, of all rows but the last.
Cut without_last_row() {
  return {MPI_COMM_WORLD,
          {k_rows, columns()},
          Box({0, k_each * world_rank()}, {k_rows - 1, k_each}),
          {0, 0},
          {0, 0}};
}

shoal_dataset* create(const std::string& settings) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, settings.c_str(), &file));
  def_dim(file, "y", k_rows);
  def_dim(file, "x", columns());
  return file;
}

void put_text(shoal_dataset* file, const char* variable, const char* name, const std::string& text) {
  ok(shoal_put_att(file, variable, name, SHOAL_CHAR, static_cast<std::int64_t>(text.size()), text.data()));
}

/// What a rank says of itself, of another length on each.
std::string text_of_rank(int rank, const std::string& what) {
  return what + " of rank " + std::string(static_cast<std::size_t>(rank) + 1, static_cast<char>('a' + rank));
}

void check_text(const shoal_dataset* file, const char* variable, const char* name, const std::string& text) {
  CAPTURE(name);
  int at = -1;
  ok(shoal_find_att(file, variable, name, &at));
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  ok(shoal_inq_att(file, variable, at, &info));
  REQUIRE(info.count == static_cast<std::int64_t>(text.size()));
  std::string found(text.size(), '?');
  ok(shoal_get_att(file, variable, name, SHOAL_CHAR, found.data()));
  CHECK(found == text);
}

/// After work that only definitions of this rank are part of.
template <class Define>
void refused(Define&& define, const std::vector<std::string>& words) {
  shoal_dataset* file = create("attributes=rank0, format=" + formats().back());
  const Cut cut = without_last_row();
  ok(shoal_def_var(file, "v", SHOAL_FLOAT, "y x", cut.handle()));
  put_text(file, nullptr, "history", text_of_rank(world_rank(), "history"));
  define(file);
  const int code = shoal_end_define(file);
  fails(code, SHOAL_OUT_OF_STEP, words);
  alike(code);
  ok(shoal_close(&file, 0));
}

bool is_last() {
  return world_rank() == world_size() - 1;
}

}  // namespace

TEST_CASE("attributes=rank0: where ranks give other values, or other numbers of them, rank 0's count") {
  for (const auto& format : formats()) {
    CAPTURE(format);
    const int rank = world_rank();
    shoal_dataset* file = create("attributes=rank0, format=" + format);
    const Cut cut = without_last_row();
    ok(shoal_def_var(file, "v", SHOAL_FLOAT, "y x", cut.handle()));
    put_text(file, nullptr, "history", text_of_rank(rank, "history"));
    put_text(file, nullptr, "title", "the same on all");
    put_text(file, "v", "written_by", text_of_rank(rank, "program"));
    // Whose value a rank packs with, too.
    const double fill = -1 - rank;
    ok(shoal_def_fill(file, "v", SHOAL_DOUBLE, &fill));
    std::vector<double> numbers(static_cast<std::size_t>(rank) + 2, rank + 0.5);
    ok(shoal_put_att(file, "v", "clock", SHOAL_DOUBLE, static_cast<std::int64_t>(numbers.size()),
                     numbers.data()));
    const auto check = [&](const std::string& history) {
      check_text(file, nullptr, "history", history);
      check_text(file, nullptr, "title", "the same on all");
      check_text(file, "v", "written_by", text_of_rank(0, "program"));
      int at = -1;
      ok(shoal_find_att(file, "v", "clock", &at));
      shoal_att_info info = SHOAL_ATT_INFO_INIT;
      ok(shoal_inq_att(file, "v", at, &info));
      CHECK(info.count == 2);
    };
    ok(shoal_end_define(file));
    check(text_of_rank(0, "history"));
    TestArray array(SHOAL_DOUBLE, cut.tile().count);
    array.fill(rank + 10);
    ok(shoal_write(file, "v", nullptr, array.c(), nullptr));
    // Later, and found out at the next sync.
    put_text(file, nullptr, "history", text_of_rank(rank, "later"));
    ok(shoal_sync(file, 0));
    check(text_of_rank(0, "later"));
    ok(shoal_close(&file, 0));

    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    check(text_of_rank(0, "later"));
    TestArray all(SHOAL_DOUBLE, {k_rows, columns()});
    ok(shoal_get(file, "v", all.c(), nullptr));
    int wrong = 0;
    for_cells(Box::whole({k_rows, columns()}), [&](const Dims& i) {
      const double must = i[0] == k_rows - 1 ? -1 : static_cast<double>(i[1] / k_each + 10);
      wrong += all.get(i) != must ? 1 : 0;
    });
    CHECK(wrong == 0);
    ok(shoal_close(&file, 0));
    if (!in_one_file()) continue;

    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, "attributes=rank0", &file));
    put_text(file, nullptr, "history", text_of_rank(rank, "opened"));
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    check(text_of_rank(0, "opened"));
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("attributes=rank0 excuses nothing else in which definitions differ") {
  if (world_size() == 1) return;
  refused([](shoal_dataset* file) { put_text(file, nullptr, is_last() ? "his_story" : "institution", "x"); },
          {"his_story", "institution", "rank 0"});
  refused(
      [](shoal_dataset* file) {
        if (!is_last()) put_text(file, "v", "units", "m");
      },
      {"units", "variable 'v'", "missing here"});
  refused(
      [](shoal_dataset* file) {
        const float number = 1;
        if (is_last())
          put_text(file, "v", "scale", "1");
        else
          ok(shoal_put_att(file, "v", "scale", SHOAL_FLOAT, 1, &number));
      },
      {"scale", "variable 'v'"});
  refused([](shoal_dataset* file) { def_dim(file, "z", is_last() ? 3 : 2); }, {"dimension 'z'"});
  refused(
      [](shoal_dataset* file) { ok(shoal_def_quantize(file, "v", is_last() ? "bitround:5" : "bitround:6")); },
      {"variable 'v'", "bitround:5", "rank 0"});
}

TEST_CASE("without it other values are an error that says what to do") {
  if (world_size() == 1) return;
  for (const std::string settings : {"", ", attributes=same"}) {
    shoal_dataset* file = create("format=" + formats().front() + settings);
    put_text(file, nullptr, "history", is_last() ? "long" : "short");
    int code = shoal_end_define(file);
    fails(code, SHOAL_OUT_OF_STEP, {"'history'", "attributes=rank0"});
    alike(code);
    def_dim(file, "x", 2);
    ok(shoal_def_var(file, "v", SHOAL_FLOAT, "x", nullptr));
    ok(shoal_def_quantize(file, "v", is_last() ? "none" : "bitround:6"));
    code = shoal_end_define(file);
    fails(code, SHOAL_OUT_OF_STEP, {"variable 'v'", "bitround:6", "on rank 0, and not here"});
    alike(code);
    ok(shoal_close(&file, 0));
  }
}
