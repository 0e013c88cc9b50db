// SPDX-License-Identifier: BSD-3-Clause
#include "codec/blosc.hpp"

#ifdef SHOAL_HAVE_BLOSC
#include <blosc.h>
#endif

#include <algorithm>

#include "base/error.hpp"
#include "codec/damage.hpp"

namespace shoal {

namespace {

// Filter::variant is the place in the first list, and k_shuffle times that in the second. The first of both
// are variant 0, which a filter has that says nothing.
constexpr int k_shuffle = 16;

std::optional<int> place_in(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<int>(found - names.begin());
}

#ifdef SHOAL_HAVE_BLOSC
int shuffle_number(const Filter& filter) {
  const std::string& name = blosc_shuffle_of(filter);
  return name == "shuffle" ? BLOSC_SHUFFLE : name == "bitshuffle" ? BLOSC_BITSHUFFLE : BLOSC_NOSHUFFLE;
}
#endif

}  // namespace

const std::vector<std::string>& blosc_compressors() {
  static const std::vector<std::string> names{"zstd", "lz4", "lz4hc", "zlib", "blosclz"};
  return names;
}

const std::vector<std::string>& blosc_shuffles() {
  static const std::vector<std::string> names{"shuffle", "bitshuffle", "noshuffle"};
  return names;
}

std::optional<Filter> blosc_filter(std::string_view compressor, int level, std::string_view shuffle) {
  const auto c = place_in(blosc_compressors(), compressor);
  const auto s = place_in(blosc_shuffles(), shuffle);
  if (!c || !s) return std::nullopt;
  return Filter{Filter::blosc, level, *c + k_shuffle * *s};
}

const std::string& blosc_compressor_of(const Filter& filter) {
  return blosc_compressors().at(static_cast<std::size_t>(filter.variant % k_shuffle));
}

const std::string& blosc_shuffle_of(const Filter& filter) {
  return blosc_shuffles().at(static_cast<std::size_t>(filter.variant / k_shuffle));
}

// zstd and zlib start anew in each block. Those that blosc chooses at level 1 take 1.4 times as long, and 2 %
// more bytes (a float field in chunks of 4 MiB); longer ones than this gain nothing.
std::size_t blosc_block(const Filter& filter) {
  constexpr std::size_t k_block = 512 * 1024;
  const std::string& compressor = blosc_compressor_of(filter);
  return compressor == "zstd" || compressor == "zlib" ? k_block : 0;
}

#ifdef SHOAL_HAVE_BLOSC

std::string missing_blosc(const Filter& filter) {
  const std::string& name = blosc_compressor_of(filter);
  if (blosc_compname_to_compcode(name.c_str()) >= 0) return "";
  return fmt::format("the c-blosc of this build of Shoal has no {}; it has {}", name,
                     blosc_list_compressors());
}

const char* blosc_version() {
  return blosc_get_version_string();
}

std::size_t blosc_bound(std::size_t bytes) {
  return bytes + BLOSC_MAX_OVERHEAD;
}

std::size_t blosc_encode(const Filter& filter, std::size_t element, std::span<const std::byte> bytes,
                         std::byte* to) {
  const int size = blosc_compress_ctx(filter.level, shuffle_number(filter), element, bytes.size(),
                                      bytes.data(), to, blosc_bound(bytes.size()),
                                      blosc_compressor_of(filter).c_str(), blosc_block(filter), 1);
  if (size <= 0)
    throw Error(Code::no_memory, "blosc could not compress a chunk of {} bytes (its code {})", bytes.size(),
                size);
  return static_cast<std::size_t>(size);
}

// blosc believes the lengths in the head of a buffer, so they are looked at first.
void blosc_decode(std::span<const std::byte> bytes, std::span<std::byte> to) {
  std::size_t size = 0;
  if (blosc_cbuffer_validate(bytes.data(), bytes.size(), &size) < 0)
    throw damaged("it is no buffer of blosc");
  if (size != to.size())
    throw damaged(fmt::format("blosc says that it had {} bytes, and it had {}", size, to.size()));
  if (size == 0) return;
  const int got = blosc_decompress_ctx(bytes.data(), to.data(), to.size(), 1);
  if (got < 0 || static_cast<std::size_t>(got) != size)
    throw damaged(fmt::format("blosc cannot read it (its code {})", got));
}

#else

std::string missing_blosc(const Filter&) {
  return "this build of Shoal has no c-blosc";
}

#endif

}  // namespace shoal
