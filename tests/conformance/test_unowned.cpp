// Cells that no rank owns: they get the fill value, or keep what the file had, by the setting fill; tiles and
// maps, written again by others, in files that are made and that are opened. What fill=written does not fill.
#include <cmath>
#include <limits>
#include <map>

#include "conformance/support.hpp"
#include "support/parts.hpp"
#include "support/random_tiles.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

/// Has the format that the settings name chunks?
bool names_chunks(const std::string& settings) {
  return settings.find("netcdf4") != std::string::npos || settings.find("zarr") != std::string::npos;
}

constexpr const char* k_path = "unowned.nc";
constexpr double k_undefined = std::numeric_limits<double>::quiet_NaN();
const Dims k_shape{2, 24, 60};

/// Ranks do not wait for each other in writes.
bool is_independent() {
  const char* access = std::getenv("SHOAL_ACCESS");
  return !is_native() && access != nullptr && std::string(access) == "independent";
}

/// What a decomposition does to all cells, known to every rank.
class Split {
 public:
  Split(bool is_map, std::mt19937& random)
      : is_map_(is_map), owned_(static_cast<std::size_t>(volume(k_grid)), 0) {
    // As many parts again belong to nobody.
    const auto parts = random_tiles(k_grid, 2 * world_size() + 1, false, random);
    // Of a map every other cell of the tile, backwards.
    for (int r = 0; r < world_size(); ++r)
      for_cells(parts[static_cast<std::size_t>(r)], [&](const Dims& cell) {
        if (!is_map || number(cell) % 2 == 0) owned_[number(cell)] = 1;
      });
    const Box& tile = parts[static_cast<std::size_t>(world_rank())];
    if (!is_map) {
      ok(shoal_block(MPI_COMM_WORLD, 2, k_grid.data(), tile.first.data(), tile.count.data(), nullptr, nullptr,
                     &handle_));
      for_cells(tile, [&](const Dims& cell) { mine_.push_back(number(cell)); });
      extents_ = tile.count;
      return;
    }
    for_cells(tile, [&](const Dims& cell) {
      if (number(cell) % 2 == 0) mine_.push_back(number(cell));
    });
    std::reverse(mine_.begin(), mine_.end());
    const std::vector<std::int64_t> list(mine_.begin(), mine_.end());
    ok(shoal_map(MPI_COMM_WORLD, 2, k_grid.data(), 0, static_cast<std::int64_t>(list.size()), list.data(),
                 &handle_));
    extents_ = {static_cast<std::int64_t>(list.size())};
  }
  Split(const Split&) = delete;
  Split& operator=(const Split&) = delete;
  ~Split() { shoal_decomposition_free(&handle_); }

  const shoal_decomposition* handle() const { return handle_; }
  bool is_map() const { return is_map_; }
  /// Of the cell of the grid that has this place in row-major order.
  bool owns(std::size_t place) const { return owned_[place] != 0; }
  /// This rank's cells in the order of its array, by their places in the grid, and the array's extents.
  const std::vector<std::size_t>& mine() const { return mine_; }
  const Dims& extents() const { return extents_; }

 private:
  static constexpr std::int64_t k_rows = 24, k_columns = 60;
  inline static const Dims k_grid{k_rows, k_columns};
  static std::size_t number(const Dims& cell) {
    return static_cast<std::size_t>(cell[0] * k_columns + cell[1]);
  }
  shoal_decomposition* handle_ = nullptr;
  bool is_map_;
  std::vector<char> owned_;
  std::vector<std::size_t> mine_;
  Dims extents_;
};

