// SPDX-License-Identifier: BSD-3-Clause
#include "storage/whole_file.hpp"

#include <span>

#include "base/error.hpp"
#include "storage/paths.hpp"
#include "storage/store.hpp"

namespace shoal {

std::optional<std::string> read_whole_file(const std::string& path, std::uint64_t more_than) {
  if (!is_a_file(path)) return std::nullopt;
  const auto store = open_posix_store(path, StoreMode::read);
  const std::uint64_t size = store->size();
  if (size > more_than)
    throw Error(Code::format, "it has {} bytes; up to {} are read", size, more_than).in_file(path);
  std::string text(size, '\0');
  text.resize(store->read(0, std::as_writable_bytes(std::span(text))));
  store->close();
  return text;
}

void write_whole_file(const std::string& path, const std::string& text, bool durable) {
  const auto store = open_posix_store(path, StoreMode::create_exclusive);
  store->write(0, std::as_bytes(std::span(text)));
  if (durable) store->sync();
  store->close();
}

}  // namespace shoal
