// SPDX-License-Identifier: BSD-3-Clause
#include "driver/domains/domains_driver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "driver/domains/grouping.hpp"
#include "driver/protocol/root_values.hpp"
#include "driver/registry.hpp"
#include "storage/paths.hpp"

namespace shoal {

namespace {

constexpr const char* k_decomposition = "domain_decomposition";
constexpr const char* k_axis = "shoal_axis";

constexpr const char* k_asks = "asks whether all was stored";

Attribute decomposition_attribute(std::int64_t global, std::int64_t first, std::int64_t count) {
  const std::array<std::int64_t, 4> wide{1, global, first + 1, first + count};
  std::array<std::int32_t, 4> values{};
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (wide[i] > std::numeric_limits<std::int32_t>::max())
      throw Error(Code::not_supported,
                  "a dimension of {} cells is too long for files in a set, whose attribute "
                  "domain_decomposition is of 32 bits; use layout=one",
                  global);
    values[i] = static_cast<std::int32_t>(wide[i]);
  }
  return Attribute::numbers(k_decomposition, Type::int_, values.data(), 4);
}

bool is_coordinate(const VariableDef& v, const Dimension& dim, int d) {
  return v.name == dim.name && v.dims.size() == 1 && v.dims[0] == d;
}

void set_attribute(std::vector<Attribute>& attributes, Attribute attribute) {
  const auto old = std::find_if(attributes.begin(), attributes.end(),
                                [&](const Attribute& a) { return a.name == attribute.name; });
  if (old == attributes.end())
    attributes.push_back(std::move(attribute));
  else
    *old = std::move(attribute);
}

}  // namespace

