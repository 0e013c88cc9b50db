// SPDX-License-Identifier: BSD-3-Clause
#include "driver/library/mpiio/mpi_file.hpp"

#include <algorithm>
#include <array>

namespace shoal {

namespace {

// One call's bytes: some MPI libraries count them in an int.
constexpr std::int64_t k_most_of_call = 1 << 30;

Code code_of_class(int error_class) {
  switch (error_class) {
    case MPI_ERR_NO_SPACE:
    case MPI_ERR_QUOTA:
      return Code::no_space;
    case MPI_ERR_ACCESS:
    case MPI_ERR_READ_ONLY:
      return Code::permission;
    case MPI_ERR_NO_SUCH_FILE:
      return Code::not_found;
    case MPI_ERR_FILE_EXISTS:
      return Code::exists;
    case MPI_ERR_NO_MEM:
      return Code::no_memory;
    default:
      return Code::io;
  }
}

}  // namespace

void check_file(int mpi_code, const std::string& what, const std::string& path) {
  if (mpi_code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  int error_class = MPI_ERR_UNKNOWN;
  MPI_Error_string(mpi_code, text.data(), &length);
  MPI_Error_class(mpi_code, &error_class);
  throw Error(code_of_class(error_class), "{} by MPI-IO: {}", what,
              std::string(text.data(), static_cast<std::size_t>(length)))
      .in_file(path);
}

MpiType::~MpiType() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (type_ != MPI_DATATYPE_NULL && finalized == 0) MPI_Type_free(&type_);
}

MpiFile::MpiFile(const Comm& comm, const std::string& path, bool writable, const MpiInfo& hints)
    : path_(path) {
  const int mode = writable ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  check_file(MPI_File_open(comm.handle(), path.c_str(), mode, hints.get(), &file_), "opening it", path_);
  MPI_File_set_errhandler(file_, MPI_ERRORS_RETURN);
}

void MpiFile::info(MpiInfo& used) const {
  check_file(MPI_File_get_info(file_, used.out()), "asking for hints", path_);
}

void MpiFile::write_at(std::uint64_t offset, const std::byte* bytes, std::int64_t n) {
  for (std::int64_t at = 0; at < n; at += k_most_of_call) {
    const int count = static_cast<int>(std::min(k_most_of_call, n - at));
    MPI_Status status;
    check_file(
        MPI_File_write_at(file_, static_cast<MPI_Offset>(offset) + at, bytes + at, count, MPI_BYTE, &status),
        "writing", path_);
    int done = 0;
    MPI_Get_count(&status, MPI_BYTE, &done);
    if (done != count)
      throw Error(Code::no_space, "only {} of {} bytes were written; is there space left on the device?",
                  done, count)
          .in_file(path_);
  }
}

void MpiFile::read_at(std::uint64_t offset, std::byte* bytes, std::int64_t n) {
  for (std::int64_t at = 0; at < n; at += k_most_of_call) {
    const int count = static_cast<int>(std::min(k_most_of_call, n - at));
    check_file(MPI_File_read_at(file_, static_cast<MPI_Offset>(offset) + at, bytes + at, count, MPI_BYTE,
                                MPI_STATUS_IGNORE),
               "reading", path_);
  }
}

// Ranks without cells give the element as a type: some MPI libraries refuse those without any bytes.
void MpiFile::view(std::uint64_t offset, MPI_Datatype element, const MpiType* filetype) {
  check_file(MPI_File_set_view(file_, static_cast<MPI_Offset>(offset), element,
                               filetype != nullptr ? filetype->get() : element, "native", MPI_INFO_NULL),
             "setting the view", path_);
}

void MpiFile::write_all(std::uint64_t offset, MPI_Datatype element, const MpiType* filetype,
                        const std::byte* cells, std::int64_t count) {
  view(offset, element, filetype);
  check_file(MPI_File_write_at_all(file_, 0, cells, static_cast<int>(count), element, MPI_STATUS_IGNORE),
             "writing", path_);
}

void MpiFile::read_all(std::uint64_t offset, MPI_Datatype element, const MpiType* filetype, std::byte* cells,
                       std::int64_t count) {
  view(offset, element, filetype);
  check_file(MPI_File_read_at_all(file_, 0, cells, static_cast<int>(count), element, MPI_STATUS_IGNORE),
             "reading", path_);
}

void MpiFile::sync() {
  check_file(MPI_File_sync(file_), "syncing", path_);
}

void MpiFile::close() {
  if (file_ == MPI_FILE_NULL) return;
  check_file(MPI_File_close(&file_), "closing", path_);
}

}  // namespace shoal
