// SPDX-License-Identifier: BSD-3-Clause
// Decompositions in NetCDF files: Shoal's own, and those of E3SM's I/O benchmark. Both hold lists of entries
// (index of a first cell, how many follow), rank after rank; each rank reads a part of them.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "dataset/dataset.hpp"
#include "dataset/maps/map_file.hpp"
#include "dataset/settings/own_files.hpp"

namespace shoal {

namespace {

using Numbers = std::vector<std::int64_t>;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(Code::format, what + "; the file holds no whole decomposition: save it again");
}

/// Which variables of a file hold the lists of the ranks that saved them.
struct Lists {
  Dims global;
  int uncut_dims = 0;
  Numbers entries;     ///< of each saved rank
  Numbers used;        ///< the first so many of them are cells, the rest is something else
  Numbers cells;       ///< length of the list of each saved rank, holes too; empty: the file does not say
  std::string index;   ///< variable; "": there are no entries
  std::string length;  ///< variable; "": each entry is one cell
  std::int64_t total() const { return std::accumulate(entries.begin(), entries.end(), std::int64_t{0}); }
  /// Cells that indices count.
  std::int64_t mapped() const {
    return volume(Dims(std::span(global.begin(), static_cast<std::size_t>(global.size() - uncut_dims))));
  }
};

int variable_of(const Dataset& file, const std::string& name, int ndims) {
  const Schema& schema = file.schema();
  const int v = schema.find_variable(name);
  if (v < 0) damaged(fmt::format("there is no variable '{}'", name));
  const VariableDef& found = schema.variable(v);
  if (!is_number(found.type) || static_cast<int>(found.dims.size()) != ndims)
    damaged(fmt::format("variable '{}' has type {} and {} dimensions, not integers in {}", name,
                        name_of(found.type), found.dims.size(), ndims));
  return v;
}

/// All values of a small variable, on every rank.
Numbers get(Dataset& file, const std::string& name, int ndims = 1) {
  const Dims shape = file.schema().shape(variable_of(file, name, ndims));
  Numbers values(static_cast<std::size_t>(volume(shape)));
  DataCall call;
  call.variable = name;
  call.array.cells = ArrayView::contiguous(values.data(), Type::int64, shape);
  file.get(call);
  return values;
}

/// Values first .. first + count - 1 of a long list, other ones on each rank.
Numbers read(Dataset& file, const std::string& name, const std::shared_ptr<const Decomposition>& part) {
  Numbers values;
  DataCall call;
  call.variable = name;
  call.decomposition = part;
  call.problem = caught([&] { values.resize(static_cast<std::size_t>(part->tile().cells())); });
  call.array.cells = ArrayView::contiguous(values.data(), Type::int64, part->tile().count);
  file.read(call);
  return values;
}

Numbers integers(const std::vector<Attribute>& attributes, const std::string& name) {
  const Attribute* found = find_attribute(attributes, name);
  if (found == nullptr) damaged(fmt::format("there is no attribute '{}'", name));
  Numbers values;
  for (std::int64_t i = 0; i < found->count(); ++i) {
    const std::byte* at = found->data.data() + static_cast<std::size_t>(i) * size_of(found->type);
    std::int32_t small = 0;
    std::int64_t large = 0;
    if (found->type == Type::int_) {
      std::memcpy(&small, at, sizeof small);
      large = small;
    } else if (found->type == Type::int64)
      std::memcpy(&large, at, sizeof large);
    else
      damaged(fmt::format("attribute '{}' has type {}, not int", name, name_of(found->type)));
    values.push_back(large);
  }
  return values;
}

Dims shape_of(const Numbers& lengths) {
  if (lengths.empty() || lengths.size() >= k_max_dims)
    damaged(fmt::format("the global shape has {} dimensions, not 1 to {}", lengths.size(), k_max_dims - 1));
  std::int64_t cells = 1;
  for (const std::int64_t length : lengths) {
    if (length < 1) damaged(fmt::format("the global shape has a dimension of length {}", length));
    if (length > INT64_MAX / cells) damaged("the global shape has more than 2^63 cells");
    cells *= length;
  }
  return Dims(std::span<const std::int64_t>(lengths));
}

/// The numbers of entries fit each other and the variables that hold them.
void check(const Dataset& file, const Lists& lists) {
  std::int64_t total = 0;
  for (std::size_t r = 0; r < lists.entries.size(); ++r) {
    const std::int64_t n = lists.entries[r];
    if (n < 0 || n > INT64_MAX - total || lists.used[r] < 0 || lists.used[r] > n)
      damaged(fmt::format("rank {} is said to have {} entries, of which {} are cells", r, n, lists.used[r]));
    total += n;
  }
  if (!lists.cells.empty() && lists.cells.size() != lists.entries.size())
    damaged(
        fmt::format("'entries' are of {} ranks and 'cells' of {}", lists.entries.size(), lists.cells.size()));
  for (const auto& name : {lists.index, lists.length}) {
    if (name.empty()) continue;
    const std::int64_t found = file.schema().shape(variable_of(file, name, 1))[0];
    if (found != total)
      damaged(fmt::format("variable '{}' has {} values for {} entries", name, found, total));
  }
}

Lists lists_of_shoal(Dataset& file) {
  Lists lists;
  lists.global = shape_of(get(file, "global_shape"));
  const Numbers whole = integers(file.schema().attributes, "whole");
  if (whole.size() != 1 || whole[0] < 0 || whole[0] >= lists.global.size())
    damaged(fmt::format("attribute 'whole' is not one number from 0 to {}", lists.global.size() - 1));
  lists.uncut_dims = static_cast<int>(whole[0]);
  lists.entries = get(file, "entries");
  lists.used = lists.entries;
  if (file.schema().find_variable("cells") >= 0) lists.cells = get(file, "cells");
  if (file.schema().find_variable("index") >= 0 || lists.total() != 0) lists.index = "index";
  if (file.schema().find_variable("length") >= 0) lists.length = "length";
  return lists;
}

/// "D1", "D2", ... of a file of E3SM's benchmark; none: it is another file.
std::vector<std::string> names_of_e3sm(const Schema& schema) {
  std::vector<std::string> names;
  if (schema.find_dim("decomp_nprocs") < 0) return names;
  const std::string end = ".nreqs";
  for (const auto& variable : schema.variables)
    if (variable.name.size() > end.size() && variable.name.ends_with(end))
      names.push_back(variable.name.substr(0, variable.name.size() - end.size()));
  return names;
}

/// offsets count from 0 and lengths say how many cells follow; requests from fill_starts on are gaps, which
/// the benchmark has somebody fill and nobody owns. (raw_offsets holds the same cells one by one, from 1.)
Lists lists_of_e3sm(Dataset& file, const std::vector<std::string>& names, const std::string& asked) {
  if (asked.empty() && names.size() > 1)
    throw Error(Code::invalid_argument, "the file holds {} decompositions; name one of {}", names.size(),
                joined(names, ", "));
  const std::string name = asked.empty() ? names.front() : asked;
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(Code::not_found, "there is no decomposition '{}'; the file has {}", name,
                joined(names, ", "));
  Lists lists;
  lists.global = shape_of(integers(file.schema().attributes, name + ".dims"));
  lists.entries = get(file, name + ".nreqs");
  lists.used = file.schema().find_variable(name + ".fill_starts") < 0 ? lists.entries
                                                                      : get(file, name + ".fill_starts");
  if (lists.used.size() != lists.entries.size())
    damaged(fmt::format("'{}.fill_starts' has another length", name));
  lists.index = name + ".offsets";
  lists.length = name + ".lengths";
  return lists;
}

/// Entry by entry: visit(index, length) for those of [first, first + index.size()) that are cells or holes.
template <class Visit>
void for_each_entry(const Lists& lists, std::int64_t first, const Numbers& index, const Numbers& length,
                    Visit&& visit) {
  const std::int64_t mapped = lists.mapped();
  std::size_t rank = 0;
  std::int64_t begin = 0;  // of the rank's entries
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t entry = first + static_cast<std::int64_t>(i);
    while (entry >= begin + lists.entries[rank])
      begin += lists.entries[rank++];
    if (entry >= begin + lists.used[rank]) continue;
    const std::int64_t cells = length.empty() ? 1 : length[i];
    if (index[i] < k_hole || cells < 0 || cells > map_file::k_longest_list ||
        (index[i] >= 0 && (cells > mapped || index[i] > mapped - cells)))
      damaged(fmt::format("entry {} (from 0) has the index {} and {} cells; indices are 0 to {}", entry,
                          index[i], cells, mapped - 1));
    visit(index[i], cells);
  }
}