std::string file_of_set(const std::string& path, int number) {
  const std::string digits = std::to_string(number);
  return fmt::format("{}.{}{}", path, std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0'), digits);
}

DomainsDriver::DomainsDriver(const Comm& comm, std::string driver, std::string path, bool exclusive,
                             Format format, const DriverOptions& options)
    : comm_(comm),
      driver_(std::move(driver)),
      path_(std::move(path)),
      exclusive_(exclusive),
      options_(options),
      state_(comm.rank()) {
  schema_.format = format;
  // What can be known now is said now.
  check_driver(driver_, OpenMode::create, format, options.library.access);
  comm_.on_root([&] {
    const std::string folder = folder_of(path_);
    const PathKind kind = kind_of_path(folder);
    if (kind != PathKind::folder && kind != PathKind::unknown)
      throw Error(Code::not_found, "the folder '{}' is not there", folder);
    if (exclusive_ && path_exists(file_of_set(path_, 0)))
      throw Error(Code::exists, "'{}' is there already; remove the set, or create with exists=replace",
                  file_of_set(path_, 0));
  });
}

// The inner driver knows ranks by their numbers in the domain.
Status DomainsDriver::reported_by_domain(Status status) const {
  if (status.ok()) return status;
  const bool known = status.rank >= 0 && status.rank < static_cast<int>(members_.size());
  status.rank = known ? static_cast<int>(members_[status.rank]) : comm_.rank();
  if (status.file.empty() && made()) status.file = file_of_set(path_, domain_);
  return status;
}

Driver& DomainsDriver::writer() {
  if (!made()) throw Error(gave_up_);
  return *inner_;
}

template <class Work>
void DomainsDriver::together(Work&& work) {
  Status status = caught(work);
  comm_.agree_or_throw(reported_by_domain(std::move(status)));
}

// ---- Definitions

void DomainsDriver::define(const Schema& wanted, const Cuts& cuts) {
  if (waiting_ && !(waiting_->fields.empty() && puts_.empty())) end_waiting();
  if (!must_wait(wanted, cuts)) {
    waiting_.reset();
    return define_files(wanted, cuts);
  }
  waiting_.emplace().cuts = cuts;
  take_schema(wanted);
}

void DomainsDriver::take_schema(const Schema& wanted) {
  const auto lengths = schema_.dims;
  schema_ = wanted;
  schema_.changes.clear();
  for (std::size_t d = 0; d < lengths.size(); ++d)
    if (lengths[d].unlimited) schema_.dims[d].length = lengths[d].length;
  placements_.clear();
  for (int v = 0; v < static_cast<int>(schema_.variables.size()); ++v)
    placements_.push_back(of_library(schema_.shape(v)));
}

void DomainsDriver::define_files(const Schema& wanted, const Cuts& cuts) {
  spread_puts();
  if (!made()) {
    gave_up_ = caught([&] { make_files(cuts); });
    if (!gave_up_.ok()) throw Error(gave_up_);
  }
  Numbered<Part> parts = parts_;
  Numbered<int> variables;
  std::vector<std::pair<int, int>> made_axes;
  Schema in_file;
  together([&] {
    cut_dimensions(wanted, cuts, parts);
    in_file = schema_of_file(wanted, parts, variables, made_axes);
  });
  Cuts inner_cuts(in_file.variables.size());
  for (std::size_t v = 0; v < cuts.size(); ++v)
    if (cuts[v] && variables[v] >= 0)
      inner_cuts[static_cast<std::size_t>(variables[v])] = cut_of(cuts[v]).part;
  const Status placed = caught([&] { together([&] { inner_->make_place(in_file); }); });
  if (!placed.ok()) {  // of one file; those of the others stay, too
    inner_->drop_place();
    throw Error(placed);
  }
  together([&] { inner_->define(in_file, inner_cuts); });
  take_schema(wanted);
  parts_ = std::move(parts);
  variables_ = std::move(variables);
  put_made_axes(made_axes);
}

void DomainsDriver::make_files(const Cuts& cuts) {
  const Grouping grouping = group_ranks(comm_, options_.layout, cuts);
  domain_ = grouping.domain;
  domains_ = grouping.domains;
  ranks_.emplace(comm_.split(domain_));
  members_ = ranks_->all_gather(std::int64_t{comm_.rank()});
  find_old_files();
  std::unique_ptr<Driver> inner;
  const std::string file = file_of_set(path_, domain_);
  const bool was_there = kind_of_path(file) != PathKind::nothing;
  const Status mine = caught([&] {
    DriverOptions options = options_;
    options.background.fails_early = false;
    options.background.store_rate /= domains_;
    options.layout = {};
    inner = make_driver(driver_, *ranks_, file, exclusive_ ? OpenMode::create_exclusive : OpenMode::create,
                        schema_.format, options);
  });
  const Status made = comm_.agree(reported_by_domain(mine));
  if (!made.ok()) {  // those that were made are of no set, and would be in the way of the next try
    const bool is_mine = inner != nullptr && ranks_->rank() == 0;
    inner.reset();
    // One that takes its name with the first commit is gone already.
    if (is_mine && !was_there && !options_.file.replace_at_commit) caught([&] { remove_all(file); });
    throw Error(made);
  }
  inner_ = std::move(inner);
  if (!options_.file.replace_at_commit) remove_old_files();
  if (options_.background.stored_by == StoredBy::thread) state_.ask_after(options_.stage.bytes * domains_);
}

void DomainsDriver::find_old_files() {
  has_old_files_ = value_of_root(comm_, [&] {
    old_files_ = files_in_the_way();
    return !old_files_.empty();
  });
}

void DomainsDriver::remove_old_files() {
  if (!has_old_files_) return;
  comm_.on_root([&] {
    for (const auto& file : old_files_)
      remove_all(file);
  });
  has_old_files_ = false;
}

// Files of an older set would be taken for part of this one, and a single file of the name would hide it.
// What only looks like one of them by its name ("run.2011") is somebody's, and stays. Those whose names this
// set's files will have are replaced by their drivers.
std::vector<std::string> DomainsDriver::files_in_the_way() const {
  const std::string folder = folder_of(path_);
  const std::string stem = file_name_of(path_) + ".";
  std::vector<std::string> old;
  for (const std::string& name : names_in_folder(folder)) {
    if (name.rfind(stem, 0) != 0) continue;
    const std::string number = name.substr(stem.size());
    if (number.size() < 4 || number.find_first_not_of("0123456789") != std::string::npos) continue;
    const bool replaced = number.size() < 10 && std::stol(number) < domains_;
    if (replaced && !exclusive_) continue;
    const std::string file = joined_path(folder, name);
    if (!exclusive_ && !is_of_a_set(file))
      throw Error(Code::exists,
                  "'{}' is there, is of no set of files, and would be taken for part of this one; move it, "
                  "or give the dataset another name",
                  file);
    old.push_back(file);
  }
  if (is_a_file(path_)) old.push_back(path_);
  if (exclusive_ && !old.empty())
    throw Error(Code::exists, "'{}' is there already; remove it, or create with exists=replace", old.front());
  return old;
}

bool DomainsDriver::is_of_a_set(const std::string& file) const {
  bool found = false;
  const Status status = caught([&] {
    auto catalog = open_catalog(file, options_.system.open_store, false, options_.catalog);
    found = find_attribute(catalog->schema().attributes, "NumFilesInSet") != nullptr;
    catalog->close(false);
  });
  return status.ok() && found;
}

const DomainsDriver::Cut& DomainsDriver::cut_of(const std::shared_ptr<const Decomposition>& decomposition) {
  if (const Cut* known = cuts_.find(decomposition.get())) return *known;
  if (decomposition->map() != nullptr)
    throw Error(
        Code::not_supported,
        "a field that is cut by a map goes to one file only, as the cells of a rank are no box that a "
        "file could hold; use layout=one");
  // What nobody owns cells of is in every file, whole.
  const bool nobody = decomposition->owned_cells() == 0;
  Cut cut{
      nullptr,
      nobody ? Box::whole(decomposition->global()) : box_of_domain(comm_, *ranks_, domain_, *decomposition),
      false};
  cut.partly = comm_.max(std::int64_t{cut.box.empty() ? 1 : 0}) != 0;
  if (!cut.box.empty()) {
    Box tile = decomposition->tile();
    if (!tile.empty())
      for (int d = 0; d < tile.rank(); ++d)
        tile.first[d] -= cut.box.first[d];
    cut.part = Decomposition::block(*ranks_, cut.box.count, tile, decomposition->halo_low(),
                                    decomposition->halo_high());
    // Of the tile, which is the same in the file of the domain.
    if (decomposition->is_masked())
      cut.part = Decomposition::masked(*ranks_, cut.part.get(), decomposition->own_mask());
  }
  return cuts_.add(decomposition, std::move(cut));
}

void DomainsDriver::prepare(const std::shared_ptr<const Decomposition>& decomposition) {
  if (waiting_) return waiting_->to_prepare.push_back(decomposition);
  Driver& inner = writer();
  const Cut& cut = cut_of(decomposition);
  together([&] {
    if (cut.part) inner.prepare(cut.part);
  });
}

void DomainsDriver::cut_dimensions(const Schema& wanted, const Cuts& cuts, Numbered<Part>& parts) {
  parts.resize(wanted.dims.size());
  for (std::size_t d = schema_.dims.size(); d < wanted.dims.size(); ++d)
    parts[d].count = wanted.dims[d].length;
  // Collective: every rank comes to the same decompositions in the same order, also if one of them throws
  // below.
  for (const auto& cut : cuts)
    if (cut) cut_of(cut);
  for (std::size_t v = schema_.variables.size(); v < wanted.variables.size(); ++v) {
    if (v >= cuts.size() || !cuts[v]) continue;
    const Cut& cut = cut_of(cuts[v]);
    const auto& dims = wanted.variables[v].dims;
    const auto lead = static_cast<int>(dims.size()) - cuts[v]->rank();
    for (int i = 0; i < cuts[v]->rank(); ++i) {
      if (!cuts[v]->is_cut(i) && !cut.partly) continue;
      const auto d = static_cast<std::size_t>(dims[static_cast<std::size_t>(lead + i)]);
      Part part{cut.box.first[i], cut.box.count[i], true, parts[d].inner};
      const bool was_there = d < schema_.dims.size();
      if (wanted.dims[d].unlimited)
        throw Error(Code::not_supported,
                    "an unlimited dimension cannot be cut over files; use layout=one, or give it a length")
            .of_variable(wanted.variables[v].name);
      const bool differs = part.first != parts[d].first || part.count != parts[d].count;
      if ((parts[d].cut || was_there) && differs)
        throw Error(Code::not_supported,
                    "dimension '{}' is cut differently by variables of this set, or was there uncut before, "
                    "so that no file could hold both; use layout=one, or another dimension",
                    wanted.dims[d].name)
            .of_variable(wanted.variables[v].name);
      parts[d] = part;
    }
  }
}

Schema DomainsDriver::schema_of_file(const Schema& wanted, Numbered<Part>& parts, Numbered<int>& variables,
                                     std::vector<std::pair<int, int>>& made_axes) const {
  const auto changes = changes_of_file(wanted);
  Schema out = changed(inner_->schema(), changes);
  out.changes = changes;
  out.attributes = wanted.attributes;
  out.groups = wanted.groups;
  const auto files = static_cast<std::int32_t>(domains_);
  set_attribute(out.attributes, Attribute::numbers("NumFilesInSet", Type::int_, &files, 1));
  for (std::size_t d = schema_.dims.size(); d < wanted.dims.size(); ++d) {
    if (!wanted.dims[d].unlimited && parts[d].cut && parts[d].count == 0) continue;
    parts[d].inner = static_cast<int>(out.dims.size());
    out.dims.push_back(wanted.dims[d]);
    if (!wanted.dims[d].unlimited) out.dims.back().length = parts[d].count;
  }
  variables = variables_;
  for (std::size_t v = 0; v < wanted.variables.size(); ++v) {
    VariableDef def = wanted.variables[v];
    bool there = true;
    for (std::size_t i = 0; i < def.dims.size(); ++i) {
      const auto d = static_cast<std::size_t>(def.dims[i]);
      there = there && parts[d].inner >= 0;
      if (i < def.chunks.size() && parts[d].cut)
        def.chunks[i] = std::clamp<std::int64_t>(def.chunks[i], 1, std::max<std::int64_t>(parts[d].count, 1));
      if (is_coordinate(def, wanted.dims[d], def.dims[0]) && parts[d].cut)
        set_attribute(def.attributes,
                      decomposition_attribute(wanted.dims[d].length, parts[d].first, parts[d].count));
      def.dims[i] = parts[d].inner;
    }
    if (v < schema_.variables.size()) {
      if (variables[v] >= 0) out.variable(variables[v]).attributes = def.attributes;
      continue;
    }
    variables.push_back(there ? static_cast<int>(out.variables.size()) : -1);
    if (there) out.variables.push_back(std::move(def));
  }
  for (std::size_t d = 0; d < wanted.dims.size(); ++d) {
    if (!parts[d].cut || parts[d].inner < 0 || out.find_variable(wanted.dims[d].name) >= 0) continue;
    VariableDef axis;
    axis.name = wanted.dims[d].name;
    axis.type = Type::double_;
    axis.dims = {parts[d].inner};
    axis.attributes = {Attribute::text("long_name", "number of the cell, from 1"),
                       Attribute::text(k_axis, "made"),
                       decomposition_attribute(wanted.dims[d].length, parts[d].first, parts[d].count)};
    made_axes.emplace_back(static_cast<int>(out.variables.size()), static_cast<int>(d));
    out.variables.push_back(std::move(axis));
  }
  return out;
}

// Dimensions and variables have other numbers there, or are not there. An axis that was made goes by the name
// of its dimension.
std::vector<SchemaChange> DomainsDriver::changes_of_file(const Schema& wanted) const {
  using Kind = SchemaChange::Kind;
  std::vector<SchemaChange> changes;
  Schema in_file = inner_->schema();
  const auto add = [&](const SchemaChange& change) {
    changes.push_back(change);
    in_file = changed(std::move(in_file), {change});
  };
  for (SchemaChange change : wanted.changes) {
    const std::string dim = change.name;
    const bool of_file = change.index < 0;
    if (change.kind == Kind::rename_dim)
      change.index = parts_[change.index].inner;
    else if (!of_file && change.kind != Kind::rename_group)  // each file has all groups
      change.index = variables_[change.index];
    if (change.index < 0 && !of_file) continue;
    add(change);
    const int axis = change.kind == Kind::rename_dim ? in_file.find_variable(dim) : -1;
    if (axis >= 0 && find_attribute(in_file.variable(axis).attributes, k_axis))
      add({Kind::rename_variable, axis, dim, change.to});
  }
  // Of the part that a file has, the coordinate alone speaks.
  for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
    const auto& dims = schema_.variables[v].dims;
    if (dims.empty() || variables_[v] < 0) continue;
    const auto d = static_cast<std::size_t>(dims[0]);
    if (parts_[d].cut && is_coordinate(schema_.variables[v], schema_.dims[d], dims[0]) &&
        !is_coordinate(wanted.variables[v], wanted.dims[d], dims[0]))
      add({Kind::delete_attribute, variables_[v], k_decomposition, {}});
  }
  return changes;
}

