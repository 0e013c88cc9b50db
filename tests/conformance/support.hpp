// What conformance and fault tests share: calls that must succeed, arrays of any layout, values to recognise.
#pragma once

#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/box.hpp"
#include "base/text.hpp"
#include "base/type.hpp"
#include "driver/registry.hpp"
#include "format/format_traits.hpp"
#include "shoal/shoal.h"
#include "support/guarded_memory.hpp"

namespace shoal::testing {

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// The call must succeed.
inline void ok(int code) {
  const std::string message =
      code == SHOAL_OK ? "" : std::string(shoal_error_name(code)) + ": " + shoal_error_message();
  REQUIRE_MESSAGE(code == SHOAL_OK, message);
}

/// The call must fail with the code, and its message must hold the words.
inline void fails(int code, int expected, const std::vector<std::string>& words = {}) {
  const std::string message = shoal_error_message();
  CHECK_MESSAGE(code == expected, std::string(shoal_error_name(code)), " instead of ",
                std::string(shoal_error_name(expected)), ": ", message);
  for (const auto& word : words)
    CHECK_MESSAGE(message.find(word) != std::string::npos, "'", message, "' does not say '", word, "'");
}

/// All ranks must have got the same code and message.
inline void alike(int code) {
  const std::string message = code == SHOAL_OK ? "" : shoal_error_message();
  std::vector<int> codes(static_cast<std::size_t>(world_size()));
  MPI_Allgather(&code, 1, MPI_INT, codes.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (const int other : codes)
    CHECK(other == code);
  std::uint64_t hash = std::hash<std::string>{}(message);
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  CHECK_MESSAGE(least == most, "ranks got different messages; this one: ", message);
}

/// The driver under test: environment SHOAL_DRIVER, as the library itself takes it.
inline std::string driver() {
  const char* name = std::getenv("SHOAL_DRIVER");
  return name == nullptr || *name == '\0' ? "native" : name;
}

inline bool is_native() {
  return driver() == "native";
}

/// Are objects of stores put as a whole (support/whole_container.hpp)?
inline bool stores_whole() {
  const char* const kind = std::getenv("TEST_CONTAINER");
  return kind != nullptr && std::string(kind) == "whole";
}

/// Can one rank write some cells without the others?
inline bool writes_alone() {
  return is_native() && !stores_whole();
}

/// Formats that the driver under test has and NetCDF libraries read; or those of the environment's
/// CONFORMANCE_FORMATS.
inline const std::vector<std::string>& formats() {
  const char* asked = std::getenv("CONFORMANCE_FORMATS");
  static const std::vector<std::string> k_all =
      asked != nullptr ? words(asked)
                       : std::vector<std::string>{"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"};
  static const std::vector<std::string> k_of_driver = [] {
    std::vector<std::string> found;
    for (const auto& kind : registered_drivers())
      for (const auto& format : k_all) {
        const auto has = formats_of(kind);
        if (kind.name == driver() && std::find(has.begin(), has.end(), format) != has.end())
          found.push_back(format);
      }
    return found;
  }();
  return k_of_driver;
}

inline bool has_format(const std::string& format) {
  return std::find(formats().begin(), formats().end(), format) != formats().end();
}

/// The format that has all there is: groups, strings, chunks that are compressed.
inline const std::string& full_format() {
  static const std::string k_full = has_format("zarr") ? "zarr" : "netcdf4";
  return k_full;
}

inline bool has_full_format() {
  return has_format(full_format());
}

/// "format=netcdf4" (full_format), and more settings.
inline std::string full_settings(const std::string& more = "") {
  return "format=" + full_format() + more;
}

/// The layout under test: environment SHOAL_LAYOUT.
inline std::string layout() {
  const char* name = std::getenv("SHOAL_LAYOUT");
  return name == nullptr || *name == '\0' ? "one" : name;
}

/// A set of files is not extended, nor read before it is closed.
inline bool in_one_file() {
  return layout() == "one";
}

/// Are variables compressed of which several ranks have parts of a chunk? HDF5 does it in collective access.
inline bool compresses_parts() {
  const char* access = std::getenv("SHOAL_ACCESS");
  const bool alone = driver() == "netcdf" && access != nullptr && std::string(access) == "independent";
  return has_full_format() && in_one_file() && !alone;
}

/// For cases that not every driver can pass: says so, and is true where the case is to be left.
inline bool skipped(bool possible, const char* why) {
  if (!possible) MESSAGE("skipped with driver ", driver(), ", layout ", layout(), ": ", std::string(why));
  return !possible;
}

/// May variables of the format be stored in chunks?
inline bool has_chunks(const std::string& format) {
  return traits_of(format_of(format)).has_chunks;
}

/// May they be strings of any length?
inline bool has_strings(const std::string& format) {
  return holds(format_of(format), Type::string);
}

/// Number types that the format holds.
inline std::vector<int> types_of(const std::string& format) {
  std::vector<int> types{SHOAL_BYTE, SHOAL_SHORT, SHOAL_INT, SHOAL_FLOAT, SHOAL_DOUBLE};
  if (holds(format_of(format), Type::uint64))
    types.insert(types.end(), {SHOAL_UBYTE, SHOAL_USHORT, SHOAL_UINT, SHOAL_INT64, SHOAL_UINT64});
  return types;
}

inline std::size_t bytes_of(int type) {
  static constexpr std::size_t k_sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8, sizeof(char*), 1};
  return k_sizes[type];
}

template <class Visit>
auto with_type(int type, Visit&& visit) {
  return type == SHOAL_CHAR ? visit(char{}) : with_number(static_cast<Type>(type), visit);
}

inline double value_at(int type, const std::byte* at) {
  return with_type(type, [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  });
}

inline void set_value(int type, std::byte* at, double number) {
  with_type(type, [&](auto value) {
    value = static_cast<decltype(value)>(number);
    std::memcpy(at, &value, sizeof value);
    return 0.0;
  });
}

/// NetCDF's fill value of the type, as a number.
inline double fill_value(int type) {
  switch (type) {
    case SHOAL_BYTE:
      return -127;
    case SHOAL_SHORT:
      return -32767;
    case SHOAL_INT:
      return -2147483647;
    case SHOAL_UBYTE:
      return 255;
    case SHOAL_USHORT:
      return 65535;
    case SHOAL_UINT:
      return 4294967295.0;
    case SHOAL_INT64:
      return static_cast<double>(-9223372036854775806LL);
    case SHOAL_UINT64:
      return static_cast<double>(18446744073709551614ULL);
    case SHOAL_FLOAT:
      return static_cast<double>(9.9692099683868690e+36F);
    default:
      return 9.9692099683868690e+36;
  }
}

/// A value that identifies the cell, and fits every type: 1 to 97.
inline double value_of(int variable, const Dims& index) {
  std::int64_t v = variable + 1;
  for (const auto i : index)
    v = (v * 31 + i + 1) % 1000003;
  return static_cast<double>(1 + v % 97);
}

template <class Visit>
void for_cells(const Box& box, Visit visit) {
  if (box.empty()) return;
  Dims index = box.first;
  for (int d = 0; d >= 0;) {
    visit(std::as_const(index));
    for (d = box.rank() - 1; d >= 0 && ++index[d] == box.end(d); --d)
      index[d] = box.first[d];
  }
}

/// The cells of `part`, of a field whose levels all ranks have, and where each lies in the array of `local`,
/// a tile with or without halo: visit(index in the field, index in the array).
template <class Visit>
void for_local_cells(const Dims& levels, const Box& part, const Box& local, Visit visit) {
  for_cells(Box(joined(Dims(levels.size()), part.first), joined(levels, part.count)), [&](const Dims& index) {
    Dims at = index;
    for (int d = 0; d < local.rank(); ++d)
      at[levels.size() + d] -= local.first[d];
    visit(index, at);
  });
}

/// Memory of an array, which the host may be unable to reach where Shoal is told that it lies
/// (support/guarded_memory.hpp).
class TestMemory {
 public:
  void fill(std::size_t bytes, std::byte value) {
    if (guards_memory()) {
      guarded_ = std::make_unique<GuardedMemory>(bytes);
      std::memset(guarded_->own(), static_cast<int>(value), bytes);
    } else {
      bytes_.assign(bytes, value);
    }
  }
  std::byte* data() { return guarded_ ? guarded_->own() : bytes_.data(); }
  std::byte* given() { return guarded_ ? guarded_->given() : bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
  std::unique_ptr<GuardedMemory> guarded_;
};

/// An array in memory in any order of dimensions, with gaps, forwards and backwards.
class TestArray {
 public:
  TestArray(int type, const Dims& extents) : TestArray(type, extents, nullptr) {}
  TestArray(int type, const Dims& extents, std::mt19937& random) : TestArray(type, extents, &random) {}

