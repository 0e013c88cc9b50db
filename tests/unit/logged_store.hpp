// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "storage/store.hpp"

namespace shoal::test {

/// One call that reached the system.
struct Step {
  enum class Kind { write, resize, sync } kind;
  std::uint64_t offset;
  Bytes bytes;
};

/// A file in memory that keeps what was done to it, and can fail at one write, which is done in part.
class LoggedStore final : public Store {
 public:
  explicit LoggedStore(Bytes bytes) : content(std::move(bytes)) {}
  const std::string& path() const override { return path_; }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const bool fails = writes_before_failure-- == 0;
    const auto part = fails ? bytes.first(bytes.size() / 2) : bytes;
    if (content.size() < offset + part.size()) content.resize(offset + part.size());
    std::copy(part.begin(), part.end(), content.begin() + static_cast<std::ptrdiff_t>(offset));
    steps.push_back({Step::Kind::write, offset, Bytes(part.begin(), part.end())});
    if (fails) throw Error(Code::io, "the device failed").in_file(path_);
  }
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    if (offset >= content.size()) return 0;
    const auto n = std::min<std::size_t>(bytes.size(), content.size() - offset);
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(offset), n, bytes.begin());
    return n;
  }
  std::uint64_t size() override { return content.size(); }
  void resize(std::uint64_t size) override {
    content.resize(size);
    steps.push_back({Step::Kind::resize, size, {}});
  }
  void sync() override { steps.push_back({Step::Kind::sync, 0, {}}); }
  void close() override {}

  Bytes content;
  std::vector<Step> steps;
  std::int64_t writes_before_failure = -1;

 private:
  std::string path_ = "memory";
};

inline void apply_to(Bytes& content, const Step& step) {
  if (step.kind == Step::Kind::resize) content.resize(step.offset);
  if (step.kind != Step::Kind::write) return;
  if (content.size() < step.offset + step.bytes.size()) content.resize(step.offset + step.bytes.size());
  std::copy(step.bytes.begin(), step.bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(step.offset));
}

/// The pieces that a write is torn into.
inline std::vector<Step> torn(const Step& step, std::uint64_t unit) {
  if (step.kind != Step::Kind::write) return {step};
  std::vector<Step> pieces;
  for (std::size_t at = 0; at < step.bytes.size();) {
    const auto n = std::min<std::size_t>(step.bytes.size() - at, unit - (step.offset + at) % unit);
    const auto from = step.bytes.begin() + static_cast<std::ptrdiff_t>(at);
    pieces.push_back({step.kind, step.offset + at, Bytes(from, from + static_cast<std::ptrdiff_t>(n))});
    at += n;
  }
  return pieces;
}

}  // namespace shoal::test
