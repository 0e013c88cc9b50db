// SPDX-License-Identifier: BSD-3-Clause
#include "format/tiles/conventions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>

#include "format/tiles/set_paths.hpp"

namespace shoal::tiles {

namespace {

// No index and no length is beyond these, so that sums of some are still numbers; NaN is the lower one.
constexpr std::int64_t k_most = std::int64_t{1} << 53;

template <class T>
std::vector<std::int64_t> as_integers(const Attribute& attribute) {
  std::vector<std::int64_t> out;
  for (std::size_t at = 0; at + sizeof(T) <= attribute.data.size(); at += sizeof(T)) {
    T value{};
    std::memcpy(&value, attribute.data.data() + at, sizeof(T));
    if constexpr (std::is_floating_point_v<T>)
      out.push_back(value >= static_cast<T>(k_most)   ? k_most
                    : value > -static_cast<T>(k_most) ? static_cast<std::int64_t>(value)
                                                      : -k_most);
    else
      out.push_back(std::clamp(static_cast<std::int64_t>(value), -k_most, k_most));
  }
  return out;
}

[[noreturn]] void refuse(const Header& header, const std::string& message) {
  throw Error(Code::format, message).in_file(header.path);
}

std::string text_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const auto n : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(n);
  return fmt::format("{{{}}}", text);
}

void start(Cutting& cutting, const std::vector<Header>& headers) {
  for (const auto& header : headers) {
    auto& spans = cutting.spans.emplace_back();
    for (const auto& dim : header.schema.dims)
      spans.push_back({0, dim.length, 0, dim.length});
    cutting.global.emplace_back(spans.size(), -1);
    cutting.numbers.push_back(number_in_name(header.path));
  }
}

// ---- FMS: {first, last of the whole, first, last of this file}, on the coordinate variable.

constexpr const char* k_decomposition = "domain_decomposition";

/// Does a variable have cells in both files because they share one point of the dimension?
bool share_a_point(const Cutting& cutting, const std::vector<Header>& headers, std::size_t one,
                   std::size_t other, const std::string& dimension) {
  const Schema& first = headers[one].schema;
  const Schema& second = headers[other].schema;
  const auto shared = [&](const VariableDef& v, const VariableDef& w) {
    bool found = false;
    for (std::size_t i = 0; i < v.dims.size(); ++i) {
      const int d = v.dims[i], e = w.dims[i];
      if (cutting.global[one][d] < 0) continue;
      const Span &a = cutting.spans[one][d], &b = cutting.spans[other][e];
      if (first.dims[d].name == dimension) {
        found = a.first < b.first && a.first + a.count == b.first + 1;
        if (!found) return false;
      } else if (a.first != b.first || a.count != b.count) {
        return false;
      }
    }
    return found;
  };
  for (const auto& v : first.variables)
    for (const auto& w : second.variables)
      if (v.dims.size() > 1 && v.name == w.name && v.dims.size() == w.dims.size() && shared(v, w))
        return true;
  return false;
}

/// Of a symmetric grid (MOM6), tiles hold the corners and faces on both of their edges, so that neighbours
/// have the points between them in common. They count as the later tile's, whose values mppnccombine keeps,
/// too. Only where every two neighbours have one point in common, of which both hold cells: such a set could
/// not be read otherwise.
void leave_shared_points_to_the_next(Cutting& cutting, const std::vector<Header>& headers) {
  struct Place {
    std::size_t file, dim;
  };
  std::map<std::string, std::map<std::int64_t, std::vector<Place>>> cut;  // by name, and where spans begin
  for (std::size_t f = 0; f < headers.size(); ++f)
    for (std::size_t d = 0; d < cutting.global[f].size(); ++d)
      if (cutting.global[f][d] >= 0)
        cut[headers[f].schema.dims[d].name][cutting.spans[f][d].first].push_back({f, d});
  const auto span_of = [&](const Place& at) -> Span& { return cutting.spans[at.file][at.dim]; };
  for (const auto& [key, begins] : cut) {
    const std::string& name = key;  // which clang can capture, too
    std::vector<Span*> longer;
    bool all = true;
    for (auto at = begins.begin(); all && std::next(at) != begins.end(); ++at)
      for (const auto& here : at->second) {
        Span& span = span_of(here);
        all = all && span.first + span.count == std::next(at)->first + 1;
        longer.push_back(&span);
      }
    for (auto at = begins.begin(); all && std::next(at) != begins.end(); ++at)
      all = std::any_of(at->second.begin(), at->second.end(), [&](const Place& here) {
        const auto& next = std::next(at)->second;
        return std::any_of(next.begin(), next.end(), [&](const Place& there) {
          return share_a_point(cutting, headers, here.file, there.file, name);
        });
      });
    for (Span* span : longer)
      if (all) --span->count;
  }
}

bool has_coordinate(const Schema& schema, int dim) {
  const int v = schema.find_variable(schema.dim(dim).name);
  return v >= 0 && schema.variable(v).dims == std::vector<int>{dim};
}

/// Icebergs: nothing is cut, and along an unlimited dimension without a coordinate variable each file has the
/// entries of its own ranks, any number of them.
void append_entries(Cutting& cutting, const std::vector<Header>& headers) {
  for (const auto& lengths : cutting.global)
    if (std::any_of(lengths.begin(), lengths.end(), [](std::int64_t n) { return n >= 0; })) return;
  std::map<std::string, std::int64_t> entries;
  for (const auto& header : headers)
    for (const auto& dim : header.schema.dims)
      if (dim.unlimited && !has_coordinate(header.schema, header.schema.find_dim(dim.name)))
        entries[dim.name] = 0;
  const auto for_each_part = [&](auto&& visit) {
    for (std::size_t f = 0; f < headers.size(); ++f)
      for (std::size_t d = 0; d < headers[f].schema.dims.size(); ++d)
        if (const auto known = entries.find(headers[f].schema.dims[d].name); known != entries.end())
          visit(f, d, known->second);
  };
  for_each_part([&](std::size_t f, std::size_t d, std::int64_t& end) {
    cutting.spans[f][d].first = end;
    end = std::min(end + std::min(cutting.spans[f][d].count, k_most), k_most);  // of a damaged file
  });
  for_each_part([&](std::size_t f, std::size_t d, std::int64_t end) { cutting.global[f][d] = end; });
  cutting.appended = !entries.empty();
}

Cutting fms_cutting(const std::vector<Header>& headers) {
  Cutting cutting;
  start(cutting, headers);
  for (std::size_t f = 0; f < headers.size(); ++f) {
    const Schema& schema = headers[f].schema;
    for (const auto& variable : schema.variables) {
      const auto numbers = integers_of(variable.attributes, k_decomposition);
      if (!numbers) continue;
      const auto& n = *numbers;
      const int d = schema.find_dim(variable.name);
      if (d < 0 || variable.dims.size() != 1 || variable.dims[0] != d)
        refuse(headers[f], fmt::format("variable '{}' has the attribute domain_decomposition, but is no "
                                       "coordinate variable of a dimension",
                                       variable.name));
      const std::int64_t length = schema.dims[d].length;
      if (n.size() != 4 || n[2] < n[0] || n[3] > n[1] || n[3] - n[2] + 1 != length)
        refuse(headers[f],
               fmt::format("attribute domain_decomposition of '{}' is {}; it must have first and last index "
                           "of the whole and of this file, whose dimension has the length {}",
                           variable.name, text_of(n), length));
      cutting.spans[f][d] = {n[2] - n[0], length, 0, length};
      cutting.global[f][d] = n[1] - n[0] + 1;
    }
    if (const auto total = integers_of(schema.attributes, "NumFilesInSet"); total && total->size() == 1)
      cutting.total = std::max(cutting.total, total->front());
  }
  leave_shared_points_to_the_next(cutting, headers);
  append_entries(cutting, headers);
  return cutting;
}

// ---- NEMO: everything in global attributes; dimensions by their numbers, from 1.

std::vector<std::int64_t> nemo_numbers(const Header& header, const char* name, std::size_t count) {
  const auto numbers = integers_of(header.schema.attributes, name);
  if (!numbers) refuse(header, fmt::format("the global attribute {} is missing", name));
  if (count != 0 && numbers->size() != count)
    refuse(header, fmt::format("the global attribute {} has {} numbers, DOMAIN_dimensions_ids {}", name,
                               numbers->size(), count));
  return *numbers;
}

Cutting nemo_cutting(const std::vector<Header>& headers) {
  Cutting cutting;
  start(cutting, headers);
  cutting.land_left_out = true;
  for (std::size_t f = 0; f < headers.size(); ++f) {
    const Header& header = headers[f];
    const auto ids = nemo_numbers(header, "DOMAIN_dimensions_ids", 0);
    const auto n = ids.size();
    const auto global = nemo_numbers(header, "DOMAIN_size_global", n);
    const auto local = nemo_numbers(header, "DOMAIN_size_local", n);
    const auto first = nemo_numbers(header, "DOMAIN_position_first", n);
    const auto last = nemo_numbers(header, "DOMAIN_position_last", n);
    const auto low = nemo_numbers(header, "DOMAIN_halo_size_start", n);
    const auto high = nemo_numbers(header, "DOMAIN_halo_size_end", n);
    for (std::size_t i = 0; i < n; ++i) {
      if (ids[i] < 1 || ids[i] > static_cast<std::int64_t>(header.schema.dims.size()))
        refuse(header, fmt::format("DOMAIN_dimensions_ids is {}, but the file has {} dimensions",
                                   text_of(ids), header.schema.dims.size()));
      const std::int64_t d = ids[i] - 1;
      const Dimension& dim = header.schema.dims[d];
      if (dim.length != local[i] || last[i] - first[i] + 1 != local[i])
        refuse(header, fmt::format("dimension '{}' has the length {}, DOMAIN_size_local says {}, "
                                   "DOMAIN_position_first and _last {}",
                                   dim.name, dim.length, local[i], last[i] - first[i] + 1));
      // In some versions the position counts from the halo's first cell, which may lie outside of the whole.
      std::int64_t before = low[i];
      std::int64_t begin = first[i] - 1 + before;
      std::int64_t count = local[i] - low[i] - high[i];
      if (begin < 0) {
        before -= begin;
        count += begin;
        begin = 0;
      }
      count = std::min(count, global[i] - begin);
      if (count < 0 || low[i] < 0 || high[i] < 0)
        refuse(header, fmt::format("the DOMAIN_* attributes leave no cells in dimension '{}'", dim.name));
      cutting.spans[f][d] = {begin, count, before, dim.length};
      cutting.global[f][d] = global[i];
    }
    if (const auto number = integers_of(header.schema.attributes, "DOMAIN_number");
        number && !number->empty())
      cutting.numbers[f] = number->front();
    if (const auto total = integers_of(header.schema.attributes, "DOMAIN_number_total");
        total && !total->empty())
      cutting.total = std::max(cutting.total, total->front());
  }
  return cutting;
}

// ---- ROMS: the dimensions xi_rho, xi_u, eta_rho, eta_v are cut, and placed by the attribute partition.

struct RomsAxis {
  const char* name;
  bool xi;         ///< or eta
  bool staggered;  ///< one point less at the first edge
};
constexpr RomsAxis k_roms_axes[] = {
    {"xi_rho", true, false}, {"xi_u", true, true},     {"eta_rho", false, false}, {"eta_v", false, true},
    {"xi_psi", true, true},  {"eta_psi", false, true}, {"xi_v", true, false},     {"eta_u", false, false}};

using Partitions = std::vector<std::vector<std::int64_t>>;

constexpr std::int64_t k_most_tiles = std::int64_t{1} << 30;
constexpr std::int64_t k_most_index = std::int64_t{1} << 60;

/// CROCO: the numbers of tiles are the same in all files, and above the tile's own.
bool is_tile_grid(const Partitions& partitions) {
  const auto& one = partitions.front();
  return std::all_of(partitions.begin(), partitions.end(), [&](const auto& p) {
    return p[2] == one[2] && p[3] == one[3] && p[0] >= 0 && p[0] < p[2] && p[1] >= 0 && p[1] < p[3] &&
           p[2] <= k_most_tiles && p[3] <= k_most_tiles;
  });
}

void check_ucla(const std::vector<Header>& headers, const Partitions& partitions) {
  for (std::size_t f = 0; f < headers.size(); ++f) {
    const auto& p = partitions[f];
    if (p[1] != partitions.front()[1] || p[0] < 0 || p[0] >= p[1] || p[2] < 1 || p[3] < 1 ||
        std::max(p[2], p[3]) > k_most_index)
      refuse(
          headers[f],
          fmt::format("the global attribute partition is {}, that of {} {}; as (node, nodes, first xi, first "
                      "eta) or (tile in xi, tile in eta, tiles in xi, tiles in eta) they do not fit together",
                      text_of(p), headers.front().path, text_of(partitions.front())));
  }
}

/// Where the tiles of each row or column begin, from the lengths of those before them.
void place_by_lengths(Cutting& cutting, const std::vector<Header>& headers, const Partitions& partitions,
                      const RomsAxis& axis) {
  const std::size_t which = axis.xi ? 0 : 1;
  std::map<std::int64_t, std::int64_t> lengths;
  for (std::size_t f = 0; f < headers.size(); ++f) {
    const int d = headers[f].schema.find_dim(axis.name);
    if (d < 0) continue;
    const auto length = headers[f].schema.dim(d).length;
    const auto [known, is_new] = lengths.emplace(partitions[f][which], length);
    if (!is_new && known->second != length)
      refuse(
          headers[f],
          fmt::format(
              "dimension '{}' has the length {}, but {} in another file of the same row or column of tiles",
              axis.name, length, known->second));
  }
  const std::int64_t tiles = partitions.front()[which + 2];
  if (lengths.empty()) return;
  std::string missing;
  std::int64_t next = 0;
  const auto note_missing = [&](std::int64_t end) {
    if (next == end) return;
    missing += (missing.empty() ? "" : ", ") + std::to_string(next);
    if (end - next > 1) missing += (end - next > 2 ? " to " : ", ") + std::to_string(end - 1);
  };
  for (const auto& [tile, length] : lengths) {
    note_missing(tile);
    next = tile + 1;
  }
  note_missing(tiles);
  if (!missing.empty())
    throw Error(
        Code::not_found,
        "all files of the {} of tiles number {} (from 0, of {}) are missing; give all files of the set",
        axis.xi ? "columns" : "rows", missing, tiles);
  std::int64_t total = 0;
  std::map<std::int64_t, std::int64_t> begins;
  for (const auto& [tile, length] : lengths) {
    begins[tile] = total;
    total += length;
  }
  for (std::size_t f = 0; f < headers.size(); ++f) {
    const int d = headers[f].schema.find_dim(axis.name);
    if (d < 0) continue;
    cutting.spans[f][d].first = begins[partitions[f][which]];
    cutting.global[f][d] = total;
  }
}

void place_by_first(Cutting& cutting, const std::vector<Header>& headers, const Partitions& partitions,
                    const RomsAxis& axis) {
  std::int64_t total = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (std::size_t f = 0; f < headers.size(); ++f) {
      const int d = headers[f].schema.find_dim(axis.name);
      if (d < 0) continue;
      Span& span = cutting.spans[f][d];
      const std::int64_t first = partitions[f][axis.xi ? 2 : 3] - 1;
      span.first = axis.staggered && first > 0 ? first - 1 : first;
      total = std::max(total, span.first + span.count);
      cutting.global[f][d] = total;
    }
}

Cutting roms_cutting(const std::vector<Header>& headers) {
  Cutting cutting;
  start(cutting, headers);
  cutting.variables_differ = true;
  Partitions partitions;
  for (const auto& header : headers) {
    const auto numbers = integers_of(header.schema.attributes, "partition");
    if (!numbers || numbers->size() != 4)
      refuse(header, "the global attribute partition is missing or has not four numbers");
    partitions.push_back(*numbers);
  }
  const bool grid = is_tile_grid(partitions);
  if (!grid) check_ucla(headers, partitions);
  const auto& one = partitions.front();
  cutting.total = grid ? one[2] * one[3] : one[1];
  for (std::size_t f = 0; f < headers.size(); ++f)
    cutting.numbers[f] = grid ? partitions[f][0] + partitions[f][1] * one[2] : partitions[f][0];
  for (const auto& axis : k_roms_axes)
    (grid ? place_by_lengths : place_by_first)(cutting, headers, partitions, axis);
  return cutting;
}

}  // namespace

