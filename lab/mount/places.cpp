// SPDX-License-Identifier: BSD-3-Clause
#include "mount/places.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace shoal::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_source = "labfs:";   // of a mount, before the folder of the bytes
constexpr const char* k_backing = "labfs-";  // and the process, and a random part

fs::path memory_folder() {
  std::error_code none;
  return fs::is_directory("/dev/shm", none) && ::access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm")
                                                                               : fs::temp_directory_path();
}

// Programs may still be in it: it goes when they have gone.
bool unmount(const fs::path& place) {
  if (::umount2(place.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return true;
  if (errno != EPERM) return false;
  const std::string text = place.string();
  std::array<const char*, 6> arguments{"fusermount3", "-u", "-z", "-q", text.c_str(), nullptr};
  pid_t child = 0;
  int status = 0;
  if (::posix_spawnp(&child, arguments[0], nullptr, nullptr, const_cast<char**>(arguments.data()), environ) !=
      0)
    return false;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Another link of that name is the user's.
void remove_link_to(const fs::path& backing, const fs::path& link) {
  std::error_code error;
  if (fs::read_symlink(link, error) == backing && !error) fs::remove(link, error);
}

// Of a labfs that was killed: its folder of bytes may be gone.
void remove_left_link(const fs::path& link) {
  std::error_code error;
  const fs::path to = fs::read_symlink(link, error);
  if (!error && to.filename().string().rfind(k_backing, 0) == 0) fs::remove(link, error);
}

std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

fs::path common_place(const fs::path& dir) {
  return dir / "here";
}

fs::path bytes_link(const fs::path& dir) {
  return dir / "bytes";
}

Places Places::make(const fs::path& dir, int clients, const fs::path& backing) {
  Places made;
  const auto folder = [&](const fs::path& path) {
    std::error_code error;
    if (fs::create_directory(path, error)) made.folders.push_back(path);
    if (!error && fs::is_directory(path)) return;
    made.remove();
    throw std::runtime_error("cannot make the folder " + path.string() + ": " +
                             (error ? error.message() : "a file has that name"));
  };
  folder(dir);
  const fs::path top = fs::canonical(dir);
  if (!find_mounts(top).empty()) {
    made.remove();
    throw std::runtime_error("there are mounts of labfs in " + top.string() +
                             "; stop the labfs that serves them, or remove them with 'labfs --clean --dir " +
                             top.string() + "'");
  }
  for (int client = 0; client < clients; ++client) {
    const fs::path place = top / std::to_string(client);
    folder(place);
    if (!fs::is_empty(place)) {
      made.remove();
      throw std::runtime_error("the folder " + place.string() + " is not empty");
    }
    made.mounts.push_back(place);
  }
  folder(common_place(top));
  if (backing.empty()) {
    std::string name = (memory_folder() / (k_backing + std::to_string(::getpid()) + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) {
      const int error = errno;
      made.remove();
      throw std::runtime_error("cannot make a folder " + name + ": " + std::strerror(error));
    }
    ::chmod(name.c_str(), 0755);
    made.backing = name;
    made.backing_is_ours = true;
  } else {
    folder(backing);
    if (!made.folders.empty() && made.folders.back() == backing) made.folders.pop_back();  // the user's data
    made.backing = fs::canonical(backing);
  }
  const fs::path link = bytes_link(top);
  if (made.backing == link) return made;
  remove_left_link(link);
  remove_link_to(made.backing, link);
  std::error_code error;
  fs::create_directory_symlink(made.backing, link, error);
  if (error) {
    made.remove();
    throw std::runtime_error("cannot make the link " + link.string() + ": " + error.message());
  }
  made.link = link;
  return made;
}

void Places::remove() const {
  for (const auto& place : mounts)
    if (!find_mounts(place.parent_path()).empty()) unmount(place);
  std::error_code ignored;
  if (!link.empty()) remove_link_to(backing, link);
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder)
    ::rmdir(folder->c_str());  // only if it is empty
  if (backing_is_ours) fs::remove_all(backing, ignored);
}

std::vector<FoundMount> find_mounts(const fs::path& dir) {
  std::vector<FoundMount> found;
  std::error_code error;
  const fs::path top = fs::canonical(dir, error);
  if (error) return found;
  std::ifstream in("/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string number, parent, device, root, place, field, type, source;
    fields >> number >> parent >> device >> root >> place;
    while (fields >> field && field != "-") {
    }
    if (!(fields >> type >> source) || type.rfind("fuse.labfs", 0) != 0) continue;
    place = unescaped(place);
    source = unescaped(source);
    if (fs::path(place).parent_path() != top || source.rfind(k_source, 0) != 0) continue;
    struct stat status {};
    const bool served = ::stat(place.c_str(), &status) == 0 || errno != ENOTCONN;
    found.push_back({place, source.substr(std::strlen(k_source)), served});
  }
  return found;
}

int clean(const fs::path& dir) {
  int served = 0;
  for (const FoundMount& mount : find_mounts(dir)) {
    if (mount.served) {
      ++served;
      continue;
    }
    unmount(mount.place);
    ::rmdir(mount.place.c_str());
  }
  if (served == 0) {
    ::rmdir(common_place(dir).c_str());
    remove_left_link(bytes_link(dir));
  }
  // Folders of bytes: labfs-PROCESS-RANDOM.
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(memory_folder(), ignored)) {
    const std::string name = entry.path().filename();
    if (name.rfind(k_backing, 0) != 0) continue;
    const int process = std::atoi(name.c_str() + std::strlen(k_backing));
    if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) fs::remove_all(entry.path(), ignored);
  }
  return served;
}

std::string why_no_mounts() {
  constexpr const char* k_then =
      " The model can still be tested (lab_tests), but no program can be run on it, so no time of a program "
      "can be "
      "measured in the laboratory on this machine.";
  const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device < 0) {
    const int error = errno;
    std::string why = std::string("cannot open /dev/fuse: ") + std::strerror(error) + ".";
    if (error == ENOENT || error == ENODEV)
      why +=
          " The kernel has no FUSE here ('modprobe fuse' as root; containers need the device, --device "
          "/dev/fuse).";
    else
      why += " The device's rights do not let this user in.";
    return why + k_then;
  }
  ::close(device);
  if (::geteuid() != 0) {
    const std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');)
      if (::access((folder + "/fusermount3").c_str(), X_OK) == 0) return {};
    return std::string(
               "users other than root mount with the program fusermount3, which was not found on PATH "
               "(Debian: package fuse3).") +
           k_then;
  }
  return {};
}

}  // namespace shoal::lab
