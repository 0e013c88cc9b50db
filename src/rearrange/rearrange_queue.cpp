// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/rearrange_queue.hpp"

#include <algorithm>
#include <cstring>

#include "codec/convert.hpp"
#include "rearrange/messages.hpp"

namespace shoal {

/// What this rank has for I/O ranks: parts of message i are first[i] .. first[i + 1] - 1, in order of fields.
struct RearrangeQueue::Outgoing {
  struct Part {
    int io;
    std::int64_t at, bytes;  ///< in the packed cells
  };
  std::vector<Part> parts;
  std::vector<std::size_t> first;
  std::vector<Message> messages;
  std::vector<int> ios;  ///< of these

  std::int64_t pack(std::size_t i, const std::byte* cells, std::byte* to) const {
    for (std::size_t k = first[i]; k < first[i + 1]; ++k) {
      std::memcpy(to, cells + parts[k].at, static_cast<std::size_t>(parts[k].bytes));
      to += parts[k].bytes;
    }
    return messages[i].bytes;
  }
};

/// What comes to this rank, in the same way.
struct RearrangeQueue::Incoming {
  struct Part {
    int rank;
    std::size_t field;
    const IndexSet* where;
    std::int64_t bytes;
  };
  std::vector<Part> parts;
  std::vector<std::size_t> first;
  std::vector<Message> messages;
};

RearrangeQueue::RearrangeQueue(const Comm& comm, Numbered<int> io_ranks, std::int64_t most_bytes,
                               NodeMessages* nodes)
    : comm_(comm),
      io_ranks_(std::move(io_ranks)),
      most_bytes_(nodes == nullptr ? most_bytes : std::min(most_bytes, nodes->most_cell_bytes())),
      nodes_(nodes) {
  const auto me = std::find(io_ranks_.begin(), io_ranks_.end(), comm.rank());
  if (me != io_ranks_.end()) my_io_ = static_cast<int>(me - io_ranks_.begin());
  comm_.agree_or_throw(caught([&] {
    cells_.of(most_bytes_);
    if (my_io_ >= 0) boxes_.of(most_bytes_);
  }));
}

std::int64_t RearrangeQueue::bytes() const {
  return static_cast<std::int64_t>(cells_.bytes() + boxes_.bytes() + buffers_.in.bytes() +
                                   buffers_.out.bytes());
}

bool RearrangeQueue::fits(const Rearranger::Plan& plan) const {
  return rank_bytes_ + whole_lines(plan.rank_bytes) <= most_bytes_ &&
         box_bytes_ + whole_lines(plan.box_bytes) <= most_bytes_;
}

ConversionErrors RearrangeQueue::add(const Rearranger& rearranger, const Rearranger::Plan& plan,
                                     const Transfer& transfer, const std::byte* fill) {
  Field field{&rearranger, plan, Bytes(fill, fill + plan.stored.size), packed_bytes_, 0};
  if (!fields_.empty())
    field.box_at =
        fields_.back().box_at + whole_lines(fields_.back().plan.mine.cells() *
                                            static_cast<std::int64_t>(fields_.back().plan.stored.size));
  const ConversionErrors conversion_errors =
      rearranger.pack(plan, transfer, fill, cells_.of(most_bytes_) + packed_bytes_);
  rearranger.for_each_part(plan, [&](int, std::int64_t bytes) { packed_bytes_ += bytes; });
  packed_bytes_ = whole_lines(packed_bytes_);
  rank_bytes_ += whole_lines(plan.rank_bytes);
  box_bytes_ += whole_lines(plan.box_bytes);
  fields_.push_back(std::move(field));
  return conversion_errors;
}

void RearrangeQueue::clear() {
  fields_.clear();
  packed_bytes_ = rank_bytes_ = box_bytes_ = 0;
}

RearrangeQueue::Outgoing RearrangeQueue::outgoing() const {
  Outgoing out;
  for (const auto& field : fields_) {
    std::int64_t at = field.at;
    field.rearranger->for_each_part(field.plan, [&](int io, std::int64_t bytes) {
      out.parts.push_back({io, at, bytes});
      at += bytes;
    });
  }
  std::stable_sort(out.parts.begin(), out.parts.end(),
                   [](const auto& a, const auto& b) { return a.io < b.io; });
  for (std::size_t k = 0; k < out.parts.size(); ++k) {
    const auto& part = out.parts[k];
    if (out.ios.empty() || out.ios.back() != part.io) {
      out.first.push_back(k);
      out.ios.push_back(part.io);
      out.messages.push_back({io_ranks_[part.io], 0});
    }
    out.messages.back().bytes += part.bytes;
  }
  out.first.push_back(out.parts.size());
  return out;
}

RearrangeQueue::Incoming RearrangeQueue::incoming() const {
  Incoming in;
  if (my_io_ < 0) return in;
  for (std::size_t f = 0; f < fields_.size(); ++f)
    fields_[f].rearranger->for_each_source(fields_[f].plan,
                                           [&](int rank, const IndexSet& where, std::int64_t bytes) {
                                             in.parts.push_back({rank, f, &where, bytes});
                                           });
  std::stable_sort(in.parts.begin(), in.parts.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
  for (std::size_t k = 0; k < in.parts.size(); ++k) {
    if (in.messages.empty() || in.messages.back().rank != in.parts[k].rank) {
      in.first.push_back(k);
      in.messages.push_back({in.parts[k].rank, 0});
    }
    in.messages.back().bytes += in.parts[k].bytes;
  }
  in.first.push_back(in.parts.size());
  return in;
}

// I/O ranks that any rank of this node has cells for, of any field.
SendBlocks RearrangeQueue::send_blocks_of(const Outgoing& out) const {
  std::vector<int> ios;
  for (const auto& field : fields_) {
    field.rearranger->for_each_of_node(field.plan, [&](int io) { ios.push_back(io); });
    std::sort(ios.begin(), ios.end());
    ios.erase(std::unique(ios.begin(), ios.end()), ios.end());
  }
  Numbered<std::int64_t> mine(ios.size(), 0);
  for (std::size_t i = 0; i < out.ios.size(); ++i) {
    const auto at = std::lower_bound(ios.begin(), ios.end(), out.ios[i]);
    mine[at - ios.begin()] = out.messages[i].bytes;
  }
  return send_blocks_of_node(nodes_->nodes().node(), ios, mine);
}

// Where messages do not go in two levels.
void RearrangeQueue::reserve_buffers() {
  if (buffers_.bytes > 0) return;
  comm_.agree_or_throw(caught([&] {
    buffers_.out.of(most_bytes_);
    buffers_.in.of(most_bytes_);
  }));
  buffers_.bytes = most_bytes_;
}

void RearrangeQueue::move(const Outgoing& out, const Incoming& in, std::byte* boxes) {
  const std::byte* const cells = cells_.of(most_bytes_);
  const auto unpack = [&](std::size_t i, const std::byte* from, std::int64_t) {
    for (std::size_t k = in.first[i]; k < in.first[i + 1]; ++k) {
      const auto& part = in.parts[k];
      const Field& field = fields_[part.field];
      field.rearranger->place(field.plan, *part.where, from, part.bytes, boxes + field.box_at);
      from += part.bytes;
    }
  };
  if (nodes_ != nullptr) nodes_->reserve(box_bytes_);
  if (nodes_ == nullptr || !nodes_->usable()) {
    if (nodes_ != nullptr) nodes_->count(out.messages);
    reserve_buffers();
    return exchange_messages(
        comm_, buffers_, out.messages, [&](std::size_t i, std::byte* to) { return out.pack(i, cells, to); },
        in.messages, unpack);
  }
  const auto pack = [&](std::size_t io, std::byte* to) {
    const auto at = std::lower_bound(out.ios.begin(), out.ios.end(), static_cast<int>(io));
    return out.pack(static_cast<std::size_t>(at - out.ios.begin()), cells, to);
  };
  nodes_->to_io_ranks(send_blocks_of(out), pack, in.messages, unpack);
}

void RearrangeQueue::rearrange(const Store& store) {
  if (fields_.empty()) return;
  std::byte* const boxes = my_io_ < 0 ? nullptr : boxes_.of(most_bytes_);
  for (const auto& field : fields_) {
    const Rearranger::Plan& plan = field.plan;
    const auto size = static_cast<std::int64_t>(plan.stored.size);
    if (my_io_ >= 0 && !plan.complete && !plan.mine.empty())
      fill_box(boxes + field.box_at, {size}, {plan.mine.cells()}, field.fill.data(), field.fill.size());
  }
  move(outgoing(), incoming(), boxes);
  for (std::size_t f = 0; f < fields_.size() && my_io_ >= 0; ++f)
    if (!fields_[f].plan.mine.empty()) store(f, fields_[f].plan.mine, boxes + fields_[f].box_at);
  clear();
}

}  // namespace shoal
