// SPDX-License-Identifier: BSD-3-Clause
// A file with a journal behind it, whose checksums are right: it is followed or not, nothing but the journal
// is cut off, and who only reads sees the same. Of an input: two bytes for the length of the file, whether
// all is consistent (what lies at the places of changes is as before), the file, the changes.
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/hash.hpp"
#include "fuzz.hpp"
#include "storage/journal.hpp"
#include "storage/journal_format.hpp"
#include "unit/logged_store.hpp"

using namespace shoal;

namespace {

void add(Bytes& to, const void* from, std::size_t n) {
  const auto* bytes = static_cast<const std::byte*>(from);
  to.insert(to.end(), bytes, bytes + n);
}

/// Changes of small numbers, which fuzzers find: offset and length of two bytes each.
Bytes journal_of(std::span<const std::byte> input, const Bytes& file, bool consistent, std::uint64_t& count) {
  Bytes journal;
  const auto change = [&](std::uint64_t offset, std::span<const std::byte> after) {
    const std::uint64_t where[2] = {offset, after.size()};
    Bytes before(after.size());
    for (std::size_t i = 0; consistent && i < before.size() && offset + i < file.size(); ++i)
      before[i] = file[offset + i];
    add(journal, where, sizeof where);
    add(journal, before.data(), before.size());
    add(journal, after.data(), after.size());
    ++count;
  };
  const std::size_t start = std::min<std::size_t>(file.size(), k_journal_start);
  if (consistent && start > 0) change(0, std::span(file).first(start));
  while (input.size() >= 4) {
    std::uint16_t where[2];
    std::memcpy(where, input.data(), sizeof where);
    input = input.subspan(sizeof where);
    const auto n = std::min<std::size_t>(where[1], input.size());
    change(where[0], input.first(n));
    input = input.subspan(n);
  }
  return journal;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  auto input = std::as_bytes(std::span(data, size));
  const std::size_t length = std::min<std::size_t>(data[0] + 256U * data[1], size - 3);
  const bool consistent = (data[2] & 1U) != 0;
  JournalTrailer trailer;
  Bytes content(input.begin() + 3, input.begin() + 3 + static_cast<std::ptrdiff_t>(length));
  const Bytes file = content;
  const Bytes journal = journal_of(input.subspan(3 + length), file, consistent, trailer.count);
  Hash hash;
  hash.add(journal);
  trailer.file_size = (data[2] & 2U) != 0 ? length / 2 : length;
  trailer.begin = journal_begin(length);
  trailer.bytes = journal.size();
  trailer.checksum = hash.value();
  trailer.own_checksum = trailer.sum();
  content.resize(trailer.begin);
  add(content, journal.data(), journal.size());
  add(content, &trailer, sizeof trailer);

  test::LoggedStore store(content);
  const bool unfinished = has_unfinished_changes(store);
  fuzz::require(store.steps.empty(), "asking changes nothing");
  const auto finished = with_changes_finished(std::make_unique<test::LoggedStore>(content));
  Bytes seen(finished->size());
  fuzz::require(finished->read(0, seen) == seen.size(), "all bytes are read");
  fuzz::require(finish_changes(store) == unfinished, "what is unfinished is finished");
  fuzz::require(seen == store.content, "who only reads sees the same");
  if (!unfinished) fuzz::require(store.content == content, "what is none changes nothing");
  if (unfinished) fuzz::require(store.content.size() == length && length > 0, "the journal alone is cut off");
  fuzz::require(!finish_changes(store) || unfinished, "once is enough");
  return 0;
}
