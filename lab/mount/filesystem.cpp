// SPDX-License-Identifier: BSD-3-Clause
#include "mount/filesystem.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "mount/calls.hpp"
#include "mount/lustre_attribute.hpp"

namespace shoal::lab {

Filesystem::Filesystem(const std::string& backing, const Parameters& parameters, int clients, double scale,
                       double grace)
    : backing_(backing), model_(parameters, clients), clock_(scale), turnarounds_(grace / scale) {}

const fuse_lowlevel_ops& Filesystem::operations() {
  static const fuse_lowlevel_ops table = [] {
    fuse_lowlevel_ops ops{};
    ops.init = Calls::init;
    ops.lookup = Calls::lookup;
    ops.forget = Calls::forget;
    ops.forget_multi = Calls::forget_multi;
    ops.getattr = Calls::getattr;
    ops.setattr = Calls::setattr;
    ops.readlink = Calls::readlink;
    ops.mknod = Calls::mknod;
    ops.mkdir = Calls::mkdir;
    ops.symlink = Calls::symlink;
    ops.link = Calls::link;
    ops.unlink = Calls::unlink;
    ops.rmdir = Calls::rmdir;
    ops.rename = Calls::rename;
    ops.opendir = Calls::opendir;
    ops.readdir = Calls::readdir;
    ops.releasedir = Calls::releasedir;
    ops.fsyncdir = Calls::fsyncdir;
    ops.statfs = Calls::statfs;
    ops.setxattr = Calls::setxattr;
    ops.getxattr = Calls::getxattr;
    ops.listxattr = Calls::listxattr;
    ops.removexattr = Calls::removexattr;
    ops.open = Calls::open;
    ops.create = Calls::create;
    ops.read = Calls::read;
    ops.write = Calls::write;
    ops.flush = Calls::flush;
    ops.release = Calls::release;
    ops.fsync = Calls::fsync;
    ops.fallocate = Calls::fallocate;
    ops.lseek = Calls::lseek;
    ops.getlk = Calls::getlk;
    ops.setlk = Calls::setlk;
    return ops;
  }();
  return table;
}

Filesystem::Request Filesystem::Calls::begin(fuse_req_t fuse) {
  return static_cast<Mount*>(fuse_req_userdata(fuse))->filesystem->request(fuse);
}

void Filesystem::Calls::init(void*, fuse_conn_info* connection) {
  // Bytes come in a buffer, not in a pipe.
  connection->want &=
      ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
  connection->max_write = k_largest_request;
}

Filesystem::Request Filesystem::request(fuse_req_t fuse) {
  ++timing_.requests;
  const auto* const mount = static_cast<const Mount*>(fuse_req_userdata(fuse));
  const pid_t thread = fuse_req_ctx(fuse)->pid;
  return {fuse, *this, mount->client, thread, turnarounds_.arrival(mount->client, thread, seen_)};
}

void Filesystem::Request::finish(Model::Outcome outcome, std::function<void()> reply) const {
  const auto send = [request = *this, outcome, reply = std::move(reply)] {
    Filesystem& here = request.fs;
    if (outcome.error != 0)
      fuse_reply_err(request.fuse, outcome.error);
    else
      reply();
    const Seconds sent = here.clock_.now();
    here.turnarounds_.replied(request.client, request.thread, outcome.done);
    const double late = std::max(0.0, sent - outcome.done) * here.clock_.scale();
    ++here.timing_.replies;
    here.timing_.waited += (outcome.done - request.at) * here.clock_.scale();
    here.timing_.late += late;
    here.timing_.most_late = std::max(here.timing_.most_late, late);
  };
  if (outcome.done <= fs.clock_.now())
    send();
  else
    fs.schedule_.add(fs.clock_.real(outcome.done), send);
}

void Filesystem::Request::finish(Model::Outcome outcome, int error) const {
  if (outcome.error == 0) outcome.error = error;
  finish(outcome, [request = *this] { fuse_reply_err(request.fuse, 0); });
}

// Programs that ask read and write in pieces of one request.
int Filesystem::status_of(FileId file, struct stat& status) {
  const int error = backing_.status(file, status);
  const auto bytes = static_cast<std::uint64_t>(model_.parameters().cache.request_bytes);
  if (std::has_single_bit(bytes))
    status.st_blksize = static_cast<blksize_t>(std::min<std::uint64_t>(bytes, 1 << 20));
  return error;
}

void Filesystem::reply_entry(const Request& request, Model::Outcome outcome, FileId folder,
                             const char* name) {
  FileId file = 0;
  struct stat status {};
  if (outcome.error == 0) outcome.error = backing_.look_up(folder, name, file, status);
  request.finish(outcome, [this, request, file] {
    fuse_entry_param entry{};
    entry.ino = file;
    status_of(file, entry.attr);
    told_[{request.client, request.thread}] = file;
    if (fuse_reply_entry(request.fuse, &entry) == -ENOENT) backing_.forget(file, 1);
  });
}

// The maker of an entry is the process that asked.
int Filesystem::make_entry(const Request& request, FileId folder, const char* name,
                           const std::function<int(int)>& make) {
  const int descriptor = backing_.descriptor(folder);
  if (make(descriptor) != 0) return errno;
  const fuse_ctx* const who = fuse_req_ctx(request.fuse);
  if (::geteuid() == 0 && ::fchownat(descriptor, name, who->uid, who->gid, AT_SYMLINK_NOFOLLOW) != 0)
    return errno;
  return 0;
}

std::uint64_t Filesystem::add_handle(Descriptor file, FileId number, int flags) {
  const bool durable = (flags & O_DSYNC) != 0;  // O_SYNC has that bit, too
  ++backing_.node(number).handles;
  handles_.emplace(next_handle_,
                   Handle{std::move(file), number, durable || (flags & O_DIRECT) != 0, durable});
  return next_handle_++;
}

void Filesystem::close_handle(std::uint64_t number) {
  const auto found = handles_.find(number);
  if (found == handles_.end()) return;
  const FileId file = found->second.number;
  handles_.erase(found);
  locks_.drop_handle(file, number);
  retry_waiters(file);
  --backing_.node(file).handles;
  free_if_gone(file);
}

// A file that has no name and is not open any more. Mounts may know its number for long, so its bytes go now.
void Filesystem::free_if_gone(FileId file) {
  struct stat status {};
  if (!backing_.knows(file)) return model_.remove_file(file);
  if (backing_.node(file).handles > 0 || backing_.status(file, status) != 0 || status.st_nlink > 0) return;
  if (S_ISREG(status.st_mode) && ::truncate(backing_.path(file).c_str(), 0) != 0) return;
  model_.remove_file(file);
}

// ---- locks of fcntl ----

void Filesystem::retry_waiters(FileId file) {
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (waiter->file != file || !locks_.take(file, waiter->lock)) {
      ++waiter;
      continue;
    }
    const fuse_req_t fuse = waiter->fuse;
    waiter = waiters_.erase(waiter);
    fuse_req_interrupt_func(fuse, nullptr, nullptr);
    Request request = this->request(fuse);
    request.at = clock_.now();
    request.finish(model_.lock(request.at, request.client, file, false), 0);
  }
}

// The program got a signal. FUSE calls this in the midst of other work, so the answer comes a little later.
void Filesystem::stop_waiting(fuse_req_t fuse) {
  const auto found = std::find_if(waiters_.begin(), waiters_.end(),
                                  [&](const Waiter& waiter) { return waiter.fuse == fuse; });
  if (found == waiters_.end()) return;
  waiters_.erase(found);
  schedule_.add(std::chrono::steady_clock::now(), [fuse] { fuse_reply_err(fuse, EINTR); });
}

// ---- stripes as an attribute ----

int Filesystem::stripes_of(FileId file, std::string& value) {
  struct stat status {};
  if (const int error = backing_.status(file, status)) return error;
  if (S_ISDIR(status.st_mode)) {
    value = lustre_attribute(model_.striping_of_folder(file), {});
    return 0;
  }
  if (!S_ISREG(status.st_mode)) return ENODATA;
  const Layout layout = model_.layout(file);
  std::vector<int> servers;
  for (int object = 0; object < layout.stripe_count; ++object)
    servers.push_back(layout.server(object, model_.parameters().servers.number));
  value = lustre_attribute({layout.stripe_bytes, layout.stripe_count}, servers);
  return 0;
}

}  // namespace shoal::lab
