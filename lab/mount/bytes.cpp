// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "mount/calls.hpp"

namespace shoal::lab {
namespace {

// What a program may ask of its descriptor, but not the daemon of its own: the kernel has done it, or the
// model.
constexpr int k_not_passed_on = O_APPEND | O_CREAT | O_DIRECT | O_EXCL | O_NOFOLLOW | O_SYNC | O_NOATIME;

/// What FUSE answers to open (struct fuse_open_out). libfuse has writes of one file by several programs of a
/// node at once in later versions only; the kernel has it since 6.2, and older ones do not look at the bit.
struct Opened {
  std::uint64_t handle;
  std::uint32_t flags;
  std::uint32_t padding;
};
constexpr std::uint32_t k_direct_io = 1u << 0;
constexpr std::uint32_t k_parallel_writes = 1u << 6;

Extent range_of(const struct flock& lock) {
  const std::int64_t begin = lock.l_start;
  return {begin, lock.l_len == 0 ? std::numeric_limits<std::int64_t>::max() : begin + lock.l_len};
}

}  // namespace

void Filesystem::Calls::open(fuse_req_t fuse, fuse_ino_t file, fuse_file_info* info) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  Model::Outcome outcome = fs.model_.open(request.at, request.client, file, fs.backing_.node(file).folder);
  if (outcome.error == 0 && (info->flags & O_TRUNC) != 0)
    outcome = fs.model_.truncate(outcome.done, request.client, file, 0);
  if (outcome.error != 0) return request.finish(outcome, 0);
  Descriptor opened(::open(fs.backing_.path(file).c_str(), (info->flags & ~k_not_passed_on) | O_CLOEXEC));
  if (!opened.valid()) return request.finish(outcome, errno);
  const std::uint64_t handle = fs.add_handle(std::move(opened), file, info->flags);
  request.finish(outcome, [request, handle] {
    const Opened answer{handle, k_direct_io | k_parallel_writes, 0};
    const int sent = fuse_reply_buf(request.fuse, reinterpret_cast<const char*>(&answer), sizeof(answer));
    if (sent == -ENOENT) request.fs.close_handle(handle);
  });
}

void Filesystem::Calls::create(fuse_req_t fuse, fuse_ino_t folder, const char* name, mode_t mode,
                               fuse_file_info* info) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  Model::Outcome outcome = fs.model_.create(request.at, request.client, folder);
  if (outcome.error != 0) return request.finish(outcome, 0);
  // Another client may have made it since this one looked; then it is that one's.
  const bool is_new = fs.backing_.number_of(folder, name) == 0;
  const int flags =
      (info->flags & ~k_not_passed_on) | O_CREAT | (info->flags & O_EXCL) | O_NOFOLLOW | O_CLOEXEC;
  Descriptor made;
  const auto open_it = [&](int in) {
    made = Descriptor(::openat(in, name, flags, mode));
    return made.valid() ? 0 : -1;
  };
  if (is_new)
    outcome.error = fs.make_entry(request, folder, name, open_it);
  else if (open_it(fs.backing_.descriptor(folder)) != 0)
    outcome.error = errno;
  FileId file = 0;
  struct stat status {};
  if (outcome.error == 0) outcome.error = fs.backing_.look_up(folder, name, file, status);
  if (outcome.error != 0) return request.finish(outcome, 0);
  if (is_new)
    fs.model_.add_file(request.client, file, folder, outcome.done);
  else if ((info->flags & O_TRUNC) != 0)
    outcome = fs.model_.truncate(outcome.done, request.client, file, 0);
  if (outcome.error != 0) {
    fs.backing_.forget(file, 1);
    return request.finish(outcome, 0);
  }
  info->fh = fs.add_handle(std::move(made), file, info->flags);
  info->direct_io = 1;
  request.finish(outcome, [request, file, info = *info] {
    fuse_entry_param entry{};
    entry.ino = file;
    request.fs.status_of(file, entry.attr);
    request.fs.told_[{request.client, request.thread}] = file;
    if (fuse_reply_create(request.fuse, &entry, &info) != -ENOENT) return;
    request.fs.close_handle(info.fh);
    request.fs.backing_.forget(file, 1);
  });
}

void Filesystem::Calls::read(fuse_req_t fuse, fuse_ino_t file, std::size_t size, off_t offset,
                             fuse_file_info* info) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  const Extent extent{offset, offset + static_cast<std::int64_t>(size)};
  const bool direct = fs.handle(info).direct;
  request.finish(fs.model_.read(request.at, request.client, file, extent, direct),
                 [request, size, offset, handle = info->fh] {
                   Filesystem& here = request.fs;
                   here.buffer_.resize(std::max(here.buffer_.size(), size));
                   const int from = here.handles_.at(handle).file.number();
                   const ssize_t got = ::pread(from, here.buffer_.data(), size, offset);
                   if (got < 0) return request.fail(errno);
                   fuse_reply_buf(request.fuse, here.buffer_.data(), static_cast<std::size_t>(got));
                 });
}

