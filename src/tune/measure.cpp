// SPDX-License-Identifier: BSD-3-Clause
#include "tune/measure.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/build_info.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "machine/machine_file.hpp"
#include "storage/file_system.hpp"

namespace shoal {

namespace {

namespace fs = std::filesystem;

constexpr int k_most_rounds = 15;
constexpr int k_wanted_rounds = 5;
constexpr std::int64_t k_sizes[] = {16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20};
constexpr std::int64_t k_stripe_counts[] = {1, 2, 4, 8, 16, 32};

/// 1, 2, 4, ... and the number itself.
std::vector<std::int64_t> doubled_to(std::int64_t most) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t n = 1; n < most; n *= 2)
    numbers.push_back(n);
  numbers.push_back(most);
  return numbers;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/// Rates that were measured, by point.
using Rates = std::vector<std::vector<double>>;

/// Why the table of a name cannot be kept; empty: it can.
std::string why_left_out(const std::vector<Point>& points, const Rates& rates, const std::string& name,
                         double most_scatter) {
  double scatter = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (name != points[i].name) continue;
    if (rates[i].empty()) return "there was no time for all of it";
    scatter = std::max(scatter, scatter_of(rates[i]));
  }
  if (scatter <= most_scatter) return "";
  return fmt::format("repeats differ by {:.0f} %, or are fewer than three", 100 * scatter);
}

void keep_figures(const std::vector<Point>& points, const Rates& rates, double most_scatter, Measured& out) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string why = why_left_out(points, rates, points[i].name, most_scatter);
    const std::string line = fmt::format("{}: {}", points[i].name, why);
    if (!why.empty()) {
      if (std::find(out.left_out.begin(), out.left_out.end(), line) == out.left_out.end())
        out.left_out.push_back(line);
      continue;
    }
    const double rate = median_of(rates[i]);
    if (points[i].table == nullptr)
      out.figures.sync_bytes_per_second = rate;
    else
      (out.figures.*points[i].table).add(points[i].at, rate);
  }
}

std::vector<std::int64_t> stripes_there_are(const ProbeFolder& folder, bool has_stripes) {
  std::vector<std::int64_t> counts;
  if (!has_stripes) return counts;
  for (const std::int64_t count : k_stripe_counts) {
    if (!folder.can_stripe(count)) break;
    counts.push_back(count);
  }
  return counts;
}

void require_space(const Comm& comm, const TuneRequest& request, std::int64_t needed) {
  comm.on_root([&] {
    const auto free = static_cast<std::int64_t>(file_system_of(request.folder).free);
    if (free < needed)
      throw Error(Code::no_space,
                  "the folder has {} free, and {} are needed: choose another one, or smaller files "
                  "(--writer-bytes, now {})",
                  bytes_text(static_cast<double>(free)), bytes_text(static_cast<double>(needed)),
                  bytes_text(static_cast<double>(request.writer_bytes)))
          .in_file(request.folder);
  });
}

}  // namespace

std::vector<Point> points_for(int nodes, int ranks_per_node, const std::vector<std::int64_t>& stripes) {
  using F = FileSystemFigures;
  std::vector<Point> points;
  WriteProbe one;
  one.call_bytes = k_tune_bytes;
  for (const std::int64_t n : doubled_to(ranks_per_node)) {
    WriteProbe probe = one;
    probe.writers = static_cast<int>(n);
    points.push_back({"write_by_writers", &F::by_writers, n, probe});
  }
  for (const std::int64_t n : doubled_to(nodes)) {
    WriteProbe probe = one;
    probe.nodes = static_cast<int>(n);
    points.push_back({"write_by_nodes", &F::by_nodes, n, probe});
  }
  one.nodes = nodes;
  for (const std::int64_t size : k_sizes) {
    WriteProbe probe = one;
    probe.call_bytes = size;
    points.push_back({"write_by_size", &F::by_size, size, probe});
    probe.unaligned = true;
    points.push_back({"write_unaligned", &F::unaligned, size, probe});
    if (nodes > 1) {
      probe.in_turns = true;  // at odd places, as boxes of fields
      points.push_back({"write_in_turns", &F::in_turns, size, probe});
    }
  }
  for (const std::int64_t count : stripes) {
    WriteProbe probe = one;
    probe.stripes = count;
    probe.sync = true;  // a cache is as fast with one server
    points.push_back({"write_by_stripes", &F::by_stripes, count, probe});
  }
  WriteProbe probe = one;
  probe.own_files = true;
  points.push_back({"write_own_files", &F::own_files, nodes, probe});
  probe = one;
  probe.sync = true;
  points.push_back({"sync_bytes_per_second", nullptr, 0, probe});
  return points;
}

