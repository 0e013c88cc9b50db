// SPDX-License-Identifier: BSD-3-Clause
// What no library can beat: each rank's values as one contiguous block at its own offset, with plain pwrite.
#include <fcntl.h>

#include "transfer.hpp"
#include "writers.hpp"

namespace shoal::bench::e3sm {

namespace {

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
    path_ = job.path;
    fd_ = ::open(job.path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (fd_ < 0) fail("creation of", job.path);
  }

  void post(const Job&) override {
    write_all(fd_, packed_.data(), static_cast<std::int64_t>(packed_.size()), offset_, path_);
  }

  void flush() override {}
  void close() override {
    if (::close(fd_) != 0) fail("closing of", path_);
  }

  std::int64_t wrong(const Job& job) override {
    std::vector<std::byte> found(packed_.size());
    const int fd = ::open(job.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail("opening of", job.path);
    read_all(fd, found.data(), static_cast<std::int64_t>(found.size()), offset_, job.path);
    ::close(fd);
    std::int64_t wrong = found == packed_ ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, job.comm);
    return wrong;
  }

 private:
  std::vector<std::byte> packed_;
  std::string path_;
  std::int64_t offset_ = 0;
  int fd_ = -1;
};

}  // namespace

std::unique_ptr<Writer> make_limit_writer() {
  return std::make_unique<LimitWriter>();
}

}  // namespace shoal::bench::e3sm
