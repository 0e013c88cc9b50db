// Compressed variables, by every driver that has them: what is written comes back, in the same session, in a
// later one, by other tiles, and chunks know nothing of how the ranks are cut.
#include <cmath>

#include "codec/filters.hpp"
#include "conformance/support.hpp"
#include "support/parts.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

const char* const k_path = "compressed.nc";

bool has_compression() {
  const char* access = std::getenv("SHOAL_ACCESS");
  const bool alone = driver() == "netcdf" && access != nullptr && std::string(access) == "independent";
  return has_full_format() && !alone;
}

std::vector<std::string> variants() {
  std::vector<std::string> all{"shuffle+deflate:1", "deflate:9+fletcher32", "shuffle+zstd:1",
                               "zstd:3+fletcher32", "fletcher32",           "shuffle"};
  if (is_native()) all.emplace_back("shuffle+deflate:12");
  std::erase_if(all, [](const std::string& text) { return !missing_code(filters_of(text)).empty(); });
  return all;
}

/// Nodes of one machine.
const std::vector<std::string> k_nodes =
    is_native() ? std::vector<std::string>{"", ", ranks_per_node=1", ", ranks_per_node=2", ", rearrange=on"}
                : std::vector<std::string>(4);

struct Field {
  Dims levels, cut, chunk;  // chunk: of [record, levels, cut], empty: default
  int type = SHOAL_FLOAT;

  Dims shape() const { return joined(levels, cut); }
};

const std::vector<Field> k_fields{{{}, {13, 17}, {}, SHOAL_FLOAT},
                                  {{3}, {13, 17}, {1, 2, 5, 8}, SHOAL_DOUBLE},
                                  {{2}, {40}, {1, 1, 7}, SHOAL_SHORT},
                                  {{}, {5, 6, 7}, {1, 2, 6, 3}, SHOAL_BYTE}};

std::string name_of_field(std::size_t i) {
  return "v" + std::to_string(i);
}

/// Smooth, so that it can be compressed, and another one in each record and version.
double value(std::int64_t record, const Dims& index, int version) {
  std::int64_t v = record * 7 + version * 3;
  for (const auto i : index)
    v += i / 2;
  return static_cast<double>(v % 100);
}

class TestCuts {
 public:
  TestCuts(std::mt19937& random, bool holes) {
    for (const auto& field : k_fields) {
      tiles_.push_back(random_tiles(field.cut, world_size(), holes, random));
      const Dims halo(field.cut.size(), 1);
      cuts_.push_back(std::make_unique<Cut>(
          MPI_COMM_WORLD, field.cut, tiles_.back()[static_cast<std::size_t>(world_rank())], halo, halo));
    }
  }
  const Cut& operator[](std::size_t i) const { return *cuts_[i]; }
  bool owned(std::size_t i, const Box& cell) const {
    return std::any_of(tiles_[i].begin(), tiles_[i].end(),
                       [&](const Box& tile) { return tile.contains(cell); });
  }

 private:
  std::vector<std::vector<Box>> tiles_;
  std::vector<std::unique_ptr<Cut>> cuts_;
};

void define(shoal_dataset* file, const TestCuts& cuts, const std::string& compression) {
  def_dim(file, "time", SHOAL_UNLIMITED);
  for (std::size_t i = 0; i < k_fields.size(); ++i) {
    std::string dims = "time";
    const Dims shape = k_fields[i].shape();
    for (int d = 0; d < shape.size(); ++d) {
      def_dim(file, name_of_field(i) + "_" + std::to_string(d), shape[d]);
      dims += " " + name_of_field(i) + "_" + std::to_string(d);
    }
    ok(shoal_def_var(file, name_of_field(i).c_str(), k_fields[i].type, dims.c_str(), cuts[i].handle()));
    if (!k_fields[i].chunk.empty())
      ok(shoal_def_chunks(file, name_of_field(i).c_str(), k_fields[i].chunk.data()));
    if (!compression.empty()) ok(shoal_def_compression(file, name_of_field(i).c_str(), compression.c_str()));
  }
}

void write(shoal_dataset* file, const TestCuts& cuts, std::size_t i, std::int64_t record, int version,
           std::mt19937& own) {
  const Field& field = k_fields[i];
  const Box local = cuts[i].around();
  TestArray array(SHOAL_DOUBLE, joined(field.levels, local.count), own);
  array.fill(101);
  const Box& tile = cuts[i].tile();
  for_local_cells(field.levels, tile, local,
                  [&](const Dims& index, const Dims& at) { array.set(at, value(record, index, version)); });
  ok(shoal_write(file, name_of_field(i).c_str(), cuts[i].handle(), array.c(), SHOAL_RECORD(record)));
}

