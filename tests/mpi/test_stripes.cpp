// I/O ranks store what begins and ends where stripes of the file do.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "dataset/dataset.hpp"
#include "support/random_maps.hpp"
#include "support/random_tiles.hpp"
#include "support/watched_store.hpp"

using namespace shoal;
using testing::block_of;
using testing::MapKind;
using testing::random_maps;
using testing::random_tiles;

namespace {

constexpr std::int64_t k_stripe = 64 * 1024;

/// Parts of the file that this rank stored; those that follow each other are one.
class StoredParts {
 public:
  StoreOpener opener() {
    return testing::watched({[this](std::uint64_t offset, std::size_t bytes) {
      const auto begin = static_cast<std::int64_t>(offset);
      parts_.push_back({begin, begin + static_cast<std::int64_t>(bytes)});
    }});
  }
  std::vector<std::array<std::int64_t, 2>> between(std::int64_t begin, std::int64_t end) const {
    auto sorted = parts_;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::array<std::int64_t, 2>> joined;
    for (const auto& part : sorted) {
      if (part[0] < begin || part[0] >= end) continue;
      if (!joined.empty() && part[0] <= joined.back()[1])
        joined.back()[1] = std::max(joined.back()[1], part[1]);
      else
        joined.push_back(part);
    }
    return joined;
  }

 private:
  std::vector<std::array<std::int64_t, 2>> parts_;
};

/// A field, and what its cells are: their place in it.
struct Field {
  std::shared_ptr<const Decomposition> cut;
  std::vector<std::int64_t> cells;  ///< global indices of this rank's; a map's without its holes' values
  Dims extents;
};

Field tiles(const Comm& comm, const Dims& shape, std::mt19937& random) {
  Field field;
  auto boxes = random_tiles(shape, comm.size(), false, random);
  for (int d = 0; d < shape.size() && shape.size() > 1; ++d)
    --boxes[0].count[d];  // so that all dimensions are cut, on any number of ranks
  field.cut = block_of(comm, shape, boxes, 0);
  const Box& tile = field.cut->tile();
  for (std::int64_t i = 0; i < tile.cells(); ++i) {
    Dims index = unravel(i, tile.count);
    for (int d = 0; d < index.size(); ++d)
      index[d] += tile.first[d];
    field.cells.push_back(position_in(index, Box::whole(shape)));
  }
  field.extents = tile.count;
  return field;
}

Field map(const Comm& comm, const Dims& shape, std::mt19937& random) {
  MapKind kind;
  kind.runs = 25;
  Field field;
  field.cells = random_maps(volume(shape), comm.size(), kind, random)[static_cast<std::size_t>(comm.rank())];
  field.cut = Decomposition::map(comm, shape, 0, field.cells);
  field.extents = {static_cast<std::int64_t>(field.cells.size())};
  return field;
}

/// Does what all ranks stored of the variable begin and end at stripes, but for the variable's own begin and
/// end, and did as many ranks store as were to?
void check_stripes(const Comm& comm, const StoredParts& stored, std::int64_t begin, std::int64_t bytes,
                   int io_ranks) {
  const auto parts = stored.between(begin, begin + bytes);
  CHECK(parts.size() <= 1);
  std::int64_t mine = 0;
  for (const auto& [from, to] : parts) {
    CHECK((from - begin) % k_stripe == 0);
    CHECK((to == begin + bytes || to % k_stripe == 0));
    mine += to - from;
  }
  CHECK(begin % k_stripe == 0);
  CHECK(comm.sum(mine) == bytes);
  CHECK(comm.sum(std::int64_t{parts.empty() ? 0 : 1}) == io_ranks);
  // Even: within a stripe, and the last of the variable.
  CHECK(comm.max(mine) <= (bytes / k_stripe / io_ranks + 1) * k_stripe);
}

}  // namespace

