// SPDX-License-Identifier: BSD-3-Clause
// The part of Dataset that is about gathered dimensions: fields of a grid in a variable that has only some of
// its cells.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "dataset/dataset.hpp"
#include "dataset/maps/map_file.hpp"
#include "driver/protocol/protocol.hpp"

namespace shoal {

namespace {

/// A part of a list. As a map, since drivers that have I/O ranks set take no blocks.
std::shared_ptr<const Decomposition> part_of_list(const Comm& comm, std::int64_t length, std::int64_t first,
                                                  std::int64_t count) {
  std::vector<std::int64_t> places;
  const Status status = caught([&] {
    places.resize(static_cast<std::size_t>(count));
    std::iota(places.begin(), places.end(), first);
  });
  return Decomposition::map(comm, {length}, 0, places, status);
}

Transfer transfer_of_list(const Gathering& gathering, const std::shared_ptr<const Decomposition>& part,
                          std::vector<std::int64_t>& cells) {
  Transfer transfer;
  transfer.variable = gathering.list;
  transfer.region = Box::whole(part->global());
  transfer.mine = part->tile();
  transfer.array =
      ArrayView::contiguous(cells.data(), Type::int64, {static_cast<std::int64_t>(cells.size())});
  transfer.decomposition = part;
  return transfer;
}

}  // namespace

// The files of a set hold boxes of the grid, and water points of a rank are no box.
void Dataset::check_layout_of_gathered() const {
  if (definitions_.gathered().empty() || settings_.text("layout") == "one") return;
  throw Error(Code::not_supported,
              "water points go to one file only, as those of a rank are no box that a file could hold; use "
              "layout=one")
      .of_variable(schema().dim(definitions_.gathered().front().first).name);
}

// As drivers see them: decompositions of variables in their own dimensions.
Cuts Dataset::cuts_in_file() const {
  Cuts cuts = definitions_.decompositions();
  const auto gatherings = gatherings_of(schema());
  for (std::size_t v = 0; v < cuts.size() && !gatherings.empty(); ++v)
    if (cuts[v] && on_grid(schema(), gatherings, static_cast<int>(v), *cuts[v])) cuts[v] = nullptr;
  return cuts;
}

// Each rank has a part of the numbered cells, in order.
void Dataset::write_lists(const std::vector<std::pair<int, std::shared_ptr<const Decomposition>>>& gathered) {
  for (const auto& [dim, decomposition] : gathered) {
    const auto found = std::find_if(gatherings_.begin(), gatherings_.end(),
                                    [d = dim](const Gathering& g) { return g.dim == d; });
    if (found == gatherings_.end()) throw Error(Code::internal, "the list of a gathered dimension is lost");
    std::vector<std::int64_t> cells;
    comm_.agree_or_throw(caught([&, &cut = decomposition] { cells = active_points(*cut); }));
    const auto [list, fresh] =
        lists_.insert_or_assign(dim, CellPositions::numbered(comm_, volume(found->shape), cells));
    comm_.agree_or_throw(caught([&, &numbered = list->second] { cells = numbered.own_part(); }));
    const auto part = part_of_list(comm_, list->second.size(), list->second.own_first(),
                                   static_cast<std::int64_t>(cells.size()));
    driver_->prepare(part);
    driver_->write(transfer_of_list(*found, part, cells));
  }
}

// Ranks read even parts of it.
const CellPositions& Dataset::list_of(const Gathering& gathering) {
  const auto known = lists_.find(gathering.dim);
  if (known != lists_.end()) return known->second;
  const std::int64_t n = schema().dim(gathering.dim).length;
  const std::int64_t first = map_file::even_begin(n, comm_.size(), comm_.rank());
  const std::int64_t count = map_file::even_begin(n, comm_.size(), comm_.rank() + 1) - first;
  std::vector<std::int64_t> cells;
  comm_.agree_or_throw(caught([&] { cells.resize(static_cast<std::size_t>(count)); }));
  const auto part = part_of_list(comm_, n, first, count);
  driver_->prepare(part);
  driver_->read(transfer_of_list(gathering, part, cells));
  return lists_.emplace(gathering.dim, CellPositions::of_list(comm_, volume(gathering.shape), first, cells))
      .first->second;
}

// For each decomposition that is known, and all variables whose grid it cuts: done where all ranks are
// together, so that no rank with wrong arguments is missing later.
void Dataset::find_gathered_fields() {
  if (gatherings_.empty()) return;
  const Schema& schema = this->schema();
  const auto decompositions = prepared_;
  for (const auto& decomposition : decompositions)
    for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v) {
      std::optional<OnGrid> how;
      const Status fits = caught([&] { how = on_grid(schema, gatherings_, v, *decomposition); });
      if (!fits.ok() || !how) continue;
      const auto same = [&](const KnownGathered& known) {
        return known.grid == decomposition && known.dim == how->gathering.dim &&
               known.inner_dims == how->inner_dims;
      };
      if (std::any_of(gathered_fields_.begin(), gathered_fields_.end(), same)) continue;
      KnownGathered found{decomposition, how->gathering.dim, how->inner_dims, nullptr, {}};
      // A list that is damaged stops only those who use it.
      found.problem = named(caught([&] {
                              const CellPositions& list = list_of(how->gathering);
                              found.gathered = std::make_unique<GatheredField>(comm_, decomposition, *how,
                                                                               list, writable_);
                              if (found.gathered->own()) driver_->prepare(found.gathered->own());
                              driver_->prepare(found.gathered->with_halo());
                            }),
                            schema.variable(how->gathering.list).name);
      gathered_fields_.push_back(std::move(found));
    }
}

