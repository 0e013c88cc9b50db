// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "format/catalog.hpp"
#include "format/schema.hpp"
#include "format/tiles/span.hpp"
#include "storage/store.hpp"

namespace shoal {

struct SetFile {
  std::string path;
  std::int64_t number = -1;  ///< in the set, as the file or its name says; -1: nothing says it
  Numbered<Span> spans;      ///< [dimensions of the whole]; the whole for those that are not cut
  Numbered<int> variables;   ///< [variables of the whole] index in the file's schema; -1: not in this file
};

/// A box that lies in one file.
struct SetPiece {
  int file = 0;
  Box cells;     ///< in the whole
  Box in_file;   ///< the same cells in the file's own indices
  int variable;  ///< in the file's schema
};

/// One dataset in many files, each with some cells of the dimensions that are cut; an unlimited one may be,
/// whose entries follow one another then. Plain data: it opens no file after it was made.
struct FileSet {
  SetStyle style = SetStyle::fms;
  Schema schema;            ///< of the whole; what belongs to the cutting is left out
  Numbered<bool> cut;       ///< [dimensions]
  Numbered<bool> has_gaps;  ///< [variables]: no file holds some of the cells; they read as fill
  Numbered<SetFile> files;
  std::vector<std::string> warnings;

  /// Is any dimension of the variable cut? Others are the same in all files and read from the first.
  bool is_cut(int variable) const;
  /// What the file holds of the variable, cells of the whole; empty if it has not got it.
  Box box_of(int file, int variable) const;
  /// The parts of the region that files hold. Together they are the region, without its gaps; a cell may come
  /// twice where files hold the same cells of fewer dimensions.
  std::vector<SetPiece> pieces(int variable, const Box& region) const;
};

/// What becomes of cells of the whole that no file of a set holds:
/// - refuse: the set is refused; so it is where some files have more records than others;
/// - common: the same, but only records that all files have are there;
/// - fill: they read as the fill value: land that the model leaves out, records that some files lack.
enum class MissingTiles { refuse, common, fill };

struct FileSetOptions {
  StoreOpener open_store = open_posix_store;
  CatalogOptions catalog;
  MissingTiles missing = MissingTiles::refuse;
  /// The fill value of variables that have such cells, and neither _FillValue nor missing_value; otherwise it
  /// is NetCDF's default.
  std::optional<double> fill;
};

/// Look at the headers of the files, one after another, and work out the whole. Variables that have cells in
/// no file say so by _FillValue. Errors name file and reason: not_found: files of the set are missing, or
/// cells are in none; format: headers disagree, no conventions; overlap: two files hold the same cells;
/// range: the fill value does not fit a variable. Local.
FileSet open_file_set(const std::vector<std::string>& paths, const FileSetOptions& options);

/// The catalog of one file, opened for reading while visit works with it; Errors name the file. Local.
void with_catalog_of(const std::string& path, const FileSetOptions& options,
                     const std::function<void(Catalog& catalog)>& visit);

/// What cells that no file holds read as: _FillValue, or else missing_value, or else NetCDF's default.
Bytes gap_value(const VariableDef& variable);

void pack(ByteWriter& out, const FileSet& set);
FileSet unpack_file_set(ByteReader& in);

}  // namespace shoal