void DomainsDriver::put_made_axes(const std::vector<std::pair<int, int>>& made_axes) {
  for (const auto& [variable, d] : made_axes) {
    const Part& part = parts_[d];
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < part.count; ++i)
      numbers.push_back(static_cast<double>(part.first + i + 1));
    inner_->put(variable, Box::whole({part.count}), reinterpret_cast<const std::byte*>(numbers.data()), {});
  }
}

// ---- Data

// The part of a box that this domain's file holds, in the file's indices.
Box DomainsDriver::box_in_file(int v, const Box& box) const {
  const auto& dims = schema_.variable(v).dims;
  Box out = box;
  for (int i = 0; i < box.rank(); ++i) {
    const Part& part = part_of(dims, i);
    if (!part.cut) continue;
    const std::int64_t first = std::max(box.first[i], part.first);
    const std::int64_t end = std::min(box.end(i), part.first + part.count);
    if (first >= end) return no_cells(box.rank());
    out.first[i] = first - part.first;
    out.count[i] = end - first;
  }
  return out;
}

// A thread's failure is known to the ranks of its file alone, and domains do not write in step.
void DomainsDriver::ask_others() {
  if (!state_.must_ask()) return;
  const Status mine = reported_by_domain(inner_->failure());
  if (match_calls(comm_, {k_asks, 0, !mine.ok()}).failed) comm_.agree_or_throw(mine);
}

