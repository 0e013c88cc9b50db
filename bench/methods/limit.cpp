// SPDX-License-Identifier: BSD-3-Clause
// What no library can beat: each rank's bytes as one contiguous block of a shared file at the rank's own
// offset, written with plain pwrite from a packed buffer and read with plain pread.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "method.hpp"
#include "transfer.hpp"

namespace shoal::bench {

namespace {

/// The owned cells of the fields with or without records, packed, as they follow each other in the rank's
/// block. Fields that share their array share this, too, so that large files fit beside it.
class Packed {
 public:
  Packed() = default;
  Packed(const Run& run, bool of_records) {
    std::size_t size = 0;
    std::map<const std::byte*, std::size_t> places;
    for (std::size_t i = 0; i < run.arrays.size(); ++i) {
      const auto& array = run.arrays[i];
      if (array.field().record != of_records) continue;
      const auto bytes = static_cast<std::size_t>(array.owned_bytes());
      const auto [place, is_new] = places.try_emplace(array.record(0), size);
      pieces_.push_back({i, place->second, bytes});
      in_file_ += static_cast<std::int64_t>(bytes);
      if (is_new) size += bytes;
    }
    memory_.assign(size, k_spoilt);
  }
  std::int64_t in_file() const { return in_file_; }  ///< bytes of a record
  std::int64_t in_memory() const { return static_cast<std::int64_t>(memory_.size()); }
  void spoil() { std::fill(memory_.begin(), memory_.end(), k_spoilt); }

  /// Each field's array and where its cells are.
  template <class Visit>
  void for_each(const Run& run, Visit&& visit) {
    for (const auto& piece : pieces_)
      visit(run.arrays[piece.array], memory_.data() + piece.at);
  }

  /// move(memory, bytes, offset) for what goes to one place of the file: one piece, but for what is shared.
  template <class Move>
  void for_pieces(std::int64_t offset, Move&& move) {
    for (std::size_t i = 0; i < pieces_.size();) {
      const std::size_t begin = pieces_[i].at;
      std::size_t end = begin;
      for (; i < pieces_.size() && pieces_[i].at == end; ++i)
        end += pieces_[i].bytes;
      const auto bytes = static_cast<std::int64_t>(end - begin);
      move(memory_.data() + begin, bytes, offset);
      offset += bytes;
    }
  }

 private:
  struct Piece {
    std::size_t array;  ///< of the run's
    std::size_t at;     ///< in memory_
    std::size_t bytes;
  };
  std::vector<Piece> pieces_;
  std::vector<std::byte> memory_;
  std::int64_t in_file_ = 0;
};

class Limit : public Method {
 public:
  // One buffer for the fields without records, one for a record: a model's output buffer does not hold the
  // whole run.
  void prepare(Run& run) override {
    fixed_ = Packed(run, false);
    record_ = Packed(run, true);
    if (!run.reads) {
      pack(run, fixed_, 0);
      pack(run, record_, run.in_memory(run.records - 1));
    }
    const std::int64_t mine = fixed_.in_file() + record_.in_file() * run.records;
    std::int64_t end = 0;
    MPI_Scan(&mine, &end, 1, MPI_INT64_T, MPI_SUM, run.comm);
    offset_ = end - mine;
  }

  void create(Run& run) override {
    run.phases.time(Phase::open, [&] {
      // The ranks need not wait for one of them to make the file.
      fd_ = ::open(run.path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
      if (fd_ < 0) fail("creation of", run.path);
    });
  }

  void put(Run& run, std::int64_t record) override {
    if (record >= 0) run.phases.time(Phase::pack, [&] { renew(run, record); });
    run.phases.time(Phase::store, [&] {
      packed(record).for_pieces(place(record), [&](std::byte* data, std::int64_t bytes, std::int64_t at) {
        write_all(fd_, data, bytes, at, run.path);
      });
    });
  }

  void finish(Run& run) override {
    run.stage_bytes += fixed_.in_memory() + record_.in_memory();
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      if (run.flush) run.phases.time(Phase::store, [&] { flush(run); });
      if (::close(fd_) != 0) fail("closing of", run.path);
    });
  }

