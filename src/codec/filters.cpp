// SPDX-License-Identifier: BSD-3-Clause
#include "codec/filters.hpp"

#ifdef SHOAL_HAVE_LIBDEFLATE
#include <fmt/core.h>
#include <libdeflate.h>
#endif
#ifdef SHOAL_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "codec/deflate.hpp"

namespace shoal {

namespace {

struct Known {
  int id;
  const char* name;
  int least, most, usual;  // levels
  int order;               // of writing; -1: Shoal has no code for it
};

constexpr std::array<Known, 9> k_known{{
    {Filter::shuffle, "shuffle", 0, 0, 0, 0},
    {Filter::deflate, "deflate", 1, 12, 1, 1},
    {Filter::zstd, "zstd", 1, 22, 1, 1},
    {Filter::fletcher32, "fletcher32", 0, 0, 0, 2},
    {4, "szip", 0, 0, 0, -1},
    {5, "nbit", 0, 0, 0, -1},
    {6, "scaleoffset", 0, 0, 0, -1},
    {307, "bzip2", 0, 0, 0, -1},
    {32001, "blosc", 0, 0, 0, -1},
}};

const Known* find(int id) {
  const auto* found =
      std::find_if(k_known.begin(), k_known.end(), [&](const Known& k) { return k.id == id; });
  return found == k_known.end() ? nullptr : found;
}

bool compresses(const Filter& filter) {
  const auto* known = find(filter.id);
  return known != nullptr && known->most > 0;
}

[[noreturn]] void refuse(const std::string& text, const std::string& reason) {
  throw Error(Code::setting,
              "compression '{}' {}; allowed: none, or shuffle, deflate:1 to deflate:12 or zstd:1 to zstd:22, "
              "and fletcher32, with + between, such as shuffle+zstd:1",
              text, reason);
}

Filter filter_of(const std::string& word, const std::string& text) {
  const auto colon = word.find(':');
  const std::string name = lower(word.substr(0, colon));
  const auto* known = std::find_if(k_known.begin(), k_known.end(),
                                   [&](const Known& k) { return k.order >= 0 && name == k.name; });
  if (known == k_known.end())
    refuse(text, fmt::format("has '{}', which is no filter that can be written", word));
  Filter filter{known->id, known->usual};
  if (colon == std::string::npos) return filter;
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data() + colon + 1, end, filter.level);
  if (parsed.ec != std::errc() || parsed.ptr != end || known->most == 0 || filter.level < known->least ||
      filter.level > known->most)
    refuse(text, known->most == 0 ? fmt::format("gives {} a level, and it has none", name)
                                  : fmt::format("has a level of {} that is not {} to {}", name, known->least,
                                                known->most));
  return filter;
}

Error damaged(const std::string& how) {
  return Error(Code::format, "a chunk is damaged: " + how);
}

#ifdef SHOAL_HAVE_ZSTD
constexpr std::uint64_t k_largest_chunk = (std::uint64_t{1} << 32) - 1;  // of HDF5
constexpr std::uint64_t k_usual_growth = 64;
constexpr std::uint64_t k_most_growth = 128 * 1024 / 4;  // a block of zstd in as few bytes as one can have

struct FreeZstd {
  void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
};
using ZstdCompressor = std::unique_ptr<ZSTD_CCtx, FreeZstd>;
using ZstdDecompressor = std::unique_ptr<ZSTD_DCtx, FreeZstd>;

// The checksum of what a frame holds makes 4 bytes of it. Whoever reads one checks it, Shoal or not: a frame
// without one gives wrong values where it is damaged.
ZstdCompressor zstd_compressor() {
  ZstdCompressor made(ZSTD_createCCtx());
  if (!made || ZSTD_isError(ZSTD_CCtx_setParameter(made.get(), ZSTD_c_checksumFlag, 1)) != 0)
    throw Error(Code::no_memory, "no memory for zstd");
  return made;
}

std::size_t compress(ZSTD_CCtx* zstd, std::span<const std::byte> bytes, int level, std::span<std::byte> to) {
  auto size = ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);
  if (ZSTD_isError(size) == 0) size = ZSTD_compress2(zstd, to.data(), to.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0)
    throw Error(Code::no_memory, std::string("zstd could not compress a chunk: ") + ZSTD_getErrorName(size));
  return size;
}
#endif

}  // namespace

