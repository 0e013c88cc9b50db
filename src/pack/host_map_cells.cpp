// SPDX-License-Identifier: BSD-3-Clause
// Cells of maps in the host's memory.
#include <array>
#include <cstring>

#include "pack/cells.hpp"
#include "pack/map_cells.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_block = 256;   // scattered cells that are gathered and then converted
constexpr std::int64_t k_long_run = 8;  // on average: conversions straight from the array
constexpr std::size_t k_largest = 8;    // bytes of an element
enum class Move { pack, unpack };

template <class T>
void gather(const std::byte* array, std::int64_t stride, const std::int64_t* local, std::int64_t n,
            std::byte* to) {
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof(T)), array + local[i] * stride, sizeof(T));
}

template <class T>
void scatter(const std::byte* from, const std::int64_t* local, std::int64_t n, std::byte* array,
             std::int64_t stride) {
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(array + local[i] * stride, from + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
}

// One size after the other, so that copies of one element become single instructions.
template <class Work>
void for_size(std::size_t size, Work&& work) {
  switch (size) {
    case 1:
      return work(std::uint8_t{});
    case 2:
      return work(std::uint16_t{});
    case 4:
      return work(std::uint32_t{});
    default:
      return work(std::uint64_t{});
  }
}

/// Moves cells between an array of local cells and a message.
template <Move move_kind>
class Mover {
 public:
  using MessageByte = std::conditional_t<move_kind == Move::pack, std::byte, const std::byte>;

  Mover(const ArrayView& array, const MapCells& cells, MessageByte* bytes, const CellConversion& how)
      : view_(array),
        box_(cells.box),
        map_(cells.map),
        mask_(cells.mask),
        part_(cells.part),
        array_{array.type, array.element_size, false},
        bytes_(bytes),
        substitute_(how.substitute),
        fill_cells_(how.fill_cells),
        outer_dims_(part_.outer.rank()),
        stride_(array.strides[outer_dims_]),
        size_(static_cast<std::int64_t>(cells.size)),
        element_bytes_(cells.size),
        lead_cells_(cells.lead_cells),
        convert_(how.convert),
        same_(cells.size == array_.size && convert_ == find_conversion(array_, array_)) {
    const int n = part_.inner.rank();
    item_ = part_.inner.cells();
    for (int d = 0; d < n; ++d)
      whole_strides_.push_back(array.strides[outer_dims_ + 1 + d]);
    const Dims dense = byte_strides(part_.inner.count, array_.size);
    for (int d = 0; d < n; ++d)
      dense_ = dense_ && (part_.inner.count[d] == 1 || whole_strides_[d] == dense[d]);
  }

  ConversionErrors move() {
    const std::int64_t whole_leads = part_.outer.cells();
    for (outer_ = 0; outer_ < whole_leads; ++outer_) {
      const Dims index = unravel(outer_, part_.outer.count);
      at_ = view_.data;
      for (int d = 0; d < outer_dims_; ++d)
        at_ += (box_.first[d] + index[d]) * view_.strides[d];
      for (int d = 0; d < part_.inner.rank(); ++d)
        at_ += box_.first[outer_dims_ + 1 + d] * whole_strides_[d];
      const bool scattered = item_ == 1 && map_.mapped_cells() < k_long_run * map_.runs();
      if (lead_cells_ > 0)
        scattered ? place_scattered() : place_runs();
      else
        scattered ? move_scattered() : move_runs();
      bytes_ += (lead_cells_ > 0 ? lead_cells_ : cells_) * item_ * size_;
    }
    return conversion_errors_;
  }

 private:
  ConversionErrors convert(std::byte* array, std::int64_t array_stride, MessageByte* message,
                           std::int64_t message_stride, std::int64_t n) const {
    if constexpr (move_kind == Move::pack)
      return convert_(array, array_stride, message, message_stride, n, substitute_);
    else
      return convert_(message, message_stride, array, array_stride, n, substitute_);
  }

  // Cell by cell: gathered in blocks, so that the conversion has many to do at once.
  void move_scattered() {
    std::array<std::int64_t, k_block> local;
    std::int64_t n = 0;
    std::int64_t first = 0;  // of the block, in the message
    const auto flush = [&] {
      move_block(local.data(), n, bytes_ + first * size_);
      first += n;
      n = 0;
    };
    cells_ = 0;
    part_.rows.for_each_cell(map_, part_.low, part_.end,
                             [&](const IndexMap::Run& run, std::int64_t, std::int64_t which) {
                               for (std::int64_t i = 0; i < run.length; ++i) {
                                 if (which + i < cells_) {  // once more: where the message has it already
                                   move_block_of_one(run.local + i, bytes_ + (which + i) * size_, flush);
                                   continue;
                                 }
                                 local[static_cast<std::size_t>(n)] = run.local + i;
                                 ++cells_;
                                 if (++n == k_block) flush();
                               }
                             });
    flush();
  }

  template <class Flush>
  void move_block_of_one(std::int64_t local, MessageByte* message, Flush&& flush) {
    flush();
    move_block(&local, 1, message);
  }

  void move_block(const std::int64_t* local, std::int64_t n, MessageByte* message) {
    if (n == 0) return;
    alignas(8) std::array<std::byte, k_block * k_largest> block;
    const auto size = static_cast<std::int64_t>(array_.size);
    ConversionErrors found;
    if constexpr (move_kind == Move::pack) {
      std::byte* to = same_ ? message : block.data();
      for_size(array_.size, [&](auto element) { gather<decltype(element)>(at_, stride_, local, n, to); });
      if (mask_ != nullptr) drop_masked(local, n, to);
      if (!same_) found = convert(block.data(), size, message, size_, n);
      if (mask_ != nullptr) {
        count_fill(message, n, found);
        fill_masked_cells(local, n, message);
      }
    } else {
      std::array<std::int64_t, k_block> active;
      alignas(8) std::array<std::byte, k_block * k_largest> of_active;
      if (mask_ != nullptr) {
        n = keep_active(local, n, message, active.data(), of_active.data());
        local = active.data();
        message = of_active.data();
      }
      const std::byte* from = same_ ? message : block.data();
      if (!same_) found = convert(block.data(), size, message, size_, n);
      for_size(array_.size, [&](auto element) { scatter<decltype(element)>(from, local, n, at_, stride_); });
    }
    if (found.count > 0) note(found, local[found.first], 0);
  }

  // Of a message: what goes to the array, where land stays as it is. So many.
  std::int64_t keep_active(const std::int64_t* local, std::int64_t n, const std::byte* message,
                           std::int64_t* active, std::byte* of_active) const {
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (mask_->is_masked(local[i])) continue;
      active[kept] = local[i];
      std::memcpy(of_active + kept++ * size_, message + i * size_, element_bytes_);
    }
    return kept;
  }

  // Of a block that was gathered: nothing of land is looked at, so that no value of it is found not to fit.
  void drop_masked(const std::int64_t* local, std::int64_t n, std::byte* gathered) const {
    for (std::int64_t i = 0; i < n; ++i)
      if (mask_->is_masked(local[i]))
        std::memset(gathered + i * static_cast<std::int64_t>(array_.size), 0, array_.size);
  }
  void fill_masked_cells(const std::int64_t* local, std::int64_t n, std::byte* message) const {
    for (std::int64_t i = 0; i < n; ++i)
      if (mask_->is_masked(local[i])) std::memcpy(message + i * size_, substitute_, element_bytes_);
  }

  // Of water in a message: what readers will take for missing, without values that did not fit.
  void count_fill(const std::byte* message, std::int64_t n, const ConversionErrors& errors) const {
    if constexpr (move_kind == Move::pack)
      if (fill_cells_ != nullptr)
        *fill_cells_ += count_equal(message, size_, n, substitute_, element_bytes_) - errors.count;
  }

  void move_runs() {
    cells_ = 0;
    part_.rows.for_each_cell(map_, part_.low, part_.end,
                             [&](const IndexMap::Run& run, std::int64_t, std::int64_t which) {
                               move_run(run, bytes_ + which * item_ * size_);
                               cells_ = which + run.length;
                             });
  }

  // The same where each cell of the message lies at its position.
  void place_scattered() {
    alignas(8) std::array<std::byte, k_block * k_largest> block;
    std::array<std::int64_t, k_block> local;
    std::array<std::int64_t, k_block> position;
    std::int64_t n = 0;
    const auto flush = [&] {
      if constexpr (move_kind == Move::pack) {
        move_block(local.data(), n, block.data());
        for_size(element_bytes_, [&](auto element) {
          scatter<decltype(element)>(block.data(), position.data(), n, bytes_, size_);
        });
      } else {
        for_size(element_bytes_, [&](auto element) {
          gather<decltype(element)>(bytes_, size_, position.data(), n, block.data());
        });
        move_block(local.data(), n, block.data());
      }
      n = 0;
    };
    part_.rows.for_each_run(map_, part_.low, part_.end, [&](const IndexMap::Run& run, std::int64_t at) {
      for (std::int64_t i = 0; i < run.length; ++i) {
        local[static_cast<std::size_t>(n)] = run.local + i;
        position[static_cast<std::size_t>(n)] = at + i;
        if (++n == k_block) flush();
      }
    });
    flush();
  }

  void place_runs() {
    part_.rows.for_each_run(map_, part_.low, part_.end, [&](const IndexMap::Run& run, std::int64_t at) {
      move_run(run, bytes_ + at * item_ * size_);
    });
  }

  void move_run(const IndexMap::Run& run, MessageByte* message) {
    if (mask_ == nullptr) return move_all(run, message);
    mask_->for_each_run(run.local, run.length, [&](std::int64_t local, std::int64_t n, bool land) {
      const std::int64_t skip = local - run.local;
      MessageByte* const part = message + skip * item_ * size_;
      if (!land) {
        const std::int64_t before = conversion_errors_.count;
        move_all({run.global + skip, local, n}, part);
        return count_fill(part, n * item_, {conversion_errors_.count - before, 0});
      }
      if constexpr (move_kind == Move::pack)
        fill_box(part, {size_}, {n * item_}, substitute_, element_bytes_);
    });
  }

  void move_all(const IndexMap::Run& run, MessageByte* message) {
    const auto size = static_cast<std::int64_t>(array_.size);
    std::byte* array = at_ + run.local * stride_;
    if (item_ == 1 || (dense_ && stride_ == item_ * size)) {
      const ConversionErrors found =
          convert(array, item_ == 1 ? stride_ : size, message, size_, run.length * item_);
      if (found.count > 0) note(found, run.local + found.first / item_, found.first % item_);
    } else if (dense_) {
      for (std::int64_t i = 0; i < run.length; ++i) {
        const ConversionErrors found =
            convert(array + i * stride_, size, message + i * item_ * size_, size_, item_);
        if (found.count > 0) note(found, run.local + i, found.first);
      }
    } else {
      const Dims count = joined({run.length}, part_.inner.count);
      const Dims in_array = joined({stride_}, whole_strides_);
      const Dims in_message = byte_strides(count, element_bytes_);
      ConversionErrors found;
      if constexpr (move_kind == Move::pack)
        found = copy_box(array, in_array, message, in_message, count, convert_, substitute_);
      else
        found = copy_box(message, in_message, array, in_array, count, convert_, substitute_);
      if (found.count > 0) note(found, run.local + found.first / item_, found.first % item_);
    }
  }

  // first of found: the local cell, and which of its values.
  void note(ConversionErrors found, std::int64_t local, std::int64_t value) {
    Dims index = unravel(outer_, part_.outer.count);
    index.push_back(0);
    for (const auto i : unravel(value, part_.inner.count))
      index.push_back(i);
    for (int d = 0; d < index.size(); ++d)
      index[d] += box_.first[d];
    index[outer_dims_] = local;
    found.first = position_in(index, Box::whole(view_.extents));
    conversion_errors_.merge(found, 0);
  }

  const ArrayView view_;
  const Box& box_;
  const IndexMap& map_;
  const CellMask* mask_;  // nullptr: all cells are moved
  const MappedPart& part_;
  Element array_;
  MessageByte* bytes_;
  const std::byte* substitute_;
  std::int64_t* fill_cells_;
  int outer_dims_;
  std::int64_t stride_;        // from local cell to local cell
  std::int64_t size_;          // of an element of the message
  std::size_t element_bytes_;  // the same
  std::int64_t lead_cells_;
  ConvertRun convert_;
  bool same_;              // elements are copied as they are
  std::int64_t item_ = 1;  // values of a cell
  Dims whole_strides_;
  bool dense_ = true;        // values of a cell follow each other
  std::byte* at_ = nullptr;  // of local cell 0
  std::int64_t outer_ = 0;
  std::int64_t cells_ = 0;  // in the message, of this lead
  ConversionErrors conversion_errors_;
};

}  // namespace

ConversionErrors HostCells::gather(const ArrayView& array, const MapCells& cells, std::byte* to,
                                   const CellConversion& how) {
  return Mover<Move::pack>(array, cells, to, how).move();
}

ConversionErrors HostCells::scatter(const ArrayView& array, const MapCells& cells, const std::byte* from,
                                    const CellConversion& how) {
  return Mover<Move::unpack>(array, cells, from, how).move();
}

}  // namespace shoal
