// SPDX-License-Identifier: BSD-3-Clause
#include "estimate.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "json.hpp"
#include "library.hpp"
#include "runner.hpp"

namespace shoal::bench {

namespace {

constexpr std::int64_t k_mib = 1048576;
constexpr std::int64_t k_process = 64 * k_mib;   // a rank with its libraries
constexpr std::int64_t k_header = 2 * k_mib;     // of a file, with the space kept for later definitions
constexpr std::int64_t k_checking = 34 * k_mib;  // of a rank that checks or joins files

std::int64_t largest_field(const Content& content) {
  std::int64_t most = 0;
  for (const auto& field : content.fields)
    if (field.distributed) most = std::max(most, field.elements() * size_of(field.type));
  return most;
}

// Of a record, packed; to write, fields that share their array share this, too.
std::int64_t packed_bytes(const Content& content, bool reads) {
  std::int64_t bytes = 0;
  for (const auto& field : content.fields)
    if (field.distributed && (reads || field.same_as.empty()))
      bytes += field.elements() * size_of(field.type);
  return bytes;
}

// Lists of cells that PIO keeps for each shape and type, and what it makes of them for its messages.
std::int64_t pio_lists(const Content& content) {
  std::int64_t bytes = 0;
  std::set<std::pair<Type, std::vector<std::int64_t>>> seen;
  for (const auto& field : content.fields)
    if (field.distributed && seen.insert({field.type, field.shape}).second)
      bytes += 3 * static_cast<std::int64_t>(sizeof(std::int64_t)) * field.elements();
  return bytes;
}

// Buffers of a method, all ranks together: a field packed, or a record, or the stage.
std::int64_t buffers(const MethodChoice& method, const Content& content, int ranks, bool reads) {
  const auto field = largest_field(content), record = content.distributed_bytes(1);
  const auto& entry = *method.entry;
  if (entry.through_shoal && entry.driver == "native")
    return std::min(default_bytes("stage_bytes"), 2 * record) + field;
  if (entry.driver == "gather") return 2 * field;
  if (entry.driver == "pio") return field + 2 * record + pio_lists(content);
  if (entry.name == "limit") return packed_bytes(content, reads) + field;
  if (entry.access == "nonblocking") return 3 * std::min(record, std::max(field, k_queued * ranks));
  return 2 * field;
}

// A line of text of one value.
std::int64_t line_bytes(Type type) {
  return type == Type::dbl ? 26 : type == Type::real ? 17 : 12;
}

std::int64_t file_bytes(const Case& c, const Setup& setup, const RunFile& file) {
  const Content& content = file.content;
  if (content.define_only) return 4 * k_header;
  if (c.format == "none") return 0;
  auto bytes = static_cast<double>(value_bytes({file}, true));
  if (c.format == "ascii") {
    bytes = 0;
    for (const auto& f : content.fields)
      bytes += static_cast<double>(f.elements() * line_bytes(f.type) * (f.record ? file.records : 1));
  }
  // Chunks at the edges are whole ones.
  if (c.format.starts_with("netcdf4")) bytes *= 1.25;
  std::int64_t files = 1;
  if (c.method.layout() != "one") files = setup.ranks;
  auto all = static_cast<std::int64_t>(bytes) + files * (k_header + content.replicated_bytes(file.records));
  // The joined file lies beside the set.
  if (setup.experiment.joins && files > 1) all += static_cast<std::int64_t>(bytes) + k_header;
  return all;
}

}  // namespace

std::string estimate_of(const Setup& setup, const Workload& workload) {
  const auto content = content_of(workload, setup.grid, setup.options.cut);
  const auto cases = cases_of(setup, workload, content);
  const auto records = std::max<std::int64_t>(setup.records, 1);
  std::int64_t memory = k_process * setup.ranks;
  const bool computes = setup.experiment.computes();
  const auto files = files_of_run(setup, content);
  const bool reads = setup.options.read || computes;
  if (!content.define_only) {
    for (int rank = 0; rank < setup.ranks; ++rank) {
      memory += arrays_bytes(content, setup.grid, setup.tiling, rank, computes ? 1 : records, Purpose::write);
      if (reads) memory += arrays_bytes(content, setup.grid, setup.tiling, rank, 1, Purpose::read);
    }
    // What the outputs should be is kept, to compare with.
    if (computes) memory += value_bytes(files, false);
    // Sums in doubles, and the means and extremes that come of them.
    if (setup.experiment.program == ProgramKind::streams) memory += 4 * content.distributed_bytes(1);
    memory += k_checking * setup.ranks;
  }
  std::int64_t most_buffers = 0, most_disk = 0, all_disk = 0;
  for (const auto& c : cases) {
    if (!content.define_only)
      most_buffers = std::max(most_buffers, buffers(c.method, content, setup.ranks, reads));
    std::int64_t disk = 0;
    for (const auto& file : files)
      disk += file_bytes(c, setup, file);
    most_disk = std::max(most_disk, disk);
    if (c.dir == setup.options.dirs.front()) all_disk += disk;
  }
  memory += most_buffers;
  Json estimate;
  estimate["memory_bytes"] = memory;
  estimate["disk_bytes"] = setup.options.keep ? all_disk : most_disk;
  estimate["shape"] = {setup.grid.xi, setup.grid.eta, setup.grid.s};
  estimate["records"] = setup.records;
  estimate["bytes"] = value_bytes(files, true);
  return line_of(estimate);
}

}  // namespace shoal::bench