void check(shoal_dataset* file, const TestCuts& cuts, const TestCuts& written, std::size_t i,
           std::int64_t record, int version, std::mt19937& own) {
  const Field& field = k_fields[i];
  const Box local = cuts[i].around();
  TestArray array(SHOAL_DOUBLE, joined(field.levels, local.count), own);
  array.fill(102);
  ok(shoal_read(file, name_of_field(i).c_str(), cuts[i].handle(), array.c(), SHOAL_RECORD(record)));
  if (cuts[i].tile().empty()) return;
  int wrong = 0;
  for_local_cells(field.levels, local, local, [&](const Dims& index, const Dims& at) {
    const Box here(tail(index, local.rank()), Dims(local.rank(), 1));
    double wanted = 102;
    if (Box::whole(field.cut).contains(here))
      wanted = written.owned(i, here) ? value(record, index, version) : fill_value(field.type);
    const double found = array.get(at);
    wrong += found != wanted && static_cast<float>(found) != static_cast<float>(wanted) ? 1 : 0;
  });
  CHECK_MESSAGE(wrong == 0, wrong, " wrong cells in ", name_of_field(i), ", record ", record);
}

std::string storage(shoal_dataset* file, const std::string& name) {
  int index = -1;
  ok(shoal_find_var(file, name.c_str(), &index));
  shoal_var_info info = SHOAL_VAR_INFO_INIT;
  ok(shoal_inq_var(file, index, &info));
  return info.storage;
}

}  // namespace

TEST_CASE("compression: every way, chunks that cut tiles, cells that nobody owns, records in any order") {
  if (skipped(has_compression(), "it has no compression")) return;
  std::mt19937 random(31);
  std::mt19937 own(100 + static_cast<unsigned>(world_rank()));
  const std::vector<std::int64_t> records =
      in_one_file() ? std::vector<std::int64_t>{0, 2, 1} : std::vector<std::int64_t>{0, 1, 2};
  int round = 0;
  const std::vector<std::string> files{"netcdf4", "netcdf4-classic"};
  for (const auto& [format, variant] : in_part(pairs_of(files, variants()))) {
    const std::string& nodes = k_nodes[static_cast<std::size_t>(round++ % 4)];
    CAPTURE(nodes);
    CAPTURE(format);
    CAPTURE(variant);
    const TestCuts cuts(random, in_one_file() && world_size() > 1), others(random, false);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format + ", compression=" + variant + nodes).c_str(),
                    &file));
    define(file, cuts, "");
    for (const auto record : records)
      for (std::size_t i = 0; i < k_fields.size(); ++i)
        write(file, cuts, i, record, 0, own);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, ("wait_seconds=60" + nodes).c_str(), &file));
    CHECK(storage(file, "v1") == "compressed");
    for (std::size_t i = 0; i < k_fields.size(); ++i)
      for (const std::int64_t record : {2, 0, 1})
        check(file, others, cuts, i, record, 0, own);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("compression: read while writing, written again, and in a later session") {
  if (skipped(has_compression() && in_one_file(), "it has none, or is several files")) return;
  std::mt19937 random(32);
  std::mt19937 own(200 + static_cast<unsigned>(world_rank()));
  const TestCuts cuts(random, false), others(random, false);
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings().c_str(), &file));
  define(file, cuts, "shuffle+deflate:1");
  for (std::size_t i = 0; i < k_fields.size(); ++i)
    write(file, cuts, i, 0, 0, own);
  for (std::size_t i = 0; i < k_fields.size(); ++i)
    check(file, others, cuts, i, 0, 0, own);
  ok(shoal_sync(file, 0));
  for (std::size_t i = 0; i < k_fields.size(); ++i) {
    write(file, cuts, i, 0, 1, own);  // twice in one go: the later one counts
    write(file, cuts, i, 0, 2, own);
    write(file, cuts, i, 1, 2, own);
  }
  for (std::size_t i = 0; i < k_fields.size(); ++i)
    for (const std::int64_t record : {0, 1})
      check(file, others, cuts, i, record, 2, own);
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, nullptr, &file));
  for (std::size_t i = 0; i < k_fields.size(); ++i) {
    write(file, cuts, i, 1, 3, own);
    write(file, cuts, i, 2, 4, own);
  }
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  for (std::size_t i = 0; i < k_fields.size(); ++i)
    for (const std::int64_t record : {0, 1, 2})
      check(file, others, cuts, i, record, static_cast<int>(record) + 2, own);
  ok(shoal_close(&file, 0));
}

