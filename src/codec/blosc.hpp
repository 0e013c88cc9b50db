// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/filter.hpp"

namespace shoal {

/// Names as Zarr's metadata have them: what compresses within blosc, and how it sorts the bytes of elements
/// before ("shuffle", "bitshuffle", "noshuffle").
const std::vector<std::string>& blosc_compressors();
const std::vector<std::string>& blosc_shuffles();
/// Nothing: there is no compressor or shuffle of this name. Local.
std::optional<Filter> blosc_filter(std::string_view compressor, int level, std::string_view shuffle);
/// Names of a filter that blosc_filter made.
const std::string& blosc_compressor_of(const Filter& filter);
const std::string& blosc_shuffle_of(const Filter& filter);
/// The length of its blocks that chunks are written with (Zarr's "blocksize"); 0: blosc chooses. Reading asks
/// for none.
std::size_t blosc_block(const Filter& filter);

/// Why this build has no code for the filter, as a sentence; otherwise empty. Local.
std::string missing_blosc(const Filter& filter);

#ifdef SHOAL_HAVE_BLOSC
/// "1.21.3".
const char* blosc_version();
/// Bytes that a buffer of blosc has at most.
std::size_t blosc_bound(std::size_t bytes);
/// A buffer of blosc for elements of so many bytes; `to` has room for blosc_bound. Returns its length. In
/// this thread alone, without blosc's global state. Local.
std::size_t blosc_encode(const Filter& filter, std::size_t element, std::span<const std::byte> bytes,
                         std::byte* to);
/// Fills `to`, whatever the compressor and shuffle were. Error(format): the buffer is damaged, or holds
/// another number of bytes. Local.
void blosc_decode(std::span<const std::byte> bytes, std::span<std::byte> to);
#endif

}  // namespace shoal
