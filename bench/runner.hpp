// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "events.hpp"
#include "results.hpp"

namespace shoal::bench {

/// One thing that takes turns with others: a method, a format, a directory.
struct Case {
  MethodChoice method;
  std::string format;
  std::string dir;
  std::string file;     ///< name of its file, without the directory
  std::string refused;  ///< why it is left out, "" if it is not
};

/// Every method asked for with every format in every directory, in the order of their turns. Formats that
/// cannot be and are not Shoal's to judge are refused here already. std::invalid_argument for options that
/// would have no effect.
std::vector<Case> cases_of(const Setup& setup, const Workload& workload, const Content& content);

/// A file that a run writes.
struct RunFile {
  std::string which;  ///< part of its name: "" where there is one
  Content content;
  std::int64_t records = 0;
};
/// All that a run of the experiment writes; content: the workload's.
std::vector<RunFile> files_of_run(const Setup& setup, const Content& content);
/// Of the values in them; replicated: with the variables that one rank puts.
std::int64_t value_bytes(const std::vector<RunFile>& files, bool replicated);

/// What programs share while they run: how a run is made, measured and reported.
class Session {
 public:
  Session(MPI_Comm comm, const Setup& setup, Events& events, const Content& content);

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  const Setup& setup() const { return setup_; }
  const Content& content() const { return content_; }
  int round() const { return round_; }  ///< 0 warms up
  /// Whether this round looks at what the later ones take for granted.
  bool first_round() const { return round_ == (setup_.options.warm_up ? 0 : setup_.options.first_round); }

  const std::vector<RunFile>& files() const { return files_; }
  /// Path of a case's file; which: of a program that writes several.
  std::string path_of(const Case& c, const std::string& which = "") const;
  /// Removes all files of a dataset. Collective.
  void remove(const std::string& path);
  /// Of a file that was written, or of the files of a set; on rank 0, which keeps results.
  std::int64_t bytes_in_files(const std::string& path) const;
  std::int64_t files_in(const std::string& path) const;  ///< how many; 0 on other ranks than 0
  Run make_run(const Case& c, const std::string& path, std::vector<LocalField>& arrays, Phases& phases) const;
  /// Of one of files(), with the arrays of its fields.
  Run make_run(const Case& c, const RunFile& file, std::vector<LocalField>& arrays, Phases& phases) const;
  Result make_result(const Case& c, const std::string& operation, std::int64_t bytes) const;
  /// Of the values that a case writes.
  std::int64_t bytes_of(const Case& c) const;

  /// Runs prepare, which is not timed, and f, the measured part. Puts the times of the slowest rank, the
  /// processor times of all, and the memory of both into the result, whose phases are those of the run.
  /// Collective.
  void measure(Run& run, Result& result, const std::function<void()>& prepare,
               const std::function<void()>& f);
  /// Says what will be done now. Collective.
  void announce(const Case& c, const std::string& operation);
  /// What people should know.
  void note(const std::string& text);
  /// Takes a finished result.
  void keep(const Result& result);

 private:
  friend class Turns;
  Run make_run(const Case& c, const std::string& path, const Content& content, std::int64_t records,
               std::vector<LocalField>& arrays, Phases& phases) const;
  MPI_Comm comm_;
  const Setup& setup_;
  Events& events_;
  const Content& content_;
  std::vector<RunFile> files_;
  std::vector<Result> results_;
  std::map<std::string, std::int64_t> shared_at_peak_;  ///< by what was run
  int rank_ = 0;
  int round_ = 0;
  bool one_node_ = true;
  bool flushes_ = true;
};

/// What is done with a case in its turn; a new one is a file in programs/.
class Program {
 public:
  virtual ~Program() = default;
  /// Runs a case once, from making the file to its removal. Refused passes through. Collective.
  virtual void turn(Session& session, const Case& c) = 0;
};
std::unique_ptr<Program> make_records(Session& session);  // programs/records.cpp
std::unique_ptr<Program> make_streams(Session& session);  // programs/streams.cpp

/// Runs everything that the options ask for, cases taking turns; results are complete on rank 0. Repetition
/// 0, which warms up and is not to be counted, is among them. Collective.
std::vector<Result> run_all(MPI_Comm comm, const Setup& setup, Events& events, const Workload& workload);

}  // namespace shoal::bench
