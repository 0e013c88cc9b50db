// SPDX-License-Identifier: BSD-3-Clause
// What most models do: every rank sends its cells to rank 0, which puts the field together and writes it
// through serial netCDF-C; reading is the same way back.
#include "method.hpp"

#ifdef SHOAL_HAVE_NETCDF

#include <fcntl.h>
#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "netcdf_file.hpp"

namespace shoal::bench {

namespace {

constexpr int k_tag = 17;

class Gather : public Method {
 public:
  void prepare(Run& run) override {
    std::int64_t most = 0, whole = 0;
    for (const auto& array : run.arrays) {
      most = std::max(most, array.owned_bytes());
      whole = std::max(whole, array.field().elements() * size_of(array.field().type));
    }
    // The largest tile of any rank, since rank 0 receives them all.
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, run.comm);
    packed_.assign(static_cast<std::size_t>(most), std::byte{0});
    if (run.rank == 0) whole_.assign(static_cast<std::size_t>(whole), std::byte{0});
    tiles_.clear();
    for (const auto& array : run.arrays)
      tiles_.push_back(tiles_of(run, array.tile()));
  }

  void create(Run& run) override {
    if (run.rank != 0) return;
    run.phases.time(Phase::open, [&] {
      check_netcdf(nc_create(run.path.c_str(), NC_CLOBBER | netcdf_create_mode(run.format), &file_),
                   "creation", run.path);
    });
    run.phases.time(Phase::write_meta, [&] { ids_ = define_netcdf(file_, run.content, run.path); });
  }

  void put(Run& run, std::int64_t record) override {
    std::size_t at = 0;
    for (std::size_t i = 0; i < run.content.fields.size(); ++i) {
      const auto& field = run.content.fields[i];
      const std::size_t array = field.distributed ? at++ : 0;
      if (field.record != (record >= 0)) continue;
      if (field.distributed) {
        run.phases.time_field(field, [&] {
          collect(run, run.arrays[array], tiles_[array], run.in_memory(record));
          if (run.rank == 0) put_whole(run, i, netcdf_whole(field, record), whole_.data());
        });
      } else if (run.rank == 0) {
        put_whole(run, i, netcdf_whole(field, record),
                  replicated_values(field, std::max<std::int64_t>(record, 0)).data());
      }
    }
  }

  void sync(Run& run) override {
    if (run.rank != 0) return;
    run.phases.time(Phase::store, [&] {
      check_netcdf(nc_sync(file_), "sync", run.path);
      if (run.flush) flush(run.path);
    });
  }

  void finish(Run& run) override {
    run.stage_bytes += static_cast<std::int64_t>(packed_.size() + whole_.size());
    run.at_peak();
    run.phases.time(Phase::close, [&] { run.phases.time(Phase::store, [&] { close_written(run); }); });
  }

  void open(Run& run) override {
    if (run.rank != 0) return;
    run.phases.time(Phase::open, [&] {
      check_netcdf(nc_open(run.path.c_str(), NC_NOWRITE, &file_), "opening", run.path);
    });
    run.phases.time(Phase::read_meta, [&] { ids_ = find_netcdf_variables(file_, run.content, run.path); });
  }

  void get(Run& run, std::int64_t record) override {
    std::size_t at = 0;
    for (std::size_t i = 0; i < run.content.fields.size(); ++i) {
      const auto& field = run.content.fields[i];
      if (!field.distributed) continue;
      auto& array = run.arrays[at];
      const auto& tiles = tiles_[at++];
      if (field.record != (record >= 0)) continue;
      if (run.rank == 0) {
        const auto s = netcdf_whole(field, record);
        check_netcdf(nc_get_vara(file_, ids_[i], s.start.data(), s.count.data(), whole_.data()),
                     "reading of " + field.name, run.path);
      }
      spread(run, array, tiles);
    }
  }

  void close(Run& run) override {
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      if (run.rank == 0) check_netcdf(nc_close(file_), "closing", run.path);
    });
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

