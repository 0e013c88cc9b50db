// SPDX-License-Identifier: BSD-3-Clause
// Data calls of a rank alone (shoal_write_independent, shoal_read_independent): mixed at random with those of
// all ranks, without waiting for anybody, and with what they refuse. Only driver native has them.
#include <filesystem>

#include "conformance/support.hpp"
#include "support/random_tiles.hpp"
#include "support/seeds.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr const char* k_path = "independent.nc";
constexpr std::int64_t k_rows = 7, k_columns = 9;

bool has_them() {
  return writes_alone() && in_one_file();
}

/// A box of a call, with its array.
struct BoxOf {
  Dims start, count, stride;
  TestArray array;

  BoxOf(int type, const Dims& from, const Dims& cells, const Dims& steps, std::mt19937& random)
      : start(from), count(cells), stride(steps), array(type, cells, random) {}
  BoxOf(int type, const Box& box, std::mt19937& random)
      : BoxOf(type, box.first, box.count, Dims(box.rank(), 1), random) {}

  Dims index_of(const Dims& cell) const {
    Dims index = start;
    for (int d = 0; d < cell.size(); ++d)
      index[d] += cell[d] * stride[d];
    return index;
  }
  shoal_box c(shoal_variable variable) {
    return {sizeof(shoal_box), variable, start.size(), start.data(), count.data(), stride.data(), *array.c()};
  }
};

int write_alone(shoal_dataset* file, shoal_variable variable, BoxOf& box) {
  const shoal_box given = box.c(variable);
  return shoal_write_independent(file, 1, &given);
}

int read_alone(shoal_dataset* file, shoal_variable variable, BoxOf& box) {
  const shoal_box given = box.c(variable);
  return shoal_read_independent(file, 1, &given);
}

/// What a variable must hold: each rank knows the cells of its own tile, and of all others after a sync.
struct Variable {
  std::string name;
  shoal_variable number = -1;
  bool has_record = false, fills = true;
  double fill = 0;
  Dims shape;                                ///< of a record, or of all
  std::vector<std::vector<double>> records;  ///< one, where there are none
  bool together = false;                     ///< all ranks wrote or put it since the last sync

  double& at(std::int64_t record, const Dims& cell) {
    return records.at(
        static_cast<std::size_t>(record))[static_cast<std::size_t>(position_in(cell, Box::whole(shape)))];
  }
};

constexpr double k_unknown = -1e9;

class Sequence {
 public:
  Sequence(const std::string& settings, unsigned seed)
      : random_(seed),
        own_random_(seed + 1000U * static_cast<unsigned>(world_rank())),
        fills_(settings.find("fill=false") == std::string::npos) {
    const Dims grid{k_rows, k_columns};
    tiles_ = random_tiles(grid, world_size(), false, random_);
    cut_ = std::make_unique<Cut>(MPI_COMM_WORLD, grid, tiles_[static_cast<std::size_t>(world_rank())],
                                 Dims{0, 0}, Dims{0, 0});
    ok(shoal_create(MPI_COMM_WORLD, k_path, settings.c_str(), &file_));
    def_dim(file_, "time", SHOAL_UNLIMITED);
    def_dim(file_, "y", k_rows);
    def_dim(file_, "x", k_columns);
    define();
  }

  void run(int epochs) {
    for (int epoch = 0; epoch < epochs; ++epoch) {
      CAPTURE(epoch);
      const int calls = number(3, 9);
      for (int call = 0; call < calls; ++call)
        make_call();
      compare_all();
      MPI_Barrier(MPI_COMM_WORLD);  // what comes next may be in the file at once
      if (number(0, 4) == 0 && takes_variables()) define();
    }
    ok(shoal_close(&file_, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file_));
    compare_all();
    ok(shoal_close(&file_, 0));
  }