std::optional<std::vector<std::int64_t>> integers_of(const std::vector<Attribute>& attributes,
                                                     const std::string& name) {
  const Attribute* found = find_attribute(attributes, name);
  if (found == nullptr) return std::nullopt;
  switch (found->type) {
    case Type::byte_:
      return as_integers<std::int8_t>(*found);
    case Type::short_:
      return as_integers<std::int16_t>(*found);
    case Type::int_:
      return as_integers<std::int32_t>(*found);
    case Type::int64:
      return as_integers<std::int64_t>(*found);
    case Type::uint:
      return as_integers<std::uint32_t>(*found);
    case Type::float_:
      return as_integers<float>(*found);
    case Type::double_:
      return as_integers<double>(*found);
    default:
      return std::nullopt;
  }
}

SetStyle style_of(const Header& header) {
  if (find_attribute(header.schema.attributes, "DOMAIN_position_first") != nullptr) return SetStyle::nemo;
  for (const auto& variable : header.schema.variables)
    if (find_attribute(variable.attributes, k_decomposition) != nullptr) return SetStyle::fms;
  if (find_attribute(header.schema.attributes, "NumFilesInSet") != nullptr) return SetStyle::fms;
  const auto partition = integers_of(header.schema.attributes, "partition");
  if (partition && partition->size() == 4) return SetStyle::roms;
  throw Error(Code::format,
              "nothing in this file says which part of a whole it holds: neither the attribute "
              "domain_decomposition of coordinate variables (FMS, Shoal), nor the global attributes "
              "DOMAIN_position_first (NEMO) or partition (ROMS)")
      .in_file(header.path);
}

