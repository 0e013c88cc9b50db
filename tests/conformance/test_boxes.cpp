// Calls in which each rank brings boxes (shoal_write_boxes, shoal_read_boxes), beside a model of the file
// that all ranks keep.
#include <map>

#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

struct ModelVariable {
  const char* name;
  const char* dims;
  int type;
  Dims shape;  // without the record dimension
  bool records;
};

const std::vector<ModelVariable>& variables() {
  static const std::vector<ModelVariable> k_all = {
      {"scalar", "", SHOAL_INT, {}, false},           {"line", "x", SHOAL_DOUBLE, {7}, false},
      {"fixed", "y x", SHOAL_SHORT, {5, 7}, false},   {"time", "time", SHOAL_DOUBLE, {}, true},
      {"level", "time y", SHOAL_INT, {5}, true},      {"field", "time z y x", SHOAL_FLOAT, {3, 5, 7}, true},
      {"other", "time y x", SHOAL_INT, {5, 7}, true}, {"alike", "time y x", SHOAL_INT, {5, 7}, true},
      {"same", "y x", SHOAL_SHORT, {5, 7}, false}};
  return k_all;
}

// Where a box of a rank lies, in all dimensions of a variable.
struct Place {
  int variable = 0;
  Dims start, count, stride;
};

Dims at_place(const Place& place, const Dims& index) {
  Dims at = index;
  for (int d = 0; d < at.size(); ++d)
    at[d] = place.start[d] + index[d] * place.stride[d];
  return at;
}

/// What the file has to hold; the same on all ranks.
class Model {
 public:
  void set(int variable, const Dims& at, double value) {
    cells_[variable][std::vector(at.begin(), at.end())] = value;
  }
  /// Nothing: no call wrote the cell.
  std::optional<double> get(int variable, const Dims& at) {
    const auto& cells = cells_[variable];
    const auto found = cells.find(std::vector(at.begin(), at.end()));
    return found == cells.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<int, std::map<std::vector<std::int64_t>, double>> cells_;
};

/// Places of boxes on all ranks, which each rank makes alike.
class Places {
 public:
  explicit Places(unsigned seed) : random_(seed) {}

  Place any(int variable, std::int64_t records) {
    const ModelVariable& v = variables()[static_cast<std::size_t>(variable)];
    Dims shape = v.shape;
    if (v.records) shape = joined(Dims{records}, shape);
    Place place{variable, shape, shape, shape};
    for (int d = 0; d < shape.size(); ++d) {
      place.stride[d] = draw(4) == 0 ? 1 + draw(3) : 1;
      place.start[d] = draw(static_cast<int>(shape[d]));
      const std::int64_t most = (shape[d] - 1 - place.start[d]) / place.stride[d] + 1;
      place.count[d] = draw(9) == 0 ? 0 : 1 + draw(static_cast<int>(most));
    }
    return place;
  }

  /// Rows of the last but one dimension, as tiles; the same record.
  Place tile(int variable, std::int64_t record, int rank, int ranks) {
    const ModelVariable& v = variables()[static_cast<std::size_t>(variable)];
    Dims shape = v.shape;
    if (v.records) shape = joined(Dims{1}, shape);
    Place place{variable, Dims(shape.size()), shape, Dims(shape.size(), 1)};
    if (v.records) place.start[0] = record;
    if (v.shape.empty()) return place;
    const int d = shape.size() - (v.shape.size() > 1 ? 2 : 1);
    const std::int64_t begin = shape[d] * rank / ranks, end = shape[d] * (rank + 1) / ranks;
    place.start[d] = begin;
    place.count[d] = end - begin;
    return place;
  }

