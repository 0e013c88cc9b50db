// SPDX-License-Identifier: BSD-3-Clause
// What the fuzzers share: an input is taken or refused with an Error that has a message; anything else is a
// finding.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <span>
#include <string>

#include "base/bytes.hpp"
#include "base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace shoal::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Runs what may refuse the input, with an Error. Returns whether it took it.
template <class Work>
bool taken(Work&& work) {
  try {
    work();
    return true;
  } catch (const Error& e) {
    require(e.what()[0] != '\0', "an error has a message");
    require(e.code() != Code::internal, "no input leads to an internal error");
    return false;
  }
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A file of this process with the input, for what reads files by name.
class InputFile {
 public:
  explicit InputFile(const char* name)
      : path_("/dev/shm/shoal-fuzz-" + std::to_string(::getpid()) + "-" + name) {}
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { ::unlink(path_.c_str()); }
  const std::string& fill(const std::uint8_t* data, std::size_t size) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    return path_;
  }

 private:
  std::string path_;
};

}  // namespace shoal::fuzz
