// SPDX-License-Identifier: BSD-3-Clause
// MPI-IO alone: one file of values, record after record, variable after variable. Either one derived datatype
// a field and collective calls, or each rank for itself with one call for each contiguous run.
#include <array>
#include <stdexcept>
#include <string>

#include "methods/packed_method.hpp"

namespace shoal::bench {

namespace {

void check_mpi(int status, const std::string& what, const Run& run) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  throw std::runtime_error("MPI-IO: " + what + " of " + run.path + ": " + text.data());
}

class MpiIo : public PackedMethod {
 public:
  explicit MpiIo(bool collective) : collective_(collective) {}

  void prepare(Run& run) override {
    PackedMethod::prepare(run);
    fixed_bytes_ = record_bytes_ = 0;
    begins_.clear();
    for (const auto& array : run.arrays) {
      const auto& field = array.field();
      auto& end = field.record ? record_bytes_ : fixed_bytes_;
      begins_.push_back(end);
      end += field.elements() * size_of(field.type);
    }
  }

  // There are no definitions.
  void create(Run& run) override {
    run.phases.time(Phase::open, [&] { create_file(run); });
  }
  void open(Run& run) override {
    run.phases.time(Phase::open, [&] { open_file(run); });
  }

  std::int64_t wrong_in_file(Run& run) override {
    std::int64_t wrong = 0;
    check_mpi(MPI_File_open(MPI_COMM_SELF, run.path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file_),
              "opening", run);
    for (std::int64_t r = -1; r < run.records; ++r)
      for_fields(run, r, [&](std::size_t, const Field&, LocalField* array) {
        if (array == nullptr) return;
        // What is not read must not look right for having been written from here.
        std::fill(packed().begin(), packed().end(), k_spoilt);
        move_runs(run, *array, place(run, *array, r), false);
        wrong += array->wrong_packed(packed().data(), std::max<std::int64_t>(r, 0));
      });
    check_mpi(MPI_File_close(&file_), "closing", run);
    return wrong;
  }

 protected:
  void create_file(Run& run) override { open_as(run, MPI_MODE_CREATE | MPI_MODE_WRONLY); }
  void open_file(Run& run) override { open_as(run, MPI_MODE_RDONLY); }
  void put_part(Run& run, std::size_t, LocalField& array, std::int64_t record) override {
    run.phases.time(Phase::store, [&] { move(run, array, place(run, array, record), true); });
  }
  void get_part(Run& run, std::size_t, LocalField& array, std::int64_t record) override {
    move(run, array, place(run, array, record), false);
  }
  void close_file(Run& run) override { check_mpi(MPI_File_close(&file_), "closing", run); }
  void close_written(Run& run) override {
    if (run.flush) run.phases.time(Phase::store, [&] { check_mpi(MPI_File_sync(file_), "sync", run); });
    close_file(run);
  }

 private:
  void open_as(Run& run, int mode) {
    const Info info(run.hints);
    check_mpi(MPI_File_open(run.comm, run.path.c_str(), mode, info.get(), &file_), "opening", run);
  }

  // Where the field of a record begins.
  std::int64_t place(const Run& run, const LocalField& array, std::int64_t record) const {
    return begins_[static_cast<std::size_t>(&array - run.arrays.data())] +
           (record >= 0 ? fixed_bytes_ + record * record_bytes_ : 0);
  }

  void move(const Run& run, const LocalField& array, std::int64_t at, bool writing) {
    if (collective_)
      move_field(run, array, at, writing);
    else
      move_runs(run, array, at, writing);
  }

  void move_field(const Run& run, const LocalField& array, std::int64_t at, bool writing) {
    const auto& field = array.field();
    const auto& tile = array.tile();
    const auto element = mpi_type(field.type);
    if (tile.list) {
      MPI_Datatype view = type_of_columns(field, tile, element);
      move_view(run, array, at, view, writing);
      MPI_Type_free(&view);
      return;
    }
    const std::array<int, 3> global{static_cast<int>(field.levels()), static_cast<int>(field.rows()),
                                    static_cast<int>(field.columns())};
    const std::array<int, 3> count{global[0], static_cast<int>(tile.rows), static_cast<int>(tile.columns)};
    const std::array<int, 3> first{0, static_cast<int>(tile.first_row), static_cast<int>(tile.first_column)};
    MPI_Datatype view = element;
    if (!tile.empty()) {
      MPI_Type_create_subarray(3, global.data(), count.data(), first.data(), MPI_ORDER_C, element, &view);
      MPI_Type_commit(&view);
    }
    move_view(run, array, at, view, writing);
    if (!tile.empty()) MPI_Type_free(&view);
  }

