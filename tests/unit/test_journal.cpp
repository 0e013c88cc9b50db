// SPDX-License-Identifier: BSD-3-Clause
// Changes of a file in place: whatever kills the writer, they are all there afterwards or none.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "format/catalog.hpp"
#include "logged_store.hpp"
#include "storage/journal.hpp"
#include "storage/journal_format.hpp"

namespace {

using namespace shoal;
using namespace shoal::test;

Bytes finished(Bytes image) {
  LoggedStore store(std::move(image));
  const auto read = [&] {
    auto reader = with_changes_finished(std::make_unique<LoggedStore>(store.content));
    Bytes seen(reader->size());
    reader->read(0, seen);
    return seen;
  }();
  finish_changes(store);
  CHECK(read == store.content);  // who only reads sees the same
  CHECK_FALSE(finish_changes(store));
  return store.content;
}

struct Case {
  Bytes before, after;
  std::vector<Bytes> pieces;
  std::vector<Change> changes;
};

Case random_case(std::mt19937& random) {
  const auto number = [&](std::size_t below) { return random() % below; };
  Case c;
  c.before.resize(64 + number(40000));
  for (auto& byte : c.before)
    byte = static_cast<std::byte>(random());
  c.after = c.before;
  const std::size_t n = 1 + number(5), of_start = number(4);
  c.pieces.reserve(n + of_start);
  const std::size_t part = c.before.size() / n;
  for (std::size_t i = 0; i < n + of_start; ++i) {
    auto length = 1 + number(part), offset = i * part + number(part - length + 1);
    if (of_start > 0 && i == 0) offset = 60, length = std::max<std::size_t>(part, 61) - 60;
    if (i >= n) length = 1 + number(15), offset = (i - n) * 16;  // several in the first bytes of the file
    Bytes bytes(length);
    for (auto& byte : bytes)
      byte = static_cast<std::byte>(random());
    std::copy(bytes.begin(), bytes.end(), c.after.begin() + static_cast<std::ptrdiff_t>(offset));
    c.pieces.push_back(std::move(bytes));
    c.changes.push_back({offset, c.pieces.back()});
  }
  return c;
}

/// As it is compared: a journal that was never whole may lie behind.
bool begins_with(const Bytes& content, const Bytes& start) {
  return content.size() >= start.size() && std::equal(start.begin(), start.end(), content.begin());
}

}  // namespace

TEST_CASE("journal: killed at any page of any write, the file is as before or as after") {
  std::mt19937 random(20261123);
  int images = 0, before = 0, after = 0;
  for (int i = 0; i < 200; ++i) {
    const auto c = random_case(random);
    LoggedStore store(c.before);
    change_in_place(store, c.changes, ChangeOrder::any, false);
    REQUIRE(store.content == c.after);
    Bytes image = c.before;
    for (const auto& step : store.steps)
      for (const auto& piece : torn(step, 4096)) {
        apply_to(image, piece);
        const auto found = finished(image);
        ++images;
        const bool is_before = begins_with(found, c.before), is_after = begins_with(found, c.after);
        before += is_before ? 1 : 0;
        after += is_after ? 1 : 0;
        CHECK((is_before || is_after));
      }
  }
  CHECK(images > 2000);
  CHECK(before > 100);
  CHECK(after > 100);
}

TEST_CASE("journal: power lost at any time, with writes in any order and torn at sectors") {
  std::mt19937 random(4711);
  for (int i = 0; i < 300; ++i) {
    auto c = random_case(random);
    LoggedStore store(c.before);
    // What the changes refer to was written just before.
    const Bytes fresh(1 + random() % 5000, std::byte{42});
    const auto at = c.before.size();
    store.write(at, fresh);
    change_in_place(store, c.changes, ChangeOrder::any, true);
    c.after.insert(c.after.end(), fresh.begin(), fresh.end());
    REQUIRE(store.content == c.after);
    for (int j = 0; j < 10; ++j) {
      const auto stop = random() % (store.steps.size() + 1);
      std::size_t synced = 0;
      for (std::size_t k = 0; k < stop; ++k)
        if (store.steps[k].kind == Step::Kind::sync) synced = k;
      Bytes image = c.before;
      for (std::size_t k = 0; k < synced; ++k)
        apply_to(image, store.steps[k]);
      std::vector<Step> rest;
      for (std::size_t k = synced; k < stop; ++k)
        for (auto& piece : torn(store.steps[k], 512))
          if (random() % 2 == 0) rest.push_back(std::move(piece));
      std::shuffle(rest.begin(), rest.end(), random);
      for (const auto& piece : rest)
        apply_to(image, piece);
      const auto found = finished(image);
      CHECK((begins_with(found, c.before) || begins_with(found, c.after)));
    }
  }
}

