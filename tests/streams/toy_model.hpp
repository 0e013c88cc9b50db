// A model without physics: each value is known from the step and the cell, on every rank.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dataset/dataset.hpp"
#include "streams/streams.hpp"

namespace shoal::testing {

using namespace shoal::streams;

inline const Comm& world() {
  static const Comm* const k_comm = new Comm(MPI_COMM_WORLD);  // MPI is gone when statics are destroyed
  return *k_comm;
}

/// A folder for all ranks, which goes away with the test.
class SharedFolder {
 public:
  SharedFolder() {
    const Bytes name = world().from_root([] {
      std::string made = (std::filesystem::temp_directory_path() / "shoal_streams_XXXXXX").string();
      if (::mkdtemp(made.data()) == nullptr) throw Error(Code::io, "no folder for the test");
      Bytes out(made.size());
      std::memcpy(out.data(), made.data(), made.size());
      return out;
    });
    path_.assign(reinterpret_cast<const char*>(name.data()), name.size());
  }
  ~SharedFolder() {
    world().barrier();
    std::error_code ignored;
    if (world().rank() == 0) std::filesystem::remove_all(path_, ignored);
    world().barrier();
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline constexpr std::int64_t k_levels = 3, k_rows = 5, k_columns = 11;
inline constexpr double k_missing = -999.0;

/// Of a field at a step, from 1.
inline double value(int field, std::int64_t step, std::int64_t lev, std::int64_t y, std::int64_t x) {
  const double wave = std::sin(0.37 * static_cast<double>(step * 7 + lev * 5 + y * 3 + x + field * 11));
  return 10.0 * wave + static_cast<double>(x) * 0.25;
}
inline bool is_land(std::int64_t y, std::int64_t x) {
  return (y * k_columns + x) % 7 == 3;
}
/// Cells that are missing now and then.
inline bool is_missing(std::int64_t step, std::int64_t y, std::int64_t x) {
  return (step + y + x) % 4 == 0 || x == 2;
}

/// How the model is cut.
enum class Cut { columns, rows, map };

inline std::shared_ptr<const Decomposition> cut(const Comm& comm, Cut how, bool masked) {
  const std::int64_t ranks = comm.size(), rank = comm.rank();
  const Dims global{k_rows, k_columns};
  std::shared_ptr<const Decomposition> out;
  if (how == Cut::map) {
    std::vector<std::int64_t> cells;
    for (std::int64_t i = k_rows * k_columns - 1; i >= 0; --i)
      if (i % ranks == rank) cells.push_back(i);
    cells.insert(cells.begin() + static_cast<std::ptrdiff_t>(cells.size() / 2), k_hole);
    out = Decomposition::map(comm, global, 0, cells);
    if (!masked) return out;
    CellMask mask(Dims{static_cast<std::int64_t>(cells.size())});
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (cells[i] != k_hole && is_land(cells[i] / k_columns, cells[i] % k_columns))
        mask.set_masked(static_cast<std::int64_t>(i));
    return Decomposition::masked(comm, out.get(), std::move(mask));
  }
  const int d = how == Cut::columns ? 1 : 0;
  const std::int64_t length = global[d];
  // Uneven, and with seven ranks some have no row.
  const std::int64_t first = length * rank * rank / (ranks * ranks),
                     end = length * (rank + 1) * (rank + 1) / (ranks * ranks);
  Box tile = Box::whole(global);
  tile.first[d] = first;
  tile.count[d] = end - first;
  out = Decomposition::block(comm, global, tile, {1, 2}, {2, 1});
  if (!masked) return out;
  CellMask mask(tile.count);
  for (std::int64_t i = 0; i < mask.cells(); ++i) {
    const Dims at = unravel(i, tile.count);
    if (is_land(tile.first[0] + at[0], tile.first[1] + at[1])) mask.set_masked(i);
  }
  return Decomposition::masked(comm, out.get(), std::move(mask));
}

/// Where this rank's cells lie, in the order of its arrays; -1: a hole.
inline std::vector<std::int64_t> cells_of(const Decomposition& d) {
  std::vector<std::int64_t> cells;
  if (const IndexMap* map = d.map()) {
    cells.assign(static_cast<std::size_t>(map->local_cells()), k_hole);
    map->for_each_run(0, k_rows * k_columns, [&](const IndexMap::Run& run) {
      for (std::int64_t i = 0; i < run.length; ++i)
        cells[static_cast<std::size_t>(run.local + i)] = run.global + i;
    });
    return cells;
  }
  for (std::int64_t i = 0; i < d.tile().cells(); ++i) {
    const Dims at = unravel(i, d.tile().count);
    cells.push_back((d.tile().first[0] + at[0]) * k_columns + d.tile().first[1] + at[1]);
  }
  return cells;
}

/// What a run is like.
struct Run {
  std::string configuration;
  std::string calendar = "standard", start = "2001-01-30 06:00:00";
  std::vector<double> steps;  ///< lengths in seconds
  Cut how = Cut::columns;
  bool masked = true, halo = false;
  std::size_t first = 0, end = 0;  ///< steps of this job; end 0: all
  bool now_as_length = false;      ///< since the start, not as a date
  std::string resume, checkpoint;
  std::function<bool(const std::string& field, std::size_t step)> sends;  ///< nothing: all
  FileMaker maker;
  double longitudes = 1;  ///< a factor of them
};

/// Describes and runs; fields: temp (float: lev y x, group ocean), zeta (double: y x, missing now and then),
/// rain (float: y x, for the step), total (double, no grid), count (int: y x).
class Toy {
 public:
  explicit Toy(const Run& run, const Comm& comm = world()) : run_(run), comm_(comm) {
    StreamsOptions options;
    options.configuration = run.configuration;
    options.calendar = run.calendar;
    options.start = run.start;
    options.maker = run.maker;
    if (run.first > 0) options.now = run.now_as_length ? length(run.first) : date(run.first);
    streams = Streams::open(comm.handle(), options);
    grid = cut(comm, run.how, run.masked);
    describe();
    for (std::size_t i = 0; i < run.first; ++i)
      seconds += run.steps[i];
    if (!run.resume.empty()) streams->resume(run.resume);
  }

  std::string date(std::size_t step) const {
    double all = 0;
    for (std::size_t i = 0; i < step; ++i)
      all += run_.steps[i];
    const Calendar calendar = Calendar::of(run_.calendar);
    Instant at = calendar.parse(run_.start);
    at.microseconds += std::llround(all * 1e6);
    return calendar.text(at);
  }

  std::string length(std::size_t step) const {
    const double all = std::accumulate(run_.steps.begin(), run_.steps.begin() + static_cast<long>(step), 0.0);
    return std::to_string(all) + " s";
  }

  /// All steps of the job, checkpoint or not, close.
  void go() {
    const std::size_t end = run_.end == 0 ? run_.steps.size() : run_.end;
    for (std::size_t step = run_.first; step < end; ++step)
      advance_and_send(step);
    if (!run_.checkpoint.empty()) streams->checkpoint(run_.checkpoint);
    streams->close();
  }
  void advance_and_send(std::size_t step) {
    seconds += run_.steps[step];
    streams->advance(seconds);
    send_all(step);
  }
  /// As a model that goes on after an error of advance, which it returns.
  Status advance_and_send_anyway(std::size_t step) {
    seconds += run_.steps[step];
    const Status status = caught([&] { streams->advance(seconds); });
    send_all(step);
    return status;
  }
  void send_all(std::size_t step) {
    for (const char* name : {"temp", "zeta", "rain", "total", "count"})
      if (!run_.sends || run_.sends(name, step)) send(name, static_cast<std::int64_t>(step) + 1);
  }

  void send(const std::string& name, std::int64_t step) {
    const int field = numbers.at(name);
    if (name == "total") {
      double one = value(field, step, 0, 0, 0);
      streams->send(field, {ArrayView::contiguous(&one, Type::double_, {}), {}});
      return;
    }
    const std::int64_t levels = name == "temp" ? k_levels : 1;
    const bool with_halo = run_.halo && grid->map() == nullptr;
    Dims extents = grid->map() != nullptr ? Dims{grid->map()->local_cells()}
                   : with_halo            ? grid->local_shape()
                                          : grid->tile().count;
    if (grid->tile().empty()) extents = Dims(extents.size());
    const std::int64_t horizontal = volume(extents);
    // Garbage where nobody looks.
    std::vector<float> floats(static_cast<std::size_t>(levels * horizontal), 1e30F);
    std::vector<double> doubles(floats.size(), 1e300);
    std::vector<std::int32_t> whole(floats.size(), 12345);
    const auto cells = grid->tile().empty() ? std::vector<std::int64_t>{} : cells_of(*grid);
    for (std::int64_t lev = 0; lev < levels; ++lev)
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i] == k_hole) continue;
        const std::int64_t y = cells[i] / k_columns, x = cells[i] % k_columns;
        if (run_.masked && is_land(y, x)) continue;
        std::int64_t at = static_cast<std::int64_t>(i);
        if (with_halo) at = (y - grid->tile().first[0] + 1) * extents[1] + x - grid->tile().first[1] + 2;
        const auto to = static_cast<std::size_t>(lev * horizontal + at);
        const double v = name == "zeta" && is_missing(step, y, x) ? k_missing : value(field, step, lev, y, x);
        floats[to] = static_cast<float>(v);
        doubles[to] = v;
        whole[to] = static_cast<std::int32_t>(v);
      }
    const Dims all = name == "temp" ? joined(Dims{levels}, extents) : extents;
    ArrayView view = ArrayView::contiguous(floats.data(), Type::float_, all);
    if (name == "zeta") view = ArrayView::contiguous(doubles.data(), Type::double_, all);
    if (name == "count") view = ArrayView::contiguous(whole.data(), Type::int_, all);
    streams->send(field, {view, {}});
  }