  // Runs of columns on one level, and that level after level.
  static MPI_Datatype type_of_columns(const Field& field, const Tile& tile, MPI_Datatype element) {
    const auto size = size_of(field.type);
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for_runs(tile, [&](std::int64_t first, std::int64_t columns) {
      lengths.push_back(static_cast<int>(columns));
      places.push_back(first * size);
    });
    MPI_Datatype level = MPI_DATATYPE_NULL, all = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), element,
                             &level);
    MPI_Type_create_hvector(static_cast<int>(field.levels()), 1, field.columns() * size, level, &all);
    MPI_Type_commit(&all);
    MPI_Type_free(&level);
    return all;
  }

  void move_view(const Run& run, const LocalField& array, std::int64_t at, MPI_Datatype view, bool writing) {
    const auto element = mpi_type(array.field().type);
    // A rank without columns has a type of nothing, which is no view.
    const bool empty = array.tile().empty();
    check_mpi(MPI_File_set_view(file_, at, element, empty ? element : view, "native", MPI_INFO_NULL), "view",
              run);
    const auto cells = static_cast<int>(empty ? 0 : array.owned());
    if (writing)
      check_mpi(MPI_File_write_at_all(file_, 0, packed().data(), cells, element, MPI_STATUS_IGNORE),
                "writing", run);
    else
      check_read(MPI_File_read_at_all(file_, 0, packed().data(), cells, element, &status_), cells, element,
                 run);
  }

  void move_runs(const Run& run, const LocalField& array, std::int64_t at, bool writing) {
    const auto& field = array.field();
    const auto& tile = array.tile();
    if (tile.empty()) return;
    const auto element = mpi_type(field.type);
    const std::int64_t size = size_of(field.type);
    // Rows of tiles as wide as the field follow one another.
    const bool wide = !tile.list && tile.columns == field.columns();
    const std::int64_t cells = wide ? tile.rows * tile.columns : tile.columns;
    std::byte* cells_at = packed().data();
    const auto move_run = [&](std::int64_t cell, std::int64_t n) {
      const MPI_Offset place = at + cell * size;
      if (writing)
        check_mpi(MPI_File_write_at(file_, place, cells_at, static_cast<int>(n), element, MPI_STATUS_IGNORE),
                  "writing", run);
      else
        check_read(MPI_File_read_at(file_, place, cells_at, static_cast<int>(n), element, &status_), n,
                   element, run);
      cells_at += n * size;
    };
    for (std::int64_t level = 0; level < field.levels(); ++level)
      for (std::int64_t row = 0; row < (wide ? 1 : tile.rows); ++row) {
        const std::int64_t first = (level * field.rows() + tile.first_row + row) * field.columns();
        if (tile.list)
          for_runs(tile, [&](std::int64_t column, std::int64_t n) { move_run(first + column, n); });
        else
          move_run(first + tile.first_column, cells);
      }
  }

  // MPI-IO reads less at the end of a file, without an error.
  void check_read(int status, std::int64_t cells, MPI_Datatype element, const Run& run) const {
    check_mpi(status, "reading", run);
    int count = 0;
    MPI_Get_count(&status_, element, &count);
    if (count != cells)
      throw std::runtime_error("MPI-IO: reading of " + run.path + ": " + std::to_string(count) + " of " +
                               std::to_string(cells) + " elements came");
  }

  bool collective_;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Status status_{};
  std::int64_t fixed_bytes_ = 0, record_bytes_ = 0;
  std::vector<std::int64_t> begins_;  // of each array, in the fields without records or in a record
};

}  // namespace

std::unique_ptr<Method> make_bare_mpiio(const MethodEntry& entry) {
  return std::make_unique<MpiIo>(entry.access == "collective");
}

}  // namespace shoal::bench