TEST_CASE("compression: what cannot be is refused, and says what can") {
  if (skipped(has_full_format() && in_one_file(), "it has no netcdf4")) return;
  shoal_dataset* file = nullptr;
  if (has_format("cdf5"))
    fails(shoal_create(MPI_COMM_WORLD, k_path, "format=cdf5, compression=deflate", &file), SHOAL_SETTING,
          {"cdf5", "compressed", "netcdf4"});
  if (has_format("netcdf4")) {
    fails(shoal_create(MPI_COMM_WORLD, k_path, "format=netcdf4, compression=gzip", &file), SHOAL_SETTING,
          {"gzip", "argument", "netcdf4", "choose deflate:1"});
    fails(shoal_create(MPI_COMM_WORLD, k_path, "format=netcdf4-classic, compression=v=blosc:zstd:3; none",
                       &file),
          SHOAL_SETTING, {"blosc", "argument", "netcdf4-classic", "choose shuffle+zstd:5"});
  }
  fails(shoal_create(MPI_COMM_WORLD, k_path, full_settings(", compression=szip").c_str(), &file),
        SHOAL_SETTING, {"szip", "argument", "shuffle+zstd:1"});
  std::mt19937 random(33);
  const TestCuts cuts(random, false);
  ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings().c_str(), &file));
  def_dim(file, "x", 13);
  def_dim(file, "y", 17);
  ok(shoal_def_var(file, "v", SHOAL_INT, "x y", cuts[0].handle()));
  ok(shoal_def_var(file, "s", SHOAL_INT, "", nullptr));
  fails(shoal_def_compression(file, "w", "deflate"), SHOAL_NOT_FOUND, {"w"});
  fails(shoal_def_compression(file, "v", "deflate:44"), SHOAL_INVALID_ARGUMENT, {"'v'", "1 to 12"});
  if (full_format() == "zarr")
    fails(shoal_def_compression(file, "v", "shuffle"), SHOAL_NOT_SUPPORTED, {"'v'", "shuffle+zstd:1"});
  else
    fails(shoal_def_compression(file, "v", "zstd+crc32c"), SHOAL_NOT_SUPPORTED,
          {"'v'", "crc32c is a codec of Zarr", "choose zstd:1+fletcher32"});
  fails(shoal_def_compression(file, "s", "deflate"), SHOAL_INVALID_ARGUMENT, {"'s'", "scalar"});
  ok(shoal_def_compression(file, "s", "none"));
  ok(shoal_end_define(file));
  fails(shoal_def_compression(file, "v", "deflate"), SHOAL_STATE, {"compression"});
  ok(shoal_close(&file, 0));
}

TEST_CASE(
    "compression: chunks that do not shrink are read as they lie in the file, before and after others") {
  if (skipped(has_compression() && is_native() && in_one_file(), "it needs driver native, and one file"))
    return;
  std::mt19937 random(47);
  // Of 8 bytes, which no filter makes smaller, and of many that are alike.
  for (const std::int64_t each : {1, 1000}) {
    CAPTURE(each);
    const std::int64_t n = each * world_size();
    const Cut cut(MPI_COMM_WORLD, {n}, Box({each * world_rank()}, {each}), {0}, {0});
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, full_settings(", compression=deflate").c_str(), &file));
    def_dim(file, "x", n);
    ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "x", cut.handle()));
    ok(shoal_def_chunks(file, "v", &each));
    for (const bool alike : {false, true, false}) {
      CAPTURE(alike);
      TestArray values(SHOAL_DOUBLE, {each});
      for (std::int64_t i = 0; i < each; ++i)
        values.set({i},
                   alike ? 1.0 : std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 99)));
      ok(shoal_write(file, "v", nullptr, values.c(), nullptr));
      ok(shoal_sync(file, 0));
      TestArray found(SHOAL_DOUBLE, {each});
      ok(shoal_read(file, "v", cut.handle(), found.c(), nullptr));
      TestArray whole(SHOAL_DOUBLE, {n});
      ok(shoal_get(file, "v", whole.c(), nullptr));
      int wrong = 0;
      for (std::int64_t i = 0; i < each; ++i) {
        wrong += found.get({i}) != values.get({i}) ? 1 : 0;
        wrong += whole.get({each * world_rank() + i}) != values.get({i}) ? 1 : 0;
      }
      CHECK(wrong == 0);
    }
    ok(shoal_close(&file, 0));
  }
}
