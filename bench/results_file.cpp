// SPDX-License-Identifier: BSD-3-Clause
#include "results_file.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace shoal::bench {

ResultsFile::ResultsFile(const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(path, error);
  path_ = error ? path : real.string();
  const auto status = std::filesystem::status(path_, error);
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  draft_ = special ? path_ : path_ + ".tmp";
  // Appending spoils nothing.
  good_ = !std::filesystem::is_directory(status) && std::ofstream(draft_, std::ios::app).good();
}

ResultsFile::~ResultsFile() {
  std::error_code ignored;
  if (good_ && draft_ != path_) std::filesystem::remove(draft_, ignored);
}

void ResultsFile::write(const std::function<std::string()>& text) {
  if (path_.empty()) return;
  std::ofstream out(draft_, std::ios::trunc);
  out << text();
  out.close();
  std::error_code error;
  if (out && draft_ != path_) std::filesystem::rename(draft_, path_, error);
  if (!out || error) throw std::runtime_error("--json: " + path_ + " could not be written");
}

}  // namespace shoal::bench
