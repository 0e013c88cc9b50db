// SPDX-License-Identifier: BSD-3-Clause
// A model that calls PIO: an iosystem, a decomposition for each shape and type, fields by write_darray and
// read_darray, the variables that one rank puts by put_vara. Compiled as a plugin for each PIO there is: on
// Shoal (compat/pio), and with NCAR's or E3SM's. So it takes the names alone that all of them have.
#include <pio.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "methods/packed_method.hpp"
#include "node.hpp"
#include "sections.hpp"

namespace shoal::bench {

namespace {

// The words of a code: the two PIOs differ in whether they ask for the room.
[[maybe_unused]] std::string words(int (*strerror)(int, char*), int code) {
  std::string text(PIO_MAX_NAME + 1, '\0');
  strerror(code, text.data());
  return text.c_str();
}
[[maybe_unused]] std::string words(int (*strerror)(int, char*, std::size_t), int code) {
  std::string text(PIO_MAX_NAME + 1, '\0');
  strerror(code, text.data(), text.size());
  return text.c_str();
}

void check(int code, const std::string& what, const Run& run) {
  if (code != PIO_NOERR)
    throw std::runtime_error("PIO: " + what + " in " + run.path + ": " + words(PIOc_strerror, code));
}

// The iotype and mode of a format.
std::pair<int, int> kind_of(const std::string& format) {
  if (format == "netcdf4") return {PIO_IOTYPE_NETCDF4P, 0};
  if (format == "cdf5") return {PIO_IOTYPE_PNETCDF, PIO_64BIT_DATA};
  return {PIO_IOTYPE_PNETCDF, format == "cdf2" ? PIO_64BIT_OFFSET : 0};
}

int pio_type(Type type) {
  if (type == Type::dbl) return PIO_DOUBLE;
  return type == Type::real ? PIO_FLOAT : PIO_INT;
}

int to_int(std::int64_t length) {
  if (length > std::numeric_limits<int>::max())
    throw Refused("PIO counts cells of a rank and lengths of a decomposition's dimensions as int, and " +
                  std::to_string(length) + " is more");
  return static_cast<int>(length);
}

// How many ranks do I/O: the setting io_tasks, a number or "all"; all unless it is given.
int tasks_of(const Run& run) {
  const auto given = run.settings.find("io_tasks");
  if (given == run.settings.end() || given->second == "all") return run.ranks;
  char* end = nullptr;
  const long tasks = std::strtol(given->second.c_str(), &end, 10);
  if (*end != '\0' || tasks < 1 || tasks > run.ranks)
    throw Refused("io_tasks is '" + given->second + "'; 'all' or a number from 1 to the " +
                  std::to_string(run.ranks) + " ranks is needed");
  return static_cast<int>(tasks);
}

// PIO on Shoal leaves the choice of I/O ranks to Shoal, unless this variable says that the program's count.
class MeantTasks {
 public:
  explicit MeantTasks(bool meant) : meant_(meant) {
    if (!meant_) return;
    if (const char* before = std::getenv(k_name)) before_ = before;
    setenv(k_name, "use", 1);
  }
  ~MeantTasks() {
    if (!meant_) return;
    if (before_)
      setenv(k_name, before_->c_str(), 1);
    else
      unsetenv(k_name);
  }
  MeantTasks(const MeantTasks&) = delete;
  MeantTasks& operator=(const MeantTasks&) = delete;

 private:
  static constexpr const char* k_name = "SHOAL_PIO_IO_TASKS";
  bool meant_;
  std::optional<std::string> before_;
};

class Pio : public PackedMethod {
 public:
  explicit Pio(const MethodEntry& entry)
      : takes_hints_(entry.takes_hints),
        rearranger_(entry.access == "subset" ? PIO_REARR_SUBSET : PIO_REARR_BOX) {}
  ~Pio() override {
    if (file_ < 0) leave();
  }

  void prepare(Run& run) override {
    leave();
    const int tasks = tasks_of(run);
    PIOc_Set_IOSystem_Error_Handling(PIO_DEFAULT, PIO_RETURN_ERROR);
    {
      const MeantTasks meant(run.settings.count("io_tasks") != 0);
      check(PIOc_Init_Intracomm(run.comm, tasks, run.ranks / tasks, 0, rearranger_, &system_), "an iosystem",
            run);
    }
    PIOc_Set_IOSystem_Error_Handling(system_, PIO_RETURN_ERROR);
    for (const auto& [key, value] : takes_hints_ ? run.hints : KeyValues{})
      check(PIOc_set_hint(system_, std::string(key).data(), std::string(value).data()), "hint " + key, run);
    for (const auto& array : run.arrays) {
      auto& id = decompositions_.emplace(key_of(array.field()), -1).first->second;
      if (id < 0) id = decomposition_of(run, array);
    }
    PackedMethod::prepare(run);
  }

  // First what one rank puts.
  void put(Run& run, std::int64_t record) override {
    run.phases.time(Phase::store, [&] {
      for_fields(run, record, [&](std::size_t i, const Field& field, LocalField* array) {
        if (array != nullptr) return;
        const auto s = section_of_all<PIO_Offset>(field, record);
        const auto values = replicated_values(field, std::max<std::int64_t>(record, 0));
        check(put_section(id(i), field.type, s.start.data(), s.count.data(), values.data()),
              "writing of " + field.name, run);
      });
    });
    PackedMethod::put(run, record);
  }

  void finish(Run& run) override {
    if (!run.content.define_only) run.phases.time(Phase::sync, [&] { sync(run); });
    PackedMethod::finish(run);
  }

