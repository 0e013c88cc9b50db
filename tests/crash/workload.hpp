// SPDX-License-Identifier: BSD-3-Clause
// What the crash tests write: variables whose values can be worked out from variable, record and cell, in a
// list of commits that can each be made again when it failed; and the calls that write it.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shoal/shoal.h"

namespace crash {

struct Options {
  std::string scenario;
  std::string format;
  std::string path;
  std::string settings;  // beside the scenario's own
  int records = 10;
  int durable = 0;  // every n-th commit is durable; 0: none
  std::int64_t nz = 2, ny = 6, nx = 40;
};

struct Variable {
  std::string name;  // or path; ends in _ID, so that a reader who knows nothing else knows the values
  int id = 0;
  int type = SHOAL_DOUBLE;
  std::string dims;
  std::vector<std::int64_t> inner;  // lengths, without the record dimension
  bool record = false;
  bool field = false;  // cut over ranks
  std::string filters;
  std::vector<std::int64_t> chunks;
};

struct Attribute {
  std::string variable;  // or a group; "": of the file
  std::string name;
  int version = 0;
};

struct Write {
  int variable;
  std::int64_t record;
  std::int64_t version = 0;  // of a variable without records, which is written again
};

struct Rename {
  std::string from, to;
};

/// What is done between two promises.
struct Commit {
  enum class End { sync, close, reopen };
  // What Shoal promises of a kill depends on it. append: only records and values come; define: definitions
  // change; strings: there is text.
  std::string kind = "append";
  std::vector<Variable> variables;
  std::vector<Attribute> attributes;
  std::vector<Rename> renames;  // of variables without attributes; the number at the end stays
  std::vector<Write> writes;
  End end = End::sync;
};

struct Plan {
  std::string settings;
  std::vector<std::pair<std::string, std::int64_t>> dims;
  bool map = false;
  bool servers = false;
  std::vector<Commit> commits;
};

/// The commits of a scenario. Throws std::runtime_error for unknown names.
Plan make_plan(const Options& options);

/// The value of a cell: never 0, and exact in every type that is used. record: or version.
inline std::int64_t value_of(int id, std::int64_t record, std::int64_t cell) {
  return 1 + (id * std::int64_t{7919} + record * std::int64_t{104729} + cell * 31) % 29989;
}

/// The calls of a library that writes files. Each returns "", or what failed. Collective.
class File {
 public:
  virtual ~File() = default;
  virtual bool is_open() const = 0;
  virtual std::string create() = 0;  // with its dimensions
  virtual std::string open() = 0;
  /// again: what a failed commit did define may be there.
  virtual std::string define(const Variable& variable, bool again) = 0;
  virtual std::string put(const Attribute& attribute, const std::string& text) = 0;
  /// again: it may have its new name.
  virtual std::string rename(const Rename& rename, bool again) = 0;
  virtual std::string end_define() = 0;
  /// The cells of this rank, in the order of cells(); of text pointers. extents: of values, without record.
  virtual std::string write(const Variable& variable, std::int64_t record, void* values,
                            const std::vector<std::int64_t>& extents) = 0;
  /// durable: not with the libraries of netCDF and PnetCDF, which know no such thing.
  virtual std::string sync(bool durable) = 0;
  virtual std::string close(bool durable) = 0;
};

/// The cells of a layer that are this rank's: rows, or for a map every so many, backwards.
std::vector<std::int64_t> cells(MPI_Comm comm, const Options& options, bool map);

// One program a library (shoal_file.cpp, netcdf_file.cpp) has these.
std::unique_ptr<File> make_file(MPI_Comm comm, const Options& options, const Plan& plan);
/// The ranks that compute; MPI_COMM_NULL: this one has served them.
MPI_Comm computing_ranks(const Plan& plan);

}  // namespace crash
