// SPDX-License-Identifier: BSD-3-Clause
#include "format/tiles/file_set.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/text.hpp"
#include "codec/convert.hpp"
#include "format/tiles/conventions.hpp"
#include "format/tiles/cover.hpp"

namespace shoal {

using tiles::Cutting;
using tiles::Header;

namespace {

constexpr std::size_t k_most_gaps = 4;  // that a message says

bool same(const Attribute& a, const Attribute& b) {
  return a.type == b.type && a.data == b.data && a.strings == b.strings;
}

/// Attributes that say what values mean: they must not differ between files.
bool gives_meaning(const std::string& attribute) {
  static const std::set<std::string> k_names{"_FillValue", "missing_value", "scale_factor", "add_offset",
                                             "units",      "calendar",      "_Unsigned"};
  return k_names.count(attribute) != 0;
}

std::vector<std::string> dim_names(const Schema& schema, const VariableDef& variable) {
  std::vector<std::string> names;
  for (const int d : variable.dims)
    names.push_back(schema.dim(d).name);
  return names;
}

/// The value as one of the variable's type.
Bytes number_as(const VariableDef& variable, double value) {
  Bytes bytes(size_of(variable.type));
  const Element wide{Type::double_, sizeof value, false}, own{variable.type, bytes.size(), false};
  double back = 0;
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  const ConversionErrors errors = find_conversion(wide, own)(from, 0, bytes.data(), 0, 1, nullptr);
  find_conversion(own, wide)(bytes.data(), 0, reinterpret_cast<std::byte*>(&back), 0, 1, nullptr);
  const bool rounded = variable.type == Type::float_ && errors.count == 0;
  if (errors.count > 0 || (back != value && !rounded && !std::isnan(value)))
    throw Error(Code::range,
                "cells are in no file of the set, and the fill value {} for them does not fit the type, {}; "
                "set missing_fill to one that fits all such variables (shoal combine: --fill)",
                value, name_of(variable.type))
        .of_variable(variable.name);
  return bytes;
}

std::string text_of_boxes(const std::vector<Box>& boxes) {
  std::string text;
  for (const auto& box : boxes)
    text += (text.empty() ? "" : ", ") + shoal::text_of(box);
  return text;
}

class Builder {
 public:
  Builder(const std::vector<std::string>& paths, const FileSetOptions& options)
      : paths_(paths), options_(options) {}
  FileSet build();

 private:
  void read_headers();
  /// The file that others are compared with: the first of those with the most in it.
  const Header& base() const { return headers_[base_]; }
  bool lacks_a_dim(std::size_t file, const VariableDef& whole) const;
  void make_dims();
  void take_lengths(std::size_t file, std::size_t dim, int own);
  void differing_records(const Header& header, const Dimension& mine, std::int64_t others);
  void make_variables();
  void add_missing_variables();
  void match_variables(std::size_t file);
  void compare_attributes(std::size_t file, const VariableDef& whole, const VariableDef& own);
  void check_numbers();
  void check_total();
  void check_sizes() const;
  void check_covers();
  void check_cover(const std::vector<int>& dims, bool largest);
  bool in_one_file(int variable) const;
  void check_files_of(int variable);
  void define_fill_values();
  [[noreturn]] void refuse_gaps(const std::vector<int>& dims, const tiles::Cover& cover) const;
  std::string missing_files() const;
  void make_definition_whole(VariableDef& definition) const;

