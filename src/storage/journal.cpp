// SPDX-License-Identifier: BSD-3-Clause
#include "storage/journal.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "storage/journal_format.hpp"

namespace shoal {

namespace {

// A write may be torn where the kernel goes on to the next page, if its process is killed, and at sectors, if
// power is lost.
constexpr std::uint64_t k_page = 4096;
constexpr std::uint64_t k_sector = 512;
constexpr std::uint64_t k_gap = 16 * 1024;    // places so far apart are read in one call
constexpr std::uint64_t k_run = 1024 * 1024;  // as long as they reach no further than this

struct Place {
  std::uint64_t offset = 0, size = 0;
  std::uint64_t end() const { return offset + size; }
};

/// A change with what is there now, cut to the bytes that differ.
struct Rewrite {
  std::uint64_t offset = 0;
  Bytes before, after;

  Place place() const { return {offset, after.size()}; }
  bool crosses(std::uint64_t unit) const { return offset / unit != (offset + after.size() - 1) / unit; }
};
using Rewrites = std::vector<Rewrite>;

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  Hash hash;
  hash.add(bytes.data(), bytes.size());
  return hash.value();
}

void read_padded(Store& store, std::uint64_t offset, std::span<std::byte> bytes) {
  const std::size_t n = store.read(offset, bytes);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(n), bytes.end(), std::byte{0});
}

/// work(i, bytes) for what lies at each of n places, by their offsets; places near each other are read
/// together. Ends early, with false, where work does.
template <class PlaceOf, class Work>
bool read_each(Store& store, std::size_t n, PlaceOf&& place_of, Work&& work) {
  std::vector<std::size_t> by_offset(n);
  std::iota(by_offset.begin(), by_offset.end(), std::size_t{0});
  std::sort(by_offset.begin(), by_offset.end(),
            [&](auto a, auto b) { return place_of(a).offset < place_of(b).offset; });
  Bytes run;
  for (std::size_t i = 0; i < n;) {
    const std::uint64_t begin = place_of(by_offset[i]).offset;
    std::uint64_t end = begin;
    std::size_t j = i;
    for (; j < n; ++j) {
      const Place next = place_of(by_offset[j]);
      if (j > i && (next.offset > end + k_gap || next.end() > begin + k_run)) break;
      end = std::max(end, next.end());
    }
    run.resize(end - begin);
    read_padded(store, begin, run);
    for (; i < j; ++i) {
      const Place one = place_of(by_offset[i]);
      const auto bytes = std::span<const std::byte>(run).subspan(one.offset - begin, one.size);
      if (!work(by_offset[i], bytes)) return false;
    }
  }
  return true;
}

