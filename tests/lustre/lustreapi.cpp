// SPDX-License-Identifier: BSD-3-Clause
// Stands for Lustre's library: makes the file, and notes what it was asked for in the file `calls` beside it.
// With FAKE_LUSTRE_ERRNO it fails as that one does, after the file is there; and it prints unless it is
// told not to.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

int level = 4;

}  // namespace

extern "C" int llapi_msg_get_level() {
  return level;
}

extern "C" void llapi_msg_set_level(int to) {
  level = to;
}

extern "C" int llapi_file_create(const char* name, unsigned long long stripe_size, int stripe_offset,
                                 int stripe_count, int stripe_pattern) {
  std::ofstream calls(std::filesystem::absolute(name).parent_path() / "calls", std::ios::app);
  calls << "llapi_file_create " << stripe_size << " " << stripe_offset << " " << stripe_count << " "
        << stripe_pattern << " " << name << "\n";
  const int file = ::open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
  if (file < 0) return -errno;
  ::close(file);
  const char* failure = std::getenv("FAKE_LUSTRE_ERRNO");
  if (failure == nullptr) return 0;
  if (level > 0) calls << "printed\n";
  return -std::atoi(failure);
}
