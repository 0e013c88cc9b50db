// Fields cut by maps through the drivers of other libraries: random maps, I/O ranks and types; what they
// write, the native driver reads as blocks, and other maps read again.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>

#include "base/text.hpp"
#include "codec/convert.hpp"
#include "driver/registry.hpp"
#include "rearrange/io_ranks.hpp"
#include "support/random_maps.hpp"

using namespace shoal;
using testing::random_maps;

namespace {

constexpr std::int64_t k_columns = 113;
constexpr std::int64_t k_levels = 5;
constexpr std::int64_t k_bands = 3;
const std::string k_path = "map_drivers.nc";

/// Values by variable and full index.
double value_at(int variable, const Dims& index) {
  std::int64_t v = variable + 1;
  for (const auto i : index)
    v = v * 31 + i;
  return static_cast<double>(v % 101);
}

/// fixed (col) double; flat (time, col) short with a fill value of its own; deep (time, lev, col) float;
/// thick (time, col, band) int; unwritten (time, col) float.
Schema make_schema(Format format, bool chunks) {
  Schema schema;
  schema.format = format;
  schema.dims = {
      {"time", 0, true}, {"lev", k_levels, false}, {"col", k_columns, false}, {"band", k_bands, false}};
  const auto add = [&](const char* name, Type type, std::vector<int> dims) {
    VariableDef variable;
    variable.name = name;
    variable.type = type;
    variable.dims = std::move(dims);
    variable.distributed = true;
    if (chunks)
      for (const int d : variable.dims)
        variable.chunks.push_back(d == 2 ? 10 : d == 1 ? 2 : 1);
    schema.variables.push_back(variable);
  };
  add("fixed", Type::double_, {2});
  add("flat", Type::short_, {0, 2});
  const std::int16_t fill = -7;
  schema.variables.back().attributes = {Attribute::numbers("_FillValue", Type::short_, &fill, 1)};
  add("deep", Type::float_, {0, 1, 2});
  add("thick", Type::int_, {0, 2, 3});
  add("unwritten", Type::float_, {0, 2});
  return schema;
}

double fill_number(const VariableDef& variable) {
  const Bytes fill = fill_of(variable);
  double value = 0;
  find_conversion({variable.type, size_of(variable.type), false}, {Type::double_, 8, false})(
      fill.data(), 0, reinterpret_cast<std::byte*>(&value), 0, 1, nullptr);
  return value;
}

Box region_of(const Schema& schema, int v, std::int64_t record) {
  Box box = Box::whole(schema.shape(v));
  if (schema.has_record(v)) {
    box.first[0] = record;
    box.count[0] = 1;
  }
  return box;
}

/// A column map, plain for most variables and with bands behind for thick.
struct Maps {
  Maps(const Comm& comm, std::mt19937& random, bool repeats)
      : lists(random_maps(k_columns, comm.size(), {25, 10, random() % 2 == 0 ? 1 : 20, repeats}, random)),
        mine(lists[static_cast<std::size_t>(comm.rank())]),
        columns(Decomposition::map(comm, {k_columns}, 0, mine)),
        bands(Decomposition::map(comm, {k_columns, k_bands}, 1, mine)) {
    owned.resize(k_columns, false);
    for (const auto& list : lists)
      for (const auto cell : list)
        if (cell != k_hole) owned[static_cast<std::size_t>(cell)] = true;
  }
  const std::shared_ptr<const Decomposition>& of(int v) const { return v == 3 ? bands : columns; }