void DomainsDriver::write(const Transfer& transfer) {
  if (waiting_) return hold(&transfer);
  writer();
  spread_puts();
  ask_others();
  const int v = transfer.variable;
  const VariableDef& definition = schema_.variable(v);
  state_.note_bytes(transfer.region.cells() * static_cast<std::int64_t>(size_of(definition.type)));
  grow(schema_, v, transfer.region);
  const int inside = variables_[v];
  Status conversion_error;  // the same on all ranks of a domain, so that none waits for another
  const Cut& cut = cuts_.at(transfer.decomposition.get());
  const auto& dims = definition.dims;
  const int lead = static_cast<int>(dims.size()) - transfer.decomposition->rank();
  for (int i = 0; i < transfer.decomposition->rank(); ++i) {
    const Part& p = part_of(dims, lead + i);
    const bool cut_here = transfer.decomposition->is_cut(i) || cut.partly;
    if (cut_here != p.cut || (p.cut && (cut.box.first[i] != p.first || cut.box.count[i] != p.count)))
      conversion_error.merge(
          {Code::not_supported,
           fmt::format("the decomposition of this call cuts dimension '{}' otherwise than the files of the "
                       "set are cut; define the variable with this decomposition, or use layout=one",
                       schema_.dim(dims[static_cast<std::size_t>(lead + i)]).name),
           comm_.rank(), file_of_set(path_, domain_), definition.name});
  }
  if (inside < 0 || !cut.part || !conversion_error.ok()) {
    Status status = transfer.refused.why;
    status.merge(conversion_error);
    return state_.defer(std::move(status));
  }
  Transfer part = transfer;
  part.variable = inside;
  part.decomposition = cut.part;
  part.origin = Dims(transfer.region.rank());
  for (int i = 0; i < part.origin.size(); ++i) {
    const Part& p = part_of(dims, i);
    if (p.cut) part.origin[i] = p.first;
  }
  part.region = box_in_file(v, transfer.region);
  part.mine = box_in_file(v, transfer.mine);
  writer().write(part);
}

