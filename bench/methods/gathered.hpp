// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "methods/packed_method.hpp"

namespace shoal::bench {

/// What most models do: every rank sends its cells to rank 0, which puts the field together and writes it
/// through a library without MPI; reading is the same way back. Base has, beside what PackedMethod has,
///   put_gathered(run, number of the field, record, values)   a field as a whole, or of a record, on rank 0
///   get_gathered(run, number of the field, record, values)
template <class Base>
class Gathered : public Base {
 public:
  void prepare(Run& run) override {
    std::int64_t most = 0, whole = 0;
    for (const auto& array : run.arrays) {
      most = std::max(most, array.owned_bytes());
      whole = std::max(whole, array.field().elements() * size_of(array.field().type));
    }
    // The largest tile of any rank, since rank 0 receives them all.
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, run.comm);
    packed().assign(static_cast<std::size_t>(most), std::byte{0});
    if (run.rank == 0) whole_.assign(static_cast<std::size_t>(whole), std::byte{0});
    tiles_.clear();
    for (const auto& array : run.arrays)
      tiles_.push_back(tiles_of(run, array.tile()));
  }

  // Rank 0 alone has a file.
  void create(Run& run) override {
    if (run.rank == 0) Base::create(run);
  }
  void open(Run& run) override {
    if (run.rank == 0) Base::open(run);
  }
  void sync(Run& run) override {
    if (run.rank == 0) Base::sync(run);
  }
  void finish(Run& run) override {
    run.stage_bytes += static_cast<std::int64_t>(whole_.size());
    Base::finish(run);
  }

 protected:
  using Base::packed;

  void close_file(Run& run) override {
    if (run.rank == 0) Base::close_file(run);
  }
  void close_written(Run& run) override {
    if (run.rank == 0) Base::close_written(run);
  }
  void put_whole(Run& run, std::size_t i, std::int64_t record) override {
    if (run.rank == 0) Base::put_whole(run, i, record);
  }

  void put_part(Run& run, std::size_t i, LocalField& array, std::int64_t record) override {
    if (run.rank != 0) {
      run.phases.time(Phase::exchange, [&] { send(run, array.owned_bytes(), 0); });
      return;
    }
    const auto& tiles = tiles_of(run, array);
    place(array.field(), tiles[0], true);
    for (int r = 1; r < run.ranks; ++r) {
      const auto& tile = tiles[static_cast<std::size_t>(r)];
      run.phases.time(Phase::exchange, [&] { receive(run, tile_bytes(array.field(), tile), r); });
      place(array.field(), tile, true);
    }
    this->put_gathered(run, i, record, whole_.data());
  }

  void get_part(Run& run, std::size_t i, LocalField& array, std::int64_t record) override {
    if (run.rank != 0) {
      run.phases.time(Phase::exchange, [&] { receive(run, array.owned_bytes(), 0); });
      return;
    }
    this->get_gathered(run, i, record, whole_.data());
    const auto& tiles = tiles_of(run, array);
    for (int r = 1; r < run.ranks; ++r) {
      const auto& tile = tiles[static_cast<std::size_t>(r)];
      place(array.field(), tile, false);
      run.phases.time(Phase::exchange, [&] { send(run, tile_bytes(array.field(), tile), r); });
    }
    place(array.field(), tiles[0], false);
  }

 private:
  static std::vector<Tile> tiles_of(const Run& run, const Tile& mine) {
    using Numbers = std::array<std::int64_t, 4>;
    const Numbers box{mine.first_row, mine.rows, mine.first_column, mine.columns};
    std::vector<Numbers> boxes(static_cast<std::size_t>(run.ranks));
    MPI_Allgather(box.data(), 4, MPI_INT64_T, boxes.data(), 4, MPI_INT64_T, run.comm);
    std::vector<Tile> tiles;
    for (const auto& [first_row, rows, first_column, columns] : boxes)
      tiles.push_back({first_row, rows, first_column, columns});
    return tiles;
  }
  const std::vector<Tile>& tiles_of(const Run& run, const LocalField& array) const {
    return tiles_[static_cast<std::size_t>(&array - run.arrays.data())];
  }

  // A tile's packed cells to their place in the whole field, or from there.
  void place(const Field& field, const Tile& tile, bool into_whole) {
    const auto size = size_of(field.type);
    const auto row_bytes = static_cast<std::size_t>(tile.columns * size);
    std::byte* cells = packed().data();
    for (std::int64_t k = 0; k < field.levels(); ++k)
      for (std::int64_t j = 0; j < tile.rows; ++j) {
        auto* at = whole_.data() +
                   ((k * field.rows() + tile.first_row + j) * field.columns() + tile.first_column) * size;
        if (into_whole)
          std::memcpy(at, cells, row_bytes);
        else
          std::memcpy(cells, at, row_bytes);
        cells += row_bytes;
      }
  }

  static std::int64_t tile_bytes(const Field& field, const Tile& tile) {
    return field.levels() * tile.cells() * size_of(field.type);
  }

  // In pieces, since MPI counts with int.
  void send(const Run& run, std::int64_t bytes, int to) {
    for (std::int64_t at = 0; at < bytes; at += k_piece)
      MPI_Send(packed().data() + at, static_cast<int>(std::min(k_piece, bytes - at)), MPI_BYTE, to, k_tag,
               run.comm);
  }
  void receive(const Run& run, std::int64_t bytes, int from) {
    for (std::int64_t at = 0; at < bytes; at += k_piece)
      MPI_Recv(packed().data() + at, static_cast<int>(std::min(k_piece, bytes - at)), MPI_BYTE, from, k_tag,
               run.comm, MPI_STATUS_IGNORE);
  }

  static constexpr std::int64_t k_piece = std::int64_t{1} << 30U;
  static constexpr int k_tag = 17;
  std::vector<std::byte> whole_;
  std::vector<std::vector<Tile>> tiles_;  // [array][rank]
};

}  // namespace shoal::bench