  void put_whole(Run& run, std::size_t i, const NetcdfSection& s, const std::byte* values) {
    run.phases.time(Phase::store, [&] {
      check_netcdf(nc_put_vara(file_, ids_[i], s.start.data(), s.count.data(), values),
                   "writing of " + run.content.fields[i].name, run.path);
    });
  }

  void collect(Run& run, LocalField& array, const std::vector<Tile>& tiles, std::int64_t record) {
    run.phases.time(Phase::pack, [&] { array.pack(record, packed_.data()); });
    if (run.rank != 0) {
      run.phases.time(Phase::exchange, [&] { send(run, packed_.data(), array.owned_bytes(), 0); });
      return;
    }
    place(array.field(), tiles[0], packed_.data(), true);
    for (int r = 1; r < run.ranks; ++r) {
      const auto& tile = tiles[static_cast<std::size_t>(r)];
      const auto bytes = tile_bytes(array.field(), tile);
      run.phases.time(Phase::exchange, [&] { receive(run, packed_.data(), bytes, r); });
      place(array.field(), tile, packed_.data(), true);
    }
  }

  void spread(Run& run, LocalField& array, const std::vector<Tile>& tiles) {
    for (int r = 1; r < run.ranks && run.rank == 0; ++r) {
      const auto& tile = tiles[static_cast<std::size_t>(r)];
      place(array.field(), tile, packed_.data(), false);
      run.phases.time(Phase::exchange,
                      [&] { send(run, packed_.data(), tile_bytes(array.field(), tile), r); });
    }
    if (run.rank == 0) {
      place(array.field(), tiles[0], packed_.data(), false);
    } else {
      run.phases.time(Phase::exchange, [&] { receive(run, packed_.data(), array.owned_bytes(), 0); });
    }
    array.unpack(0, packed_.data());
  }

  // A tile's packed cells to their place in the whole field, or from there.
  void place(const Field& field, const Tile& tile, std::byte* packed, bool into_whole) {
    const auto size = size_of(field.type);
    const auto row_bytes = static_cast<std::size_t>(tile.columns * size);
    for (std::int64_t k = 0; k < field.levels(); ++k)
      for (std::int64_t j = 0; j < tile.rows; ++j) {
        auto* at = whole_.data() +
                   ((k * field.rows() + tile.first_row + j) * field.columns() + tile.first_column) * size;
        if (into_whole) {
          std::memcpy(at, packed, row_bytes);
        } else {
          std::memcpy(packed, at, row_bytes);
        }
        packed += row_bytes;
      }
  }

  static std::int64_t tile_bytes(const Field& field, const Tile& tile) {
    return field.levels() * tile.rows * tile.columns * size_of(field.type);
  }

  // In pieces, since MPI counts with int.
  static void send(Run& run, const std::byte* data, std::int64_t bytes, int to) {
    for (std::int64_t at = 0; at < bytes; at += k_piece)
      MPI_Send(data + at, static_cast<int>(std::min(k_piece, bytes - at)), MPI_BYTE, to, k_tag, run.comm);
  }
  static void receive(Run& run, std::byte* data, std::int64_t bytes, int from) {
    for (std::int64_t at = 0; at < bytes; at += k_piece)
      MPI_Recv(data + at, static_cast<int>(std::min(k_piece, bytes - at)), MPI_BYTE, from, k_tag, run.comm,
               MPI_STATUS_IGNORE);
  }

  void close_written(Run& run) {
    if (run.rank != 0) return;
    check_netcdf(nc_close(file_), "closing", run.path);
    if (run.flush) flush(run.path);
  }

  // Nobody else has written.
  static void flush(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0) throw std::runtime_error("bare-gather: " + path + " could not be flushed");
    ::close(fd);
  }

  static constexpr std::int64_t k_piece = std::int64_t{1} << 30U;
  int file_ = -1;
  std::vector<int> ids_;
  std::vector<std::byte> packed_, whole_;
  std::vector<std::vector<Tile>> tiles_;  // [array][rank]
};

}  // namespace

std::unique_ptr<Method> make_bare_gather(const MethodEntry&) {
  return std::make_unique<Gather>();
}

}  // namespace shoal::bench

#endif
