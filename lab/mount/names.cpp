// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <limits>

#include "mount/calls.hpp"
#include "mount/lustre_attribute.hpp"

namespace shoal::lab {

void Filesystem::Calls::lookup(fuse_req_t fuse, fuse_ino_t folder, const char* name) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  FileId file = 0;
  struct stat status {};
  // A name that is not there is looked for before each create: that is one request of a real client.
  if (const int error = fs.backing_.look_up(folder, name, file, status)) return request.fail(error);
  if (S_ISREG(status.st_mode) && status.st_nlink > 0 && !fs.model_.knows(file))
    fs.model_.adopt_file(file, folder, status.st_size);
  const Model::Outcome outcome = fs.model_.stat(request.at, request.client, file, folder);
  fs.reply_entry(request, outcome, folder, name);
  fs.backing_.forget(file, 1);  // that of the reply counts
}

void Filesystem::Calls::forget(fuse_req_t fuse, fuse_ino_t file, std::uint64_t lookups) {
  begin(fuse).fs.backing_.forget(file, lookups);
  fuse_reply_none(fuse);
}

void Filesystem::Calls::forget_multi(fuse_req_t fuse, std::size_t count, fuse_forget_data* forgets) {
  Filesystem& fs = begin(fuse).fs;
  for (std::size_t i = 0; i < count; ++i)
    fs.backing_.forget(forgets[i].ino, forgets[i].nlookup);
  fuse_reply_none(fuse);
}

void Filesystem::Calls::getattr(fuse_req_t fuse, fuse_ino_t file, fuse_file_info*) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  // The kernel believes no attributes here, and asks once more than a program does: for the rights of each
  // folder of a path, and after it got the attributes of a file with its name.
  struct stat now {};
  const bool is_folder = fs.backing_.status(file, now) == 0 && S_ISDIR(now.st_mode);
  const auto told = fs.told_.extract({request.client, request.thread});
  const bool is_free = is_folder || (!told.empty() && told.mapped() == file);
  const FileId folder = fs.backing_.node(file).folder;
  const Model::Outcome outcome =
      is_free ? Model::Outcome{request.at, 0} : fs.model_.stat(request.at, request.client, file, folder);
  request.finish(outcome, [request, file] {
    struct stat status {};
    const int error = request.fs.status_of(file, status);
    error != 0 ? fuse_reply_err(request.fuse, error) : fuse_reply_attr(request.fuse, &status, 0);
  });
}

namespace {

int change(const std::string& path, int descriptor, const struct stat& to, int which) {
  if ((which & FUSE_SET_ATTR_MODE) != 0 && ::chmod(path.c_str(), to.st_mode) != 0) return errno;
  const uid_t user = (which & FUSE_SET_ATTR_UID) != 0 ? to.st_uid : static_cast<uid_t>(-1);
  const gid_t group = (which & FUSE_SET_ATTR_GID) != 0 ? to.st_gid : static_cast<gid_t>(-1);
  if ((which & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) != 0 &&
      ::fchownat(descriptor, "", user, group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0)
    return errno;
  if ((which & FUSE_SET_ATTR_SIZE) != 0 && ::truncate(path.c_str(), to.st_size) != 0) return errno;
  const auto time = [&](int given, int now, const timespec& value) {
    if ((which & now) != 0) return timespec{0, UTIME_NOW};
    return (which & given) != 0 ? value : timespec{0, UTIME_OMIT};
  };
  const std::array<timespec, 2> times{time(FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, to.st_atim),
                                      time(FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, to.st_mtim)};
  if ((which & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW |
                FUSE_SET_ATTR_MTIME_NOW)) != 0 &&
      ::utimensat(AT_FDCWD, path.c_str(), times.data(), 0) != 0)
    return errno;
  return 0;
}

}  // namespace

void Filesystem::Calls::setattr(fuse_req_t fuse, fuse_ino_t file, struct stat* to, int which,
                                fuse_file_info*) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  Model::Outcome outcome = (which & FUSE_SET_ATTR_SIZE) != 0
                               ? fs.model_.truncate(request.at, request.client, file, to->st_size)
                               : fs.model_.name(Operation::truncate, request.at, request.client, file);
  if (outcome.error == 0)
    outcome.error = change(fs.backing_.path(file), fs.backing_.descriptor(file), *to, which);
  request.finish(outcome, [request, file] {
    struct stat status {};
    request.fs.status_of(file, status);
    fuse_reply_attr(request.fuse, &status, 0);
  });
}

void Filesystem::Calls::readlink(fuse_req_t fuse, fuse_ino_t file) {
  const Request request = begin(fuse);
  std::array<char, PATH_MAX + 1> to{};
  if (::readlinkat(request.fs.backing_.descriptor(file), "", to.data(), PATH_MAX) < 0)
    return request.fail(errno);
  fuse_reply_readlink(fuse, to.data());
}

