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
    fixed_ = packed(run, false);
    record_ = packed(run, true);
    scratch_.assign(std::max(fixed_.size(), record_.size()), std::byte{1});
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
    if (run.in_place && record >= 0) run.phases.time(Phase::pack, [&] { pack_into(run, true, 0, buffer); });
    const auto write_some = [this](std::byte* data, std::size_t n, std::int64_t at) {
      return pwrite(fd_, data, n, at);
    };
    run.phases.time(Phase::store, [&] { transfer(run, record, buffer.data(), buffer.size(), write_some); });
  }

  void finish(Run& run) override {
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      if (run.flush && fsync(fd_) != 0) fail("fsync of", run.path);
      if (::close(fd_) != 0) fail("closing of", run.path);
    });
  }

  void open(Run& run) override {
    run.phases.time(Phase::open, [&] {
      fd_ = ::open(run.path.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd_ < 0) fail("opening of", run.path);
    });
  }

  // To a buffer of the same size.
  void get(Run& run, std::int64_t record) override {
    const auto read_some = [this](std::byte* data, std::size_t n, std::int64_t at) {
      return pread(fd_, data, n, at);
    };
    transfer(run, record, scratch_.data(), (record < 0 ? fixed_ : record_).size(), read_some);
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
    std::vector<std::byte> found;
    for (std::int64_t r = -1; r < run.records; ++r) {
      found.resize((r < 0 ? fixed_ : record_).size());
      transfer(run, r, found.data(), found.size(), read_some);
      wrong += wrong_bytes(r < 0 ? fixed_ : record_, found);
    }
    ::close(fd);
    return wrong;
  }

  // The last that was read is a record, where there are any.
  std::int64_t wrong_in_memory(Run& run) override {
    return wrong_bytes(run.records > 0 ? record_ : fixed_, scratch_);
  }

 private:
  static void pack_into(const Run& run, bool record, std::int64_t level, std::vector<std::byte>& out) {
    std::size_t at = 0;
    for (const auto& array : run.arrays) {
      if (array.field().record != record) continue;
      out.resize(std::max(out.size(), at + static_cast<std::size_t>(array.owned_bytes())));
      array.pack(level, out.data() + at);
      at += static_cast<std::size_t>(array.owned_bytes());
    }
  }

  // The record's buffer is the last record's, so that a search for one of its values finds it.
  static std::vector<std::byte> packed(const Run& run, bool record) {
    std::vector<std::byte> out;
    pack_into(run, record, record ? run.in_memory(run.records - 1) : 0, out);
    return out;
  }

  // found may be longer.
  static std::int64_t wrong_bytes(const std::vector<std::byte>& expected,
                                  const std::vector<std::byte>& found) {
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      wrong += found[i] != expected[i];
    return wrong;
  }

  // What a model that computes has read can only be told in its arrays.
  void unpack(Run& run, std::int64_t record) const {
    const auto* at = scratch_.data();
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
  std::vector<std::byte> fixed_, record_, scratch_;
  std::int64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_limit(const MethodEntry&) {
  return std::make_unique<Limit>();
}

}  // namespace shoal::bench