  const std::vector<std::string>& paths_;
  const FileSetOptions& options_;
  std::vector<Header> headers_;
  std::size_t base_ = 0;
  Cutting cutting_;
  FileSet set_;
  Numbered<bool> ragged_;                  // [dimensions] some files have fewer records than the set
  std::map<std::vector<int>, bool> gaps_;  // by the cut dimensions of a variable
  std::set<std::string> differing_;        // attributes, for one warning
};

void Builder::read_headers() {
  if (paths_.empty()) throw Error(Code::invalid_argument, "the list of files of the set is empty");
  for (const auto& path : paths_)
    with_catalog_of(path, options_, [&](Catalog& catalog) { headers_.push_back({path, catalog.schema()}); });
  set_.style = tiles::style_of(headers_.front());
  for (const auto& header : headers_)
    if (tiles::style_of(header) != set_.style)
      throw Error(Code::format,
                  "this file follows the conventions of {}, {} those of {}: they are of different sets",
                  name_of(tiles::style_of(header)), base().path, name_of(set_.style))
          .in_file(header.path);
  cutting_ = tiles::cutting_of(set_.style, headers_);
  for (std::size_t f = 0; f < paths_.size(); ++f)
    set_.files.push_back({paths_[f], cutting_.numbers[f], {}, {}});
}

void Builder::make_dims() {
  for (std::size_t f = 0; f < headers_.size(); ++f) {
    const auto things = [](const Schema& s) { return s.dims.size() + s.variables.size(); };
    if (things(headers_[f].schema) > things(base().schema)) base_ = f;
  }
  auto& dims = set_.schema.dims;
  set_.schema.format = base().schema.format;
  const auto add = [&](std::size_t f, std::size_t d) {
    const Dimension& dim = headers_[f].schema.dims[d];
    const std::int64_t global = cutting_.global[f][d];
    set_.cut.push_back(global >= 0);
    dims.push_back(global >= 0 ? Dimension{dim.name, global, cutting_.appended && dim.unlimited} : dim);
  };
  for (std::size_t d = 0; d < base().schema.dims.size(); ++d)
    add(base_, d);
  for (std::size_t f = 0; f < headers_.size(); ++f)
    for (std::size_t d = 0; d < headers_[f].schema.dims.size(); ++d) {
      if (set_.schema.find_dim(headers_[f].schema.dims[d].name) >= 0) continue;
      if (cutting_.global[f][d] < 0)
        throw Error(Code::format, "the dimension '{}' is not in {}", headers_[f].schema.dims[d].name,
                    base().path)
            .in_file(headers_[f].path);
      add(f, d);
    }
  for (std::size_t f = 0; f < headers_.size(); ++f)
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const int own = headers_[f].schema.find_dim(dims[d].name);
      // A file without cells of a dimension that is cut has not got the dimension: its length cannot be 0.
      if (own >= 0)
        take_lengths(f, d, own);
      else if (set_.cut[d])
        set_.files[f].spans.push_back({});
      else
        throw Error(Code::format, "the dimension '{}' is missing, which {} has", dims[d].name, base().path)
            .in_file(headers_[f].path);
    }
  ragged_.assign(dims.size(), false);
  for (auto& file : set_.files)
    for (std::size_t d = 0; d < set_.cut.size(); ++d) {
      if (set_.cut[d]) continue;
      file.spans[d].count = std::min(file.spans[d].count, dims[d].length);
      ragged_[d] = ragged_[d] || file.spans[d].count < dims[d].length;
    }
}

void Builder::take_lengths(std::size_t f, std::size_t d, int at) {
  const auto own = static_cast<std::size_t>(at);
  const Header& header = headers_[f];
  const Dimension& mine = header.schema.dims[own];
  Dimension& whole = set_.schema.dims[d];
  const std::int64_t global = cutting_.global[f][own];
  const std::string& first = base().path;
  if ((global >= 0) != set_.cut[d] || (global >= 0 && global != whole.length))
    throw Error(Code::format, "the dimension '{}' is {}, in {} it is {}", mine.name,
                global < 0 ? "not cut" : fmt::format("cut from a whole of {}", global), first,
                set_.cut[d] ? fmt::format("cut from {}", whole.length) : "not cut")
        .in_file(header.path);
  // Dimensions of the base come first; all others are cut.
  const Dimension& reference = set_.cut[d] ? whole : base().schema.dims[d];
  if (!set_.cut[d] && mine.unlimited != reference.unlimited)
    throw Error(Code::format, "the dimension '{}' is {}unlimited, other than in {}", mine.name,
                mine.unlimited ? "" : "not ", first)
        .in_file(header.path);
  // A file without variables of records has none, however many the others have.
  const bool counts =
      !mine.unlimited ||
      std::any_of(header.schema.variables.begin(), header.schema.variables.end(), [&](const VariableDef& v) {
        return std::find(v.dims.begin(), v.dims.end(), at) != v.dims.end();
      });
  if (!set_.cut[d] && mine.length != reference.length && counts) {
    if (!mine.unlimited)
      throw Error(Code::format,
                  "the dimension '{}' has the length {}, in {} {}, and nothing says that it is cut",
                  mine.name, mine.length, first, reference.length)
          .in_file(header.path);
    whole.length = options_.missing == MissingTiles::fill ? std::max(whole.length, mine.length)
                                                          : std::min(whole.length, mine.length);
    differing_records(header, mine, reference.length);
  }
  Span span = cutting_.spans[f][own];
  if (set_.cut[d] && (span.first < 0 || span.first + span.count > whole.length))
    throw Error(Code::format,
                "the file says that it holds cells {} to {} (from 0) of dimension '{}', whose length is {}",
                span.first, span.first + span.count - 1, mine.name, whole.length)
        .in_file(header.path);
  set_.files[f].spans.push_back(span);
}

void Builder::differing_records(const Header& header, const Dimension& mine, std::int64_t others) {
  const std::string counts =
      fmt::format("{} records of '{}', {} {}", mine.length, mine.name, base().path, others);
  if (options_.missing == MissingTiles::refuse)
    throw Error(Code::not_found,
                "the set is not whole: this file has {}; leave out those that some files lack with "
                "missing_tiles=common, or have fill values there with missing_tiles=fill (shoal combine: "
                "--allow-missing)",
                counts)
        .in_file(header.path);
  set_.warnings.push_back(fmt::format("{} has {}: {}", header.path, counts,
                                      options_.missing == MissingTiles::fill
                                          ? "what a file lacks reads as the fill value"
                                          : "only those that all files have are there"));
}

/// Chunks are those of a file, and say nothing of the whole.
void Builder::make_definition_whole(VariableDef& definition) const {
  std::erase_if(definition.attributes,
                [&](const Attribute& a) { return tiles::describes_cutting(set_.style, a.name, true); });
  const bool cut =
      std::any_of(definition.dims.begin(), definition.dims.end(), [&](int d) { return set_.cut[d]; });
  if (cut) definition.chunks.clear();
}

void Builder::make_variables() {
  for (const auto& attribute : base().schema.attributes)
    if (!tiles::describes_cutting(set_.style, attribute.name, false))
      set_.schema.attributes.push_back(attribute);
  set_.schema.unread = base().schema.unread;
  set_.schema.groups = base().schema.groups;
  for (const auto& variable : base().schema.variables) {
    if (tiles::is_made_axis(variable)) continue;
    set_.schema.variables.push_back(variable);
    make_definition_whole(set_.schema.variables.back());
  }
  add_missing_variables();
  for (std::size_t f = 0; f < headers_.size(); ++f)
    match_variables(f);
  if (!differing_.empty())
    set_.warnings.push_back(fmt::format("attributes differ between files, those of {} count: {}", base().path,
                                        joined({differing_.begin(), differing_.end()}, ", ")));
}

bool Builder::lacks_a_dim(std::size_t f, const VariableDef& whole) const {
  return std::any_of(whole.dims.begin(), whole.dims.end(),
                     [&](int d) { return headers_[f].schema.find_dim(set_.schema.dim(d).name) < 0; });
}

/// Variables without cells in the base: it has not got their dimensions; or, in tiles of ROMS, they are of
/// the boundary, and inner tiles lack them or have a scalar in their place.
void Builder::add_missing_variables() {
  for (const auto& header : headers_)
    for (const auto& variable : header.schema.variables) {
      if (tiles::is_made_axis(variable)) continue;
      VariableDef whole = variable;
      for (auto& d : whole.dims)
        d = set_.schema.find_dim(header.schema.dim(d).name);
      make_definition_whole(whole);
      const int known = set_.schema.find_variable(variable.name);
      if (known < 0 && (cutting_.variables_differ || lacks_a_dim(base_, whole)))
        set_.schema.variables.push_back(whole);
      else if (known >= 0 && cutting_.variables_differ &&
               set_.schema.variable(known).dims.size() < whole.dims.size())
        set_.schema.variable(known) = whole;
    }
}

void Builder::match_variables(std::size_t f) {
  const Schema& own = headers_[f].schema;
  const std::string& path = headers_[f].path;
  for (const auto& whole : set_.schema.variables) {
    const int at = own.find_variable(whole.name);
    const bool fits = at >= 0 && dim_names(own, own.variable(at)) == dim_names(set_.schema, whole);
    set_.files[f].variables.push_back(fits ? at : -1);
    if (!fits && (cutting_.variables_differ || (at < 0 && lacks_a_dim(f, whole)))) continue;
    if (at < 0)
      throw Error(Code::format, "the variable is missing, which {} has", base().path)
          .of_variable(whole.name)
          .in_file(path);
    const auto& mine = own.variable(at);
    if (!fits)
      throw Error(Code::format, "the variable has the dimensions ({}), in {} ({})",
                  joined(dim_names(own, mine), ", "), base().path,
                  joined(dim_names(set_.schema, whole), ", "))
          .of_variable(whole.name)
          .in_file(path);
    if (mine.type != whole.type || mine.fits_plainly != whole.fits_plainly)
      throw Error(Code::format, "the variable has the type {}, in another file of the set {}",
                  name_of(mine.type), name_of(whole.type))
          .of_variable(whole.name)
          .in_file(path);
    compare_attributes(f, whole, mine);
  }
  for (const auto& variable : own.variables)
    if (set_.schema.find_variable(variable.name) < 0 && !tiles::is_made_axis(variable))
      throw Error(Code::format, "the variable is not in " + base().path)
          .of_variable(variable.name)
          .in_file(path);
}

void Builder::compare_attributes(std::size_t f, const VariableDef& whole, const VariableDef& own) {
  const auto compare = [&](const Attribute& a, const std::vector<Attribute>& others) {
    if (tiles::describes_cutting(set_.style, a.name, true)) return;
    const Attribute* other = find_attribute(others, a.name);
    if (other != nullptr && same(a, *other)) return;
    if (gives_meaning(a.name))
      throw Error(Code::format,
                  "the attribute '{}' is not the same as in another file of the set, {}: their values cannot "
                  "be put together",
                  a.name, base().path)
          .of_variable(whole.name)
          .in_file(headers_[f].path);
    differing_.insert(fmt::format("{}:{}", whole.name, a.name));
  };
  for (const auto& a : whole.attributes)
    compare(a, own.attributes);
  for (const auto& a : own.attributes)
    compare(a, whole.attributes);
}

std::string Builder::missing_files() const {
  const auto there = static_cast<std::int64_t>(set_.files.size());
  std::set<std::int64_t> numbers;
  for (const auto& file : set_.files)
    if (file.number >= 0) numbers.insert(file.number);
  std::string text;
  if (cutting_.total > there)
    text = fmt::format("{} of {} files are missing", cutting_.total - there, cutting_.total);
  if (static_cast<std::int64_t>(numbers.size()) != there) return text;
  // Numbers begin at 0, but where the model ran on the later ranks of a job.
  const std::int64_t least = cutting_.total > *numbers.rbegin() ? 0 : *numbers.begin();
  const std::int64_t end = std::max(*numbers.rbegin() + 1, least + std::max<std::int64_t>(cutting_.total, 0));
  std::string list;
  int reported = 0;
  for (std::int64_t n = least; n < end && reported <= 20; ++n) {
    if (numbers.count(n) != 0) continue;
    list += (list.empty() ? "" : ", ") + (reported < 20 ? std::to_string(n) : std::string("..."));
    ++reported;
  }
  if (list.empty()) return text;
  return fmt::format("{}: number {}", text.empty() ? "files are missing" : text, list);
}

void Builder::check_numbers() {
  std::map<std::int64_t, std::string> known;
  for (const auto& file : set_.files) {
    if (file.number < 0) continue;
    const auto [at, is_new] = known.emplace(file.number, file.path);
    if (!is_new)
      throw Error(Code::overlap, "the file has the number {} of the set, and {} too", file.number, at->second)
          .in_file(file.path);
  }
  std::map<std::vector<std::int64_t>, std::string> places;
  for (const auto& file : set_.files) {
    std::vector<std::int64_t> place;
    std::int64_t cells = 0;
    for (std::size_t d = 0; d < set_.cut.size(); ++d) {
      if (!set_.cut[d]) continue;
      place.insert(place.end(), {file.spans[d].first, file.spans[d].count});
      cells += file.spans[d].count;
    }
    if (cells == 0) continue;
    const auto [at, is_new] = places.emplace(place, file.path);
    if (!is_new)
      throw Error(Code::overlap,
                  "the file holds the same cells as {}: one of them is of a different set, or left from an "
                  "earlier run",
                  at->second)
          .in_file(file.path);
  }
}

/// Files may be missing, or there may be too many, although every cell is in one file: where land is left
/// out, where nothing but files says how large the whole is, where entries follow one another.
void Builder::check_total() {
  const auto there = static_cast<std::int64_t>(set_.files.size());
  if (cutting_.total < 0 || cutting_.total == there) return;
  if (cutting_.total < there) {
    const std::string found = fmt::format(
        "the files say that the set has {} files; {} were found: some may be left from an earlier run",
        cutting_.total, there);
    if (cutting_.appended) throw Error(Code::overlap, found).in_file(base().path);
    return set_.warnings.push_back(found);
  }
  if (options_.missing == MissingTiles::fill) return set_.warnings.push_back(missing_files());
  throw Error(Code::not_found,
              "the set is not whole: {}; if these are tiles of land that the model does not write, set "
              "missing_tiles=fill (shoal combine: --allow-missing)",
              missing_files())
      .in_file(base().path);
}

// Files that are damaged may tell of any lengths.
void Builder::check_sizes() const {
  const auto check = [&](const std::string& what, const std::vector<int>& dims) {
    constexpr std::int64_t k_most_cells = std::numeric_limits<std::int64_t>::max() / 64;
    std::int64_t cells = 1;
    for (const int d : dims)
      if (const auto& dim = set_.schema.dim(d);
          __builtin_mul_overflow(cells, dim.length, &cells) || cells > k_most_cells)
        throw Error(Code::format, "{} would have too many cells, with {} along '{}'; is a file damaged?",
                    what, dim.length, dim.name)
            .in_file(base().path);
  };
  std::vector<int> cut;
  for (std::size_t d = 0; d < set_.cut.size(); ++d)
    if (set_.cut[d]) cut.push_back(static_cast<int>(d));
  check("the set", cut);
  for (const auto& variable : set_.schema.variables)
    check(fmt::format("variable '{}' of the set", variable.name), variable.dims);
}

/// Every combination of cut dimensions that variables have must be there once.
void Builder::check_covers() {
  const auto& variables = set_.schema.variables;
  std::vector<std::vector<int>> all;
  for (const auto& variable : variables) {
    std::vector<int> dims;
    for (const int d : variable.dims)
      if (set_.cut[d]) dims.push_back(d);
    std::sort(dims.begin(), dims.end());
    dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
    all.push_back(dims);
  }
  std::vector<int> every;
  for (std::size_t d = 0; d < set_.cut.size(); ++d)
    if (set_.cut[d]) every.push_back(static_cast<int>(d));
  for (const auto& dims : all) {
    if (dims.empty() || gaps_.count(dims) != 0) continue;
    const bool largest = std::none_of(all.begin(), all.end(), [&](const auto& other) {
      return other.size() > dims.size() &&
             std::includes(other.begin(), other.end(), dims.begin(), dims.end());
    });
    check_cover(dims, largest);
  }
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const bool ragged =
        std::any_of(variables[v].dims.begin(), variables[v].dims.end(), [&](int d) { return ragged_[d]; });
    set_.has_gaps.push_back((!all[v].empty() && gaps_[all[v]]) ||
                            (ragged && (!all[v].empty() || !in_one_file(static_cast<int>(v)))));
    if (cutting_.variables_differ && !all[v].empty()) check_files_of(static_cast<int>(v));
  }
}

