// SPDX-License-Identifier: BSD-3-Clause
// Parts of cells one by one: the file has them as a map.
#include <unordered_map>

#include "base/error.hpp"
#include "streams/part.hpp"

namespace shoal::streams {

namespace {

// Nearly each of them is in another line of the memory: these are asked for before they are needed.
template <class T>
void gather_as(const std::byte* data, std::span<const std::int64_t> offsets, std::byte* to) {
  constexpr std::size_t k_ahead = 24;
  const std::size_t n = offsets.size();
  for (std::size_t i = 0; i < n; ++i) {
    __builtin_prefetch(data + offsets[std::min(i + k_ahead, n - 1)]);
    std::memcpy(to + i * sizeof(T), data + offsets[i], sizeof(T));
  }
}

}  // namespace

void gather(const std::byte* data, std::span<const std::int64_t> offsets, std::size_t size, std::byte* to) {
  switch (size) {
    case 8:
      return gather_as<std::uint64_t>(data, offsets, to);
    case 4:
      return gather_as<std::uint32_t>(data, offsets, to);
    case 2:
      return gather_as<std::uint16_t>(data, offsets, to);
    default:
      return gather_as<std::uint8_t>(data, offsets, to);
  }
}

/// Where the cells of the grid come to lie in the file.
struct Part::SiteCuts {
  Dims lengths;                                                       ///< of the site's dimensions
  std::vector<int> site_dims, rest;                                   ///< of the grid
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> sites;  ///< of each cell
  std::vector<std::vector<std::int64_t>> places;  ///< of the rest: of each index; -1: not chosen
};

/// at: of a cell in the grid, own: in this rank's array.
void Part::add_site_cells(const SiteCuts& cuts, const Dims& at, const Dims& own, bool is_masked,
                          std::vector<bool>& masked) {
  std::int64_t cell = 0, rest = 0, each = 1;
  for (std::size_t k = 0; k < cuts.site_dims.size(); ++k)
    cell = cell * cuts.lengths[static_cast<int>(k)] + at[cuts.site_dims[k]];
  const auto found = cuts.sites.find(cell);
  if (found == cuts.sites.end()) return;
  for (std::size_t k = 0; k < cuts.rest.size(); ++k) {
    const std::int64_t place = nth(cuts.places[k], at[cuts.rest[k]]);
    if (place < 0) return;
    const std::int64_t length = mapped_[static_cast<int>(k) + 1];
    rest = rest * length + place;
    each *= length;
  }
  for (const std::int64_t site : found->second) {
    list_.push_back(site * each + rest);
    own_.push_back(own);
    masked.push_back(is_masked);
  }
}

void Part::cut_sites(const Comm& comm, const std::shared_ptr<const Decomposition>& grid) {
  const DimChoice& listed = nth(choices_, outer_);
  SiteCuts cuts;
  cuts.site_dims = listed.site_dims;
  for (const int d : listed.site_dims)
    cuts.lengths.push_back(grid->global()[d]);
  for (std::size_t i = 0; i < listed.sites.size(); ++i)
    cuts.sites[listed.sites[i]].push_back(static_cast<std::int64_t>(i));
  mapped_ = Dims{listed.length};
  for (int d = 0; d < grid->global().size(); ++d)
    if (std::find(cuts.site_dims.begin(), cuts.site_dims.end(), d) == cuts.site_dims.end())
      cuts.rest.push_back(d);
  for (std::size_t k = 0; k < cuts.rest.size(); ++k) {
    const DimChoice& choice = nth(choices_, outer_ + 1 + static_cast<int>(k));
    std::vector<std::int64_t> places(static_cast<std::size_t>(choice.length), -1);
    for (std::int64_t i = 0; i < choice.chosen(); ++i)
      nth(places, choice.cell(i)) = i;
    cuts.places.push_back(std::move(places));
    mapped_.push_back(choice.chosen());
  }
  std::vector<bool> masked;
  const CellMask* mask = grid->mask();
  if (const IndexMap* map = grid->map()) {
    const Dims shape = grid->mapped_shape(), uncut = grid->whole_shape();
    map->for_each_run(0, volume(shape), [&](const IndexMap::Run& run) {
      for (std::int64_t i = 0; i < run.length; ++i)
        for (std::int64_t u = 0; u < volume(uncut); ++u)
          add_site_cells(cuts, joined(unravel(run.global + i, shape), unravel(u, uncut)),
                         joined(Dims{run.local + i}, unravel(u, uncut)),
                         mask != nullptr && mask->is_masked(run.local + i), masked);
    });
  } else {
    const Box& tile = grid->tile();
    const Dims strides = mask != nullptr ? row_major_strides(mask->shape()) : Dims{};
    for (std::int64_t i = 0; i < tile.cells(); ++i) {
      const Dims own = unravel(i, tile.count);
      Dims at = own;
      std::int64_t of_mask = 0;
      for (int d = 0; d < at.size(); ++d)
        at[d] += tile.first[d];
      for (int d = 0; d < strides.size(); ++d)
        of_mask += own[own.size() - strides.size() + d] * strides[d];
      add_site_cells(cuts, at, own, mask != nullptr && mask->is_masked(of_mask), masked);
    }
  }
  masked_ = CellMask(Dims{static_cast<std::int64_t>(list_.size())});
  for (std::size_t i = 0; i < masked.size(); ++i)
    if (masked[i]) masked_.set_masked(static_cast<std::int64_t>(i));
  decomposition_ = Decomposition::map(comm, mapped_, 0, list_);
  if (grid->is_masked()) decomposition_ = Decomposition::masked(comm, decomposition_.get(), masked_);
}

}  // namespace shoal::streams
