// SPDX-License-Identifier: BSD-3-Clause
#include "results.hpp"

#include <hdf5.h>
#include <shoal/shoal.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#ifdef SHOAL_HAVE_PNETCDF
#include <pnetcdf.h>
#endif
#ifdef SHOAL_HAVE_NETCDF
// Not netcdf.h: its names and PnetCDF's are the same.
extern "C" const char* nc_inq_libvers(void);
#endif

namespace shoal::bench {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find_first_of(",\n"));
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
             g.first->format == r.format;
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

// A setting of a variant, "shoal+driver=pnetcdf", goes before what the method says of itself.
std::string chosen(const MethodChoice& method, const std::string& key, const std::string& otherwise) {
  const auto at = method.settings.find(key);
  return at == method.settings.end() ? otherwise : at->second;
}

std::string object_of(const Setup& setup, const Result& r) {
  const auto& entry = *r.method.entry;
  std::ostringstream out;
  out << "{\"experiment\": " << quoted(setup.options.experiment) << ", \"operation\": " << quoted(r.operation)
      << ", \"method\": " << quoted(r.method.text)
      << ", \"driver\": " << quoted(chosen(r.method, "driver", entry.driver))
      << ", \"access\": " << quoted(chosen(r.method, "access", entry.access))
      << ", \"layout\": " << quoted(entry.layout) << ", \"format\": " << quoted(r.format)
      << ", \"ranks\": " << setup.ranks
      << ", \"tiles\": " << quoted(std::to_string(setup.tiling.xi) + "x" + std::to_string(setup.tiling.eta))
      << ", \"shape\": [" << setup.grid.xi << ", " << setup.grid.eta << ", " << setup.grid.s
      << "], \"records\": " << setup.records << ", \"bytes\": " << r.bytes
      << ", \"dir\": " << quoted(setup.options.dir) << ", \"filesystem\": " << quoted(setup.file_system)
      << ", \"flush\": " << (setup.options.flush ? "true" : "false") << ", \"repetition\": " << r.repetition
      << ", \"verified\": " << (r.wrong == 0 ? "true" : "false") << ", \"seconds\": {";
  for (std::size_t i = 0; i < k_phases; ++i)
    out << (i == 0 ? "" : ", ") << quoted(k_phase_names[i]) << ": "
        << printed("%.6f", r.phases[static_cast<Phase>(i)]);
  out << "}, \"megabytes_per_second\": " << printed("%.2f", megabytes_per_second(r))
      << ", \"stage_bytes\": " << r.stage_bytes << ", \"peak_rss_bytes\": " << r.peak_rss_bytes
      << ", \"added_rss_bytes\": " << r.added_rss_bytes << ", \"versions\": {";
  for (std::size_t i = 0; i < setup.versions.size(); ++i)
    out << (i == 0 ? "" : ", ") << quoted(setup.versions[i].first) << ": "
        << quoted(setup.versions[i].second);
  out << "}}";
  return out.str();
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::vector<std::pair<std::string, std::string>> versions(const std::string& label) {
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
  const char* chosen = std::getenv("OMPI_MCA_io");
  all.emplace_back("mpi_io", !label.empty() ? label : (chosen != nullptr ? chosen : "default"));
  return all;
}

std::string json_of(const Setup& setup, const std::vector<Result>& results) {
  std::string out;
  for (const auto& r : results)
    if (r.repetition > 0 || r.wrong != 0) out += (out.empty() ? "" : ",\n") + object_of(setup, r);
  return "[\n" + out + "\n]\n";
}

std::string table_of(const Setup& setup, const std::vector<Result>& results) {
  const auto groups = grouped(results);
  std::size_t width = 6;
  for (const auto& g : groups)
    width = std::max(width, g.first->method.text.size());
  const auto pad = [](std::string text, std::size_t to) {
    text.resize(std::max(to, text.size()), ' ');
    return text + "  ";
  };
  std::string out = pad("", 6) + pad("method", width) + pad("format", 15) +
                    "    min s  median s     max s     MB/s  of limit  added MiB  check\n";
  for (const auto& g : groups) {
    const auto m = median(g.seconds);
    const auto limit = std::find_if(groups.begin(), groups.end(), [&](const Group& other) {
      return other.first->method.entry->name == "limit" && other.first->operation == g.first->operation;
    });
    out += pad(g.first->operation, 6) + pad(g.first->method.text, width) + pad(g.first->format, 15);
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