/// A file, and what must be in it.
class Model {
 public:
  /// fill: the setting when the file is made.
  Model(const std::string& settings, const std::string& fill, const shoal_decomposition* split)
      : settings_(settings), made_with_(fill), fill_(fill) {
    ok(shoal_create(MPI_COMM_WORLD, k_path, (settings + ", fill=" + fill).c_str(), &file_));
    def_dim(file_, "time", SHOAL_UNLIMITED);
    def_dim(file_, "z", k_shape[0]);
    def_dim(file_, "y", k_shape[1]);
    def_dim(file_, "x", k_shape[2]);
    ok(shoal_def_var(file_, "grows", SHOAL_SHORT, "time z y x", split));
    ok(shoal_def_var(file_, "fixed", SHOAL_DOUBLE, "z y x", split));
    names_ = {"grows", "fixed"};
    // Parallel HDF5 writes compressed variables in collective calls alone.
    if (!names_chunks(settings) || (driver() == "netcdf" && is_independent())) return;
    const std::int64_t chunk[] = {2, 1, 7, 25};  // some stick out
    ok(shoal_def_var(file_, "packed", SHOAL_INT, "time z y x", split));
    ok(shoal_def_chunks(file_, "packed", chunk));
    ok(shoal_def_compression(file_, "packed", "shuffle+deflate:1"));
    ok(shoal_def_var(file_, "once", SHOAL_INT, "z y x", split));
    ok(shoal_def_chunks(file_, "once", chunk + 1));
    ok(shoal_def_compression(file_, "once", "shuffle+deflate:1"));
    names_.insert(names_.end(), {"packed", "once"});
  }

  void close() { ok(shoal_close(&file_, 0)); }
  void open(const std::string& fill) {
    opened_ = true;
    const std::string variant = settings_.substr(std::min(settings_.find(", "), settings_.size()));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, ("fill=" + fill + variant).c_str(), &file_));
    fill_ = fill;
  }
  void sync() { ok(shoal_sync(file_, 0)); }

  void write(const Split& split, std::int64_t record) {
    ++step_;
    if (is_independent()) sync();  // what is written next is another rank's
    for (const auto& name : names_) {
      if (leaves(name, split)) continue;
      const std::int64_t of = has_records(name) ? record : 0;
      TestArray array(SHOAL_DOUBLE, joined(Dims{k_shape[0]}, split.extents()));
      const auto& known = values(name, of);
      const auto level = static_cast<std::size_t>(k_shape[1] * k_shape[2]);
      std::size_t i = 0;
      for_cells(Box::whole(joined(Dims{k_shape[0]}, split.extents())), [&](const Dims& at) {
        const std::size_t cell = split.mine()[i++ % split.mine().size()];
        array.set(at, 100 * step_ + known[static_cast<std::size_t>(at[0]) * level + cell]);
      });
      ok(shoal_write(file_, name.c_str(), split.handle(), array.c(),
                     SHOAL_RECORD(has_records(name) ? record : SHOAL_NO_RECORD)));
      auto& cells = expected_.try_emplace({name, of}).first->second;
      const bool there = !cells.empty();
      cells.resize(static_cast<std::size_t>(volume(k_shape)),
                   made_with_ == "true" ? fill_of(name) : k_undefined);
      const bool fills = fill_ == "written" || (fill_ == "true" && there);
      const double fill = fill_of(name);
      for (std::size_t at = 0; at < cells.size(); ++at)
        if (split.owns(at % level))
          cells[at] = 100 * step_ + known[at];
        else if (fills)
          cells[at] = fill;
    }
  }

  void check() {
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file_));
    for (const auto& [key, cells] : expected_) {
      const auto& [name, record] = key;
      CAPTURE(name);
      CAPTURE(record);
      TestArray all(SHOAL_DOUBLE, k_shape);
      ok(shoal_get(file_, name.c_str(), all.c(), SHOAL_RECORD(has_records(name) ? record : SHOAL_NO_RECORD)));
      std::size_t at = 0;
      int wrong = 0;
      for_cells(Box::whole(k_shape), [&](const Dims& cell) {
        const double must = cells[at++];
        wrong += !std::isnan(must) && all.get(cell) != must ? 1 : 0;
      });
      CHECK(wrong == 0);
    }
    close();
  }

 private:
  /// Parallel HDF5 cannot read what must stay of a compressed variable.
  bool leaves(const std::string& name, const Split& split) const {
    const bool in_boxes = split.is_map() || settings_.find("io_ranks") != std::string::npos;
    return driver() == "netcdf" && in_boxes && opened_ && fill_ == "false" &&
           (name == "packed" || name == "once");
  }
  static bool has_records(const std::string& name) { return name == "grows" || name == "packed"; }
  static double fill_of(const std::string& name) {
    if (name == "fixed") return fill_value(SHOAL_DOUBLE);
    return fill_value(name == "grows" ? SHOAL_SHORT : SHOAL_INT);
  }
  /// Of all cells; each write adds 100 times its number.
  static const std::vector<double>& values(const std::string& name, std::int64_t record) {
    static std::map<std::pair<std::string, std::int64_t>, std::vector<double>> known;
    auto& cells = known[{name, record}];
    if (cells.empty())
      for_cells(Box::whole(k_shape), [&](const Dims& cell) {
        cells.push_back(value_of(static_cast<int>(name[0]), joined(Dims{record}, cell)));
      });
    return cells;
  }

  std::string settings_;
  std::string made_with_;
  std::string fill_;
  bool opened_ = false;
  int step_ = 0;
  std::vector<std::string> names_;
  std::map<std::pair<std::string, std::int64_t>, std::vector<double>> expected_;
  shoal_dataset* file_ = nullptr;
};

