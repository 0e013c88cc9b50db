// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/waiting_cells.hpp"

#include <algorithm>
#include <cstring>

#include "decomp/partition.hpp"
#include "pack/pieces.hpp"

namespace shoal {

namespace {

/// Copies a box between two others that hold it, row-major.
void copy_cells(const Box& box, const std::byte* from, const Box& from_box, std::byte* to, const Box& to_box,
                std::size_t size) {
  if (box.empty()) return;
  Box rows = box;
  const int last = box.rank() - 1;
  const std::int64_t row = last < 0 ? 1 : box.count[last];
  if (last >= 0) rows.count[last] = 1;
  for_each_index(rows, [&](const Dims& index) {
    std::memcpy(to + position_in(index, to_box) * static_cast<std::int64_t>(size),
                from + position_in(index, from_box) * static_cast<std::int64_t>(size),
                static_cast<std::size_t>(row) * size);
  });
}

}  // namespace

std::int64_t WaitingCells::bytes_of(const Box& box, std::size_t size) {
  return static_cast<std::int64_t>(shoal::bytes_of(box, size) + sizeof(WaitingBox));
}

// Does a box continue the one before along a dimension, so that its cells follow those in memory?
bool WaitingCells::goes_on(const WaitingBox& before, int variable, const Box& box, int& along) {
  if (before.variable != variable || !before.hidden.empty()) return false;
  along = 0;
  while (along < box.rank() && before.box.first[along] == box.first[along] && before.box.count[along] == 1 &&
         box.count[along] == 1)
    ++along;
  if (along == box.rank() || before.box.end(along) != box.first[along]) return false;
  for (int d = along + 1; d < box.rank(); ++d)
    if (before.box.first[d] != box.first[d] || before.box.count[d] != box.count[d]) return false;
  return true;
}

void WaitingCells::add(int variable, const Box& box, const std::byte* cells, std::size_t size) {
  const auto n = static_cast<std::ptrdiff_t>(shoal::bytes_of(box, size));
  int along = 0;
  if (!boxes_.empty() && goes_on(boxes_.back(), variable, box, along)) {
    WaitingBox& before = boxes_.back();
    before.cells.insert(before.cells.end(), cells, cells + n);
    before.box.count[along] += box.count[along];
    bytes_ += n;
    return;
  }
  variables_.insert(variable);
  boxes_.push_back({variable, size, box, Bytes(cells, cells + n), {}});
  bytes_ += bytes_of(box, size);
}

bool WaitingCells::hide(int variable, const Box& region, const Box& within) {
  bool all_within = true;
  for (WaitingBox& waiting : boxes_) {
    if (waiting.variable != variable) continue;
    const Box common = intersection(waiting.box, region);
    if (common.empty()) continue;
    all_within = all_within && within.contains(common);
    if (std::none_of(waiting.hidden.begin(), waiting.hidden.end(),
                     [&](const Box& hidden) { return hidden.contains(common); }))
      waiting.hidden.push_back(common);
  }
  std::erase_if(boxes_, [&](const WaitingBox& waiting) {
    const bool gone = std::any_of(waiting.hidden.begin(), waiting.hidden.end(),
                                  [&](const Box& hidden) { return hidden.contains(waiting.box); });
    if (gone) bytes_ -= bytes_of(waiting.box, waiting.size);
    return gone;
  });
  if (boxes_.empty()) bytes_ = 0;
  variables_.clear();
  for (const WaitingBox& waiting : boxes_)
    variables_.insert(waiting.variable);
  return all_within;
}

void WaitingCells::clear() {
  boxes_.clear();
  variables_.clear();
  bytes_ = 0;
}

void WaitingCells::for_each(
    const std::function<void(int variable, const Box& box, const std::byte* cells)>& visit) const {
  Bytes part;
  for (const WaitingBox& waiting : boxes_) {
    if (waiting.hidden.empty()) {
      visit(waiting.variable, waiting.box, waiting.cells.data());
      continue;
    }
    for (const Box& left : remainder(waiting.box, waiting.hidden)) {
      part.resize(shoal::bytes_of(left, waiting.size));
      copy_cells(left, waiting.cells.data(), waiting.box, part.data(), left, waiting.size);
      visit(waiting.variable, left, part.data());
    }
  }
}

void WaitingCells::copy_to(int variable, const Box& box, std::byte* cells) const {
  for (const WaitingBox& waiting : boxes_) {
    if (waiting.variable != variable) continue;
    const Box common = intersection(waiting.box, box);
    if (common.empty()) continue;
    const auto copy = [&](const Box& part) {
      copy_cells(part, waiting.cells.data(), waiting.box, cells, box, waiting.size);
    };
    if (waiting.hidden.empty())
      copy(common);
    else
      for (const Box& part : remainder(common, waiting.hidden))
        copy(part);
  }
}

}  // namespace shoal
