// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/numbered.hpp"
#include "base/pack_fields.hpp"
#include "driver/driver.hpp"

namespace shoal {

/// Of a variable whose chunks get their space in the file when they are first written (Placement::late).
struct LateSpace {
  bool late = false;
  bool complete = false;  ///< all chunks of `shape` have theirs
  Dims shape;             ///< when the file was opened

  template <class Writer>
  void pack(Writer& out) const {
    put_all(out, late, complete, shape);
  }
  template <class Reader>
  void unpack(Reader& in) {
    get_all(in, late, complete, shape);
  }
};

/// The state of a file that another library has open. LibraryDriver changes it; classes of LibraryFile see it
/// const, but for the counters.
struct LibraryContext {
  /// For an existing file: reads the header with Shoal's own catalog, on rank 0, and gives it to all ranks,
  /// so that no library has to be asked. Collective.
  LibraryContext(const Comm& the_comm, std::string the_path, OpenMode the_mode, Format format,
                 const DriverOptions& the_options, Counters& the_counters);

  const Comm& comm;
  std::string path;
  OpenMode mode;
  DriverOptions options;
  Counters& counters;
  FileSystem file_system;
  Schema schema;                   ///< as it stands
  Numbered<Placement> placements;  ///< for inquiries; filled in where a library says
  Numbered<char> holes;            ///< has_holes, of the variables that the file had
  Numbered<LateSpace> late;        ///< late_space, of the variables that the file had

  bool writable() const { return mode != OpenMode::read; }
  /// Made now, not opened.
  bool fresh() const { return mode == OpenMode::create || mode == OpenMode::create_exclusive; }
  bool is_root() const { return comm.rank() == 0; }
  /// Do other nodes see what was stored only once it is flushed?
  bool must_flush() const { return file_system.sharing == FileSystem::Sharing::close_to_open; }
  const VariableDef& variable(int v) const { return schema.variables.at(static_cast<std::size_t>(v)); }
  const Placement& placement(int v) const { return placements.at(v); }
  /// Do unowned cells of the variable keep the values of the file?
  bool keeps_unowned(int v) const { return shoal::keeps_unowned(options.catalog.fill, variable(v)); }
  bool keeps_unowned(const Transfer& transfer) const {
    return transfer.keeps_unowned || keeps_unowned(transfer.variable);
  }
  /// Had the variable, when the file was opened, chunks without a place in the file (or is that unknown)?
  bool has_holes(int v) const { return holes.has(v) && holes[v] != 0; }

  /// How far the variable had all its chunks when the file was opened, where they get space late.
  LateSpace late_space(int v) const { return late.has(v) ? late[v] : LateSpace{}; }

  /// Would PnetCDF or netCDF-C add these definitions to a classic file, whose variables begin at these bytes,
  /// and move none of them? Errors as of Catalog::has_place. Local.
  bool stays_in_place(const Schema& wanted, const std::vector<std::int64_t>& begins) const;
  /// Error(not_supported): the file that was opened is of another format, and a driver that reads it.
  void require_format(const char* driver, std::initializer_list<Format> held) const;
  /// For libraries that create files through MPI-IO: the hints, and in a new file the stripes that are asked
  /// for.
  Hints hints_with_stripes() const;
};

}  // namespace shoal