void Filesystem::Calls::mknod(fuse_req_t fuse, fuse_ino_t folder, const char* name, mode_t mode,
                              dev_t device) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  Model::Outcome outcome = fs.model_.create(request.at, request.client, folder);
  if (outcome.error == 0)
    outcome.error =
        fs.make_entry(request, folder, name, [&](int in) { return ::mknodat(in, name, mode, device); });
  if (outcome.error == 0 && S_ISREG(mode))
    fs.model_.add_file(request.client, fs.backing_.number_of(folder, name), folder, outcome.done);
  fs.reply_entry(request, outcome, folder, name);
}

void Filesystem::Calls::mkdir(fuse_req_t fuse, fuse_ino_t folder, const char* name, mode_t mode) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  Model::Outcome outcome = fs.model_.name(Operation::mkdir, request.at, request.client, folder);
  if (outcome.error == 0)
    outcome.error = fs.make_entry(request, folder, name, [&](int in) { return ::mkdirat(in, name, mode); });
  if (outcome.error == 0) fs.model_.add_folder(fs.backing_.number_of(folder, name), folder);
  fs.reply_entry(request, outcome, folder, name);
}

void Filesystem::Calls::symlink(fuse_req_t fuse, const char* to, fuse_ino_t folder, const char* name) {
  const Request request = begin(fuse);
  Model::Outcome outcome = request.fs.model_.name(Operation::mkdir, request.at, request.client, folder);
  if (outcome.error == 0)
    outcome.error =
        request.fs.make_entry(request, folder, name, [&](int in) { return ::symlinkat(to, in, name); });
  request.fs.reply_entry(request, outcome, folder, name);
}

void Filesystem::Calls::link(fuse_req_t fuse, fuse_ino_t file, fuse_ino_t folder, const char* name) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  Model::Outcome outcome = fs.model_.name(Operation::rename, request.at, request.client, folder);
  if (outcome.error == 0 && ::linkat(AT_FDCWD, fs.backing_.path(file).c_str(), fs.backing_.descriptor(folder),
                                     name, AT_SYMLINK_FOLLOW) != 0)
    outcome.error = errno;
  fs.reply_entry(request, outcome, folder, name);
}

void Filesystem::Calls::unlink(fuse_req_t fuse, fuse_ino_t folder, const char* name) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  const Model::Outcome outcome = fs.model_.name(Operation::remove, request.at, request.client, folder);
  if (outcome.error != 0) return request.finish(outcome, 0);
  const FileId file = fs.backing_.number_of(folder, name);
  const bool failed = ::unlinkat(fs.backing_.descriptor(folder), name, 0) != 0;
  const int error = failed ? errno : 0;
  if (!failed && file != 0) fs.free_if_gone(file);
  request.finish(outcome, error);
}

void Filesystem::Calls::rmdir(fuse_req_t fuse, fuse_ino_t folder, const char* name) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  const Model::Outcome outcome = fs.model_.name(Operation::remove, request.at, request.client, folder);
  if (outcome.error != 0) return request.finish(outcome, 0);
  const bool failed = ::unlinkat(fs.backing_.descriptor(folder), name, AT_REMOVEDIR) != 0;
  request.finish(outcome, failed ? errno : 0);
}

void Filesystem::Calls::rename(fuse_req_t fuse, fuse_ino_t folder, const char* name, fuse_ino_t to_folder,
                               const char* to_name, unsigned flags) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  const Model::Outcome outcome = fs.model_.name(Operation::rename, request.at, request.client, folder);
  if (outcome.error != 0) return request.finish(outcome, 0);
  const FileId moved = fs.backing_.number_of(folder, name);
  const FileId replaced = fs.backing_.number_of(to_folder, to_name);
  const bool failed = ::renameat2(fs.backing_.descriptor(folder), name, fs.backing_.descriptor(to_folder),
                                  to_name, flags) != 0;
  const int error = failed ? errno : 0;
  if (!failed && fs.backing_.knows(moved)) fs.backing_.node(moved).folder = to_folder;
  if (!failed && replaced != 0 && replaced != moved && (flags & RENAME_EXCHANGE) == 0)
    fs.free_if_gone(replaced);
  request.finish(outcome, error);
}

void Filesystem::Calls::opendir(fuse_req_t fuse, fuse_ino_t folder, fuse_file_info* info) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  const int file = ::openat(fs.backing_.descriptor(folder), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const stream = file < 0 ? nullptr : ::fdopendir(file);
  if (stream == nullptr) {
    const int error = errno;
    if (file >= 0) ::close(file);
    return request.fail(error);
  }
  info->fh = fs.next_handle_++;
  fs.folders_.emplace(info->fh, stream);
  request.finish(fs.model_.name(Operation::open, request.at, request.client, folder),
                 [request, info = *info] { fuse_reply_open(request.fuse, &info); });
}

