// SPDX-License-Identifier: BSD-3-Clause
// PnetCDF as models use it under such maps: a queued call a variable with the list of its runs, then one wait
// for all.
#include <pnetcdf.h>

#include <stdexcept>

#include "arrays.hpp"
#include "writers.hpp"

namespace shoal::bench::e3sm {

namespace {

void check(int status, const std::string& what) {
  if (status != NC_NOERR) throw std::runtime_error("PnetCDF: " + what + ": " + ncmpi_strerror(status));
}

// Pointers into the lists, which is what the library wants.
struct Requests {
  RunList list;
  std::vector<MPI_Offset*> starts, counts;

  Requests(const Map& map, bool record) : list(runs_of(map, record)) {
    const auto dims = map.shape.size() + (record ? 1 : 0);
    for (std::int64_t i = 0; i < list.runs; ++i) {
      starts.push_back(list.starts.data() + static_cast<std::size_t>(i) * dims);
      counts.push_back(list.counts.data() + static_cast<std::size_t>(i) * dims);
    }
  }
};

class PnetcdfWriter : public Writer {
 public:
  void prepare(const Job& job) override {
    for (const auto& map : job.maps) {
      fixed_.push_back(std::make_unique<Requests>(map, false));
      record_.push_back(std::make_unique<Requests>(map, true));
      runs_ += record_.back()->list.runs;
    }
  }

  std::int64_t runs() const override { return runs_; }

  void create(const Job& job) override {
    check(ncmpi_create(job.comm, job.path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file_),
          "creation of " + job.path);
    int time = -1;
    check(ncmpi_def_dim(file_, "time", NC_UNLIMITED, &time), "time");
    std::vector<std::vector<int>> dims;
    for (std::size_t m = 0; m < job.maps.size(); ++m) {
      dims.push_back({time});
      for (std::size_t d = 0; d < job.maps[m].shape.size(); ++d) {
        const auto name = "D" + std::to_string(m + 1) + "_" + std::to_string(d);
        dims.back().push_back(-1);
        check(ncmpi_def_dim(file_, name.c_str(), job.maps[m].shape[d], &dims.back().back()), name);
      }
    }
    ids_.clear();
    for (const auto& v : job.variables) {
      const auto& all = dims[static_cast<std::size_t>(v.map)];
      const int skipped = v.record ? 0 : 1;
      ids_.push_back(-1);
      check(ncmpi_def_var(file_, v.name.c_str(), static_cast<int>(v.type),
                          static_cast<int>(all.size()) - skipped, all.data() + skipped, &ids_.back()),
            v.name);
    }
    check(ncmpi_enddef(file_), "end of definitions");
  }

  void post(const Job& job) override {
    for (std::size_t i = 0; i < job.variables.size(); ++i) {
      auto& v = job.variables[i];
      const auto m = static_cast<std::size_t>(v.map);
      const auto& requests = *(v.record ? record_ : fixed_)[m];
      check(ncmpi_iput_varn(file_, ids_[i], static_cast<int>(requests.list.runs), requests.starts.data(),
                            requests.counts.data(), v.values.data(),
                            static_cast<MPI_Offset>(job.maps[m].cells.size()), mpi_type(v.type), nullptr),
            v.name);
    }
  }

  void flush() override { check(ncmpi_wait_all(file_, NC_REQ_ALL, nullptr, nullptr), "queued calls"); }
  void close() override { check(ncmpi_close(file_), "closing"); }

 private:
  std::vector<std::unique_ptr<Requests>> fixed_, record_;  // of each map
  std::vector<int> ids_;
  std::int64_t runs_ = 0;
  int file_ = -1;
};

}  // namespace

std::unique_ptr<Writer> make_pnetcdf_writer() {
  return std::make_unique<PnetcdfWriter>();
}

// Any NetCDF file, whoever wrote it, in parts of equal size.
std::int64_t Writer::wrong(const Job& job) {
  int rank = 0, ranks = 1, file = -1;
  MPI_Comm_rank(job.comm, &rank);
  MPI_Comm_size(job.comm, &ranks);
  check(ncmpi_open(MPI_COMM_SELF, job.path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file), "opening " + job.path);
  check(ncmpi_begin_indep_data(file), "independent calls");
  std::int64_t wrong = 0;
  for (const auto& v : job.variables) {
    const auto& shape = job.maps[static_cast<std::size_t>(v.map)].shape;
    const auto first = shape[0] * rank / ranks, end = shape[0] * (rank + 1) / ranks;
    const auto row = shape.size() == 2 ? shape[1] : 1;
    int id = -1;
    check(ncmpi_inq_varid(file, v.name.c_str(), &id), v.name);
    std::vector<MPI_Offset> start, count;
    if (v.record) start.push_back(0), count.push_back(1);
    start.push_back(first), count.push_back(end - first);
    if (shape.size() == 2) start.push_back(0), count.push_back(row);
    const auto cells = (end - first) * row;
    std::vector<std::byte> found(static_cast<std::size_t>(cells * size_of(v.type)), k_spoilt);
    check(ncmpi_get_vara(file, id, start.data(), count.data(), found.data(), cells, mpi_type(v.type)),
          v.name);
    wrong += wrong_values(v, first * row, found);
  }
  check(ncmpi_end_indep_data(file), "collective calls");
  check(ncmpi_close(file), "closing");
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, job.comm);
  return wrong;
}

}  // namespace shoal::bench::e3sm
