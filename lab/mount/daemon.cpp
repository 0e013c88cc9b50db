// SPDX-License-Identifier: BSD-3-Clause
#include "mount/daemon.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>

#include "mount/filesystem.hpp"
#include "mount/guardian.hpp"
#include "mount/places.hpp"

namespace shoal::lab {
namespace {

constexpr std::chrono::seconds k_time_to_end{5};  // of a command that was told to

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

int pidfd(pid_t process) {
  return static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
}

/// One mount, of one client.
class Session {
 public:
  Session(Filesystem& filesystem, ClientId client, const std::filesystem::path& place, const Places& places)
      : mount_{&filesystem, client} {
    const std::string kind = filesystem.model().parameters().kind;
    std::string options =
        "fsname=labfs:" + places.backing.string() + ",subtype=labfs-" + kind + ",default_permissions";
    if (::geteuid() == 0) options += ",allow_other";
    std::array<std::string, 3> words{"labfs", "-o", options};
    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
    fuse_args args = FUSE_ARGS_INIT(3, arguments.data());
    const fuse_lowlevel_ops& operations = Filesystem::operations();
    session_.reset(fuse_session_new(&args, &operations, sizeof(operations), &mount_));
    fuse_opt_free_args(&args);
    if (!session_ || fuse_session_mount(session_.get(), place.c_str()) != 0)
      throw std::runtime_error("cannot mount " + place.string() + "; libfuse has printed why");
    mounted_ = true;
    ::fcntl(descriptor(), F_SETFL, ::fcntl(descriptor(), F_GETFL) | O_NONBLOCK);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (mounted_) fuse_session_unmount(session_.get());
    std::free(buffer_.mem);
  }
  int descriptor() const { return fuse_session_fd(session_.get()); }
  /// One request, if there is one. false: it was unmounted by somebody else.
  bool serve_one() {
    const int got = fuse_session_receive_buf(session_.get(), &buffer_);
    if (got > 0) fuse_session_process_buf(session_.get(), &buffer_);
    return fuse_session_exited(session_.get()) == 0;
  }

 private:
  struct Destroy {
    void operator()(fuse_session* session) const { fuse_session_destroy(session); }
  };
  Filesystem::Mount mount_;
  std::unique_ptr<fuse_session, Destroy> session_;
  fuse_buf buffer_{};
  bool mounted_ = false;
};

/// The program that runs on the mounts.
class Command {
 public:
  Command(const DaemonOptions& options, const Places& places) {
    const std::filesystem::path dir = places.mounts[0].parent_path();
    const pid_t daemon = ::getpid();
    process_ = ::fork();
    if (process_ < 0) fail("cannot fork");
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (::getppid() != daemon) ::_exit(1);
      sigset_t none;
      sigemptyset(&none);
      ::sigprocmask(SIG_SETMASK, &none, nullptr);
      ::setenv("LABFS_DIR", dir.c_str(), 1);
      ::setenv("LABFS_CLIENTS", std::to_string(options.clients).c_str(), 1);
      ::setenv("LABFS_SCALE", fmt::format("{}", options.scale).c_str(), 1);
      const char* const path = std::getenv("PATH");
      if (!options.tools.empty() && options.parameters.kind == "lustre")
        ::setenv("PATH", (options.tools + ":" + (path == nullptr ? "/usr/bin:/bin" : path)).c_str(), 1);
      std::vector<char*> arguments;
      for (const std::string& word : options.command)
        arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      ::execvp(arguments[0], arguments.data());
      fmt::print(stderr, "labfs: cannot start {}: {}\n", arguments[0], std::strerror(errno));
      ::_exit(127);
    }
    ended_ = Descriptor(pidfd(process_));
    if (!ended_.valid()) fail("cannot watch the command");
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command() {
    if (process_ > 0) ::kill(process_, SIGKILL);
    if (process_ > 0) result();
  }
  int ended() const { return ended_.number(); }
  void tell(int signal) { ::kill(process_, signal); }
  /// Waits for it.
  int result() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_ = -1;
  Descriptor ended_;
};

/// What can wake the daemon.
class Events {
 public:
  Events() : set_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (!set_.valid()) fail("cannot make an epoll descriptor");
  }
  void watch(int descriptor, std::uint64_t name) {
    epoll_event event{EPOLLIN, {.u64 = name}};
    if (::epoll_ctl(set_.number(), EPOLL_CTL_ADD, descriptor, &event) != 0) fail("cannot watch a descriptor");
  }
  void ignore(int descriptor) { ::epoll_ctl(set_.number(), EPOLL_CTL_DEL, descriptor, nullptr); }
  /// The names of those that have something, by `until` at the latest.
  std::vector<std::uint64_t> wait(RealTime until) {
    std::array<epoll_event, 64> events{};
    timespec left{};
    const bool forever = until == RealTime::max();
    if (!forever) {
      const std::chrono::nanoseconds wait = until - std::chrono::steady_clock::now();
      const std::int64_t count = std::max<std::int64_t>(0, wait.count());
      left = {count / 1'000'000'000, count % 1'000'000'000};
    }
    const int found = ::epoll_pwait2(set_.number(), events.data(), static_cast<int>(events.size()),
                                     forever ? nullptr : &left, nullptr);
    std::vector<std::uint64_t> names;
    for (int i = 0; i < found; ++i)
      names.push_back(events[static_cast<std::size_t>(i)].data.u64);
    return names;
  }

