// SPDX-License-Identifier: BSD-3-Clause
#include "streams/coarsening.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

namespace {

constexpr double k_no_value = std::numeric_limits<double>::quiet_NaN();
constexpr double k_circle = 360.0;
constexpr std::size_t k_pair = 2 * sizeof(std::int64_t);  // of a message: two cells

std::vector<RankMessage> messages_of(std::map<int, ByteWriter>& parts) {
  std::vector<RankMessage> out;
  for (auto& [rank, writer] : parts)
    out.push_back({rank, writer.take()});
  return out;
}

}  // namespace

// Even parts of the coarse cells each have a rank that asks who has cells of them, and answers with the one
// that has the first.
std::vector<int> Coarsening::owners(const Comm& comm, const std::vector<Known>& mine,
                                    std::int64_t coarse_cells) {
  const std::int64_t share = std::max<std::int64_t>(1, (coarse_cells + comm.size() - 1) / comm.size());
  std::map<int, ByteWriter> asked;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (i > 0 && mine[i].coarse == mine[i - 1].coarse) continue;
    ByteWriter& to = asked[static_cast<int>(mine[i].coarse / share)];
    to.put(mine[i].coarse);
    to.put(mine[i].fine);
  }
  struct First {
    std::int64_t fine;
    int rank;
  };
  const auto questions = comm.exchange(messages_of(asked));
  std::map<std::int64_t, First> firsts;
  for (const RankMessage& question : questions) {
    ByteReader in(question.bytes);
    for (std::size_t left = question.bytes.size() / k_pair; left > 0; --left) {
      const auto coarse = in.get<std::int64_t>(), fine = in.get<std::int64_t>();
      const auto [at, is_new] = firsts.try_emplace(coarse, First{fine, question.rank});
      if (!is_new && fine < at->second.fine) at->second = {fine, question.rank};
    }
  }
  std::map<int, ByteWriter> answers;
  for (const RankMessage& question : questions) {
    ByteReader in(question.bytes);
    for (std::size_t left = question.bytes.size() / k_pair; left > 0; --left) {
      const auto coarse = in.get<std::int64_t>();
      in.get<std::int64_t>();
      answers[question.rank].put(firsts.at(coarse).rank);
    }
  }
  // Ranks ascend as cells do, and each answers in the order of the questions.
  std::vector<int> out;
  for (const RankMessage& answer : comm.exchange(messages_of(answers))) {
    ByteReader in(answer.bytes);
    for (std::size_t left = answer.bytes.size() / sizeof(int); left > 0; --left)
      out.push_back(in.get<int>());
  }
  return out;
}

Coarsening::Coarsening(const Comm& comm, const Dims& fine, const Dims& factor,
                       const std::vector<std::int64_t>& cells)
    : fine_cells_(static_cast<std::int64_t>(cells.size())) {
  for (int d = 0; d < fine.size(); ++d)
    shape_.push_back((fine[d] + factor[d] - 1) / factor[d]);
  const Dims strides = row_major_strides(shape_);
  std::vector<Known> known;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == k_hole) continue;
    const Dims at = unravel(cells[i], fine);
    std::int64_t coarse = 0;
    for (int d = 0; d < fine.size(); ++d)
      coarse += at[d] / factor[d] * strides[d];
    known.push_back({coarse, cells[i], static_cast<std::int64_t>(i)});
  }
  const auto order = [](const Known& a, const Known& b) {
    return std::pair(a.coarse, a.fine) < std::pair(b.coarse, b.fine);
  };
  std::sort(known.begin(), known.end(), order);
  const std::vector<int> owner = owners(comm, known, volume(shape_));
  std::vector<Known> own;
  std::map<int, ByteWriter> sent;
  std::map<int, std::vector<std::int64_t>> to;
  std::int64_t coarse = -1;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (i == 0 || known[i].coarse != known[i - 1].coarse) ++coarse;
    const int rank = nth(owner, coarse);
    if (rank == comm.rank()) {
      own.push_back(known[i]);
      continue;
    }
    to[rank].push_back(known[i].term);
    sent[rank].put(known[i].coarse);
    sent[rank].put(known[i].fine);
  }
  for (auto& [rank, list] : to)
    to_.push_back({rank, std::move(list)});
  std::int64_t next = fine_cells_;
  for (const RankMessage& message : comm.exchange(messages_of(sent))) {
    const Sender sender{message.rank, static_cast<std::int64_t>(message.bytes.size() / k_pair)};
    ByteReader in(message.bytes);
    for (std::int64_t left = sender.cells; left > 0; --left) {
      const auto of = in.get<std::int64_t>(), cell = in.get<std::int64_t>();
      own.push_back({of, cell, next++});
    }
    from_.push_back(sender);
  }
  exchanges_ = comm.max(static_cast<std::int64_t>(to_.size())) > 0;
  std::sort(own.begin(), own.end(), order);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i == 0 || own[i].coarse != own[i - 1].coarse) {
      cells_.push_back(own[i].coarse);
      first_.push_back(static_cast<std::int64_t>(i));
    }
    terms_.push_back(own[i].term);
  }
  first_.push_back(static_cast<std::int64_t>(terms_.size()));
  make_decomposition(comm);
}

