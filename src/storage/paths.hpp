// SPDX-License-Identifier: BSD-3-Clause
// Paths of files. Modules above this one do not ask the system for names: tools/check_includes.py checks it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

// ---- By the text of a path alone; "/" separates names

/// The folder that a path names; "." if it names none. Local.
std::string folder_of(const std::string& path);
/// The name of a file, without folder: "his.0001.nc". Local.
std::string file_name_of(const std::string& path);
/// The name without folder and ending: "his.0001". Local.
std::string stem_of(const std::string& path);
/// The ending of the name, with its point: ".nc"; "" if it has none. Local.
std::string extension_of(const std::string& path);
/// The path of a name in a folder; of the name alone where the folder is "". A name from the root stays as it
/// is. Local.
std::string joined_path(const std::string& folder, const std::string& name);
/// The path of a name in the folder that a path names. Local.
std::string path_beside(const std::string& path, const std::string& name);
/// The path of a file as seen from a folder, with ".." for each folder above; both from the root. Local.
std::string relative_path(const std::string& path, const std::string& folder);
/// Do two paths name the same folder? Local.
bool name_one_folder(const std::string& a, const std::string& b);

// ---- What the system knows of a path

/// The path from the root, with its links; as it is where there is no working folder. Local.
std::string absolute_path(const std::string& path);
/// The path from the root without "." and "..", with its links. Local.
std::string normal_path(const std::string& path);
/// The same without links, as far as it is there: one text for all ways to write a path. Local.
std::string resolved_path(const std::string& path);
/// The path that links lead to, which may have no file; absolute. Local.
std::string target_of(const std::string& path);

enum class PathKind {
  nothing,
  file,
  folder,
  link,
  special,  ///< a pipe, a socket or a device
  unknown   ///< the system does not say, as a folder on the way may not be searched
};
/// What is at a path; of a link, what it leads to. Local.
PathKind kind_of_path(const std::string& path);
/// The same, but a link is a link. Local.
PathKind kind_of_name(const std::string& path);
/// Is there anything at the path, links followed? Not, where that is unknown. Local.
bool path_exists(const std::string& path);
/// Is there a regular file, or a link to one? Local.
bool is_a_file(const std::string& path);
/// Is there a folder, or a link to one? Local.
bool is_a_folder(const std::string& path);
/// Has nothing this name, not even a link that leads nowhere? False also where that is unknown, and where a
/// folder on the way is a file. Local.
bool is_free_name(const std::string& path);

/// The inode number of the file of this name; 0: there is none. Local.
std::uint64_t file_number(const std::string& path);
/// What distinguishes a file from others of its name, on machines that are set up alike as well: numbers of
/// device and inode, time of change; empty: there is none. Local.
std::vector<std::int64_t> identity_of(const std::string& path);
/// The bytes that the file system of a file or folder wants to get at once; 0: not known. Local.
std::uint64_t block_bytes_of(const std::string& path);
/// May this process write to the file? Local.
bool may_write(const std::string& path);

/// The names in a folder, in any order, without "." and "..". Error(io, permission, not_found) with the
/// folder as file. Local.
std::vector<std::string> names_in_folder(const std::string& folder);
/// The paths that match a pattern of the shell ("his.*.nc"), in any order. Local.
std::vector<std::string> paths_that_match(const std::string& pattern);
/// Makes a folder in one that is there, if it is not there. Error(io, permission, not_found) with the folder
/// as file. Local.
void make_folder(const std::string& folder);
/// Makes a folder, and those above it that are not there. Error(io, permission) with the folder as file.
/// Local.
void make_folders(const std::string& folder);
/// Removes a file or a folder with all that is in it; links are removed, not followed. Does nothing where
/// there is none. Error(io, permission) with the path as file. Local.
void remove_all(const std::string& path);
/// Gives a file another, free name as well (a hard link), or copies it where the file system has no such
/// names. Error(io, permission, no_space) with the new path as file. Local.
void link_or_copy(const std::string& path, const std::string& to);
/// Removes a file; does nothing where there is none. Error(io, permission) with the path as file. Local.
void remove_file(const std::string& path);

}  // namespace shoal
