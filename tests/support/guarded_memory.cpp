#include "support/guarded_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <system_error>

#include "pack/cell_access.hpp"

namespace shoal::testing {

namespace {

std::map<const std::byte*, const GuardedMemory*>& guarded() {
  static std::map<const std::byte*, const GuardedMemory*> by_address;
  return by_address;
}

std::int64_t boxes = 0;

class GuardedCells : public CellAccess {
 public:
  explicit GuardedCells(std::ptrdiff_t to_own) : to_own_(to_own) {}
  void fetch(const ArrayView& array, const Box& box, std::byte* to) override {
    ++boxes;
    HostCells().fetch(own(array), box, to);
  }
  void store(const ArrayView& array, const Box& box, const std::byte* from) override {
    ++boxes;
    HostCells().store(own(array), box, from);
  }

 private:
  ArrayView own(ArrayView array) const {
    array.data += to_own_;
    return array;
  }
  std::ptrdiff_t to_own_;
};

std::shared_ptr<CellAccess> find_guarded(const ArrayView& array) {
  const auto behind = guarded().upper_bound(array.data);
  if (behind == guarded().begin()) return nullptr;
  const GuardedMemory& memory = *std::prev(behind)->second;
  if (array.data >= memory.given() + memory.bytes()) return nullptr;
  return std::make_shared<GuardedCells>(memory.own() - memory.given());
}

std::byte* mapped(int file, std::size_t bytes, int protection) {
  void* const at = mmap(nullptr, bytes, protection, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return static_cast<std::byte*>(at);
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes) : bytes_(bytes + 1) {
  const int file = memfd_create("guarded", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes_)) != 0)
    throw std::system_error(errno, std::generic_category(), "memfd_create");
  given_ = mapped(file, bytes_, PROT_NONE);
  own_ = mapped(file, bytes_, PROT_READ | PROT_WRITE);
  close(file);
  if (guarded().empty()) find_accesses_by(find_guarded);
  guarded()[given_] = this;
}

GuardedMemory::~GuardedMemory() {
  guarded().erase(given_);
  munmap(given_, bytes_);
  munmap(own_, bytes_);
}

bool guards_memory() {
  const char* const kind = std::getenv("TEST_MEMORY");
  return kind != nullptr && std::string(kind) == "guard";
}

std::int64_t guarded_boxes() {
  return boxes;
}

}  // namespace shoal::testing
