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

  void write(Run& run) override {
    int fd = -1;
    run.phases.time(Phase::open, [&] {
      // The ranks need not wait for one of them to make the file.
      fd = open(run.path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
      if (fd < 0) fail("creation of", run.path);
    });
    const auto put = [fd](std::byte* data, std::size_t n, std::int64_t at) {
      return pwrite(fd, data, n, at);
    };
    run.phases.time(Phase::write, [&] { transfer_all(run, false, put); });
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      if (run.flush && fsync(fd) != 0) fail("fsync of", run.path);
      if (close(fd) != 0) fail("closing of", run.path);
    });
  }

  void read(Run& run) override {
    int fd = -1;
    run.phases.time(Phase::open, [&] {
      fd = open(run.path.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) fail("opening of", run.path);
    });
    const auto get = [fd](std::byte* data, std::size_t n, std::int64_t at) { return pread(fd, data, n, at); };
    run.phases.time(Phase::read, [&] { transfer_all(run, true, get); });
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      if (close(fd) != 0) fail("closing of", run.path);
    });
  }

  std::int64_t wrong_in_file(Run& run) override {
    const int fd = open(run.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail("opening of", run.path);
    const auto get = [fd](std::byte* data, std::size_t n, std::int64_t at) { return pread(fd, data, n, at); };
    std::int64_t wrong = 0, offset = offset_;
    const auto compare = [&](const std::vector<std::byte>& expected) {
      std::vector<std::byte> found(expected.size());
      whole(get, found.data(), static_cast<std::int64_t>(found.size()), offset, run.path);
      for (std::size_t i = 0; i < found.size(); ++i)
        wrong += found[i] != expected[i];
      offset += static_cast<std::int64_t>(found.size());
    };
    compare(fixed_);
    for (std::int64_t r = 0; r < run.records; ++r)
      compare(record_);
    close(fd);
    return wrong;
  }

  // The last that was read is a record.
  std::int64_t wrong_in_memory(Run&) override {
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < record_.size(); ++i)
      wrong += scratch_[i] != record_[i];
    return wrong;
  }

 private:
  // The record's buffer is the last record's, so that a search for one of its values finds it.
  static std::vector<std::byte> packed(const Run& run, bool record) {
    std::vector<std::byte> out;
    for (const auto& array : run.arrays) {
      if (array.field().record != record) continue;
      const auto at = out.size();
      out.resize(at + static_cast<std::size_t>(array.owned_bytes()));
      array.pack(record ? run.records - 1 : 0, out.data() + at);
    }
    return out;
  }

  // Writing takes the bytes of the buffers, reading goes to a third one of the same size.
  template <class Transfer>
  void transfer_all(Run& run, bool reading, Transfer&& transfer) {
    std::int64_t offset = offset_;
    const auto one = [&](std::vector<std::byte>& buffer) {
      const auto bytes = static_cast<std::int64_t>(buffer.size());
      whole(transfer, reading ? scratch_.data() : buffer.data(), bytes, offset, run.path);
      offset += bytes;
    };
    one(fixed_);
    for (std::int64_t r = 0; r < run.records; ++r)
      one(record_);
  }

  std::vector<std::byte> fixed_, record_, scratch_;
  std::int64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_limit() {
  return std::make_unique<Limit>();
}

}  // namespace shoal::bench
