// SPDX-License-Identifier: BSD-3-Clause
#include "driver/registry.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"
#include "format/format_traits.hpp"

namespace shoal {

namespace {

#ifndef SHOAL_HAVE_PNETCDF
constexpr DriverMaker* make_pnetcdf_driver = nullptr;
#endif
#ifndef SHOAL_HAVE_NETCDF
constexpr DriverMaker* make_netcdf_driver = nullptr;
constexpr bool k_gather_writes_netcdf = false;
#else
constexpr bool k_gather_writes_netcdf = true;
#endif

// A driver is listed here when it is there.
constexpr std::array<RegisteredDriver, 5> k_kinds{{
    {"native", "Shoal's own way: a node's ranks assemble fields in shared memory", "", make_native_driver},
    {"pnetcdf", "PnetCDF: classic formats through MPI-IO", "collective independent nonblocking",
     make_pnetcdf_driver},
    {"netcdf", "parallel netCDF-4 on parallel HDF5", "collective independent", make_netcdf_driver},
    {"mpiio", "one shared file by MPI-IO: raw values, or the classic formats", "collective independent",
     make_mpiio_driver},
    {"gather", "rank 0 collects fields slab by slab and writes them alone (netCDF-C without MPI)", "",
     make_gather_driver, k_gather_writes_netcdf},
}};

bool has(const char* list, const std::string& word) {
  const auto all = words(list);
  return std::find(all.begin(), all.end(), word) != all.end();
}

bool has_format(const RegisteredDriver& driver, const FormatTraits& format) {
  return has(format.drivers, driver.name) && (driver.writes_netcdf || format.has_header_file);
}

std::string those_with(Format format, const std::string& access) {
  std::vector<std::string> names;
  for (const auto& kind : k_kinds)
    if (kind.make != nullptr && has_format(kind, traits_of(format)) &&
        (access.empty() || has(kind.accesses, access)))
      names.emplace_back(kind.name);
  return names.empty() ? "none of this build" : joined(names, ", ");
}

}  // namespace

std::span<const RegisteredDriver> registered_drivers() {
  return k_kinds;
}

std::vector<std::string> formats_of(const RegisteredDriver& driver) {
  std::vector<std::string> names;
  for (const FormatTraits& format : all_formats())
    if (has_format(driver, format)) names.emplace_back(format.name);
  return names;
}

const char* name_of(Access access) {
  switch (access) {
    case Access::collective:
      return "collective";
    case Access::independent:
      return "independent";
    case Access::nonblocking:
      return "nonblocking";
  }
  return "collective";
}

Access access_of(const std::string& name) {
  for (const auto access : {Access::collective, Access::independent, Access::nonblocking})
    if (name == name_of(access)) return access;
  throw Error(Code::setting, "there is no access '{}'; there are collective, independent, nonblocking", name);
}

namespace {

const RegisteredDriver& checked(const std::string& name, OpenMode mode, Format format, Access access) {
  std::vector<std::string> names;
  for (const auto& kind : k_kinds)
    names.emplace_back(kind.name);
  const auto kind =
      std::find_if(k_kinds.begin(), k_kinds.end(), [&](const auto& k) { return k.name == name; });
  if (kind == k_kinds.end())
    throw Error(Code::setting, "there is no driver '{}'{}", name, did_you_mean(name, names));
  const std::string format_name = name_of(format);
  if (kind->make == nullptr)
    throw Error(Code::not_supported,
                "driver {} is not in this build, because its library was not found; drivers for {}: {}", name,
                format_name, those_with(format, ""));
  const bool fresh = mode == OpenMode::create || mode == OpenMode::create_exclusive;
  if (fresh && !has_format(*kind, traits_of(format)))
    throw Error(Code::setting, "driver {} has no format {}, only {}; drivers for {}: {}", name, format_name,
                joined(formats_of(*kind), ", "), format_name, those_with(format, ""));
  const std::string access_name = name_of(access);
  if (*kind->accesses != '\0' && !has(kind->accesses, access_name))
    throw Error(Code::setting, "driver {} has no {} access, only {}; drivers with it for {}: {}", name,
                access_name, joined(words(kind->accesses), ", "), format_name,
                those_with(format, access_name));
  return *kind;
}

}  // namespace

void check_driver(const std::string& name, OpenMode mode, Format format, Access access) {
  checked(name, mode, format, access);
}

std::unique_ptr<Driver> make_driver(const std::string& name, const Comm& comm, const std::string& path,
                                    OpenMode mode, Format format, const DriverOptions& options) {
  const RegisteredDriver& kind = checked(name, mode, format, options.library.access);
  if (options.background.stored_by == StoredBy::ranks) {
    // Reading needs nobody who stores, and other drivers have nothing for them.
    if (name == "native" && mode != OpenMode::read)
      return make_served_driver(comm, path, mode, format, options);
    DriverOptions within_calls = options;
    within_calls.background.stored_by = StoredBy::calls;
    return make_driver(name, comm, path, mode, format, within_calls);
  }
  const bool fresh = mode == OpenMode::create || mode == OpenMode::create_exclusive;
  if (fresh && options.layout.kind != LayoutOptions::Kind::one && !traits_of(format).has_sets)
    throw Error(Code::setting,
                "format {} has one store for all ranks, which write its shards together; set "
                "layout=one, or "
                "choose a format of files (netcdf4, cdf5)",
                name_of(format));
  if (fresh && options.layout.kind != LayoutOptions::Kind::one)
    return make_domains_driver(name, comm, path, mode, format, options);
  const bool calls_mpi_io = *kind.accesses != '\0';
  return make_claimed_driver(kind.make, calls_mpi_io, comm, path, mode, format, options);
}

}  // namespace shoal
