// SPDX-License-Identifier: BSD-3-Clause
#include "storage/journal.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"

namespace shoal {

namespace {

// A write may be torn where the kernel goes on to the next page, if its process is killed, and at sectors, if
// power is lost.
constexpr std::uint64_t k_page = 4096;
constexpr std::uint64_t k_sector = 512;
constexpr std::uint64_t k_start = 64;
constexpr std::uint64_t k_gap = 16 * 1024;             // old bytes so far apart are read in one call
constexpr std::uint64_t k_magic = 0x314c4e4a4c4f4853;  // "SHOLJNL1"

/// A change with what is there now, cut to the bytes that differ.
struct Rewrite {
  std::uint64_t offset = 0;
  Bytes before, after;

  bool crosses(std::uint64_t unit) const { return offset / unit != (offset + after.size() - 1) / unit; }
};
using Rewrites = std::vector<Rewrite>;

/// The last bytes of a file with a journal; in front of it the replacements: offset, length, both contents.
struct Trailer {
  std::uint64_t magic = k_magic;
  std::uint64_t file_size = 0;  ///< of the file without the journal
  std::uint64_t begin = 0;      ///< of the journal
  std::uint64_t bytes = 0;      ///< of the replacements
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;  ///< of the replacements
  std::uint64_t own_checksum = 0;

  std::uint64_t sum() const {
    Hash hash;
    for (const auto word : {magic, file_size, begin, bytes, count, checksum})
      hash.add(word);
    return hash.value();
  }
};

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  Hash hash;
  hash.add(bytes.data(), bytes.size());
  return hash.value();
}

void read_padded(Store& store, std::uint64_t offset, std::span<std::byte> bytes) {
  const std::size_t n = store.read(offset, bytes);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(n), bytes.end(), std::byte{0});
}

/// What lies at the changes' places, in their order; places near each other are read together.
std::vector<Bytes> bytes_before(Store& store, const std::vector<Change>& changes) {
  std::vector<std::size_t> by_offset(changes.size());
  for (std::size_t i = 0; i < by_offset.size(); ++i)
    by_offset[i] = i;
  std::sort(by_offset.begin(), by_offset.end(),
            [&](auto a, auto b) { return changes[a].offset < changes[b].offset; });
  std::vector<Bytes> result(changes.size());
  Bytes run;
  for (std::size_t i = 0; i < by_offset.size();) {
    const std::uint64_t begin = changes[by_offset[i]].offset;
    std::uint64_t end = begin;
    std::size_t j = i;
    for (; j < by_offset.size() && changes[by_offset[j]].offset <= end + k_gap; ++j)
      end = std::max(end, changes[by_offset[j]].offset + changes[by_offset[j]].bytes.size());
    run.resize(static_cast<std::size_t>(end - begin));
    read_padded(store, begin, run);
    for (; i < j; ++i) {
      const auto& change = changes[by_offset[i]];
      const auto from = run.begin() + static_cast<std::ptrdiff_t>(change.offset - begin);
      result[by_offset[i]].assign(from, from + static_cast<std::ptrdiff_t>(change.bytes.size()));
    }
  }
  return result;
}

Rewrites replacements_of(Store& store, const std::vector<Change>& changes) {
  const auto old = bytes_before(store, changes);
  Rewrites result;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto now = changes[i].bytes;
    std::size_t first = 0, end = now.size();
    while (first < end && now[first] == old[i][first])
      ++first;
    while (end > first && now[end - 1] == old[i][end - 1])
      --end;
    if (first == end) continue;
    const auto cut = [&](auto from) {
      return Bytes(from + static_cast<std::ptrdiff_t>(first), from + static_cast<std::ptrdiff_t>(end));
    };
    result.push_back({changes[i].offset + first, cut(old[i].begin()), cut(now.begin())});
  }
  return result;
}

bool needs_journal(const Rewrites& all, ChangeOrder order, bool durable) {
  if (all.size() > 1 && (durable || order == ChangeOrder::any)) return true;
  const std::uint64_t unit = durable ? k_sector : k_page;
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.crosses(unit); });
}

void append(Bytes& to, const void* from, std::size_t n) {
  const auto* bytes = static_cast<const std::byte*>(from);
  to.insert(to.end(), bytes, bytes + n);
}

