// SPDX-License-Identifier: BSD-3-Clause
#include "mount/guardian.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace shoal::lab {
namespace {

constexpr char k_done = 'd';

[[noreturn]] void guard(const Places& places, int from, int to) {
  ::setsid();
  ::prctl(PR_SET_NAME, "labfs-guardian");
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE})
    ::signal(signal, SIG_IGN);
  // Keep nothing open that somebody waits for the end of.
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int descriptor : {0, 1, 2})
    ::dup2(nothing, descriptor);
  for (int descriptor = 3; descriptor < 1024; ++descriptor)
    if (descriptor != from && descriptor != to) ::close(descriptor);
  ::chdir("/") == 0 ? void() : void();
  char said = 0;
  ssize_t got = 0;
  do {
    got = ::read(from, &said, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1 || said != k_done) places.remove();
  ::_exit(0);
}

}  // namespace

Guardian::Guardian(const Places& places) {
  std::array<int, 2> down{}, up{};
  if (::pipe2(down.data(), O_CLOEXEC) != 0 || ::pipe2(up.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  Descriptor their_end(down[0]), their_life(up[1]);
  to_ = Descriptor(down[1]);
  from_ = Descriptor(up[0]);
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error(std::string("cannot fork: ") + std::strerror(errno));
  if (process_ == 0) guard(places, their_end.number(), their_life.number());
}

Guardian::~Guardian() {
  while (::write(to_.number(), &k_done, 1) < 0 && errno == EINTR) {
  }
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace shoal::lab