  std::unique_ptr<Streams> streams;
  std::shared_ptr<const Decomposition> grid;
  std::map<std::string, int> numbers;
  double seconds = 0;

 private:
  void describe() {
    Descriptions& model = streams->descriptions();
    std::vector<double> depths = {5, 20, 60}, ends = {0, 10, 10, 30, 30, 90};
    const ArrayView bounds = ArrayView::contiguous(ends.data(), Type::double_, {k_levels, 2});
    model.add_axis("lev", ArrayView::contiguous(depths.data(), Type::double_, {k_levels}), &bounds);
    std::vector<double> lats(k_rows);
    std::iota(lats.begin(), lats.end(), 10.0);
    model.add_axis("y", ArrayView::contiguous(lats.data(), Type::double_, {k_rows}), nullptr);
    model.add_grid("sea", "y x", grid);
    const auto cells = grid->tile().empty() ? std::vector<std::int64_t>{} : cells_of(*grid);
    std::vector<double> lon, area;
    for (const std::int64_t cell : cells) {
      lon.push_back(cell == k_hole ? 0.0
                                   : run_.longitudes * (340.0 + 4.0 * static_cast<double>(cell % k_columns)));
      area.push_back(cell == k_hole ? 0.0 : 1.0 + static_cast<double>(cell % 3));
    }
    const Dims own =
        grid->tile().empty() ? Dims(grid->map() != nullptr ? 1 : 2) : own_extents({}, grid.get());
    model.add_grid_variable("sea", "lon", ArrayView::contiguous(lon.data(), Type::double_, own), false);
    put_text("lon", "units", "degrees_east");
    model.add_grid_variable("sea", "area", ArrayView::contiguous(area.data(), Type::double_, own), true);
    numbers["temp"] = model.add_field("temp", Type::float_, "lev y x", "sea", "ocean", false);
    put_text("temp", "units", "K");
    numbers["zeta"] = model.add_field("zeta", Type::double_, "y x", "sea", "", false);
    model.put_att("zeta", "_FillValue", Type::double_, 1, &k_missing);
    numbers["rain"] = model.add_field("rain", Type::float_, "y x", "sea", "", true);
    numbers["total"] = model.add_field("total", Type::double_, "", "", "", false);
    numbers["count"] = model.add_field("count", Type::int_, "y x", "sea", "", false);
  }
  void put_text(const char* of, const char* name, const std::string& text) {
    streams->descriptions().put_att(of, name, Type::char_, static_cast<std::int64_t>(text.size()),
                                    text.data());
  }