void check_length(std::int64_t cells) {
  if (cells > map_file::k_longest_list)
    throw Error(Code::not_supported, "a rank's list has {} cells, 2^32 or more; load it on more ranks",
                cells);
}

void append(Numbers& cells, std::int64_t index, std::int64_t length) {
  const std::size_t begin = cells.size();
  cells.resize(begin + static_cast<std::size_t>(length), k_hole);
  const auto to = cells.begin() + static_cast<std::ptrdiff_t>(begin);
  if (index != k_hole) std::iota(to, cells.end(), index);
}

std::shared_ptr<const Decomposition> part_of(const Comm& comm, std::int64_t n, std::int64_t first,
                                             std::int64_t end) {
  return Decomposition::block(comm, {n}, {{first}, {end - first}}, {0}, {0});
}

/// What one rank sends to another when cells are shared out anew.
struct Run {
  std::int64_t index, length;
};

/// Each rank has read an even part of the entries; now the cells in them are cut evenly.
Numbers share_out(const Comm& comm, const Lists& lists, std::int64_t first, const Numbers& index,
                  const Numbers& length) {
  std::int64_t mine = 0;
  Status status = caught([&] {
    for_each_entry(lists, first, index, length, [&](std::int64_t i, std::int64_t n) {
      if (i == k_hole) return;
      if (n > INT64_MAX / comm.size() - mine) damaged("there are more cells than a list can have");
      mine += n;
    });
  });
  comm.agree_or_throw(status);
  const Numbers all = comm.all_gather(mine);
  const std::int64_t total = std::accumulate(all.begin(), all.end(), std::int64_t{0});
  std::int64_t at = std::accumulate(all.begin(), all.begin() + comm.rank(), std::int64_t{0});

  std::vector<Bytes> parts(static_cast<std::size_t>(comm.size()));
  status = caught([&] {
    std::vector<std::vector<Run>> runs(parts.size());
    int to = 0;
    for_each_entry(lists, first, index, length, [&](std::int64_t i, std::int64_t n) {
      if (i == k_hole) return;
      while (n > 0) {
        while (at >= map_file::even_begin(total, comm.size(), to + 1))
          ++to;
        const std::int64_t some = std::min(n, map_file::even_begin(total, comm.size(), to + 1) - at);
        runs[static_cast<std::size_t>(to)].push_back({i, some});
        at += some;
        i += some;
        n -= some;
      }
    });
    for (std::size_t r = 0; r < parts.size(); ++r) {
      if (runs[r].empty()) continue;  // no message
      ByteWriter out;
      out.put(runs[r]);
      parts[r] = out.take();
    }
  });
  comm.agree_or_throw(status);

  Numbers cells;
  const auto received = comm.exchange(parts);
  comm.agree_or_throw(caught([&] {
    const std::int64_t n = map_file::even_begin(total, comm.size(), comm.rank() + 1) -
                           map_file::even_begin(total, comm.size(), comm.rank());
    check_length(n);
    cells.reserve(static_cast<std::size_t>(n));
    for (const auto& part : received) {
      if (part.empty()) continue;
      ByteReader in(part);
      for (const Run& run : in.get<std::vector<Run>>())
        append(cells, run.index, run.length);
    }
  }));
  return cells;
}

