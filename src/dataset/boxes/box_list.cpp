// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/boxes/box_list.hpp"

namespace shoal {

bool ListedBox::is_dense() const {
  for (int d = 0; d < rank_; ++d)
    if (stride(d) > 1) return false;
  return true;
}

std::int64_t ListedBox::cells() const {
  std::int64_t cells = 1;
  for (int d = 0; d < rank_; ++d)
    cells *= count(d);
  return cells;
}

StridedBox ListedBox::box() const {
  StridedBox box{Dims(rank_), Dims(rank_), Dims(rank_)};
  for (int d = 0; d < rank_; ++d) {
    box.start[d] = start(d);
    box.count[d] = count(d);
    box.stride[d] = stride(d);
  }
  return box;
}

// The stride of one cell means nothing, so that equal cells are equal boxes.
void BoxList::push_back(const StridedBox& box) {
  numbers_.insert(numbers_.end(), box.start.begin(), box.start.end());
  numbers_.insert(numbers_.end(), box.count.begin(), box.count.end());
  for (int d = 0; d < rank_; ++d)
    numbers_.push_back(box.count[d] > 1 ? box.stride[d] : 1);
  ++count_;
}

void BoxList::push_back(const ListedBox& box, int from) {
  for (int d = from; d < box.rank(); ++d)
    numbers_.push_back(box.start(d));
  for (int d = from; d < box.rank(); ++d)
    numbers_.push_back(box.count(d));
  for (int d = from; d < box.rank(); ++d)
    numbers_.push_back(box.stride(d));
  ++count_;
}

void BoxList::pack(ByteWriter& out) const {
  bool dense = true;
  for (int i = 0; i < count_ && dense; ++i)
    dense = (*this)[i].is_dense();
  out.put(static_cast<std::uint8_t>(rank_));
  out.put(dense);
  pack_number(out, static_cast<std::uint64_t>(count_));
  for (int i = 0; i < count_; ++i) {
    const ListedBox box = (*this)[i];
    for (int d = 0; d < rank_; ++d) {
      pack_difference(out, box.start(d), i == 0 ? 0 : (*this)[i - 1].start(d));
      pack_number(out, static_cast<std::uint64_t>(box.count(d)));
      if (!dense) pack_number(out, static_cast<std::uint64_t>(box.stride(d)));
    }
  }
}

void BoxList::unpack(ByteReader& in) {
  *this = BoxList(in.get<std::uint8_t>());
  const bool dense = in.get<bool>();
  count_ = static_cast<int>(unpack_number(in));
  const auto rank = static_cast<std::size_t>(rank_);
  for (int i = 0; i < count_; ++i) {
    numbers_.resize(numbers_.size() + 3 * rank, 1);
    std::int64_t* const at = numbers_.data() + numbers_.size() - 3 * rank;
    for (std::size_t d = 0; d < rank; ++d) {
      at[d] = unpack_difference(in, i == 0 ? 0 : *(at - 3 * rank + d));
      at[rank + d] = static_cast<std::int64_t>(unpack_number(in));
      if (!dense) at[2 * rank + d] = static_cast<std::int64_t>(unpack_number(in));
    }
  }
}

void BoxList::add_to(Hash& hash) const {
  hash.add(static_cast<std::uint64_t>(rank_));
  hash.add(static_cast<std::uint64_t>(count_));
  for (const std::int64_t number : numbers_)
    hash.add(static_cast<std::uint64_t>(number));
}

void pack_number(ByteWriter& out, std::uint64_t number) {
  while (number >= 128) {
    out.put(static_cast<std::uint8_t>(number | 128));
    number >>= 7;
  }
  out.put(static_cast<std::uint8_t>(number));
}

std::uint64_t unpack_number(ByteReader& in) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = in.get<std::uint8_t>();
    number |= static_cast<std::uint64_t>(byte & 127) << shift;
    if (byte < 128) break;
  }
  return number;
}

// The sign is the lowest bit.
void pack_difference(ByteWriter& out, std::int64_t number, std::int64_t before) {
  const std::uint64_t more = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(before);
  const bool negative = more >> 63 != 0;
  pack_number(out, negative ? ~more << 1 | 1 : more << 1);
}

std::int64_t unpack_difference(ByteReader& in, std::int64_t before) {
  const std::uint64_t packed = unpack_number(in);
  const std::uint64_t more = (packed & 1) != 0 ? ~(packed >> 1) : packed >> 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(before) + more);
}

}  // namespace shoal
