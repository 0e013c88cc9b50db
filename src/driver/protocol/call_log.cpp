// SPDX-License-Identifier: BSD-3-Clause
#include "driver/protocol/call_log.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/hash.hpp"
#include "base/language.hpp"
#include "driver/protocol/call_hash.hpp"
#include "driver/protocol/root_values.hpp"

namespace shoal {

namespace {
constexpr std::size_t k_most = 10'000;  // of a program that never syncs; those after it are not told apart
constexpr std::size_t k_numbers = 4;    // of a call
constexpr int k_unknown = -1;           // in place of a variable
}  // namespace

void CallLog::note(Verb verb, std::optional<int> variable, const Box& region) {
  const int number = variable.value_or(k_unknown);
  if (calls_.size() < k_most)
    calls_.push_back({static_cast<std::int64_t>(verb), number, region.rank() > 0 ? region.first[0] : 0,
                      static_cast<std::int64_t>(hash_of_call(number, region))});
}

void CallLog::compared() {
  before_ += static_cast<std::int64_t>(calls_.size());
  calls_.clear();
}

std::vector<std::int64_t> CallLog::numbers() const {
  std::vector<std::int64_t> all;
  for (const Call& call : calls_)
    all.insert(all.end(), {call.verb, call.variable, call.first, call.cells});
  return all;
}

// The first rank that logged something else than rank 0; 0: none. Collective.
int CallLog::odd_rank(const Comm& comm) const {
  Hash hash;
  for (const auto n : numbers())
    hash.add(static_cast<std::uint64_t>(n));
  const auto all = comm.all_gather(static_cast<std::int64_t>(hash.value() >> 1));
  const auto odd = std::find_if(all.begin(), all.end(), [&](auto h) { return h != all[0]; });
  return odd == all.end() ? 0 : static_cast<int>(odd - all.begin());
}

std::string CallLog::difference(const Comm& comm, const Schema& schema, int* odd) const {
  const int other = odd_rank(comm);
  if (odd != nullptr) *odd = other;
  if (other == 0) return "";
  const auto calls_of = [&](int rank) {
    std::vector<std::int64_t> all = numbers();
    share_value(comm, all, rank);
    std::vector<Call> calls;
    for (std::size_t i = 0; i + k_numbers <= all.size(); i += k_numbers)
      calls.push_back({all[i], all[i + 1], all[i + 2], all[i + 3]});
    return calls;
  };
  const auto of_root = calls_of(0);
  const auto of_other = calls_of(other);
  std::size_t i = 0;
  while (i < of_root.size() && i < of_other.size() && of_root[i] == of_other[i])
    ++i;
  if (i == of_root.size() && i == of_other.size()) return "";
  const std::string number = std::to_string(before_ + static_cast<std::int64_t>(i) + 1);
  const auto said = [&](const std::vector<Call>& calls, bool with_verb) {
    return i < calls.size() ? text_of(calls[i], schema, with_verb) : std::string("has not made it");
  };
  const bool other_cells = i < of_root.size() && i < of_other.size() &&
                           text_of(of_root[i], schema, true) == text_of(of_other[i], schema, true);
  if (other_cells)
    return fmt::format("call {}: rank 0 {}, rank {} other cells of it", number, said(of_root, true), other);
  const bool one_verb = i < of_root.size() && i < of_other.size() && of_root[i].verb == of_other[i].verb;
  return fmt::format("call {}: rank 0 {}, rank {} {}", number, said(of_root, true), other,
                     said(of_other, !one_verb));
}

std::string CallLog::text_of(const Call& call, const Schema& schema, bool with_verb) const {
  std::string text =
      with_verb ? (call.verb == static_cast<std::int64_t>(Verb::wrote) ? "wrote " : "put ") : "";
  const auto v = static_cast<std::size_t>(call.variable);
  if (call.variable < 0 || v >= schema.variables.size()) return text + "a variable that it does not know";
  text += schema.variables[v].name;
  if (call.verb == static_cast<std::int64_t>(Verb::wrote) && schema.has_record(static_cast<int>(v)))
    text += fmt::format(" record {}", as_index(call.first));
  return text;
}

}  // namespace shoal