// What ranks of a domain have in common they learn in its driver, and all ranks where they ask each other.
void DomainsDriver::refuse(const RefusedCall& call) {
  using Kind = RefusedCall::Kind;
  if (call.kind == Kind::read) read({});
  if (call.kind == Kind::put) {
    before_put(-1);
    return puts_.push_back({0, {}, {}, {}, call.why});
  }
  if (waiting_ && call.kind == Kind::write) return hold(nullptr, call.why);
  if (waiting_) end_waiting();
  spread_puts();
  if (call.kind == Kind::get) return together([&] { writer().refuse(call); });
  ask_others();
  state_.skip(call.why);
  writer().refuse(call);
}

void DomainsDriver::read(const Transfer& /*transfer*/) {
  throw Error(
      Code::state,
      "fields cannot be read from a set of files while it is written; close it, and open '{}' to read",
      path_);
}

void DomainsDriver::put(int v, const Box& box, const std::byte* values,
                        const std::vector<std::string>& strings) {
  before_put(v);
  Put p{v, box, {}, {}, {}};
  if (comm_.rank() == 0) {
    const VariableDef& def = schema_.variable(v);
    if (def.type == Type::string)
      p.strings = strings;
    else
      p.values.assign(values, values + box.cells() * static_cast<std::int64_t>(size_of(def.type)));
  }
  grow(schema_, v, box);
  puts_.push_back(std::move(p));
}

