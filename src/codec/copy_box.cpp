// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdlib>

#include "codec/convert.hpp"
#include "codec/kernels.hpp"

namespace shoal {
namespace {

/// One loop of the nest that visits a box.
struct Loop {
  std::int64_t count = 1;
  std::int64_t from = 0;  ///< bytes from one step to the next
  std::int64_t to = 0;
  std::int64_t position = 0;  ///< row-major positions in the box from one step to the next
};

/// The loops of a box, innermost last. Dimensions of count 1 are gone, neighbours that are one run on both
/// sides are merged.
class Nest {
 public:
  Nest(const Dims& from_strides, const Dims& to_strides, const Dims& count) {
    const Dims positions = row_major_strides(count);
    for (int d = 0; d < count.size(); ++d) {
      if (count[d] == 1) continue;
      const Loop loop{count[d], from_strides[d], to_strides[d], positions[d]};
      if (n_ > 0 && back().from == loop.from * loop.count && back().to == loop.to * loop.count) {
        back() = {back().count * loop.count, loop.from, loop.to, loop.position};
      } else {
        loops_[n_++] = loop;
      }
    }
  }

  std::size_t size() const { return n_; }
  Loop& operator[](std::size_t i) { return loops_[i]; }
  const Loop& operator[](std::size_t i) const { return loops_[i]; }
  Loop& back() { return loops_[n_ - 1]; }
  Loop* begin() { return loops_.data(); }
  Loop* end() { return loops_.data() + n_; }

  /// Takes out loop i.
  Loop take(std::size_t i) {
    const Loop loop = loops_[i];
    std::copy(begin() + i + 1, end(), begin() + i);
    --n_;
    return loop;
  }

