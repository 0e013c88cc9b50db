// SPDX-License-Identifier: BSD-3-Clause
// The methods of this build: every driver of Shoal with its accesses and layouts, and what they are compared
// with.
#include "method.hpp"

#ifdef SHOAL_HAVE_NETCDF
#include <netcdf_meta.h>
#endif

#include <array>

#include "command_line.hpp"
#include "library.hpp"

namespace shoal::bench {

namespace {

using Names = std::vector<std::string>;
using Does = MethodEntry::Does;

Names formats_of(const std::string& driver) {
  for (const auto& known : library_drivers())
    if (known.name == driver) return known.formats;
  return {};
}

struct Layout {
  const char *suffix, *name, *summary;
};
constexpr std::array<Layout, 4> k_layouts{
    {{"", "one", ""},
     {"-per-process", "process", ", a file for each process"},
     {"-per-domain", "domains", ", a file for each I/O domain (--io-layout)"},
     {"-per-node", "node", ", a file for each node"}}};

// What is listed. What can be done is the library's to say: any driver may be asked for any access.
void add_drivers(std::vector<MethodEntry>& all) {
  for (const auto& driver : library_drivers())
    for (const std::string access : {"", "collective", "independent", "nonblocking"})
      for (const auto& layout : k_layouts)
        all.push_back({.name = driver.name + (access.empty() ? "" : "-" + access) + layout.suffix,
                       .driver = driver.name,
                       .access = access,
                       .layout = layout.name,
                       .summary = "Shoal, driver " + driver.name +
                                  (access.empty() ? "" : ", " + access + " access") + layout.summary,
                       .formats = driver.formats,
                       .through_shoal = true,
                       .takes_hints = !driver.accesses.empty(),
                       .listed = driver.built && (access.empty() || contains(driver.accesses, access)),
                       .syncs = true,
                       .make = make_shoal});
}

MethodEntry alias_entry(const std::string& name, const std::string& driver, const std::string& layout,
                        const std::string& format, const std::string& summary) {
  return {.name = name,
          .driver = driver,
          .layout = layout,
          .summary = summary,
          .formats = {format},
          .through_shoal = true,
          .syncs = true,
          .fixed_format = format,
          .make = make_shoal};
}

MethodEntry own_entry(const std::string& name, const std::string& driver, const std::string& summary,
                      Does does, Maker* make) {
  return {.name = name,
          .driver = driver,
          .summary = summary,
          .replicated = name != "limit",
          .does = does,
          .make = make};
}

[[maybe_unused]] MethodEntry bare_entry(const std::string& driver, const std::string& access,
                                        const std::string& summary, const Names& formats, Maker* make) {
  return {.name = "bare-" + driver + (access.empty() ? "" : "-" + access),
          .driver = driver,
          .access = access,
          .summary = summary,
          .formats = formats,
          .takes_hints = !access.empty(),
          .replicated = driver != "mpiio",
          .syncs = driver != "mpiio",
          .make = make};
}

#if defined(NC_HAS_NCZARR) && NC_HAS_NCZARR
const char* const k_no_nczarr = "";
#else
const char* const k_no_nczarr =
    "this build's netCDF-C has no NCZarr; build shoal-bench with netCDF-C 4.8 or newer";
#endif

// A process of Python works for each rank, or for rank 0.
MethodEntry python_entry(const std::string& name, const std::string& driver, const std::string& summary,
                         Maker* make) {
  return {.name = name,
          .driver = driver,
          .summary = summary,
          .formats = {"zarr"},
          .syncs = true,
          .fixed_format = "zarr",
          .settings = {"compression"},
          .make = make};
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

#ifdef SHOAL_BENCH_DOOR_NETCDF
const char* const k_no_netcdf_door = "";
#else
const char* const k_no_netcdf_door = "this build has no door of netCDF (SHOAL_DOORS, and a parallel netCDF)";
#endif
#ifdef SHOAL_BENCH_DOOR_PNETCDF
const char* const k_no_pnetcdf_door = "";
#else
const char* const k_no_pnetcdf_door = "this build has no door of PnetCDF (SHOAL_DOORS, and a PnetCDF)";
#endif

// As the bare method, which calls the same functions.
MethodEntry door_entry(const std::string& driver, const std::string& access, const std::string& suffix,
                       const std::string& missing) {
  return {.name = driver + "-door" + suffix,
          .driver = driver,
          .access = access,
          .summary = "the calls of bare-" + driver + "-" + access + ", and Shoal's door before the library",
          .formats = formats_of(driver),
          .takes_hints = true,
          .listed = missing.empty(),
          .syncs = true,
          .settings = driver == "netcdf" ? Names{"background", "compression"} : Names{"background"},
          .missing = missing,
          .make = make_door};
}

MethodEntry pio_entry(const std::string& kind, const std::string& access, const std::string& summary,
                      const std::string& missing, Maker* make) {
  return {.name = "pio-" + kind,
          .driver = "pio",
          .access = access,
          .summary = summary + "; io_tasks: a number, or all ranks",
          .formats = {"cdf5", "cdf1", "cdf2", "netcdf4"},
          .takes_hints = make == make_pio,
          .listed = missing.empty(),
          .syncs = true,
          .settings = {"io_tasks"},
          .missing = missing,
          .make = make};
}

std::vector<MethodEntry> make_all() {
  std::vector<MethodEntry> all;
  add_drivers(all);
  for (auto&& entry : {
           alias_entry("serial-ascii", "gather", "one", "ascii",
                       "rank 0 writes everything as text into one file"),
           alias_entry("ascii-per-process", "gather", "process", "ascii",
                       "each process writes text into a file of its own"),
           alias_entry("binary-per-process", "native", "process", "raw",
                       "each process writes plain values into a file of its own"),
           own_entry("limit", "posix", "each rank's bytes as one block, plain pwrite and pread", Does::all,
                     make_limit),
           own_entry("none", "none", "no output: the computation alone", Does::nothing, make_none),
           own_entry("accumulate", "none", "no output: the computation, means and extremes alone", Does::sums,
                     make_none),
       })
    all.push_back(entry);
  // Its fields go to streams (programs/through_streams.cpp); by itself it reads what they wrote.
  all.push_back({.name = "streams",
                 .driver = "native",
                 .summary = "Shoal's streams take the fields of each step, and write means, instants and "
                            "extremes",
                 .formats = formats_of("native"),
                 .through_shoal = true,
                 .syncs = true,
                 .does = Does::fields,
                 .make = make_shoal});
#ifdef SHOAL_HAVE_PNETCDF
  const auto classic = formats_of("pnetcdf");
  all.push_back(bare_entry("pnetcdf", "collective", "PnetCDF alone, a collective call a variable", classic,
                           make_bare_pnetcdf));
  all.push_back(bare_entry("pnetcdf", "independent", "PnetCDF alone, each rank calls for itself", classic,
                           make_bare_pnetcdf));
  all.push_back(
      bare_entry("pnetcdf", "nonblocking",
                 "PnetCDF alone, calls of a record queued and flushed by one collective call, or 128 "
                 "MiB a rank at a time",
                 classic, make_bare_pnetcdf));
#endif
#ifdef SHOAL_HAVE_NETCDF
  all.push_back(
      bare_entry("netcdf", "collective", "parallel netCDF-4 alone", formats_of("netcdf"), make_bare_netcdf));
  all.back().settings = {"compression"};
  all.push_back(bare_entry("gather", "", "rank 0 collects, serial netCDF-C alone writes",
                           {"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"}, make_bare_gather));
  all.push_back({.name = "nczarr",
                 .driver = "gather",
                 .summary = "rank 0 collects, NCZarr of serial netCDF-C alone writes Zarr of version 2",
                 .formats = {"nczarr"},
                 // netCDF-C 4.9.0 ends with a signal when it opens a store that has scalars.
                 .reads = false,
                 .syncs = true,
                 .fixed_format = "nczarr",
                 .settings = {"compression"},
                 .missing = k_no_nczarr,
                 .make = make_bare_gather});
#endif
  all.push_back(python_entry("zarr-python", "zarr-python",
                             "zarr-python 3 alone, each rank writes shards of its own: its tile of a record",
                             make_zarr_python));
  all.push_back(python_entry("xarray", "gather", "rank 0 collects, xarray's Dataset.to_zarr alone writes",
                             make_xarray));
  all.push_back(bare_entry("mpiio", "collective",
                           "MPI-IO alone, one derived datatype a field; distributed fields alone", {},
                           make_bare_mpiio));
  all.push_back(bare_entry("mpiio", "independent",
                           "MPI-IO alone, one call a contiguous run; distributed fields alone", {},
                           make_bare_mpiio));
  all.push_back(
      bare_entry("hdf5", "", "definitions by one rank with HDF5 alone", {"netcdf4"}, make_bare_hdf5));
  all.back().does = Does::definitions;
  all.push_back(door_entry("netcdf", "collective", "", k_no_netcdf_door));
  for (const std::string access : {"collective", "independent", "nonblocking"})
    all.push_back(door_entry("pnetcdf", access, "-" + access, k_no_pnetcdf_door));
  all.push_back(pio_entry("on-shoal", "box", "calls of PIO, and Shoal behind them", k_no_pio_on_shoal,
                          make_pio_on_shoal));
  all.push_back(pio_entry("box", "box", "PIO alone, cells rearranged to even boxes", k_no_pio, make_pio));
  all.push_back(
      pio_entry("subset", "subset", "PIO alone, each I/O task stores for some ranks", k_no_pio, make_pio));
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

}  // namespace shoal::bench
