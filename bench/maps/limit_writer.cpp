// SPDX-License-Identifier: BSD-3-Clause
// What no library can beat: each rank's values as one contiguous block at its own offset, with plain pwrite.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "writers.hpp"

namespace shoal::bench::e3sm {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), "limit: " + what);
}

class LimitWriter : public Writer {
 public:
  // Packed before it is timed.
  void prepare(const Job& job) override {
    for (const auto& v : job.variables)
      packed_.insert(packed_.end(), v.values.begin(), v.values.end());
    const auto mine = static_cast<std::int64_t>(packed_.size());
    MPI_Scan(&mine, &offset_, 1, MPI_INT64_T, MPI_SUM, job.comm);
    offset_ -= mine;
  }

  std::int64_t runs() const override { return 1; }

  void create(const Job& job) override {
    fd_ = ::open(job.path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (fd_ < 0) fail("creation of " + job.path);
  }

  void post(const Job&) override {
    for (std::size_t done = 0; done < packed_.size();) {
      const auto n = pwrite(fd_, packed_.data() + done, packed_.size() - done,
                            static_cast<off_t>(offset_ + static_cast<std::int64_t>(done)));
      if (n < 0 && errno != EINTR) fail("writing");
      if (n > 0) done += static_cast<std::size_t>(n);
    }
  }

  void flush() override {}
  void close() override {
    if (::close(fd_) != 0) fail("closing");
  }

  std::int64_t wrong(const Job& job) override {
    std::vector<std::byte> found(packed_.size());
    const int fd = ::open(job.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail("opening of " + job.path);
    std::size_t done = 0;
    while (done < found.size()) {
      const auto n = pread(fd, found.data() + done, found.size() - done,
                           static_cast<off_t>(offset_ + static_cast<std::int64_t>(done)));
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    ::close(fd);
    std::int64_t wrong = found == packed_ ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, job.comm);
    return wrong;
  }

 private:
  std::vector<std::byte> packed_;
  std::int64_t offset_ = 0;
  int fd_ = -1;
};

}  // namespace

std::unique_ptr<Writer> make_limit_writer() {
  return std::make_unique<LimitWriter>();
}

}  // namespace shoal::bench::e3sm
