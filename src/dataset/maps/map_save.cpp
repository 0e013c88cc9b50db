// SPDX-License-Identifier: BSD-3-Clause
// A decomposition becomes an ordinary NetCDF file, which Shoal itself writes.
#include <algorithm>
#include <numeric>

#include "dataset/dataset.hpp"
#include "dataset/maps/map_file.hpp"
#include "dataset/settings/own_files.hpp"

namespace shoal {

namespace {

/// Local cells that follow each other in global order too, or holes that follow each other.
struct Entries {
  std::vector<std::int64_t> index, length;
};

Entries runs_of(const std::vector<std::int64_t>& cells) {
  Entries out;
  for (const std::int64_t cell : cells) {
    const bool hole = cell == k_hole;
    const bool goes_on = !out.index.empty() &&
                         (hole ? out.index.back() == k_hole
                               : out.index.back() != k_hole && cell == out.index.back() + out.length.back());
    if (goes_on)
      ++out.length.back();
    else {
      out.index.push_back(cell);
      out.length.push_back(1);
    }
  }
  return out;
}

/// One variable of 64-bit integers that all ranks write their part of.
struct Part {
  const char* name;
  std::string dims;
  std::shared_ptr<const Decomposition> cut;
  const std::vector<std::int64_t>* values;
};

void define(Dataset& file, const Part& part, const std::string& about) {
  file.def_var(part.name, Type::int64, part.dims, part.cut);
  file.put_att(part.name, "long_name", Type::char_, static_cast<std::int64_t>(about.size()), about.data());
}

void write(Dataset& file, const Part& part) {
  DataCall call;
  call.variable = part.name;
  auto* values = const_cast<std::int64_t*>(part.values->data());  // only read by a write
  call.array.cells = ArrayView::contiguous(values, Type::int64, part.cut->tile().count);
  file.write(call);
}

void put(Dataset& file, const std::string& name, const Dims& numbers) {
  Dims values = numbers;
  DataCall call;
  call.variable = name;
  call.array.cells = ArrayView::contiguous(values.begin(), Type::int64, {numbers.size()});
  file.put(call);
}

std::vector<std::int64_t> list_of(const Dims& dims) {
  return {dims.begin(), dims.end()};
}

std::shared_ptr<const Decomposition> cut_of(const Comm& comm, const Dims& global, const Box& tile) {
  return Decomposition::block(comm, global, tile, Dims(global.size()), Dims(global.size()));
}

/// What all files have: the global shape, and what kind of decomposition it is.
void define_shape(Dataset& file, const Decomposition& d, int ranks, const std::string& kind) {
  const std::int32_t version = d.is_masked() ? map_file::k_masked_version : map_file::k_plain_version;
  const std::string about = "global shape, slowest dimension first";
  file.put_att(nullptr, map_file::k_kind, Type::char_, static_cast<std::int64_t>(kind.size()), kind.data());
  file.put_att(nullptr, map_file::k_version, Type::int_, 1, &version);
  file.def_dim("rank", ranks);
  file.def_dim("dimension", d.rank());
  file.def_var("global_shape", Type::int64, "dimension", nullptr);
  file.put_att("global_shape", "long_name", Type::char_, static_cast<std::int64_t>(about.size()),
               about.data());
}

void save_block(const Comm& comm, Dataset& file, const Decomposition& d) {
  map_file::SavedMask mask;
  const std::int64_t n = d.rank();
  const auto mine = cut_of(comm, {comm.size(), n}, {{comm.rank(), 0}, {1, n}});
  const auto first = list_of(d.tile().first), count = list_of(d.tile().count);
  const auto low = list_of(d.halo_low()), high = list_of(d.halo_high());
  const std::string dims = "rank dimension";
  const std::vector<Part> parts = {{"first", dims, mine, &first},
                                   {"count", dims, mine, &count},
                                   {"halo_low", dims, mine, &low},
                                   {"halo_high", dims, mine, &high}};
  define_shape(file, d, comm.size(), "block");
  define(file, parts[0], "first cell of each rank's tile, from 0");
  define(file, parts[1], "cells of each rank's tile");
  define(file, parts[2], "halo cells before each rank's tile");
  define(file, parts[3], "halo cells after each rank's tile");
  if (d.is_masked()) map_file::define_mask(comm, file, d, mask);
  put(file, "global_shape", d.global());
  for (const auto& part : parts)
    write(file, part);
  if (d.is_masked()) map_file::write_mask(file, mask);
}

/// What a rank has to save of a map.
struct List {
  std::vector<std::int64_t> cells;
  Entries runs;
};

void save_map(const Comm& comm, Dataset& file, const Decomposition& d, const List& list) {
  const auto& [cells, runs] = list;
  const auto list_length = static_cast<std::int64_t>(cells.size());
  // Runs take two numbers each, so that scattered lists are smaller without.
  const bool as_runs = 2 * comm.sum(static_cast<std::int64_t>(runs.index.size())) <= comm.sum(list_length);
  const std::vector<std::int64_t>& index = as_runs ? runs.index : cells;

  const std::vector<std::int64_t> entries{static_cast<std::int64_t>(index.size())}, lengths{list_length};
  const auto all = comm.all_gather(entries[0]);
  const std::int64_t total = std::accumulate(all.begin(), all.end(), std::int64_t{0});
  const std::int64_t before = std::accumulate(all.begin(), all.begin() + comm.rank(), std::int64_t{0});
  const auto mine = cut_of(comm, {comm.size()}, {{comm.rank()}, {1}});

  define_shape(file, d, comm.size(), "map");
  const std::int32_t whole = d.uncut_dims();
  file.put_att(nullptr, "whole", Type::int_, 1, &whole);
  std::vector<Part> parts = {{"entries", "rank", mine, &entries}, {"cells", "rank", mine, &lengths}};
  define(file, parts[0], "entries of each rank's list");
  define(file, parts[1], "length of each rank's list in cells, holes too");
  if (total > 0) {
    const auto part = cut_of(comm, {total}, {{before}, {entries[0]}});
    file.def_dim("entry", total);
    parts.push_back({"index", "entry", part, &index});
    define(file, parts[2], "index of the first global cell of each entry, from 0; -1: a hole");
    if (as_runs) {
      parts.push_back({"length", "entry", part, &runs.length});
      define(file, parts[3], "cells of each entry, that follow each other");
    }
  }
  map_file::SavedMask mask;
  if (d.is_masked()) map_file::define_mask(comm, file, d, mask);
  put(file, "global_shape", d.global());
  for (const auto& part : parts)
    write(file, part);
  if (d.is_masked()) map_file::write_mask(file, mask);
}

Status conversion_error(const Comm& comm, const Decomposition* d) {
  if (d == nullptr) return {Code::invalid_argument, "decomposition is NULL"};
  if (d->comm_size() != comm.size() || d->comm_rank() != comm.rank())
    return {Code::invalid_argument,
            "the decomposition was made with another communicator: give the same one"};
  // The mask is saved as a field, in which each cell has one value.
  if (d->is_masked() && !d->writable().ok())
    return {
        Code::not_supported,
        "a map with a mask cannot be saved if a cell comes twice, as the two may differ; save the map that "
        "it was made from. " +
            d->writable().message};
  return {};
}

}  // namespace

std::vector<std::int64_t> local_cells(const Decomposition& d) {
  std::vector<std::int64_t> cells;
  if (const IndexMap* map = d.map()) {
    cells.assign(static_cast<std::size_t>(map->local_cells()), k_hole);
    map->for_each_run(0, INT64_MAX, [&](const IndexMap::Run& run) {
      const auto to = cells.begin() + run.local;
      std::iota(to, to + run.length, run.global);
    });
    return cells;
  }
  return cells_of_box(d.tile(), d.global());
}

std::vector<std::int64_t> cells_of_box(const Box& box, const Dims& grid) {
  std::vector<std::int64_t> cells;
  if (box.empty()) return cells;
  cells.resize(static_cast<std::size_t>(box.cells()));
  const int last = box.rank() - 1;
  const Box whole = Box::whole(grid);
  const std::int64_t row = box.count[last];
  for (std::int64_t at = 0; at < box.cells(); at += row) {
    Dims cell = unravel(at, box.count);
    for (int d = 0; d <= last; ++d)
      cell[d] += box.first[d];
    const auto to = cells.begin() + at;
    std::iota(to, to + row, position_in(cell, whole));
  }
  return cells;
}

void save_decomposition(MPI_Comm comm, const Decomposition* decomposition, const std::string& path) {
  const Comm own(comm);
  own.agree_or_throw(conversion_error(own, decomposition));
  DatasetOptions options;
  options.sources = {"", ""};
  options.settings = k_to_make_own_file;
  const auto file = Dataset::create(comm, path, options);
  List list;
  own.agree_or_throw(caught([&] {
    if (decomposition->map() == nullptr) return;
    list.cells = local_cells(*decomposition);
    list.runs = runs_of(list.cells);
  }));
  own.agree_or_throw(caught([&] {
    if (decomposition->map() != nullptr)
      save_map(own, *file, *decomposition, list);
    else
      save_block(own, *file, *decomposition);
  }));
  file->close(false);
}

namespace map_file {

std::int64_t even_begin(std::int64_t n, int parts, int part) {
  return n / parts * part + std::min<std::int64_t>(n % parts, part);
}

}  // namespace map_file
}  // namespace shoal