 private:
  std::array<Loop, k_max_dims> loops_{};
  std::size_t n_ = 0;
};

// A share of a line that is used at each step: beyond a line, distance makes no difference.
constexpr std::int64_t k_line = 64;
std::int64_t step_cost(std::int64_t stride) {
  return std::min(std::abs(stride), k_line);
}

/// The loop to convert in runs: long runs, small steps on both sides. A call costs about as much as 16
/// elements that lie a line apart.
std::size_t best_run(const Nest& nest) {
  std::size_t best = 0;
  std::int64_t best_cost = -1;
  for (std::size_t i = nest.size(); i-- > 0;) {
    const Loop& loop = nest[i];
    const std::int64_t cost = 16 * k_line / loop.count + step_cost(loop.from) + step_cost(loop.to);
    if (best_cost >= 0 && cost >= best_cost) continue;
    best = i;
    best_cost = cost;
  }
  return best;
}

/// Where run steps over lines on one side, the loop that comes back to the same lines most often; size() if
/// none does.
std::size_t partner_of(const Loop& run, const Nest& nest) {
  std::size_t best = nest.size();
  std::int64_t best_cost = k_line;
  for (std::size_t i = 0; i < nest.size(); ++i) {
    const bool helps_from = std::abs(nest[i].from) < std::abs(run.from);
    const bool helps_to = std::abs(nest[i].to) < std::abs(run.to);
    const std::int64_t cost =
        std::min(helps_from ? step_cost(nest[i].from) : k_line, helps_to ? step_cost(nest[i].to) : k_line);
    if (cost >= best_cost) continue;
    best = i;
    best_cost = cost;
  }
  return best;
}

/// A nest in the order in which it is walked.
struct Walk {
  Nest outer;
  Loop partner;
  Loop run;
  std::int64_t run_piece = 1;  ///< cells of run and of partner that are done together
  std::int64_t partner_piece = 1;
};

Walk plan_walk(const Dims& from_strides, const Dims& to_strides, const Dims& count) {
  Walk walk{Nest(from_strides, to_strides, count), {}, {}};
  Nest& nest = walk.outer;
  if (nest.size() == 0) return walk;
  walk.run = nest.take(best_run(nest));
  walk.run_piece = walk.run.count;
  // What is left: in the order of the target, so that writing goes on as it lies there.
  std::stable_sort(nest.begin(), nest.end(),
                   [](const Loop& a, const Loop& b) { return std::abs(a.to) > std::abs(b.to); });
  const std::size_t partner = partner_of(walk.run, nest);
  if (partner < nest.size()) {
    // A transposition: tiles whose lines are used up while in cache. Strides of grids are often multiples of
    // large powers of two, where only few lines fit at a time, so tiles are small when the stride is long.
    const std::int64_t longest = std::max({std::abs(walk.run.from), std::abs(walk.run.to), std::int64_t{1}});
    walk.partner = nest.take(partner);
    const std::int64_t step = std::min(step_cost(walk.partner.from), step_cost(walk.partner.to));
    walk.run_piece = std::min(walk.run.count, std::max<std::int64_t>(16, 8192 / longest));
    walk.partner_piece = std::max<std::int64_t>(1, k_line / std::max<std::int64_t>(1, step));
  } else if (nest.size() > 0) {
    walk.partner = nest.take(nest.size() - 1);
    walk.partner_piece = walk.partner.count;
  }
  return walk;
}

/// Calls row(from offset, to offset, position, cells of run) for all runs of the box.
template <class Row>
void walk_runs(const Walk& walk, Row row) {
  const Nest& outer = walk.outer;
  std::array<std::int64_t, k_max_dims> index{};
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t position = 0;
  for (;;) {
    for (std::int64_t r = 0; r < walk.run.count; r += walk.run_piece) {
      const std::int64_t cells = std::min(walk.run_piece, walk.run.count - r);
      for (std::int64_t p = 0; p < walk.partner.count; p += walk.partner_piece) {
        const std::int64_t p_end = std::min(p + walk.partner_piece, walk.partner.count);
        for (std::int64_t i = p; i < p_end; ++i)
          row(from + r * walk.run.from + i * walk.partner.from, to + r * walk.run.to + i * walk.partner.to,
              position + r * walk.run.position + i * walk.partner.position, cells);
      }
    }
    std::size_t d = outer.size();
    while (d-- > 0) {
      from += outer[d].from;
      to += outer[d].to;
      position += outer[d].position;
      if (++index[d] < outer[d].count) break;
      from -= outer[d].count * outer[d].from;
      to -= outer[d].count * outer[d].to;
      position -= outer[d].count * outer[d].position;
      index[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

template <class U>
void fill_with(std::byte* to, const Walk& walk, const std::byte* element) {
  const U value = kernels::load<U>(element);
  walk_runs(walk, [&](std::int64_t, std::int64_t offset, std::int64_t, std::int64_t cells) {
    CompiledFor<Isa::base, kernels::Fill<U>>::call(to + offset, walk.run.to, cells, value);
  });
}

}  // namespace

ConversionErrors copy_box(const std::byte* from, const Dims& from_strides, std::byte* to,
                          const Dims& to_strides, const Dims& count, ConvertRun convert,
                          const std::byte* substitute) {
  if (volume(count) <= 0) return {};
  const Walk walk = plan_walk(from_strides, to_strides, count);
  ConversionErrors all;
  walk_runs(walk,
            [&](std::int64_t from_offset, std::int64_t to_offset, std::int64_t position, std::int64_t cells) {
              const ConversionErrors found =
                  convert(from + from_offset, walk.run.from, to + to_offset, walk.run.to, cells, substitute);
              if (found.count == 0) return;
              // Runs come in the order that is fastest, so the first in row-major order may be met late.
              const std::int64_t first = position + found.first * walk.run.position;
              all.first = all.first < 0 ? first : std::min(all.first, first);
              all.count += found.count;
            });
  return all;
}

void fill_box(std::byte* to, const Dims& to_strides, const Dims& count, const std::byte* element,
              std::size_t size) {
  if (volume(count) <= 0) return;
  const Walk walk = plan_walk(to_strides, to_strides, count);
  switch (size) {
    case 1:
      return fill_with<std::uint8_t>(to, walk, element);
    case 2:
      return fill_with<std::uint16_t>(to, walk, element);
    case 4:
      return fill_with<std::uint32_t>(to, walk, element);
    case 8:
      return fill_with<std::uint64_t>(to, walk, element);
    default:
      walk_runs(walk, [&](std::int64_t, std::int64_t offset, std::int64_t, std::int64_t cells) {
        for (std::int64_t i = 0; i < cells; ++i)
          std::memcpy(to + offset + i * walk.run.to, element, size);
      });
  }
}

}  // namespace shoal
