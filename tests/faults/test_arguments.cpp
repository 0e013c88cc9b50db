// One rank gives bad arguments: the others take part as if nothing was, and all ranks get the same error.
#include "faults/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

int last() {
  return world_size() - 1;
}
template <class Change>
void change_array(DataCall& call, Change&& change) {
  ArrayView array = HostArray(call.array.cells).view();
  change(array);
  call.array.cells = array;
}

bool is_last() {
  return world_rank() == last();
}
std::string rank_text() {
  return "rank " + std::to_string(last());
}

struct Files {
  explicit Files(const std::string& format) : line(40) {
    DatasetOptions options;
    options.settings = "format=" + format;
    file = Dataset::create(MPI_COMM_WORLD, "faults.nc", options);
    line.define(*file);
    file->write(line.call(0));
    file->sync(false);
  }
  /// The call of one rank is spoilt; the failure comes from the call itself on one rank, else from sync.
  template <class Spoil>
  Outcome write_spoilt(Spoil&& spoil) {
    DataCall call = line.call(1);
    if (is_last()) spoil(call);
    Outcome outcome = outcome_of([&] { file->write(call); });
    if (world_size() == 1) return outcome;
    all_ok(outcome);
    return outcome_of([&] { file->sync(false); });
  }
  /// The file can be used on.
  void usable(std::int64_t record = 2) {
    all_ok(outcome_of([&] {
      file->write(line.call(record));
      file->sync(false);
      line.check(*file, 0);
      line.check(*file, record);
    }));
  }
  Line line;
  std::unique_ptr<Dataset> file;
};

}  // namespace

TEST_CASE("write: one rank names a variable that is not there") {
  for (const std::string format : {"cdf5", "netcdf4"}) {
    const Quick quick;
    Files f(format);
    all_got(f.write_spoilt([](DataCall& call) { call.variable = "vv"; }), Code::not_found,
            {"faults.nc", "vv", "did you mean 'v'"});
    f.usable();
    all_ok(outcome_of([&] { f.file->close(false); }));
  }
}

TEST_CASE("write: one rank's array has the wrong shape, type or record") {
  for (const std::string format : {"cdf5", "netcdf4"}) {
    const Quick quick;
    Files f(format);
    all_got(f.write_spoilt(
                [](DataCall& call) { change_array(call, [](ArrayView& array) { array.extents[0] += 1; }); }),
            Code::invalid_argument, {"faults.nc", "'v'", "extents", "with its halo"});
    f.usable();
    all_got(f.write_spoilt([](DataCall& call) {
      change_array(call, [](ArrayView& array) {
        array.type = Type::char_;
        array.element_size = 1;
      });
    }),
            Code::type, {"'v'", "char"});
    all_got(f.write_spoilt(
                [](DataCall& call) { change_array(call, [](ArrayView& array) { array.data = nullptr; }); }),
            Code::invalid_argument, {"'v'", "NULL"});
    all_got(f.write_spoilt([](DataCall& call) { call.section.record = -7; }), Code::invalid_argument,
            {"'v'", "-7"});
    f.usable(3);
    all_got(f.write_spoilt([](DataCall& call) { call.section.record = k_no_record; }), Code::invalid_argument,
            {"'v'", "record dimension 'time'"});
    f.usable(4);
    all_ok(outcome_of([&] { f.file->close(false); }));
  }
}

TEST_CASE("write: one rank's section is outside, or in a dimension that is cut") {
  const Quick quick;
  Files f("cdf5");
  const std::int64_t start = 3;
  const std::int64_t count = 37;
  const std::int64_t too_many = 41;
  const std::int64_t zero = 0;
  if (world_size() > 1)
    all_got(f.write_spoilt([&](DataCall& call) {
      call.section = {1, 1, &start, &count};
    }),
            Code::invalid_argument, {"'v'", "'x'", "cut"});
  all_got(f.write_spoilt([&](DataCall& call) {
    call.section = {1, 1, &zero, &too_many};
  }),
          Code::invalid_argument, {"'v'", "'x'", "41", "40"});
  f.usable();
  all_ok(outcome_of([&] { f.file->close(false); }));
}

