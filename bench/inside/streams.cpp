// SPDX-License-Identifier: BSD-3-Clause
// What streams cost a model between records, on one rank:
//
//     micro_streams [ROUNDS]
//
// `wants`, and `send` of a field that no file wants, in nanoseconds a call through the C interface; and the
// operations of a window on a field of floats, in turns with plain loops over the same cells, once with cells
// that stay in the cache and once with many fields, as a model has them. Medians of the rounds; the share is
// the time of the loops divided by that of the accumulators: 1 is as fast. Values at other levels, in turns
// with plain loops, too, what 1,000 columns of a field cost, and daily means in a file, packed and as they
// are, in the folder that it runs in.
#include <shoal/streams.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "streams/accumulator.hpp"
#include "streams/interpolation.hpp"

namespace {

using namespace shoal;
using namespace shoal::streams;

constexpr std::int64_t k_levels = 30, k_rows = 64, k_columns = 128, k_halo = 2;

void check(int code) {
  if (code != SHOAL_OK) throw std::runtime_error(shoal_error_message());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// ---- Calls ------------------------------------------------------------------------------------------------

template <class Call>
void print_call(const char* name, int rounds, Call&& call) {
  constexpr int k_calls = 100'000;
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    const Seconds begin = now();
    for (int i = 0; i < k_calls; ++i)
      call();
    seconds.push_back((now() - begin) / k_calls);
  }
  std::printf("  %-52s %8.1f ns\n", name, 1e9 * median(seconds));
}

// One field has a file, the other none.
void calls(int rounds) {
  shoal_streams* streams = nullptr;
  const char* configuration =
      "[[file]]\nname = 'micro_streams.nc'\nevery = '1 day'\noperation = 'mean'\nfields = ['wanted']\n";
  check(shoal_streams_open(MPI_COMM_SELF, configuration, "noleap", "2000-01-01", nullptr, &streams));
  const std::int64_t global[] = {k_rows, k_columns}, first[] = {0, 0};
  const std::int64_t extents[] = {k_levels, k_rows, k_columns};
  shoal_decomposition* cut = nullptr;
  check(shoal_block(MPI_COMM_SELF, 2, global, first, global, nullptr, nullptr, &cut));
  const shoal_array levels = shoal_array_of(nullptr, SHOAL_DOUBLE, 1, extents);
  check(shoal_streams_axis(streams, "lev", &levels, nullptr));
  check(shoal_streams_grid(streams, "grid", "y x", cut));
  int wanted = 0, unwanted = 0, answer = 0;
  for (const auto& [name, number] : {std::pair{"wanted", &wanted}, {"unwanted", &unwanted}})
    check(shoal_streams_field(streams, name, SHOAL_FLOAT, "lev y x", "grid", nullptr, SHOAL_AT_INSTANT,
                              number));
  check(shoal_streams_advance(streams, 3600));
  std::vector<float> values(k_levels * k_rows * k_columns);
  const shoal_array array = shoal_array_of(values.data(), SHOAL_FLOAT, 3, extents);
  std::printf("a call\n");
  print_call("wants: a field of a file", rounds, [&] { shoal_streams_wants(streams, wanted, &answer); });
  print_call("wants: a field of none", rounds, [&] { shoal_streams_wants(streams, unwanted, &answer); });
  print_call("send: a field of none", rounds, [&] { shoal_streams_send(streams, unwanted, &array); });
  shoal_streams_abandon(&streams);
  check(shoal_decomposition_free(&cut));
}

// ---- Sums -------------------------------------------------------------------------------------------------

/// Fields as a model keeps them, with a halo.
class Fields {
 public:
  explicit Fields(std::size_t count) : values_(count, std::vector<float>(volume(memory()))) {
    for (auto& field : values_)
      for (std::size_t i = 0; i < field.size(); ++i)
        field[i] = 0.5F * static_cast<float>(i * 7919 % 977);
  }
  static Dims memory() { return {k_levels, k_rows + 2 * k_halo, k_columns + 2 * k_halo}; }
  static Dims owned() { return {k_levels, k_rows, k_columns}; }
  std::size_t count() const { return values_.size(); }
  ArrayView own(std::size_t field) {
    ArrayView view = ArrayView::contiguous(first(field), Type::float_, owned());
    view.strides = row_major_strides(memory());
    for (auto& stride : view.strides)
      stride *= static_cast<std::int64_t>(sizeof(float));
    return view;
  }
  /// f(row in memory, number of its first cell among the owned ones)
  template <class F>
  void for_rows(std::size_t field, F&& f) {
    const Dims strides = row_major_strides(memory());
    for (std::int64_t k = 0; k < k_levels; ++k)
      for (std::int64_t j = 0; j < k_rows; ++j)
        f(first(field) + k * strides[0] + j * strides[1], (k * k_rows + j) * k_columns);
  }