TEST_CASE("boxes of I/O ranks begin and end at stripes") {
  const Comm comm(MPI_COMM_WORLD);
  std::mt19937 random(51);
  int round = 0;
  for (const std::string format : {"cdf5", "cdf2", "raw", "netcdf4"})
    for (const std::string cut : {"tiles of a row", "tiles", "map of a row", "map"}) {
      ++round;
      CAPTURE(format);
      CAPTURE(cut);
      const Dims shape = cut.find("row") != std::string::npos ? Dims{250003} : Dims{231, 1081};
      const Field field = cut[0] == 'm' ? map(comm, shape, random) : tiles(comm, shape, random);
      const int io_ranks = 1 + static_cast<int>(random() % static_cast<unsigned>(comm.size()));
      CAPTURE(io_ranks);
      StoredParts stored;
      DatasetOptions options;
      options.settings = "quiet=true, stripe_bytes=64KiB, format=" + format +
                         ", io_ranks=" + std::to_string(io_ranks) +
                         ", ranks_per_node=" + std::to_string(1 + round % 2);
      options.find_file_system = [](const std::string&) { return file_system_named("gpfs"); };
      options.open_store = stored.opener();
      auto file = Dataset::create(MPI_COMM_WORLD, "striped.nc", options);
      std::string dims;
      for (int d = 0; d < shape.size(); ++d) {
        dims += (d == 0 ? "d" : " d") + std::to_string(d);
        file->def_dim("d" + std::to_string(d), shape[d]);
      }
      for (const char* name : {"a", "b", "c"})
        file->def_var(name, name[0] == 'b' ? Type::float_ : Type::double_, dims, field.cut);
      std::vector<double> values;
      for (const auto cell : field.cells)
        values.push_back(static_cast<double>(cell));
      const auto call_of = [&](const char* name, std::vector<double>& data) {
        DataCall call;
        call.variable = name;
        call.decomposition = field.cut;
        call.array.cells = ArrayView::contiguous(data.data(), Type::double_, field.extents);
        return call;
      };
      // The second time plans are known, and fields wait for each other.
      for (int time = 0; time < 2; ++time) {
        for (const char* name : {"a", "b", "c"})
          file->write(call_of(name, values));
        file->sync(false);
      }
      file->close(false);
      options.settings = "quiet=true";
      file = Dataset::open(MPI_COMM_WORLD, "striped.nc", false, options);
      for (int v = 0; v < 3; ++v) {
        const auto where = file->placement(v);
        REQUIRE(where.has_value());
        REQUIRE(where->kind == Placement::Kind::regular);
        REQUIRE(where->begin != k_unplaced);
        CAPTURE(v);
        check_stripes(comm, stored, static_cast<std::int64_t>(where->begin), volume(shape) * (v == 1 ? 4 : 8),
                      io_ranks);
        std::vector<double> found(values.size(), -1);
        file->read(call_of(std::array{"a", "b", "c"}[static_cast<std::size_t>(v)], found));
        CHECK(found == values);
      }
      file->close(false);
    }
}

TEST_CASE("records that begin elsewhere in a stripe are cut as evenly as can be") {
  const Comm comm(MPI_COMM_WORLD);
  std::mt19937 random(52);
  const Field field = tiles(comm, {300, 700}, random);
  StoredParts stored;
  DatasetOptions options;
  options.settings = "quiet=true, stripe_bytes=64KiB, format=cdf5, io_ranks=" + std::to_string(comm.size());
  options.find_file_system = [](const std::string&) { return file_system_named("gpfs"); };
  options.open_store = stored.opener();
  auto file = Dataset::create(MPI_COMM_WORLD, "records.nc", options);
  file->def_dim("time", 0);
  file->def_dim("y", 300);
  file->def_dim("x", 700);
  file->def_var("v", Type::double_, "time y x", field.cut);
  std::vector<double> values(field.cells.size());
  for (int record = 0; record < 3; ++record) {
    std::transform(field.cells.begin(), field.cells.end(), values.begin(),
                   [&](auto cell) { return static_cast<double>(cell + record); });
    DataCall call;
    call.variable = "v";
    call.decomposition = field.cut;
    call.section.record = record;
    call.array.cells = ArrayView::contiguous(values.data(), Type::double_, field.extents);
    file->write(call);
  }
  file->sync(false);
  const auto where = file->placement(0);
  REQUIRE(where.has_value());
  const std::int64_t row = 700 * 8;
  for (int record = 0; record < 3; ++record) {
    const auto begin =
        static_cast<std::int64_t>(where->begin + where->stride * static_cast<std::uint64_t>(record));
    std::int64_t mine = 0;
    for (const auto& [from, to] : stored.between(begin, begin + 300 * row))
      mine += to - from;
    CHECK(comm.max(mine) - -comm.max(-mine) <= row);
    CHECK(comm.sum(mine) == 300 * row);
  }
  file->close(false);
}

TEST_CASE("fields that wait are stored in the boxes they were cut into, wherever the file has them by then") {
  const Comm comm(MPI_COMM_WORLD);
  std::mt19937 random(53);
  for (const std::string format : {"netcdf4", "cdf5"})
    for (const std::string cut : {"tiles", "map"}) {
      CAPTURE(format);
      CAPTURE(cut);
      const Dims shape{37, 53};  // netCDF-4 finds a place for so few when they are written, at no stripe
      const Field field = cut == "map" ? map(comm, shape, random) : tiles(comm, shape, random);
      DatasetOptions options;
      options.settings =
          "quiet=true, stripe_bytes=1MiB, format=" + format + ", io_ranks=" + std::to_string(comm.size());
      options.find_file_system = [](const std::string&) { return file_system_named("gpfs"); };
      auto file = Dataset::create(MPI_COMM_WORLD, "waits.nc", options);
      file->def_dim("y", shape[0]);
      file->def_dim("x", shape[1]);
      file->def_var("a", Type::double_, "y x", field.cut);
      std::vector<double> values(field.cells.size());
      DataCall call;
      call.variable = "a";
      call.decomposition = field.cut;
      call.array.cells = ArrayView::contiguous(values.data(), Type::double_, field.extents);
      for (const int time : {1, 2}) {  // the second one waits
        std::transform(field.cells.begin(), field.cells.end(), values.begin(),
                       [&](auto cell) { return static_cast<double>(time * 10000 + cell); });
        file->write(call);
      }
      const std::int32_t number = 7;
      file->put_att(nullptr, "number", Type::int_, 1, &number);
      file->end_define();
      file->sync(false);
      const std::vector<double> written = values;
      file->read(call);
      CHECK(values == written);
      file->close(false);
    }
}