TEST_CASE("journal: a write that fails in part leaves the file as before") {
  std::mt19937 random(99);
  for (int i = 0; i < 300; ++i) {
    const auto c = random_case(random);
    LoggedStore store(c.before);
    store.writes_before_failure = static_cast<std::int64_t>(random() % (c.changes.size() + 1));
    const auto order = i % 2 == 0 ? ChangeOrder::any : ChangeOrder::each_valid;
    try {
      change_in_place(store, c.changes, order, i % 3 == 0);
      CHECK(store.content == c.after);  // fewer writes than that
    } catch (const Error& error) {
      CHECK(error.code() == Code::io);
      CHECK(store.content == c.before);
    }
  }
}

TEST_CASE("journal: changes that are valid one by one and lie within a page need none") {
  Bytes content(20000);
  const Bytes news(100, std::byte{7});
  LoggedStore store(content);
  change_in_place(store, {{8000, news}, {100, news}, {4000, std::span(news).first(96)}},
                  ChangeOrder::each_valid, false);
  REQUIRE(store.steps.size() == 3);
  CHECK(store.steps[0].offset == 8000);
  CHECK(store.steps[1].offset == 100);
  CHECK(store.steps[2].offset == 4000);
  SUBCASE("what is there already is not written") {
    store.steps.clear();
    const auto made = change_in_place(store, {{8000, news}, {100, news}}, ChangeOrder::any, false);
    CHECK(store.steps.empty());
    CHECK(made.writes == 0);
  }
  SUBCASE("across pages one is written") {
    store.steps.clear();
    change_in_place(store, {{12250, news}}, ChangeOrder::each_valid, false);
    REQUIRE(store.steps.size() == 3);
    CHECK(store.steps[0].offset == 20480);  // the journal, on pages of its own
    CHECK(store.steps[2].kind == Step::Kind::resize);
    CHECK(store.content.size() == 20000);
  }
}

TEST_CASE("journal: one that no longer fits the file is not followed, and nothing is cut off") {
  std::mt19937 random(5);
  const auto c = random_case(random);
  LoggedStore store(c.before);
  change_in_place(store, c.changes, ChangeOrder::any, true);
  REQUIRE(store.steps.size() > 3);
  LoggedStore killed(c.before);
  REQUIRE(store.steps[1].kind == Step::Kind::write);
  apply_to(killed.content, store.steps[1]);  // the journal
  SUBCASE("somebody changed a place that it has") {
    for (const auto& change : c.changes)
      killed.content[change.offset] ^= std::byte{0x55};
  }
  SUBCASE("somebody changed the start of the file") {
    killed.content[4] ^= std::byte{1};
  }
  SUBCASE("it is damaged") {
    killed.content[killed.content.size() - 100] ^= std::byte{1};
  }
  const auto left = killed.content;
  CHECK_FALSE(finish_changes(killed));
  CHECK(killed.content == left);
}

