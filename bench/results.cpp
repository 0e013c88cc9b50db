// SPDX-License-Identifier: BSD-3-Clause
#include "results.hpp"

#include <hdf5.h>
#include <shoal/shoal.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "json.hpp"
#include "library.hpp"

#ifdef SHOAL_HAVE_PNETCDF
#include <pnetcdf.h>
#endif
#ifdef SHOAL_HAVE_NETCDF
// Not netcdf.h: its names and PnetCDF's are the same.
extern "C" const char* nc_inq_libvers(void);
#endif

namespace shoal::bench {

namespace {

std::string first_line(const std::string& text) {
  return text.substr(0, text.find_first_of(",\n"));
}

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

double megabytes_per_second(const Result& r) {
  const double total = r.phases[Phase::total];
  return total > 0 ? static_cast<double>(r.bytes) / total / 1e6 : 0;
}

// Results of one method, format and operation.
struct Group {
  const Result* first;
  std::vector<double> seconds;
  std::int64_t wrong = 0, added = 0;
};

std::vector<Group> grouped(const std::vector<Result>& results) {
  std::vector<Group> groups;
  for (const auto& r : results) {
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return g.first->operation == r.operation && g.first->method.text == r.method.text &&
             g.first->format == r.format && g.first->dir == r.dir;
    });
    if (at == groups.end()) at = groups.insert(groups.end(), Group{&r, {}, 0, 0});
    at->wrong += r.wrong;
    if (r.repetition == 0) continue;
    at->seconds.push_back(r.phases[Phase::total]);
    at->added = std::max(at->added, r.added_rss_bytes);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.first->operation > b.first->operation; });
  return groups;
}

// Everything that makes this run of a method another than the method's usual one.
Json settings_of(const Setup& setup, const Result& r) {
  Json object = Json::object();
  for (const auto& [key, value] : r.method.settings)
    object[key] = value;
  if (r.method.entry->takes_hints && !setup.options.hints.empty() && r.method.settings.count("hints") == 0) {
    std::string hints;
    for (const auto& [key, value] : setup.options.hints)
      hints += (hints.empty() ? "" : ";") + key + "=" + value;
    object["hints"] = hints;
  }
  if (!setup.options.cut.empty()) object["cut"] = setup.options.cut;
  if (setup.steps > 0) object["steps"] = std::to_string(setup.steps);
  // What the tiles make of a file, on one level of a field: not set, but what a study of tiles asks for.
  if (r.method.entry->does == MethodEntry::Does::all && setup.runs.in_all > 0) {
    object["contiguous_runs"] = std::to_string(setup.runs.in_all);
    object["longest_run_elements"] = std::to_string(setup.runs.longest);
  }
  return object;
}

// A library with accesses is called collectively unless somebody says otherwise.
std::string access_of(const MethodEntry& entry) {
  if (!entry.access.empty()) return entry.access;
  for (const auto& driver : library_drivers())
    if (entry.driver == driver.name && !driver.accesses.empty()) return "collective";
  return "none";
}

Json seconds_of(const Result& r) {
  Json object = Json::object();
  for (std::size_t i = 0; i < k_phases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (r.phases.has(phase)) object[k_phase_names[i]] = rounded(r.phases[phase], 6);
  }
  return object;
}

std::string file_system_of(const Setup& setup, const std::string& dir) {
  for (std::size_t i = 0; i < setup.options.dirs.size(); ++i)
    if (setup.options.dirs[i] == dir) return setup.file_systems[i];
  return "unknown";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> versions(const std::string& mpi_io) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> mpi{};
  int length = 0;
  MPI_Get_library_version(mpi.data(), &length);
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  std::vector<std::pair<std::string, std::string>> all{
      {"shoal", shoal_version()},
      {"mpi", first_line(mpi.data())},
      {"hdf5", std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release)}};
#ifdef SHOAL_HAVE_PNETCDF
  all.emplace_back("pnetcdf", ncmpi_inq_libvers());
#endif
#ifdef SHOAL_HAVE_NETCDF
  all.emplace_back("netcdf", nc_inq_libvers());
#endif
  all.emplace_back("mpi_io", mpi_io);
  return all;
}

