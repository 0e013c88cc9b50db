// SPDX-License-Identifier: BSD-3-Clause
#include "base/names.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace shoal {

bool is_ascii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
}

std::string composed(std::string_view name) {
  if (is_ascii(name)) return std::string(name);
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t bytes = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(name.data()), static_cast<utf8proc_ssize_t>(name.size()),
      &made, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owned(made, &std::free);
  if (bytes == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (bytes < 0) return std::string(name);
  return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(bytes)};
}

bool same_name(std::string_view a, std::string_view b) {
  return a == b || (!is_ascii(a) && !is_ascii(b) && composed(a) == composed(b));
}

bool is_utf8(const std::string& text) {
  utf8proc_int32_t c = -1;
  for (std::size_t at = 0; at < text.size();) {
    const utf8proc_ssize_t n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                                static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace shoal
