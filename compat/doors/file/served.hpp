// SPDX-License-Identifier: BSD-3-Clause
// What a file behind a door is, for netCDF and PnetCDF alike: how it was made, what is defined in it, and who
// answers for it: Shoal, until it is handed back to the program's own library.
#ifndef SHOAL_DOORS_FILE_SERVED_HPP
#define SHOAL_DOORS_FILE_SERVED_HPP

#include <shoal/bindings.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "file/codes.hpp"
#include "file/definitions.hpp"

struct door_functions;  // of the one door or the other

namespace door {

// Thrown where Shoal cannot do what is asked: the file goes to the library, which is asked again.
struct HandBack {
  std::string reason;
};

// One definition, as it is made again: in Shoal at the end of the define mode, or in the library.
struct Step {
  std::function<int(const door_functions& library, int ncid)> in_library;  // returns the library's code
  std::function<int(shoal_dataset*)> in_shoal;  // Shoal's; empty: nothing, or it comes with the variable
};

struct ServedFile {
  std::string path;
  int mode = 0;                   // as the program gave it: NC_NETCDF4, NC_WRITE ...
  int format = 0;                 // NC_FORMAT_...
  MPI_Comm comm = MPI_COMM_NULL;  // a duplicate of the program's
  MPI_Info info = MPI_INFO_NULL;  // the same
  bool writable = false;
  bool is_new = false;    // made by this program
  bool is_store = false;  // a store of Zarr: the program's library cannot open it
  bool in_place = false;  // its header was written: Shoal has ended a define mode, or the file was opened
  bool defining = false;
  Definitions definitions;
  std::vector<Step> steps;  // definitions since the last end of a define mode

  shoal_dataset* dataset = nullptr;  // while Shoal serves it
  bool together = false;             // ranks have put values together since the last sync
  bool stored = false;               // all of its data are in the file, and definitions may be half made
  std::int64_t kept_records = 0;     // records that there are with those that this rank keeps
  int library_id = -1;               // 0 or more: handed back
  // The code of all that follows: it could not be handed back, or is a store whose definitions were refused.
  int failure = NC_NOERR;

  bool handed_back() const { return library_id >= 0; }
  Variable* variable(int varid);      // nullptr: no such number
  Attributes* attributes(int varid);  // of a variable, or for NC_GLOBAL of the file; nullptr: NC_ENOTVAR
  // Records of an unlimited dimension that all ranks know of.
  std::int64_t shared_records(int dimid) const;
  // What is left of it: the dataset without a close, the communicator, the hints.
  void release();
};

// By which name Shoal knows the owner of attributes: a variable, or the file.
struct AttributeOwner {
  bool file;
  std::string name;
  const char* text() const { return file ? nullptr : name.c_str(); }
};
AttributeOwner owner_of(ServedFile& file, int varid);

// How the end of a define mode went in Shoal. of_definitions: the code is that of the definitions, and
// nothing in the file has changed; otherwise what was written before could not be stored.
struct DefinitionsEnd {
  int code = SHOAL_OK;
  bool of_definitions = false;
};
// Stores what was written and ends Shoal's define mode on all ranks, or on none: `define` brings Shoal's
// definitions to the file's. Collective.
DefinitionsEnd end_in_shoal(ServedFile& file, const char* call, const std::function<int()>& define);
// The steps of the definitions, in Shoal. Local; the code is Shoal's.
int define_steps(const ServedFile& file);
// The definitions are in the file.
void settle(ServedFile& file);
// A file without a header goes with its definitions. Collective.
void drop_new(ServedFile& file);

// Is a new file a store of Zarr, whatever format the program asks for? Its name ends with ".zarr", or
// SHOAL_FORMAT is zarr. Rank 0's answer. Collective.
bool makes_store(MPI_Comm comm, const std::string& path);
// Is there a store, or another folder, by that name? Rank 0's answer. Collective.
bool finds_store(MPI_Comm comm, const char* path);
// Of the file itself: "zarr", or name_of_format.
const char* format_in_shoal(const ServedFile& file);
// Says that the library, which could do this with other files, has no stores of Zarr. Local.
void say_store_stays(const ServedFile& file, const std::string& reason);

// Shoal's settings of a new file: its format, and those hints that mean something to Shoal.
std::string settings_of_new(const ServedFile& file);
// A hint; "": there is none.
std::string hint(MPI_Info info, const char* name);

// Shoal may have a netCDF or PnetCDF of its own in it, whose calls come by the door, too: they are no
// program's.
class WithinShoal {
 public:
  WithinShoal() { ++depth; }
  ~WithinShoal() { --depth; }
  WithinShoal(const WithinShoal&) = delete;
  WithinShoal& operator=(const WithinShoal&) = delete;
  static bool now() { return depth > 0; }

 private:
  static thread_local int depth;
};

// The files of a door, by ids from `first` on, `step` apart.
template <class File, int first, int step, int most>
class FileTable {
 public:
  bool has_room() const { return free_place() < most; }
  // The id of a file, which is owned from now on; there is room.
  int add(std::unique_ptr<File> file) {
    const int place = free_place();
    files_[static_cast<std::size_t>(place)] = std::move(file);
    return first + place * step;
  }
  // nullptr: NC_EBADID.
  File* find(int ncid) const {
    const int place = (ncid - first) / step;
    const bool is_id = ncid >= first && place < most && first + place * step == ncid;
    return is_id ? files_[static_cast<std::size_t>(place)].get() : nullptr;
  }
  int id_of(const File& file) const {
    const auto found =
        std::find_if(files_.begin(), files_.end(), [&](const auto& one) { return one.get() == &file; });
    return first + static_cast<int>(found - files_.begin()) * step;
  }
  std::vector<int> ids() const {
    std::vector<int> found;
    for (int place = 0; place < most; ++place)
      if (files_[static_cast<std::size_t>(place)] != nullptr) found.push_back(first + place * step);
    return found;
  }
  void remove(int ncid) {
    File* const file = find(ncid);
    if (file == nullptr) return;
    file->release();
    files_[static_cast<std::size_t>((ncid - first) / step)].reset();
  }

 private:
  int free_place() const {
    return static_cast<int>(std::find(files_.begin(), files_.end(), nullptr) - files_.begin());
  }
  std::array<std::unique_ptr<File>, most> files_;
};

// Where the process has two builds of HDF5, Shoal's calls may end in the other one: false, and `why` says so.
bool has_own_hdf5(char* why, std::size_t size);

}  // namespace door

#endif
