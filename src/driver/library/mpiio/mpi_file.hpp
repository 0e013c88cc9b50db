// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "comm/comm.hpp"
#include "driver/mpi_info.hpp"

namespace shoal {

/// Throws Error with the path and MPI's text if the code of a call on a file is not success.
void check_file(int mpi_code, const std::string& what, const std::string& path);

/// An MPI datatype, freed with it. Local.
class MpiType {
 public:
  explicit MpiType(MPI_Datatype made) : type_(made) {}
  MpiType(MpiType&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  MpiType(const MpiType&) = delete;
  MpiType& operator=(const MpiType&) = delete;
  ~MpiType();
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

/// An open file of MPI-IO. Use one object for independent calls and another for collective ones, since
/// collective calls set views, which independent calls must not see.
class MpiFile {
 public:
  /// The file must exist. Collective.
  MpiFile(const Comm& comm, const std::string& path, bool writable, const MpiInfo& hints);
  MpiFile(const MpiFile&) = delete;
  MpiFile& operator=(const MpiFile&) = delete;
  /// A file that was not closed stays open, as closing is collective.
  ~MpiFile() = default;

  const std::string& path() const { return path_; }
  void info(MpiInfo& used) const;

  /// Bytes at an offset, of any number. Local. read: those behind the end of the file stay as they are.
  void write_at(std::uint64_t offset, const std::byte* bytes, std::int64_t n);
  void read_at(std::uint64_t offset, std::byte* bytes, std::int64_t n);

  /// Writes `count` elements to the file through a view: the filetype from the offset on. Ranks without cells
  /// give 0 and no type. Collective.
  void write_all(std::uint64_t offset, MPI_Datatype element, const MpiType* filetype, const std::byte* cells,
                 std::int64_t count);
  void read_all(std::uint64_t offset, MPI_Datatype element, const MpiType* filetype, std::byte* cells,
                std::int64_t count);

  /// Waits until the device has what was written. Collective.
  void sync();
  /// Collective.
  void close();

 private:
  void view(std::uint64_t offset, MPI_Datatype element, const MpiType* filetype);

  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace shoal
