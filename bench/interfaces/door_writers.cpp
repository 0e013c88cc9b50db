// SPDX-License-Identifier: BSD-3-Clause
// Fields by the calls of netCDF-C and PnetCDF, which end in Shoal's doors: the program is linked with them
// before the libraries.
#include <algorithm>
#include <stdexcept>

#include "writers.hpp"

#ifdef SHOAL_BENCH_DOOR_NETCDF
#include <netcdf.h>
#include <netcdf_par.h>
#endif
#ifdef SHOAL_BENCH_DOOR_PNETCDF
#include <pnetcdf.h>
#endif

namespace shoal::bench::interfaces {

namespace {

constexpr std::int64_t k_unlimited = 0;  // NC_UNLIMITED of both libraries

// Calls: what the two libraries name in their own way. Boxes alone.
template <class Calls>
class DoorWriter : public Writer {
 public:
  explicit DoorWriter(MPI_Comm comm) : comm_(comm) {}
  bool takes(const Case& c) const override {
    return std::all_of(c.cuts.begin(), c.cuts.end(), [](const Cut& cut) { return cut.is_box(); });
  }
  void prepare(const Case&) override {}

  void write(const std::string& path, const Case& c) override {
    const int file = Calls::create(comm_, path);
    const int time = Calls::def_dim(file, "time", k_unlimited);
    std::vector<std::vector<int>> dims;
    for (std::size_t i = 0; i < c.cuts.size(); ++i) {
      dims.push_back({time});
      const auto lengths = c.cuts[i].lengths();
      for (std::size_t d = 0; d < lengths.size(); ++d)
        dims.back().push_back(
            Calls::def_dim(file, "d" + std::to_string(i) + "_" + std::to_string(d), lengths[d]));
    }
    std::vector<int> ids;
    for (std::size_t f = 0; f < c.fields.size(); ++f)
      ids.push_back(
          Calls::def_var(file, "v" + std::to_string(f), dims[static_cast<std::size_t>(c.fields[f])]));
    Calls::end_define(file, ids);
    for (int record = 0; record < c.records; ++record)
      for (std::size_t f = 0; f < c.fields.size(); ++f)
        put(file, ids[f], c.cuts[static_cast<std::size_t>(c.fields[f])], record);
    Calls::close(file);
  }

 private:
  using Index = typename Calls::Index;

  void put(int file, int id, const Cut& cut, int record) {
    start_.assign(1, static_cast<Index>(record));
    count_.assign(1, 1);
    const auto add = [&](std::int64_t first, std::int64_t cells) {
      start_.push_back(static_cast<Index>(first));
      count_.push_back(static_cast<Index>(cells));
    };
    if (cut.levels > 0) add(0, cut.levels);
    for (std::size_t d = 0; d < cut.shape.size(); ++d)
      add(cut.first[d], cut.count[d]);
    Calls::put(file, id, start_.data(), count_.data(), cut.values.data());
  }

  MPI_Comm comm_;
  std::vector<Index> start_, count_;
};

#ifdef SHOAL_BENCH_DOOR_NETCDF
struct Netcdf {
  using Index = std::size_t;
  static void check(int code, const char* what) {
    if (code != NC_NOERR)
      throw std::runtime_error(std::string("netCDF-C: ") + what + ": " + nc_strerror(code));
  }
  static int create(MPI_Comm comm, const std::string& path) {
    int file = -1, before = 0;
    check(nc_create_par(path.c_str(), NC_CLOBBER | NC_64BIT_DATA, comm, MPI_INFO_NULL, &file), "creation");
    check(nc_set_fill(file, NC_NOFILL, &before), "no fill");
    return file;
  }
  static int def_dim(int file, const std::string& name, std::int64_t length) {
    int id = -1;
    check(nc_def_dim(file, name.c_str(), static_cast<std::size_t>(length), &id), "a dimension");
    return id;
  }
  static int def_var(int file, const std::string& name, const std::vector<int>& dims) {
    int id = -1;
    check(nc_def_var(file, name.c_str(), NC_FLOAT, static_cast<int>(dims.size()), dims.data(), &id),
          "a variable");
    return id;
  }
  static void end_define(int file, const std::vector<int>& ids) {
    check(nc_enddef(file), "end of definitions");
    for (const int id : ids)
      check(nc_var_par_access(file, id, NC_COLLECTIVE), "collective access");
  }
  static void put(int file, int id, const Index* start, const Index* count, const float* values) {
    check(nc_put_vara_float(file, id, start, count, values), "writing");
  }
  static void close(int file) { check(nc_close(file), "closing"); }
};
#endif

#ifdef SHOAL_BENCH_DOOR_PNETCDF
struct Pnetcdf {
  using Index = MPI_Offset;
  static void check(int code, const char* what) {
    if (code != NC_NOERR)
      throw std::runtime_error(std::string("PnetCDF: ") + what + ": " + ncmpi_strerror(code));
  }
  static int create(MPI_Comm comm, const std::string& path) {
    int file = -1;
    check(ncmpi_create(comm, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), "creation");
    return file;
  }
  static int def_dim(int file, const std::string& name, std::int64_t length) {
    int id = -1;
    check(ncmpi_def_dim(file, name.c_str(), length, &id), "a dimension");
    return id;
  }
  static int def_var(int file, const std::string& name, const std::vector<int>& dims) {
    int id = -1;
    check(ncmpi_def_var(file, name.c_str(), NC_FLOAT, static_cast<int>(dims.size()), dims.data(), &id),
          "a variable");
    return id;
  }
  static void end_define(int file, const std::vector<int>&) {
    check(ncmpi_enddef(file), "end of definitions");
  }
  static void put(int file, int id, const Index* start, const Index* count, const float* values) {
    check(ncmpi_put_vara_float_all(file, id, start, count, values), "writing");
  }
  static void close(int file) { check(ncmpi_close(file), "closing"); }
};
#endif

}  // namespace

std::unique_ptr<Writer> make_netcdf_writer([[maybe_unused]] MPI_Comm comm) {
#ifdef SHOAL_BENCH_DOOR_NETCDF
  return std::make_unique<DoorWriter<Netcdf>>(comm);
#else
  return nullptr;
#endif
}

std::unique_ptr<Writer> make_pnetcdf_writer([[maybe_unused]] MPI_Comm comm) {
#ifdef SHOAL_BENCH_DOOR_PNETCDF
  return std::make_unique<DoorWriter<Pnetcdf>>(comm);
#else
  return nullptr;
#endif
}

}  // namespace shoal::bench::interfaces
