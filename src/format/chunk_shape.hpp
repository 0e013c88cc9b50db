// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/box.hpp"

namespace shoal {

/// A request for the shape of chunks.
struct ChunkRequest {
  enum class Rule {
    automatic,  ///< default_chunk: records apart, otherwise as much as there is room for
    map,        ///< one index of all dimensions but the last two, which are whole if there is room
    series,     ///< many indices of the first dimension, few of the last two, one of the others
    shape       ///< as it is said
  };
  Rule rule = Rule::automatic;
  std::vector<std::int64_t> shape;
};

/// "auto", "map", "series", "1x30x100x100". Error(setting) says what is allowed. Local.
ChunkRequest chunk_request_of(const std::string& text);
std::string text_of(const ChunkRequest& request);

/// The shape of the chunks of a variable of that shape (lengths of unlimited dimensions are not looked at, so
/// that all files of a run get the same), of about so many bytes. nullopt: automatic, or a shape of another
/// number of dimensions. Lengths are cut to those of the dimensions. Local.
std::optional<std::vector<std::int64_t>> requested_chunk(const ChunkRequest& request, const Dims& shape,
                                                         const std::vector<bool>& unlimited,
                                                         std::size_t element, std::int64_t chunk_bytes);

/// The shape where none was asked for: one index of unlimited dimensions, of the others as much as has
/// chunk_bytes, the last ones whole first. Of nothing but unlimited ones some of each. Local.
Dims default_chunk(const Dims& shape, const std::vector<bool>& unlimited, std::size_t element,
                   std::int64_t chunk_bytes);

/// At most so many of a length (1 or more), in equal parts, so that little or nothing of the last one sticks
/// out.
std::int64_t even_part(std::int64_t length, std::int64_t most);

}  // namespace shoal