// A list that could not be used may have been put since: a model that defines its own puts it after its
// variables.
void Dataset::retry_gathered_fields() {
  if (std::erase_if(gathered_fields_, [](const KnownGathered& known) { return !known.problem.ok(); }) > 0)
    find_gathered_fields();
}

// Sections count in the variable's own dimensions.
Transfer Dataset::transfer_on_grid(const OnGrid& how, int variable, const DataCall& call,
                                   const Section& section,
                                   const std::shared_ptr<const Decomposition>& decomposition,
                                   Direction direction) {
  const Schema& schema = this->schema();
  check_section_length(schema, variable, section);
  const VariableDef& definition = schema.variable(variable);
  DataCall expanded = call;
  expanded.section = section;
  const int skip = schema.has_record(variable) ? 1 : 0;
  const int place = how.place - skip;  // in start and count
  const auto expand = [&](const std::int64_t* numbers, bool counts) {
    Dims out;
    for (int d = 0; d < static_cast<int>(definition.dims.size()) - skip; ++d) {
      if (d != place) {
        out.push_back(numbers[d]);
        continue;
      }
      const std::int64_t whole = counts ? schema.dim(how.gathering.dim).length : 0;
      if (numbers[d] != whole)
        expanded.problem.merge(
            {Code::invalid_argument,
             fmt::format("the section {}{} in the gathered dimension '{}'; there it must be all {} points",
                         counts ? "counts " : "starts at ", numbers[d], schema.dim(how.gathering.dim).name,
                         schema.dim(how.gathering.dim).length)});
      for (int g = 0; g < how.gathering.shape.size(); ++g)
        out.push_back(counts ? how.gathering.shape[g] : 0);
    }
    return out;
  };
  Dims start;
  Dims count;
  if (section.start != nullptr) {
    start = expand(section.start, false);
    expanded.section.start = start.data();
    expanded.section.ndims = start.size();
  }
  if (section.count != nullptr) {
    count = expand(section.count, true);
    expanded.section.count = count.data();
    expanded.section.ndims = count.size();
  }
  if (!expanded.problem.ok()) throw Error(expanded.problem);
  Transfer transfer = make_transfer(grid_schema(schema, variable, how), 0, expanded, expanded.section,
                                    decomposition, direction);
  transfer.variable = variable;
  return transfer;
}

const GatheredField* Dataset::gathered_field_of(const Transfer& transfer) {
  if (gatherings_.empty() || !transfer.decomposition) return nullptr;
  const auto how = on_grid(schema(), gatherings_, transfer.variable, *transfer.decomposition);
  if (!how) return nullptr;
  for (const auto& known : gathered_fields_) {
    if (known.grid != transfer.decomposition || known.dim != how->gathering.dim ||
        known.inner_dims != how->inner_dims)
      continue;
    if (!known.problem.ok()) throw Error(known.problem);
    return known.gathered.get();
  }
  throw Error(Code::internal, "the water points of the decomposition were not looked up");
}

void Dataset::write_gathered(const GatheredField& gathered, const Transfer& transfer) {
  if (!gathered.unwritable().ok()) throw Error(gathered.unwritable());
  const VariableDef& definition = schema().variable(transfer.variable);
  Status conversion_errors;
  driver_->write(gathered.for_writing(transfer, definition, gathered_cells_, conversion_errors));
  // The rest is written; the failure comes out at sync, on all ranks.
  late_.merge(conversion_errors);
}

void Dataset::read_gathered(const GatheredField& gathered, const Transfer& transfer) {
  const VariableDef& definition = schema().variable(transfer.variable);
  const Transfer read = gathered.for_reading(transfer, definition, gathered_cells_);
  driver_->read(read);
  Status given = caught([&] {
    const Status status = gathered.give(transfer, definition, read);
    if (!status.ok()) throw Error(status);
  });
  comm_.agree_or_throw(given);
}

}  // namespace shoal
