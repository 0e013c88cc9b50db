// SPDX-License-Identifier: BSD-3-Clause
// What no library can beat: each rank's bytes as one contiguous block of a shared file at the rank's own
// offset, written with plain pwrite from a packed buffer and read with plain pread.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "method.hpp"

namespace shoal::bench {

namespace {

constexpr std::byte k_spoilt{0xA5};

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw std::system_error(errno, std::generic_category(), what + " " + path);
}

template <class Transfer>
void whole(Transfer&& transfer, std::byte* data, std::int64_t bytes, std::int64_t offset,
           const std::string& path) {
  while (bytes > 0) {
    const auto n = transfer(data, static_cast<std::size_t>(bytes), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("transfer of", path);
    if (n == 0) throw std::runtime_error("limit: " + path + " ends early");
    data += n;
    bytes -= n;
    offset += n;
  }
}

class Limit : public Method {
 public:
  // One buffer for the fields without records, one for a record: a model's output buffer does not hold the
  // whole run.
  void prepare(Run& run) override {
    fixed_.assign(bytes_of(run, false), k_spoilt);
    record_.assign(bytes_of(run, true), k_spoilt);
    if (!run.reads) {
      pack_into(run, false, 0, fixed_);
      pack_into(run, true, run.in_memory(run.records - 1), record_);
    }
    const std::int64_t mine =
        static_cast<std::int64_t>(fixed_.size() + record_.size() * static_cast<std::size_t>(run.records));
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
    auto& buffer = record < 0 ? fixed_ : record_;
    if (record >= 0) run.phases.time(Phase::pack, [&] { renew(run, record); });
    const auto write_some = [this](std::byte* data, std::size_t n, std::int64_t at) {
      return pwrite(fd_, data, n, at);
    };
    run.phases.time(Phase::store, [&] { transfer(run, record, buffer.data(), buffer.size(), write_some); });
  }

  void finish(Run& run) override {
    run.stage_bytes += static_cast<std::int64_t>(fixed_.size() + record_.size());
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
    const auto read_some = [this](std::byte* data, std::size_t n, std::int64_t at) {
      return pread(fd_, data, n, at);
    };
    auto& buffer = record < 0 ? fixed_ : record_;
    transfer(run, record, buffer.data(), buffer.size(), read_some);
    if (run.in_place) unpack(run, record);
  }

  void close(Run& run) override {
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      if (::close(fd_) != 0) fail("closing of", run.path);
    });
  }

  std::int64_t wrong_in_file(Run& run) override {
    const int fd = ::open(run.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail("opening of", run.path);
    const auto read_some = [fd](std::byte* data, std::size_t n, std::int64_t at) {
      return pread(fd, data, n, at);
    };
    std::int64_t wrong = 0;
    for (std::int64_t r = -1; r < run.records; ++r) {
      auto found = std::vector<std::byte>((r < 0 ? fixed_ : record_).size(), k_spoilt);
      transfer(run, r, found.data(), found.size(), read_some);
      wrong += wrong_cells(run, r, found);
    }
    ::close(fd);
    return wrong;
  }

  std::int64_t wrong_in_memory(Run& run, std::int64_t record) override {
    auto& found = record < 0 ? fixed_ : record_;
    const auto wrong = wrong_cells(run, record, found);
    // Nothing of it may pass for the next record.
    std::fill(found.begin(), found.end(), k_spoilt);
    return wrong;
  }

 private:
  static std::size_t bytes_of(const Run& run, bool record) {
    std::int64_t bytes = 0;
    for (const auto& array : run.arrays)
      if (array.field().record == record) bytes += array.owned_bytes();
    return static_cast<std::size_t>(bytes);
  }

  static void pack_into(const Run& run, bool record, std::int64_t level, std::vector<std::byte>& out) {
    auto* at = out.data();
    for (const auto& array : run.arrays) {
      if (array.field().record != record) continue;
      array.pack(level, at);
      at += array.owned_bytes();
    }
  }

  // What a model computes is packed. Otherwise packing would be a part of the time, and what is left out of
  // it is what this method is for: the buffer keeps the last record's values but for the first of each field,
  // which tells records apart.
  void renew(const Run& run, std::int64_t record) {
    if (run.in_place) return pack_into(run, true, 0, record_);
    auto* at = record_.data();
    for (const auto& array : run.arrays) {
      if (!array.field().record) continue;
      if (array.owned_bytes() > 0) std::copy_n(array.interior(record), size_of(array.field().type), at);
      at += array.owned_bytes();
    }
  }

  void flush(const Run& run) const {
    if (fsync(fd_) != 0) fail("fsync of", run.path);
  }

  // Changes what was found.
  static std::int64_t wrong_cells(const Run& run, std::int64_t record, std::vector<std::byte>& found) {
    std::int64_t wrong = 0;
    auto* at = found.data();
    for (const auto& array : run.arrays) {
      const auto& field = array.field();
      if (field.record != (record >= 0)) continue;
      if (record >= 0 && array.owned_bytes() > 0) {
        const Tile cell{array.tile().first_row, 1, array.tile().column(0), 1};
        const auto own = values_of_box(field, cell, record),
                   last = values_of_box(field, cell, run.records - 1);
        if (!std::equal(own.begin(), own.end(), at)) ++wrong;
        std::copy(last.begin(), last.end(), at);
      }
      wrong += array.wrong_packed(at, record < 0 ? 0 : run.records - 1);
      at += array.owned_bytes();
    }
    return wrong;
  }

  // What a model that computes has read can only be told in its arrays.
  void unpack(Run& run, std::int64_t record) const {
    const auto* at = (record < 0 ? fixed_ : record_).data();
    for (auto& array : run.arrays) {
      if (array.field().record != (record >= 0)) continue;
      array.unpack(0, at);
      at += array.owned_bytes();
    }
  }

  // A rank's block: what has no records, then the records.
  template <class Transfer>
  void transfer(const Run& run, std::int64_t record, std::byte* data, std::size_t bytes,
                Transfer&& some) const {
    const auto fixed = static_cast<std::int64_t>(fixed_.size()),
               one = static_cast<std::int64_t>(record_.size());
    whole(some, data, static_cast<std::int64_t>(bytes), offset_ + (record < 0 ? 0 : fixed + record * one),
          run.path);
  }

  int fd_ = -1;
  std::vector<std::byte> fixed_, record_;
  std::int64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_limit(const MethodEntry&) {
  return std::make_unique<Limit>();
}

}  // namespace shoal::bench
