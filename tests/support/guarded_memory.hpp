// Memory that the host cannot reach, as that of a device, with the access that it needs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal::testing {

/// Pages that are mapped twice: at given(), which programs hand to Shoal, nobody may read or write; at own()
/// the access does, and the test. Shoal finds the access of all that lies at given().
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  std::byte* given() const { return given_; }
  std::byte* own() const { return own_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::byte* given_ = nullptr;
  std::byte* own_ = nullptr;
};

/// Environment TEST_MEMORY=guard: arrays of tests lie in guarded memory.
bool guards_memory();

/// Boxes that accesses of this process brought to the host, and back.
std::int64_t guarded_boxes();

}  // namespace shoal::testing
