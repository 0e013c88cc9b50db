// SPDX-License-Identifier: BSD-3-Clause
// PnetCDF as a good model uses it: everything defined once, the packed interior of each field by a collective
// call (or by each rank for itself, or queued until a record is whole, or 128 MiB a rank), the variables that
// one rank puts gathered by the library into one call.
#include "method.hpp"

#ifdef SHOAL_HAVE_PNETCDF

#include <pnetcdf.h>

#include <stdexcept>

#include "methods/packed_method.hpp"
#include "sections.hpp"

namespace shoal::bench {

namespace {

void check_pnetcdf(int status, const std::string& what, const Run& run) {
  if (status != NC_NOERR)
    throw std::runtime_error("PnetCDF: " + what + " in " + run.path + ": " + ncmpi_strerror(status));
}

int create_mode(const std::string& format) {
  if (format == "cdf5") return NC_64BIT_DATA;
  return format == "cdf2" ? NC_64BIT_OFFSET : 0;
}

// Scattered columns: a start and a count for each run on each level.
class RunList {
 public:
  RunList(const LocalField& array, std::int64_t record) {
    const auto& field = array.field();
    const auto leading = field.shape.size() - static_cast<std::size_t>(field.cut);
    std::vector<MPI_Offset> level(leading, 0);
    for (std::int64_t k = 0; k < field.levels(); ++k) {
      for_runs(array.tile(), [&](std::int64_t first, std::int64_t columns) {
        if (field.record) starts_.push_back(record);
        starts_.insert(starts_.end(), level.begin(), level.end());
        starts_.push_back(first);
        counts_.insert(counts_.end(), leading + (field.record ? 1 : 0), 1);
        counts_.push_back(columns);
      });
      for (auto d = leading; d-- > 0 && ++level[d] == field.shape[d];)
        level[d] = 0;
    }
    const auto dims = leading + (field.record ? 2 : 1);
    for (std::size_t i = 0; i < starts_.size(); i += dims) {
      starts_to_.push_back(starts_.data() + i);
      counts_to_.push_back(counts_.data() + i);
    }
  }
  RunList(const RunList&) = delete;
  RunList& operator=(const RunList&) = delete;

  int runs() const { return static_cast<int>(starts_to_.size()); }
  MPI_Offset* const* starts() const { return starts_to_.data(); }
  MPI_Offset* const* counts() const { return counts_to_.data(); }

 private:
  std::vector<MPI_Offset> starts_, counts_;  // of all starts, and all counts
  std::vector<MPI_Offset*> starts_to_, counts_to_;
};

enum class Access { collective, independent, nonblocking };

class Pnetcdf : public PackedMethod {
 public:
  explicit Pnetcdf(Access access) : access_(access) {}

  // Room for one field, or for as many as are queued together.
  void prepare(Run& run) override {
    std::int64_t most = 0;
    for (const bool records : {false, true}) {
      std::int64_t together = 0, queued = 0;
      for (const auto& array : run.arrays) {
        if (array.field().record != records) continue;
        if (access_ != Access::nonblocking || is_full(run, queued, array.field())) together = queued = 0;
        together += array.owned_bytes();
        queued += bytes_of(array.field());
        most = std::max(most, together);
      }
    }
    packed().assign(static_cast<std::size_t>(most), std::byte{0});
    // Lists are the same for all fields of as many levels, and a model makes them once.
    lists_.clear();
    for (const auto& array : run.arrays)
      if (array.tile().list && !array.field().record && lists_.count(array.field().shape) == 0)
        lists_.emplace(array.field().shape, std::make_unique<RunList>(array, 0));
  }

  void put(Run& run, std::int64_t record) override {
    run.phases.time(Phase::store, [&] { put_replicated(run, record); });
    put_distributed(run, record);
  }

  // Reading has no use for a queue: a model needs the values at once.
  void get(Run& run, std::int64_t record) override {
    if (access_ == Access::independent) begin(run);
    PackedMethod::get(run, record);
    if (access_ == Access::independent) end(run);
  }

