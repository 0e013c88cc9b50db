// SPDX-License-Identifier: BSD-3-Clause
// Files are made, opened and closed: by Shoal, or by the program's own library where Shoal cannot; what that
// finds wrong has its own codes then.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "file/schema.hpp"
#include "file/wanted.hpp"
#include "handback/lines.hpp"
#include "pnetcdf/file.hpp"
#include "pnetcdf/hints.hpp"

namespace door::pnetcdf::serve {

namespace {

int make_in_library(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* ncidp) {
  return library().ncmpi_create != nullptr ? library().ncmpi_create(comm, path, mode, info, ncidp)
                                           : NC_ENOTSUPPORT;
}
int open_in_library(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* ncidp) {
  return library().ncmpi_open != nullptr ? library().ncmpi_open(comm, path, mode, info, ncidp)
                                         : NC_ENOTSUPPORT;
}

int format_of(int mode) {
  if ((mode & NC_64BIT_DATA) != 0) return NC_FORMAT_CDF5;
  if ((mode & NC_64BIT_OFFSET) != 0) return NC_FORMAT_CDF2;
  int usual = NC_FORMAT_CLASSIC;
  if (program().default_format != nullptr) program().default_format(&usual);
  return usual;
}

// `info` is the file's then.
std::unique_ptr<File> begin(const char* path, int mode, MPI_Comm comm, MPI_Info info) {
  auto file = std::make_unique<File>();
  file->path = path;
  file->mode = mode;
  MPI_Comm_dup(comm, &file->comm);
  file->info = info;
  file->strict = is_strict();
  return file;
}

// What Shoal could not make or open: an error of a setting or of a store is told, the library reports others.
int left(File& file, int code, const char* call) {
  const bool tells = code == SHOAL_SETTING || file.is_store;
  const int told = tells ? report_error(file.comm, file.path, call, code) : NC_NOERR;
  if (told == NC_NOERR)
    note_line(file.comm, file.path + ": left to PnetCDF: " + shoal_error_message() + "\n");
  file.release();
  return told;
}

// "ufs:/scratch/his.nc" names a driver of MPI-IO.
bool has_driver(const char* path) {
  const char* colon = std::strchr(path, ':');
  const char* slash = std::strchr(path, '/');
  return colon != nullptr && (slash == nullptr || colon < slash);
}

bool is_off() {
  const char* asked = std::getenv("SHOAL_DOORS");
  return asked != nullptr && std::strcmp(asked, "off") == 0;
}

// Ranks that give different modes, or of which one has arguments that are none, are the library's affair.
bool all_want(MPI_Comm comm, bool wanted, int mode) {
  long long asked[3] = {wanted ? 1 : 0, mode, -static_cast<long long>(mode)};
  MPI_Allreduce(MPI_IN_PLACE, asked, 3, MPI_LONG_LONG, MPI_MIN, comm);
  return asked[0] != 0 && asked[1] == -asked[2];
}

// Takes the hints of a file that is wanted. False: it is left, as it asks for the library's work.
bool takes(MPI_Comm comm, const char* path, MPI_Info given, MPI_Info& hints) {
  hints = hints_of(given);
  const char* why = own_work(hints);
  int left = why != nullptr ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT, MPI_MAX, comm);
  if (left == 0) return true;
  note_line(comm, std::string(path) + ": left to PnetCDF: " +
                      (why != nullptr ? why : "another rank asks for its work") + "\n");
  if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
  return false;
}

bool all_agree(const File& file, bool yes) {
  int answer = yes ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &answer, 1, MPI_INT, MPI_MIN, file.comm);
  return answer != 0;
}

}  // namespace

int ncmpi_create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* ncidp) {
  constexpr int known = NC_NOCLOBBER | NC_WRITE | NC_SHARE | NC_64BIT_DATA | NC_64BIT_OFFSET;
  int code = NC_NOERR;
  if (WithinShoal::now() || is_off()) return make_in_library(comm, path, mode, info, ncidp);
  const bool wanted = path != nullptr && is_wanted(path, true, comm, code);
  if (code != NC_NOERR) return code;
  const bool both = (mode & NC_64BIT_DATA) != 0 && (mode & NC_64BIT_OFFSET) != 0;
  const int format = format_of(mode);
  const bool classic = format == NC_FORMAT_CLASSIC || format == NC_FORMAT_CDF2 || format == NC_FORMAT_CDF5;
  MPI_Info hints = MPI_INFO_NULL;
  const bool served = wanted && ncidp != nullptr && (mode & ~known) == 0 && !both && classic &&
                      !has_driver(path) && has_room();
  if (!all_want(comm, served, mode) || !takes(comm, path, info, hints))
    return make_in_library(comm, path, mode, info, ncidp);
  std::unique_ptr<File> file = begin(path, mode, comm, hints);
  file->format = format;
  file->is_store = makes_store(comm, path);
  file->writable = file->is_new = file->defining = true;
  const WithinShoal within;
  code = shoal_create(file->comm, path, settings_of_new(*file).c_str(), &file->dataset);
  if (code == SHOAL_OK) {
    *ncidp = add(std::move(file));
    return NC_NOERR;
  }
  const int told = left(*file, code, "ncmpi_create");
  return told != NC_NOERR ? told : make_in_library(comm, path, mode, info, ncidp);
}