 private:
  int number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  int own_number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(own_random_); }
  const Box& tile() const { return tiles_[static_cast<std::size_t>(world_rank())]; }
  // Format raw has no room for variables behind records.
  bool takes_variables() { return length_ == 0 || std::string(info().format) != "raw"; }

  void define() {
    const bool chunks = has_chunks(info().format);
    const int n = number(1, 3);
    for (int i = 0; i < n; ++i) {
      Variable v;
      v.name = "v" + std::to_string(variables_.size());
      v.has_record = number(0, 1) == 1;
      const bool no_fill = number(0, 2) == 0;
      v.fills = fills_ && !no_fill;
      v.shape = {k_rows, k_columns};
      const int type = std::vector<int>{SHOAL_INT, SHOAL_SHORT, SHOAL_DOUBLE,
                                        SHOAL_FLOAT}[static_cast<std::size_t>(number(0, 3))];
      v.fill = fill_value(type);
      ok(shoal_def_var(file_, v.name.c_str(), type, v.has_record ? "time y x" : "y x", nullptr));
      const std::int64_t chunk[] = {1, 3, 4};
      if (chunks && number(0, 1) == 1)
        ok(shoal_def_chunks(file_, v.name.c_str(), chunk + (v.has_record ? 0 : 1)));
      if (no_fill) ok(shoal_def_fill(file_, v.name.c_str(), SHOAL_INT, nullptr));
      if (number(0, 2) == 0) ok(shoal_def_cut(file_, v.name.c_str()));
      if (number(0, 2) == 0) ok(shoal_def_independent(file_, v.name.c_str()));
      ok(shoal_find_var(file_, v.name.c_str(), &v.number));
      variables_.push_back(v);
    }
    ok(shoal_end_define(file_));
    for (Variable& v : variables_)
      grow(v);
  }

  shoal_file_info info() {
    shoal_file_info out = SHOAL_FILE_INFO_INIT;
    ok(shoal_inq_file(file_, &out));
    return out;
  }

  void grow(Variable& v) {
    const std::size_t wanted = v.has_record ? static_cast<std::size_t>(length_) : 1;
    while (v.records.size() < wanted)
      v.records.emplace_back(static_cast<std::size_t>(volume(v.shape)), v.fills ? v.fill : k_unknown);
  }

  void make_call() {
    Variable& v = variables_[static_cast<std::size_t>(number(0, static_cast<int>(variables_.size()) - 1))];
    const int what = number(0, 9);
    if (what < 2) return write(v);
    if (what < 4) return put(v);
    if (what < 5) return read_together(v);
    // Of these each rank makes as many as it likes.
    for (int i = own_number(0, 3); i > 0; --i) {
      Variable& own =
          variables_[static_cast<std::size_t>(own_number(0, static_cast<int>(variables_.size()) - 1))];
      if (own_number(0, 2) > 0)
        write_own(own);
      else
        read_own(own);
    }
  }

  std::int64_t record_to_write(const Variable& v) {
    if (!v.has_record) return SHOAL_NO_RECORD;
    const std::int64_t record = number(0, static_cast<int>(length_));
    length_ = std::max(length_, record + 1);
    for (Variable& other : variables_)
      grow(other);
    return record;
  }

  void write(Variable& v) {
    const std::int64_t record = record_to_write(v);
    TestArray array(SHOAL_DOUBLE, tile().count, random_);
    const double first = number(1, 1000);
    for_cells(Box::whole(tile().count), [&](const Dims& i) { array.set(i, first + value_of(3, i)); });
    ok(shoal_write(file_, v.name.c_str(), cut_->handle(), array.c(), SHOAL_RECORD(record)));
    for_cells(tile(), [&](const Dims& index) {
      Dims i = index;
      for (int d = 0; d < 2; ++d)
        i[d] -= tile().first[d];
      v.at(std::max<std::int64_t>(record, 0), index) = first + value_of(3, i);
    });
    v.together = true;
  }

  Box random_box(const Box& within, bool own) {
    Box box = within;
    for (int d = 0; d < box.rank(); ++d) {
      const int last = static_cast<int>(within.count[d]);
      const int first = own ? own_number(0, last) : number(0, last);
      box.first[d] += first;
      box.count[d] = own ? own_number(0, last - first) : number(0, last - first);
    }
    return box;
  }

  void put(Variable& v) {
    const Box box = random_box(Box::whole(v.shape), false);
    if (box.empty()) return;
    const std::int64_t record = record_to_write(v);
    const double first = number(2000, 3000);
    TestArray array(SHOAL_DOUBLE, box.count, random_);
    for_cells(Box::whole(box.count),
              [&](const Dims& i) { array.set(i, world_rank() == 0 ? first + value_of(5, i) : -5); });
    ok(shoal_put(file_, v.name.c_str(), array.c(),
                 SHOAL_SECTION(record, 2, box.first.data(), box.count.data())));
    for_cells(box, [&](const Dims& index) {
      Dims i = index;
      for (int d = 0; d < 2; ++d)
        i[d] -= box.first[d];
      v.at(std::max<std::int64_t>(record, 0), index) = first + value_of(5, i);
    });
    v.together = true;
  }

  // Cells of this rank's tile, in any record, with any stride.
  BoxOf own_box(const Variable& v, int type) {
    const Box box = random_box(tile(), true);
    Dims start, count, stride;
    if (v.has_record) {
      const int first = own_number(0, static_cast<int>(length_));
      start.push_back(first);
      count.push_back(own_number(0, static_cast<int>(length_) - first));
      stride.push_back(1);
    }
    for (int d = 0; d < 2; ++d) {
      const std::int64_t step = own_number(1, 3);
      start.push_back(box.first[d]);
      stride.push_back(step);
      count.push_back(box.count[d] == 0 ? 0 : (box.count[d] - 1) / step + 1);
    }
    return {type, start, count, stride, own_random_};
  }

  double& cell_of(Variable& v, const Dims& index) {
    return v.has_record ? v.at(index[0], {index[1], index[2]}) : v.at(0, index);
  }

  void write_own(Variable& v) {
    BoxOf box = own_box(v, own_number(0, 1) == 0 ? SHOAL_DOUBLE : SHOAL_INT);
    const double first = own_number(4000, 5000);
    for_cells(Box::whole(box.count), [&](const Dims& i) {
      box.array.set(i, first + value_of(7, i));
      cell_of(v, box.index_of(i)) = first + value_of(7, i);
    });
    ok(write_alone(file_, v.number, box));
  }

  void read_own(Variable& v) {
    BoxOf box = own_box(v, SHOAL_DOUBLE);
    const int code = read_alone(file_, v.number, box);
    if (code == SHOAL_STATE) {
      CHECK_MESSAGE(v.together, v.name, ": ", std::string(shoal_error_message()));
      return;
    }
    ok(code);
    check(v, box);
  }

  void check(Variable& v, BoxOf& box) {
    int wrong = 0;
    std::string what;
    for_cells(Box::whole(box.count), [&](const Dims& i) {
      const double must = cell_of(v, box.index_of(i));
      if (must == k_unknown || box.array.get(i) == must) return;
      if (++wrong == 1)
        what = text_of(box.index_of(i)) + " is " + std::to_string(box.array.get(i)) + ", not " +
               std::to_string(must);
    });
    CHECK_MESSAGE(wrong == 0, v.name, ": ", what, "; and ", wrong - 1, " more");
  }

  // Also before a sync it has all that this rank wrote; fill values may come with the sync.
  void read_together(Variable& v) {
    if (v.has_record && length_ == 0) return;
    const std::int64_t record = v.has_record ? number(0, static_cast<int>(length_) - 1) : SHOAL_NO_RECORD;
    TestArray array(SHOAL_DOUBLE, tile().count, random_);
    ok(shoal_read(file_, v.name.c_str(), cut_->handle(), array.c(), SHOAL_RECORD(record)));
    int wrong = 0;
    for_cells(tile(), [&](const Dims& index) {
      Dims i = index;
      for (int d = 0; d < 2; ++d)
        i[d] -= tile().first[d];
      const double must = v.at(std::max<std::int64_t>(record, 0), index);
      wrong += must != k_unknown && must != v.fill && array.get(i) != must ? 1 : 0;
    });
    CHECK_MESSAGE(wrong == 0, v.name, " read by all ranks");
  }

  // After a sync all ranks see all that any rank wrote.
  void compare_all() {
    if (shoal_file_info at = info(); at.writable != 0) ok(shoal_sync(file_, number(0, 1)));
    for (Variable& v : variables_) {
      v.together = false;
      share(v);
      CAPTURE(v.name);
      if (v.has_record && length_ == 0) continue;
      const Dims records = v.has_record ? Dims{length_} : Dims{};
      BoxOf all(SHOAL_DOUBLE, Box::whole(joined(records, v.shape)), own_random_);
      ok(shoal_get_variable(file_, v.number, all.array.c(),
                            SHOAL_RECORD(v.has_record ? SHOAL_ALL_RECORDS : SHOAL_NO_RECORD)));
      check(v, all);
      all.array.fill(-3);
      ok(read_alone(file_, v.number, all));
      check(v, all);
      BoxOf some = own_box(v, SHOAL_DOUBLE);
      ok(read_alone(file_, v.number, some));
      check(v, some);
    }
  }

  // Each rank knows its own tile.
  void share(Variable& v) {
    for (auto& record : v.records) {
      std::vector<double> mine(record.size(), 0), all(record.size(), 0);
      for_cells(tile(), [&](const Dims& index) {
        const auto at = static_cast<std::size_t>(position_in(index, Box::whole(v.shape)));
        mine[at] = record[at];
      });
      MPI_Allreduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM,
                    MPI_COMM_WORLD);
      record = all;
    }
  }

  std::mt19937 random_, own_random_;  // the same on all ranks; this rank's
  bool fills_;
  std::vector<Box> tiles_;
  std::unique_ptr<Cut> cut_;
  shoal_dataset* file_ = nullptr;
  std::int64_t length_ = 0;
  std::vector<Variable> variables_;
};

}  // namespace