Rewrites replacements_of(Store& store, const std::vector<Change>& changes) {
  std::vector<Bytes> old(changes.size());
  read_each(
      store, changes.size(),
      [&](std::size_t i) {
        return Place{changes[i].offset, changes[i].bytes.size()};
      },
      [&](std::size_t i, std::span<const std::byte> bytes) {
        old[i].assign(bytes.begin(), bytes.end());
        return true;
      });
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
  Bytes start(std::min(k_journal_start, file_size));
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

// What is longer nobody would believe.
void require_bounds(const Rewrites& all) {
  std::uint64_t bytes = 0;
  for (const auto& one : all)
    bytes += k_change_head + 2 * one.after.size();
  if (all.size() > k_most_changes || bytes > k_most_journal_bytes)
    throw Error(
        Code::not_supported,
        "the commit changes {} places of the file, with a journal of {} bytes; at most {} places and {} "
        "bytes can be changed at once: call sync more often",
        all.size(), bytes, k_most_changes, k_most_journal_bytes);
}

std::size_t write_journal(Store& store, Rewrites all, std::uint64_t file_size) {
  auto start = start_of_file(store, all, file_size);
  all.insert(all.end(), std::make_move_iterator(start.begin()), std::make_move_iterator(start.end()));
  require_bounds(all);
  Bytes journal;
  for (const auto& one : all) {
    const std::array<std::uint64_t, 2> where{one.offset, one.after.size()};
    append(journal, where.data(), sizeof where);
    append(journal, one.before.data(), one.before.size());
    append(journal, one.after.data(), one.after.size());
  }
  JournalTrailer trailer;
  trailer.file_size = file_size;
  trailer.begin = journal_begin(file_size);
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

/// The changes that a killed process left to do. What it says of itself is believed as far as it fits the
/// file: somebody else may have made the file.
class InterruptedChange {
 public:
  struct Part {
    std::uint64_t offset = 0, size = 0;
    std::size_t at = 0;  // of the bytes before, in the journal; those after come next
    Place place() const { return {offset, size}; }
  };

  /// Nothing where there is no journal, or none that is whole (then nothing has been changed yet), or none of
  /// the file as it is now.
  static std::optional<InterruptedChange> find(Store& store);

  std::uint64_t file_size() const { return file_size_; }
  const std::vector<Part>& parts() const { return parts_; }  // by offset
  std::span<const std::byte> after(const Part& part) const {
    return std::span(journal_).subspan(part.at + part.size, part.size);
  }
  void overlay(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  static std::optional<JournalTrailer> read_trailer(Store& store);
  bool read_parts(Store& store, const JournalTrailer& trailer);
  bool has_start() const;
  bool belongs_to(Store& store) const;
  bool fits(const Part& part, std::span<const std::byte> now) const;

  Bytes journal_;
  std::vector<Part> parts_;
  std::uint64_t file_size_ = 0;
};

std::optional<JournalTrailer> InterruptedChange::read_trailer(Store& store) {
  const std::uint64_t size = store.size();
  JournalTrailer trailer;
  if (size < sizeof trailer) return std::nullopt;
  const auto bytes = std::as_writable_bytes(std::span(&trailer, 1));
  if (store.read(size - sizeof trailer, bytes) != sizeof trailer) return std::nullopt;
  const bool right = trailer.magic == JournalTrailer::k_magic && trailer.own_checksum == trailer.sum() &&
                     trailer.file_size < size && trailer.begin == journal_begin(trailer.file_size) &&
                     trailer.begin < size && trailer.bytes == size - sizeof trailer - trailer.begin;
  const bool bounded = trailer.bytes <= k_most_journal_bytes && trailer.count > 0 &&
                       trailer.count <= std::min(k_most_changes, trailer.bytes / (k_change_head + 2));
  return right && bounded ? std::optional(trailer) : std::nullopt;
}

bool InterruptedChange::read_parts(Store& store, const JournalTrailer& trailer) {
  file_size_ = trailer.file_size;
  // Nothing but the journal is cut off in the end.
  Bytes gap(trailer.begin - trailer.file_size);
  read_padded(store, trailer.file_size, gap);
  if (std::any_of(gap.begin(), gap.end(), [](std::byte b) { return b != std::byte{0}; })) return false;
  journal_.resize(trailer.bytes);
  if (store.read(trailer.begin, journal_) != journal_.size() || checksum_of(journal_) != trailer.checksum)
    return false;
  parts_.reserve(trailer.count);
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < trailer.count; ++i) {
    std::array<std::uint64_t, 2> where{};
    static_assert(sizeof where == k_change_head);
    if (journal_.size() - at < sizeof where) return false;
    std::memcpy(where.data(), journal_.data() + at, sizeof where);
    at += sizeof where;
    const auto [offset, n] = where;
    if (n == 0 || n > (journal_.size() - at) / 2 || offset > file_size_ || n > file_size_ - offset)
      return false;
    parts_.push_back({offset, n, at});
    at += 2 * n;
  }
  if (at != journal_.size()) return false;
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.offset < b.offset; });
  return std::adjacent_find(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
           return a.place().end() > b.offset;
         }) == parts_.end();
}

bool InterruptedChange::has_start() const {
  std::uint64_t end = 0;
  for (const auto& part : parts_) {
    if (part.offset != end) break;
    end = part.place().end();
  }
  return end >= std::min(k_journal_start, file_size_);
}

