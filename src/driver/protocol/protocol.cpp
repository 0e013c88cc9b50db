// SPDX-License-Identifier: BSD-3-Clause
#include "driver/protocol/protocol.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "pack/cells.hpp"

namespace shoal {

namespace {

// What ranks compare behind the lengths. A hash is there twice: it is the same on all of them if the largest
// is the opposite of the largest of the opposites.
enum Word : std::size_t { hash, not_hash, has_deferred, has_skipped, has_diverged, has_lost, count };

std::int64_t as_word(std::uint64_t hash) {
  return static_cast<std::int64_t>(hash >> 1);
}

}  // namespace

void CollectiveState::skip(const Status& why) {
  raise_to(CallState::skipped);
  why_skipped_.merge(why);
}

void CollectiveState::matched() {
  const bool diverged = has_diverged();
  calls_ = diverged ? CallState::diverged : CallState::settled;
  why_skipped_ = {};
  hash_ = 0;
  wrote_field_ = false;
  log_.compared();
  unasked_ = 0;
  lost_track_ = lost_track_ || diverged;
  if (uncommitted_.empty())
    uncommitted_.swap(paths_);
  else
    uncommitted_.merge(paths_);
  paths_.clear();
}

void CollectiveState::end_commit(FileState file) {
  file_ = file;
  if (file != FileState::whole) return;
  uncommitted_.clear();
  lost_track_ = false;
}

void CollectiveState::complete_pending() {
  matched();
  calls_ = CallState::settled;
}

Status named(Status status, const std::string& variable) {
  if (!status.ok() && status.variable.empty()) status.variable = variable;
  return status;
}

void merge_named(Status& kept, const Status& more) {
  constexpr std::size_t k_longest = 1000;
  if (kept.code == Code::range && more.code == Code::range && kept.variable != more.variable &&
      kept.message.size() < k_longest && kept.message.find("'" + more.variable + "'") == std::string::npos)
    kept.message += fmt::format("; and of variable '{}': {}", more.variable, more.message);
  kept.merge(more);
}

void CollectiveState::defer(Status status) {
  if (status.ok() || status.rank == k_told) return;
  if (status.rank < 0) status.rank = rank_;
  // Whoever hears of values that did not fit takes all others for stored.
  if (!deferred_.ok() && !loses_bytes(deferred_) && loses_bytes(status)) {
    status.message += "; and before: " + deferred_.text();
    deferred_ = std::move(status);
    return;
  }
  merge_named(deferred_, status);
}

void CollectiveState::defer_lasting(const Status& error, const std::string& later) {
  if (error.ok()) return;
  const bool is_new = !std::exchange(reported_lasting_, true);
  if (is_new && deferred_.message == error.message) return;
  deferred_ = error;
  deferred_.message = later;
  deferred_.rank = rank_;
}

Status CollectiveState::take_deferred() {
  return std::exchange(deferred_, {});
}

void CollectiveState::note_call(std::uint64_t call) {
  Hash all;
  all.add(hash_);
  all.add(call);
  hash_ = all.value();
}

CallSignature CollectiveState::signature(const char* does) const {
  const bool failed = !deferred_.ok();
  return {does, hash_, failed, failed || !is_settled()};
}

CallSignature CollectiveState::with_skipped(CallSignature mine, const char* skipped_call) const {
  if (has_skipped()) mine.skipped_call = skipped_call;
  return mine;
}

std::vector<std::int64_t> CollectiveState::to_compare(std::vector<std::int64_t> lengths) const {
  const std::size_t first = lengths.size();
  lengths.resize(first + Word::count);
  std::int64_t* const words = lengths.data() + first;
  words[Word::hash] = as_word(hash_);
  words[Word::not_hash] = -as_word(hash_);
  words[Word::has_deferred] = deferred_.ok() ? 0 : 1;
  words[Word::has_skipped] = has_skipped() ? 1 : 0;
  words[Word::has_diverged] = has_diverged() ? 1 : 0;
  words[Word::has_lost] = loses_bytes(deferred_) ? 1 : 0;
  return lengths;
}

Comparison CollectiveState::compared(std::vector<std::int64_t> largest) const {
  const std::int64_t* const words = largest.data() + (largest.size() - Word::count);
  Comparison found;
  found.same = words[Word::hash] == -words[Word::not_hash];
  found.is_reference = words[Word::hash] == as_word(hash_);
  found.any_deferred = words[Word::has_deferred] != 0;
  found.any_skipped = words[Word::has_skipped] != 0;
  found.any_diverged = words[Word::has_diverged] != 0;
  found.any_lost = words[Word::has_lost] != 0;
  largest.resize(largest.size() - Word::count);
  found.lengths = std::move(largest);
  return found;
}

bool CollectiveState::must_ask() {
  if (!asks() || has_skipped() || unasked_ < ask_after_) return false;
  unasked_ = 0;
  return true;
}

bool CollectiveState::changes_path(int variable, std::uint64_t path) const {
  const auto before = paths_.find(variable);
  return before != paths_.end() && before->second != path;
}

void CollectiveState::begin_commit() {
  if (file_ == FileState::whole) file_ = FileState::unknown;
}

void grow(Schema& schema, int variable, const Box& box) {
  const auto& dims = schema.variables.at(static_cast<std::size_t>(variable)).dims;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    Dimension& dim = schema.dim(dims[d]);
    if (dim.unlimited && !box.empty()) dim.length = std::max(dim.length, box.end(static_cast<int>(d)));
  }
}

std::vector<std::int64_t> lengths_of(const Schema& schema) {
  std::vector<std::int64_t> lengths;
  for (const auto& dim : schema.dims)
    lengths.push_back(dim.length);
  return lengths;
}

void set_lengths(Schema& schema, const std::vector<std::int64_t>& lengths) {
  for (std::size_t d = 0; d < schema.dims.size(); ++d)
    if (schema.dims[d].unlimited) schema.dims[d].length = d < lengths.size() ? lengths[d] : 0;
}

void RecordState::start(const Schema& schema) {
  restart_reach(schema);
  restart_gaps(schema);
}

void RecordState::add(Schema& schema, int variable, const Box& region) {
  grow(schema, variable, region);
  if (tracks_gaps(schema)) filled_.touch(schema, variable, region);
}

std::vector<RecordFillTracker::Gap> RecordState::take_gaps(const Schema& schema) {
  return tracks_gaps(schema) ? filled_.take_gaps(schema) : std::vector<RecordFillTracker::Gap>{};
}

void RecordState::put_back(const Schema& schema, const std::vector<RecordFillTracker::Gap>& gaps) {
  for (const auto& gap : gaps)
    filled_.put_back(schema, gap);
}

std::vector<std::int64_t> RecordState::known(const Schema& schema) const {
  std::vector<std::int64_t> lengths = known_;
  lengths.resize(schema.dims.size());
  return lengths;
}

void RecordState::take_back(Schema& schema) {
  set_lengths(schema, committed_);
  note_known(schema);
  filled_.cut(schema);
}

}  // namespace shoal
