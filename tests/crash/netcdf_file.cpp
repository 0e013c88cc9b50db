// SPDX-License-Identifier: BSD-3-Clause
// A scenario by the calls of netCDF or, with CRASH_PNETCDF, of PnetCDF: what a program does that knows
// nothing of Shoal. A door takes its calls to Shoal.
#include <mpi.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#ifdef CRASH_PNETCDF
#include <pnetcdf.h>
#define CALL(name) ncmpi_##name
using Size = MPI_Offset;
#else
#include <netcdf.h>
#include <netcdf_par.h>
#define CALL(name) nc_##name
using Size = std::size_t;
#endif

#include "workload.hpp"

namespace crash {
namespace {

std::string failure(int code) {
  return code == NC_NOERR ? "" : std::to_string(code) + ": " + CALL(strerror)(code);
}

class LibraryFile : public File {
 public:
  LibraryFile(MPI_Comm comm, const Options& options, const Plan& plan)
      : comm_(comm), options_(options), plan_(plan), cells_(cells(comm, options, false)) {
    if (plan.map || !plan.settings.empty())
      throw std::runtime_error("the scenario " + options.scenario + " is one of Shoal's own calls");
  }

  bool is_open() const override { return id_ >= 0; }
  std::string create() override {
    static const std::map<std::string, int> k_modes = {{"cdf1", 0},
                                                       {"cdf2", NC_64BIT_OFFSET},
                                                       {"cdf5", NC_64BIT_DATA},
                                                       {"netcdf4", NC_NETCDF4},
                                                       {"netcdf4-classic", NC_NETCDF4 | NC_CLASSIC_MODEL}};
    const int mode = k_modes.at(options_.format) | NC_CLOBBER;
#ifdef CRASH_PNETCDF
    int code = ncmpi_create(comm_, options_.path.c_str(), mode, MPI_INFO_NULL, &id_);
#else
    int code = nc_create_par(options_.path.c_str(), mode, comm_, MPI_INFO_NULL, &id_);
#endif
    if (code != NC_NOERR) id_ = -1;
    if (code == NC_NOERR) code = fill();
    for (const auto& [name, length] : plan_.dims) {
      int dim = -1;
      const Size size = length == SHOAL_UNLIMITED ? NC_UNLIMITED : static_cast<Size>(length);
      if (code == NC_NOERR) code = CALL(def_dim)(id_, name.c_str(), size, &dim);
    }
    return failure(code);
  }
  std::string open() override {
#ifdef CRASH_PNETCDF
    const int code = ncmpi_open(comm_, options_.path.c_str(), NC_WRITE, MPI_INFO_NULL, &id_);
#else
    const int code = nc_open_par(options_.path.c_str(), NC_WRITE, comm_, MPI_INFO_NULL, &id_);
#endif
    if (code != NC_NOERR) id_ = -1;
    return failure(code);
  }
  std::string define(const Variable& v, bool again) override {
    static const std::map<int, nc_type> k_types = {
        {SHOAL_FLOAT, NC_FLOAT}, {SHOAL_DOUBLE, NC_DOUBLE}, {SHOAL_INT, NC_INT}};
    int number = -1, code = redefine();
    const auto dims = dims_of(v);
    if (code == NC_NOERR)
      code = CALL(def_var)(id_, v.name.c_str(), k_types.at(v.type), static_cast<int>(dims.size()),
                           dims.data(), &number);
    if (code == NC_ENAMEINUSE && again) return "";
#ifndef CRASH_PNETCDF
    if (code == NC_NOERR && !v.filters.empty()) code = nc_def_var_deflate(id_, number, 1, 1, 1);
    const std::vector<std::size_t> chunks(v.chunks.begin(), v.chunks.end());
    if (code == NC_NOERR && !chunks.empty())
      code = nc_def_var_chunking(id_, number, NC_CHUNKED, chunks.data());
#endif
    return failure(code);
  }
  std::string put(const Attribute& a, const std::string& text) override {
    int owner = NC_GLOBAL, code = redefine();
    if (code == NC_NOERR && !a.variable.empty()) code = CALL(inq_varid)(id_, a.variable.c_str(), &owner);
    if (code == NC_NOERR)
      code = CALL(put_att_text)(id_, owner, a.name.c_str(), static_cast<Size>(text.size()), text.data());
    return failure(code);
  }
  std::string rename(const Rename& rename, bool /*again*/) override {
    return "no scenario of this library renames " + rename.from;
  }
  std::string end_define() override {
    return refused_ = failure(CALL(enddef)(id_));
  }
  std::string write(const Variable& v, std::int64_t record, void* values,
                    const std::vector<std::int64_t>& extents) override {
    int number = -1, code = CALL(inq_varid)(id_, v.name.c_str(), &number);
    std::vector<Size> start(extents.size(), 0), count(extents.begin(), extents.end());
    if (v.field) start[extents.size() - 2] = static_cast<Size>(cells_.empty() ? 0 : cells_[0] / options_.nx);
    if (v.record) {
      start.insert(start.begin(), static_cast<Size>(record));
      count.insert(count.begin(), 1);
    }
#ifdef CRASH_PNETCDF
    if (code == NC_NOERR)
      code = ncmpi_put_vara_all(id_, number, start.data(), count.data(), values, -1, MPI_DATATYPE_NULL);
#else
    if (code == NC_NOERR) code = nc_var_par_access(id_, number, NC_COLLECTIVE);
    if (code == NC_NOERR) code = nc_put_vara(id_, number, start.data(), count.data(), values);
#endif
    return failure(code);
  }
  // A program that was refused its definitions does not go on: the commit is made again.
  std::string sync(bool /*durable*/) override {
    return refused_.empty() ? failure(CALL(sync)(id_)) : std::exchange(refused_, "");
  }
  std::string close(bool /*durable*/) override {
    const int code = CALL(close)(id_);
    id_ = -1;
    return refused_.empty() ? failure(code) : std::exchange(refused_, "");
  }

 private:
  int redefine() const {
    const int code = CALL(redef)(id_);
    return code == NC_NOERR ? fill() : code == NC_EINDEFINE ? NC_NOERR : code;
  }
  // Without fill values, as PnetCDF has it unless asked, new cells may hold anything before they are written.
  int fill() const {
#ifdef CRASH_PNETCDF
    return ncmpi_set_fill(id_, NC_FILL, nullptr);
#else
    return NC_NOERR;
#endif
  }
  std::vector<int> dims_of(const Variable& v) const {
    std::vector<int> dims;
    std::size_t begin = 0;
    for (std::size_t end = 0; begin < v.dims.size(); begin = end + 1) {
      end = std::min(v.dims.find(' ', begin), v.dims.size());
      int dim = -1;
      CALL(inq_dimid)(id_, v.dims.substr(begin, end - begin).c_str(), &dim);
      dims.push_back(dim);
    }
    return dims;
  }

  MPI_Comm comm_;
  const Options& options_;
  const Plan& plan_;
  std::vector<std::int64_t> cells_;
  int id_ = -1;
  std::string refused_;
};

}  // namespace

std::unique_ptr<File> make_file(MPI_Comm comm, const Options& options, const Plan& plan) {
  return std::make_unique<LibraryFile>(comm, options, plan);
}

MPI_Comm computing_ranks(const Plan& plan) {
  if (plan.servers) throw std::runtime_error("ranks serve by Shoal's own calls");
  return MPI_COMM_WORLD;
}

}  // namespace crash