std::vector<std::string> variants() {
  const std::vector<std::string> more =
      is_native() ? std::vector<std::string>{"",
                                             ", ranks_per_node=1",
                                             ", ranks_per_node=2",
                                             ", rearrange=on",
                                             ", rearrange=on, ranks_per_node=2",
                                             ", stage_bytes=65536, slot_bytes=4096",
                                             ", direct_bytes=1",
                                             ", rearrange=off, ranks_per_node=1",
                                             ", rearrange=off, direct_bytes=1, ranks_per_node=2",
                                             ", io_ranks=1, ranks_per_node=1",
                                             ", background=thread"}
                  : std::vector<std::string>{"", ", io_ranks=1"};
  std::vector<std::string> all;
  for (const auto& [format, settings] : pairs_of(formats(), more))
    all.push_back("format=" + format + settings);
  return in_part(all);
}

/// Visits with each way, and two decompositions that leave out different cells: tiles, and maps.
template <class Visit>
void in_all_variants(Visit&& visit) {
  unsigned seed = 0;
  for (const auto& settings : variants())
    for (const bool is_map : {false, true}) {
      // What must be sent is refused with rearrange=off.
      const bool stays = settings.find("rearrange=off") != std::string::npos;
      if (stays && (is_map || names_chunks(settings))) continue;
      CAPTURE(settings);
      CAPTURE(is_map);
      std::mt19937 random(++seed);
      const Split a(is_map, random);
      const Split b(is_map, random);
      visit(settings, a, b);
    }
}

}  // namespace

TEST_CASE("cells that nobody owns keep what the file had in variables without fill") {
  if (skipped(in_one_file(), "the files of a set are cut in one way")) return;
  in_all_variants([](const std::string& settings, const Split& a, const Split& b) {
    Model file(settings, "false", a.handle());
    file.write(a, 0);
    file.sync();
    file.write(b, 0);
    file.write(b, 1);
    file.write(a, 1);
    file.write(b, 1);
    file.write(a, 2);
    file.sync();
    file.write(b, 3);
    file.write(a, 2);
    file.close();
    file.check();
  });
}