namespace {

/// A change of a journal, as anybody may write one.
struct Entry {
  std::uint64_t offset;
  Bytes before, after;
};

Bytes some_bytes(std::size_t n, std::uint8_t value) {
  return Bytes(n, std::byte{value});
}

/// The file with a journal behind it, all checksums of it right. change: of the trailer, before its sum.
Bytes with_journal(
    Bytes file, const std::vector<Entry>& entries,
    const std::function<void(JournalTrailer&)>& change = [](JournalTrailer&) {}) {
  JournalTrailer trailer;
  trailer.file_size = file.size();
  trailer.begin = journal_begin(file.size());
  file.resize(trailer.begin);
  Bytes journal;
  const auto add = [&](const void* from, std::size_t n) {
    const auto* bytes = static_cast<const std::byte*>(from);
    journal.insert(journal.end(), bytes, bytes + n);
  };
  for (const auto& entry : entries) {
    const std::array<std::uint64_t, 2> where{entry.offset, entry.after.size()};
    add(where.data(), sizeof where);
    add(entry.before.data(), entry.before.size());
    add(entry.after.data(), entry.after.size());
  }
  Hash hash;
  hash.add(journal);
  trailer.bytes = journal.size();
  trailer.count = entries.size();
  trailer.checksum = hash.value();
  change(trailer);
  trailer.own_checksum = trailer.sum();
  add(&trailer, sizeof trailer);
  file.insert(file.end(), journal.begin(), journal.end());
  return file;
}

bool is_followed(const Bytes& content) {
  LoggedStore store(content);
  const bool unfinished = has_unfinished_changes(store);
  CHECK(finish_changes(store) == unfinished);
  if (!unfinished) CHECK(store.content == content);
  CHECK(with_changes_finished(std::make_unique<LoggedStore>(content))->size() == store.content.size());
  return unfinished;
}

/// A file of zeros that takes no space, with a trailer at its end. Counts what is read of it.
class SparseStore final : public Store {
 public:
  SparseStore(std::uint64_t size, const JournalTrailer& trailer) : size_(size), trailer_(trailer) {}
  const std::string& path() const override { return path_; }
  void write(std::uint64_t, std::span<const std::byte>) override { FAIL("nothing is written"); }
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    bytes_read += bytes.size();
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    if (offset == size_ - sizeof trailer_) std::memcpy(bytes.data(), &trailer_, sizeof trailer_);
    return bytes.size();
  }
  std::uint64_t size() override { return size_; }
  void resize(std::uint64_t) override { FAIL("nothing is cut"); }
  void sync() override {}
  void close() override {}
  std::uint64_t bytes_read = 0;

 private:
  std::string path_ = "sparse";
  std::uint64_t size_;
  JournalTrailer trailer_;
};

/// Of the processor, whatever else the machine does.
double seconds_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("journal: one with right checksums counts where it fits the file") {
  const Bytes file = some_bytes(5000, 7);
  const Entry start{0, some_bytes(64, 7), some_bytes(64, 7)};
  const Entry news{100, some_bytes(10, 7), some_bytes(10, 8)};
  CHECK(is_followed(with_journal(file, {start, news})));
  CHECK(is_followed(with_journal(file, {news, start})));  // in any order
  SUBCASE("without a change it is none, and nothing is cut off") {
    for (const std::size_t size : {0, 1, 64, 5000})
      CHECK_FALSE(is_followed(with_journal(some_bytes(size, 7), {})));
  }
  SUBCASE("it begins on the first page behind the file, with nothing in between") {
    const auto begins_at = [&](std::uint64_t size) {
      return with_journal(file, {start, news}, [&](JournalTrailer& t) { t.file_size = size; });
    };
    CHECK(is_followed(begins_at(5000)));
    for (const std::uint64_t size : {0, 1, 64, 4096, 4097, 4999, 8193, 100000})
      CHECK_FALSE(is_followed(begins_at(size)));
    CHECK_FALSE(is_followed(with_journal(file, {start, news}, [](JournalTrailer& t) {
      t.begin -= k_journal_page;
      t.bytes += k_journal_page;
    })));
  }
  SUBCASE("a file that ends where others would begin to be cut") {
    Bytes longer = file;
    longer.resize(8192);
    longer.back() = std::byte{1};
    CHECK_FALSE(
        is_followed(with_journal(longer, {start, news}, [](JournalTrailer& t) { t.file_size = 5000; })));
  }
  SUBCASE("it has the start of the file") {
    CHECK_FALSE(is_followed(with_journal(file, {news})));
    CHECK_FALSE(is_followed(with_journal(file, {{0, some_bytes(63, 7), some_bytes(63, 7)}, news})));
    CHECK(is_followed(with_journal(
        file, {{0, some_bytes(32, 7), some_bytes(32, 7)}, {32, some_bytes(32, 7), some_bytes(32, 9)}})));
  }
  SUBCASE("no two changes overlap, and none lies behind the end") {
    CHECK_FALSE(is_followed(with_journal(file, {start, news, {109, some_bytes(2, 7), some_bytes(2, 9)}})));
    CHECK_FALSE(is_followed(with_journal(file, {start, news, news})));
    CHECK_FALSE(is_followed(with_journal(file, {start, {4999, some_bytes(2, 7), some_bytes(2, 9)}})));
    CHECK_FALSE(is_followed(with_journal(file, {start, {~0ULL, some_bytes(2, 7), some_bytes(2, 9)}})));
    CHECK_FALSE(is_followed(with_journal(file, {start, {200, {}, {}}})));
  }
  SUBCASE("numbers of changes and of bytes are its own") {
    for (const std::uint64_t n : {0ULL, 1ULL, 3ULL, 1ULL << 20, 1ULL << 40, ~0ULL}) {
      CHECK_FALSE(is_followed(with_journal(file, {start, news}, [&](JournalTrailer& t) { t.count = n; })));
      CHECK_FALSE(is_followed(with_journal(file, {start, news}, [&](JournalTrailer& t) { t.bytes = n; })));
    }
  }
}