std::string object_of(const Setup& setup, const Result& r, const std::string& event) {
  const auto& entry = *r.method.entry;
  Json object = Json::object();
  if (!event.empty()) object["event"] = event;
  object["experiment"] = setup.options.experiment;
  object["operation"] = r.operation;
  object["method"] = r.method.text;
  object["driver"] = entry.driver;
  object["access"] = access_of(entry);
  object["layout"] = r.method.layout();
  object["format"] = r.format;
  object["ranks"] = setup.ranks;
  object["tiles"] = {setup.tiling.xi, setup.tiling.eta};
  object["shape"] = {setup.grid.xi, setup.grid.eta, setup.grid.s};
  object["records"] = setup.records;
  object["sync_every"] = setup.sync_every;
  object["bytes"] = r.bytes;
  object["files"] = r.files;
  object["file_bytes"] = r.file_bytes;
  object["dir"] = r.dir;
  object["filesystem"] = file_system_of(setup, r.dir);
  object["flush"] = setup.options.flush;
  object["touch_memory"] = setup.options.touch_memory;
  object["cache"] = r.cache;
  object["repetition"] = r.repetition;
  object["verified"] = r.wrong == 0;
  object["seconds"] = seconds_of(r);
  object["megabytes_per_second"] = rounded(megabytes_per_second(r), 2);
  object["stage_bytes"] = r.stage_bytes;
  object["peak_rss_bytes"] = r.peak_rss_bytes;
  object["added_rss_bytes"] = r.added_rss_bytes;
  object["rank_added_bytes"] = r.rank_added_bytes;
  object["settings"] = settings_of(setup, r);
  object["cores"] = setup.machine.cores;
  object["nodes"] = setup.machine.nodes;
  object["more_ranks_than_cores"] = setup.machine.more_ranks_than_cores;
  object["versions"] = Json::object();
  for (const auto& [name, version] : setup.versions)
    object["versions"][name] = version;
  object["host"] = setup.machine.host;
  object["time"] = r.time;
  return line_of(object);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string json_of(const Setup& setup, const std::vector<Result>& results) {
  std::string out;
  for (const auto& r : results)
    if (r.repetition > 0) out += (out.empty() ? "" : ",\n") + object_of(setup, r);
  return "[\n" + out + "\n]\n";
}

std::string table_of(const Setup& setup, const std::vector<Result>& results) {
  const auto groups = grouped(results);
  std::size_t width = 6, dir_width = 0;
  for (const auto& g : groups) {
    width = std::max(width, g.first->method.text.size());
    if (setup.options.dirs.size() > 1) dir_width = std::max<std::size_t>({dir_width, g.first->dir.size(), 3});
  }
  const auto pad = [](std::string text, std::size_t to) {
    text.resize(std::max(to, text.size()), ' ');
    return text + "  ";
  };
  std::string out = pad("", 6) + pad("method", width) + pad("format", 15) +
                    (dir_width > 0 ? pad("dir", dir_width) : "") +
                    "    min s  median s     max s     MB/s  of limit  added MiB  check\n";
  for (const auto& g : groups) {
    if (g.seconds.empty()) continue;
    const auto m = median(g.seconds);
    const auto limit = std::find_if(groups.begin(), groups.end(), [&](const Group& other) {
      return other.first->method.entry->name == "limit" && other.first->operation == g.first->operation &&
             other.first->dir == g.first->dir && !other.seconds.empty();
    });
    out += pad(g.first->operation, 6) + pad(g.first->method.text, width) + pad(g.first->format, 15);
    if (dir_width > 0) out += pad(g.first->dir, dir_width);
    out += printed("%9.4f", *std::min_element(g.seconds.begin(), g.seconds.end())) + printed(" %9.4f", m);
    out += printed(" %9.4f", *std::max_element(g.seconds.begin(), g.seconds.end()));
    out += printed(" %8.0f", m > 0 ? static_cast<double>(g.first->bytes) / m / 1e6 : 0);
    out += limit == groups.end() ? std::string("         -") : printed(" %9.2f", median(limit->seconds) / m);
    out += printed(" %10.1f", static_cast<double>(g.added) / 1048576);
    out += g.wrong == 0 ? "  ok\n" : "  " + std::to_string(g.wrong) + " WRONG\n";
  }
  out += setup.options.flush ? "Bytes were flushed to the device before close returned.\n"
                             : "Bytes went to the page cache; --flush waits for the device.\n";
  return out;
}

}  // namespace shoal::bench