  int draw(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

 private:
  std::mt19937 random_;
};

/// The boxes of this rank in a call, with their arrays.
class Boxes {
 public:
  void add(const Place& place, int type, std::mt19937& random) {
    places_.push_back(place);
    arrays_.push_back(std::make_unique<TestArray>(type, place.count, random));
  }
  TestArray& array(std::size_t i) { return *arrays_[i]; }
  const Place& place(std::size_t i) const { return places_[i]; }
  std::size_t size() const { return places_.size(); }
  std::vector<shoal_box> c() {
    std::vector<shoal_box> boxes;
    for (std::size_t i = 0; i < size(); ++i) {
      const Place& p = places_[i];
      boxes.push_back({sizeof(shoal_box), p.variable, p.start.size(), p.start.data(), p.count.data(),
                       p.stride.data(), *arrays_[i]->c()});
    }
    return boxes;
  }
  void write(shoal_dataset* file) {
    const auto boxes = c();
    ok(shoal_write_boxes(file, static_cast<int>(boxes.size()), boxes.data()));
  }
  void read(shoal_dataset* file) {
    const auto boxes = c();
    ok(shoal_read_boxes(file, static_cast<int>(boxes.size()), boxes.data()));
  }

 private:
  std::vector<Place> places_;
  std::vector<std::unique_ptr<TestArray>> arrays_;
};

// compressed: variables of which several ranks have parts of a chunk, where the driver compresses.
shoal_dataset* model_file(const std::string& settings, bool compressed = false) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_WORLD, "boxes.nc", settings.c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "z", 3);
  def_dim(file, "y", 5);
  def_dim(file, "x", 7);
  for (const auto& v : variables())
    ok(shoal_def_var(file, v.name, v.type, v.dims, nullptr));
  if (compressed)
    for (const char* name : {"line", "fixed", "field"})
      ok(shoal_def_compression(file, name, "shuffle+deflate:1"));
  ok(shoal_end_define(file));
  return file;
}

double drawn_value(Places& places) {
  return 1 + places.draw(120);
}

// Of all ranks; values are drawn for each cell, so that all ranks know them. Later ranks go first, so that
// the first rank's values count.
using AllBoxes = std::vector<std::vector<Place>>;

void write_all(shoal_dataset* file, const AllBoxes& all, Places& places, Model& model, std::mt19937& random) {
  Boxes mine;
  for (int r = world_size() - 1; r >= 0; --r) {
    for (const auto& place : all[static_cast<std::size_t>(r)]) {
      const int own = variables()[static_cast<std::size_t>(place.variable)].type;
      const int type = places.draw(3) == 0 ? SHOAL_DOUBLE : own;
      const bool here = r == world_rank();
      if (here) mine.add(place, type, random);
      for_cells(Box::whole(place.count), [&](const Dims& i) {
        const double value = drawn_value(places);
        if (here) mine.array(mine.size() - 1).set(i, value);
        model.set(place.variable, at_place(place, i), value);
      });
    }
  }
  mine.write(file);
}

void check_all(shoal_dataset* file, const AllBoxes& all, Model& model, std::mt19937& random) {
  Boxes mine;
  for (const auto& place : all[static_cast<std::size_t>(world_rank())])
    mine.add(place,
             random() % 3 == 0 ? SHOAL_DOUBLE : variables()[static_cast<std::size_t>(place.variable)].type,
             random);
  mine.read(file);
  std::int64_t wrong = 0, unfilled = 0;
  for (std::size_t b = 0; b < mine.size(); ++b) {
    const Place& place = mine.place(b);
    const double fill = fill_value(variables()[static_cast<std::size_t>(place.variable)].type);
    for_cells(Box::whole(place.count), [&](const Dims& i) {
      const auto expected = model.get(place.variable, at_place(place, i));
      const double got = mine.array(b).get(i);
      if (expected)
        wrong += got == *expected ? 0 : 1;
      else
        unfilled += got == fill ? 0 : 1;
    });
  }
  CHECK(wrong == 0);
  CHECK(unfilled == 0);
}

