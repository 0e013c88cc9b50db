// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "content.hpp"
#include "phases.hpp"

namespace shoal::bench {

using KeyValues = std::map<std::string, std::string>;

/// What a method gets for one run. References live as long as the run.
struct Run {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  std::string path;    ///< of the file; it does not exist before write()
  std::string format;  ///< one of the method's
  std::int64_t records = 0;
  bool flush = false;  ///< wait until the device has the bytes, before close returns
  const Content& content;
  const KeyValues& settings;        ///< of a variant: "native+writers=1"
  const KeyValues& hints;           ///< --hints, for MPI-IO
  std::vector<LocalField>& arrays;  ///< the model's: read by write(), changed by read()
  Phases& phases;                   ///< of this rank
  /// read() calls it after each record, and with -1 after the variables without records.
  std::function<void(std::int64_t record)> after_read;
  /// Called by both just before the file is closed, when most memory is in use. Takes microseconds.
  std::function<void()> at_peak;
  std::int64_t stage_bytes = 0;  ///< set by the method: high-water mark of its buffers on this node
};

/// A way to write and to read a workload. A new one is a file in methods/ and a line in registry.cpp.
///
/// All functions are collective over run.comm. prepare is not timed; write and read are, as a whole, and tell
/// their phases apart themselves. Failures are exceptions; the benchmark then stops, since a comparison with
/// a hole is none.
class Method {
 public:
  virtual ~Method() = default;
  /// Buffers that a model would have made long before.
  virtual void prepare(Run&) {}
  virtual void write(Run& run) = 0;
  virtual void read(Run& run) = 0;
  /// Cells of this rank that are wrong in the file, for methods whose file no other library can read; -1:
  /// they can.
  virtual std::int64_t wrong_in_file(Run&) { return -1; }
  /// What is wrong in the memory of this rank after read(), for methods that do not read into the run's
  /// arrays; -1: they do.
  virtual std::int64_t wrong_in_memory(Run&) { return -1; }
};

/// What `shoal-bench list` says, and what a method can do.
struct MethodEntry {
  std::string name, driver, access, layout;
  std::string summary;
  std::vector<std::string> formats;  ///< those it writes; "raw": its own, whatever --formats says
  bool takes_settings = false;       ///< variants: name+key=value+key=value
  bool takes_hints = false;
  bool define_only = false;  ///< knows definitions, not values
  std::unique_ptr<Method> (*make)();
};

/// All that this build has.
const std::vector<MethodEntry>& methods();
/// By name without the variant; std::invalid_argument that lists the names if there is none.
const MethodEntry& find_method(const std::string& name);

std::unique_ptr<Method> make_native();              // methods/native.cpp
std::unique_ptr<Method> make_limit();               // methods/limit.cpp
std::unique_ptr<Method> make_pnetcdf_collective();  // methods/pnetcdf.cpp
std::unique_ptr<Method> make_pnetcdf_independent();
std::unique_ptr<Method> make_pnetcdf_nonblocking();
std::unique_ptr<Method> make_mpiio_collective();  // methods/mpiio.cpp
std::unique_ptr<Method> make_mpiio_independent();
std::unique_ptr<Method> make_gather();             // methods/gather.cpp
std::unique_ptr<Method> make_netcdf_collective();  // methods/netcdf_collective.cpp
std::unique_ptr<Method> make_hdf5_bare();          // methods/hdf5_bare.cpp

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
