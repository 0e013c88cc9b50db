// SPDX-License-Identifier: BSD-3-Clause
#include "results_file.hpp"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "shoal/shoal.h"

namespace shoal::bench {

ResultsFile::ResultsFile(const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(path, error);
  path_ = error ? path : real.string();
  const auto status = std::filesystem::status(path_, error);
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  const char* const beside = special ? path_.c_str() : shoal_beside(path_.c_str());
  draft_ = beside == nullptr ? "" : beside;
  good_ = !draft_.empty() && !std::filesystem::is_directory(status);
  if (good_) file_ = std::fopen(draft_.c_str(), special ? "w" : "wx");
  good_ = file_ != nullptr;
}

ResultsFile::~ResultsFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::error_code ignored;
  if (draft_ != path_) std::filesystem::remove(draft_, ignored);
}

void ResultsFile::write(const std::function<std::string()>& text) {
  if (path_.empty()) return;
  bool written = file_ != nullptr && std::fputs(text().c_str(), file_) >= 0;
  if (file_ != nullptr) written = std::fclose(std::exchange(file_, nullptr)) == 0 && written;
  if (written && draft_ != path_) written = shoal_take_place(draft_.c_str(), path_.c_str(), 0) == SHOAL_OK;
  if (!written) throw std::runtime_error("--json: " + path_ + " could not be written");
}

}  // namespace shoal::bench
