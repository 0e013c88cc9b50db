// SPDX-License-Identifier: BSD-3-Clause
// Parallel netCDF-4 (netCDF-C over parallel HDF5): every rank defines, every variable in collective access.
#include "method.hpp"

#ifdef SHOAL_HAVE_NETCDF

#include <fcntl.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "netcdf_file.hpp"

namespace shoal::bench {

namespace {

class NetcdfCollective : public Method {
 public:
  void prepare(Run& run) override {
    std::int64_t most = 0;
    for (const auto& array : run.arrays)
      most = std::max(most, array.owned_bytes());
    packed_.assign(static_cast<std::size_t>(most), std::byte{0});
  }

  void write(Run& run) override {
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
    if (!run.content.define_only) {
      run.phases.time(Phase::write, [&] {
        for (std::int64_t r = -1; r < run.records; ++r)
          put_fields(run, r);
      });
    }
    run.stage_bytes = static_cast<std::int64_t>(packed_.size());
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      check_netcdf(nc_close(file_), "closing", run.path);
      if (run.flush && run.rank == 0) flush(run.path);
    });
  }

  void read(Run& run) override {
    const Info info(run.hints);
    run.phases.time(Phase::open, [&] {
      check_netcdf(nc_open_par(run.path.c_str(), NC_NOWRITE, run.comm, info.get(), &file_), "opening",
                   run.path);
    });
    run.phases.time(Phase::read_meta, [&] {
      ids_ = find_netcdf_variables(file_, run.content, run.path);
      make_collective(run);
    });
    for (std::int64_t r = -1; r < run.records; ++r) {
      run.phases.time(Phase::read, [&] { get_fields(run, r); });
      run.after_read(r);
    }
    run.at_peak();
    run.phases.time(Phase::close, [&] { check_netcdf(nc_close(file_), "closing", run.path); });
  }

 private:
  void make_collective(Run& run) {
    for (const int id : ids_)
      check_netcdf(nc_var_par_access(file_, id, NC_COLLECTIVE), "collective access", run.path);
  }

  void put_fields(Run& run, std::int64_t record) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < run.content.fields.size(); ++i) {
      const auto& field = run.content.fields[i];
      const std::size_t array = field.distributed ? at++ : 0;
      if (field.record != (record >= 0)) continue;
      const auto r = std::max<std::int64_t>(record, 0);
      if (field.distributed) {
        run.arrays[array].pack(r, packed_.data());
        const auto s = netcdf_section(field, run.arrays[array].tile(), record);
        check_netcdf(nc_put_vara(file_, ids_[i], s.start.data(), s.count.data(), packed_.data()),
                     "writing of " + field.name, run.path);
      } else {
        // All ranks have the same values; collective access wants all of them in the call.
        const auto s = netcdf_whole(field, record);
        check_netcdf(
            nc_put_vara(file_, ids_[i], s.start.data(), s.count.data(), replicated_values(field, r).data()),
            "writing of " + field.name, run.path);
      }
    }
  }

  void get_fields(Run& run, std::int64_t record) {
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

  static void flush(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0)
      throw std::runtime_error("netcdf-collective: " + path + " could not be flushed");
    ::close(fd);
  }

  int file_ = -1;
  std::vector<int> ids_;
  std::vector<std::byte> packed_;
};

}  // namespace

std::unique_ptr<Method> make_netcdf_collective() {
  return std::make_unique<NetcdfCollective>();
}

}  // namespace shoal::bench

#endif