std::string name_of(const Filter& filter) {
  const auto* known = find(filter.id);
  return known != nullptr ? known->name : fmt::format("filter {}", filter.id);
}

std::string text_of(const Filters& filters) {
  std::string text;
  for (const auto& filter : filters)
    text += (text.empty() ? "" : "+") + name_of(filter) +
            (compresses(filter) ? fmt::format(":{}", filter.level) : "");
  return text.empty() ? "none" : text;
}

Filters filters_of(const std::string& text) {
  std::string blanks = text;
  std::replace_if(
      blanks.begin(), blanks.end(), [](char c) { return c == '+' || c == ','; }, ' ');
  const auto given = words(blanks);
  if (given.empty() || (given.size() == 1 && lower(given[0]) == "none")) return {};
  Filters filters;
  for (const auto& word : given)
    filters.push_back(filter_of(word, text));
  const auto order = [](const Filter& f) { return find(f.id)->order; };
  std::stable_sort(filters.begin(), filters.end(),
                   [&](const Filter& a, const Filter& b) { return order(a) < order(b); });
  for (std::size_t i = 1; i < filters.size(); ++i)
    if (order(filters[i]) == order(filters[i - 1]))
      refuse(text, filters[i].id == filters[i - 1].id ? fmt::format("has {} twice", name_of(filters[i]))
                                                      : "compresses twice");
  return filters;
}

std::string missing_code(const Filters& filters) {
  for (const auto& filter : filters) {
    const auto* known = find(filter.id);
    if (known == nullptr || known->order < 0) return "Shoal has no code for " + name_of(filter);
#ifndef SHOAL_HAVE_LIBDEFLATE
    if (filter.id == Filter::deflate) return "this build of Shoal has no libdeflate";
#endif
#ifndef SHOAL_HAVE_ZSTD
    if (filter.id == Filter::zstd) return "this build of Shoal has no zstd";
#endif
  }
  // How long a chunk was before a step is known of those in front of compression alone.
  const auto compressed = std::find_if(filters.begin(), filters.end(), compresses);
  if (compressed != filters.end() &&
      std::any_of(compressed + 1, filters.end(), [](const Filter& f) { return f.id != Filter::fletcher32; }))
    return "Shoal has no code for filters that come after compression, as in " + text_of(filters);
  return "";
}

std::string filters_of_build(bool present) {
  std::vector<std::string> names;
  for (const auto& known : k_known) {
    if (known.order < 0 || missing_code({{known.id, known.usual}}).empty() != present) continue;
    std::string name = known.name;
#ifdef SHOAL_HAVE_LIBDEFLATE
    if (known.id == Filter::deflate) name += " (libdeflate " LIBDEFLATE_VERSION_STRING ")";
#endif
#ifdef SHOAL_HAVE_ZSTD
    if (known.id == Filter::zstd) name += fmt::format(" ({})", ZSTD_versionString());
#endif
    names.push_back(name);
  }
  return names.empty() ? "none" : joined(names, ", ");
}

std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  constexpr std::size_t k_words = 360;  // as many as 32 bits can add up
  std::uint32_t low = 0, high = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  for (std::size_t words = bytes.size() / 2; words > 0;) {
    const std::size_t n = std::min(words, k_words);
    for (std::size_t i = 0; i < n; ++i, p += 2) {
      low += static_cast<std::uint32_t>(p[0] << 8 | p[1]);
      high += low;
    }
    low = fold(low);
    high = fold(high);
    words -= n;
  }
  if (bytes.size() % 2 != 0) {
    low = fold(low + static_cast<std::uint32_t>(*p << 8));
    high = fold(high + low);
  }
  return fold(high) << 16 | fold(low);
}

