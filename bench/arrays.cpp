// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"

#include <algorithm>
#include <cstring>

namespace shoal::bench {

namespace {

constexpr double k_halo_value = 9.0e9;
constexpr double k_spoiled = -7.0e9;

// Finaliser of splitmix64: every bit of the position reaches every bit of the value.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

template <class T>
void set_row(std::byte* to, std::int64_t n, double value) {
  std::fill_n(reinterpret_cast<T*>(to), n, static_cast<T>(value));
}

template <class T>
void value_row(std::byte* to, std::uint64_t seed, std::int64_t level, const Tile& tile, std::int64_t j) {
  auto* out = reinterpret_cast<T*>(to);
  for (std::int64_t i = 0; i < tile.columns; ++i)
    out[i] = static_cast<T>(cell_value(seed, level, tile.row(j), tile.column(i)));
}

}  // namespace

std::uint64_t seed_of(const Field& field) {
  return seed_of(field.same_as.empty() ? field.name : field.same_as);
}

std::uint64_t seed_of(const std::string& name) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : name)
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

double cell_value(std::uint64_t seed, std::int64_t level, std::int64_t row, std::int64_t column) {
  const auto h = mixed(seed + static_cast<std::uint64_t>(level) * 0x9e3779b97f4a7c15ULL +
                       (static_cast<std::uint64_t>(row) << 32U) + static_cast<std::uint64_t>(column));
  // 24 bits: exact as float, as double and, in units of 2^-23, as integer.
  return (static_cast<double>(h >> 40U) - 8388608.0) / 8388608.0 * 100.0;
}

std::vector<std::byte> replicated_values(const Field& field, std::int64_t record) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(field.elements() * size_of(field.type)));
  with_type(field.type, [&](auto t) {
    if (!field.given.empty()) {
      const auto n = static_cast<std::size_t>(field.elements());
      for (std::size_t i = 0; i < n; ++i)
        reinterpret_cast<decltype(t)*>(bytes.data())[i] =
            static_cast<decltype(t)>(field.given.at(static_cast<std::size_t>(record) * n + i));
      return;
    }
    value_row<decltype(t)>(bytes.data(), seed_of(field), record, {0, 1, 0, field.elements()}, 0);
  });
  return bytes;
}

LocalField::LocalField(const Field& field, const Tile& tile, std::int64_t records, Memory memory)
    : field_(&field),
      tile_(tile),
      levels_(field.levels() + (field.record ? records - 1 : 0)),
      seed_(seed_of(field)),
      bytes_(std::make_shared<std::vector<std::byte>>(
          memory == Memory::none ? 0
                                 : static_cast<std::size_t>(levels_ * level_pitch() * size_of(field.type)))) {
}

LocalField::LocalField(const Field& field, const LocalField& like)
    : field_(&field), tile_(like.tile_), levels_(like.levels_), seed_(like.seed_), bytes_(like.bytes_) {}

std::byte* LocalField::record(std::int64_t r) {
  return bytes_->data() + r * level_pitch() * size_of(field_->type);
}
const std::byte* LocalField::record(std::int64_t r) const {
  return bytes_->data() + r * level_pitch() * size_of(field_->type);
}
std::byte* LocalField::interior(std::int64_t r) {
  return record(r) + (field_->halo_rows() * row_pitch() + field_->halo_columns()) * size_of(field_->type);
}
const std::byte* LocalField::interior(std::int64_t r) const {
  return record(r) + (field_->halo_rows() * row_pitch() + field_->halo_columns()) * size_of(field_->type);
}

void LocalField::fill() {
  with_type(field_->type, [&](auto t) {
    using T = decltype(t);
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    set_row<T>(bytes_->data(), levels_ * level_pitch(), k_halo_value);
    for (std::int64_t k = 0; k < levels_; ++k)
      for (std::int64_t j = 0; j < tile_.rows; ++j)
        value_row<T>(interior(0) + (k * level_pitch() + j * row_pitch()) * size, seed_, k, tile_, j);
  });
}

void LocalField::spoil() {
  with_type(field_->type,
            [&](auto t) { set_row<decltype(t)>(bytes_->data(), levels_ * level_pitch(), k_spoiled); });
}

void LocalField::pack(std::int64_t r, std::byte* packed) const {
  const auto size = size_of(field_->type);
  const auto row_bytes = static_cast<std::size_t>(tile_.columns * size);
  if (row_bytes == 0) return;
  for (std::int64_t k = 0; k < field_->levels(); ++k)
    for (std::int64_t j = 0; j < tile_.rows; ++j) {
      std::memcpy(packed, interior(r) + (k * level_pitch() + j * row_pitch()) * size, row_bytes);
      packed += row_bytes;
    }
}

