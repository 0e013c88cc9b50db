// SPDX-License-Identifier: BSD-3-Clause
#include "streams/checksum.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace shoal::streams {

namespace {

constexpr std::size_t k_size = 8;

/// Of one cell: different for the same number elsewhere, so that cells which changed places are found.
std::uint64_t mixed(std::int64_t place, std::uint64_t bits) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(place));
  hash.add(bits);
  return hash.value();
}

std::uint64_t fill_bits(Type type) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, default_fill(type), sizeof bits);
  return bits;
}

std::uint64_t bits_at(const std::byte* data, std::int64_t cell) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, data + static_cast<std::size_t>(cell) * k_size, sizeof bits);
  return bits;
}

}  // namespace

std::uint64_t checksum_of(const std::vector<shoal::Attribute>& attributes) {
  Hash hash;
  for (const auto& attribute : attributes) {
    if (attribute.name == k_checksum_name) continue;
    hash.add(attribute.name);
    hash.add(static_cast<std::uint64_t>(attribute.type));
    hash.add(attribute.data);
  }
  return hash.value();
}

std::uint64_t share_of(const Comm& comm, const ArrayView& view, const Part& part) {
  const std::uint64_t none = fill_bits(view.type);
  const bool cut = part.decomposition() != nullptr;
  if (!cut && comm.rank() != 0) return 0;
  Dims shape;
  for (const DimChoice& dim : part.choices())
    shape.push_back(dim.chosen());
  const Dims strides = row_major_strides(shape);
  std::uint64_t sum = 0;
  for (std::int64_t cell = 0; cell < part.cells(); ++cell) {
    const std::uint64_t bits = bits_at(view.data, cell);
    if (bits == none || part.is_masked(cell)) continue;
    const Dims at = part.index_in_file(cell);
    std::int64_t place = 0;
    for (int d = 0; d < at.size(); ++d)
      place += at[d] * strides[d];
    sum += mixed(place, bits);
  }
  return sum;
}

// In halves, as sums of ranks are of signed numbers.
std::vector<std::uint64_t> sums_of(const Comm& comm, const std::vector<std::uint64_t>& shares) {
  constexpr std::uint64_t k_half = 0xffffffffU;
  std::vector<std::int64_t> halves;
  for (const std::uint64_t share : shares) {
    halves.push_back(static_cast<std::int64_t>(share & k_half));
    halves.push_back(static_cast<std::int64_t>(share >> 32U));
  }
  if (!halves.empty()) halves = comm.sum(std::move(halves));
  std::vector<std::uint64_t> sums;
  for (std::size_t i = 0; i < halves.size(); i += 2)
    sums.push_back(static_cast<std::uint64_t>(halves[i]) +
                   (static_cast<std::uint64_t>(halves[i + 1]) << 32U));
  return sums;
}

std::uint64_t EvenReader::share_of(int variable, Type type, const Dims& shape) {
  auto& cut = cuts_[text_of(shape)];
  if (cut == nullptr) {
    const int longest = static_cast<int>(std::max_element(shape.begin(), shape.end()) - shape.begin());
    Box mine = Box::whole(shape);
    const std::int64_t length = shape[longest], ranks = comm_.size(), rank = comm_.rank();
    mine.first[longest] = length * rank / ranks;
    mine.count[longest] = length * (rank + 1) / ranks - mine.first[longest];
    const Dims none(shape.size());
    cut = Decomposition::block(comm_, shape, mine, none, none);
  }
  const Box& mine = cut->tile();
  Bytes cells(static_cast<std::size_t>(mine.cells()) * k_size);
  DataCall call;
  call.variable = variable;
  call.decomposition = cut;
  call.array.cells = ArrayView::contiguous(cells.data(), type, mine.count);
  file_.read(call);
  const std::uint64_t none = fill_bits(type);
  const Dims strides = row_major_strides(shape);
  std::uint64_t sum = 0;
  for (std::int64_t cell = 0; cell < mine.cells(); ++cell) {
    const std::uint64_t bits = bits_at(cells.data(), cell);
    if (bits == none) continue;
    const Dims at = unravel(cell, mine.count);
    std::int64_t place = 0;
    for (int d = 0; d < at.size(); ++d)
      place += (mine.first[d] + at[d]) * strides[d];
    sum += mixed(place, bits);
  }
  return sum;
}

}  // namespace shoal::streams