  std::vector<std::vector<std::int64_t>> lists;
  const std::vector<std::int64_t>& mine;
  std::shared_ptr<const Decomposition> columns, bands;
  std::vector<bool> owned;
};

/// The model's array of a variable, of doubles: visit(value, full index or nothing for a hole).
template <class Visit>
Transfer transfer_of(const Schema& schema, int v, std::int64_t record, const Maps& maps,
                     std::vector<double>& data, Visit&& visit) {
  Transfer transfer;
  transfer.variable = v;
  transfer.region = region_of(schema, v, record);
  transfer.decomposition = maps.of(v);
  transfer.mine = transfer.region;
  Dims extents = transfer.region.count;
  const int at = extents.size() - maps.of(v)->rank();
  extents[at] = static_cast<std::int64_t>(maps.mine.size());
  data.resize(static_cast<std::size_t>(volume(extents)), -1);
  for (std::int64_t i = 0; i < volume(extents); ++i) {
    Dims index = unravel(i, extents);
    const std::int64_t cell = maps.mine[static_cast<std::size_t>(index[at])];
    for (int d = 0; d < index.size(); ++d)
      index[d] += transfer.region.first[d];
    index[at] = cell;
    visit(data[static_cast<std::size_t>(i)], cell == k_hole ? Dims() : index);
  }
  transfer.array = ArrayView::contiguous(data.data(), Type::double_, extents);
  return transfer;
}

struct Variant {
  std::string driver;
  Format format;
  Access access = Access::collective;
};

std::vector<Variant> variants() {
  std::vector<Variant> found;
  for (const auto& kind : registered_drivers()) {
    if (kind.make == nullptr || std::string(kind.name) == "native") continue;
    for (const auto& format : formats_of(kind)) {
      if (format == "cdf1" || format == "cdf2" || format == "netcdf4-classic") continue;
      const auto accesses = words(kind.accesses);
      for (const auto& access : accesses)
        found.push_back({kind.name, format_of(format), access_of(access)});
      if (accesses.empty()) found.push_back({kind.name, format_of(format)});
    }
  }
  return found;
}

void remove_files(const Comm& comm) {
  comm.barrier();
  if (comm.rank() != 0) return;
  for (const char* ending : {"", ".hdr", ".cdl"})
    ::unlink((k_path + ending).c_str());
}

void write_all(const Comm& comm, const Variant& variant, const DriverOptions& options, const Maps& maps,
               bool chunks) {
  auto driver = make_driver(variant.driver, comm, k_path, OpenMode::create, variant.format, options);
  driver->define(make_schema(variant.format, chunks && variant.format == Format::netcdf4), {});
  driver->prepare(maps.columns);
  driver->prepare(maps.bands);
  std::vector<double> data;
  for (const std::int64_t record : {1, 0}) {
    for (int v = 0; v < 4; ++v) {
      if (v == 0 && record != 1) continue;
      Schema schema = driver->schema();
      schema.dims[0].length = std::max(schema.dims[0].length, record + 1);
      driver->write(transfer_of(schema, v, record, maps, data, [&](double& value, const Dims& index) {
        value = index.empty() ? 1e9 : value_at(v, index);
      }));
      std::fill(data.begin(), data.end(), 5e8);  // as a model uses its array again
    }
    if (record == 1) driver->sync(false);
  }
  driver->close(false);
}

/// All of each variable by rank 0 alone, as the native driver (or for the plain formats, gather) reads it.
void check_with_blocks(const Comm& comm, Format format, const Maps& maps) {
  const bool plain = format == Format::raw || format == Format::ascii;
  DriverOptions options;
  auto driver = make_driver(plain ? "gather" : "native", comm, k_path, OpenMode::read, format, options);
  const Schema schema = driver->schema();
  CHECK(schema.dims[0].length == 2);
  for (int v = 0; v < 5; ++v)
    for (std::int64_t record = 0; record < 2; ++record) {
      const Box region = region_of(schema, v, record);
      std::vector<double> data(static_cast<std::size_t>(region.cells()));
      Bytes values(static_cast<std::size_t>(region.cells()) * size_of(schema.variable(v).type));
      std::vector<std::string> none;
      driver->get(v, region, values.data(), none);
      const VariableDef& variable = schema.variable(v);
      const ConvertRun convert =
          find_conversion({variable.type, size_of(variable.type), false}, {Type::double_, 8, false});
      convert(values.data(), static_cast<std::int64_t>(size_of(variable.type)),
              reinterpret_cast<std::byte*>(data.data()), 8, region.cells(), nullptr);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < region.cells(); ++i) {
        Dims index = unravel(i, region.count);
        for (int d = 0; d < index.size(); ++d)
          index[d] += region.first[d];
        const int at = index.size() - maps.of(v)->rank();
        const bool written = v != 4 && maps.owned[static_cast<std::size_t>(index[at])];
        wrong += data[static_cast<std::size_t>(i)] != (written ? value_at(v, index) : fill_number(variable))
                     ? 1
                     : 0;
      }
      CAPTURE(v);
      CAPTURE(record);
      CHECK(wrong == 0);
    }
  driver->close(false);
}

void check_with_maps(const Comm& comm, const Variant& variant, const DriverOptions& options,
                     const Maps& written, const Maps& maps) {
  auto driver = make_driver(variant.driver, comm, k_path, OpenMode::read, variant.format, options);
  driver->prepare(maps.columns);
  driver->prepare(maps.bands);
  std::vector<double> data;
  for (int v = 0; v < 5; ++v)
    for (std::int64_t record = 0; record < 2; ++record) {
      const VariableDef& variable = driver->schema().variable(v);
      driver->read(transfer_of(driver->schema(), v, record, maps, data,
                               [](double& value, const Dims&) { value = -1; }));
      std::int64_t wrong = 0;
      const std::vector<double> found = data;
      transfer_of(driver->schema(), v, record, maps, data, [&](double& value, const Dims& index) {
        double expected = -1;  // a hole: as it was
        if (!index.empty()) {
          const int at = index.size() - maps.of(v)->rank();
          const bool owned = v != 4 && written.owned[static_cast<std::size_t>(index[at])];
          expected = owned ? value_at(v, index) : fill_number(variable);
        }
        wrong += found[static_cast<std::size_t>(&value - data.data())] != expected ? 1 : 0;
      });
      CAPTURE(v);
      CAPTURE(record);
      CHECK(wrong == 0);
    }
  driver->close(false);
}

}  // namespace

