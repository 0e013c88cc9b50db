// SPDX-License-Identifier: BSD-3-Clause
#include "storage/whole_file.hpp"

#include <span>

#include "base/error.hpp"
#include "storage/paths.hpp"
#include "storage/replacement.hpp"
#include "storage/store.hpp"

namespace shoal {

std::optional<std::string> read_whole_file(const std::string& path, std::uint64_t more_than) {
  if (!is_a_file(path)) return std::nullopt;
  const auto store = open_posix_store(path, StoreMode::read);
  const std::uint64_t size = store->size();
  if (size > more_than)
    throw Error(Code::format, "it has {} bytes; up to {} are read", size, more_than).in_file(path);
  std::string text(static_cast<std::size_t>(size), '\0');
  text.resize(store->read(0, std::as_writable_bytes(std::span(text))));
  store->close();
  return text;
}

void replace_whole_file(const std::string& path, const std::string& text, bool durable) {
  Replacement replacement(path);
  try {
    const auto store = open_posix_store(replacement.beside(), StoreMode::create_exclusive);
    store->write(0, std::as_bytes(std::span(text)));
    if (durable) store->sync();
    store->close();
  } catch (const Error& e) {
    Status status = e.status();
    status.file = path;
    throw Error(std::move(status));
  }
  replacement.take_over_rights();
  replacement.commit(durable);
}

}  // namespace shoal