int ncmpi_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* ncidp) {
  int code = NC_NOERR;
  const bool writes = (mode & NC_WRITE) != 0;
  if (WithinShoal::now() || is_off()) return open_in_library(comm, path, mode, info, ncidp);
  const bool wanted = path != nullptr && is_wanted(path, writes, comm, code);
  if (code != NC_NOERR) return code;
  MPI_Info hints = MPI_INFO_NULL;
  const bool served =
      wanted && ncidp != nullptr && (mode & ~(NC_WRITE | NC_SHARE)) == 0 && !has_driver(path) && has_room();
  if (!all_want(comm, served, mode) || !takes(comm, path, info, hints))
    return open_in_library(comm, path, mode, info, ncidp);
  const bool is_store = finds_store(comm, path);
  std::unique_ptr<File> file = begin(path, mode, comm, hints);
  const WithinShoal within;
  file->is_store = is_store;
  file->writable = writes;
  file->in_place = true;
  code = shoal_open(file->comm, path, writes ? SHOAL_WRITE : SHOAL_READ, "attributes=rank0, pack=none",
                    &file->dataset);
  if (code == SHOAL_OK) {
    const bool read = read_schema(file->dataset, file->definitions, file->format);
    if (is_store && read) file->format = NC_FORMAT_CDF5;  // which has most of its types
    const bool classic =
        file->format == NC_FORMAT_CLASSIC || file->format == NC_FORMAT_CDF2 || file->format == NC_FORMAT_CDF5;
    for (Variable& var : file->definitions.vars)
      var.no_fill = 0;  // the fill mode is no part of a file, and PnetCDF fills records of such variables
    if (all_agree(*file, read && classic)) {
      *ncidp = add(std::move(file));
      return NC_NOERR;
    }
    shoal_close(&file->dataset, 0);
    code = SHOAL_FORMAT;
  }
  const int told = left(*file, code, "ncmpi_open");
  return told != NC_NOERR ? told : open_in_library(comm, path, mode, info, ncidp);
}

namespace {

int close_in_shoal(File& file, const char* call) {
  int code = NC_NOERR;
  if (file.defining)
    code = end_definitions(file);
  else
    code = meet(file, false, call);
  if (!file.requests.empty() && code == NC_NOERR) code = NC_EPENDING;
  note_line(file.comm, file.path + ": served by Shoal, " + format_in_shoal(file) + ", " +
                           std::to_string(file.definitions.vars.size()) + " variables\n");
  const int closed = shoal_close(&file.dataset, 0);
  return closed == SHOAL_OK ? code : report_error(file.comm, file.path, call, closed);
}

// Drops what was defined since the last end of a define mode; a file that has never had one goes.
int abort_in_shoal(File& file) {
  if (!file.defining) return close_in_shoal(file, "ncmpi_abort");
  if (file.is_new && !file.in_place)
    drop_new(file);
  else
    shoal_close(&file.dataset, 0);
  return NC_NOERR;
}

// Afterwards there is no such file, whoever had it.
template <class Serve>
int end(int ncid, Serve&& serve, int (*in_library)(int ncid)) {
  int code = answer(ncid, serve);
  if (code == DOOR_PASS_ON) code = in_library(library_id(ncid));
  if (code != NC_EBADID) pnetcdf::remove(ncid);
  return code;
}

}  // namespace

int ncmpi_close(int ncid) {
  return end(
      ncid, [](File& file) { return close_in_shoal(file, "ncmpi_close"); }, library().ncmpi_close);
}

int ncmpi_abort(int ncid) {
  return end(ncid, abort_in_shoal, library().ncmpi_abort);
}

}  // namespace door::pnetcdf::serve
