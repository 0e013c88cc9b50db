// SPDX-License-Identifier: BSD-3-Clause
// Rules that turn the figures of a report into one line of advice. The first rule that applies speaks; the
// order is that of cost.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "base/language.hpp"
#include "base/text.hpp"
#include "dataset/report/report.hpp"
#include "storage/paths.hpp"

namespace shoal {

namespace {

// Figures below these are not worth a word.
constexpr double k_blocked_share = 0.20;
constexpr double k_least_seconds = 0.05;
constexpr double k_busy_share = 0.6;
constexpr double k_small_write = 256 * 1024.0;
constexpr double k_imbalance = 2.0;
constexpr double k_commit_share = 0.25;
constexpr std::int64_t k_many_calls = 100;
constexpr double k_far = 3;  // times as long, or as short

using Advice = std::optional<std::string>;

struct Figures {
  const DatasetReport& report;
  const Settings& settings;
  Counters sum;  // over ranks
  Counters most;
  Seconds open = 0;
};

Figures figures_of(const DatasetReport& report, const Settings& settings) {
  Figures f{report, settings, {}, {}, 0};
  for (const auto& rank : report.of_ranks) {
    const Counters& c = rank.counters;
    f.sum.blocked += c.blocked;
    f.sum.store += c.store;
    f.sum.encode += c.encode;
    f.most.blocked = std::max(f.most.blocked, c.blocked);
    f.open = std::max(f.open, rank.open_seconds);
    f.most.write_calls = std::max(f.most.write_calls, c.write_calls);
    f.sum.write_calls += c.write_calls;
    f.sum.read_calls += c.read_calls;
    f.sum.commit += c.commit;
    f.sum.pack += c.pack;
    f.sum.bytes_written += c.bytes_written;
    f.sum.writes += c.writes;
    f.sum.bytes_read += c.bytes_read;
    f.sum.bytes_encoded += c.bytes_encoded;
    f.sum.bytes_encoded_again += c.bytes_encoded_again;
    f.sum.reads += c.reads;
    f.most.commits = std::max(f.most.commits, c.commits);
    f.most.fields_written = std::max(f.most.fields_written, c.fields_written);
    f.most.fields_read = std::max(f.most.fields_read, c.fields_read);
    f.most.slabs = std::max(f.most.slabs, c.slabs);
    f.most.stage_bytes = std::max(f.most.stage_bytes, c.stage_bytes);
    f.most.stage_high_water = std::max(f.most.stage_high_water, c.stage_high_water);
    f.most.pack = std::max(f.most.pack, c.pack);
  }
  // Their time is nobody's but their own.
  for (const auto& server : report.of_servers) {
    const Counters& c = server.counters;
    f.sum.store += c.store;
    f.sum.encode += c.encode;
    f.sum.bytes_written += c.bytes_written;
    f.sum.writes += c.writes;
    f.sum.bytes_encoded += c.bytes_encoded;
    f.sum.bytes_encoded_again += c.bytes_encoded_again;
  }
  return f;
}

std::string percent(double share) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.0f %%", 100 * share);
  return text.data();
}

bool is_pio() {
  return language() == Language::pio;
}

// "set stage_bytes to 512 MiB or more", for a stage of twice the size.
std::string set_larger_stage(const Figures& f) {
  const double wanted = 2 * static_cast<double>(f.most.stage_bytes);
  double size = 1024 * 1024;
  while (size < wanted)
    size *= 2;
  return fmt::format("set {} to {} MiB or more", setting_name("stage_bytes"),
                     static_cast<std::int64_t>(size / (1024 * 1024)));
}

// The driver says in a warning when there was less shared memory than it wanted.
Advice stage_shrank(const Figures& f) {
  const auto& warnings = f.report.of_ranks.front().counters.warnings;
  const auto about_memory = [](const std::string& w) { return w.find("/dev/shm") != std::string::npos; };
  if (f.sum.bytes_written == 0 || std::none_of(warnings.begin(), warnings.end(), about_memory)) return {};
  return fmt::format(
      "shared memory is short, the stage has {}: give /dev/shm more room (containers: --shm-size=1g)",
      bytes_text(static_cast<double>(f.most.stage_bytes)));
}

// The figures that were chosen by are not those of today.
Advice far_from_figures(const Figures& f) {
  const auto store = store_prediction(f.report, f.settings);
  if (!store || std::max(store->measured, store->predicted) < k_least_seconds) return {};
  if (store->times() < k_far && store->times() > 1 / k_far) return {};
  const bool slower = store->times() > 1;
  return fmt::format(
      "writing was {:.1f} times as {} as {} says: others use the file system, or it has changed; "
      "if this stays so, measure again: mpiexec -n {} shoal tune {} --machine {}",
      slower ? store->times() : 1 / store->times(), slower ? "slow" : "fast", text_of(*f.report.machine),
      f.report.ranks, folder_of(f.report.path), f.report.machine->path);
}

// A chunk was stored, and more of its cells came.
Advice chunks_again(const Figures& f) {
  if (f.sum.bytes_encoded_again * 4 < f.sum.bytes_encoded || f.sum.bytes_encoded_again == 0) return {};
  const auto bytes = [](std::int64_t n) { return bytes_text(static_cast<double>(n)); };
  return fmt::format(
      "{} of {} that were compressed are chunks that were in the file before, and were read again as more of "
      "their cells came: write whole chunks between two syncs{}, define variables with chunks of 1 in the "
      "record dimension{}, or let parts wait in more memory ({})",
      bytes(f.sum.bytes_encoded_again), bytes(f.sum.bytes_encoded), is_pio() ? " (SHOAL_PIO_SYNC=lazy)" : "",
      is_pio() ? " (PIO_def_var_chunking)" : "", set_larger_stage(f));
}

Advice blocked(const Figures& f) {
  const double calls = f.sum.write_calls;
  if (calls < k_least_seconds || f.sum.blocked < k_blocked_share * calls || f.sum.bytes_written == 0)
    return {};
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), " (%.3g s)", f.most.blocked);
  const std::string share = percent(f.sum.blocked / calls);
  const std::string waited = fmt::format("ranks waited {} of the write time{}", share, seconds.data());
  // Somebody was storing nearly all the time: no stage is large enough for a file system that is too slow.
  const Counters& one = f.report.of_ranks.front().counters;
  const bool in_background = f.settings.text("background") != "off";
  const std::size_t servers = f.report.of_servers.size();
  const auto coders = static_cast<double>(servers > 0 ? servers : f.report.of_ranks.size());
  const Seconds period = in_background ? f.open : f.most.write_calls;
  if (in_background && f.sum.encode > k_busy_share * period * coders)
    return fmt::format(
        "{} for chunks to be compressed, of which the cores do no more: choose a lower level, zstd, {}",
        waited,
        servers == 0 ? "or fewer records"
        : is_pio()   ? "fewer records, or more I/O ranks in PIO_init"
                     : "fewer records, or let more ranks serve (shoal_serve)");
  if (f.sum.store > k_busy_share * period * one.writers * one.nodes)
    return fmt::format(
        "{} for the file system ({}), which took {} a second: write to a faster one, or less (fewer records, "
        "float instead of double)",
        waited, one.file_system, bytes_text(static_cast<double>(f.sum.bytes_written) / period));
  if (f.most.stage_high_water * 10 < f.most.stage_bytes * 9)
    return waited +
           " for each other, while the stage had room: they do not come to write at the "
           "same "
           "time; balance the work between two writes";
  return fmt::format("{} for a free stage slot: {}", waited, set_larger_stage(f));
}