TEST_CASE("cells that nobody owns get the fill value, whatever the file had") {
  if (skipped(in_one_file(), "the files of a set are cut in one way")) return;
  in_all_variants([](const std::string& settings, const Split& a, const Split& b) {
    Model file(settings, "true", a.handle());
    file.write(a, 0);
    file.sync();
    file.write(b, 0);
    file.write(b, 1);
    file.write(a, 1);
    file.close();
    file.open("true");
    file.write(a, 0);
    file.write(b, 2);
    file.close();
    file.check();
  });
}

TEST_CASE("cells that nobody owns keep what a file had that is opened with fill=false") {
  if (skipped(in_one_file(), "a set of files is not written to again")) return;
  in_all_variants([](const std::string& settings, const Split& a, const Split& b) {
    Model file(settings, "true", a.handle());
    file.write(a, 0);
    file.write(a, 1);
    file.close();
    file.open("false");
    file.write(b, 0);
    file.write(b, 2);  // new in the file: fill
    file.write(a, 2);
    file.sync();
    file.write(a, 1);
    file.write(b, 1);
    file.close();
    file.open("true");
    file.write(a, 1);
    file.close();
    file.check();
  });
}

TEST_CASE("what another rank writes later by another decomposition is stored later") {
  if (skipped(in_one_file(), "the files of a set are cut in one way")) return;
  if (skipped(world_size() > 1, "it needs several ranks")) return;
  const Dims shape{4, 1 << 20};
  const bool first = world_rank() == 0, last = world_rank() == world_size() - 1;
  const Box everything = Box::whole(shape), corner({shape[0] - 1, shape[1] - 8}, {1, 8}),
            none({0, 0}, {0, 0});
  const Cut much(MPI_COMM_WORLD, shape, first ? everything : none, {0, 0}, {0, 0});
  const Cut little(MPI_COMM_WORLD, shape, last ? corner : none, {0, 0}, {0, 0});
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, k_path, ("fill=false, format=" + formats().back()).c_str(), &file));
  def_dim(file, "y", shape[0]);
  def_dim(file, "x", shape[1]);
  ok(shoal_def_var(file, "v", SHOAL_INT, "y x", much.handle()));
  TestArray seven(SHOAL_INT, much.tile().count), three(SHOAL_INT, little.tile().count);
  seven.fill(7);
  three.fill(3);
  for (int round = 0; round < 2; ++round) {
    ok(shoal_write(file, "v", much.handle(), seven.c(), nullptr));
    ok(shoal_write(file, "v", little.handle(), three.c(), nullptr));
  }
  ok(shoal_close(&file, 0));
  ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
  ok(shoal_read(file, "v", much.handle(), seven.c(), nullptr));
  ok(shoal_close(&file, 0));
  std::int64_t wrong = 0;
  for_cells(Box::whole(much.tile().count), [&](const Dims& i) {
    const bool in_corner = i[0] >= corner.first[0] && i[1] >= corner.first[1];
    wrong += seven.get(i) == (in_corner ? 3 : 7) ? 0 : 1;
  });
  CHECK(wrong == 0);
}

TEST_CASE("with fill=written cells that nobody owns get the fill value in each write, new file or not") {
  if (skipped(in_one_file(), "the files of a set are cut in one way")) return;
  in_all_variants([](const std::string& settings, const Split& a, const Split& b) {
    for (const std::string made : {"written", "true"}) {
      CAPTURE(made);
      Model file(settings, made, a.handle());
      file.write(a, 0);
      file.sync();
      file.write(b, 0);
      file.write(b, 1);
      file.write(a, 1);
      file.write(b, 3);
      file.close();
      file.open("written");
      file.write(a, 0);
      file.write(b, 2);
      file.write(a, 4);
      file.sync();
      file.write(b, 4);
      file.close();
      file.check();
    }
  });
}