TEST_CASE("read and get: all ranks get the error of the one that was wrong, from the call") {
  for (const std::string format : {"cdf5", "netcdf4"}) {
    const Quick quick;
    Files f(format);
    const auto read_spoilt = [&](auto&& spoil) {
      DataCall call = f.line.call(0);
      if (is_last()) spoil(call);
      return outcome_of([&] { f.file->read(call); });
    };
    all_got(read_spoilt([](DataCall& call) { call.variable = "w"; }), Code::not_found, {"faults.nc", "'w'"});
    all_got(read_spoilt([](DataCall& call) { call.section.record = 5; }), Code::not_found,
            {"'v'", "record 5", "1"});
    all_got(read_spoilt(
                [](DataCall& call) { change_array(call, [](ArrayView& array) { array.extents[0] += 5; }); }),
            Code::invalid_argument, {"'v'", "extents"});
    double values[40] = {};
    const auto get_spoilt = [&](auto&& spoil) {
      DataCall call;
      call.variable = "v";
      call.section.record = 0;
      call.array.cells = ArrayView::contiguous(values, Type::double_, {40});
      if (is_last()) spoil(call);
      return outcome_of([&] { f.file->get(call); });
    };
    all_got(get_spoilt([](DataCall& call) { call.variable = "vw"; }), Code::not_found, {"'vw'"});
    all_got(get_spoilt(
                [](DataCall& call) { change_array(call, [](ArrayView& array) { array.extents[0] = 39; }); }),
            Code::invalid_argument, {"39", "40"});
    all_ok(get_spoilt([](DataCall&) {}));
    for (int i = 0; i < 40; ++i)
      CHECK(values[i] == i);
    f.usable();
    all_ok(outcome_of([&] { f.file->close(false); }));
  }
}

TEST_CASE("put: a bad call of rank 0, and of another rank") {
  const Quick quick;
  Files f("cdf5");
  f.file->def_dim("n", 3);
  f.file->def_var("r", Type::int_, "n", nullptr);
  int values[3] = {1, 2, 3};
  for (const int culprit : {0, last()}) {
    DataCall call;
    call.variable = world_rank() == culprit ? "q" : "r";
    call.array.cells = ArrayView::contiguous(values, Type::int_, {3});
    Outcome outcome = outcome_of([&] { f.file->put(call); });
    if (world_size() > 1) outcome = outcome_of([&] { f.file->sync(false); });
    all_got(outcome, Code::not_found, {"faults.nc", "'q'"});
  }
  // Other ranks' arrays are not looked at.
  DataCall call;
  call.variable = "r";
  call.array.cells =
      ArrayView::contiguous(world_rank() == 0 ? values : nullptr, Type::int_, {world_rank() == 0 ? 3 : 99});
  all_ok(outcome_of([&] {
    f.file->put(call);
    f.file->sync(false);
  }));
  f.usable();
  all_ok(outcome_of([&] { f.file->close(false); }));
}

TEST_CASE("a decomposition that does not belong to the dataset, and tiles that do") {
  const Quick quick;
  Files f("netcdf4");
  if (world_size() > 1) {
    const Comm self(MPI_COMM_SELF);
    const auto lone = Decomposition::block(self, {40}, Box({0}, {40}), Dims(1), Dims(1));
    DataCall call = f.line.call(1);
    if (world_size() > 1) call.decomposition = lone;
    all_got(outcome_of([&] { f.file->write(call); }), Code::invalid_argument, {"faults.nc", "communicator"});
  }
  f.usable();
  all_ok(outcome_of([&] { f.file->close(false); }));
}

