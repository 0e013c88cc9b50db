// SPDX-License-Identifier: BSD-3-Clause
// netCDF-C alone. Parallel netCDF-4 (over parallel HDF5): every rank defines, every variable in collective
// access. And what most models do: fields gathered on rank 0, which writes them through serial netCDF-C.
#include "method.hpp"

#ifdef SHOAL_HAVE_NETCDF

#include <netcdf.h>
#include <netcdf_par.h>

#include <algorithm>

#include "files.hpp"
#include "methods/gathered.hpp"
#include "methods/packed_method.hpp"
#include "netcdf_file.hpp"
#include "node.hpp"

namespace shoal::bench {

namespace {

// NCZarr of netCDF-C 4.9.0 has no unlimited dimension: it gets the length that it will have.
Content with_records(Content content, std::int64_t records) {
  for (auto& dimension : content.dimensions)
    if (dimension.length == 0) dimension.length = std::max<std::int64_t>(records, 1);
  return content;
}

// What both have in common.
class ByNetcdf : public PackedMethod {
 protected:
  std::vector<int> define(Run& run) override {
    const auto compression = run.settings.find("compression");
    return define_netcdf(file_, run.format == "nczarr" ? with_records(run.content, run.records) : run.content,
                         run.path, compression == run.settings.end() ? "" : compression->second);
  }
  int find(Run& run, const Field& field) override { return find_netcdf_variable(file_, field, run.path); }
  void sync_file(Run& run) override {
    check_netcdf(nc_sync(file_), "sync", run.path);
    flush_written(run);
  }
  void close_file(Run& run) override { check_netcdf(nc_close(file_), "closing", run.path); }
  void close_written(Run& run) override {
    run.phases.time(Phase::store, [&] {
      ByNetcdf::close_file(run);
      flush_written(run);
    });
  }

  void put_whole(Run& run, std::size_t i, std::int64_t record) override {
    const auto& field = run.content.fields[i];
    put_values(run, i, section_of_all<std::size_t>(field, record),
               replicated_values(field, std::max<std::int64_t>(record, 0)).data());
  }

  void put_values(Run& run, std::size_t i, const Section<std::size_t>& s, const std::byte* values) const {
    run.phases.time(Phase::store, [&] {
      check_netcdf(nc_put_vara(file_, id(i), s.start.data(), s.count.data(), values),
                   "writing of " + run.content.fields[i].name, run.path);
    });
  }

  void get_values(const Run& run, std::size_t i, const Section<std::size_t>& s, std::byte* values) const {
    check_netcdf(nc_get_vara(file_, id(i), s.start.data(), s.count.data(), values),
                 "reading of " + run.content.fields[i].name, run.path);
  }

  void put_gathered(Run& run, std::size_t i, std::int64_t record, const std::byte* values) {
    put_values(run, i, section_of_all<std::size_t>(run.content.fields[i], record), values);
  }
  void get_gathered(Run& run, std::size_t i, std::int64_t record, std::byte* values) {
    get_values(run, i, section_of_all<std::size_t>(run.content.fields[i], record), values);
  }
  void flush_written(const Run& run) const {
    if (!run.flush || !run.flushes) return;
    for (const auto& file : files_of(run.path))
      flush_file(file);
  }

  int file_ = -1;
};

class BareNetcdf : public ByNetcdf {
 protected:
  void create_file(Run& run) override {
    const Info info(run.hints);
    check_netcdf(nc_create_par(run.path.c_str(), NC_CLOBBER | netcdf_create_mode(run.format), run.comm,
                               info.get(), &file_),
                 "creation", run.path);
  }
  void open_file(Run& run) override {
    const Info info(run.hints);
    check_netcdf(nc_open_par(run.path.c_str(), NC_NOWRITE, run.comm, info.get(), &file_), "opening",
                 run.path);
  }
  std::vector<int> define(Run& run) override {
    auto ids = ByNetcdf::define(run);
    for (const int id : ids)
      make_collective(run, id);
    return ids;
  }
  int find(Run& run, const Field& field) override {
    const int id = ByNetcdf::find(run, field);
    make_collective(run, id);
    return id;
  }
  void put_part(Run& run, std::size_t i, LocalField& array, std::int64_t record) override {
    put_values(run, i, section_of_tile<std::size_t>(array.field(), array.tile(), record), packed().data());
  }
  void get_part(Run& run, std::size_t i, LocalField& array, std::int64_t record) override {
    get_values(run, i, section_of_tile<std::size_t>(array.field(), array.tile(), record), packed().data());
  }

 private:
  void make_collective(const Run& run, int id) const {
    check_netcdf(nc_var_par_access(file_, id, NC_COLLECTIVE), "collective access", run.path);
  }
};

class Gather : public Gathered<ByNetcdf> {
 protected:
  void create_file(Run& run) override {
    check_netcdf(nc_create(netcdf_name(run.path, run.format).c_str(),
                           NC_CLOBBER | netcdf_create_mode(run.format), &file_),
                 "creation", run.path);
  }
  void open_file(Run& run) override {
    check_netcdf(nc_open(netcdf_name(run.path, run.format).c_str(), NC_NOWRITE, &file_), "opening", run.path);
  }
};

}  // namespace

std::unique_ptr<Method> make_bare_netcdf(const MethodEntry&) {
  return std::make_unique<BareNetcdf>();
}

std::unique_ptr<Method> make_bare_gather(const MethodEntry&) {
  return std::make_unique<Gather>();
}

}  // namespace shoal::bench

#endif
