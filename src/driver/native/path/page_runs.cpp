// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/page_runs.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {

void PageRuns::write(std::byte* cells, const Extent& run, bool goes_on) {
  std::byte* from = cells + run.in_memory;
  Location at = run.in_file;
  std::int64_t length = run.bytes;
  if (waiting_at_ + waiting_bytes_ == at && run.in_memory == 0) {
    from -= waiting_bytes_;
    at = waiting_at_;
    length += waiting_bytes_;
    std::memcpy(from, waiting_.data(), static_cast<std::size_t>(std::exchange(waiting_bytes_, 0)));
  }
  finish();
  if (goes_on) {
    const auto in_page = static_cast<std::int64_t>((at + length).offset % k_page);
    waiting_bytes_ = std::min(in_page, length);
    length -= waiting_bytes_;
    waiting_at_ = at + length;
    std::memcpy(waiting_.data(), from + length, static_cast<std::size_t>(waiting_bytes_));
  }
  if (length > 0) file_.write(at, {from, static_cast<std::size_t>(length)});
}

void PageRuns::finish() {
  if (waiting_bytes_ == 0) return;
  const auto bytes = static_cast<std::size_t>(std::exchange(waiting_bytes_, 0));
  file_.write(waiting_at_, {waiting_.data(), bytes});
}

}  // namespace shoal