void Coarsening::make_decomposition(const Comm& comm) {
  const int nd = shape_.size();
  Box box{Dims(nd), Dims(nd)};
  if (!cells_.empty()) {
    Dims low = shape_, high(nd);
    for (const std::int64_t cell : cells_) {
      const Dims at = unravel(cell, shape_);
      for (int d = 0; d < nd; ++d) {
        low[d] = std::min(low[d], at[d]);
        high[d] = std::max(high[d], at[d] + 1);
      }
    }
    for (int d = 0; d < nd; ++d)
      high[d] -= low[d];
    box = Box(low, high);
  }
  const bool is_block = box.cells() == static_cast<std::int64_t>(cells_.size());
  decomposition_ = comm.min(std::int64_t{is_block}) != 0
                       ? Decomposition::block(comm, shape_, box, Dims(nd), Dims(nd))
                       : Decomposition::map(comm, shape_, 0, cells_);
}

Dims Coarsening::local_shape() const {
  return decomposition_->map() != nullptr ? Dims{static_cast<std::int64_t>(cells_.size())}
                                          : decomposition_->tile().count;
}

/// Value and weight of each cell that other ranks sent, [fields][cells of all senders][2].
std::vector<double> Coarsening::received(const Comm& comm, const WeightedValues& fine,
                                         std::int64_t fields) const {
  std::vector<double> out;
  if (!exchanges_) return out;
  std::vector<RankMessage> parts;
  for (const Peer& peer : to_) {
    ByteWriter writer;
    for (std::int64_t f = 0; f < fields; ++f)
      for (const std::int64_t cell : peer.cells) {
        writer.put(nth(fine.values, f * fine_cells_ + cell));
        writer.put(nth(fine.weights, f * fine_cells_ + cell));
      }
    parts.push_back({peer.rank, writer.take()});
  }
  std::int64_t all = 0, before = 0;
  for (const Sender& sender : from_)
    all += sender.cells;
  out.resize(static_cast<std::size_t>(fields * all * 2));
  std::size_t next = 0;
  for (const RankMessage& message : comm.exchange(parts)) {
    const Sender& sender = from_.at(next++);
    ByteReader in(message.bytes);
    for (std::int64_t f = 0; f < fields; ++f)
      for (std::int64_t i = 0; i < 2 * sender.cells; ++i)
        nth(out, 2 * (f * all + before) + i) = in.get<double>();
    before += sender.cells;
  }
  return out;
}

WeightedValues Coarsening::join(const Comm& comm, const WeightedValues& fine, std::int64_t fields,
                                Kind kind) const {
  const std::vector<double> others = received(comm, fine, fields);
  const auto n = static_cast<std::int64_t>(cells_.size());
  std::int64_t sent = 0;
  for (const Sender& sender : from_)
    sent += sender.cells;
  WeightedValues out;
  out.values.assign(static_cast<std::size_t>(fields * n), k_no_value);
  out.weights.assign(out.values.size(), 0.0);
  for (std::int64_t f = 0; f < fields; ++f)
    for (std::int64_t c = 0; c < n; ++c) {
      double total = 0, weight = 0, base = k_no_value;
      for (std::int64_t t = nth(first_, c); t < nth(first_, c + 1); ++t) {
        const std::int64_t term = nth(terms_, t), other = f * sent + term - fine_cells_;
        const bool is_own = term < fine_cells_;
        double value = is_own ? nth(fine.values, f * fine_cells_ + term) : nth(others, 2 * other);
        const double w = is_own ? nth(fine.weights, f * fine_cells_ + term) : nth(others, 2 * other + 1);
        if (!(w > 0)) continue;
        if (kind == Kind::longitude) {
          if (weight == 0) base = value;
          value = base + std::remainder(value - base, k_circle);
        }
        total += kind == Kind::sum ? value : w * value;
        weight += w;
      }
      if (!(weight > 0)) continue;
      nth(out.values, f * n + c) = kind == Kind::sum ? total : total / weight;
      nth(out.weights, f * n + c) = weight;
    }
  return out;
}

}  // namespace shoal::streams