TEST_CASE("journal: a large file with a trailer of its own costs next to nothing") {
  for (const std::uint64_t file_size : {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{1} << 40}) {
    JournalTrailer trailer;
    trailer.file_size = trailer.begin = file_size;
    trailer.bytes = std::uint64_t{8} << 30;
    trailer.count = 1;
    trailer.own_checksum = trailer.sum();
    SparseStore store(file_size + trailer.bytes + sizeof trailer, trailer);
    CHECK_FALSE(has_unfinished_changes(store));
    CHECK_FALSE(finish_changes(store));
    CHECK(store.bytes_read <= 2 * sizeof trailer);
  }
}

TEST_CASE("journal: time grows with the number of changes") {
  const auto file_of = [](std::size_t n) {
    std::vector<Entry> entries{{0, some_bytes(64, 7), some_bytes(64, 7)}};
    for (std::size_t i = 0; i < n; ++i)
      entries.push_back({64 + 2 * i, some_bytes(1, 7), some_bytes(1, 8)});
    return with_journal(some_bytes(64 + 2 * n, 7), entries);
  };
  const auto seconds_for = [&](std::size_t n) {
    auto read = std::make_unique<LoggedStore>(file_of(n));
    Bytes seen(64 + 2 * n);
    const double seconds = seconds_of([&] {
      const auto finished = with_changes_finished(std::move(read));
      REQUIRE(finished->size() == seen.size());
      for (std::size_t at = 0; at < seen.size(); at += 1000)
        finished->read(at, std::span(seen).subspan(at, std::min<std::size_t>(1000, seen.size() - at)));
    });
    CHECK(std::count(seen.begin(), seen.end(), std::byte{8}) == static_cast<std::ptrdiff_t>(n));
    return seconds;
  };
  const double tenth = seconds_for(100000);
  CHECK(seconds_for(1000000) < 40 * tenth + 1);  // about ten times, not a hundred
}

TEST_CASE("journal: what nobody would believe is not written") {
  LoggedStore store(some_bytes(1000, 7));
  const Bytes many(k_most_journal_bytes / 2, std::byte{9});
  CHECK_THROWS_AS(change_in_place(store, {{500, many}}, ChangeOrder::any, false), Error);
  CHECK(store.steps.empty());
}

TEST_CASE("journal: a file that would be none is not made") {
  const Bytes file = some_bytes(5000, 7);
  const Bytes content = with_journal(
      file, {{0, some_bytes(64, 7), some_bytes(64, 8)}, {100, some_bytes(10, 7), some_bytes(10, 8)}});
  LoggedStore store(content);
  CHECK_THROWS_AS(finish_changes(store,
                                 [](Store& finished) {
                                   Bytes seen(finished.size());
                                   CHECK(finished.read(0, seen) == 5000);
                                   CHECK(seen[100] == std::byte{8});
                                   throw Error(Code::format, "not a file");
                                 }),
                  Error);
  CHECK_THROWS_AS(finish_commit(store), Error);
  CHECK(store.content == content);
}
