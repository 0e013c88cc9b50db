// SPDX-License-Identifier: BSD-3-Clause
// Parallel netCDF-4 (netCDF-C over parallel HDF5): every rank defines, every variable in
// collective access.
#include "method.hpp"

#ifdef SHOAL_HAVE_NETCDF

#include <netcdf.h>
#include <netcdf_par.h>

#include <algorithm>
#include <stdexcept>

#include "netcdf_file.hpp"
#include "node.hpp"

namespace shoal::bench {

namespace {

class BareNetcdf : public Method {
 public:
  void prepare(Run& run) override {
    std::int64_t most = 0;
    for (const auto& array : run.arrays)
      most = std::max(most, array.owned_bytes());
    packed_.assign(static_cast<std::size_t>(most), std::byte{0});
  }

  void create(Run& run) override {
    const Info info(run.hints);
    run.phases.time(Phase::open, [&] {
      check_netcdf(nc_create_par(run.path.c_str(), NC_CLOBBER | netcdf_create_mode(run.format), run.comm,
                                 info.get(), &file_),
                   "creation", run.path);
    });
    run.phases.time(Phase::write_meta, [&] {
      ids_ = define_netcdf(file_, run.content, run.path);
      make_collective(run);
    });
  }

  void put(Run& run, std::int64_t record) override {
    std::size_t at = 0;
    for (std::size_t i = 0; i < run.content.fields.size(); ++i) {
      const auto& field = run.content.fields[i];
      const std::size_t array = field.distributed ? at++ : 0;
      if (field.record != (record >= 0)) continue;
      if (field.distributed) {
        run.phases.time_field(field, [&] {
          const auto& local = run.arrays[array];
          run.phases.time(Phase::pack, [&] { local.pack(run.in_memory(record), packed_.data()); });
          put_values(run, i, netcdf_section(field, local.tile(), record), packed_.data());
        });
      } else {
        // All ranks have the same values; collective access wants all of them in the call.
        put_values(run, i, netcdf_whole(field, record),
                   replicated_values(field, std::max<std::int64_t>(record, 0)).data());
      }
    }
  }

  void sync(Run& run) override {
    run.phases.time(Phase::store, [&] {
      check_netcdf(nc_sync(file_), "sync", run.path);
      if (run.flush && run.flushes) flush_file(run.path);
    });
  }

  void finish(Run& run) override {
    run.stage_bytes += static_cast<std::int64_t>(packed_.size());
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      run.phases.time(Phase::store, [&] {
        check_netcdf(nc_close(file_), "closing", run.path);
        if (run.flush && run.flushes) flush_file(run.path);
      });
    });
  }

  void open(Run& run) override {
    const Info info(run.hints);
    run.phases.time(Phase::open, [&] {
      check_netcdf(nc_open_par(run.path.c_str(), NC_NOWRITE, run.comm, info.get(), &file_), "opening",
                   run.path);
    });
    run.phases.time(Phase::read_meta, [&] {
      ids_ = find_netcdf_variables(file_, run.content, run.path);
      make_collective(run);
    });
  }

  void get(Run& run, std::int64_t record) override {
    std::size_t at = 0;
    for (std::size_t i = 0; i < run.content.fields.size(); ++i) {
      const auto& field = run.content.fields[i];
      if (!field.distributed) continue;
      auto& array = run.arrays[at++];
      if (field.record != (record >= 0)) continue;
      const auto s = netcdf_section(field, array.tile(), record);
      check_netcdf(nc_get_vara(file_, ids_[i], s.start.data(), s.count.data(), packed_.data()),
                   "reading of " + field.name, run.path);
      array.unpack(0, packed_.data());
    }
  }

  void close(Run& run) override {
    run.at_peak();
    run.phases.time(Phase::close, [&] { check_netcdf(nc_close(file_), "closing", run.path); });
  }

 private:
  void make_collective(Run& run) {
    for (const int id : ids_)
      check_netcdf(nc_var_par_access(file_, id, NC_COLLECTIVE), "collective access", run.path);
  }

  void put_values(Run& run, std::size_t i, const NetcdfSection& s, const std::byte* values) {
    run.phases.time(Phase::store, [&] {
      check_netcdf(nc_put_vara(file_, ids_[i], s.start.data(), s.count.data(), values),
                   "writing of " + run.content.fields[i].name, run.path);
    });
  }

  int file_ = -1;
  std::vector<int> ids_;
  std::vector<std::byte> packed_;
};

}  // namespace

std::unique_ptr<Method> make_bare_netcdf(const MethodEntry&) {
  return std::make_unique<BareNetcdf>();
}

}  // namespace shoal::bench

#endif
