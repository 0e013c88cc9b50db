// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/path/chunk_order.hpp"

#include <algorithm>

namespace shoal {

namespace {

Box some_dims(const Box& box, int from, int end) {
  Box part;
  for (int d = from; d < end; ++d) {
    part.first.push_back(box.first[d]);
    part.count.push_back(box.count[d]);
  }
  return part;
}

}  // namespace

ChunkOrder::ChunkOrder(const FieldJob& job)
    : region_(job.transfer->region), whole_chunk_(job.placement->chunk) {
  const Decomposition& decomposition = *job.transfer->decomposition;
  const int rank = region_.rank();
  const int lead = rank - decomposition.rank();
  int first_cut = rank - 1, last_cut = 0;
  for (int d = 0; d < decomposition.rank(); ++d) {
    const bool cut =
        decomposition.map() != nullptr ? d < decomposition.mapped_shape().size() : decomposition.is_cut(d);
    if (!cut) continue;
    first_cut = std::min(first_cut, lead + d);
    last_cut = lead + d;
  }
  while (front_ < first_cut && whole_chunk_[front_] == 1)
    outer_cells_ *= region_.count[front_++];
  for (end_ = rank; end_ - 1 > std::max(last_cut, front_); --end_) {
    const int d = end_ - 1;
    if (region_.first[d] != 0 || region_.count[d] != whole_chunk_[d]) break;
    inner_cells_ *= region_.count[d];
  }
  for (int d = front_; d < end_; ++d)
    chunk_.push_back(whole_chunk_[d]);
  chunks_ = chunks_of(some_dims(region_, front_, end_), chunk_);
}

Dims ChunkOrder::shape() const {
  return joined({outer_cells_}, global());
}

Dims ChunkOrder::global() const {
  Dims shape{chunks(), cells()};
  if (inner_cells_ > 1) shape.push_back(inner_cells_);
  return shape;
}

std::vector<std::int64_t> ChunkOrder::key() const {
  std::vector<std::int64_t> key{front_, end_, inner_cells_};
  for (int d = front_; d < end_; ++d) {
    key.push_back(region_.first[d] % whole_chunk_[d]);
    key.push_back(region_.count[d]);
    key.push_back(whole_chunk_[d]);
  }
  return key;
}

std::int64_t ChunkOrder::place_of(const Dims& middle) const {
  std::int64_t chunk = 0, in_chunk = 0;
  for (int d = 0; d < middle.size(); ++d) {
    const std::int64_t number = middle[d] / chunk_[d];
    chunk = chunk * chunks_.count[d] + number - chunks_.first[d];
    in_chunk = in_chunk * chunk_[d] + middle[d] - number * chunk_[d];
  }
  return chunk * cells() + in_chunk;
}

std::vector<std::int64_t> ChunkOrder::places_of(const Box& box) const {
  std::vector<std::int64_t> places;
  if (box.empty()) return places;
  const Box part = some_dims(box, front_, end_);
  places.reserve(static_cast<std::size_t>(part.cells()));
  const int last = part.rank() - 1;
  Dims index = part.first;
  while (true) {
    for (index[last] = part.first[last]; index[last] < part.end(last);) {  // as far as the chunk goes
      const std::int64_t end = std::min(part.end(last), (index[last] / chunk_[last] + 1) * chunk_[last]);
      for (std::int64_t place = place_of(index); index[last] < end; ++index[last])
        places.push_back(place++);
    }
    int d = last - 1;
    for (; d >= 0 && ++index[d] == part.end(d); --d)
      index[d] = part.first[d];
    if (d < 0) return places;
  }
}

std::vector<std::int64_t> ChunkOrder::places_of(const Decomposition& map) const {
  const IndexMap& cells = *map.map();
  const Dims mapped = map.mapped_shape();
  const int lead = region_.rank() - map.rank();
  std::vector<std::int64_t> global(static_cast<std::size_t>(cells.local_cells()), k_hole);
  cells.for_each_run(0, volume(mapped), [&](const IndexMap::Run& run) {
    for (std::int64_t i = 0; i < run.length; ++i)
      global[static_cast<std::size_t>(run.local + i)] = run.global + i;
  });
  if (map.mask() != nullptr)
    for (std::int64_t i = 0; i < cells.local_cells(); ++i)
      if (map.mask()->is_masked(i)) global[static_cast<std::size_t>(i)] = k_hole;
  const Box inner = some_dims(region_, front_, lead);
  const Box outer = some_dims(region_, lead + mapped.size(), end_);
  std::vector<std::int64_t> places;
  places.reserve(global.size() * static_cast<std::size_t>(inner.cells() * outer.cells()));
  for_each_index(inner, [&](const Dims& before) {
    for (const auto cell : global)
      for_each_index(outer, [&](const Dims& after) {
        places.push_back(cell == k_hole ? k_hole
                                        : place_of(joined(joined(before, unravel(cell, mapped)), after)));
      });
  });
  return places;
}

Dims ChunkOrder::array_shape(std::int64_t places) const {
  Dims shape{outer_cells_, places};
  if (inner_cells_ > 1) shape.push_back(inner_cells_);
  return shape;
}

Dims ChunkOrder::index_of(std::int64_t lead, std::int64_t chunk) const {
  const Box outer_dims = some_dims(region_, 0, front_);
  Dims index = unravel(lead, outer_dims.count);
  for (int d = 0; d < index.size(); ++d)
    index[d] += outer_dims.first[d];
  Dims middle = unravel(chunk, chunks_.count);
  for (int d = 0; d < middle.size(); ++d)
    middle[d] += chunks_.first[d];
  return joined(joined(index, middle), Dims(region_.rank() - end_));
}

}  // namespace shoal