Numbers cells_of(const Comm& comm, Dataset& file, const Lists& lists) {
  const std::int64_t total = lists.total();
  if (total == 0) return {};
  const bool same_ranks = lists.entries.size() == static_cast<std::size_t>(comm.size());
  const auto saved_begin = [&](int rank) {
    return std::accumulate(lists.entries.begin(), lists.entries.begin() + rank, std::int64_t{0});
  };
  const auto begin = [&](int rank) {
    return same_ranks ? saved_begin(rank) : map_file::even_begin(total, comm.size(), rank);
  };
  const std::int64_t first = begin(comm.rank());
  const auto part = part_of(comm, total, first, begin(comm.rank() + 1));
  const Numbers index = read(file, lists.index, part);
  const Numbers length = lists.length.empty() ? Numbers{} : read(file, lists.length, part);
  if (!same_ranks) return share_out(comm, lists, first, index, length);
  Numbers cells;
  comm.agree_or_throw(caught([&] {
    // All of them are looked at before there is memory for any: a damaged one can be of 2^32 cells.
    std::int64_t n = 0;
    for_each_entry(lists, first, index, length, [&](std::int64_t, std::int64_t more) {
      if (more > INT64_MAX - n) damaged("there are more cells than a list can have");
      n += more;
    });
    const auto rank = static_cast<std::size_t>(comm.rank());
    if (!lists.cells.empty() && lists.cells[rank] != n)
      damaged(fmt::format("the list of rank {} is said to have {} cells, and its entries have {}", rank,
                          lists.cells[rank], n));
    check_length(n);
    cells.reserve(static_cast<std::size_t>(n));
    for_each_entry(lists, first, index, length,
                   [&](std::int64_t i, std::int64_t more) { append(cells, i, more); });
  }));
  return cells;
}