  std::byte* at(const Dims& index) {
    std::byte* p = memory_.data() + origin_;
    for (int d = 0; d < index.size(); ++d)
      p += index[d] * strides_[d];
    return p;
  }
  double get(const Dims& index) { return value_at(type_, at(index)); }
  void set(const Dims& index, double value) { set_value(type_, at(index), value); }
  /// All cells.
  void fill(double value) {
    std::byte cell[8];
    set_value(type_, cell, value);
    for_bytes([&](std::byte* at) { std::memcpy(at, cell, bytes_of(type_)); });
  }
  /// How many cells have another value.
  std::int64_t others(double value) {
    std::byte cell[8];
    set_value(type_, cell, value);
    std::int64_t found = 0;
    for_bytes([&](const std::byte* at) { found += std::memcmp(at, cell, bytes_of(type_)) == 0 ? 0 : 1; });
    return found;
  }
  const shoal_array* c() {
    c_ = {sizeof(shoal_array), memory_.given() + origin_, type_,          0,
          extents_.size(),     extents_.data(),           strides_.data()};
    return &c_;
  }

 private:
  TestArray(int type, const Dims& extents, std::mt19937* random)
      : type_(type), extents_(extents), strides_(extents.size()) {
    std::vector<int> order(static_cast<std::size_t>(extents.size()));
    std::iota(order.rbegin(), order.rend(), 0);  // row-major: the last dimension first
    if (random != nullptr) std::shuffle(order.begin(), order.end(), *random);
    auto stride = static_cast<std::int64_t>(bytes_of(type));
    std::int64_t tight = stride;  // what it would be without gaps, which many dimensions have too many of
    for (const int d : order) {
      const bool has_room = stride < 32 * tight;
      const std::int64_t cells = std::max<std::int64_t>(extents[d], 1);
      const bool backwards = random != nullptr && (*random)() % 3 == 0;
      if (random != nullptr && (*random)() % 3 == 0 && has_room) stride *= 2;
      strides_[d] = backwards ? -stride : stride;
      if (backwards && extents[d] > 0) origin_ += stride * (extents[d] - 1);
      stride *= cells + (random != nullptr && (*random)() % 2 == 1 && has_room ? 1 : 0);
      tight *= cells;
    }
    memory_.fill(static_cast<std::size_t>(stride), std::byte{0x5a});
  }
  /// Visits where each cell lies, a row at a time: of fields of millions of cells.
  template <class Visit>
  void for_bytes(Visit visit) {
    Dims rows = extents_;
    const int last = rows.size() - 1;
    const std::int64_t cells = last < 0 ? 1 : extents_[last], stride = last < 0 ? 0 : strides_[last];
    if (last >= 0) rows[last] = std::min<std::int64_t>(cells, 1);
    for_cells(Box::whole(rows), [&](const Dims& row) {
      std::byte* p = at(row);
      for (std::int64_t i = 0; i < cells; ++i, p += stride)
        visit(p);
    });
  }
  int type_;
  Dims extents_;
  Dims strides_;
  std::int64_t origin_ = 0;
  TestMemory memory_;
  shoal_array c_{};
};

/// A decomposition handle that is freed.
class Cut {
 public:
  Cut(MPI_Comm comm, const Dims& global, const Box& tile, const Dims& low, const Dims& high)
      : tile_(tile), low_(low), high_(high) {
    ok(shoal_block(comm, global.size(), global.data(), tile.first.data(), tile.count.data(), low.data(),
                   high.data(), &handle_));
  }
  Cut(const Cut&) = delete;
  Cut& operator=(const Cut&) = delete;
  ~Cut() { shoal_decomposition_free(&handle_); }

  const shoal_decomposition* handle() const { return handle_; }
  const Box& tile() const { return tile_; }
  /// The tile with its halo; may stick out of the global shape.
  Box around() const {
    Box box = tile_;
    for (int d = 0; d < box.rank(); ++d) {
      box.first[d] -= low_[d];
      box.count[d] += low_[d] + high_[d];
    }
    return box;
  }

 private:
  Box tile_;
  Dims low_;
  Dims high_;
  shoal_decomposition* handle_ = nullptr;
};

inline void def_dim(shoal_dataset* file, const std::string& name, std::int64_t length) {
  ok(shoal_def_dim(file, name.c_str(), length));
}

/// A scalar as an array.
template <class T>
shoal_array scalar(T& value, int type) {
  return {sizeof(shoal_array), &value, type, type == SHOAL_LOGICAL ? sizeof(T) : 0, 0, nullptr, nullptr};
}

}  // namespace shoal::testing
