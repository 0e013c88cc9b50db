// SPDX-License-Identifier: BSD-3-Clause
// Changes of a file in place: whatever kills the writer, they are all there afterwards or none.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "logged_store.hpp"
#include "storage/journal.hpp"

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