/// Does any file have every record of a variable that is not cut?
bool Builder::in_one_file(int v) const {
  const Box whole = Box::whole(set_.schema.shape(v));
  for (std::size_t f = 0; f < set_.files.size(); ++f)
    if (set_.box_of(static_cast<int>(f), v) == whole) return true;
  return false;
}

/// Files need not have every variable, but those that do have all of its cells.
void Builder::check_files_of(int v) {
  std::vector<Box> boxes;
  for (std::size_t f = 0; f < set_.files.size(); ++f)
    boxes.push_back(set_.box_of(static_cast<int>(f), v));
  const auto cover = tiles::cover_of(boxes, set_.schema.shape(v), k_most_gaps);
  if (cover.gap_cells == 0 || set_.has_gaps[v]) return;
  if (options_.missing != MissingTiles::fill)
    throw Error(Code::not_found,
                "the set is not whole: no file that has the variable holds its cells {}; to read them as the "
                "fill value, set missing_tiles=fill (shoal combine: --allow-missing)",
                text_of_boxes(cover.gaps))
        .of_variable(set_.schema.variable(v).name)
        .in_file(base().path);
  set_.has_gaps[v] = true;
  set_.warnings.push_back(fmt::format("variable '{}' is not in all files: {} of its cells read as fill",
                                      set_.schema.variable(v).name, cover.gap_cells));
}

