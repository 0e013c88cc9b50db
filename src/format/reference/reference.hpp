// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "format/tiles/file_set.hpp"

namespace shoal {

/// Write a reference: a JSON file that says where the chunks of every variable lie in NetCDF files, so that
/// they can be read as one Zarr store (version 2) without joining or copying anything: Kerchunk's format,
/// version 1, which fsspec's ReferenceFileSystem and with it xarray read.
///
/// paths: one file of any format, or a set (FileSet): its files, or what names it. The files are named by
/// paths from their common folder, which stands once in the reference, under templates. Small variables that
/// cannot be given by address are copied into it. Errors: not_supported, where Zarr cannot describe what
/// is in the files: tiles cut unevenly in the last dimension (names dimension, files and lengths), filters
/// without a Zarr codec, types that are neither numbers nor text; those of open_file_set. The reference is
/// written whole or not at all. Local.
void write_reference(const std::vector<std::string>& paths, const std::string& out,
                     const FileSetOptions& options = {});

/// Write a virtual master: a small netCDF-4 file whose variables are HDF5 virtual datasets over the files of
/// a set, which must all be netCDF-4 files. Every program that reads netCDF-4 through HDF5 1.10 or later
/// reads the whole through it. The files are named by paths relative to the master's folder: they may be
/// moved together. Records that are added to all files later are seen through it too. Errors: not_supported,
/// if files are of a classic format; those of open_file_set. Local.
void write_virtual_master(const std::vector<std::string>& paths, const std::string& out,
                          const FileSetOptions& options = {});

namespace reference {

/// The files behind paths; `is_set`: they are parts of a whole.
struct Sources {
  std::vector<std::string> files;
  bool is_set = false;
};
Sources sources_of(const std::vector<std::string>& paths);
/// A set, or one file as if it were one.
FileSet set_of(const Sources& sources, const FileSetOptions& options);

/// Calls write(path), which makes a file of this path, which nobody can foresee, exclusively; then it takes
/// the place of `out`.
void write_whole(const std::string& out, const std::function<void(const std::string&)>& write);

}  // namespace reference
}  // namespace shoal