// ---- Blocks

/// The tiles, halos and shape of a block, of all ranks that saved it.
struct Tiles {
  Dims global;
  std::vector<Box> boxes;
  std::vector<Dims> low, high;
};

Tiles tiles_of(Dataset& file) {
  Tiles tiles;
  tiles.global = shape_of(get(file, "global_shape"));
  const int n = tiles.global.size();
  const Numbers first = get(file, "first", 2), count = get(file, "count", 2);
  const Numbers low = get(file, "halo_low", 2), high = get(file, "halo_high", 2);
  for (const auto* list : {&first, &count, &low, &high})
    if (list->size() != first.size() || list->size() % static_cast<std::size_t>(n) != 0)
      damaged(fmt::format("first, count, halo_low and halo_high do not have {} numbers for each rank", n));
  const auto row = [n](const Numbers& list, std::size_t at) {
    return Dims(std::span(list).subspan(at, static_cast<std::size_t>(n)));
  };
  for (std::size_t at = 0; at < first.size(); at += static_cast<std::size_t>(n)) {
    const Box box(row(first, at), row(count, at));
    for (int d = 0; d < n; ++d)
      if (box.count[d] < 0) damaged(fmt::format("a tile has {} cells", box.count[d]));
    if (!box.empty() && !Box::whole(tiles.global).contains(box))
      damaged(
          fmt::format("the tile {} is outside of the global shape {}", text_of(box), text_of(tiles.global)));
    tiles.boxes.push_back(box);
    tiles.low.push_back(row(low, at));
    tiles.high.push_back(row(high, at));
  }
  return tiles;
}

/// Cells first .. end - 1 of all tiles, one after the other, row-major in each.
Numbers cells_of(const Tiles& tiles, std::int64_t first, std::int64_t end) {
  check_length(end - first);
  Numbers cells;
  cells.reserve(static_cast<std::size_t>(end - first));
  const Box whole = Box::whole(tiles.global);
  std::int64_t begin = 0;  // of the tile
  for (const Box& tile : tiles.boxes) {
    const std::int64_t row = tile.empty() ? 1 : tile.count[tile.rank() - 1];
    for (std::int64_t at = std::max(first, begin); at < std::min(end, begin + tile.cells());) {
      Dims cell = unravel(at - begin, tile.count);
      const std::int64_t left_of_row = row - cell[tile.rank() - 1];
      for (int d = 0; d < tile.rank(); ++d)
        cell[d] += tile.first[d];
      const std::int64_t n = std::min(left_of_row, end - at);
      append(cells, position_in(cell, whole), n);
      at += n;
    }
    begin += tile.cells();
  }
  return cells;
}

std::shared_ptr<const Decomposition> load_block(const Comm& comm, Dataset& file) {
  Tiles tiles;
  comm.agree_or_throw(caught([&] { tiles = tiles_of(file); }));
  const auto rank = static_cast<std::size_t>(comm.rank());
  if (tiles.boxes.size() == static_cast<std::size_t>(comm.size()))
    return Decomposition::block(comm, tiles.global, tiles.boxes[rank], tiles.low[rank], tiles.high[rank]);
  std::int64_t total = 0;
  for (const Box& tile : tiles.boxes) {
    if (tile.cells() > INT64_MAX - total) damaged("there are more cells than a list can have");
    total += tile.cells();
  }
  Numbers cells;
  const Status status = caught([&] {
    cells = cells_of(tiles, map_file::even_begin(total, comm.size(), comm.rank()),
                     map_file::even_begin(total, comm.size(), comm.rank() + 1));
  });
  return Decomposition::map(comm, tiles.global, 0, cells, status);
}