 private:
  Descriptor set_;
};

Descriptor blocked_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP})
    sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  Descriptor made(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!made.valid()) fail("cannot wait for signals");
  return made;
}

void write_report(const DaemonOptions& options, const Filesystem& filesystem) {
  if (options.report.empty()) return;
  const Model::Counters counters = filesystem.model().counters();
  const Filesystem::Timing& timing = filesystem.timing();
  std::string servers;
  for (const Server& server : filesystem.model().servers())
    servers += fmt::format("{}{{\"bytes\": {}, \"requests\": {}}}", servers.empty() ? "" : ", ",
                           server.bytes(), server.requests());
  std::ofstream out(options.report);
  out << fmt::format(
      "{{\"kind\": \"{}\", \"clients\": {}, \"scale\": {}, \"seconds_of_the_model\": {:.6f},\n"
      " \"requests\": {}, \"waited_seconds\": {:.6f}, \"late_seconds\": {:.6f}, "
      "\"mean_late_seconds\": {:.6f}, \"most_late_seconds\": {:.6f},\n"
      " \"metadata_requests\": {}, \"lock_requests\": {}, \"revocations\": {}, \"partial_page_reads\": {},\n"
      " \"servers\": [{}]}}\n",
      options.parameters.kind, options.clients, options.scale, filesystem.clock().now(), timing.requests,
      timing.waited, timing.late,
      timing.replies > 0 ? timing.late / static_cast<double>(timing.replies) : 0.0, timing.most_late,
      counters.metadata_requests, counters.lock_requests, counters.revocations, counters.partial_page_reads,
      servers);
  if (!out.flush()) fmt::print(stderr, "labfs: cannot write the report {}\n", options.report.string());
}

