// SPDX-License-Identifier: BSD-3-Clause
// Counts by operators new and delete of its own, which all C++ code of the program then uses.
#include "plan/memory.hpp"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

std::int64_t in_use = 0;
std::int64_t most = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  in_use += static_cast<std::int64_t>(malloc_usable_size(memory));
  if (in_use > most) most = in_use;
  return memory;
}

void give_back(void* memory) noexcept {
  in_use -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(std::malloc(bytes > 0 ? bytes : 1));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto line = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(line, (bytes + line - 1) / line * line));
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}

namespace shoal::plan {

MemoryMeter allocations() {
  return {[] { return in_use; }, [] { return most; }, [] { most = in_use; }};
}

}  // namespace shoal::plan
