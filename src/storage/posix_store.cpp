// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "storage/directory_sync.hpp"
#include "storage/past_cache.hpp"
#include "storage/paths.hpp"
#include "storage/store.hpp"

namespace shoal {
namespace {

// One system call moves just under 2 GiB at most; a round number below that keeps the pieces aligned.
constexpr std::size_t k_piece = std::size_t{1} << 30;
// Below that, waiting for the device costs more than a copy.
constexpr std::size_t k_least_past_cache = std::size_t{64} * 1024;

/// What a user can do about an errno of open(2), after "cannot open: No such file or directory".
std::string open_advice(int error_number, const std::string& path, StoreMode mode) {
  const bool creates = mode != StoreMode::read && mode != StoreMode::write;
  const std::string folder = folder_of(path);
  switch (error_number) {
    case ENOENT:
      if (!path_exists(folder))
        return fmt::format("; the folder '{}' does not exist: create it first, or correct the path", folder);
      return creates ? ""
                     : fmt::format(
                           "; the folder '{}' has no such file: correct the name, or create the file first",
                           folder);
    case ENOTDIR:
      return "; a part of the path that should be a folder is a file: correct the path";
    case EISDIR:
      return "; the path names a folder: give the name of a file in it";
    case EEXIST:
      return "; choose another name, remove the file, or allow it to be replaced";
    case EACCES:
    case EPERM:
      if (path_exists(path))
        return mode == StoreMode::read ? "; the file may not be read by this user: see its permissions"
                                       : "; the file may not be written by this user: see its permissions";
      return fmt::format(
          "; this user may not reach the folder '{}' or create files there: see its permissions", folder);
    case EROFS:
      return "; the file system is mounted read-only: choose another folder";
    case ENOSPC:
    case EDQUOT:
      return fmt::format("; {} are free there: make space, or choose another folder",
                         bytes_text(static_cast<double>(file_system_of(path).free)));
    case EMFILE:
    case ENFILE:
      return "; too many open files: close some, or raise the limit (ulimit -n)";
    default:
      return "";
  }
}

class PosixStore final : public Store {
 public:
  PosixStore(std::string path, StoreMode mode) : path_(std::move(path)) {
    int flags = O_CLOEXEC;
    const char* what = "cannot open the file";
    switch (mode) {
      case StoreMode::create:
        flags |= O_RDWR | O_CREAT | O_TRUNC;
        what = "cannot create the file";
        break;
      case StoreMode::create_exclusive:
        flags |= O_RDWR | O_CREAT | O_EXCL;
        what = "cannot create the file";
        break;
      case StoreMode::read:
        flags |= O_RDONLY;
        break;
      case StoreMode::write:
        flags |= O_RDWR;
        what = "cannot open the file for writing";
        break;
      case StoreMode::write_or_create:
        flags |= O_RDWR | O_CREAT;
        what = "cannot open the file for writing";
        break;
    }
    struct stat status {};
    // Who reads a pipe waits until another program has opened its other end.
    if (mode == StoreMode::read && ::stat(path_.c_str(), &status) == 0) refuse_pipe(status, what);
    do {
      descriptor_ = ::open(path_.c_str(), flags, 0666);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) fail_open(errno, what, mode);
    // A file that was made here is no other kind; each look may be a request to a server.
    if (mode != StoreMode::create_exclusive && ::fstat(descriptor_, &status) == 0) {
      // Reading, open(2) takes a folder too.
      if (S_ISDIR(status.st_mode)) {
        close_quietly();
        fail_open(EISDIR, what, mode);
      }
      refuse_pipe(status, what);
    }
    if (!is_in_user_space(descriptor_)) return;
    forget_pages(0, 0);
    forgets_pages_ = mode != StoreMode::read;
  }

  ~PosixStore() override { close_quietly(); }

  const std::string& path() const override { return path_; }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    check_range(offset, bytes.size());
    std::size_t done = 0;
    while (done < bytes.size()) {
      const std::size_t piece = std::min(bytes.size() - done, k_piece);
      const ssize_t n = ::pwrite(descriptor(), bytes.data() + done, piece, static_cast<off_t>(offset + done));
      if (n > 0) {
        done += static_cast<std::size_t>(n);
      } else if (n == 0 || errno != EINTR) {
        fail(n == 0 ? EIO : errno,
             fmt::format("cannot write {} bytes at offset {} ({} were written)", bytes.size(), offset, done));
      }
    }
  }