std::vector<std::byte> zstd([[maybe_unused]] std::span<const std::byte> bytes, [[maybe_unused]] int level) {
#ifdef SHOAL_HAVE_ZSTD
  std::vector<std::byte> space(ZSTD_compressBound(bytes.size()));
  space.resize(compress(zstd_compressor().get(), bytes, level, space));
  return space;
#else
  throw Error(Code::not_supported, missing_code({{Filter::zstd, 1}}));
#endif
}

std::vector<std::byte> unzstd([[maybe_unused]] std::span<const std::byte> bytes) {
#ifdef SHOAL_HAVE_ZSTD
  const std::uint64_t reported = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (reported == ZSTD_CONTENTSIZE_ERROR || reported == ZSTD_CONTENTSIZE_UNKNOWN)
    throw damaged("zstd does not say how long it was");
  const auto most = std::min<std::uint64_t>(k_largest_chunk, k_most_growth * bytes.size());
  if (reported > most)
    throw damaged(
        fmt::format("zstd says that it had {} bytes, of which it has {} now", reported, bytes.size()));
  // What it says it had may be wrong in a damaged chunk: room grows with what is really there.
  std::vector<std::byte> whole;
  for (std::uint64_t space = std::min<std::uint64_t>(reported, k_usual_growth * bytes.size());;
       space = std::min(reported, 8 * space)) {
    whole.resize(space);
    const auto got = ZSTD_decompress(whole.data(), whole.size(), bytes.data(), bytes.size());
    if (got == reported) break;
    if (space == reported || ZSTD_getErrorCode(got) != ZSTD_error_dstSize_tooSmall)
      throw damaged("zstd cannot read it");
  }
  return whole;
#else
  throw Error(Code::not_supported, missing_code({{Filter::zstd, 1}}));
#endif
}

// ---- One chunk

struct ChunkCoder::Libraries {
#ifdef SHOAL_HAVE_LIBDEFLATE
  Deflate deflate;
#endif
#ifdef SHOAL_HAVE_ZSTD
  ZstdCompressor zstd;
  ZstdDecompressor unzstd;

  ZSTD_CCtx* compressor() {
    if (!zstd) zstd = zstd_compressor();
    return zstd.get();
  }
  ZSTD_DCtx* decompressor() {
    if (!unzstd) unzstd.reset(ZSTD_createDCtx());
    if (!unzstd) throw Error(Code::no_memory, "no memory for zstd");
    return unzstd.get();
  }
#endif
};

ChunkCoder::ChunkCoder(Filters filters, std::size_t element)
    : filters_(std::move(filters)), element_(element), libraries_(std::make_unique<Libraries>()) {
  const auto missing = missing_code(filters_);
  if (!missing.empty()) throw Error(Code::not_supported, missing);
}
ChunkCoder::ChunkCoder(ChunkCoder&&) noexcept = default;
ChunkCoder& ChunkCoder::operator=(ChunkCoder&&) noexcept = default;
ChunkCoder::~ChunkCoder() = default;

ChunkCoder::Stored ChunkCoder::encode(std::span<const std::byte> chunk) {
  auto bytes = chunk;
  int next = 0;
  std::size_t plane = 0;
  for (const auto& filter : filters_) {
    bytes = forward(filter, bytes, plane, buffers_[next]);
    next = 1 - next;
    plane = filter.id == Filter::shuffle ? bytes.size() / element_ : 0;
  }
  return {bytes, 0};
}