TEST_CASE("maps through every driver of a library") {
  const Comm comm(MPI_COMM_WORLD);
  unsigned seed = 0;
  for (const Variant& variant : variants()) {
    for (int round = 0; round < 3; ++round) {
      std::mt19937 random(++seed);
      const Maps maps(comm, random, false);
      const Maps others(comm, random, round == 1);
      DriverOptions options;
      options.library.access = variant.access;
      if (round > 0)
        options.rearranging.io_ranks = 1 + static_cast<int>(random() % static_cast<unsigned>(comm.size()));
      if (round == 1) options.rearranging.io_base = comm.size() - options.rearranging.io_ranks;
      if (round == 2) {
        options.stage.bytes = 256;
        options.stage.whole = true;
        if (variant.driver == "gather") options.stage.bytes = 64 * 1024;
      }
      CAPTURE(variant.driver);
      CAPTURE(std::string(name_of(variant.format)));
      CAPTURE(std::string(name_of(variant.access)));
      CAPTURE(round);
      write_all(comm, variant, options, maps, round == 1);
      check_with_blocks(comm, variant.format, maps);
      check_with_maps(comm, variant, options, maps, others);
      remove_files(comm);
    }
  }
}

TEST_CASE(
    "maps: cells that nobody owns stay as they are in a variable without fill, else get the fill value") {
  const Comm comm(MPI_COMM_WORLD);
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> some;  // every third
  for (std::int64_t i = comm.size() - 1 - comm.rank(); i < k_columns; i += comm.size())
    all.push_back(i);
  for (std::int64_t i = comm.rank(); 3 * i < k_columns; i += comm.size())
    some.push_back(3 * i);
  const auto whole = Decomposition::map(comm, {k_columns}, 0, all);
  const auto part = Decomposition::map(comm, {k_columns}, 0, some);
  std::vector<Variant> all_configurations = variants();
  all_configurations.push_back({"native", Format::netcdf4});  // compressed
  for (const Variant& variant : all_configurations) {
    if (variant.format == Format::ascii) continue;  // written in order, once
    CAPTURE(variant.driver);
    CAPTURE(std::string(name_of(variant.format)));
    CAPTURE(std::string(name_of(variant.access)));
    enum class In { made, opened, opened_without_fill };
    for (const In file : {In::made, In::opened, In::opened_without_fill}) {
      CAPTURE(static_cast<int>(file));
      const bool again = file != In::made;
      DriverOptions options;
      options.library.access = variant.access;
      auto driver = make_driver(variant.driver, comm, k_path, OpenMode::create, variant.format, options);
      Schema schema = make_schema(variant.format, false);
      schema.variables[2].no_fill = true;
      if (std::string(variant.driver) == "native")
        for (const int v : {1, 2}) {
          schema.variable(v).filters = {{Filter::shuffle}, {Filter::fletcher32}};
          schema.variable(v).chunks =
              v == 1 ? std::vector<std::int64_t>{1, 10} : std::vector<std::int64_t>{1, 2, 7};
        }
      driver->define(schema, {});
      const auto write = [&](int v, std::int64_t record, const std::shared_ptr<const Decomposition>& by,
                             float value) {
        driver->prepare(by);
        const auto columns = by->map()->local_cells();
        const std::int64_t levels = v == 2 ? k_levels : 1;
        std::vector<float> data(static_cast<std::size_t>(columns * levels), value);
        Transfer transfer;
        transfer.variable = v;
        transfer.region =
            v == 2 ? Box({record, 0, 0}, {1, k_levels, k_columns}) : Box({record, 0}, {1, k_columns});
        transfer.mine = transfer.region;
        transfer.decomposition = by;
        transfer.array = ArrayView::contiguous(data.data(), Type::float_,
                                               v == 2 ? Dims{1, levels, columns} : Dims{1, columns});
        driver->write(transfer);
      };
      for (std::int64_t record = 0; record < 2; ++record) {
        write(1, record, whole, 1);
        write(2, record, whole, 1);
      }
      if (again) {
        driver->close(false);
        options.catalog.fill = file == In::opened ? FillMode::all : FillMode::none;
        driver = make_driver(variant.driver, comm, k_path, OpenMode::write, variant.format, options);
      }
      write(1, 1, part, 2);
      write(2, 1, part, 2);
      std::vector<std::string> none;
      std::vector<std::int16_t> flat(static_cast<std::size_t>(k_columns));
      driver->get(1, Box({1, 0}, {1, k_columns}), reinterpret_cast<std::byte*>(flat.data()), none);
      std::vector<float> deep(static_cast<std::size_t>(2 * k_levels * k_columns));
      driver->get(2, Box({0, 0, 0}, {2, k_levels, k_columns}), reinterpret_cast<std::byte*>(deep.data()),
                  none);
      std::int64_t wrong = 0;
      const bool keeps = options.catalog.fill == FillMode::none;
      const int flat_unowned = keeps ? 1 : -7;
      for (std::int64_t i = 0; i < k_columns; ++i)
        wrong += flat[static_cast<std::size_t>(i)] != (i % 3 == 0 ? 2 : flat_unowned) ? 1 : 0;
      CHECK(wrong == 0);
      // Classic files do not say that a variable has no fill.
      const VariableDef& variable = driver->schema().variables[2];
      CHECK((variable.no_fill || again));
      const auto unowned = variable.no_fill || keeps ? 1.0F : static_cast<float>(fill_number(variable));
      for (std::int64_t i = 0; i < 2 * k_levels * k_columns; ++i) {
        const float second = i % k_columns % 3 == 0 ? 2.0F : unowned;
        wrong += deep[static_cast<std::size_t>(i)] != (i < k_levels * k_columns ? 1.0F : second) ? 1 : 0;
      }
      CHECK(wrong == 0);
      driver->close(false);
      remove_files(comm);
    }
  }
}

