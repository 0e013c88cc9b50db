// SPDX-License-Identifier: BSD-3-Clause
#include "format/chunk_shape.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_only_records_bytes = 4096;  // chunk of a variable with unlimited dimensions alone

using Rule = ChunkRequest::Rule;
using Lengths = std::vector<std::int64_t>;

// Of a dimension that grows nobody knows how far: longer chunks would be mostly empty in the files of a
// month.
constexpr std::int64_t k_records_of_series = 128;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(Code::setting,
              "the chunk shape '{}' is not known; allowed: auto, map, series, or lengths with x between, one "
              "a dimension, slowest first (1x30x100x100)",
              text);
}

std::int64_t root_of(std::int64_t n) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)) + 1e-9), 1);
}

Lengths map_chunk(const Lengths& lengths, std::size_t first_cut, std::int64_t cells) {
  Lengths chunk(lengths.size(), 1);
  for (std::size_t d = lengths.size(); d-- > first_cut;) {
    chunk[d] = even_part(lengths[d], cells);
    cells = std::max<std::int64_t>(cells / chunk[d], 1);
    if (chunk[d] < lengths[d]) break;
  }
  return chunk;
}

Lengths series_chunk(const Lengths& lengths, std::size_t first_cut, bool grows, std::int64_t cells) {
  Lengths chunk(lengths.size(), 1);
  const std::size_t last = lengths.size() - 1;
  if (first_cut == 0 && last == 1) {
    // Times and places, or a map: nobody knows. Long in the first, of the other what there is room for.
    chunk[0] = even_part(lengths[0], cells);
    chunk[1] = even_part(lengths[1], std::max<std::int64_t>(cells / chunk[0], 1));
    return chunk;
  }
  std::int64_t times = std::min(grows ? k_records_of_series : lengths[0], cells);
  if (!grows && first_cut > 0) times = std::min(times, root_of(cells));
  std::int64_t around = std::max<std::int64_t>(cells / std::max<std::int64_t>(times, 1), 1);
  if (last > first_cut) chunk[last - 1] = even_part(lengths[last - 1], root_of(around));
  if (first_cut > 0) {
    chunk[last] = even_part(lengths[last], std::max<std::int64_t>(around / chunk[last - 1], 1));
    if (last > first_cut)
      chunk[last - 1] = even_part(lengths[last - 1], std::max<std::int64_t>(around / chunk[last], 1));
  }
  std::int64_t place = 1;
  for (const auto n : chunk)
    place *= n;
  // A small map leaves room for more.
  chunk[0] = grows ? times : even_part(lengths[0], std::max<std::int64_t>(cells / place, 1));
  return chunk;
}

}  // namespace

std::int64_t even_part(std::int64_t length, std::int64_t most) {
  most = std::clamp<std::int64_t>(most, 1, length);
  const std::int64_t parts = (length + most - 1) / most;
  for (std::int64_t p = parts; p <= std::min(length, 2 * parts); ++p)
    if (length % p == 0) return length / p;
  return (length + parts - 1) / parts;
}

ChunkRequest chunk_request_of(const std::string& text) {
  const std::string wanted = lower(trimmed(text));
  if (wanted == "auto") return {};
  if (wanted == "map") return {Rule::map, {}};
  if (wanted == "series") return {Rule::series, {}};
  ChunkRequest request{Rule::shape, {}};
  std::size_t at = 0;
  while (at <= wanted.size()) {
    const std::size_t end = std::min(wanted.find('x', at), wanted.size());
    const std::string number = wanted.substr(at, end - at);
    at = end + 1;
    if (number.empty() || number.size() > 15 || number.find_first_not_of("0123456789") != std::string::npos)
      refuse(text);
    request.shape.push_back(std::atoll(number.c_str()));
    if (request.shape.back() < 1) refuse(text);
  }
  return request;
}

std::string text_of(const ChunkRequest& request) {
  if (request.rule == Rule::automatic) return "auto";
  if (request.rule == Rule::map) return "map";
  if (request.rule == Rule::series) return "series";
  std::string text;
  for (const auto n : request.shape)
    text += (text.empty() ? "" : "x") + std::to_string(n);
  return text;
}

std::optional<Lengths> requested_chunk(const ChunkRequest& request, const Dims& shape,
                                       const std::vector<bool>& unlimited, std::size_t element,
                                       std::int64_t chunk_bytes) {
  const auto n = static_cast<std::size_t>(shape.size());
  if (n == 0 || request.rule == Rule::automatic) return std::nullopt;
  Lengths lengths;
  for (std::size_t d = 0; d < n; ++d)
    lengths.push_back(unlimited[d] ? 1 : std::max<std::int64_t>(shape[static_cast<int>(d)], 1));
  if (request.rule == Rule::shape) {
    if (request.shape.size() != n) return std::nullopt;
    Lengths chunk = request.shape;
    for (std::size_t d = 0; d < n; ++d)
      if (!unlimited[d]) chunk[d] = std::min(chunk[d], lengths[d]);
    return chunk;
  }
  // Nothing but records: as it would be without a request.
  if (n == 1 && unlimited[0]) return std::nullopt;
  const auto cells = std::max<std::int64_t>(chunk_bytes / static_cast<std::int64_t>(element), 1);
  const bool grows = unlimited[0];
  const std::size_t first = grows || n > 2 ? 1 : 0;  // of those that a place or a map is made of
  const std::size_t first_cut = std::max(first, n - std::min<std::size_t>(n, 2));
  return request.rule == Rule::map ? map_chunk(lengths, first_cut, cells)
                                   : series_chunk(lengths, first_cut, grows, cells);
}

Dims default_chunk(const Dims& shape, const std::vector<bool>& unlimited, std::size_t element,
                   std::int64_t chunk_bytes) {
  Dims chunk(shape.size(), 1);
  const auto size = static_cast<std::int64_t>(element);
  const auto limit = std::max<std::int64_t>(chunk_bytes / size, 1);
  if (std::find(unlimited.begin(), unlimited.end(), false) == unlimited.end()) {
    // Nothing but records: some in each chunk, equally many in each dimension.
    const auto cells =
        static_cast<double>(std::min(limit, std::max<std::int64_t>(k_only_records_bytes / size, 1)));
    const auto each = static_cast<std::int64_t>(std::pow(cells, 1.0 / std::max(shape.size(), 1)) + 1e-9);
    for (auto& n : chunk)
      n = std::max<std::int64_t>(each, 1);
    return chunk;
  }
  std::int64_t cells = 1;
  for (int d = shape.size() - 1; d >= 0; --d) {
    if (unlimited[static_cast<std::size_t>(d)]) continue;
    const auto length = std::max<std::int64_t>(shape[d], 1);
    if (length <= limit / cells) {
      chunk[d] = length;
      cells *= length;
      continue;
    }
    chunk[d] = even_part(length, limit / cells);
    break;
  }
  return chunk;
}

}  // namespace shoal