AllBoxes random_boxes(Places& places, std::int64_t records) {
  AllBoxes all(static_cast<std::size_t>(world_size()));
  const int kind = places.draw(4);
  const int n = static_cast<int>(variables().size());
  const int variable = places.draw(n);
  const std::int64_t record = places.draw(static_cast<int>(records));
  const Place same = places.any(variable, records);
  for (int r = 0; r < world_size(); ++r) {
    auto& boxes = all[static_cast<std::size_t>(r)];
    if (kind == 0) boxes.push_back(same);
    if (kind == 1) boxes.push_back(places.tile(variable, record, r, world_size()));
    if (kind > 1)
      for (int i = places.draw(4); i > 0; --i)
        boxes.push_back(places.any(kind == 2 ? variable : places.draw(n), records));
  }
  return all;
}

std::int64_t records_in(shoal_dataset* file) {
  std::int64_t n = 0;
  ok(shoal_num_records(file, nullptr, &n));
  return n;
}

}  // namespace

TEST_CASE("boxes: random ones of all kinds are written and read") {
  if (skipped(in_one_file(), "a set of files is written by the decompositions of its variables")) return;
  for (const auto& format : formats()) {
    const bool compresses = is_native() && has_chunks(format);
    for (unsigned seed = 1; seed <= (compresses ? 9 : 3); ++seed) {
      CAPTURE(format);
      CAPTURE(seed);
      std::mt19937 random(seed * 100 + static_cast<unsigned>(world_rank()));
      Places places(seed);
      Model model;
      shoal_dataset* file = model_file("format=" + format, seed > 3);
      for (int call = 0; call < 14; ++call) {
        CAPTURE(call);
        write_all(file, random_boxes(places, 1 + call / 3), places, model, random);
        if (call % 5 != 4) continue;
        ok(shoal_sync(file, 0));
        if (const auto records = records_in(file))
          check_all(file, random_boxes(places, records), model, random);
      }
      ok(shoal_close(&file, 0));
      ok(shoal_open(MPI_COMM_WORLD, "boxes.nc", SHOAL_WRITE, nullptr, &file));
      for (int call = 0; call < 6; ++call) {
        CAPTURE(call);
        if (const auto records = records_in(file))
          check_all(file, random_boxes(places, records), model, random);
        write_all(file, random_boxes(places, 6), places, model, random);
        ok(shoal_sync(file, 0));
      }
      ok(shoal_close(&file, 0));
      ok(shoal_open(MPI_COMM_WORLD, "boxes.nc", SHOAL_READ, nullptr, &file));
      AllBoxes whole(static_cast<std::size_t>(world_size()));
      const std::int64_t records = records_in(file);
      for (int v = 0; v < static_cast<int>(variables().size()); ++v) {
        const auto& variable = variables()[static_cast<std::size_t>(v)];
        Dims shape = variable.shape;
        if (variable.records) shape = joined(Dims{records}, shape);
        for (auto& boxes : whole)
          boxes.push_back({v, Dims(shape.size()), shape, Dims(shape.size(), 1)});
      }
      check_all(file, whole, model, random);
      ok(shoal_close(&file, 0));
    }
  }
}

