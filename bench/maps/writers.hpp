// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "cases.hpp"

namespace shoal::bench::e3sm {

/// What is written, and where.
struct Job {
  MPI_Comm comm = MPI_COMM_NULL;
  std::string path;
  const std::vector<Map>& maps;
  std::vector<Variable>& variables;
};

/// A way to write a file of a case, with one record: everything is queued, then one flush. All collective.
class Writer {
 public:
  virtual ~Writer() = default;
  /// What a model has before its first output: made once, not timed with the files.
  virtual void prepare(const Job& job) = 0;
  /// Runs of this rank, of all maps together.
  virtual std::int64_t runs() const = 0;
  virtual void create(const Job& job) = 0;
  virtual void post(const Job& job) = 0;
  virtual void flush() = 0;
  virtual void close() = 0;
  /// Values of the closed file that are not what they should be, of all ranks.
  virtual std::int64_t wrong(const Job& job);
};

/// native, or another driver; more settings of Shoal, "" for none.
std::unique_ptr<Writer> make_shoal_writer(const std::string& driver, const std::string& settings);
std::unique_ptr<Writer> make_pnetcdf_writer();
/// Each rank's values as one block, in a file of no format.
std::unique_ptr<Writer> make_limit_writer();

}  // namespace shoal::bench::e3sm