void Filesystem::Calls::readdir(fuse_req_t fuse, fuse_ino_t folder, std::size_t size, off_t offset,
                                fuse_file_info* info) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  DIR* const stream = fs.folders_.at(info->fh);
  ::seekdir(stream, offset);
  std::string entries;
  while (true) {
    const long before = ::telldir(stream);
    errno = 0;
    const dirent* const entry = ::readdir(stream);
    if (entry == nullptr) {
      if (errno != 0) return request.fail(errno);
      break;
    }
    struct stat status {};
    status.st_ino = entry->d_ino;
    status.st_mode = DTTOIF(entry->d_type);
    const std::size_t need = fuse_add_direntry(fuse, nullptr, 0, entry->d_name, &status, 0);
    if (entries.size() + need > size) {
      ::seekdir(stream, before);
      break;
    }
    const std::size_t at = entries.size();
    entries.resize(at + need);
    fuse_add_direntry(fuse, entries.data() + at, need, entry->d_name, &status, ::telldir(stream));
  }
  request.finish(fs.model_.name(Operation::readdir, request.at, request.client, folder),
                 [request, entries] { fuse_reply_buf(request.fuse, entries.data(), entries.size()); });
}

void Filesystem::Calls::releasedir(fuse_req_t fuse, fuse_ino_t, fuse_file_info* info) {
  Filesystem& fs = begin(fuse).fs;
  if (const auto found = fs.folders_.find(info->fh); found != fs.folders_.end()) {
    ::closedir(found->second);
    fs.folders_.erase(found);
  }
  fuse_reply_err(fuse, 0);
}

void Filesystem::Calls::fsyncdir(fuse_req_t fuse, fuse_ino_t folder, int, fuse_file_info*) {
  const Request request = begin(fuse);
  request.finish(request.fs.model_.name(Operation::fsync, request.at, request.client, folder), 0);
}

void Filesystem::Calls::statfs(fuse_req_t fuse, fuse_ino_t) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  struct statvfs status {};
  if (::statvfs(fs.backing_.path(Backing::k_root).c_str(), &status) != 0) return request.fail(errno);
  if (fs.model_.space() < std::numeric_limits<std::int64_t>::max()) {
    const auto block = static_cast<std::int64_t>(status.f_frsize);
    status.f_blocks = static_cast<fsblkcnt_t>(fs.model_.space() / block);
    status.f_bfree = static_cast<fsblkcnt_t>((fs.model_.space() - fs.model_.used()) / block);
    status.f_bavail = status.f_bfree;
  }
  fuse_reply_statfs(fuse, &status);
}

// ---- extended attributes: that of stripes alone ----

void Filesystem::Calls::setxattr(fuse_req_t fuse, fuse_ino_t file, const char* name, const char* value,
                                 std::size_t size, int) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  if (!fs.has_stripes() || std::string(name) != k_lustre_attribute) return request.fail(EOPNOTSUPP);
  const auto given = read_lustre_attribute(std::string(value, size));
  struct stat status {};
  if (!given) return request.fail(EINVAL);
  if (const int error = fs.backing_.status(file, status)) return request.fail(error);
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return request.fail(EINVAL);
  const Model::Outcome outcome = fs.model_.name(Operation::truncate, request.at, request.client, file);
  request.finish(outcome, fs.model_.set_striping(file, S_ISDIR(status.st_mode), given->striping));
}

void Filesystem::Calls::getxattr(fuse_req_t fuse, fuse_ino_t file, const char* name, std::size_t size) {
  const Request request = begin(fuse);
  Filesystem& fs = request.fs;
  if (!fs.has_stripes() || std::string(name) != k_lustre_attribute) return request.fail(EOPNOTSUPP);
  std::string value;
  if (const int error = fs.stripes_of(file, value)) return request.fail(error);
  if (size == 0) return void(fuse_reply_xattr(fuse, value.size()));
  if (value.size() > size) return request.fail(ERANGE);
  const FileId folder = fs.backing_.node(file).folder;
  request.finish(fs.model_.stat(request.at, request.client, file, folder),
                 [request, value] { fuse_reply_buf(request.fuse, value.data(), value.size()); });
}

void Filesystem::Calls::listxattr(fuse_req_t fuse, fuse_ino_t file, std::size_t size) {
  const Request request = begin(fuse);
  std::string value, names;
  if (request.fs.has_stripes() && request.fs.stripes_of(file, value) == 0)
    names = std::string(k_lustre_attribute) + '\0';
  if (size == 0) return void(fuse_reply_xattr(fuse, names.size()));
  if (names.size() > size) return request.fail(ERANGE);
  fuse_reply_buf(fuse, names.data(), names.size());
}

void Filesystem::Calls::removexattr(fuse_req_t fuse, fuse_ino_t, const char*) {
  begin(fuse).fail(EOPNOTSUPP);
}

}  // namespace shoal::lab
