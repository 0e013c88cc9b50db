// Fields that wait for each other on their way to I/O ranks: one rearrangement for a record, and the same
// file.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "driver/registry.hpp"

using namespace shoal;

namespace {

constexpr std::int64_t k_cells = 701;
constexpr std::int64_t k_levels = 3;
constexpr int k_fields = 24;
constexpr std::int64_t k_records = 4;

using Cut = std::shared_ptr<const Decomposition>;

/// Scattered cells; uneven runs, of which the first rank has none, and some cells that nobody has; tiles.
std::array<Cut, 3> cuts(const Comm& comm) {
  const std::int64_t n = comm.size();
  std::vector<std::int64_t> scattered;
  for (std::int64_t i = comm.rank(); i < k_cells; i += n)
    scattered.push_back(k_cells - 1 - i);
  std::vector<std::int64_t> runs;
  if (n == 1 || comm.rank() > 0) {
    const std::int64_t part = n == 1 ? 0 : comm.rank() - 1;
    const std::int64_t parts = std::max<std::int64_t>(1, n - 1);
    for (std::int64_t i = part * part * 600 / (parts * parts);
         i < (part + 1) * (part + 1) * 600 / (parts * parts); ++i)
      runs.push_back(i);
  }
  const std::int64_t first = k_cells * comm.rank() / n;
  const std::int64_t end = k_cells * (comm.rank() + 1) / n;
  return {Decomposition::map(comm, {k_cells}, 0, scattered), Decomposition::map(comm, {k_cells}, 0, runs),
          Decomposition::block(comm, {k_cells}, Box({first}, {end - first}), {0}, {0})};
}

Type type_of(int v) {
  constexpr std::array<Type, 3> types{Type::double_, Type::float_, Type::int_};
  return types[static_cast<std::size_t>(v) % 3];
}
const Cut& cut_of(const std::array<Cut, 3>& all, int v) {
  return all[static_cast<std::size_t>(v) / 3 % 3];
}
bool has_levels(int v) {
  return v % 2 == 0;
}

Schema schema_of(Format format, const std::array<Cut, 3>& all) {
  Schema schema;
  schema.format = format;
  schema.dims = {{"t", 0, true}, {"z", k_levels, false}, {"n", k_cells, false}};
  for (int v = 0; v < k_fields; ++v) {
    VariableDef variable;
    variable.name = "v" + std::to_string(v);
    variable.type = type_of(v);
    variable.distributed = cut_of(all, v) != nullptr;
    variable.dims = has_levels(v) ? std::vector<int>{0, 1, 2} : std::vector<int>{0, 2};
    schema.variables.push_back(variable);
  }
  return schema;
}

double value_of(int v, std::int64_t record, std::int64_t level, std::int64_t cell) {
  return static_cast<double>(100000 * (v % 7) + 10000 * record + 1000 * level + cell);
}

/// A field of doubles as the model has it.
struct Field {
  Transfer transfer;
  std::vector<double> values;
  std::vector<std::int64_t> cells;  ///< global indices

  Field(const Cut& cut, int v, std::int64_t record) {
    if (cut->map() != nullptr) {
      cells.resize(static_cast<std::size_t>(cut->map()->local_cells()));
      cut->map()->for_each_run(0, k_cells, [&](const IndexMap::Run& run) {
        for (std::int64_t i = 0; i < run.length; ++i)
          cells[static_cast<std::size_t>(run.local + i)] = run.global + i;
      });
    } else {
      for (std::int64_t i = 0; i < cut->tile().count[0]; ++i)
        cells.push_back(cut->tile().first[0] + i);
    }
    const auto local = static_cast<std::int64_t>(cells.size());
    const bool levels = has_levels(v);
    transfer.variable = v;
    transfer.region = levels ? Box({record, 0, 0}, {1, k_levels, k_cells}) : Box({record, 0}, {1, k_cells});
    transfer.decomposition = cut;
    transfer.mine = transfer.region;
    if (cut->map() == nullptr) {
      const int d = transfer.mine.rank() - 1;
      transfer.mine.first[d] = cut->tile().first[0];
      transfer.mine.count[d] = local;
    }
    values.assign(static_cast<std::size_t>(local * (levels ? k_levels : 1)) + 1, -1);
    transfer.array = ArrayView::contiguous(values.data(), Type::double_,
                                           levels ? Dims{1, k_levels, local} : Dims{1, local});
  }
  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::size_t i = 0; i + 1 < values.size(); ++i)
      visit(values[i], static_cast<std::int64_t>(i / cells.size()), cells[i % cells.size()]);
  }
};

DriverOptions options_of(int ranks_per_node, std::int64_t stage_bytes) {
  DriverOptions options;
  options.rearranging.ranks_per_node = ranks_per_node;
  options.rearranging.rearrange = Rearrange::on;
  options.stage.bytes = stage_bytes;
  options.stage.whole = true;
  return options;
}

void write_record(Driver& driver, const std::array<Cut, 3>& all, std::int64_t record) {
  for (int v = 0; v < k_fields; ++v) {
    Field field(cut_of(all, v), v, record);
    field.for_each([&](double& value, std::int64_t level, std::int64_t cell) {
      value = value_of(v, record, level, cell);
    });
    driver.write(field.transfer);
    std::fill(field.values.begin(), field.values.end(), -7.0);  // the model goes on
  }
}