  void open(Run& run) override {
    run.phases.time(Phase::open, [&] {
      fd_ = ::open(run.path.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd_ < 0) fail("opening of", run.path);
    });
  }

  // To the buffer that it would have been written from.
  void get(Run& run, std::int64_t record) override {
    packed(record).for_pieces(place(record), [&](std::byte* data, std::int64_t bytes, std::int64_t at) {
      read_all(fd_, data, bytes, at, run.path);
    });
    if (run.in_place) unpack(run, record);
  }

  void close(Run& run) override {
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      if (::close(fd_) != 0) fail("closing of", run.path);
    });
  }

  // Field by field.
  std::int64_t wrong_in_file(Run& run) override {
    const int fd = ::open(run.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail("opening of", run.path);
    std::int64_t wrong = 0;
    for (std::int64_t r = -1; r < run.records; ++r) {
      std::int64_t at = place(r);
      packed(r).for_each(run, [&](const LocalField& array, const std::byte*) {
        std::vector<std::byte> found(static_cast<std::size_t>(array.owned_bytes()), k_spoilt);
        read_all(fd, found.data(), array.owned_bytes(), at, run.path);
        wrong += wrong_cells(run, r, array, found.data());
        at += array.owned_bytes();
      });
    }
    ::close(fd);
    return wrong;
  }

  std::int64_t wrong_in_memory(Run& run, std::int64_t record) override {
    std::int64_t wrong = 0;
    packed(record).for_each(run, [&](const LocalField& array, std::byte* found) {
      wrong += wrong_cells(run, record, array, found);
    });
    // Nothing of it may pass for the next record.
    packed(record).spoil();
    return wrong;
  }

 private:
  Packed& packed(std::int64_t record) { return record < 0 ? fixed_ : record_; }

  /// A rank's block: what has no records, then the records.
  std::int64_t place(std::int64_t record) const {
    return offset_ + (record < 0 ? 0 : fixed_.in_file() + record * record_.in_file());
  }

  static void pack(const Run& run, Packed& out, std::int64_t level) {
    out.for_each(run, [&](const LocalField& array, std::byte* at) { array.pack(level, at); });
  }

  // What a model computes is packed. Otherwise packing would be a part of the time, and what is left out of
  // it is what this method is for: the buffer keeps the last record's values but for the first of each field,
  // which distinguishes records.
  void renew(const Run& run, std::int64_t record) {
    if (run.in_place) return pack(run, record_, 0);
    record_.for_each(run, [&](const LocalField& array, std::byte* at) {
      if (array.owned_bytes() > 0) std::copy_n(array.interior(record), size_of(array.field().type), at);
    });
  }

  void flush(const Run& run) const {
    if (fsync(fd_) != 0) fail("fsync of", run.path);
  }

  // Changes what was found.
  static std::int64_t wrong_cells(const Run& run, std::int64_t record, const LocalField& array,
                                  std::byte* found) {
    const auto& field = array.field();
    std::int64_t wrong = 0;
    if (record >= 0 && array.owned_bytes() > 0) {
      const Tile cell{array.tile().first_row, 1, array.tile().column(0), 1};
      const auto own = values_of_box(field, cell, record), last = values_of_box(field, cell, run.records - 1);
      if (!std::equal(own.begin(), own.end(), found)) ++wrong;
      std::copy(last.begin(), last.end(), found);
    }
    return wrong + array.wrong_packed(found, record < 0 ? 0 : run.records - 1);
  }

  // What a model that computes has read can only be checked in its arrays.
  void unpack(Run& run, std::int64_t record) {
    packed(record).for_each(run, [&](LocalField& array, const std::byte* at) { array.unpack(0, at); });
  }

  int fd_ = -1;
  Packed fixed_, record_;
  std::int64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_limit(const MethodEntry&) {
  return std::make_unique<Limit>();
}

}  // namespace shoal::bench