TEST_CASE("fill=written fills nothing but fields that are written, and what is asked for") {
  const Dims shape{4, 5 * world_size()};
  const Cut cut(MPI_COMM_WORLD, shape, Box({0, 5 * world_rank()}, {3, 5}), {0, 0}, {0, 0});
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("fill=written, format=" + format).c_str(), &file));
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "y", shape[0]);
    def_dim(file, "x", shape[1]);
    const double five = 5;
    for (const char* name : {"owned", "left", "named", "asked"})
      ok(shoal_def_var(file, name, SHOAL_DOUBLE, "time y x", cut.handle()));
    ok(shoal_put_att(file, "named", "_FillValue", SHOAL_DOUBLE, 1, &five));
    ok(shoal_def_fill(file, "asked", SHOAL_DOUBLE, &five));
    TestArray array(SHOAL_DOUBLE, cut.tile().count);
    array.fill(3);
    ok(shoal_write(file, "owned", nullptr, array.c(), SHOAL_RECORD(1)));
    ok(shoal_write(file, "named", nullptr, array.c(), SHOAL_RECORD(0)));
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    const auto count = [&](const char* name, std::int64_t record, double value) {
      TestArray all(SHOAL_DOUBLE, shape);
      ok(shoal_get(file, name, all.c(), SHOAL_RECORD(record)));
      std::int64_t found = 0;
      for_cells(Box::whole(shape), [&](const Dims& i) { found += all.get(i) == value ? 1 : 0; });
      return found;
    };
    const std::int64_t cells = volume(shape);
    CHECK(count("owned", 1, 3) == cells * 3 / 4);
    CHECK(count("owned", 1, fill_value(SHOAL_DOUBLE)) == cells / 4);
    CHECK(count("named", 0, 3) == cells * 3 / 4);
    CHECK(count("named", 0, five) == cells / 4);
    // Records that nobody wrote.
    CHECK(count("asked", 0, five) == cells);
    CHECK(count("asked", 1, five) == cells);
    // Bytes that nobody wrote are zero in a new file.
    if (is_native() && in_one_file() && !has_chunks(format)) {
      CHECK(count("left", 0, 0) == cells);
      CHECK(count("left", 1, 0) == cells);
      CHECK(count("named", 1, 0) == cells);
    }
    // The attribute says what unowned cells hold, as with other settings that fill them.
    int at = -1;
    ok(shoal_find_att(file, "owned", "_FillValue", &at));
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("fill=written: a decomposition that comes with the write, in files that are made and opened") {
  if (skipped(in_one_file(), "a set is cut by the decompositions of its definitions")) return;
  const Dims shape{4, 5 * world_size()};
  const Cut cut(MPI_COMM_WORLD, shape, Box({0, 5 * world_rank()}, {3, 5}), {0, 0}, {0, 0});
  for (const auto& format : formats())
    for (const bool opened : {false, true}) {
      CAPTURE(format);
      CAPTURE(opened);
      shoal_dataset* file = nullptr;
      ok(shoal_create(MPI_COMM_WORLD, k_path, ("quiet=true, fill=written, format=" + format).c_str(), &file));
      def_dim(file, "y", shape[0]);
      def_dim(file, "x", shape[1]);
      ok(shoal_def_var(file, "v", SHOAL_SHORT, "y x", nullptr));
      ok(shoal_def_var(file, "last", SHOAL_INT, "",
                       nullptr));  // PnetCDF's file ends where nothing is written
      int one = 1;
      const shoal_array scalar_one = scalar(one, SHOAL_INT);
      ok(shoal_put(file, "last", &scalar_one, nullptr));
      ok(shoal_sync(file, 0));
      if (opened) {
        ok(shoal_close(&file, 0));
        ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, "quiet=true, fill=written", &file));
      }
      TestArray array(SHOAL_DOUBLE, cut.tile().count);
      for (const double value : {7.0, 8.0}) {  // again: nothing stays
        array.fill(value);
        ok(shoal_write(file, "v", cut.handle(), array.c(), nullptr));
        ok(shoal_sync(file, 0));
      }
      // PnetCDF and netCDF-C take the attribute no more.
      int at = -1;
      const bool takes = driver() != "pnetcdf" && (!has_chunks(format) || is_native());
      CHECK((shoal_find_att(file, "v", "_FillValue", &at) == SHOAL_OK) == takes);
      ok(shoal_close(&file, 0));
      ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
      TestArray all(SHOAL_DOUBLE, shape);
      ok(shoal_get(file, "v", all.c(), nullptr));
      int wrong = 0;
      for_cells(Box::whole(shape), [&](const Dims& i) {
        wrong += all.get(i) != (i[0] < 3 ? 8.0 : fill_value(SHOAL_SHORT)) ? 1 : 0;
      });
      CHECK(wrong == 0);
      ok(shoal_close(&file, 0));
    }
}

