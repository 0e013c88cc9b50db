// SPDX-License-Identifier: BSD-3-Clause
// FUSE's calls, with the arguments that FUSE gives them. Names in names.cpp, bytes in bytes.cpp.
#pragma once

#include "mount/filesystem.hpp"

namespace shoal::lab {

struct Filesystem::Calls {
  static Request begin(fuse_req_t fuse);

  static void init(void* mount, fuse_conn_info* connection);
  static void lookup(fuse_req_t fuse, fuse_ino_t folder, const char* name);
  static void forget(fuse_req_t fuse, fuse_ino_t file, std::uint64_t lookups);
  static void forget_multi(fuse_req_t fuse, std::size_t count, fuse_forget_data* forgets);
  static void getattr(fuse_req_t fuse, fuse_ino_t file, fuse_file_info* info);
  static void setattr(fuse_req_t fuse, fuse_ino_t file, struct stat* to, int which, fuse_file_info* info);
  static void readlink(fuse_req_t fuse, fuse_ino_t file);
  static void mknod(fuse_req_t fuse, fuse_ino_t folder, const char* name, mode_t mode, dev_t device);
  static void mkdir(fuse_req_t fuse, fuse_ino_t folder, const char* name, mode_t mode);
  static void symlink(fuse_req_t fuse, const char* to, fuse_ino_t folder, const char* name);
  static void link(fuse_req_t fuse, fuse_ino_t file, fuse_ino_t folder, const char* name);
  static void unlink(fuse_req_t fuse, fuse_ino_t folder, const char* name);
  static void rmdir(fuse_req_t fuse, fuse_ino_t folder, const char* name);
  static void rename(fuse_req_t fuse, fuse_ino_t folder, const char* name, fuse_ino_t to_folder,
                     const char* to_name, unsigned flags);
  static void opendir(fuse_req_t fuse, fuse_ino_t folder, fuse_file_info* info);
  static void readdir(fuse_req_t fuse, fuse_ino_t folder, std::size_t size, off_t offset,
                      fuse_file_info* info);
  static void releasedir(fuse_req_t fuse, fuse_ino_t folder, fuse_file_info* info);
  static void fsyncdir(fuse_req_t fuse, fuse_ino_t folder, int data_only, fuse_file_info* info);
  static void statfs(fuse_req_t fuse, fuse_ino_t file);
  static void setxattr(fuse_req_t fuse, fuse_ino_t file, const char* name, const char* value,
                       std::size_t size, int flags);
  static void getxattr(fuse_req_t fuse, fuse_ino_t file, const char* name, std::size_t size);
  static void listxattr(fuse_req_t fuse, fuse_ino_t file, std::size_t size);
  static void removexattr(fuse_req_t fuse, fuse_ino_t file, const char* name);

  static void open(fuse_req_t fuse, fuse_ino_t file, fuse_file_info* info);
  static void create(fuse_req_t fuse, fuse_ino_t folder, const char* name, mode_t mode, fuse_file_info* info);
  static void read(fuse_req_t fuse, fuse_ino_t file, std::size_t size, off_t offset, fuse_file_info* info);
  static void write(fuse_req_t fuse, fuse_ino_t file, const char* bytes, std::size_t size, off_t offset,
                    fuse_file_info* info);
  static void flush(fuse_req_t fuse, fuse_ino_t file, fuse_file_info* info);
  static void release(fuse_req_t fuse, fuse_ino_t file, fuse_file_info* info);
  static void fsync(fuse_req_t fuse, fuse_ino_t file, int data_only, fuse_file_info* info);
  static void fallocate(fuse_req_t fuse, fuse_ino_t file, int mode, off_t offset, off_t length,
                        fuse_file_info* info);
  static void lseek(fuse_req_t fuse, fuse_ino_t file, off_t offset, int whence, fuse_file_info* info);
  static void getlk(fuse_req_t fuse, fuse_ino_t file, fuse_file_info* info, struct flock* lock);
  static void setlk(fuse_req_t fuse, fuse_ino_t file, fuse_file_info* info, struct flock* lock, int sleep);
};

}  // namespace shoal::lab
