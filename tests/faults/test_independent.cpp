// SPDX-License-Identifier: BSD-3-Clause
// A rank that writes alone on a disk that fails: it hears at once, or all ranks at the next sync; and durable
// syncs have what it wrote on the device.
#include "faults/support.hpp"
#include "support/watched_store.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr std::int64_t k_cells = 100000;

/// A fixed variable; at_once: it has its place as soon as it is defined.
std::unique_ptr<Dataset> new_file(const std::string& format, bool at_once, const DatasetOptions& options) {
  DatasetOptions all = options;
  all.settings = "format=" + format;
  auto file = Dataset::create(MPI_COMM_WORLD, "independent.nc", all);
  file->def_dim("x", k_cells);
  file->def_var("v", Type::double_, "x", nullptr);
  if (at_once) file->def_independent("v");
  file->end_define();
  return file;
}

struct Cells {
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(k_cells), 1.5);

  std::vector<BoxArgument> all() { return {box(0, k_cells)}; }
  BoxArgument box(std::int64_t first, std::int64_t n) {
    BoxArgument out{0, {first}, {n}, {1}, {}};
    out.array.cells = ArrayView::contiguous(values.data(), Type::double_, {n});
    return out;
  }
};

}  // namespace

TEST_CASE("independent: a full disk is reported in the call, and the file can be used on") {
  const Quick quick;
  for (const std::string format : {"cdf5", "netcdf4"}) {
    CAPTURE(format);
    const int last = world_size() - 1;
    DatasetOptions options;
    if (world_rank() == last && last > 0) options.open_store = with_fault_in_data({"write", 0, 1});
    const auto file = new_file(format, true, options);
    Cells cells;
    if (world_rank() == last && last > 0) {
      const Outcome outcome = outcome_of([&] { file->write_independent(cells.all()); });
      CHECK(outcome.code == Code::no_space);
      CHECK(outcome.message.find("independent.nc") != std::string::npos);
      CHECK(outcome_of([&] { file->write_independent(cells.all()); }).code == Code::ok);
    } else if (last == 0) {
      file->write_independent(cells.all());
    }
    all_ok(outcome_of([&] { file->sync(false); }));
    Cells got;
    std::fill(got.values.begin(), got.values.end(), 0.0);
    file->read_independent(got.all());
    CHECK(got.values == cells.values);
    file->close(false);
  }
}

TEST_CASE("independent: what waited and could not be stored is reported by the sync, on all ranks") {
  const Quick quick;
  for (const std::string format : {"cdf5", "netcdf4"}) {
    CAPTURE(format);
    const int last = world_size() - 1;
    if (last == 0) continue;
    DatasetOptions options;
    // Ranks fill in turn, and this one may have a part.
    if (world_rank() == last) options.open_store = with_fault_in_data({"write", 0, -1});
    const auto file = new_file(format, false, options);
    Cells cells;
    if (world_rank() == last) file->write_independent(cells.all());
    all_got(outcome_of([&] { file->sync(false); }), Code::no_space, {"v", "independent.nc"});
    if (world_rank() == last)
      CHECK(outcome_of([&] { file->write_independent({cells.box(3, 1)}); }).code == Code::no_space);
    all_ok(outcome_of([&] { file->close(false); }));
  }
}

TEST_CASE("independent: a durable sync has what this rank wrote alone on the device") {
  for (const std::string format : {"cdf5", "netcdf4"}) {
    CAPTURE(format);
    const int last = world_size() - 1;
    int synced = 0, written = 0;
    DatasetOptions options;
    if (world_rank() == last && last > 0)
      options.open_store = watched({[&](std::uint64_t, std::size_t) { ++written; }, {}, [&] { ++synced; }});
    const auto file = new_file(format, true, options);
    file->sync(true);
    written = synced = 0;
    Cells cells;
    if (world_rank() == last) file->write_independent({cells.box(5, 2)});
    if (world_rank() == last && last > 0) CHECK(written == 1);  // with the file system, when the call returns
    if (world_rank() == last) file->write_independent({cells.box(7, 1), cells.box(50, 1)});
    file->sync(true);
    if (world_rank() == last && last > 0) {
      CHECK(written == 3);
      CHECK(synced == 1);
    }
    file->close(false);
  }
}