TEST_CASE("fill=written: a fill value that comes after the definition, once, and of opened files") {
  if (skipped(is_native() && in_one_file(), "other drivers' libraries take it when a variable is defined"))
    return;
  const Dims shape{4, 5 * world_size()};
  const Cut cut(MPI_COMM_WORLD, shape, Box({0, 5 * world_rank()}, {3, 5}), {0, 0}, {0, 0});
  shoal_map_info info = SHOAL_MAP_INFO_INIT;
  ok(shoal_decomposition_map_info(cut.handle(), &info));
  CHECK(info.leaves_cells == 1);
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("quiet=true, fill=written, format=" + format).c_str(), &file));
    def_dim(file, "time", SHOAL_UNLIMITED);
    def_dim(file, "y", shape[0]);
    def_dim(file, "x", shape[1]);
    ok(shoal_def_var(file, "v", SHOAL_SHORT, "time y x", nullptr));
    ok(shoal_end_define(file));
    TestArray array(SHOAL_DOUBLE, cut.tile().count);
    array.fill(3);
    const double minus_two = -2;
    const double minus_three = -3;
    const double large = 1e9;
    CHECK(shoal_def_fill(file, "v", SHOAL_DOUBLE, &large) == SHOAL_RANGE);
    ok(shoal_def_fill(file, "v", SHOAL_DOUBLE, &minus_two));
    CHECK(shoal_def_fill(file, "v", SHOAL_DOUBLE, &minus_three) == SHOAL_STATE);
    CHECK(shoal_def_fill(file, "v", SHOAL_DOUBLE, nullptr) == SHOAL_STATE);
    ok(shoal_write(file, "v", cut.handle(), array.c(), SHOAL_RECORD(0)));
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, "quiet=true, fill=written", &file));
    CHECK(shoal_def_fill(file, "v", SHOAL_DOUBLE, &minus_three) == SHOAL_STATE);
    int fill = -1;
    std::int16_t value = 0;
    ok(shoal_inq_fill(file, "v", &fill, SHOAL_SHORT, &value));
    CHECK(value == -2);
    CHECK(fill == (has_chunks(format) ? 0 : 1));  // netCDF-4 alone says how it was made
    ok(shoal_write(file, "v", cut.handle(), array.c(), SHOAL_RECORD(2)));
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
    for (const std::int64_t record : {0, 1, 2}) {
      if (record == 1 && has_chunks(format)) continue;  // nobody wrote it
      TestArray all(SHOAL_DOUBLE, shape);
      ok(shoal_get(file, "v", all.c(), SHOAL_RECORD(record)));
      int wrong = 0;
      for_cells(Box::whole(shape),
                [&](const Dims& i) { wrong += all.get(i) != (record != 1 && i[0] < 3 ? 3 : -2) ? 1 : 0; });
      CHECK(wrong == 0);
    }
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, "quiet=true", &file));
    CHECK(shoal_def_fill(file, "v", SHOAL_DOUBLE, &minus_three) == SHOAL_STATE);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE(
    "where cells must stay that a setting forbids to keep, each try is the same error and changes nothing") {
  if (skipped(writes_alone() && in_one_file(), "the setting is of the native driver, in one file")) return;
  const Dims shape{6, 10};
  // Every other cell, dealt out.
  std::vector<std::int64_t> cells;
  for (std::int64_t i = 2 * world_rank(); i < volume(shape); i += 2 * world_size())
    cells.push_back(i);
  shoal_decomposition* map = nullptr;
  shoal_decomposition* rows = nullptr;
  const auto n = static_cast<std::int64_t>(cells.size());
  const std::int64_t first[] = {6 * world_rank() / world_size(), 0};
  const std::int64_t count[] = {6 * (world_rank() + 1) / world_size() - first[0], 10};
  ok(shoal_map(MPI_COMM_WORLD, 2, shape.data(), 0, n, cells.data(), &map));
  ok(shoal_block(MPI_COMM_WORLD, 2, shape.data(), first, count, nullptr, nullptr, &rows));
  const std::vector<std::string> both{", rearrange=off", ", rearrange=off, ranks_per_node=1"};
  for (const auto& [format, variant] : in_part(pairs_of(formats(), both))) {
    CAPTURE(format);
    CAPTURE(variant);
    shoal_dataset* file = nullptr;
    TestArray part(SHOAL_DOUBLE, {n});
    part.fill(5);
    const auto define = [&] {
      def_dim(file, "y", shape[0]);
      def_dim(file, "x", shape[1]);
      ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "y x", rows));
    };
    const auto write_all = [&] {
      TestArray whole(SHOAL_DOUBLE, {count[0], count[1]});
      whole.fill(3);
      ok(shoal_write(file, "v", rows, whole.c(), nullptr));
    };
    const auto check = [&](double at_owned, double elsewhere) {
      ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, nullptr, &file));
      TestArray found(SHOAL_DOUBLE, shape);
      ok(shoal_get(file, "v", found.c(), nullptr));
      int wrong = 0;
      for_cells(Box::whole(shape), [&](const Dims& cell) {
        const bool owned = position_in(cell, Box::whole(shape)) % 2 == 0;
        wrong += found.get(cell) != (owned ? at_owned : elsewhere) ? 1 : 0;
      });
      CHECK(wrong == 0);
      ok(shoal_close(&file, 0));
    };

    ok(shoal_create(MPI_COMM_WORLD, k_path, ("fill=false, format=" + format).c_str(), &file));
    define();
    write_all();
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_WRITE, ("fill=false" + variant).c_str(), &file));
    for (int time = 0; time < 2; ++time) {
      CAPTURE(time);
      const int code = shoal_write(file, "v", map, part.c(), nullptr);
      fails(code, SHOAL_SETTING, {"rearrange=off", "without fill"});
      alike(code);
    }
    write_all();
    ok(shoal_close(&file, 0));
    check(3, 3);
    // Reading keeps nothing.
    ok(shoal_open(MPI_COMM_WORLD, k_path, SHOAL_READ, variant.substr(2).c_str(), &file));
    TestArray found(SHOAL_DOUBLE, {n});
    ok(shoal_read(file, "v", map, found.c(), nullptr));
    ok(shoal_close(&file, 0));

    // A variable without fill, which comes when the map is in use.
    ok(shoal_create(MPI_COMM_WORLD, k_path, ("format=" + format + variant).c_str(), &file));
    define();
    ok(shoal_write(file, "v", map, part.c(), nullptr));
    for (int time = 0; time < 2; ++time) {
      CAPTURE(time);
      ok(shoal_def_var(file, "kept", SHOAL_DOUBLE, "y x", map));
      ok(shoal_def_fill(file, "kept", 0, nullptr));
      const int code = shoal_end_define(file);
      fails(code, SHOAL_SETTING, {"rearrange=off", "without fill"});
      alike(code);
    }
    ok(shoal_close(&file, 0));
    check(5, fill_value(SHOAL_DOUBLE));
  }
  shoal_decomposition_free(&map);
  shoal_decomposition_free(&rows);
}
