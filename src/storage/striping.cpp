// SPDX-License-Identifier: BSD-3-Clause
#include "storage/striping.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "base/text.hpp"

extern char** environ;

namespace shoal {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> arguments_of(const std::string& path, const Stripes& stripes) {
  std::vector<std::string> arguments{"lfs", "setstripe"};
  if (stripes.count > 0) arguments.insert(arguments.end(), {"-c", std::to_string(stripes.count)});
  if (stripes.bytes > 0) arguments.insert(arguments.end(), {"-S", std::to_string(stripes.bytes)});
  arguments.push_back(path);
  return arguments;
}

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

/// While it lives, Lustre's library does not print what it also returns.
class Silence {
 public:
  explicit Silence(void* library) : set_(find<void(int)>(library, "llapi_msg_set_level")) {
    auto* const get = find<int()>(library, "llapi_msg_get_level");
    if (get == nullptr) set_ = nullptr;
    if (set_ == nullptr) return;
    before_ = get();
    set_(0);
  }
  ~Silence() {
    if (set_ != nullptr) set_(before_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  void (*set_)(int);
  int before_ = 0;
};

/// A file of Lustre's library. Empty, or what it said against it; nothing where there is no such library. One
/// that was found stays loaded: it may hold files open.
std::optional<std::string> create_by_library(const std::vector<std::string>& names, const std::string& path,
                                             const Stripes& stripes) {
  for (const auto& name : names) {
    void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    auto* const create =
        find<int(const char*, unsigned long long, int, int, int)>(library, "llapi_file_create");
    if (create == nullptr) continue;
    constexpr int k_any_target = -1;
    constexpr int k_usual_pattern = 0;
    const auto count =
        static_cast<int>(std::min<std::int64_t>(stripes.count, std::numeric_limits<int>::max()));
    const Silence silence(library);
    const int result = create(path.c_str(), static_cast<unsigned long long>(stripes.bytes), k_any_target,
                              count, k_usual_pattern);
    if (result >= 0) return std::string();
    return fmt::format("llapi_file_create of {} could not make {}: {}", name, path, std::strerror(-result));
  }
  return std::nullopt;
}

/// Reads to the end, and keeps so much of it as a message can hold.
std::string text_from(int descriptor) {
  constexpr std::size_t k_most_text = 400;
  std::string text;
  std::array<char, 256> part{};
  while (true) {
    const ssize_t n = ::read(descriptor, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (text.size() < k_most_text) text.append(part.data(), static_cast<std::size_t>(n));
  }
  for (char& c : text)
    if (c == '\n') c = ' ';
  return trimmed(text);
}

/// Runs a program found on PATH, without a shell. Empty, or what it said against it.
std::string run(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::strerror(errno);
  std::vector<char*> argv;
  for (const auto& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  const std::string said = error == 0 ? text_from(ends[0]) : std::string();
  ::close(ends[0]);
  if (error != 0)
    return error == ENOENT ? fmt::format("the loader finds no {}, and the program {} was not found on PATH",
                                         k_lustre_libraries[0], arguments[0])
                           : std::strerror(error);
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) return {};  // the model has all its children's ends ignored; the caller looks for the file
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return said.empty() ? arguments[0] + " failed and said nothing" : said;
}

}  // namespace

// What Lustre's library calls lov_user_md, of versions 1 and 3, which begin alike.
Stripes stripes_of_file(const std::string& path) {
  struct Layout {
    std::uint32_t magic, pattern;
    std::array<std::uint64_t, 2> object;
    std::uint32_t stripe_bytes;
    std::uint16_t stripe_count, offset;
  };
  std::array<std::byte, 64 * 1024> value{};
  const ssize_t length = ::getxattr(path.c_str(), "lustre.lov", value.data(), value.size());
  Layout layout{};
  if (length < static_cast<ssize_t>(sizeof layout)) return {};
  std::memcpy(&layout, value.data(), sizeof layout);
  const bool known = layout.magic == 0x0BD10BD0U || layout.magic == 0x0BD30BD0U;
  return known ? Stripes{layout.stripe_count, layout.stripe_bytes} : Stripes{};
}

std::string stripe_command(const std::string& path, const Stripes& stripes) {
  std::string text;
  for (const auto& argument : arguments_of(path, stripes))
    text += (text.empty() ? "" : " ") + argument;
  return text;
}

std::string make_striped_file(const std::string& path, const Stripes& stripes,
                              const std::vector<std::string>& libraries) {
  std::error_code error;
  const fs::file_status before = fs::status(path, error);
  const bool is_there = fs::exists(before);
  if (is_there && !fs::is_regular_file(before)) return "the path is no plain file";
  const fs::path place = is_there ? fs::canonical(path, error) : fs::path(path);
  if (error && is_there) return error.message();
  // Beside the one that is there, which goes only when its successor is complete.
  const std::string fresh = place.string() + (is_there ? ".striped" : "");
  if (is_there) fs::remove(fresh, error);  // of a job that was killed
  std::string problem;
  if (const auto outcome = create_by_library(libraries, fresh, stripes))
    problem = *outcome;
  else
    problem = run(arguments_of(fresh, stripes));
  if (!problem.empty()) {
    // The file may have been made before its stripes were refused.
    if (fs::is_regular_file(fs::symlink_status(fresh, error))) fs::remove(fresh, error);
    return problem;
  }
  if (!fs::exists(fresh, error)) return "it was not made, and nothing was said against it";
  if (!is_there) return {};
  fs::permissions(fresh, before.permissions(), error);
  fs::rename(fresh, place, error);
  if (!error) return {};
  const std::string why = error.message();
  fs::remove(fresh, error);
  return why;
}

}  // namespace shoal