TEST_CASE("independent: any sequence of calls leaves what the program wrote last") {
  if (skipped(has_them(), "no calls of a rank alone")) return;
  for (const auto& format : formats())
    for (const std::string more : {"", ", background=thread", ", ranks_per_node=2", ", direct_bytes=1",
                                   ", slot_bytes=4096, ranks_per_node=1", ", fill=false"}) {
      const std::string settings = "format=" + format + more;
      CAPTURE(settings);
      for (unsigned seed = 1; seed <= 4; ++seed) {
        CAPTURE(seed);
        Sequence(settings, seed).run(4);
      }
    }
}

TEST_CASE("independent: a rank waits for nobody") {
  if (skipped(has_them(), "no calls of a rank alone")) return;
  std::mt19937 random(5);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format).c_str(), &file));
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "x", 100);
    shoal_variable v = -1, r = -1;
    ok(shoal_def_var(file, "v", SHOAL_INT, "x", nullptr));
    ok(shoal_def_var(file, "r", SHOAL_FLOAT, "time x", nullptr));
    ok(shoal_find_var(file, "v", &v));
    ok(shoal_find_var(file, "r", &r));
    TestArray row(SHOAL_INT, {100});
    row.fill(1);
    ok(shoal_put(file, "r", row.c(), SHOAL_RECORD(1)));
    for (const int at_work : {world_size() - 1, 0}) {
      ok(shoal_sync(file, 0));
      if (world_rank() == at_work)  // the others sleep in MPI meanwhile
        for (std::int64_t i = 0; i < 100; ++i) {
          BoxOf one(SHOAL_DOUBLE, Box({i}, {1}), random);
          one.array.set({0}, static_cast<double>(i + at_work));
          ok(write_alone(file, v, one));
          BoxOf of_record(SHOAL_INT, Box({0, i}, {2, 1}), random);
          of_record.array.set({0, 0}, static_cast<double>(-i));
          of_record.array.set({1, 0}, static_cast<double>(at_work));
          ok(write_alone(file, r, of_record));
          BoxOf back(SHOAL_DOUBLE, Box({0}, {i + 1}), random);
          ok(read_alone(file, v, back));
          CHECK(back.array.get({i}) == static_cast<double>(i + at_work));
        }
      MPI_Barrier(MPI_COMM_WORLD);
      ok(shoal_sync(file, 0));
      BoxOf all(SHOAL_DOUBLE, Box({0, 0}, {2, 100}), random);
      ok(read_alone(file, r, all));
      int wrong = 0;
      for (std::int64_t i = 0; i < 100; ++i)
        wrong += all.array.get({0, i}) != static_cast<double>(-i) || all.array.get({1, i}) != at_work ? 1 : 0;
      CHECK(wrong == 0);
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("independent: a write of one rank, or of none, and scalars and text") {
  if (skipped(has_them(), "no calls of a rank alone")) return;
  std::mt19937 random(6);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format).c_str(), &file));
    def_dim(file, "n", 4);
    shoal_variable number = -1, text = -1;
    ok(shoal_def_var(file, "number", SHOAL_DOUBLE, "", nullptr));
    ok(shoal_def_var(file, "text", SHOAL_CHAR, "n", nullptr));
    ok(shoal_find_var(file, "number", &number));
    ok(shoal_find_var(file, "text", &text));
    ok(shoal_end_define(file));
    ok(shoal_write_independent(file, 0, nullptr));
    char letters[] = "abcd";
    double value = 42.5;
    const std::int64_t first = 0, four = 4, two = 2, one = 1, none = 0;
    shoal_box boxes[] = {
        {sizeof(shoal_box), number, 0, nullptr, nullptr, nullptr, scalar(value, SHOAL_DOUBLE)},
        {sizeof(shoal_box), text, 1, &first, &four, nullptr, shoal_array_of(letters, SHOAL_CHAR, 1, &four)},
        {sizeof(shoal_box), text, 1, &one, &one, &two, shoal_array_of(letters + 3, SHOAL_CHAR, 1, &one)},
        {sizeof(shoal_box), text, 1, &four, &none, &two, {}}};
    if (world_rank() == world_size() - 1) ok(shoal_write_independent(file, 4, boxes));
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    char got[5] = "....";
    double read = 0;
    const shoal_array into = scalar(read, SHOAL_DOUBLE);
    boxes[0].array = into;
    boxes[1].array = shoal_array_of(got, SHOAL_CHAR, 1, &four);
    ok(shoal_read_independent(file, 2, boxes));
    CHECK(read == 42.5);
    CHECK(std::string(got) == "adcd");
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("independent: values that do not fit are reported in the call, and all others written") {
  if (skipped(has_them(), "no calls of a rank alone")) return;
  std::mt19937 random(7);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format).c_str(), &file));
    def_dim(file, "x", 6);
    shoal_variable v = -1;
    ok(shoal_def_var(file, "v", SHOAL_SHORT, "x", nullptr));
    ok(shoal_find_var(file, "v", &v));
    for (const bool again : {false, true}) {
      ok(shoal_sync(file, 0));
      if (world_rank() == 0) {
        BoxOf box(SHOAL_DOUBLE, {1}, {3}, {2}, random);
        box.array.set({0}, 1);
        box.array.set({1}, 70000);
        box.array.set({2}, 3);
        fails(write_alone(file, v, box), SHOAL_RANGE, {"70000", "index [3]", "short", k_path, "v"});
        CHECK(std::string(shoal_error_variable()) == "v");
        CHECK(std::string(shoal_error_file()) == k_path);
      }
      ok(shoal_sync(file, 0));  // nothing more of it
      CAPTURE(again);
      TestArray all(SHOAL_INT, {6});
      ok(shoal_get(file, "v", all.c(), nullptr));
      const double none = fill_value(SHOAL_SHORT);
      const double must[] = {none, 1, none, none, none, 3};
      for (std::int64_t i = 0; i < 6; ++i)
        CHECK(all.get({i}) == must[i]);
      BoxOf bytes(SHOAL_BYTE, {1}, {3}, {2}, random);
      fails(read_alone(file, v, bytes), SHOAL_RANGE, {"index [3]", "byte"});
      CHECK(bytes.array.get({0}) == 1);
      CHECK(bytes.array.get({2}) == 3);
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("independent: what cannot be is refused at once, and nothing is written") {
  if (skipped(!stores_whole(), "no calls of a rank alone")) return;
  std::mt19937 random(8);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format).c_str(), &file));
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "x", 6);
    const Dims all{6};
    const std::int64_t share = (6 + world_size() - 1) / world_size();
    const std::int64_t first = std::min<std::int64_t>(6, share * world_rank());
    const Cut cut(MPI_COMM_WORLD, all, Box({first}, {std::min(share, 6 - first)}), {0}, {0});
    shoal_variable v = -1, r = -1;
    ok(shoal_def_var(file, "v", SHOAL_INT, "x", cut.handle()));
    ok(shoal_def_var(file, "r", SHOAL_INT, "time x", cut.handle()));
    ok(shoal_find_var(file, "v", &v));
    ok(shoal_find_var(file, "r", &r));
    BoxOf box(SHOAL_INT, Box({0}, {6}), random);
    box.array.fill(4);
    if (!has_them()) {
      ok(shoal_end_define(file));
      fails(write_alone(file, v, box), SHOAL_NOT_SUPPORTED, {driver(), "driver native", "all ranks"});
      fails(read_alone(file, v, box), SHOAL_NOT_SUPPORTED, {driver()});
      if (!in_one_file()) CHECK(std::string(shoal_error_message()).find(layout()) != std::string::npos);
      ok(shoal_close(&file, 0));
      continue;
    }
    fails(write_alone(file, v, box), SHOAL_STATE, {"end_define"});
    ok(shoal_end_define(file));
    if (world_rank() == world_size() - 1) {
      BoxOf record(SHOAL_INT, Box({0, 0}, {1, 6}), random);
      fails(write_alone(file, r, record), SHOAL_STATE, {"time", "cannot make it longer", "all ranks"});
      fails(read_alone(file, r, record), SHOAL_NOT_FOUND, {"time"});
      BoxOf beyond(SHOAL_INT, {2}, {3}, {2}, random);
      fails(write_alone(file, v, beyond), SHOAL_INVALID_ARGUMENT, {"starts at 2", "ends at 6", "'x'"});
      fails(write_alone(file, 99, box), SHOAL_INVALID_ARGUMENT, {"there is no variable 99"});
      fails(write_alone(file, r, box), SHOAL_INVALID_ARGUMENT, {"1 dimensions", "has 2"});
      shoal_box other = box.c(v);
      const std::int64_t five = 5, minus = -1;
      other.count = &five;
      fails(shoal_write_independent(file, 1, &other), SHOAL_INVALID_ARGUMENT, {"extents 6", "expected 5"});
      other.count = &minus;
      fails(shoal_write_independent(file, 1, &other), SHOAL_INVALID_ARGUMENT, {"counts -1"});
      const char* word = "word";
      other = box.c(v);
      other.array = shoal_array_of(&word, SHOAL_STRING, 1, all.data());
      fails(shoal_write_independent(file, 1, &other), SHOAL_NOT_SUPPORTED, {"strings"});
      // The first box is good, and is not written either.
      shoal_box two[] = {box.c(v), other};
      fails(shoal_write_independent(file, 2, two), SHOAL_NOT_SUPPORTED);
    }
    ok(shoal_sync(file, 0));
    TestArray got(SHOAL_INT, all);
    ok(shoal_get(file, "v", got.c(), nullptr));
    CHECK(got.others(fill_value(SHOAL_INT)) == 0);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    fails(write_alone(file, v, box), SHOAL_STATE, {"reading"});
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("independent: compressed variables can be read alone, and not written") {
  if (skipped(has_them() && has_full_format(), "no calls of a rank alone, or no compression")) return;
  std::mt19937 random(9);
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings().c_str(), &file));
  def_dim(file, "x", 30);
  shoal_variable v = -1;
  ok(shoal_def_var(file, "v", SHOAL_INT, "x", nullptr));
  ok(shoal_def_compression(file, "v", "deflate:1"));
  fails(shoal_def_independent(file, "v"), SHOAL_NOT_SUPPORTED,
        {full_format() == "zarr" ? "gzip:1" : "deflate:1", "all ranks"});
  ok(shoal_def_var(file, "w", SHOAL_INT, "x", nullptr));
  ok(shoal_def_independent(file, "w"));
  fails(shoal_def_compression(file, "w", "deflate:1"), SHOAL_NOT_SUPPORTED, {"all ranks"});
  ok(shoal_find_var(file, "v", &v));
  TestArray values(SHOAL_INT, {30});
  for (std::int64_t i = 0; i < 30; ++i)
    values.set({i}, static_cast<double>(7 * i));
  ok(shoal_put(file, "v", values.c(), nullptr));
  BoxOf box(SHOAL_INT, {3}, {9}, {3}, random);
  fails(write_alone(file, v, box), SHOAL_NOT_SUPPORTED, {"compressed", "all ranks"});
  fails(read_alone(file, v, box), SHOAL_STATE, {"sync"});
  for (const bool again : {false, true}) {
    CAPTURE(again);
    if (again) {
      ok(shoal_close(&file, 0));
      ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    } else {
      ok(shoal_sync(file, 0));
    }
    ok(read_alone(file, v, box));
    for (std::int64_t i = 0; i < 9; ++i)
      CHECK(box.array.get({i}) == static_cast<double>(7 * (3 + 3 * i)));
  }
  ok(shoal_close(&file, 0));
}