/// Serves the mounts while it lives.
class Daemon {
 public:
  Daemon(const DaemonOptions& options, const Places& places, const Guardian& guardian,
         const Descriptor& signals, pid_t parent)
      : options_(options),
        signals_(signals.number()),
        guardian_(guardian.gone()),
        parent_(pidfd(parent)),
        filesystem_(places.backing, options.parameters, options.clients, options.scale, options.grace) {
    if (!parent_.valid() || ::getppid() != parent)
      throw std::runtime_error("the process that started this is dead");
    for (const auto& place : places.mounts)
      sessions_.push_back(
          std::make_unique<Session>(filesystem_, static_cast<ClientId>(sessions_.size()), place, places));
    mounted_ = sessions_.size();
    for (std::size_t client = 0; client < sessions_.size(); ++client)
      events_.watch(sessions_[client]->descriptor(), client);
    events_.watch(signals_, k_signal_came);
    events_.watch(guardian_, k_guardian_died);
    events_.watch(parent_.number(), k_parent_died);
  }
  void start_command(const Places& places) {
    command_.emplace(options_, places);
    events_.watch(command_->ended(), k_command_ended);
  }
  /// Until something ends it. The code to exit with.
  int run() {
    while (!ends_) {
      const auto names = events_.wait(std::min(filesystem_.next_reply(), deadline_));
      filesystem_.seen(std::chrono::steady_clock::now());
      filesystem_.reply_due();
      for (const std::uint64_t name : names) {
        handle(name);
        filesystem_.reply_due();
      }
      if (std::chrono::steady_clock::now() < deadline_) continue;
      command_->tell(SIGKILL);
      deadline_ = RealTime::max();
    }
    write_report(options_, filesystem_);
    return code_;
  }

 private:
  // Numbers below these are clients.
  static constexpr std::uint64_t k_signal_came = 1 << 20;
  static constexpr std::uint64_t k_parent_died = k_signal_came + 1;
  static constexpr std::uint64_t k_guardian_died = k_signal_came + 2;
  static constexpr std::uint64_t k_command_ended = k_signal_came + 3;

  void handle(std::uint64_t event) {
    if (event == k_signal_came) {
      signalfd_siginfo got{};
      if (::read(signals_, &got, sizeof(got)) == sizeof(got)) end(static_cast<int>(got.ssi_signo));
    } else if (event == k_parent_died) {
      events_.ignore(parent_.number());
      end(SIGTERM);
    } else if (event == k_guardian_died) {
      fmt::print(stderr,
                 "labfs: the process that would clean up after a kill was killed itself; this ends\n");
      events_.ignore(guardian_);
      end(SIGTERM);
    } else if (event == k_command_ended) {
      code_ = command_->result();
      command_.reset();
      ends_ = true;
    } else if (!sessions_[event]->serve_one()) {
      events_.ignore(sessions_[event]->descriptor());
      if (--mounted_ == 0) end(SIGTERM);
    }
  }
  // A command has some time to end by itself, and its mounts meanwhile.
  void end(int signal) {
    if (!command_) {
      ends_ = true;
      return;
    }
    command_->tell(signal);
    deadline_ = std::min(deadline_, std::chrono::steady_clock::now() + k_time_to_end);
  }

  const DaemonOptions& options_;
  int signals_;
  int guardian_;
  Descriptor parent_;
  Filesystem filesystem_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::size_t mounted_ = 0;
  Events events_;
  std::optional<Command> command_;
  RealTime deadline_ = RealTime::max();  ///< the command is killed then
  bool ends_ = false;
  int code_ = 0;
};

/// Removes what was made, when all that uses it is gone.
class Removal {
 public:
  explicit Removal(const Places& places) : places_(places) {}
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  ~Removal() { places_.remove(); }

 private:
  const Places& places_;
};

}  // namespace

int serve(const DaemonOptions& options) {
  const pid_t parent = ::getppid();
  const Descriptor signals = blocked_signals();
  ::prctl(PR_SET_TIMERSLACK, 1);
  // A descriptor is kept for each file that a mount knows.
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  const Places places = Places::make(options.dir, options.clients, options.backing);
  const Guardian guardian(places);  // goes last
  const Removal removal(places);
  Daemon daemon(options, places, guardian, signals, parent);
  if (options.command.empty()) {
    fmt::print("labfs: ready: {} clients, {}/0 to {}\n", options.clients,
               places.mounts[0].parent_path().string(), options.clients - 1);
    std::fflush(stdout);
  } else {
    daemon.start_command(places);
  }
  ::umask(0);  // programs have applied their own
  return daemon.run();
}

}  // namespace shoal::lab