 protected:
  void create_file(Run& run) override {
    auto [iotype, mode] = kind_of(run.format);
    if (PIOc_iotype_available(iotype) == 0)
      throw Refused("this PIO was built without what it needs for " + run.format);
    check(PIOc_createfile(system_, &file_, &iotype, run.path.c_str(), PIO_CLOBBER | mode), "creation", run);
  }
  void open_file(Run& run) override {
    int iotype = kind_of(run.format).first;
    check(PIOc_openfile(system_, &file_, &iotype, run.path.c_str(), PIO_NOWRITE), "opening", run);
  }
  int find(Run& run, const Field& field) override {
    int id = -1;
    check(PIOc_inq_varid(file_, field.name.c_str(), &id), "variable " + field.name, run);
    return id;
  }
  void sync_file(Run& run) override {
    check(PIOc_sync(file_), "sync", run);
    if (run.flush && run.flushes) flush_file(run.path);
  }
  void close_file(Run& run) override { check(PIOc_closefile(std::exchange(file_, -1)), "closing", run); }
  void close_written(Run& run) override {
    run.phases.time(Phase::store, [&] {
      close_file(run);
      if (run.flush && run.flushes) flush_file(run.path);
    });
  }

  void put_part(Run& run, std::size_t i, LocalField& array, std::int64_t record) override {
    const auto& field = array.field();
    run.phases.time(Phase::store, [&] {
      set_frame(run, id(i), field, record);
      check(PIOc_write_darray(file_, id(i), decompositions_.at(key_of(field)), array.owned(), packed().data(),
                              nullptr),
            "writing of " + field.name, run);
    });
  }
  void get_part(Run& run, std::size_t i, LocalField& array, std::int64_t record) override {
    const auto& field = array.field();
    set_frame(run, id(i), field, record);
    check(PIOc_read_darray(file_, id(i), decompositions_.at(key_of(field)), array.owned(), packed().data()),
          "reading of " + field.name, run);
  }
  std::vector<int> define(Run& run) override {
    const auto ids = define_all(
        run.content,
        [&](const Dimension& d) {
          int id = -1;
          check(PIOc_def_dim(file_, d.name.c_str(), d.length == 0 ? PIO_UNLIMITED : d.length, &id),
                "dimension " + d.name, run);
          return id;
        },
        [&](const Field& field, const std::vector<int>& dims) {
          int id = -1;
          check(PIOc_def_var(file_, field.name.c_str(), pio_type(field.type), static_cast<int>(dims.size()),
                             dims.data(), &id),
                "variable " + field.name, run);
          return id;
        },
        [&](int id, const std::string& what, const std::string& key, const std::string& value) {
          check(
              PIOc_put_att_text(file_, id, key.c_str(), static_cast<PIO_Offset>(value.size()), value.c_str()),
              what, run);
        });
    check(PIOc_enddef(file_), "end of definitions", run);
    return ids;
  }

 private:
  using Key = std::pair<Type, std::vector<std::int64_t>>;
  static Key key_of(const Field& field) { return {field.type, field.shape}; }

  // Cells in the order of a packed field; numbers from 1 on in the whole one.
  int decomposition_of(const Run& run, const LocalField& array) const {
    const auto& field = array.field();
    const auto& tile = array.tile();
    std::vector<int> lengths;
    for (const auto length : field.shape)
      lengths.push_back(to_int(length));
    std::vector<PIO_Offset> cells;
    cells.reserve(static_cast<std::size_t>(array.owned()) + 1);
    for (std::int64_t level = 0; level < field.levels(); ++level)
      for (std::int64_t j = 0; j < tile.rows; ++j)
        for (std::int64_t i = 0; i < tile.columns; ++i)
          cells.push_back((level * field.rows() + tile.row(j)) * field.columns() + tile.column(i) + 1);
    const int count = to_int(static_cast<std::int64_t>(cells.size()));
    int id = -1;
    int rearranger = rearranger_;
    cells.push_back(0);  // of a rank without cells there is a list, too
    check(PIOc_InitDecomp(system_, pio_type(field.type), static_cast<int>(lengths.size()), lengths.data(),
                          count, cells.data(), &id, &rearranger, nullptr, nullptr),
          "the decomposition of " + field.name, run);
    return id;
  }

  // Errors say nothing here that a check before did not. Collective.
  void leave() {
    for (const auto& [key, id] : std::exchange(decompositions_, {}))
      if (id >= 0) PIOc_freedecomp(system_, id);
    if (system_ >= 0) SHOAL_BENCH_PIO_FINALIZE(system_);
    system_ = -1;
  }

  void set_frame(const Run& run, int id, const Field& field, std::int64_t record) const {
    if (field.record) check(PIOc_setframe(file_, id, to_int(record)), "the frame of " + field.name, run);
  }

  int put_section(int id, Type type, const PIO_Offset* start, const PIO_Offset* count,
                  const std::byte* values) const {
    if (type == Type::dbl)
      return PIOc_put_vara_double(file_, id, start, count, reinterpret_cast<const double*>(values));
    if (type == Type::real)
      return PIOc_put_vara_float(file_, id, start, count, reinterpret_cast<const float*>(values));
    return PIOc_put_vara_int(file_, id, start, count, reinterpret_cast<const int*>(values));
  }

  bool takes_hints_;
  int rearranger_;
  int system_ = -1, file_ = -1;
  std::map<Key, int> decompositions_;
};

}  // namespace

}  // namespace shoal::bench

extern "C" shoal::bench::Method* shoal_bench_make_pio(const shoal::bench::MethodEntry* entry) {
  return new shoal::bench::Pio(*entry);
}