/// What no change touches of the start of the file, which says how much there is in it: whoever adds to the
/// file without knowing of the journal changes it, so that the journal does not fit any more.
Rewrites start_of_file(Store& store, const Rewrites& all, std::uint64_t file_size) {
  Bytes start(static_cast<std::size_t>(std::min(k_start, file_size)));
  read_padded(store, 0, start);
  const auto is_changed = [&](std::uint64_t at) {
    return std::any_of(all.begin(), all.end(), [&](const Rewrite& one) {
      return at >= one.offset && at < one.offset + one.after.size();
    });
  };
  Rewrites rest;
  for (std::size_t at = 0; at < start.size(); ++at) {
    if (is_changed(at)) continue;
    if (rest.empty() || rest.back().offset + rest.back().after.size() != at) rest.push_back({at, {}, {}});
    rest.back().before.push_back(start[at]);
    rest.back().after.push_back(start[at]);
  }
  return rest;
}

std::size_t write_journal(Store& store, Rewrites all, std::uint64_t file_size) {
  auto start = start_of_file(store, all, file_size);
  all.insert(all.end(), std::make_move_iterator(start.begin()), std::make_move_iterator(start.end()));
  Bytes journal;
  for (const auto& one : all) {
    const std::array<std::uint64_t, 2> where{one.offset, one.after.size()};
    append(journal, where.data(), sizeof where);
    append(journal, one.before.data(), one.before.size());
    append(journal, one.after.data(), one.after.size());
  }
  Trailer trailer;
  trailer.file_size = file_size;
  trailer.begin = (file_size + k_page - 1) / k_page * k_page;  // shares no page with the file's own bytes
  trailer.bytes = journal.size();
  trailer.count = all.size();
  trailer.checksum = checksum_of(journal);
  trailer.own_checksum = trailer.sum();
  append(journal, &trailer, sizeof trailer);
  try {
    store.write(trailer.begin, journal);
  } catch (...) {
    try {
      store.resize(file_size);
    } catch (const Error&) {  // a part of a journal is none
    }
    throw;
  }
  return journal.size();
}

std::optional<Trailer> read_trailer(Store& store) {
  const std::uint64_t size = store.size();
  Trailer trailer;
  if (size < sizeof trailer) return std::nullopt;
  const auto bytes = std::as_writable_bytes(std::span(&trailer, 1));
  if (store.read(size - sizeof trailer, bytes) != sizeof trailer) return std::nullopt;
  const bool right = trailer.magic == k_magic && trailer.own_checksum == trailer.sum() &&
                     trailer.file_size <= trailer.begin && trailer.begin < size &&
                     trailer.bytes == size - sizeof trailer - trailer.begin;
  return right ? std::optional(trailer) : std::nullopt;
}

std::optional<Rewrites> read_replacements(Store& store, const Trailer& trailer) {
  Bytes journal(static_cast<std::size_t>(trailer.bytes));
  if (store.read(trailer.begin, journal) != journal.size() || checksum_of(journal) != trailer.checksum)
    return std::nullopt;
  Rewrites all;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < trailer.count; ++i) {
    std::array<std::uint64_t, 2> where{};
    if (journal.size() - at < sizeof where) return std::nullopt;
    std::memcpy(where.data(), journal.data() + at, sizeof where);
    at += sizeof where;
    const auto [offset, n] = where;
    if (n == 0 || n > (journal.size() - at) / 2 || offset > trailer.file_size ||
        n > trailer.file_size - offset)
      return std::nullopt;
    const auto from = journal.begin() + static_cast<std::ptrdiff_t>(at);
    const auto length = static_cast<std::ptrdiff_t>(n);
    all.push_back({offset, Bytes(from, from + length), Bytes(from + length, from + 2 * length)});
    at += 2 * static_cast<std::size_t>(n);
  }
  return all;
}

/// Each sector of the place holds the bytes of before or of after. Where it holds others, somebody who knew
/// nothing of the journal has changed the file since.
bool belongs_to(Store& store, const Rewrite& one) {
  Bytes now(one.after.size());
  read_padded(store, one.offset, now);
  for (std::size_t at = 0; at < now.size();) {
    const auto n = static_cast<std::size_t>(
        std::min<std::uint64_t>(now.size() - at, k_sector - (one.offset + at) % k_sector));
    if (std::memcmp(now.data() + at, one.before.data() + at, n) != 0 &&
        std::memcmp(now.data() + at, one.after.data() + at, n) != 0)
      return false;
    at += n;
  }
  return true;
}