TEST_CASE("tiles that overlap or stick out are refused on all ranks") {
  const Quick quick;
  const std::int64_t n = 4 * world_size();
  const auto make = [&](std::int64_t first, std::int64_t count) {
    shoal_decomposition* cut = nullptr;
    const int code = shoal_block(MPI_COMM_WORLD, 1, &n, &first, &count, nullptr, nullptr, &cut);
    CHECK(cut == nullptr);
    shoal_decomposition_free(&cut);
    return code;
  };
  if (world_size() > 1) {
    const int code = make(is_last() ? 4 * last() - 1 : 4 * world_rank(), 4);
    fails(code, SHOAL_OVERLAP, {"[" + std::to_string(4 * last() - 1)});
    testing::alike(code);
  }
  const int code = make(4 * world_rank(), is_last() ? 5 : 4);
  fails(code, SHOAL_INVALID_ARGUMENT, {rank_text()});
  testing::alike(code);
}

TEST_CASE("opening: a missing file, a folder in the way, different arguments, bad settings") {
  const Quick quick;
  shoal_dataset* file = nullptr;
  const auto check = [&](int code, int expected, const std::vector<std::string>& words) {
    fails(code, expected, words);
    testing::alike(code);
    CHECK(file == nullptr);
  };
  check(shoal_open(MPI_COMM_WORLD, "nowhere.nc", SHOAL_READ, nullptr, &file), SHOAL_NOT_FOUND,
        {"nowhere.nc"});
  check(shoal_create(MPI_COMM_WORLD, "no-such-folder/x.nc", nullptr, &file), SHOAL_NOT_FOUND,
        {"no-such-folder"});
  check(shoal_create(MPI_COMM_WORLD, "/proc/shoal-test.nc", nullptr, &file), SHOAL_NOT_FOUND, {"/proc"});
  check(shoal_create(MPI_COMM_WORLD, "x.nc", "stage_byte=1MiB", &file), SHOAL_SETTING,
        {"stage_byte", "did you mean 'stage_bytes'"});
  check(shoal_create(MPI_COMM_WORLD, "x.nc", "driver=adios", &file), SHOAL_SETTING, {"adios", "native"});
  check(shoal_create(MPI_COMM_WORLD, "x.nc", "format=netcdf5", &file), SHOAL_SETTING, {"netcdf5"});
  check(shoal_create(MPI_COMM_WORLD, is_last() ? nullptr : "x.nc", nullptr, &file), SHOAL_INVALID_ARGUMENT,
        {"path"});
  if (world_size() > 1) {
    check(shoal_create(MPI_COMM_WORLD, is_last() ? "y.nc" : "x.nc", nullptr, &file), SHOAL_OUT_OF_STEP,
          {"x.nc", "y.nc"});
    check(shoal_create(MPI_COMM_WORLD, "x.nc", is_last() ? "fill=false" : "", &file), SHOAL_OUT_OF_STEP,
          {"fill=false"});
    check(shoal_open(MPI_COMM_WORLD, "x.nc", is_last() ? SHOAL_READ : SHOAL_WRITE, "", &file),
          SHOAL_OUT_OF_STEP, {"read"});
  }
  if (world_rank() == 0) fclose(fopen("junk.nc", "w"));
  MPI_Barrier(MPI_COMM_WORLD);
  check(shoal_open(MPI_COMM_WORLD, "junk.nc", SHOAL_READ, nullptr, &file), SHOAL_FORMAT, {"junk.nc"});
  check(shoal_create(MPI_COMM_WORLD, "junk.nc", "exists=error", &file), SHOAL_EXISTS, {"junk.nc"});
  check(shoal_open(MPI_COMM_WORLD, "junk.nc", 7, nullptr, &file), SHOAL_INVALID_ARGUMENT, {"7"});
}

TEST_CASE("ranks that make different calls find out at sync") {
  if (world_size() == 1) return;
  const Quick quick;
  Files f("cdf5");
  Outcome outcome;
  if (is_last()) {
    f.file->def_dim("mine", 5);
    outcome = outcome_of([&] { f.file->sync(false); });
  } else {
    outcome = outcome_of([&] { f.file->sync(false); });
  }
  all_got(outcome, Code::out_of_step, {"faults.nc", rank_text()});
  f.usable();
  all_ok(outcome_of([&] { f.file->close(false); }));
}