 protected:
  void create_file(Run& run) override {
    const Info info(run.hints);
    check_pnetcdf(
        ncmpi_create(run.comm, run.path.c_str(), NC_CLOBBER | create_mode(run.format), info.get(), &file_),
        "creation", run);
  }
  void open_file(Run& run) override {
    const Info info(run.hints);
    check_pnetcdf(ncmpi_open(run.comm, run.path.c_str(), NC_NOWRITE, info.get(), &file_), "opening", run);
  }
  void sync_file(Run& run) override {
    check_pnetcdf(run.flush ? ncmpi_sync(file_) : ncmpi_sync_numrecs(file_), "sync", run);
  }
  void close_file(Run& run) override { check_pnetcdf(ncmpi_close(file_), "closing", run); }
  void close_written(Run& run) override {
    if (run.flush) run.phases.time(Phase::store, [&] { check_pnetcdf(ncmpi_sync(file_), "sync", run); });
    close_file(run);
  }

  int find(Run& run, const Field& field) override {
    int id = -1;
    check_pnetcdf(ncmpi_inq_varid(file_, field.name.c_str(), &id), "variable " + field.name, run);
    return id;
  }

  std::vector<int> define(Run& run) override {
    const auto ids = define_all(
        run.content,
        [&](const Dimension& d) {
          int id = -1;
          check_pnetcdf(ncmpi_def_dim(file_, d.name.c_str(), d.length == 0 ? NC_UNLIMITED : d.length, &id),
                        "dimension " + d.name, run);
          return id;
        },
        [&](const Field& field, const std::vector<int>& dims) {
          int id = -1;
          check_pnetcdf(ncmpi_def_var(file_, field.name.c_str(), static_cast<int>(field.type),
                                      static_cast<int>(dims.size()), dims.data(), &id),
                        "variable " + field.name, run);
          return id;
        },
        [&](int id, const std::string& what, const std::string& key, const std::string& value) {
          check_pnetcdf(ncmpi_put_att_text(file_, id, key.c_str(), static_cast<MPI_Offset>(value.size()),
                                           value.c_str()),
                        what, run);
        });
    check_pnetcdf(ncmpi_enddef(file_), "end of definitions", run);
    return ids;
  }

  void put_part(Run& run, std::size_t i, LocalField& array, std::int64_t record) override {
    put_values(run, id(i), array, record, packed().data());
  }

  void get_part(Run& run, std::size_t i, LocalField& array, std::int64_t record) override {
    const auto type = mpi_type(array.field().type);
    const bool alone = access_ == Access::independent;
    int status = NC_NOERR;
    if (array.tile().list) {
      const auto get_values = alone ? ncmpi_get_varn : ncmpi_get_varn_all;
      status = with_list(array, record, [&](const RunList& list) {
        return get_values(file_, id(i), list.runs(), list.starts(), list.counts(), packed().data(),
                          array.owned(), type);
      });
    } else {
      const auto s = section_of_tile<MPI_Offset>(array.field(), array.tile(), record);
      const auto get_values = alone ? ncmpi_get_vara : ncmpi_get_vara_all;
      status = get_values(file_, id(i), s.start.data(), s.count.data(), packed().data(), array.owned(), type);
    }
    check_pnetcdf(status, "reading of " + array.field().name, run);
  }

 private:
  // Rank 0 posts all, one collective call moves them.
  void put_replicated(Run& run, std::int64_t record) {
    std::vector<std::vector<std::byte>> values;
    values.reserve(run.content.fields.size());
    for (std::size_t i = 0; i < run.content.fields.size() && run.rank == 0; ++i) {
      const auto& field = run.content.fields[i];
      if (field.distributed || field.record != (record >= 0)) continue;
      values.push_back(replicated_values(field, std::max<std::int64_t>(record, 0)));
      const auto s = section_of_all<MPI_Offset>(field, record);
      check_pnetcdf(ncmpi_iput_vara(file_, id(i), s.start.data(), s.count.data(), values.back().data(),
                                    field.elements(), mpi_type(field.type), nullptr),
                    "writing of " + field.name, run);
    }
    check_pnetcdf(ncmpi_wait_all(file_, NC_REQ_ALL, nullptr, nullptr), "writing of replicated variables",
                  run);
  }