struct InterruptedChange {
  Rewrites changes;
  std::uint64_t file_size = 0;
};

/// What a killed process left to do; nothing where its journal is not whole, since then it had changed
/// nothing yet, or is not of the file as it is now.
std::optional<InterruptedChange> find_interrupted(Store& store) {
  const auto trailer = read_trailer(store);
  if (!trailer) return std::nullopt;
  auto all = read_replacements(store, *trailer);
  if (!all || !std::all_of(all->begin(), all->end(), [&](const auto& one) { return belongs_to(store, one); }))
    return std::nullopt;
  return InterruptedChange{std::move(*all), trailer->file_size};
}

class FinishedStore final : public Store {
 public:
  FinishedStore(std::unique_ptr<Store> inner, Rewrites changes, std::uint64_t size)
      : inner_(std::move(inner)), changes_(std::move(changes)), size_(size) {}

  const std::string& path() const override { return inner_->path(); }
  void write(std::uint64_t, std::span<const std::byte>) override { refuse(); }
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    if (offset >= size_) return 0;
    const auto n = inner_->read(
        offset, bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), size_ - offset))));
    for (const auto& one : changes_) {
      const auto from = std::max(offset, one.offset);
      const auto to = std::min<std::uint64_t>(offset + n, one.offset + one.after.size());
      if (from < to)
        std::memcpy(bytes.data() + (from - offset), one.after.data() + (from - one.offset),
                    static_cast<std::size_t>(to - from));
    }
    return n;
  }
  std::uint64_t size() override { return size_; }
  void resize(std::uint64_t) override { refuse(); }
  void sync() override { inner_->sync(); }
  void close() override { inner_->close(); }

 private:
  [[noreturn]] void refuse() const {
    throw Error(Code::permission, "the file was opened for reading only").in_file(path());
  }
  std::unique_ptr<Store> inner_;
  Rewrites changes_;
  std::uint64_t size_;
};

void put_back(Store& store, const Rewrites& all, std::size_t done) {
  for (std::size_t i = done; i-- > 0;)
    store.write(all[i].offset, all[i].before);
}

}  // namespace

ChangesMade change_in_place(Store& store, const std::vector<Change>& changes, ChangeOrder order, bool durable,
                            bool unsynced) {
  const auto all = replacements_of(store, changes);
  const bool journal = !all.empty() && needs_journal(all, order, durable);
  const std::uint64_t file_size = journal ? store.size() : 0;
  ChangesMade made;
  // A journal must not outlive, in a loss of power, what its changes refer to.
  if (durable && unsynced) store.sync();
  if (journal) made = {1, static_cast<std::int64_t>(write_journal(store, all, file_size))};
  if (durable && journal) store.sync();
  std::size_t done = 0;
  try {
    for (const auto& one : all) {
      ++done;  // one that fails may be done in part
      store.write(one.offset, one.after);
      made.bytes += static_cast<std::int64_t>(one.after.size());
    }
  } catch (...) {
    const auto failure = std::current_exception();
    try {
      put_back(store, all, done);
      if (journal) store.resize(file_size);
    } catch (const Error&) {  // the journal stays, if there is one
    }
    std::rethrow_exception(failure);
  }
  made.writes += static_cast<std::int64_t>(done);
  if (durable && !all.empty()) store.sync();
  if (journal) store.resize(file_size);
  return made;
}

bool finish_changes(Store& store) {
  const auto left = find_interrupted(store);
  if (!left) return false;
  for (const auto& one : left->changes)
    store.write(one.offset, one.after);
  store.sync();
  store.resize(left->file_size);
  return true;
}

std::unique_ptr<Store> with_changes_finished(std::unique_ptr<Store> store) {
  auto left = find_interrupted(*store);
  if (!left) return store;
  return std::make_unique<FinishedStore>(std::move(store), std::move(left->changes), left->file_size);
}

}  // namespace shoal