 private:
  float* first(std::size_t field) {
    return values_[field].data() + k_halo * (k_columns + 2 * k_halo) + k_halo;
  }
  std::vector<std::vector<float>> values_;
};

/// What a loop keeps for an operation, each in a pass of its own.
struct Kept {
  std::vector<double> sum, square;
  std::vector<float> low, high;
  explicit Kept(std::size_t cells) : sum(cells), square(cells), low(cells), high(cells) {}
};

void loops(Fields& fields, std::size_t field, Kept& kept, const std::vector<Operation>& operations,
           const float* missing) {
  const double w = 3600e6;
  const auto each = [&](auto* cells, auto&& join) {
    fields.for_rows(field, [&](const float* x, std::int64_t at) {
      auto* into = cells + at;
      if (missing == nullptr)
        for (std::int64_t i = 0; i < k_columns; ++i)
          into[i] = join(into[i], x[i]);
      else
        for (std::int64_t i = 0; i < k_columns; ++i)
          into[i] = x[i] == *missing ? into[i] : join(into[i], x[i]);
    });
  };
  for (const Operation operation : operations)
    if (operation == Operation::mean)
      each(kept.sum.data(), [w](double a, float x) { return a + w * static_cast<double>(x); });
    else if (operation == Operation::minimum)
      each(kept.low.data(), [](float a, float x) { return x < a ? x : a; });
    else if (operation == Operation::maximum)
      each(kept.high.data(), [](float a, float x) { return x > a ? x : a; });
    else if (operation == Operation::rms)
      each(kept.square.data(),
           [w](double a, float x) { return a + w * static_cast<double>(x) * static_cast<double>(x); });
}

void sums(const char* name, std::size_t count, int rounds, const std::vector<Operation>& operations,
          bool has_missing) {
  Fields fields(count);
  const Comm comm(MPI_COMM_SELF);
  const Dims shape = Fields::owned();
  std::vector<DimChoice> choices;
  for (int d = 0; d < shape.size(); ++d)
    choices.push_back({std::string(1, static_cast<char>('a' + d)), shape[d], true, {}});
  const auto cut =
      Decomposition::block(comm, {k_rows, k_columns}, Box({0, 0}, {k_rows, k_columns}), Dims(2), Dims(2));
  const auto part = std::make_shared<const Part>(comm, choices, 1, cut);
  const float missing = 1e20F;
  std::vector<Accumulator> accumulators;
  std::vector<Kept> kept;
  for (std::size_t f = 0; f < count; ++f) {
    accumulators.emplace_back(part, Type::float_,
                              has_missing ? std::optional(static_cast<double>(missing)) : std::nullopt, 0, 1);
    for (const Operation operation : operations)
      accumulators.back().need(operation);
    kept.emplace_back(static_cast<std::size_t>(volume(shape)));
  }
  const Window window{{0}, {k_day}};
  std::vector<double> ours, theirs;
  for (int round = 0; round < rounds; ++round) {
    const Step step{
        {round * std::int64_t{3'600'000'000}}, {(round + 1) * std::int64_t{3'600'000'000}}, round + 1};
    const auto timed = [](std::vector<double>& seconds, auto&& work) {
      const Seconds begin = now();
      work();
      seconds.push_back(now() - begin);
    };
    // In both orders, as the second one finds the fields in the cache.
    for (const bool by_hand : {round % 2 == 0, round % 2 != 0})
      if (by_hand)
        timed(theirs, [&] {
          for (std::size_t f = 0; f < count; ++f)
            loops(fields, f, kept[f], operations, has_missing ? &missing : nullptr);
        });
      else
        timed(ours, [&] {
          for (std::size_t f = 0; f < count; ++f)
            accumulators[f].add(fields.own(f), step, window, 0);
        });
    if (round == 1) {  // memory was used for the first time
      ours.clear();
      theirs.clear();
    }
  }
  const double cells = static_cast<double>(volume(shape)) * static_cast<double>(count);
  std::printf("  %-52s %6.2f ns a cell, loops %6.2f, share %.2f\n", name, 1e9 * median(ours) / cells,
              1e9 * median(theirs) / cells, median(theirs) / median(ours));
  std::fflush(stdout);
}

// ---- Other levels -----------------------------------------------------------------------------------------

constexpr std::int64_t k_targets = 12;

double depth_of(std::int64_t level) {
  return 5.0 + 3.0 * static_cast<double>(level * level);
}

/// A field of levels of each column, as doubles without gaps.
std::vector<double> levels_of_columns() {
  std::vector<double> levels(static_cast<std::size_t>(volume(Fields::owned())));
  const std::int64_t columns = k_rows * k_columns;
  for (std::int64_t k = 0; k < k_levels; ++k)
    for (std::int64_t i = 0; i < columns; ++i)
      levels[static_cast<std::size_t>(k * columns + i)] = depth_of(k) + 0.01 * static_cast<double>(i % 97);
  return levels;
}

/// A plain loop: of each target and row the two levels around it.
void fixed_loop(Fields& fields, std::size_t field, const std::vector<double>& targets, double* out) {
  const Dims strides = row_major_strides(Fields::memory());
  const float* const x = reinterpret_cast<const float*>(fields.own(field).data);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    std::int64_t k = 0;
    while (depth_of(k + 1) < targets[t])
      ++k;
    const double w = (targets[t] - depth_of(k)) / (depth_of(k + 1) - depth_of(k));
    for (std::int64_t j = 0; j < k_rows; ++j) {
      const float* const above = x + k * strides[0] + j * strides[1];
      const float* const below = above + strides[0];
      double* const to = out + (static_cast<std::int64_t>(t) * k_rows + j) * k_columns;
      for (std::int64_t i = 0; i < k_columns; ++i)
        to[i] = above[i] + (static_cast<double>(below[i]) - above[i]) * w;
    }
  }
}