/// Each sector of the place holds the bytes of before or of after. Where it holds others, somebody who knew
/// nothing of the journal has changed the file since.
bool InterruptedChange::fits(const Part& part, std::span<const std::byte> now) const {
  const std::byte* const before = journal_.data() + part.at;
  const std::byte* const after = before + part.size;
  for (std::size_t at = 0; at < now.size();) {
    const std::size_t n = std::min<std::uint64_t>(now.size() - at, k_sector - (part.offset + at) % k_sector);
    if (std::memcmp(now.data() + at, before + at, n) != 0 && std::memcmp(now.data() + at, after + at, n) != 0)
      return false;
    at += n;
  }
  return true;
}

bool InterruptedChange::belongs_to(Store& store) const {
  return read_each(
      store, parts_.size(), [&](std::size_t i) { return parts_[i].place(); },
      [&](std::size_t i, std::span<const std::byte> now) { return fits(parts_[i], now); });
}

std::optional<InterruptedChange> InterruptedChange::find(Store& store) {
  const auto trailer = read_trailer(store);
  InterruptedChange found;
  if (!trailer || !found.read_parts(store, *trailer) || !found.has_start() || !found.belongs_to(store))
    return std::nullopt;
  return found;
}

// Bytes of the file from `offset` on become as they will be.
void InterruptedChange::overlay(std::uint64_t offset, std::span<std::byte> bytes) const {
  const std::uint64_t end = offset + bytes.size();
  auto part = std::partition_point(parts_.begin(), parts_.end(),
                                   [&](const Part& one) { return one.place().end() <= offset; });
  for (; part != parts_.end() && part->offset < end; ++part) {
    const auto from = std::max(offset, part->offset), to = std::min(end, part->place().end());
    std::memcpy(bytes.data() + (from - offset), after(*part).data() + (from - part->offset), to - from);
  }
}

class FinishedStore : public Store {
 public:
  FinishedStore(Store& inner, const InterruptedChange& left) : inner_(inner), left_(left) {}

  const std::string& path() const override { return inner_.path(); }
  void write(std::uint64_t, std::span<const std::byte>) override { refuse(); }
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    if (offset >= size()) return 0;
    const auto n = inner_.read(offset, bytes.first(std::min<std::uint64_t>(bytes.size(), size() - offset)));
    left_.overlay(offset, bytes.first(n));
    return n;
  }
  std::uint64_t size() override { return left_.file_size(); }
  void resize(std::uint64_t) override { refuse(); }
  void sync() override { inner_.sync(); }
  void close() override { inner_.close(); }

 private:
  [[noreturn]] void refuse() const {
    throw Error(Code::permission, "the file was opened for reading only").in_file(path());
  }
  Store& inner_;
  const InterruptedChange& left_;
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

bool has_unfinished_changes(Store& store) {
  return InterruptedChange::find(store).has_value();
}

bool finish_changes(Store& store, const std::function<void(Store& finished)>& check) {
  const auto left = InterruptedChange::find(store);
  if (!left) return false;
  if (check) {
    FinishedStore finished(store, *left);
    check(finished);
  }
  for (const auto& part : left->parts())
    store.write(part.offset, left->after(part));
  store.sync();
  store.resize(left->file_size());
  return true;
}

namespace {

/// A FinishedStore with what it is made of.
struct OwnedChange {
  std::unique_ptr<Store> inner;
  InterruptedChange left;
};
class OwningStore final : private OwnedChange, public FinishedStore {
 public:
  explicit OwningStore(OwnedChange owned)
      : OwnedChange(std::move(owned)), FinishedStore(*OwnedChange::inner, OwnedChange::left) {}
};

}  // namespace

std::unique_ptr<Store> with_changes_finished(std::unique_ptr<Store> store) {
  auto left = InterruptedChange::find(*store);
  if (!left) return store;
  return std::make_unique<OwningStore>(OwnedChange{std::move(store), std::move(*left)});
}

}  // namespace shoal