double scatter_of(std::vector<double> rates) {
  if (rates.size() < 3) return 1;
  std::sort(rates.begin(), rates.end());
  const std::size_t last = rates.size() - 1;
  return (rates[last - last / 4] - rates[last / 4]) / median_of(rates);
}

std::int64_t needed_bytes(const std::vector<Point>& points, std::int64_t writer_bytes) {
  std::int64_t most = 0;
  for (const auto& point : points)
    most = std::max(most,
                    point.probe.nodes * point.probe.writers * std::max(writer_bytes, point.probe.call_bytes));
  return most;
}

Measured measure_file_system(const Comm& comm, const Nodes& nodes, const TuneRequest& request) {
  const Seconds begin = now();
  const FileSystem where = file_system_of(request.folder);
  const bool mine_by_name = !nodes.single() && where.sharing != FileSystem::Sharing::coherent &&
                            where.sharing != FileSystem::Sharing::local;
  // Nodes may mount the folder in different ways; all ranks must go through the same points.
  const bool by_name = comm.max(std::int64_t{mine_by_name}) > 0;
  const bool has_stripes = comm.min(std::int64_t{where.type == "lustre"}) > 0;
  const ProbeFolder folder(comm, nodes, request.folder, by_name);
  const auto ranks_per_node = static_cast<int>(comm.min(std::int64_t{nodes.node().size()}));
  const auto points = points_for(nodes.count(), ranks_per_node, stripes_there_are(folder, has_stripes));
  require_space(comm, request, needed_bytes(points, request.writer_bytes));
  const ProbeFolder::Calls calls = folder.calls();
  const Stripes stripes = folder.usual_stripes();

  Measured out;
  Rates rates(points.size());
  const Seconds each = request.seconds / k_wanted_rounds / static_cast<double>(points.size());
  const auto time_is_up = [&] { return comm.max(now() - begin) >= request.seconds; };
  bool up = false;
  for (int round = 0; round < k_most_rounds && !up; ++round) {
    for (std::size_t i = 0; i < points.size() && !up; ++i) {
      rates[i].push_back(folder.rate_of(points[i].probe, request.writer_bytes, each));
      up = time_is_up();
    }
    if (!rates.back().empty()) out.rounds = static_cast<int>(rates.back().size());
  }
  keep_figures(points, rates, request.scatter, out);
  comm.on_root([&] { out.figures.mount_point = mount_point_of(request.folder); });
  out.figures.kind = where.type;
  out.figures.measured = date_of_today();
  out.figures.version = k_version;
  out.figures.nodes = nodes.count();
  out.figures.ranks_per_node = ranks_per_node;
  out.figures.stripe_count = stripes.count;
  out.figures.stripe_bytes = stripes.bytes;
  out.figures.create_seconds = calls.create;
  out.figures.open_seconds = calls.open;
  out.figures.sync_seconds = calls.sync;
  return out;
}

std::string mount_point_of(const std::string& folder) {
  fs::path place = fs::canonical(folder);
  struct stat mine {};
  struct stat above {};
  if (::stat(place.c_str(), &mine) != 0)
    throw errno_error(errno, "cannot look at the folder").in_file(folder);
  while (place.has_relative_path() && ::stat(place.parent_path().c_str(), &above) == 0 &&
         above.st_dev == mine.st_dev)
    place = place.parent_path();
  return place.string();
}

}  // namespace shoal