/// A plain loop: of each column and target the two levels around it, from the top.
void own_loop(Fields& fields, std::size_t field, const std::vector<double>& targets, const double* levels,
              double* out) {
  const Dims strides = row_major_strides(Fields::memory());
  const float* const x = reinterpret_cast<const float*>(fields.own(field).data);
  const std::int64_t columns = k_rows * k_columns;
  for (std::int64_t j = 0; j < k_rows; ++j)
    for (std::int64_t i = 0; i < k_columns; ++i) {
      const double* const z = levels + j * k_columns + i;
      for (std::size_t t = 0; t < targets.size(); ++t) {
        std::int64_t k = 0;
        while (k + 2 < k_levels && z[(k + 1) * columns] < targets[t])
          ++k;
        const double z0 = z[k * columns], z1 = z[(k + 1) * columns];
        const float* const v = x + k * strides[0] + j * strides[1] + i;
        const bool inside = z0 <= targets[t] && targets[t] <= z1;
        const double v0 = *v, v1 = v[strides[0]];
        out[static_cast<std::int64_t>(t) * columns + j * k_columns + i] =
            inside ? v0 + (v1 - v0) * (targets[t] - z0) / (z1 - z0) : 0;
      }
    }
}

void other_levels(bool own, std::size_t count, int rounds) {
  Fields fields(count);
  std::vector<double> targets, depths;
  for (std::int64_t t = 0; t < k_targets; ++t)
    targets.push_back(depth_of(2 * t + 1) + 7);
  for (std::int64_t k = 0; k < k_levels; ++k)
    depths.push_back(depth_of(k));
  const std::vector<double> levels = levels_of_columns();
  const Interpolation interpolation(targets, false, own ? std::vector<double>() : depths);
  std::vector<double> out(static_cast<std::size_t>(k_targets * k_rows * k_columns)), ours, theirs;
  for (int round = 0; round < rounds; ++round)
    for (const bool by_hand : {round % 2 == 0, round % 2 != 0}) {
      const Seconds begin = now();
      for (std::size_t f = 0; f < count; ++f)
        if (!by_hand)
          interpolation.run(fields.own(f), 0, {}, Type::float_, own ? levels.data() : nullptr, out.data());
        else if (own)
          own_loop(fields, f, targets, levels.data(), out.data());
        else
          fixed_loop(fields, f, targets, out.data());
      (by_hand ? theirs : ours).push_back(now() - begin);
    }
  const double cells = static_cast<double>(out.size() * count);
  std::printf("  %-52s %6.2f ns a cell, loops %6.2f, share %.2f\n",
              own ? "levels of each column" : "fixed levels", 1e9 * median(ours) / cells,
              1e9 * median(theirs) / cells, median(theirs) / median(ours));
  std::fflush(stdout);
}