  // Pages at both ends may be other writers' as well.
  std::size_t write_past_cache(std::uint64_t offset, std::span<const std::byte> bytes) override {
    check_range(offset, bytes.size());
    constexpr std::uint64_t page = PastCache::k_page;
    const std::size_t head = (page - offset % page) % page;
    std::size_t past = 0;
    if (bytes.size() >= head + k_least_past_cache) {
      if (!past_cache_) past_cache_.emplace(descriptor());
      const std::size_t pages = (bytes.size() - head) / page * page;
      past = in_context(path_, [&] { return past_cache_->write(offset + head, bytes.subspan(head, pages)); });
    }
    if (past == 0) {
      write(offset, bytes);
      return 0;
    }
    if (head > 0) write(offset, bytes.first(head));
    if (head + past < bytes.size()) write(offset + head + past, bytes.subspan(head + past));
    return past;
  }

  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    check_range(offset, bytes.size());
    if (forgets_pages_ && !bytes.empty()) forget_pages(offset, bytes.size());
    std::size_t done = 0;
    while (done < bytes.size()) {
      const std::size_t piece = std::min(bytes.size() - done, k_piece);
      const ssize_t n = ::pread(descriptor(), bytes.data() + done, piece, static_cast<off_t>(offset + done));
      if (n == 0) break;
      if (n > 0)
        done += static_cast<std::size_t>(n);
      else if (errno != EINTR)
        fail(errno, fmt::format("cannot read {} bytes at offset {}", bytes.size(), offset));
    }
    return done;
  }

  std::uint64_t size() override {
    struct stat status {};
    if (::fstat(descriptor(), &status) != 0) fail(errno, "cannot find out the size");
    return static_cast<std::uint64_t>(status.st_size);
  }

  void resize(std::uint64_t size) override {
    check_range(size, 0);
    int result = 0;
    do {
      result = ::ftruncate(descriptor(), static_cast<off_t>(size));
    } while (result != 0 && errno == EINTR);
    if (result != 0) fail(errno, fmt::format("cannot set the size to {} bytes", size));
  }

  void send() override { ::sync_file_range(descriptor(), 0, 0, SYNC_FILE_RANGE_WRITE); }
  void sync() override {
    int result = 0;
    do {
      result = ::fdatasync(descriptor());
    } while (result != 0 && errno == EINTR);
    if (result != 0) fail(errno, "cannot bring the data to the device");
  }

  void close() override {
    const int open_descriptor = descriptor();
    descriptor_ = -1;
    past_cache_.reset();
    // After EINTR the descriptor is gone on Linux, and the data is with the kernel as after a plain write.
    if (::close(open_descriptor) != 0 && errno != EINTR)
      fail(errno, "closing the file failed, data may be lost");
  }

 private:
  int descriptor() const {
    if (descriptor_ < 0) throw Error(Code::state, "the file is closed already").in_file(path_);
    return descriptor_;
  }

  void close_quietly() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  // Of a file that other nodes write: GlusterFS opens a file that its client has created with pages of the
  // kernel, also if mounted with direct-io-mode=enable, and nobody tells that kernel what others write. Only
  // whole pages are forgotten. bytes 0: to the end.
  void forget_pages(std::uint64_t offset, std::size_t bytes) const {
    constexpr std::uint64_t page = 65536;  // the largest one of usual machines
    const std::uint64_t begin = offset / page * page;
    const std::uint64_t end = (offset + bytes + page - 1) / page * page;
    ::posix_fadvise(descriptor_, static_cast<off_t>(begin), static_cast<off_t>(bytes > 0 ? end - begin : 0),
                    POSIX_FADV_DONTNEED);
  }

  void check_range(std::uint64_t offset, std::size_t bytes) const {
    constexpr auto k_largest = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
    if (offset > k_largest || bytes > k_largest - offset)
      throw Error(Code::invalid_argument, "{} bytes at offset {} end behind the largest possible offset, {}",
                  bytes, offset, k_largest)
          .in_file(path_);
  }

  void refuse_pipe(const struct stat& status, const char* what) {
    if (!S_ISFIFO(status.st_mode)) return;
    close_quietly();
    throw Error(Code::invalid_argument,
                std::string(what) + ": the path names a pipe; give the name of a file")
        .in_file(path_);
  }

  [[noreturn]] void fail_open(int error_number, const char* what, StoreMode mode) const {
    const Error plain = errno_error(error_number, what);
    throw Error(plain.code(), plain.status().message + open_advice(error_number, path_, mode)).in_file(path_);
  }

  [[noreturn]] void fail(int error_number, const std::string& what) const {
    const Error plain = errno_error(error_number, what);
    throw Error(plain.code(), plain.status().message + write_advice(error_number, path_)).in_file(path_);
  }

  std::string path_;
  int descriptor_ = -1;
  bool forgets_pages_ = false;  ///< before each read
  std::optional<PastCache> past_cache_;
};

}  // namespace

std::string write_advice(int error_number, const std::string& path) {
  switch (error_number) {
    case ENOSPC:
      return fmt::format("; {} are free there: make space, or write to another file system",
                         bytes_text(static_cast<double>(file_system_of(path).free)));
    case EDQUOT:
      return "; the quota of this user or group is used up: remove files, or write to another file system";
    case EFBIG:
      return "; the file system or the limit of the process (ulimit -f) allows no file of that size";
    case EBADF:
      return "; the file was opened for reading only";
    default:
      return "";
  }
}

std::unique_ptr<Store> open_posix_store(const std::string& path, StoreMode mode) {
  return std::make_unique<PosixStore>(path, mode);
}

}  // namespace shoal