std::int64_t wrong_cells(Driver& driver, const std::array<Cut, 3>& all, std::int64_t record) {
  std::int64_t wrong = 0;
  for (int v = 0; v < k_fields; ++v) {
    Field field(cut_of(all, v), v, record);
    driver.read(field.transfer);
    field.for_each([&](double value, std::int64_t level, std::int64_t cell) {
      wrong += value != value_of(v, record, level, cell) ? 1 : 0;
    });
  }
  return wrong;
}

/// Of two ranks a node; record 0 is there, and plans are made.
std::unique_ptr<Driver> with_plans(const Comm& comm, const std::array<Cut, 3>& all,
                                   FillMode fill = FillMode::all) {
  DriverOptions options = options_of(2, 256 << 20);
  options.catalog.fill = fill;
  auto driver = make_native_driver(comm, "queue.nc", OpenMode::create, Format::cdf5, options);
  Schema schema = schema_of(Format::cdf5, all);
  for (auto& variable : schema.variables)
    variable.no_fill = fill != FillMode::all;
  driver->define(schema, {});
  for (const auto& cut : all)
    driver->prepare(cut);
  write_record(*driver, all, 0);
  driver->sync(false);
  return driver;
}

}  // namespace

TEST_CASE("fields that wait together: the file has all of them, whatever fits at a time") {
  const Comm comm(MPI_COMM_WORLD);
  const auto all = cuts(comm);
  for (const Format format : {Format::cdf5, Format::netcdf4})
    for (const int ranks_per_node : {1, 2, comm.size()})
      for (const std::int64_t stage : {64 << 10, 512 << 10, 256 << 20}) {
        CAPTURE(ranks_per_node);
        CAPTURE(stage);
        const auto driver =
            make_native_driver(comm, "queue.nc", OpenMode::create, format, options_of(ranks_per_node, stage));
        driver->define(schema_of(format, all), {});
        for (const auto& cut : all)
          driver->prepare(cut);
        for (std::int64_t record = 0; record < k_records; ++record)
          write_record(*driver, all, record);
        CHECK(comm.sum(wrong_cells(*driver, all, 1)) == 0);  // what waits is stored before it is read
        write_record(*driver, all, 2);                       // again
        driver->sync(false);
        for (std::int64_t record = 0; record < k_records; ++record)
          CHECK(comm.sum(wrong_cells(*driver, all, record)) == 0);
        driver->close(false);
      }
}

TEST_CASE("fields that wait together: one message from a node to an I/O rank for a record") {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() < 4) return;
  const auto all = cuts(comm);
  const auto driver = with_plans(comm, all);
  for (std::int64_t record = 1; record < k_records; ++record) {
    const std::int64_t before = driver->counters().messages;
    write_record(*driver, all, record);
    CHECK(driver->counters().messages == before);
    driver->sync(false);
    const std::int64_t sent = comm.sum(driver->counters().messages - before);
    const std::int64_t nodes = driver->counters().nodes;
    CHECK(sent > 0);
    CHECK(sent <= (nodes - 1) * comm.size());  // all ranks are I/O ranks
  }
  driver->close(false);
}

TEST_CASE("fields that wait together: in records that are there, unless unowned cells must stay in them") {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() < 4) return;
  const auto all = cuts(comm);
  for (const FillMode fill : {FillMode::all, FillMode::written, FillMode::none}) {
    CAPTURE(static_cast<int>(fill));
    const auto driver = with_plans(comm, all, fill);
    const std::int64_t before = driver->counters().messages;
    write_record(*driver, all, 0);
    const std::int64_t sent = comm.sum(driver->counters().messages - before);
    CHECK((sent == 0) == (fill != FillMode::none));
    driver->sync(false);
    CHECK(comm.sum(wrong_cells(*driver, all, 0)) == 0);
    driver->close(false);
  }
}

TEST_CASE("fields that wait together: one of a rank with bad values, and one that others write too") {
  const Comm comm(MPI_COMM_WORLD);
  const auto all = cuts(comm);
  const auto driver = with_plans(comm, all);
  Field bad(all[0], 0, 1);
  bad.for_each(
      [&](double& value, std::int64_t level, std::int64_t cell) { value = value_of(0, 1, level, cell); });
  const int last = comm.size() - 1;
  if (comm.rank() == last) bad.transfer.refused.why = {Code::invalid_argument, "no good", last, {}, {}};
  driver->write(bad.transfer);
  Field good(all[0], 6, 1);  // of another type
  good.for_each(
      [&](double& value, std::int64_t level, std::int64_t cell) { value = value_of(6, 1, level, cell); });
  driver->write(good.transfer);
  Code code = Code::ok;
  try {
    driver->sync(false);
  } catch (const Error& e) {
    code = e.code();
  }
  CHECK(code == Code::invalid_argument);
  write_record(*driver, all, 1);
  driver->sync(false);
  CHECK(comm.sum(wrong_cells(*driver, all, 1)) == 0);
  driver->close(false);
}
