// SPDX-License-Identifier: BSD-3-Clause
// How fast elements are converted, swapped and packed, in gigabytes a second.
//
// A figure counts the bytes read and the bytes written once each, so that all lines compare with `memcpy` of
// the same arrays, which is the first line of each group. Prints the best of several repetitions.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/box.hpp"
#include "base/clock.hpp"
#include "codec/convert.hpp"
#include "codec/isa.hpp"

namespace {

using namespace shoal;

const Element k_int{Type::int_, 4, false};
const Element k_float{Type::float_, 4, false};
const Element k_float_swapped{Type::float_, 4, true};
const Element k_double{Type::double_, 8, false};
const Element k_double_swapped{Type::double_, 8, true};
const Element k_short{Type::short_, 2, false};
const Element k_short_swapped{Type::short_, 2, true};
const Element k_logical{Type::logical, 4, false};
const Element k_byte{Type::byte_, 1, false};

/// Best seconds of one call of work; repeats for long enough that the clock does not matter.
template <class Work>
Seconds best_time(Work work) {
  work();
  Seconds best = 1e9;
  Seconds spent = 0;
  for (int i = 0; i < 200 && spent < 0.4; ++i) {
    const Seconds start = now();
    work();
    const Seconds took = now() - start;
    best = std::min(best, took);
    spent += took;
  }
  return best;
}

void print(const std::string& name, double bytes, Seconds seconds) {
  std::printf("  %-52s %7.2f GB/s\n", name.c_str(), bytes / seconds * 1e-9);
  std::fflush(stdout);
}

Dims in_bytes(Dims strides, std::int64_t size) {
  for (auto& stride : strides)
    stride *= size;
  return strides;
}

class Bench {
 public:
  Bench() : from_(k_bytes), to_(k_bytes) {
    // Small whole numbers fit every type, so that no conversion takes the slow path.
    for (std::size_t i = 0; i < k_bytes; ++i)
      from_[i] = std::byte{0};
    std::memset(to_.data(), 1, k_bytes);
  }

  /// Runs of n contiguous elements, with as many runs as make one repetition long enough.
  void runs(const std::string& name, const Element& from, const Element& to, std::int64_t n,
            std::int64_t from_step = 1, std::int64_t to_step = 1) {
    const ConvertRun convert = find_conversion(from, to);
    const auto from_stride = static_cast<std::int64_t>(from.size) * from_step;
    const auto to_stride = static_cast<std::int64_t>(to.size) * to_step;
    const std::int64_t calls = std::max<std::int64_t>(1, (std::int64_t{1} << 21) / n);
    const std::byte* source = from_.data() + (from_step < 0 ? -from_stride * (n - 1) : 0);
    std::byte* target = to_.data() + (to_step < 0 ? -to_stride * (n - 1) : 0);
    const Seconds took = best_time([&] {
      for (std::int64_t i = 0; i < calls; ++i)
        convert(source, from_stride, target, to_stride, n, nullptr);
    });
    print(name, static_cast<double>(n * calls) * static_cast<double>(from.size + to.size), took);
  }

  void copy(std::int64_t bytes) {
    const std::int64_t calls = std::max<std::int64_t>(1, (std::int64_t{1} << 23) / bytes);
    const Seconds took = best_time([&] {
      for (std::int64_t i = 0; i < calls; ++i) {
        std::memcpy(to_.data(), from_.data(), static_cast<std::size_t>(bytes));
        asm volatile("" ::: "memory");  // NOLINT: keeps the compiler from dropping repeated copies
      }
    });
    print("memcpy", 2.0 * static_cast<double>(bytes) * static_cast<double>(calls), took);
  }

  void box(const std::string& name, const Element& from, const Dims& from_strides, const Element& to,
           const Dims& to_strides, const Dims& count) {
    const ConvertRun convert = find_conversion(from, to);
    const Dims source = in_bytes(from_strides, static_cast<std::int64_t>(from.size));
    const Dims target = in_bytes(to_strides, static_cast<std::int64_t>(to.size));
    const Seconds took =
        best_time([&] { copy_box(from_.data(), source, to_.data(), target, count, convert, nullptr); });
    print(name, static_cast<double>(volume(count)) * static_cast<double>(from.size + to.size), took);
  }