void LocalField::unpack(std::int64_t r, const std::byte* packed) {
  const auto size = size_of(field_->type);
  const auto row_bytes = static_cast<std::size_t>(tile_.columns * size);
  if (row_bytes == 0) return;
  for (std::int64_t k = 0; k < field_->levels(); ++k)
    for (std::int64_t j = 0; j < tile_.rows; ++j) {
      std::memcpy(interior(r) + (k * level_pitch() + j * row_pitch()) * size, packed, row_bytes);
      packed += row_bytes;
    }
}

std::int64_t LocalField::wrong_cells(std::int64_t r, std::int64_t expected) const {
  std::vector<std::byte> packed(static_cast<std::size_t>(owned_bytes()));
  pack(r, packed.data());
  return wrong_packed(packed.data(), expected);
}

std::int64_t LocalField::wrong_packed(const std::byte* packed, std::int64_t expected) const {
  return wrong_in_box(*field_, tile_, expected, field_->levels(), packed);
}

std::vector<std::int64_t> LocalField::first() const {
  if (field_->cut == 1) return {tile_.first_column};
  return {tile_.first_row, tile_.first_column};
}

std::vector<std::int64_t> LocalField::count() const {
  if (field_->cut == 1) return {tile_.columns};
  return {tile_.rows, tile_.columns};
}

std::vector<std::int64_t> LocalField::halo() const {
  return std::vector<std::int64_t>(static_cast<std::size_t>(field_->cut), field_->halo);
}

std::vector<std::int64_t> LocalField::extents() const {
  auto all = field_->shape;
  const auto own = count();
  std::copy(own.begin(), own.end(), all.end() - field_->cut);
  return all;
}

std::vector<std::int64_t> LocalField::extents_with_halo() const {
  auto all = extents();
  for (auto at = all.end() - field_->cut; at != all.end(); ++at)
    *at += 2 * field_->halo;
  return all;
}

std::vector<std::int64_t> LocalField::strides() const {
  auto strides = extents_with_halo();
  std::int64_t bytes = size_of(field_->type);
  for (auto at = strides.rbegin(); at != strides.rend(); ++at) {
    const auto extent = *at;
    *at = bytes;
    bytes *= extent;
  }
  return strides;
}

std::vector<std::byte> values_of_box(const Field& field, const Tile& box, std::int64_t level) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(box.cells() * size_of(field.type)));
  with_type(field.type, [&](auto t) {
    for (std::int64_t j = 0; j < box.rows; ++j)
      value_row<decltype(t)>(bytes.data() + j * box.columns * size_of(field.type), seed_of(field), level, box,
                             j);
  });
  return bytes;
}

std::int64_t wrong_in_box(const Field& field, const Tile& box, std::int64_t level, std::int64_t levels,
                          const std::byte* packed) {
  return with_type(field.type, [&](auto t) {
    using T = decltype(t);
    const auto seed = seed_of(field);
    const auto* value = reinterpret_cast<const T*>(packed);
    std::int64_t wrong = 0;
    for (std::int64_t k = level; k < level + levels; ++k)
      for (std::int64_t j = 0; j < box.rows; ++j)
        for (std::int64_t i = 0; i < box.columns; ++i)
          wrong += *value++ != static_cast<T>(cell_value(seed, k, box.row(j), box.column(i)));
    return wrong;
  });
}

std::int64_t arrays_bytes(const Content& content, const Grid& grid, const Tiling& tiling, int rank,
                          std::int64_t records, Purpose purpose) {
  std::int64_t bytes = 0;
  for (const auto& field : content.fields) {
    if (!field.distributed || (purpose == Purpose::write && !field.same_as.empty())) continue;
    const LocalField shape(field, tile_of(field, grid, tiling, rank), records, LocalField::Memory::none);
    bytes += (field.levels() + (field.record ? records - 1 : 0)) * shape.level_pitch() * size_of(field.type);
  }
  return bytes;
}

std::vector<LocalField> make_arrays(const Content& content, const Grid& grid, const Tiling& tiling, int rank,
                                    std::int64_t records, Purpose purpose) {
  std::vector<LocalField> arrays;
  for (const auto& field : content.fields) {
    if (!field.distributed) continue;
    const auto like = std::find_if(arrays.begin(), arrays.end(), [&](const LocalField& other) {
      return purpose == Purpose::write && other.field().name == field.same_as;
    });
    if (like != arrays.end())
      arrays.emplace_back(field, *like);
    else
      arrays.emplace_back(field, tile_of(field, grid, tiling, rank), records);
  }
  return arrays;
}

}  // namespace shoal::bench