TEST_CASE("maps: what is impossible is reported to all ranks") {
  const Comm comm(MPI_COMM_WORLD);
  DriverOptions options;
  options.rearranging.io_ranks = comm.size() + 1;
  const auto refused = [&](const char* name, const DriverOptions& with) {
    try {
      make_driver(name, comm, k_path, OpenMode::create, Format::cdf5, with);
    } catch (const Error& e) {
      CHECK(e.code() == Code::setting);
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refused("mpiio", options).find("io_ranks can be 1 to " + std::to_string(comm.size())) !=
        std::string::npos);
  remove_files(comm);
}

TEST_CASE("maps: a rank's bad arguments and values that do not fit come out at sync, the rest is stored") {
  const Comm comm(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  std::vector<std::int64_t> mine;
  for (std::int64_t i = comm.rank(); i < k_columns; i += comm.size())
    mine.push_back(i);
  std::mt19937 random(1);
  Maps maps(comm, random, false);
  const auto cut = Decomposition::map(comm, {k_columns}, 0, mine);
  auto driver = make_driver("mpiio", comm, k_path, OpenMode::create, Format::cdf5, {});
  driver->define(make_schema(Format::cdf5, false), {});
  driver->prepare(cut);
  std::vector<double> data(mine.size(), 3.0);
  Transfer transfer;
  transfer.variable = 1;
  transfer.region = Box({0, 0}, {1, k_columns});
  transfer.mine = transfer.region;
  transfer.decomposition = cut;
  transfer.array =
      ArrayView::contiguous(data.data(), Type::double_, {1, static_cast<std::int64_t>(mine.size())});
  if (comm.rank() == last) transfer.refused.why = {Code::invalid_argument, "the array is wrong", -1, {}, {}};
  driver->write(transfer);
  const auto outcome = [&] {
    const Status status = caught([&] { driver->sync(false); });
    CHECK(status.variable == "flat");
    CHECK(status.rank == last);
    return status;
  };
  CHECK(outcome().message == "the array is wrong");
  transfer.refused.why = {};
  transfer.region.first[0] = 1;
  if (comm.rank() == last) data[1] = 1e6;
  driver->write(transfer);
  const Status conversion_error = outcome();
  CHECK(conversion_error.code == Code::range);
  CHECK(conversion_error.message.find("the value 1000000 at index [1, " + std::to_string(last + comm.size()) +
                                      "]") == 0);
  std::vector<std::int16_t> values(static_cast<std::size_t>(k_columns));
  std::vector<std::string> none;
  for (std::int64_t record = 0; record < 2; ++record) {
    driver->get(1, Box({record, 0}, {1, k_columns}), reinterpret_cast<std::byte*>(values.data()), none);
    for (std::int64_t i = 0; i < k_columns; ++i) {
      const bool lost = record == 0 ? i % comm.size() == last : i == last + comm.size();
      CHECK(values[static_cast<std::size_t>(i)] == (lost ? -7 : 3));
    }
  }
  driver->close(false);
  remove_files(comm);
}