void Builder::check_cover(const std::vector<int>& dims, bool largest) {
  const auto n = static_cast<int>(dims.size());
  Dims shape(n);
  Numbered<Box> boxes;
  Numbered<int> owners;
  // All that was written is there: gaps are land, or cells that no rank owned.
  const bool land = options_.missing == MissingTiles::fill || cutting_.land_left_out ||
                    cutting_.total == static_cast<std::int64_t>(set_.files.size());
  for (int i = 0; i < n; ++i)
    shape[i] = set_.schema.dim(dims[i]).length;
  for (std::size_t f = 0; f < set_.files.size(); ++f) {
    Box box{Dims(n), Dims(n)};
    for (int i = 0; i < n; ++i) {
      const Span& span = set_.files[f].spans[dims[i]];
      box.first[i] = span.first;
      box.count[i] = span.count;
    }
    // Along fewer dimensions than are cut, a row of files holds the same cells.
    if (std::find(boxes.begin(), boxes.end(), box) != boxes.end() &&
        (!largest || n < static_cast<int>(std::count(set_.cut.begin(), set_.cut.end(), true))))
      continue;
    boxes.push_back(box);
    owners.push_back(static_cast<int>(f));
  }
  const auto cover = tiles::cover_of(boxes, shape, k_most_gaps);
  if (cover.overlap && largest) {
    const auto& a = boxes[cover.overlap->first];
    const auto& b = boxes[cover.overlap->second];
    const auto path = [&](int i) { return set_.files[owners[i]].path; };
    throw Error(Code::overlap,
                "the file holds cells {}, and {} holds {} (from 0): they are of different sets, or left from "
                "an earlier run",
                shoal::text_of(b), path(cover.overlap->first), shoal::text_of(a))
        .in_file(path(cover.overlap->second));
  }
  if (cover.gap_cells > 0 && !land) refuse_gaps(dims, cover);
  if (cover.gap_cells > 0)
    set_.warnings.push_back(fmt::format(
        "{} of {} cells are in no file of the set (land that nobody wrote); they read as the fill value",
        cover.gap_cells, volume(shape)));
  gaps_[dims] = cover.gap_cells > 0;
}