TEST_CASE("boxes: many of a rank, in several variables and records, whose arrays lie together or apart") {
  if (skipped(in_one_file(), "a set of files is written by the decompositions of its variables")) return;
  constexpr std::int64_t k_records = 2, k_z = 3, k_y = 5, k_x = 7;
  const int ranks = world_size();
  std::vector<std::int64_t> rows;  // of this rank; some ranks may have none
  for (std::int64_t y = world_rank(); y < k_y; y += ranks)
    rows.push_back(y);
  const auto n = static_cast<std::int64_t>(rows.size());
  for (const std::int64_t apart : {0, 1}) {  // cells between two rows
    CAPTURE(apart);
    shoal_dataset* file = model_file("format=" + formats().back());
    const std::int64_t row = k_x + apart;
    const std::int64_t strides[] = {0, n * row * 4, row * 4, 4}, flat[] = {0, row * 4, 4};
    const std::int64_t count[] = {1, k_z, 1, k_x}, flat_count[] = {1, 1, k_x};
    std::vector<float> field(static_cast<std::size_t>(k_records * k_z * n * row), -1.0F);
    std::vector<std::int32_t> other(static_cast<std::size_t>(k_records * n * row), -1);
    std::vector<std::int64_t> starts, flat_starts;
    const auto value = [](std::int64_t t, std::int64_t z, std::int64_t y, std::int64_t x) {
      return ((t * k_z + z) * k_y + y) * k_x + x;
    };
    std::vector<shoal_box> boxes;
    starts.reserve(static_cast<std::size_t>(k_records * n * 4));
    flat_starts.reserve(static_cast<std::size_t>(k_records * n * 3));
    for (std::int64_t t = 0; t < k_records; ++t)
      for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t y = rows[static_cast<std::size_t>(r)];
        float* const at = field.data() + (t * k_z * n + r) * row;
        std::int32_t* const flat_at = other.data() + (t * n + r) * row;
        for (std::int64_t x = 0; x < k_x; ++x) {
          for (std::int64_t z = 0; z < k_z; ++z)
            at[z * n * row + x] = static_cast<float>(value(t, z, y, x));
          flat_at[x] = static_cast<std::int32_t>(value(t, 0, y, x));
        }
        starts.insert(starts.end(), {t, 0, y, 0});
        flat_starts.insert(flat_starts.end(), {t, y, 0});
        shoal_box box = {sizeof(shoal_box),
                         5,
                         4,
                         starts.data() + starts.size() - 4,
                         count,
                         nullptr,
                         shoal_array_of(at, SHOAL_FLOAT, 4, count)};
        box.array.strides = strides;
        boxes.push_back(box);
        box = {sizeof(shoal_box),
               6,
               3,
               flat_starts.data() + flat_starts.size() - 3,
               flat_count,
               nullptr,
               shoal_array_of(flat_at, SHOAL_INT, 3, flat_count)};
        box.array.strides = flat;
        boxes.push_back(box);
      }
    std::stable_sort(boxes.begin(), boxes.end(),
                     [](const shoal_box& a, const shoal_box& b) { return a.variable < b.variable; });
    ok(shoal_write_boxes(file, static_cast<int>(boxes.size()), boxes.data()));
    const auto written = field;
    const auto flat_written = other;
    std::fill(field.begin(), field.end(), -1.0F);
    std::fill(other.begin(), other.end(), -1);
    ok(shoal_read_boxes(file, static_cast<int>(boxes.size()), boxes.data()));
    CHECK(field == written);
    CHECK(other == flat_written);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "boxes.nc", SHOAL_READ, nullptr, &file));
    const std::int64_t all[] = {k_records, k_z, k_y, k_x};
    std::vector<float> whole(k_records * k_z * k_y * k_x);
    const std::int64_t zeros[] = {0, 0, 0, 0};
    const shoal_box box = {
        sizeof(shoal_box), 5, 4, zeros, all, nullptr, shoal_array_of(whole.data(), SHOAL_FLOAT, 4, all)};
    ok(shoal_read_boxes(file, 1, &box));
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < whole.size(); ++i)
      wrong += whole[i] == static_cast<float>(i) ? 0 : 1;
    CHECK(wrong == 0);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("boxes: a rank brings another box where the others expect the plan of before") {
  if (skipped(in_one_file(), "a set of files is written by the decompositions of its variables")) return;
  shoal_dataset* file = model_file("format=" + formats().back());
  for (int call = 0; call < 12; ++call) {
    CAPTURE(call);
    const bool moves = call % 3 == 2 && world_rank() == world_size() - 1;
    const std::int64_t start[] = {call / 3, moves ? 4 : 0}, count[] = {1, 1};
    const std::int32_t value = 10 * call + (moves ? 1 : 0);
    const shoal_box box = {sizeof(shoal_box),
                           4,
                           2,
                           start,
                           count,
                           nullptr,
                           shoal_array_of(const_cast<std::int32_t*>(&value), SHOAL_INT, 2, count)};
    ok(shoal_write_boxes(file, 1, &box));
    std::int32_t got[] = {0, 0};
    const std::int64_t first[] = {call / 3, 0}, both[] = {1, 2}, apart[] = {1, 4};
    const shoal_box back = {
        sizeof(shoal_box), 4, 2, first, both, apart, shoal_array_of(got, SHOAL_INT, 2, both)};
    ok(shoal_read_boxes(file, 1, &back));
    CHECK(got[0] == 10 * (world_size() == 1 && moves ? call - 1 : call));
    if (call % 3 == 2) CHECK(got[1] == 10 * call + 1);
  }
  ok(shoal_close(&file, 0));
}

