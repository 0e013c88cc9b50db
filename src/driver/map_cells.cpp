// SPDX-License-Identifier: BSD-3-Clause
#include "driver/map_cells.hpp"

#include <array>
#include <cstring>

namespace shoal {

namespace {

constexpr std::int64_t k_block = 256;   // scattered cells that are gathered and then converted
constexpr std::int64_t k_long_run = 8;  // on average: conversions straight from the array
constexpr std::size_t k_largest = 8;    // bytes of an element
enum class Way { pack, unpack };

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

// What stands in the caller's array where a value of the file does not fit.
const std::byte* substitute_for(Type type) {
  static constexpr std::array<std::byte, 8> k_false{};
  return type == Type::logical ? k_false.data() : static_cast<const std::byte*>(default_fill(type));
}

/// Moves cells between an array of local cells and a message.
template <Way way>
class Mover {
 public:
  using MessageByte = std::conditional_t<way == Way::pack, std::byte, const std::byte>;

  Mover(const Transfer& transfer, const MappedPart& part, const Element& message, MessageByte* bytes,
        const std::byte* substitute)
      : transfer_(transfer),
        map_(*transfer.decomposition->map()),
        part_(part),
        array_(in_memory(transfer)),
        message_(message),
        bytes_(bytes),
        substitute_(substitute),
        leads_(part.lead.rank()),
        stride_(transfer.array.strides[leads_]),
        size_(static_cast<std::int64_t>(message.size)) {
    convert_ = way == Way::pack ? find_conversion(array_, message_) : find_conversion(message_, array_);
    const int n = part.whole.rank();
    item_ = part.whole.cells();
    for (int d = 0; d < n; ++d)
      whole_strides_.push_back(transfer.array.strides[leads_ + 1 + d]);
    const Dims dense = byte_strides(part.whole.count, array_.size);
    for (int d = 0; d < n; ++d)
      dense_ = dense_ && (part.whole.count[d] == 1 || whole_strides_[d] == dense[d]);
  }

  Misfits move() {
    const std::int64_t whole_leads = part_.lead.cells();
    for (lead_ = 0; lead_ < whole_leads; ++lead_) {
      const Dims index = unravel(lead_, part_.lead.count);
      at_ = transfer_.array.data;
      for (int d = 0; d < leads_; ++d)
        at_ += (part_.lead.first[d] + index[d] - transfer_.region.first[d]) * transfer_.array.strides[d];
      for (int d = 0; d < part_.whole.rank(); ++d)
        at_ += (part_.whole.first[d] - whole_first(d)) * whole_strides_[d];
      if (item_ == 1 && map_.mapped_cells() < k_long_run * map_.runs())
        move_scattered();
      else
        move_runs();
      bytes_ += cells_ * item_ * size_;
    }
    return misfits_;
  }

 private:
  std::int64_t whole_first(int d) const {
    return transfer_.region.first[transfer_.region.rank() - part_.whole.rank() + d];
  }

  Misfits convert(std::byte* array, std::int64_t array_stride, MessageByte* message,
                  std::int64_t message_stride, std::int64_t n) const {
    if constexpr (way == Way::pack)
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
    const bool same = array_ == message_;
    const auto size = static_cast<std::int64_t>(array_.size);
    Misfits found;
    if constexpr (way == Way::pack) {
      std::byte* to = same ? message : block.data();
      for_size(array_.size, [&](auto element) { gather<decltype(element)>(at_, stride_, local, n, to); });
      if (!same) found = convert(block.data(), size, message, size_, n);
    } else {
      const std::byte* from = same ? message : block.data();
      if (!same) found = convert(block.data(), size, message, size_, n);
      for_size(array_.size, [&](auto element) { scatter<decltype(element)>(from, local, n, at_, stride_); });
    }
    if (found.count > 0) note(found, local[found.first], 0);
  }

  void move_runs() {
    cells_ = 0;
    part_.rows.for_each_cell(map_, part_.low, part_.end,
                             [&](const IndexMap::Run& run, std::int64_t, std::int64_t which) {
                               move_run(run, bytes_ + which * item_ * size_);
                               cells_ = which + run.length;
                             });
  }

