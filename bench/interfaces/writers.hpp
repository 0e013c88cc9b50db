// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "cases.hpp"
#include "shoal_check.hpp"

namespace shoal::bench::interfaces {

/// A way to write a case. All functions are collective; failures are exceptions.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual bool takes(const Case&) const { return true; }
  /// Makes the decompositions.
  virtual void prepare(const Case& c) = 0;
  /// Makes the file, writes all records of all fields, closes.
  virtual void write(const std::string& path, const Case& c) = 0;
};
/// PIO on Shoal.
std::unique_ptr<Writer> make_pio_writer(MPI_Comm comm);
/// Calls of these libraries, which end in Shoal's doors; nullptr: this build has none.
std::unique_ptr<Writer> make_netcdf_writer(MPI_Comm comm);
std::unique_ptr<Writer> make_pnetcdf_writer(MPI_Comm comm);

/// By shoal_write, with what PIO means (cells of nobody get the fill value).
class ShoalWriter : public Writer {
 public:
  explicit ShoalWriter(MPI_Comm comm) : comm_(comm) {}
  void prepare(const Case& c) override;
  void write(const std::string& path, const Case& c) override;
  /// Cells of all ranks that the file, whoever wrote it, has wrong.
  std::int64_t wrong(const std::string& path, const Case& c);
  /// What the node's stage holds at most, of the last file: a rank may come to touch all of it.
  std::int64_t stage_bytes() const { return stage_bytes_; }

 private:
  MPI_Comm comm_;
  std::vector<ShoalDecomposition> decompositions_;  ///< of each cut
  std::int64_t stage_bytes_ = 0;
};

/// How long PIOc_InitDecomp takes for a list of this rank, from 1, and then for the same list again, of
/// another type; the slowest rank's seconds, and by how much the rank grew whose memory grew most meanwhile.
struct InitDecomp {
  double first_seconds = 0, again_seconds = 0;
  std::int64_t first_bytes = 0, again_bytes = 0;
};
InitDecomp time_initdecomp(MPI_Comm comm, const Cut& cut, int repetitions);

}  // namespace shoal::bench::interfaces
