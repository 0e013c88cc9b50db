// SPDX-License-Identifier: BSD-3-Clause
#include "pack/map_cells.hpp"

#include <array>
#include <cstring>

#include "format/placement.hpp"
#include "pack/cells.hpp"

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

  /// size: of an element of the message. lead_cells: cells (of the mapped dimensions) from one lead to the
  /// next of a message in which each cell lies at its position; 0: they lie one after another.
  Mover(const Transfer& transfer, const MappedPart& part, ConvertRun conversion, std::size_t size,
        MessageByte* bytes, const std::byte* substitute, std::int64_t lead_cells = 0)
      : transfer_(transfer),
        map_(*transfer.decomposition->map()),
        mask_(transfer.decomposition->mask()),
        part_(part),
        array_(in_memory(transfer)),
        bytes_(bytes),
        substitute_(substitute),
        outer_dims_(part.outer.rank()),
        stride_(transfer.array.strides[outer_dims_]),
        size_(static_cast<std::int64_t>(size)),
        lead_cells_(lead_cells),
        convert_(conversion),
        same_(size == array_.size && conversion == find_conversion(array_, array_)) {
    const int n = part.inner.rank();
    item_ = part.inner.cells();
    for (int d = 0; d < n; ++d)
      whole_strides_.push_back(transfer.array.strides[outer_dims_ + 1 + d]);
    const Dims dense = byte_strides(part.inner.count, array_.size);
    for (int d = 0; d < n; ++d)
      dense_ = dense_ && (part.inner.count[d] == 1 || whole_strides_[d] == dense[d]);
  }

  ConversionErrors move() {
    const std::int64_t whole_leads = part_.outer.cells();
    for (outer_ = 0; outer_ < whole_leads; ++outer_) {
      const Dims index = unravel(outer_, part_.outer.count);
      at_ = transfer_.array.data;
      for (int d = 0; d < outer_dims_; ++d)
        at_ += (part_.outer.first[d] + index[d] - transfer_.region.first[d]) * transfer_.array.strides[d];
      for (int d = 0; d < part_.inner.rank(); ++d)
        at_ += (part_.inner.first[d] - whole_first(d)) * whole_strides_[d];
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
  std::int64_t whole_first(int d) const {
    return transfer_.region.first[transfer_.region.rank() - part_.inner.rank() + d];
  }

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
      std::memcpy(of_active + kept++ * size_, message + i * size_, static_cast<std::size_t>(size_));
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
      if (mask_->is_masked(local[i]))
        std::memcpy(message + i * size_, substitute_, static_cast<std::size_t>(size_));
  }

  // Of water in a message: what readers will take for missing, without values that did not fit.
  void count_fill(const std::byte* message, std::int64_t n, const ConversionErrors& errors) const {
    if constexpr (move_kind == Move::pack)
      if (transfer_.fill_cells != nullptr)
        *transfer_.fill_cells +=
            count_equal(message, size_, n, substitute_, static_cast<std::size_t>(size_)) - errors.count;
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
        for_size(static_cast<std::size_t>(size_), [&](auto element) {
          scatter<decltype(element)>(block.data(), position.data(), n, bytes_, size_);
        });
      } else {
        for_size(static_cast<std::size_t>(size_), [&](auto element) {
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
        fill_box(part, {size_}, {n * item_}, substitute_, static_cast<std::size_t>(size_));
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
      const Dims in_message = byte_strides(count, static_cast<std::size_t>(size_));
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
    for (int d = 0; d < outer_dims_; ++d)
      index[d] += part_.outer.first[d] - transfer_.region.first[d];
    index.push_back(local);
    const Dims whole = unravel(value, part_.inner.count);
    for (int d = 0; d < whole.size(); ++d)
      index.push_back(whole[d] + part_.inner.first[d] - whole_first(d));
    found.first = position_in(index, Box::whole(transfer_.array.extents));
    conversion_errors_.merge(found, 0);
  }

  const Transfer& transfer_;
  const IndexMap& map_;
  const CellMask* mask_;  // nullptr: all cells are moved
  const MappedPart& part_;
  Element array_;
  MessageByte* bytes_;
  const std::byte* substitute_;
  int outer_dims_;
  std::int64_t stride_;  // from local cell to local cell
  std::int64_t size_;    // of an element of the message
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

MappedRows MappedRows::of(const Box& box, const Dims& mapped_shape) {
  MappedRows rows;
  int cut = 0;
  while (cut < box.rank() - 1 && box.count[cut] == mapped_shape[cut])
    ++cut;
  rows.rows = rows.length = rows.stride = 1;
  for (int d = 0; d < box.rank(); ++d) {
    (d < cut ? rows.rows : rows.length) *= box.count[d];
    if (d >= cut) rows.stride *= mapped_shape[d];
    if (d > cut) rows.first = rows.first * mapped_shape[d] + box.first[d];
    if (d == cut) rows.first = box.first[d];
  }
  if (rows.length == rows.stride) {
    rows.length = rows.stride *= rows.rows;
    rows.rows = 1;
  }
  return rows;
}

namespace {

/// Calls visit(part, values of the box before it) for parts that are the cells of the box together.
template <class Visit>
void for_each_mapped_part(const Decomposition& decomposition, const Box& cells, Visit&& visit) {
  const int outer_dims = cells.rank() - decomposition.rank();
  const Dims shape = decomposition.mapped_shape();
  const auto dims_of = [&](int first, int n) {
    return Box(Dims(std::span(cells.first.begin() + first, static_cast<std::size_t>(n))),
               Dims(std::span(cells.count.begin() + first, static_cast<std::size_t>(n))));
  };
  MappedPart part;
  part.outer = dims_of(0, outer_dims);
  part.inner = dims_of(outer_dims + shape.size(), decomposition.uncut_dims());
  const Box mapped = dims_of(outer_dims, shape.size());
  // Rows have a step from one to the next as long as only one dimension is not whole.
  int last_cut = shape.size() - 1;
  while (last_cut > 0 && mapped.count[last_cut] == shape[last_cut])
    --last_cut;
  Box prefix = Box::whole(Dims(shape.size(), 1));
  for (int d = 0; d < last_cut; ++d)
    if (mapped.count[d] != shape[d])
      for (int i = 0; i < last_cut; ++i) {
        prefix.first[i] = mapped.first[i];
        prefix.count[i] = mapped.count[i];
      }
  const bool split = prefix.cells() > 1 || !(prefix.first == Dims(shape.size()));
  std::int64_t before = 0;
  for_each_index(prefix, [&](const Dims& index) {
    Box box = mapped;
    for (int d = 0; split && d < last_cut; ++d) {
      box.first[d] = index[d];
      box.count[d] = 1;
    }
    part.rows = MappedRows::of(box, shape);
    part.end = part.rows.cells();
    visit(part, before * part.inner.cells());
    before += box.cells();
  });
}

std::int64_t mapped_cells_of(const Decomposition& decomposition, const Box& cells) {
  std::int64_t n = 1;
  const int outer_dims = cells.rank() - decomposition.rank();
  for (int d = outer_dims; d < cells.rank() - decomposition.uncut_dims(); ++d)
    n *= cells.count[d];
  return n;
}

}  // namespace

ConversionErrors pack_map_cells(const Transfer& transfer, const Box& cells, std::byte* to, std::size_t size,
                                ConvertRun convert, const std::byte* substitute) {
  ConversionErrors conversion_errors;
  if (transfer.array.data == nullptr || transfer.decomposition->map()->empty()) return conversion_errors;
  const std::int64_t lead_cells = mapped_cells_of(*transfer.decomposition, cells);
  for_each_mapped_part(*transfer.decomposition, cells, [&](const MappedPart& part, std::int64_t before) {
    conversion_errors.merge(
        Mover<Move::pack>(transfer, part, convert, size, to + before * static_cast<std::int64_t>(size),
                          substitute, lead_cells)
            .move(),
        0);
  });
  return conversion_errors;
}

ConversionErrors unpack_map_cells(const Transfer& transfer, const Box& cells, const std::byte* from,
                                  std::size_t size, ConvertRun convert) {
  ConversionErrors conversion_errors;
  if (transfer.array.data == nullptr || transfer.decomposition->map()->empty()) return conversion_errors;
  const std::int64_t lead_cells = mapped_cells_of(*transfer.decomposition, cells);
  for_each_mapped_part(*transfer.decomposition, cells, [&](const MappedPart& part, std::int64_t before) {
    conversion_errors.merge(
        Mover<Move::unpack>(transfer, part, convert, size, from + before * static_cast<std::int64_t>(size),
                            substitute_for(transfer.array.type), lead_cells)
            .move(),
        0);
  });
  return conversion_errors;
}

void fill_left_of_map(const Transfer& transfer, const std::byte* value) {
  const Decomposition& decomposition = *transfer.decomposition;
  const IndexMap& map = *decomposition.map();
  if (decomposition.mask() == nullptr && map.mapped_cells() == map.local_cells()) return;
  std::vector<bool> active(static_cast<std::size_t>(map.local_cells()));
  map.for_each_run(0, volume(decomposition.mapped_shape()), [&](const IndexMap::Run& run) {
    for (std::int64_t i = run.local; i < run.local + run.length; ++i)
      active[static_cast<std::size_t>(i)] =
          decomposition.mask() == nullptr || !decomposition.mask()->is_masked(i);
  });
  const ArrayView& array = transfer.array;
  const int list = array.extents.size() - 1 - decomposition.uncut_dims();
  Dims around = array.extents;  // all but the dimension of the list
  around[list] = 1;
  for (std::int64_t i = 0; i < volume(around); ++i) {
    const Dims index = unravel(i, around);
    std::byte* at = array.data;
    for (int d = 0; d < index.size(); ++d)
      at += index[d] * array.strides[d];
    for (std::int64_t cell = 0; cell < map.local_cells(); ++cell)
      if (!active[static_cast<std::size_t>(cell)])
        std::memcpy(at + cell * array.strides[list], value, array.element_size);
  }
}

void fill_map_cells(const Decomposition& decomposition, const IndexMap& map, const Box& cells, std::byte* to,
                    const Bytes& fill) {
  if (map.empty()) return;
  const auto size = static_cast<std::int64_t>(fill.size());
  const std::int64_t lead_cells = mapped_cells_of(decomposition, cells);
  for_each_mapped_part(decomposition, cells, [&](const MappedPart& part, std::int64_t before) {
    const std::int64_t item = part.inner.cells();
    const std::int64_t outer_dims = part.outer.cells();
    part.rows.for_each_run(map, part.low, part.end, [&](const IndexMap::Run& run, std::int64_t position) {
      for (std::int64_t lead = 0; lead < outer_dims; ++lead)
        fill_box(to + (before + (lead * lead_cells + position) * item) * size, {size}, {run.length * item},
                 fill.data(), fill.size());
    });
  });
}

ConversionErrors pack_mapped(const Transfer& transfer, const MappedPart& part, const Element& message,
                             std::byte* to, const std::byte* substitute) {
  if (transfer.decomposition->map()->empty()) return {};
  return Mover<Move::pack>(transfer, part, to_stored(transfer, message), message.size, to, substitute).move();
}

ConversionErrors unpack_mapped(const Transfer& transfer, const MappedPart& part, const Element& message,
                               const std::byte* from) {
  if (transfer.decomposition->map()->empty()) return {};
  return Mover<Move::unpack>(transfer, part, find_conversion(message, in_memory(transfer)), message.size,
                             from, substitute_for(transfer.array.type))
      .move();
}

Status mapped_conversion_status(const Transfer& transfer, const VariableDef& variable,
                                const ConversionErrors& conversion_errors, bool writing) {
  const Dims local = unravel(conversion_errors.first, transfer.array.extents);
  const Decomposition& decomposition = *transfer.decomposition;
  const int outer_dims = transfer.region.rank() - decomposition.rank();
  std::int64_t cell = 0;
  const Dims mapped = decomposition.mapped_shape();
  decomposition.map()->for_each_run(0, volume(mapped), [&](const IndexMap::Run& run) {
    if (run.local <= local[outer_dims] && local[outer_dims] < run.local + run.length)
      cell = run.global + local[outer_dims] - run.local;
  });
  Dims global;
  for (int d = 0; d < outer_dims; ++d)
    global.push_back(transfer.region.first[d] + local[d]);
  for (const auto i : unravel(cell, mapped))
    global.push_back(i);
  for (int d = outer_dims + 1; d < local.size(); ++d)
    global.push_back(local[d] + transfer.region.first[global.size()]);
  // Of one cell, whose value is the array.
  Transfer one = transfer;
  one.decomposition = nullptr;
  for (int d = 0; d < local.size(); ++d)
    one.array.data += local[d] * one.array.strides[d];
  one.array.strides = Dims(global.size());
  one.mine = Box(global, Dims(global.size(), 1));
  return conversion_status(one, variable, {conversion_errors.count, 0}, one.mine, writing);
}

}  // namespace shoal
