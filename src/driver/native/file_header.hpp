// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/numbered.hpp"
#include "driver/driver.hpp"
#include "driver/native/catalog_puts.hpp"
#include "driver/native/object_files.hpp"

namespace shoal {

/// The header of one file: the schema and placements, which all ranks have, and rank 0's catalog, which alone
/// may change the file's.
class FileHeader {
 public:
  FileHeader(const Comm& comm, const DriverOptions& options, Counters& counters, ObjectFiles& file,
             bool writable)
      : comm_(comm), options_(options), counters_(counters), file_(file), writable_(writable) {}

  /// Makes or opens the file. Returns its file system, as rank 0 sees it. Collective.
  FileSystem open(OpenMode mode, Format format);
  /// The inode number of the file (file_number); 0: the file is written, or nodes may have other numbers.
  std::uint64_t number() const { return number_; }
  /// As Driver. Collective.
  bool has_place(const Schema& wanted);
  void define(const Schema& wanted);
  /// Writes the header as ranks have it; lost: as it was at the last commit, since cells written after that
  /// are missing. The Status is the same on all ranks. Collective.
  Status commit(bool lost, bool durable, bool final);
  /// Closes a file that is only read. Collective.
  void close();

  bool on_owner() const { return comm_.rank() == 0; }
  /// The catalog; on the owner alone.
  Catalog& catalog() const { return *catalog_; }

  const Schema& schema() const { return schema_; }
  /// The schema, for writes, which change lengths and which variables are distributed.
  Schema& schema() { return schema_; }
  const VariableDef& variable(int v) const { return schema_.variables.at(static_cast<std::size_t>(v)); }
  const Placement& placement(int v) const { return placements_.at(v); }
  std::int64_t chunk_bytes(int v) const;
  /// The bytes of the largest chunk that is encoded, with room for its alignment; 0: there is none.
  std::int64_t largest_encoded_chunk() const;
  /// Marks the variable as distributed. Local; may throw on the owner.
  void set_distributed(int v);

  /// Replicated values, to and from the owner's catalog; get: on other ranks from the file as it was opened.
  /// Local.
  void put(int v, const Box& box, const std::byte* values, const std::vector<std::string>& strings);
  void get(int v, const Box& box, std::byte* values, std::vector<std::string>& strings);
  CatalogPuts& puts() { return puts_; }
  const CatalogPuts& puts() const { return puts_; }
  /// Writes out the values put to the variable, on the owner; other ranks need not wait.
  void write_out_put(int v);
  /// The same of all variables. Collective.
  void write_out_puts();

  /// Catalog::write_ahead on the owner; other ranks need not wait.
  void write_ahead(bool sync);

  /// A regular variable that had no place has one now.
  void set_begin(int v, std::uint64_t begin) { placements_[v].begin = begin; }

  /// The catalog of the file as the last commit left it; not for the owner, who has its own. Local.
  Catalog& reader();
  /// Values as this rank alone can read them, of a variable that the last commit's file has. Local.
  void get_alone(int v, const Box& box, std::byte* values);
  /// Reads cells by the catalog's library. Local.
  void get_by_library(int v, const Box& box, std::byte* cells);

  /// Catalog::share_space.
  void share_space(const SharedSpace& space) {
    if (catalog_) catalog_->share_space(space);
  }

 private:
  Bytes packed() const;
  void take(const Bytes& header);
  void count_get(Catalog& from, int v, const Box& box, std::byte* cells);
  void report_records();
  void take_back_records();

  const Comm& comm_;
  const DriverOptions& options_;
  Counters& counters_;
  ObjectFiles& file_;
  bool writable_;
  std::unique_ptr<Catalog> catalog_;  ///< on rank 0
  std::unique_ptr<Catalog> reader_;   ///< on any rank: for what only the catalog's library can read
  Schema schema_;
  Numbered<Placement> placements_;
  CatalogPuts puts_;
  std::uint64_t number_ = 0;
};

}  // namespace shoal