  Run run_;
  const Comm& comm_;
};

/// All values of a variable, and its shape; the same on every rank. Collective.
struct Read {
  std::vector<double> values;
  Dims shape;
  Type type = Type::none;
  std::vector<std::string> dims;
  std::map<std::string, std::string> texts;  ///< attributes
};
inline Read read_variable(const std::string& path, const std::string& name) {
  DatasetOptions options;
  options.sources = {"", ""};
  const auto file = Dataset::open(MPI_COMM_WORLD, path, false, options);
  const int index = file->schema().find_variable(name);
  if (index < 0) throw Error(Code::not_found, "no variable {}", name).in_file(path);
  const VariableDef& variable = file->schema().variable(index);
  Read out;
  out.shape = file->schema().shape(index);
  out.type = variable.type;
  for (const int d : variable.dims)
    out.dims.push_back(file->schema().dim(d).name);
  for (const auto& attribute : variable.attributes)
    if (attribute.type == Type::char_)
      out.texts[attribute.name] = {reinterpret_cast<const char*>(attribute.data.data()),
                                   attribute.data.size()};
  out.values.resize(static_cast<std::size_t>(volume(out.shape)));
  DataCall call;
  call.variable = name;
  call.array.cells = ArrayView::contiguous(out.values.data(), Type::double_, out.shape);
  if (file->schema().has_record(index)) call.section.record = k_all_records;
  file->get(call);
  file->close(false);
  return out;
}

/// Steps whose ends fall on the ends of days, uneven in between.
inline std::vector<double> uneven_steps(int days, unsigned seed, double first_day_seconds) {
  std::mt19937 random(seed);
  std::vector<double> steps;
  for (int day = 0; day < days; ++day) {
    double left = day == 0 ? first_day_seconds : 86400.0;
    while (left > 0) {
      const double step =
          std::min(left, 900.0 * static_cast<double>(1 + random() % 16) + (random() % 3 == 0 ? 0.5 : 0.0));
      steps.push_back(step);
      left -= step;
    }
  }
  return steps;
}

}  // namespace shoal::testing