// ---- Columns ----------------------------------------------------------------------------------------------

/// In a model's step the fields are in no cache: other memory is written between the rounds.
void columns_alone(std::size_t count, int rounds, std::int64_t levels) {
  std::vector<float> other(std::size_t{48} << 20U);
  constexpr std::int64_t k_places = 1000;
  Fields fields(count);
  const Comm comm(MPI_COMM_SELF);
  const auto cut =
      Decomposition::block(comm, {k_rows, k_columns}, Box({0, 0}, {k_rows, k_columns}), Dims(2), Dims(2));
  DimChoice places{"station", k_places, true, {}};
  places.site_dims = {0, 1};
  for (std::int64_t i = 0; i < k_places; ++i)
    places.sites.push_back(i * 7919 % (k_rows * k_columns));
  const auto part =
      std::make_shared<const Part>(comm, std::vector<DimChoice>{{"lev", levels, true, {}}, places}, 1, cut);
  std::vector<Accumulator> accumulators;
  for (std::size_t f = 0; f < count; ++f) {
    accumulators.emplace_back(part, Type::float_, std::nullopt, 0, 1);
    accumulators.back().need(Operation::mean);
  }
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    for (float& cell : other)
      cell += 1;
    std::vector<ArrayView> own;
    for (std::size_t f = 0; f < count; ++f) {
      own.push_back(fields.own(f));
      own.back().extents[0] = levels;
    }
    const Seconds begin = now();
    for (std::size_t f = 0; f < count; ++f)
      accumulators[f].add(own[f], {{round * k_hour}, {(round + 1) * k_hour}, round + 1}, {{0}, {k_day}}, 0);
    seconds.push_back((now() - begin) / static_cast<double>(count));
  }
  std::printf("  %-52s %6.2f ns a cell, %.3f ms a field\n",
              levels > 1 ? "mean of 1,000 columns" : "mean of 1,000 points",
              1e9 * median(seconds) / static_cast<double>(part->cells()), 1e3 * median(seconds));
  std::fflush(stdout);
}

// ---- Packing ----------------------------------------------------------------------------------------------