Cutting cutting_of(SetStyle style, const std::vector<Header>& headers) {
  switch (style) {
    case SetStyle::fms:
      return fms_cutting(headers);
    case SetStyle::roms:
      return roms_cutting(headers);
    case SetStyle::nemo:
      break;
  }
  return nemo_cutting(headers);
}

bool describes_cutting(SetStyle style, const std::string& attribute, bool of_variable) {
  if (of_variable) return style == SetStyle::fms && attribute == k_decomposition;
  switch (style) {
    case SetStyle::fms:
      return attribute == "NumFilesInSet";
    case SetStyle::roms:
      return attribute == "partition";
    case SetStyle::nemo:
      break;
  }
  return attribute.compare(0, 7, "DOMAIN_") == 0 || attribute == "ibegin" || attribute == "jbegin" ||
         attribute == "ni" || attribute == "nj";
}

bool is_made_axis(const VariableDef& variable) {
  const Attribute* axis = find_attribute(variable.attributes, "shoal_axis");
  if (axis == nullptr) return false;
  if (axis->type == Type::string) return axis->strings == std::vector<std::string>{"made"};
  const std::string text(reinterpret_cast<const char*>(axis->data.data()), axis->data.size());
  return text.substr(0, text.find('\0')) == "made";
}

}  // namespace shoal::tiles