  void move_run(const IndexMap::Run& run, MessageByte* message) {
    const auto size = static_cast<std::int64_t>(array_.size);
    std::byte* array = at_ + run.local * stride_;
    if (item_ == 1 || (dense_ && stride_ == item_ * size)) {
      const Misfits found = convert(array, item_ == 1 ? stride_ : size, message, size_, run.length * item_);
      if (found.count > 0) note(found, run.local + found.first / item_, found.first % item_);
    } else if (dense_) {
      for (std::int64_t i = 0; i < run.length; ++i) {
        const Misfits found = convert(array + i * stride_, size, message + i * item_ * size_, size_, item_);
        if (found.count > 0) note(found, run.local + i, found.first);
      }
    } else {
      const Dims count = joined({run.length}, part_.whole.count);
      const Dims in_array = joined({stride_}, whole_strides_);
      const Dims in_message = byte_strides(count, message_.size);
      Misfits found;
      if constexpr (way == Way::pack)
        found = copy_box(array, in_array, message, in_message, count, convert_, substitute_);
      else
        found = copy_box(message, in_message, array, in_array, count, convert_, substitute_);
      if (found.count > 0) note(found, run.local + found.first / item_, found.first % item_);
    }
  }

  // first of found: the local cell, and which of its values.
  void note(Misfits found, std::int64_t local, std::int64_t value) {
    Dims index = unravel(lead_, part_.lead.count);
    for (int d = 0; d < leads_; ++d)
      index[d] += part_.lead.first[d] - transfer_.region.first[d];
    index.push_back(local);
    const Dims whole = unravel(value, part_.whole.count);
    for (int d = 0; d < whole.size(); ++d)
      index.push_back(whole[d] + part_.whole.first[d] - whole_first(d));
    found.first = position_in(index, Box::whole(transfer_.array.extents));
    misfits_.merge(found, 0);
  }

  const Transfer& transfer_;
  const IndexMap& map_;
  const MappedPart& part_;
  Element array_, message_;
  MessageByte* bytes_;
  const std::byte* substitute_;
  int leads_;
  std::int64_t stride_;    // from local cell to local cell
  std::int64_t size_;      // of an element of the message
  std::int64_t item_ = 1;  // values of a cell
  Dims whole_strides_;
  bool dense_ = true;  // values of a cell follow each other
  ConvertRun convert_ = nullptr;
  std::byte* at_ = nullptr;  // of local cell 0
  std::int64_t lead_ = 0;
  std::int64_t cells_ = 0;  // in the message, of this lead
  Misfits misfits_;
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

Misfits pack_mapped(const Transfer& transfer, const MappedPart& part, const Element& message, std::byte* to,
                    const std::byte* substitute) {
  if (transfer.decomposition->map()->empty()) return {};
  return Mover<Way::pack>(transfer, part, message, to, substitute).move();
}

Misfits unpack_mapped(const Transfer& transfer, const MappedPart& part, const Element& message,
                      const std::byte* from) {
  if (transfer.decomposition->map()->empty()) return {};
  return Mover<Way::unpack>(transfer, part, message, from, substitute_for(transfer.array.type)).move();
}

Status mapped_misfit_status(const Transfer& transfer, const VariableDef& variable, const Misfits& misfits,
                            bool writing) {
  const Dims local = unravel(misfits.first, transfer.array.extents);
  const Decomposition& decomposition = *transfer.decomposition;
  const int leads = transfer.region.rank() - decomposition.rank();
  std::int64_t cell = 0;
  const Dims mapped = decomposition.mapped_shape();
  decomposition.map()->for_each_run(0, volume(mapped), [&](const IndexMap::Run& run) {
    if (run.local <= local[leads] && local[leads] < run.local + run.length)
      cell = run.global + local[leads] - run.local;
  });
  Dims global;
  for (int d = 0; d < leads; ++d)
    global.push_back(transfer.region.first[d] + local[d]);
  for (const auto i : unravel(cell, mapped))
    global.push_back(i);
  for (int d = leads + 1; d < local.size(); ++d)
    global.push_back(local[d] + transfer.region.first[global.size()]);
  // Of one cell, whose value is the array.
  Transfer one = transfer;
  for (int d = 0; d < local.size(); ++d)
    one.array.data += local[d] * one.array.strides[d];
  one.array.strides = Dims(global.size());
  one.mine = Box(global, Dims(global.size(), 1));
  return misfit_status(one, variable, {misfits.count, 0}, one.mine, writing);
}

}  // namespace shoal