// First those of a domain, since ranks may wait for each other there while others come to a call match of
// all; and one whose domain has diverged tells all. A rank that left out a write takes its part where the
// others ask each other.
CallMatch DomainsDriver::match_calls(const Comm& comm, const CallSignature& signature) {
  if (!diverged_.ok()) throw Error(diverged_);
  CallSignature mine = state_.asks() ? state_.with_skipped(signature, k_asks) : signature;
  for (;;) {
    diverged_ = caught([&] {
      if (inner_) inner_->match_calls(*ranks_, mine);
    });
    if (!diverged_.ok()) mine.does = "has diverged from others that write the same file";
    const CallMatch match = comm.match_calls(mine);
    if (!diverged_.ok()) throw Error(diverged_);
    if (!match.peers_diverged) return match;
    comm_.agree(state_.why_skipped());
  }
}

// Rank 0's values go to all domains, many puts in one message.
void DomainsDriver::spread_puts() {
  if (puts_.empty() || waiting_) return;
  match_calls(comm_, {"sends what was put"});
  const Bytes message = comm_.from_root([&] {
    ByteWriter out;
    for (const auto& p : puts_) {
      out.put(p.refused.ok());
      out.put(p.variable);
      out.put(p.box);
      out.put(p.values);
      out.put(p.strings);
    }
    return out.take();
  });
  ByteReader in(message);
  for (auto& mine : puts_) {
    Put p;
    const auto good = in.get<bool>();
    in.get(p.variable);
    in.get(p.box);
    in.get(p.values);
    in.get(p.strings);
    state_.defer(mine.refused);
    if (!good) continue;
    const int inside = variables_[p.variable];
    const Box part = box_in_file(p.variable, p.box);
    if (inside < 0 || (part.empty() && !p.box.empty())) continue;
    grow(schema_, p.variable, p.box);
    if (part.count == p.box.count) {
      inner_->put(inside, part, p.values.data(), p.strings);
      continue;
    }
    // The cells of the whole that this file holds.
    const Type type = schema_.variable(p.variable).type;
    Box taken(Dims(p.box.rank()), part.count);
    const auto& dims = schema_.variable(p.variable).dims;
    for (int i = 0; i < taken.rank(); ++i) {
      const Part& cut = part_of(dims, i);
      taken.first[i] = part.first[i] + (cut.cut ? cut.first : 0) - p.box.first[i];
    }
    if (type == Type::string) {
      const Dims strides = row_major_strides(p.box.count);
      std::vector<std::string> texts;
      for (std::int64_t n = 0; n < part.cells(); ++n) {
        const Dims at = unravel(n, part.count);
        std::int64_t position = 0;
        for (int i = 0; i < at.size(); ++i)
          position += (taken.first[i] + at[i]) * strides[i];
        texts.push_back(p.strings[static_cast<std::size_t>(position)]);
      }
      inner_->put(inside, part, nullptr, texts);
      continue;
    }
    const ArrayView from = ArrayView::contiguous(p.values.data(), type, p.box.count).part(taken);
    const Element element{type, size_of(type), false};
    Bytes cells(bytes_of(part, element.size));
    copy_box(from.data, from.strides, cells.data(), byte_strides(part.count, element.size), part.count,
             find_conversion(element, element), nullptr);
    inner_->put(inside, part, cells.data(), {});
  }
  puts_.clear();
}

