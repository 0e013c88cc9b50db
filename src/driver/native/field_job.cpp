// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/field_job.hpp"

#include <fmt/core.h>

#include "base/hash.hpp"
#include "rearrange/alignment.hpp"

namespace shoal {

std::uint64_t fingerprint_of(const FieldJob& job, std::uint64_t fingerprint_before) {
  Hash fingerprint;
  fingerprint.add(fingerprint_before);
  fingerprint.add(static_cast<std::uint64_t>(job.transfer->variable));
  fingerprint.add(job.share->number);
  fingerprint.add(job.transfer->region);
  fingerprint.add(std::uint64_t{job.keeps ? 1U : 0U});  // which decides what is stored
  return fingerprint.value();
}

std::string of_records(std::int64_t first, std::int64_t count, const std::string& message) {
  const std::string numbers = count == 1 ? fmt::format("record {}", first)
                                         : fmt::format("records {} to {}", first, first + count - 1);
  return fmt::format("{}: {}", numbers, message);
}

Status located(const Status& failure, const FieldJob& job) {
  Status out = failure;
  if (failure.ok() || !failure.variable.empty()) return out;
  out.variable = job.variable->name;
  const Box& region = job.transfer->region;
  if (job.records && !region.empty())
    out.message = of_records(region.first[0], region.count[0], failure.message);
  return out;
}

Dims alignment_of(const FieldJob& job) {
  return alignment_of(*job.placement, job.records, size_of(job.variable->type), job.alignment_bytes);
}

PartRules part_rules_of(const FieldJob& job) {
  return {alignment_of(job), job.least_box_bytes / static_cast<std::int64_t>(size_of(job.variable->type))};
}

}  // namespace shoal
