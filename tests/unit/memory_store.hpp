// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "storage/store.hpp"

namespace shoal::test {

/// A file in memory, and what was done to it in which order.
struct MemoryFile {
  struct Step {
    std::string what;  ///< "write", "resize", "sync", "close"
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  Bytes content;
  std::vector<Step> steps;
  int writes_left = -1;  ///< that many writes succeed, then there is no space; -1: all

  int count(const std::string& what) const {
    int n = 0;
    for (const auto& step : steps)
      n += step.what == what ? 1 : 0;
    return n;
  }
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::shared_ptr<MemoryFile> file) : file_(std::move(file)) {}
  const std::string& path() const override { return path_; }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (file_->writes_left == 0) throw Error(Code::no_space, "no space").in_file(path_);
    if (file_->writes_left > 0) --file_->writes_left;
    if (file_->content.size() < offset + bytes.size()) file_->content.resize(offset + bytes.size());
    std::memcpy(file_->content.data() + offset, bytes.data(), bytes.size());
    file_->steps.push_back({"write", offset, bytes.size()});
  }
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    if (offset >= file_->content.size()) return 0;
    const std::size_t n = std::min<std::size_t>(bytes.size(), file_->content.size() - offset);
    if (n > 0) std::memcpy(bytes.data(), file_->content.data() + offset, n);
    return n;
  }
  std::uint64_t size() override { return file_->content.size(); }
  void resize(std::uint64_t size) override {
    file_->content.resize(size);
    file_->steps.push_back({"resize", 0, size});
  }
  void sync() override { file_->steps.push_back({"sync"}); }
  void close() override { file_->steps.push_back({"close"}); }

 private:
  std::shared_ptr<MemoryFile> file_;
  std::string path_ = "memory.nc";
};

}  // namespace shoal::test