TEST_CASE("independent: what waits for a sync has a limit, which the message names") {
  if (skipped(has_them(), "no calls of a rank alone")) return;
  std::mt19937 random(10);
  for (const auto& format : formats()) {
    CAPTURE(format);
    constexpr std::int64_t k_cells = 1 << 20;
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("stage_bytes=1MiB, format=" + format).c_str(), &file));
    def_dim(file, "x", k_cells);
    shoal_variable waits = -1, goes = -1;
    ok(shoal_def_var(file, "waits", SHOAL_DOUBLE, "x", nullptr));
    ok(shoal_def_var(file, "goes", SHOAL_DOUBLE, "x", nullptr));
    ok(shoal_def_independent(file, "goes"));
    ok(shoal_find_var(file, "waits", &waits));
    ok(shoal_find_var(file, "goes", &goes));
    ok(shoal_end_define(file));
    const bool mine = world_rank() == world_size() - 1;
    BoxOf box(SHOAL_DOUBLE, Box({0}, {k_cells}), random);
    box.array.fill(5);
    BoxOf one(SHOAL_DOUBLE, Box({7}, {1}), random);
    if (mine) {
      ok(write_alone(file, waits, one));
      fails(write_alone(file, waits, box), SHOAL_STATE, {"def_independent", "stage_bytes", "sync"});
      ok(write_alone(file, goes, box));
    }
    ok(shoal_sync(file, 0));
    if (mine) ok(write_alone(file, waits, box));  // it has its place now
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    for (const shoal_variable v : {waits, goes}) {
      box.array.fill(0);
      ok(read_alone(file, v, box));
      CHECK(box.array.others(5) == 0);
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("independent: a file that is dropped has what the last sync had") {
  if (skipped(has_them(), "no calls of a rank alone")) return;
  std::mt19937 random(11);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format).c_str(), &file));
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "x", 6);
    shoal_variable r = -1;
    ok(shoal_def_var(file, "r", SHOAL_INT, "time x", nullptr));
    ok(shoal_find_var(file, "r", &r));
    TestArray row(SHOAL_INT, {6});
    row.fill(1);
    ok(shoal_put(file, "r", row.c(), SHOAL_RECORD(0)));
    ok(shoal_sync(file, 1));
    ok(shoal_put(file, "r", row.c(), SHOAL_RECORD(1)));
    BoxOf box(SHOAL_INT, Box({1, 1}, {1, 3}), random);
    box.array.fill(2);
    if (world_rank() == 0) ok(write_alone(file, r, box));
    MPI_Barrier(MPI_COMM_WORLD);
    shoal_abandon(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    std::int64_t records = 0;
    ok(shoal_num_records(file, "r", &records));
    CHECK(records == 1);
    ok(shoal_get(file, "r", row.c(), SHOAL_RECORD(0)));
    CHECK(row.others(1) == 0);
    ok(shoal_close(&file, 0));
  }
}