  void fill(const std::string& name, std::size_t size, const Dims& to_strides, const Dims& count) {
    const double value = 1e37;
    const Dims target = in_bytes(to_strides, static_cast<std::int64_t>(size));
    const Seconds took = best_time(
        [&] { fill_box(to_.data(), target, count, reinterpret_cast<const std::byte*>(&value), size); });
    print(name, static_cast<double>(volume(count)) * static_cast<double>(size), took);
  }

 private:
  static constexpr std::size_t k_bytes = std::size_t{128} << 20;
  std::vector<std::byte> from_;
  std::vector<std::byte> to_;
};

void run_lengths(Bench& bench) {
  for (const std::int64_t n : {80, 328, 4096, 8 << 20}) {
    std::printf("runs of %lld elements\n", static_cast<long long>(n));
    bench.copy(4 * n);
    bench.runs("float -> float", k_float, k_float, n);
    bench.runs("float -> float, swapped", k_float, k_float_swapped, n);
    bench.runs("double -> double, swapped", k_double, k_double_swapped, n);
    bench.runs("double -> float", k_double, k_float, n);
    bench.runs("double -> float, swapped", k_double, k_float_swapped, n);
    bench.runs("float, swapped -> double", k_float_swapped, k_double, n);
    bench.runs("float -> double", k_float, k_double, n);
    bench.runs("int -> double", k_int, k_double, n);
    bench.runs("double -> int", k_double, k_int, n);
    bench.runs("int -> short, swapped", k_int, k_short_swapped, n);
    bench.runs("short, swapped -> float", k_short_swapped, k_float, n);
    bench.runs("logical -> byte", k_logical, k_byte, n);
  }
}

void run_strides(Bench& bench) {
  constexpr std::int64_t n = 1 << 20;
  std::printf("strided runs of %lld elements (bytes used, not bytes passed over)\n",
              static_cast<long long>(n));
  bench.runs("float reversed -> float, swapped", k_float, k_float_swapped, n, -1);
  bench.runs("float every 2nd -> float, swapped", k_float, k_float_swapped, n, 2);
  bench.runs("float every 3rd -> float, swapped", k_float, k_float_swapped, n, 3);
  bench.runs("float, swapped -> float every 3rd", k_float_swapped, k_float, n, 1, 3);
  bench.runs("double every 2nd -> float, swapped", k_double, k_float_swapped, n, 2);
  bench.runs("short reversed -> short", k_short, k_short, n, -1);
}

void run_boxes(Bench& bench) {
  // A quarter of 656x640x16 with a halo of 2, to its place in the whole field.
  constexpr std::int64_t nx = 656;
  constexpr std::int64_t ny = 640;
  constexpr std::int64_t nz = 16;
  const Dims count{nz, ny / 2, nx / 2};
  const Dims halo{(ny / 2 + 4) * (nx / 2 + 4), nx / 2 + 4, 1};
  const Dims field{ny * nx, nx, 1};
  std::printf("a tile of %s with halo, to its place in %lldx%lldx%lld\n", text_of(count).c_str(),
              static_cast<long long>(nz), static_cast<long long>(ny), static_cast<long long>(nx));
  bench.box("float -> float", k_float, halo, k_float, field, count);
  bench.box("float -> float, swapped", k_float, halo, k_float_swapped, field, count);
  bench.box("double -> double, swapped", k_double, halo, k_double_swapped, field, count);
  bench.box("double -> float, swapped", k_double, halo, k_float_swapped, field, count);
  bench.box("halo faces: 2 x 320 x 16 floats, swapped", k_float, halo, k_float_swapped, field,
            {nz, ny / 2, 2});
  bench.fill("fill floats", 4, field, count);
  std::printf("the same, where dimensions lie otherwise\n");
  bench.box("transposed (z fastest), float -> float, swapped", k_float, {1, nz, nz * ny / 2}, k_float_swapped,
            field, count);
  bench.box("x and y exchanged, float -> float, swapped", k_float, {ny * nx / 4, 1, ny / 2}, k_float_swapped,
            field, count);
  bench.box("x and y exchanged, 2048x2048 doubles", k_double, {1, 2048}, k_double, {2048, 1}, {2048, 2048});
  bench.box("three interleaved components, floats", k_float, {1, 3}, k_float, {1 << 20, 1}, {3, 1 << 20});
}

}  // namespace

int main() {
  std::printf("instruction set: %s\n", best_isa() == Isa::avx2 ? "avx2" : "base");
  Bench bench;
  run_lengths(bench);
  run_strides(bench);
  run_boxes(bench);
  return EXIT_SUCCESS;
}