  void put_distributed(Run& run, std::int64_t record) {
    std::byte* room = packed().data();
    std::int64_t queued = 0;
    begin(run);
    for_fields(run, record, [&](std::size_t i, const Field& field, LocalField* array) {
      if (array == nullptr) return;
      const auto put = [&] {
        run.phases.time(Phase::pack, [&] { array->pack(run.in_memory(record), room); });
        put_values(run, id(i), *array, record, room);
      };
      // What is queued moves in one call for many fields: its time is not that of a field.
      if (access_ != Access::nonblocking) return run.phases.time_field(field, put);
      if (is_full(run, queued, field)) {
        run.phases.time(Phase::store, [&] { end(run); });
        room = packed().data();
        queued = 0;
      }
      put();
      room += array->owned_bytes();
      queued += bytes_of(field);
    });
    run.phases.time(Phase::store, [&] { end(run); });
  }

  static std::int64_t bytes_of(const Field& field) { return field.elements() * size_of(field.type); }
  // The same on all ranks, whose parts differ: of all ranks' bytes.
  static bool is_full(const Run& run, std::int64_t queued, const Field& next) {
    return queued > 0 && queued + bytes_of(next) > k_queued * run.ranks;
  }

  // The lists of fields with records are made anew for each, as the record is a part of them.
  template <class F>
  int with_list(const LocalField& array, std::int64_t record, F&& f) const {
    if (!array.field().record) return f(*lists_.at(array.field().shape));
    return f(RunList(array, record));
  }

  int put_scattered(int id, const LocalField& array, std::int64_t record, const std::byte* room) const {
    const auto type = mpi_type(array.field().type);
    return with_list(array, record, [&](const RunList& list) {
      if (access_ == Access::nonblocking)
        return ncmpi_iput_varn(file_, id, list.runs(), list.starts(), list.counts(), room, array.owned(),
                               type, nullptr);
      const auto put = access_ == Access::independent ? ncmpi_put_varn : ncmpi_put_varn_all;
      return put(file_, id, list.runs(), list.starts(), list.counts(), room, array.owned(), type);
    });
  }

  int put_box(int id, const LocalField& array, std::int64_t record, const std::byte* room) const {
    const auto type = mpi_type(array.field().type);
    const auto s = section_of_tile<MPI_Offset>(array.field(), array.tile(), record);
    if (access_ == Access::nonblocking)
      return ncmpi_iput_vara(file_, id, s.start.data(), s.count.data(), room, array.owned(), type, nullptr);
    const auto put = access_ == Access::independent ? ncmpi_put_vara : ncmpi_put_vara_all;
    return put(file_, id, s.start.data(), s.count.data(), room, array.owned(), type);
  }

  void put_values(Run& run, int id, const LocalField& array, std::int64_t record, const std::byte* room) {
    run.phases.time(Phase::store, [&] {
      check_pnetcdf(
          array.tile().list ? put_scattered(id, array, record, room) : put_box(id, array, record, room),
          "writing of " + array.field().name, run);
    });
  }

  void begin(const Run& run) const {
    if (access_ == Access::independent)
      check_pnetcdf(ncmpi_begin_indep_data(file_), "independent calls", run);
  }
  void end(const Run& run) const {
    if (access_ == Access::independent) check_pnetcdf(ncmpi_end_indep_data(file_), "collective calls", run);
    if (access_ == Access::nonblocking)
      check_pnetcdf(ncmpi_wait_all(file_, NC_REQ_ALL, nullptr, nullptr), "queued calls", run);
  }

  Access access_;
  int file_ = -1;
  std::map<std::vector<std::int64_t>, std::unique_ptr<RunList>> lists_;  // by shape
};

}  // namespace

std::unique_ptr<Method> make_bare_pnetcdf(const MethodEntry& entry) {
  return std::make_unique<Pnetcdf>(entry.access == "nonblocking"   ? Access::nonblocking
                                   : entry.access == "independent" ? Access::independent
                                                                   : Access::collective);
}

}  // namespace shoal::bench

#endif