void DomainsDriver::get(int v, const Box& box, std::byte* values, std::vector<std::string>& strings) {
  if (waiting_) end_waiting();
  for (const int d : schema_.variable(v).dims)
    if (parts_[d].cut)
      return refuse(
          {RefusedCall::Kind::get,
           {Code::state,
            fmt::format("a variable that is cut over files cannot be read while the set is written; "
                        "close it, and open '{}' to read",
                        path_)},
           v});
  spread_puts();
  together([&] { writer().get(variables_[v], box, values, strings); });
}

// ---- Sync and close

void DomainsDriver::finish(bool durable, bool final) {
  Status status = caught([&] {
    const bool has_values = waiting_ && !(waiting_->fields.empty() && puts_.empty());
    if (waiting_ && (final || has_values)) end_waiting();
    if (!made() && !waiting_ && gave_up_.ok()) define_files(schema_, {});  // an empty dataset is one file
    spread_puts();
  });
  if (!made() && !schema_.variables.empty()) status.merge(gave_up_);
  if (!schema_.dims.empty()) set_lengths(schema_, comm_.max(lengths_of(schema_)));
  status.merge(state_.take_deferred());
  state_.complete_pending();
  if (made()) {
    status.merge(reported_by_domain(caught([&] { final ? inner_->close(durable) : inner_->sync(durable); })));
    const bool all_whole = has_old_files_ && comm_.min(std::int64_t{inner_->whole() ? 1 : 0}) != 0;
    if (all_whole) status.merge(caught([&] { remove_old_files(); }));
  }
  comm_.agree_or_throw(status);
}

void DomainsDriver::sync(bool durable) {
  finish(durable, false);
}

void DomainsDriver::close(bool durable) {
  finish(durable, true);
}

std::unique_ptr<Driver> make_domains_driver(const std::string& driver, const Comm& comm,
                                            const std::string& path, OpenMode mode, Format format,
                                            const DriverOptions& options) {
  return std::make_unique<DomainsDriver>(comm, driver, path, mode == OpenMode::create_exclusive, format,
                                         options);
}

}  // namespace shoal