std::shared_ptr<const Decomposition> load_lists(const Comm& comm, Dataset& file, const Lists& lists) {
  comm.agree_or_throw(caught([&] { check(file, lists); }));
  return Decomposition::map(comm, lists.global, lists.uncut_dims, cells_of(comm, file, lists));
}

std::string kind_of(const Schema& schema) {
  const Attribute* kind = find_attribute(schema.attributes, map_file::k_kind);
  if (kind == nullptr || kind->type != Type::char_) return "";
  return {reinterpret_cast<const char*>(kind->data.data()), kind->data.size()};
}

std::shared_ptr<const Decomposition> load_shoal(const Comm& comm, Dataset& file, const std::string& kind,
                                                const std::string& name) {
  if (!name.empty())
    throw Error(Code::not_found, "there is no decomposition '{}'; the file holds one, without a name", name);
  const Numbers version = integers(file.schema().attributes, map_file::k_version);
  const bool masked = version == Numbers{map_file::k_masked_version};
  if (!masked && version != Numbers{map_file::k_plain_version})
    throw Error(Code::not_supported,
                "the decomposition was saved by a later Shoal; this one reads versions {} and {}",
                map_file::k_plain_version, map_file::k_masked_version);
  if (kind != "map" && kind != "block")
    damaged(fmt::format("the decomposition is a '{}', not a map or a block", kind));
  auto made = kind == "block" ? load_block(comm, file) : load_lists(comm, file, lists_of_shoal(file));
  return masked ? map_file::with_mask(comm, file, std::move(made)) : made;
}

}  // namespace

// The header and the small variables are the same on all ranks, and so is what is found wrong with them.
std::shared_ptr<const Decomposition> map_file::load_netcdf(MPI_Comm parent, const Comm& comm,
                                                           const std::string& path, const std::string& name) {
  DatasetOptions options;
  options.sources = {"", ""};
  options.settings = k_to_read_own_file;
  const auto file = Dataset::open(parent, path, false, options);
  const std::string kind = kind_of(file->schema());
  const auto names = names_of_e3sm(file->schema());
  std::shared_ptr<const Decomposition> made;
  if (!kind.empty())
    made = load_shoal(comm, *file, kind, name);
  else if (!names.empty())
    made = load_lists(comm, *file, lists_of_e3sm(*file, names, name));
  else
    throw Error(Code::format,
                "the file holds no decomposition: neither one that Shoal saved nor those of E3SM's benchmark "
                "(D1.nreqs, D1.offsets, ...)");
  file->close(false);
  return made;
}

std::shared_ptr<const Decomposition> load_decomposition(MPI_Comm comm, const std::string& path,
                                                        const std::string& name) {
  const Comm own(comm);
  // Rank 0 looks what it is; the others learn what it was asked for.
  ByteWriter mine;
  mine.put(path);
  mine.put(name);
  const Bytes asked = mine.take();
  Bytes of_root = asked;
  own.broadcast(of_root, 0);
  own.agree_or_throw(caught([&] {
    if (of_root != asked)
      throw Error(Code::out_of_step, "this rank loads decomposition '{}' from '{}', rank 0 another", name,
                  path);
  }));
  try {
    const Bytes is_text = own.from_root([&] {
      std::string begin(64, '\0');
      const auto store = open_posix_store(path, StoreMode::read);
      begin.resize(store->read(0, std::as_writable_bytes(std::span(begin))));
      store->close();
      return Bytes(map_file::is_pio_text(begin) ? 1 : 0);
    });
    return is_text.empty() ? map_file::load_netcdf(comm, own, path, name)
                           : map_file::load_pio_text(own, path, name);
  } catch (const Error& e) {
    throw e.in_file(path);
  }
}

}  // namespace shoal
