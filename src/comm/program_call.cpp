// SPDX-License-Identifier: BSD-3-Clause
#include "comm/program_call.hpp"

#include <fmt/core.h>

#include <utility>

#include "base/bytes.hpp"
#include "base/field_bytes.hpp"
#include "base/hash.hpp"

namespace shoal {

namespace {

std::string text_of(const ProgramCall& call) {
  return call.details.empty() ? call.name : fmt::format("{} ({})", call.name, call.details);
}

// From what rank 0 has.
Status difference(const Comm& comm, const ProgramCall& mine, bool by_details) {
  Bytes of_root = bytes_of_values(mine.name, text_of(mine));
  comm.broadcast(of_root, 0);
  std::string name, text;
  get_values(of_root, name, text);
  if (name != mine.name)
    return {Code::out_of_step,
            fmt::format("ranks made different calls: this one {}, rank 0 {}; every rank must make the same "
                        "calls in the same order",
                        text_of(mine), text)};
  if (!by_details || text == text_of(mine)) return {};
  return {Code::out_of_step,
          fmt::format("ranks made a call with different arguments: this one {}, rank 0 {}; every rank must "
                      "give the same",
                      text_of(mine), text)};
}

ProgramOutcome outcome_of_lowest(const Comm& comm, const ProgramCall& mine) {
  const auto lowest = comm.min(std::int64_t{mine.code != 0 ? comm.rank() : comm.size()});
  if (lowest == comm.size()) return {};
  Bytes bytes = bytes_of_values(mine.code, mine.message);
  comm.broadcast(bytes, static_cast<int>(lowest));
  ProgramOutcome found;
  found.status = {Code::invalid_argument, "", static_cast<int>(lowest)};
  get_values(bytes, found.code, found.status.message);
  return found;
}

}  // namespace

// The signature says no more than whether all is well: which of the reasons it is, ranks find afterwards.
ProgramOutcome match_program_call(const Comm& comm, const ProgramCall& mine,
                                  const std::function<CallMatch(const CallSignature&)>& match) {
  if (comm.size() == 1) return {mine.code, {Code::invalid_argument, mine.message, 0}};
  Hash hash;
  hash.add(std::string_view(mine.name));
  hash.add(std::string_view(mine.details));
  const CallMatch found = match({"makes a call of the program's library", hash.value(), mine.code != 0});
  if (found.same && !found.failed) return {};
  comm.agree_or_throw(difference(comm, mine, !found.failed));
  return found.failed ? outcome_of_lowest(comm, mine) : ProgramOutcome{};
}

}  // namespace shoal
