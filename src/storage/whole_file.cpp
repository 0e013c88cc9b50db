// SPDX-License-Identifier: BSD-3-Clause
#include "storage/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>

#include "base/error.hpp"
#include "storage/store.hpp"

namespace shoal {

namespace {

// So that the new name outlives a loss of power. Systems that cannot sync folders do without.
void sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

std::optional<std::string> read_whole_file(const std::string& path, std::uint64_t more_than) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return std::nullopt;
  const auto store = open_posix_store(path, StoreMode::read);
  const std::uint64_t size = store->size();
  if (size > more_than)
    throw Error(Code::format,
                "it has " + std::to_string(size) + " bytes; up to " + std::to_string(more_than) + " are read")
        .in_file(path);
  std::string text(static_cast<std::size_t>(size), '\0');
  text.resize(store->read(0, std::as_writable_bytes(std::span(text))));
  store->close();
  return text;
}

void replace_whole_file(const std::string& path, const std::string& text, bool durable) {
  const std::string beside = path + ".tmp";
  try {
    const auto store = open_posix_store(beside, StoreMode::create);
    store->write(0, std::as_bytes(std::span(text)));
    if (durable) store->sync();
    store->close();
    if (std::rename(beside.c_str(), path.c_str()) != 0)
      throw errno_error(errno, "renaming " + beside).in_file(path);
  } catch (...) {
    std::remove(beside.c_str());
    throw;
  }
  if (durable) sync_folder_of(path);
}

}  // namespace shoal
