// Long runs of a file, stored in several writes.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "driver/native/path/page_runs.hpp"
#include "memory_store.hpp"

using namespace shoal;
using test::MemoryFile;
using test::MemoryStore;

namespace {

constexpr std::int64_t k_page = PageRuns::k_page;

SystemOptions in_memory(const std::shared_ptr<MemoryFile>& memory) {
  SystemOptions system;
  system.open_store = [memory](const std::string&, StoreMode) {
    return std::make_unique<MemoryStore>(memory);
  };
  return system;
}

/// A file in memory, and runs stored in it whose bytes count up.
struct Stored {
  std::shared_ptr<MemoryFile> memory = std::make_shared<MemoryFile>();
  Counters counters;
  SystemOptions system = in_memory(memory);
  ObjectFiles file{"memory", true, system, counters};
  PageRuns runs{file};
  Bytes buffer;
  unsigned char next = 0;

  /// A piece of so many bytes, in one run.
  void write(std::uint64_t at, std::int64_t bytes, bool goes_on = true) {
    runs.write(filled(bytes), {{0, at}, 0, bytes}, goes_on);
  }
  std::byte* filled(std::int64_t bytes) {
    buffer.assign(static_cast<std::size_t>(k_page + bytes), std::byte{});
    for (std::int64_t i = 0; i < bytes; ++i)
      buffer[static_cast<std::size_t>(k_page + i)] = static_cast<std::byte>(next++);
    return buffer.data() + k_page;
  }
  /// The bytes of the file from `at` on count up from `first`.
  bool counts_up(std::uint64_t at, std::int64_t bytes, unsigned char first) const {
    if (memory->content.size() < at + static_cast<std::uint64_t>(bytes)) return false;
    for (std::int64_t i = 0; i < bytes; ++i)
      if (memory->content[at + static_cast<std::uint64_t>(i)] != static_cast<std::byte>(first + i))
        return false;
    return true;
  }
  std::vector<std::uint64_t> ends() const {
    std::vector<std::uint64_t> ends;
    for (const auto& step : memory->steps)
      if (step.what == "write") ends.push_back(step.offset + step.bytes);
    return ends;
  }
};

}  // namespace

TEST_CASE("writes of a long run end at pages, but for the last one") {
  Stored stored;
  constexpr std::uint64_t k_at = 1000;
  for (std::uint64_t at = k_at; at < k_at + 5 * 10000; at += 10000)
    stored.write(at, 10000);
  CHECK(stored.ends() == std::vector<std::uint64_t>{8192, 20480, 28672, 40960, 49152});
  stored.runs.finish();
  CHECK(stored.ends().back() == k_at + 50000);
  CHECK(stored.counts_up(k_at, 50000, 0));
  CHECK(stored.counters.bytes_written == 50000);
  stored.runs.finish();  // nothing waits
  CHECK(stored.ends().size() == 6);
}

TEST_CASE("pieces of less than a page wait until there is one") {
  Stored stored;
  for (std::uint64_t at = 4000; at < 4000 + 100 * 100; at += 100)
    stored.write(at, 100);
  CHECK(stored.ends() == std::vector<std::uint64_t>{4096, 8192, 12288});
  stored.runs.finish();
  CHECK(stored.counts_up(4000, 10000, 0));
}

TEST_CASE("what waits is stored before a run that lies elsewhere") {
  Stored stored;
  stored.write(0, 5000);
  stored.write(20000, 100);
  CHECK(stored.ends() == std::vector<std::uint64_t>{4096, 5000});
  stored.write(4900, 1000);  // written last, so it counts
  stored.runs.finish();
  CHECK(stored.counts_up(0, 4900, 0));
  CHECK(stored.counts_up(20000, 100, static_cast<unsigned char>(5000)));
  CHECK(stored.counts_up(4900, 1000, static_cast<unsigned char>(5100)));
}

TEST_CASE("runs that end with their piece are stored whole") {
  Stored stored;
  std::byte* const cells = stored.filled(6000);
  stored.runs.write(cells, {{0, 100}, 0, 3000}, false);
  stored.runs.write(cells, {{0, 6100}, 3000, 3000}, false);
  CHECK(stored.ends() == std::vector<std::uint64_t>{3100, 9100});
  CHECK(stored.counts_up(100, 3000, 0));
  CHECK(stored.counts_up(6100, 3000, static_cast<unsigned char>(3000)));
}