Advice commits(const Figures& f) {
  const double all = f.sum.write_calls + f.sum.commit;
  if (f.most.commits < 4 || all < k_least_seconds || f.sum.commit < k_commit_share * all) return {};
  return fmt::format(
      "{} of the output time went into {} commits: {}", percent(f.sum.commit / all), f.most.commits,
      is_pio() ? "set SHOAL_PIO_SYNC=lazy, so that PIO_syncfile commits every half minute at most"
               : "call sync less often, or without durable");
}

Advice slabs(const Figures& f) {
  if (f.most.slabs == 0 || f.most.stage_bytes == 0 || f.sum.blocked < k_blocked_share * f.sum.write_calls)
    return {};
  return fmt::format("fields did not fit into the stage and went through it in {} slabs: {}", f.most.slabs,
                     set_larger_stage(f));
}

Advice small_writes(const Figures& f) {
  if (f.sum.writes < k_many_calls) return {};
  const double mean = static_cast<double>(f.sum.bytes_written) / static_cast<double>(f.sum.writes);
  if (mean >= k_small_write) return {};
  return fmt::format("writes were small, {} on average: {}; netcdf4: larger chunks{}", bytes_text(mean),
                     is_pio() ? "let a decomposition have all levels of a field"
                              : "write larger sections or all levels of a field in one call",
                     is_pio() ? " (PIO_def_var_chunking)" : "");
}

Advice small_reads(const Figures& f) {
  if (f.sum.reads < k_many_calls) return {};
  const double mean = static_cast<double>(f.sum.bytes_read) / static_cast<double>(f.sum.reads);
  if (mean >= k_small_write / 4) return {};
  return fmt::format(
      "reads were small, {} on average: read larger sections in one call; if the file's chunks are small, "
      "rechunk it (nccopy -c)",
      bytes_text(mean));
}

Advice tiny_sections(const Figures& f) {
  const std::int64_t fields = f.most.fields_written;
  if (fields < 10 * k_many_calls) return {};
  const double mean = static_cast<double>(f.sum.bytes_written) / static_cast<double>(fields);
  if (mean >= k_small_write) return {};
  return fmt::format("{} calls of {} moved {} each: {}", fields, is_pio() ? "PIO_write_darray" : "write",
                     bytes_text(mean),
                     is_pio() ? "let a decomposition have several levels, or whole fields"
                              : "write several levels or whole fields in one call");
}

Advice imbalance(const Figures& f) {
  const auto ranks = static_cast<double>(f.report.of_ranks.size());
  const double mean = f.sum.pack / ranks;
  if (ranks < 2 || f.most.pack < k_least_seconds || f.most.pack < k_imbalance * mean) return {};
  std::array<char, 16> times{};
  std::snprintf(times.data(), times.size(), "%.1f", f.most.pack / mean);
  return fmt::format(
      "one rank packs {} times as long as the average: tiles differ in size; cut the grid more evenly",
      times.data());
}

}  // namespace

std::string advice_of(const DatasetReport& report, const Settings& settings) {
  const Figures figures = figures_of(report, settings);
  for (const auto& rule : {stage_shrank, far_from_figures, chunks_again, blocked, slabs, commits,
                           tiny_sections, small_writes, small_reads, imbalance})
    if (const Advice advice = rule(figures)) return *advice;
  return "nothing to improve";
}

}  // namespace shoal