/// Streams with one file of daily means of `count` fields, in the folder that the program runs in.
class Means {
 public:
  Means(const std::string& name, const std::string& keys, std::size_t count)
      : name_(name + ".nc"), fields_(count) {
    const std::string configuration =
        "[[file]]\nname = '" + name_ + "'\nevery = '1 day'\noperation = 'mean'\nfields = ['f*']\n" + keys;
    check(
        shoal_streams_open(MPI_COMM_SELF, configuration.c_str(), "noleap", "2000-01-01", nullptr, &streams_));
    const std::int64_t global[] = {k_rows, k_columns}, first[] = {0, 0};
    check(shoal_block(MPI_COMM_SELF, 2, global, first, global, nullptr, nullptr, &cut_));
    const shoal_array levels = shoal_array_of(nullptr, SHOAL_DOUBLE, 1, k_extents);
    check(shoal_streams_axis(streams_, "lev", &levels, nullptr));
    check(shoal_streams_grid(streams_, "grid", "y x", cut_));
    for (std::size_t f = 0; f < count; ++f)
      check(shoal_streams_field(streams_, ("f" + std::to_string(f)).c_str(), SHOAL_FLOAT, "lev y x", "grid",
                                nullptr, SHOAL_AT_INSTANT, &fields_[f]));
  }
  Means(const Means&) = delete;
  Means& operator=(const Means&) = delete;
  ~Means() {
    shoal_streams_abandon(&streams_);
    shoal_decomposition_free(&cut_);
    std::remove(name_.c_str());
  }

  /// With the record at its end.
  void run_day(std::vector<float>& values) {
    const shoal_array array = shoal_array_of(values.data(), SHOAL_FLOAT, 3, k_extents);
    for (int step = 0; step < 24; ++step) {
      check(shoal_streams_advance(streams_, 3600.0 * ++steps_));
      for (const int field : fields_)
        check(shoal_streams_send(streams_, field, &array));
    }
  }

 private:
  static constexpr std::int64_t k_extents[] = {k_levels, k_rows, k_columns};
  std::string name_;
  std::vector<int> fields_;
  shoal_streams* streams_ = nullptr;
  shoal_decomposition* cut_ = nullptr;
  int steps_ = 0;
};

void packed_means(std::size_t count, int rounds) {
  Means plain("micro_streams_plain", "", count),
      packed("micro_streams_packed", "pack = 'short(0, 500)'\n", count);
  std::vector<float> values(static_cast<std::size_t>(k_levels * k_rows * k_columns));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0.5F * static_cast<float>(i * 7919 % 977);
  std::vector<double> of_plain, of_packed;
  for (int round = 0; round < rounds; ++round)
    for (const bool packs : {round % 2 == 0, round % 2 != 0}) {
      const Seconds begin = now();
      (packs ? packed : plain).run_day(values);
      if (round > 0) (packs ? of_packed : of_plain).push_back(now() - begin);
    }
  std::printf("  %-52s %6.2f ms a day, packed %6.2f, ratio %.3f\n", "daily means of 24 steps, written",
              1e3 * median(of_plain), 1e3 * median(of_packed), median(of_packed) / median(of_plain));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::max(3, std::atoi(argv[1])) : 21;
  try {
    calls(rounds);
    using enum Operation;
    for (const std::size_t count : {1, 16}) {
      std::printf("%zu field%s of %lldx%lldx%lld floats, with a halo\n", count, count == 1 ? "" : "s",
                  static_cast<long long>(k_levels), static_cast<long long>(k_rows),
                  static_cast<long long>(k_columns));
      for (const bool missing : {false, true}) {
        const std::string tail = missing ? ", a missing value" : "";
        sums(("mean" + tail).c_str(), count, rounds, {mean}, missing);
        sums(("minimum and maximum" + tail).c_str(), count, rounds, {minimum, maximum}, missing);
        sums(("mean, minimum, maximum, rms" + tail).c_str(), count, rounds, {mean, minimum, maximum, rms},
             missing);
      }
      other_levels(false, count, rounds);
      other_levels(true, count, rounds);
      columns_alone(count, rounds, k_levels);
      columns_alone(count, rounds, 1);
      packed_means(count, rounds);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "micro_streams: %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
