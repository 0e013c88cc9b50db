// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "content.hpp"
#include "phases.hpp"
#include "shoal_check.hpp"

namespace shoal::bench {

using KeyValues = std::map<std::string, std::string>;

/// What a method gets for one file. References live as long as the run.
struct Run {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  std::string path;    ///< of the file; it does not exist before create()
  std::string format;  ///< one of the method's
  std::int64_t records = 0;
  bool flush = false;     ///< wait until the device has the bytes, before finish returns
  bool flushes = true;    ///< flush falls to one rank of each node, if it does to one at all: this is it
  bool reads = false;     ///< the file exists and is read
  bool in_place = false;  ///< a model that computes: every record is what the arrays hold when it is put
  const Content& content;
  const KeyValues& settings;        ///< of a variant, "native+writers=1", and io_layout
  const KeyValues& hints;           ///< --hints, for MPI-IO
  std::vector<LocalField>& arrays;  ///< the model's: read by put(), changed by get()
  Phases& phases;                   ///< of this rank
  /// To be called once before the file is closed, when most memory is in use.
  std::function<void()> at_peak = [] {};
  /// Set by the method: high-water mark of this rank's own buffers, and of those that ranks of a node share.
  std::int64_t stage_bytes = 0, shared_stage_bytes = 0;

  /// Where put() finds a record in the arrays: LocalField::record and pack take this number.
  std::int64_t in_memory(std::int64_t record) const {
    return in_place ? 0 : std::max<std::int64_t>(record, 0);
  }
};

/// A way to write and to read a workload: one file, or a set of files that is one dataset. A new one is a
/// file in methods/ and a line in method.cpp; those that call PIO are plugins (pio/).
///
/// A program (programs/) calls, all collective over run.comm, in this order:
///   prepare; create, put for each record, sync after some of them, finish   to write
///   prepare; open, get for each record, close           to read, as an object of its own
/// Several methods may have files open at the same time. Record -1 stands for the variables without records.
/// prepare is not timed. put and get are timed by the program, as write and read; within them a method times
/// pack, exchange and store each by itself, and counts the time of each field by run.phases.time_field. The
/// other functions time their phases themselves. Failures are exceptions and end the benchmark, but for
/// Refused: then the destructor gives back what is open, without waiting for other ranks.
class Method {
 public:
  virtual ~Method() = default;
  /// Buffers that a model would have made long before.
  virtual void prepare(Run&) {}
  /// Makes the file and defines everything.
  virtual void create(Run& run) = 0;
  virtual void put(Run& run, std::int64_t record) = 0;
  /// Readers of the file find what was put so far, also if the job is killed afterwards, as far as the
  /// library promises that. Of methods whose entry says `syncs`.
  virtual void sync(Run&) { throw std::logic_error("a method without sync"); }
  /// All is in the file (flush: on the device) and the file closed when it returns.
  virtual void finish(Run& run) = 0;
  virtual void open(Run& run) = 0;
  virtual void get(Run& run, std::int64_t record) = 0;
  virtual void close(Run& run) = 0;
  /// Cells of this rank that are wrong in the file, for methods whose file no other library can read; -1:
  /// they can.
  virtual std::int64_t wrong_in_file(Run&) { return -1; }
  /// What is wrong in the memory of this rank, where the last get of this record (-1: of what has none) has
  /// put it, for methods that do not read into the run's arrays; -1: they do.
  virtual std::int64_t wrong_in_memory(Run&, std::int64_t /*record*/) { return -1; }
};

/// Calls of other libraries that only queue are done when so many bytes a rank are waiting, as models and PIO
/// do it: a rank's buffers do not hold a whole restart file twice.
constexpr std::int64_t k_queued = std::int64_t{128} << 20;

/// What `shoal-bench list` says, and what a method can do.
struct MethodEntry {
  std::string name, driver, access = {}, layout = "one", summary;
  std::vector<std::string> formats = {};  ///< those it writes; none: its file is its own, "raw"
  bool through_shoal = false;             ///< takes variants, name+key=value; any format: the library refuses
  bool takes_hints = false;
  bool replicated = true;  ///< replicated variables are written too
  bool listed = true;      ///< false: only there to be refused
  bool reads = true;       ///< false: --read leaves it out, as its library cannot open what it wrote
  bool syncs = false;      ///< can make records safe while the file stays open (--sync-every)
  /// fields: it takes the fields of each step, and makes the files of them itself; sums: it works out means
  /// and extremes, and writes nothing.
  enum class Does { all, definitions, nothing, sums, fields } does = Does::all;
  std::string fixed_format = {};           ///< of an alias: the format, whatever --formats says
  std::vector<std::string> settings = {};  ///< those of a variant, where the method is not through Shoal
  std::string missing = {};                ///< why this build cannot run it; "": it can
  std::unique_ptr<Method> (*make)(const MethodEntry& entry) = nullptr;
  bool writes() const { return does != Does::nothing && does != Does::sums; }
};

/// All that this build has.
const std::vector<MethodEntry>& methods();
/// By name without the variant; std::invalid_argument that lists the names if there is none.
const MethodEntry& find_method(const std::string& name);

using Maker = std::unique_ptr<Method>(const MethodEntry& entry);
Maker make_shoal;         // methods/shoal.cpp
Maker make_limit;         // methods/limit.cpp
Maker make_none;          // methods/none.cpp
Maker make_bare_pnetcdf;  // methods/bare_pnetcdf.cpp; access is the entry's, here and below
Maker make_bare_netcdf;   // methods/bare_netcdf.cpp
Maker make_bare_mpiio;    // methods/bare_mpiio.cpp
Maker make_bare_gather;   // the same
Maker make_bare_hdf5;     // methods/bare_hdf5.cpp
Maker make_zarr_python;   // methods/zarr_python.cpp
Maker make_xarray;        // the same
Maker make_pio_on_shoal;  // methods/plugins.cpp, here and below
Maker make_pio;
Maker make_door;  // make_bare_netcdf or make_bare_pnetcdf, behind the door of the entry's driver

/// MPI-IO hints as an MPI_Info, freed at the end of its life.
class Info {
 public:
  explicit Info(const KeyValues& hints);
  ~Info();
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace shoal::bench
