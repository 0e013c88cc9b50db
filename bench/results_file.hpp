// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace shoal::bench {

/// The file of --json. What an earlier start has left there stays until the new results are complete: they
/// are written beside it and take its place. All Local.
class ResultsFile {
 public:
  /// Finds out whether the file can be written; path "": there is none, and nothing happens.
  explicit ResultsFile(const std::string& path);
  /// What is half done is removed.
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  bool good() const { return good_; }
  /// Once. std::runtime_error if that fails.
  void write(const std::function<std::string()>& text);

 private:
  std::string path_;   ///< links followed
  std::string draft_;  ///< where it is written first: path_ itself for what is no regular file
  std::FILE* file_ = nullptr;
  bool good_ = true;
};

}  // namespace shoal::bench
