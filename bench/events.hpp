// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ostream>
#include <string>

#include "results.hpp"

namespace shoal::bench {

/// What is reported while the benchmark runs: for programs (--stream) an object a line, for people a line a
/// round and what they should know. Rank 0 speaks, the others are silent.
class Events {
 public:
  Events(const Setup& setup, int rank);

  void begin(std::size_t cases, std::int64_t bytes);
  void start(const std::string& operation, const std::string& method, const std::string& format,
             const std::string& dir, int round);
  void result(const Result& result);
  void skipped(const std::string& method, const std::string& format, const std::string& dir,
               const std::string& reason);
  void round_done(int round);
  /// For people, on standard error when standard output belongs to a program.
  void note(const std::string& text);
  void end();

 private:
  void line(const std::string& object) const;
  void clear_progress();

  const Setup& setup_;
  bool speaks_ = false, stream_ = false, terminal_ = false;
  std::size_t cases_ = 0, started_ = 0;
  bool progress_shown_ = false;
};

}  // namespace shoal::bench