TEST_CASE("boxes: the same box on all ranks counts more than parts of a compressed chunk before it") {
  if (skipped(compresses_parts(), "no compression, or a set of files")) return;
  for (const bool syncs : {false, true}) {
    CAPTURE(syncs);
    shoal_dataset* file = model_file(full_settings().c_str(), true);
    const auto write = [&](std::int64_t first, std::int64_t n, double value) {
      std::vector<double> values(static_cast<std::size_t>(n), value);
      const shoal_box box = {
          sizeof(shoal_box), 1, 1, &first, &n, nullptr, shoal_array_of(values.data(), SHOAL_DOUBLE, 1, &n)};
      ok(shoal_write_boxes(file, 1, &box));
    };
    const std::int64_t own = std::min(world_rank(), 5);
    for (int call = 0; call < 3; ++call) {  // parts of a chunk that has parts already
      write(own, 2, 10 + call);
      if (syncs && call == 1) ok(shoal_sync(file, 0));
    }
    write(0, 1, 30);
    write(2, 3, 31);
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "boxes.nc", SHOAL_READ, nullptr, &file));
    double got[7];
    const std::int64_t seven = 7;
    const shoal_array all = shoal_array_of(got, SHOAL_DOUBLE, 1, &seven);
    ok(shoal_get(file, "line", &all, nullptr));
    CHECK(got[0] == 30);
    CHECK(got[1] == 12);
    for (int i = 2; i < 5; ++i)
      CHECK(got[i] == 31);
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("boxes: a rank with bad arguments brings none, and the others' are written") {
  if (skipped(in_one_file(), "a set of files is written by the decompositions of its variables")) return;
  if (skipped(world_size() > 1, "one rank gets its error at once")) return;
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = model_file("format=" + format);
    const bool bad = world_rank() == world_size() - 1;
    const std::int64_t start[] = {0, 0}, count[] = {1, bad ? 99 : 1};
    std::vector<std::int32_t> values(99, 5);
    const shoal_box box = {
        sizeof(shoal_box), 4, 2, start, count, nullptr, shoal_array_of(values.data(), SHOAL_INT, 2, count)};
    ok(shoal_write_boxes(file, 1, &box));
    const int code = shoal_sync(file, 0);
    alike(code);
    fails(code, SHOAL_INVALID_ARGUMENT, {"level", "'y'", "99"});
    std::int32_t got = 0;
    const std::int64_t one[] = {1, 1};
    const shoal_box back = {
        sizeof(shoal_box), 4, 2, start, one, nullptr, shoal_array_of(&got, SHOAL_INT, 2, one)};
    const int read = shoal_read_boxes(file, bad ? -1 : 1, &back);
    alike(read);
    fails(read, SHOAL_INVALID_ARGUMENT, {"-1"});
    ok(shoal_read_boxes(file, 1, &back));
    CHECK(got == 5);
    ok(shoal_close(&file, 0));
  }
}