void Builder::refuse_gaps(const std::vector<int>& dims, const tiles::Cover& cover) const {
  std::vector<std::string> names;
  for (const int d : dims)
    names.push_back(set_.schema.dim(d).name);
  const std::string missing = missing_files();
  throw Error(
      Code::not_found,
      "the set is not whole: {}no file holds the cells {} of ({}), {} cells in all; if these are tiles of "
      "land that the model does not write, set missing_tiles=fill (shoal combine: --allow-missing)",
      missing.empty() ? "" : missing + "; ", text_of_boxes(cover.gaps), joined(names, ", "), cover.gap_cells)
      .in_file(base().path);
}

/// Cells that no file holds are missing to all who read the whole.
void Builder::define_fill_values() {
  for (std::size_t v = 0; v < set_.schema.variables.size(); ++v) {
    VariableDef& variable = set_.schema.variables[v];
    if (!set_.has_gaps[v] || !is_number(variable.type)) continue;
    if (find_attribute(variable.attributes, k_fill_name) != nullptr) {
      if (const std::string fault = fault_of_fill(variable); !fault.empty())
        set_.warnings.push_back(fmt::format(
            "variable '{}': {}; cells that no file holds have NetCDF's default", variable.name, fault));
      continue;
    }
    const bool given = options_.fill && find_attribute(variable.attributes, "missing_value") == nullptr;
    const Bytes value = given ? number_as(variable, *options_.fill) : gap_value(variable);
    variable.attributes.insert(variable.attributes.begin(),
                               Attribute::numbers(k_fill_name, variable.type, value.data(), 1));
  }
}

FileSet Builder::build() {
  read_headers();
  make_dims();
  make_variables();
  check_numbers();
  check_sizes();
  check_covers();
  check_total();
  define_fill_values();
  // The same words for several combinations of dimensions.
  std::vector<std::string> once;
  for (const auto& warning : set_.warnings)
    if (std::find(once.begin(), once.end(), warning) == once.end()) once.push_back(warning);
  set_.warnings = std::move(once);
  return std::move(set_);
}

}  // namespace

void with_catalog_of(const std::string& path, const FileSetOptions& options,
                     const std::function<void(Catalog& catalog)>& visit) {
  in_context(path, [&] {
    const auto catalog = open_catalog(path, options.open_store, false, options.catalog);
    visit(*catalog);
    catalog->close(false);
  });
}

FileSet open_file_set(const std::vector<std::string>& paths, const FileSetOptions& options) {
  return Builder(paths, options).build();
}

}  // namespace shoal