void Filesystem::Calls::write(fuse_req_t fuse, fuse_ino_t file, const char* bytes, std::size_t size,
                              off_t offset, fuse_file_info* info) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  Handle& handle = fs.handle(info);
  const Extent whole{offset, offset + static_cast<std::int64_t>(size)};
  const auto [before, now] = handle.direct ? std::pair(Extent{}, whole) : handle.cut.add(whole);
  Model::Outcome outcome{request.at, 0};
  for (const Extent& extent : {before, now})
    if (outcome.error == 0 && !extent.empty())
      outcome = fs.model_.write(outcome.done, request.client, file, extent, handle.direct, handle.durable);
  ssize_t stored = 0;
  if (outcome.error == 0) {
    stored = ::pwrite(handle.file.number(), bytes, size, offset);
    if (stored < 0) outcome.error = errno;
  }
  request.finish(outcome, [fuse, stored] { fuse_reply_write(fuse, static_cast<std::size_t>(stored)); });
}

Model::Outcome Filesystem::write_rest(const Request& request, FileId file, Handle& handle) {
  const Extent rest = handle.cut.rest();
  if (rest.empty()) return {request.at, 0};
  return model_.write(request.at, request.client, file, rest, handle.direct, handle.durable);
}

// Each close of a descriptor, of which several may be of one open.
void Filesystem::Calls::flush(fuse_req_t fuse, fuse_ino_t file, fuse_file_info* info) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  const LockOwner owner{request.client, info->lock_owner};
  Model::Outcome outcome = fs.write_rest(request, file, fs.handle(info));
  if (outcome.error == 0) outcome = fs.model_.close(outcome.done, request.client, file);
  fs.locks_.unlock(file, owner, {0, std::numeric_limits<std::int64_t>::max()});
  fs.retry_waiters(file);
  request.finish(outcome, 0);
}

void Filesystem::Calls::release(fuse_req_t fuse, fuse_ino_t, fuse_file_info* info) {
  begin(fuse).fs.close_handle(info->fh);
  fuse_reply_err(fuse, 0);
}

void Filesystem::Calls::fsync(fuse_req_t fuse, fuse_ino_t file, int, fuse_file_info* info) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  Model::Outcome outcome = fs.write_rest(request, file, fs.handle(info));
  if (outcome.error == 0) outcome = fs.model_.fsync(outcome.done, request.client, file);
  request.finish(outcome, 0);
}

void Filesystem::Calls::fallocate(fuse_req_t fuse, fuse_ino_t file, int mode, off_t offset, off_t length,
                                  fuse_file_info* info) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  const Extent extent{offset, offset + length};
  Model::Outcome outcome;
  if (mode == 0 || mode == FALLOC_FL_KEEP_SIZE)
    outcome = fs.model_.allocate(request.at, request.client, file, extent, mode == 0);
  else if (mode == (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE))
    outcome = fs.model_.punch(request.at, request.client, file, extent);
  else
    return request.fail(EOPNOTSUPP);
  if (outcome.error == 0 && ::fallocate(fs.handle(info).file.number(), mode, offset, length) != 0)
    outcome.error = errno;
  request.finish(outcome, 0);
}

void Filesystem::Calls::lseek(fuse_req_t fuse, fuse_ino_t, off_t offset, int whence, fuse_file_info* info) {
  const Request request = begin(fuse);
  const off_t found = ::lseek(request.fs.handle(info).file.number(), offset, whence);
  found < 0 ? request.fail(errno) : void(fuse_reply_lseek(fuse, found));
}

void Filesystem::Calls::getlk(fuse_req_t fuse, fuse_ino_t file, fuse_file_info* info, struct flock* lock) {
  const Request request = begin(fuse);
  const FileLock asked{
      range_of(*lock), lock->l_type == F_WRLCK, {request.client, info->lock_owner}, lock->l_pid, info->fh};
  const auto held = request.fs.locks_.conflict(file, asked);
  struct flock answer = *lock;
  answer.l_type = F_UNLCK;
  if (held) {
    answer.l_type = held->writes ? F_WRLCK : F_RDLCK;
    answer.l_whence = SEEK_SET;
    answer.l_start = held->range.begin;
    answer.l_len = held->range.end == std::numeric_limits<std::int64_t>::max() ? 0 : held->range.bytes();
    answer.l_pid = held->pid;
  }
  request.finish(request.fs.model_.lock(request.at, request.client, file, false),
                 [fuse, answer] { fuse_reply_lock(fuse, &answer); });
}

void Filesystem::Calls::setlk(fuse_req_t fuse, fuse_ino_t file, fuse_file_info* info, struct flock* lock,
                              int sleep) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  const FileLock asked{
      range_of(*lock), lock->l_type == F_WRLCK, {request.client, info->lock_owner}, lock->l_pid, info->fh};
  if (lock->l_type == F_UNLCK) {
    // What the holder wrote is with the servers before another one gets the lock.
    return request.finish(fs.model_.lock(request.at, request.client, file, true), [request, file, asked] {
      request.fs.locks_.unlock(file, asked.owner, asked.range);
      fuse_reply_err(request.fuse, 0);
      request.fs.retry_waiters(file);
    });
  }
  if (fs.locks_.take(file, asked))
    return request.finish(fs.model_.lock(request.at, request.client, file, false), 0);
  if (sleep == 0) return request.finish({request.at + 2 * fs.model_.parameters().network.latency, EAGAIN}, 0);
  fs.waiters_.push_back({fuse, file, asked});
  fuse_req_interrupt_func(
      fuse,
      [](fuse_req_t interrupted, void*) {
        static_cast<Mount*>(fuse_req_userdata(interrupted))->filesystem->stop_waiting(interrupted);
      },
      nullptr);
}

}  // namespace shoal::lab
