// SPDX-License-Identifier: BSD-3-Clause
// The methods of this build: every driver of Shoal with its accesses and layouts, and what they are compared
// with.
#include "method.hpp"

namespace shoal::bench {

namespace {

using Names = std::vector<std::string>;

[[maybe_unused]] const Names& every_format() {
  static const Names all{"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"};
  return all;
}

struct Driver {
  const char* name;
  Names accesses;  ///< that are listed
  Names formats;   ///< the usual one first
  const char* summary;
  bool built;
};

#ifdef SHOAL_HAVE_PNETCDF
constexpr bool k_have_pnetcdf = true;
#else
constexpr bool k_have_pnetcdf = false;
#endif
#ifdef SHOAL_HAVE_NETCDF
constexpr bool k_have_netcdf = true;
#else
constexpr bool k_have_netcdf = false;
#endif

// What is listed. What can be done is the library's to say: any driver may be asked for any access.
const std::vector<Driver>& drivers() {
  static const std::vector<Driver> all{
      {"native",
       {""},
       {"cdf5", "cdf1", "cdf2", "netcdf4", "netcdf4-classic", "raw"},
       "Shoal's own driver",
       true},
      {"gather",
       {""},
       {"cdf5", "cdf1", "cdf2", "netcdf4", "netcdf4-classic", "raw", "ascii"},
       "Shoal, rank 0 does it all",
       true},
      {"pnetcdf",
       {"", "collective", "independent", "nonblocking"},
       {"cdf5", "cdf1", "cdf2"},
       "Shoal on PnetCDF",
       k_have_pnetcdf},
      {"netcdf",
       {"", "collective", "independent"},
       {"netcdf4", "netcdf4-classic"},
       "Shoal on parallel netCDF-4",
       k_have_netcdf},
      {"mpiio", {"", "collective", "independent"}, {"raw", "cdf5", "cdf1", "cdf2"}, "Shoal on MPI-IO", true},
  };
  return all;
}

struct Layout {
  const char *suffix, *name, *summary;
};
constexpr std::array<Layout, 4> k_layouts{
    {{"", "one", ""},
     {"-per-process", "process", ", a file for each process"},
     {"-per-domain", "domains", ", a file for each I/O domain (--io-layout)"},
     {"-per-node", "node", ", a file for each node"}}};

void add_drivers(std::vector<MethodEntry>& all) {
  for (const auto& driver : drivers())
    for (const std::string access : {"", "collective", "independent", "nonblocking"})
      for (const auto& layout : k_layouts) {
        MethodEntry entry;
        const std::string name = driver.name;
        entry.name = name + (access.empty() ? "" : "-" + access) + layout.suffix;
        entry.driver = name;
        entry.access = access;
        entry.layout = layout.name;
        entry.summary = driver.summary + (access.empty() ? "" : ", " + access + " access") + layout.summary;
        entry.formats = driver.formats;
        entry.through_shoal = true;
        entry.syncs = true;
        entry.listed = driver.built && std::find(driver.accesses.begin(), driver.accesses.end(), access) !=
                                           driver.accesses.end();
        entry.takes_hints = name == "pnetcdf" || name == "netcdf" || name == "mpiio";
        entry.make = make_shoal;
        all.push_back(std::move(entry));
      }
}

void add_alias(std::vector<MethodEntry>& all, const std::string& name, const std::string& driver,
               const std::string& layout, const std::string& format, const std::string& summary) {
  MethodEntry entry;
  entry.name = name;
  entry.driver = driver;
  entry.layout = layout;
  entry.summary = summary;
  entry.formats = {format};
  entry.through_shoal = true;
  entry.syncs = true;
  entry.fixed_format = format;
  entry.make = make_shoal;
  all.push_back(std::move(entry));
}

void add_bare(std::vector<MethodEntry>& all, const std::string& driver, const std::string& access,
              const std::string& summary, const Names& formats, bool hints, Maker* make) {
  MethodEntry entry;
  entry.name = "bare-" + driver + (access.empty() ? "" : "-" + access);
  entry.driver = driver;
  entry.access = access;
  entry.layout = "one";
  entry.summary = summary;
  entry.formats = formats;
  entry.takes_hints = hints;
  entry.replicated = driver != "mpiio";
  entry.syncs = driver != "mpiio";
  entry.make = make;
  all.push_back(std::move(entry));
}

void add_own(std::vector<MethodEntry>& all, const std::string& name, const std::string& driver,
             const std::string& summary, MethodEntry::Does does, Maker* make) {
  MethodEntry entry;
  entry.name = name;
  entry.driver = driver;
  entry.layout = "one";
  entry.summary = summary;
  entry.does = does;
  entry.replicated = name != "limit";
  entry.make = make;
  all.push_back(std::move(entry));
}

#ifdef SHOAL_BENCH_PIO_ON_SHOAL
const char* const k_no_pio_on_shoal = "";
#else
const char* const k_no_pio_on_shoal = "this build has no PIO on Shoal (SHOAL_PIO)";
#endif
#ifdef SHOAL_BENCH_PIO
const char* const k_no_pio = "";
#else
const char* const k_no_pio =
    "this build found no PIO of NCAR or E3SM; build shoal-bench again with PIO_DIR set to its folder";
#endif

void add_pio(std::vector<MethodEntry>& all, const std::string& kind, const std::string& access,
             const std::string& summary, bool hints, const char* missing, Maker* make) {
  MethodEntry entry;
  entry.name = "pio-" + kind;
  entry.driver = "pio";
  entry.access = access;
  entry.layout = "one";
  entry.summary = summary + "; io_tasks: a number, or all ranks";
  entry.formats = {"cdf5", "cdf1", "cdf2", "netcdf4"};
  entry.takes_hints = hints;
  entry.syncs = true;
  entry.settings = {"io_tasks"};
  entry.missing = missing;
  entry.listed = entry.missing.empty();
  entry.make = make;
  all.push_back(std::move(entry));
}

// Its fields go to streams (programs/through_streams.cpp); by itself it reads what they wrote.
void add_streams(std::vector<MethodEntry>& all) {
  MethodEntry entry;
  entry.name = "streams";
  entry.driver = "native";
  entry.layout = "one";
  entry.summary = "Shoal's streams take the fields of each step, and write means, instants and extremes";
  entry.formats = {"cdf5", "cdf1", "cdf2", "netcdf4", "netcdf4-classic"};
  entry.through_shoal = entry.syncs = true;
  entry.does = MethodEntry::Does::fields;
  entry.make = make_shoal;
  all.push_back(std::move(entry));
}

std::vector<MethodEntry> make_all() {
  std::vector<MethodEntry> all;
  add_drivers(all);
  add_alias(all, "serial-ascii", "gather", "one", "ascii", "rank 0 writes everything as text into one file");
  add_alias(all, "ascii-per-process", "gather", "process", "ascii",
            "each process writes text into a file of its own");
  add_alias(all, "binary-per-process", "native", "process", "raw",
            "each process writes plain values into a file of its own");
  add_own(all, "limit", "posix", "each rank's bytes as one block, plain pwrite and pread",
          MethodEntry::Does::all, make_limit);
  add_own(all, "none", "none", "no output: the computation alone", MethodEntry::Does::nothing, make_none);
  add_own(all, "accumulate", "none", "no output: the computation, means and extremes alone",
          MethodEntry::Does::sums, make_none);
  add_streams(all);
#ifdef SHOAL_HAVE_PNETCDF
  const Names classic{"cdf1", "cdf2", "cdf5"};
  add_bare(all, "pnetcdf", "collective", "PnetCDF alone, a collective call a variable", classic, true,
           make_bare_pnetcdf);
  add_bare(all, "pnetcdf", "independent", "PnetCDF alone, each rank calls for itself", classic, true,
           make_bare_pnetcdf);
  add_bare(all, "pnetcdf", "nonblocking",
           "PnetCDF alone, calls of a record queued and flushed by one collective call, or 128 MiB a rank at "
           "a time",
           classic, true, make_bare_pnetcdf);
#endif
#ifdef SHOAL_HAVE_NETCDF
  add_bare(all, "netcdf", "collective", "parallel netCDF-4 alone", {"netcdf4", "netcdf4-classic"}, true,
           make_bare_netcdf);
  add_bare(all, "gather", "", "rank 0 collects, serial netCDF-C alone writes", every_format(), false,
           make_bare_gather);
#endif
  add_bare(all, "mpiio", "collective", "MPI-IO alone, one derived datatype a field; distributed fields alone",
           {}, true, make_bare_mpiio);
  add_bare(all, "mpiio", "independent", "MPI-IO alone, one call a contiguous run; distributed fields alone",
           {}, true, make_bare_mpiio);
  add_bare(all, "hdf5", "", "definitions by one rank with HDF5 alone", {"netcdf4"}, false, make_bare_hdf5);
  all.back().does = MethodEntry::Does::definitions;
  add_pio(all, "on-shoal", "box", "calls of PIO, and Shoal behind them", false, k_no_pio_on_shoal,
          make_pio_on_shoal);
  add_pio(all, "box", "box", "PIO alone, cells rearranged to even boxes", true, k_no_pio, make_pio);
  add_pio(all, "subset", "subset", "PIO alone, each I/O task stores for some ranks", true, k_no_pio,
          make_pio);
  return all;
}

}  // namespace

const std::vector<MethodEntry>& methods() {
  static const std::vector<MethodEntry> all = make_all();
  return all;
}

const MethodEntry& find_method(const std::string& name) {
  std::string known;
  for (const auto& m : methods()) {
    if (m.name == name) return m;
    // Layouts are known by their endings.
    if (m.listed && (!m.through_shoal || m.layout == "one")) known += (known.empty() ? "" : ", ") + m.name;
  }
  throw std::invalid_argument("there is no method '" + name + "' in this build; there are " + known +
                              "; those of Shoal also with -per-process, -per-domain, -per-node");
}

Info::Info(const KeyValues& hints) {
  if (hints.empty()) return;
  MPI_Info_create(&info_);
  for (const auto& [key, value] : hints)
    MPI_Info_set(info_, key.c_str(), value.c_str());
}

Info::~Info() {
  if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
}

}  // namespace shoal::bench