void ChunkCoder::decode(const Stored& stored, std::span<std::byte> chunk) {
  const auto used = [&](std::size_t i) { return (stored.left_out >> i & 1) == 0; };
  auto bytes = stored.bytes;
  int next = 0;
  for (std::size_t i = filters_.size(); i-- > 0;) {
    if (!used(i)) continue;
    std::size_t size = chunk.size();  // before the filter
    for (std::size_t before = 0; before < i; ++before)
      if (used(before) && filters_[before].id == Filter::fletcher32) size += sizeof(std::uint32_t);
    // The last step goes to where the chunk is wanted.
    const bool last = (~stored.left_out & ((1U << i) - 1)) == 0;
    bytes = back(filters_[i], bytes, size, buffers_[next], last ? chunk.data() : nullptr);
    if (filters_[i].id != Filter::fletcher32) next = 1 - next;  // whose bytes stay where they are
  }
  if (bytes.size() != chunk.size())
    throw damaged(fmt::format("it has {} bytes in place of {}", bytes.size(), chunk.size()));
  if (bytes.data() != chunk.data()) std::copy(bytes.begin(), bytes.end(), chunk.begin());
}

std::span<const std::byte> ChunkCoder::forward(const Filter& filter, std::span<const std::byte> bytes,
                                               std::size_t plane, Buffer& to) {
  const auto space = [&](std::size_t size) {
    if (to.size() < size) to.resize(size);
    return to.data();
  };
  std::size_t size = bytes.size();
  switch (filter.id) {
    case Filter::shuffle:
      shuffle(bytes, element_, space(size));
      break;
    case Filter::fletcher32: {
      std::copy(bytes.begin(), bytes.end(), space(size + sizeof(std::uint32_t)));
      const auto sum = fletcher32(bytes);
      for (int b = 0; b < 4; ++b)
        to[size++] = static_cast<std::byte>(sum >> (8 * b));
      break;
    }
#ifdef SHOAL_HAVE_LIBDEFLATE
    case Filter::deflate:
      size = libraries_->deflate.compress(filter.level, bytes, plane, space(size));
      if (size == 0) size = Deflate::store(bytes, space(Deflate::bound(bytes.size())));
      break;
#endif
#ifdef SHOAL_HAVE_ZSTD
    case Filter::zstd: {
      const auto most = ZSTD_compressBound(size);
      size = compress(libraries_->compressor(), bytes, filter.level, {space(most), most});
      break;
    }
#endif
    default:
      throw Error(Code::internal, "no code for " + name_of(filter));
  }
  return {to.data(), size};
}

std::span<const std::byte> ChunkCoder::back(const Filter& filter, std::span<const std::byte> bytes,
                                            std::size_t size, Buffer& buffer, std::byte* to) {
  const auto space = [&] {
    if (to == nullptr) {
      if (buffer.size() < size) buffer.resize(size);
      to = buffer.data();
    }
    return to;
  };
  switch (filter.id) {
    case Filter::shuffle:
      if (bytes.size() != size) throw damaged("it has a wrong length before it is put in order");
      unshuffle(bytes, element_, space());
      return {to, size};
    case Filter::fletcher32: {
      if (bytes.size() < sizeof(std::uint32_t)) throw damaged("it is too short for a checksum");
      const auto data = bytes.first(bytes.size() - sizeof(std::uint32_t));
      std::uint32_t wanted = 0;
      for (int b = 0; b < 4; ++b)
        wanted |= std::to_integer<std::uint32_t>(bytes[data.size() + static_cast<std::size_t>(b)]) << (8 * b);
      const auto sum = fletcher32(data);
      // Some machines wrote the two halves' bytes in the other order once; HDF5 takes both.
      const auto other = (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
      if (sum != wanted && other != wanted) throw damaged("its checksum differs");
      return data;
    }
#ifdef SHOAL_HAVE_LIBDEFLATE
    case Filter::deflate:
      if (!libraries_->deflate.decompress(bytes, {space(), size})) throw damaged("deflate cannot read it");
      return {to, size};
#endif
#ifdef SHOAL_HAVE_ZSTD
    case Filter::zstd: {
      const auto got =
          ZSTD_decompressDCtx(libraries_->decompressor(), space(), size, bytes.data(), bytes.size());
      if (ZSTD_isError(got) != 0) throw damaged(std::string("zstd says ") + ZSTD_getErrorName(got));
      return {to, got};
    }
#endif
    default:
      throw Error(Code::internal, "no code for " + name_of(filter));
  }
}

}  // namespace shoal
