// SPDX-License-Identifier: BSD-3-Clause
#ifdef SHOAL_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include <algorithm>

#include "base/crc32c.hpp"
#include "base/error.hpp"
#include "codec/blosc.hpp"
#include "codec/damage.hpp"
#include "codec/deflate.hpp"
#include "codec/filters.hpp"
#include "codec/lz4.hpp"

namespace shoal {

namespace {

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

constexpr std::size_t k_checksum_bytes = 4;

std::span<const std::byte> without_checksum(const Filter& filter, std::span<const std::byte> bytes) {
  if (bytes.size() < k_checksum_bytes) throw damaged("it is too short for a checksum");
  const auto data = bytes.first(bytes.size() - k_checksum_bytes);
  std::uint32_t wanted = 0;
  for (std::size_t b = 0; b < k_checksum_bytes; ++b)
    wanted |= std::to_integer<std::uint32_t>(bytes[data.size() + b]) << (8 * b);
  if (filter.id == Filter::crc32c) {
    if (crc32c(data) != wanted) throw damaged("its checksum (crc32c) differs");
    return data;
  }
  const auto sum = fletcher32(data);
  // Some machines wrote the two halves' bytes in the other order once; HDF5 takes both.
  const auto other = (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
  if (sum != wanted && other != wanted) throw damaged("its checksum differs");
  return data;
}

}  // namespace

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
  if (reported == ZSTD_CONTENTSIZE_ERROR) throw damaged("it is no frame of zstd");
  const bool known = reported != ZSTD_CONTENTSIZE_UNKNOWN;  // streams do not say it
  const auto most = std::min<std::uint64_t>(k_largest_chunk, k_most_growth * bytes.size());
  if (known && reported > most)
    throw damaged(
        fmt::format("zstd says that it had {} bytes, of which it has {} now", reported, bytes.size()));
  // What it says it had may be wrong in a damaged chunk: room grows with what is really there.
  const std::uint64_t limit = known ? reported : most;
  std::vector<std::byte> whole;
  for (std::uint64_t space = std::min<std::uint64_t>(limit, k_usual_growth * bytes.size());;
       space = std::min(limit, 8 * space)) {
    whole.resize(space);
    const auto got = ZSTD_decompress(whole.data(), whole.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(got) == 0 && (!known || got == reported)) {
      whole.resize(got);
      break;
    }
    if (space == limit || ZSTD_getErrorCode(got) != ZSTD_error_dstSize_tooSmall)
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
  if (chunk.size() > longest_chunk(filters_))
    throw Error(Code::not_supported,
                "a chunk of {} bytes is too long for {}, which takes {}; choose a smaller "
                "chunk shape",
                chunk.size(), text_of(filters_), longest_chunk(filters_));
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
      if (used(before) && is_checksum(filters_[before])) size += k_checksum_bytes;
    // The last step goes to where the chunk is wanted.
    const bool last = (~stored.left_out & ((1U << i) - 1)) == 0;
    bytes = back(filters_[i], bytes, size, buffers_[next], last ? chunk.data() : nullptr);
    if (!is_checksum(filters_[i])) next = 1 - next;  // whose bytes stay where they are
  }
  if (bytes.size() != chunk.size())
    throw damaged(fmt::format("it has {} bytes in place of {}", bytes.size(), chunk.size()));
  if (bytes.data() != chunk.data()) std::copy(bytes.begin(), bytes.end(), chunk.begin());
}

std::span<const std::byte> ChunkCoder::forward(const Filter& filter, std::span<const std::byte> bytes,
                                               [[maybe_unused]] std::size_t plane, Buffer& to) {
  const auto space = [&](std::size_t size) {
    if (to.size() < size) to.resize(size);
    return to.data();
  };
  std::size_t size = bytes.size();
  switch (filter.id) {
    case Filter::shuffle:
      shuffle(bytes, element_, space(size));
      break;
    case Filter::fletcher32:
    case Filter::crc32c: {
      std::copy(bytes.begin(), bytes.end(), space(size + k_checksum_bytes));
      const auto sum = filter.id == Filter::crc32c ? crc32c(bytes) : fletcher32(bytes);
      for (std::size_t b = 0; b < k_checksum_bytes; ++b)
        to[size++] = static_cast<std::byte>(sum >> (8 * b));
      break;
    }
#ifdef SHOAL_HAVE_LIBDEFLATE
    case Filter::deflate:
      size = libraries_->deflate.compress(filter.level, bytes, plane, space(size));
      if (size == 0) size = Deflate::store(bytes, space(Deflate::bound(bytes.size())));
      break;
    case Filter::gzip: {
      const auto most = Deflate::gzip_bound(size);
      size = libraries_->deflate.compress_gzip(filter.level, bytes, {space(most), most});
      break;
    }
#endif
#ifdef SHOAL_HAVE_LZ4
    case Filter::lz4:
      size = lz4_encode(bytes, space(lz4_bound(size)));
      break;
#endif
#ifdef SHOAL_HAVE_BLOSC
    case Filter::blosc:
      size = blosc_encode(filter, element_, bytes, space(blosc_bound(size)));
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
    case Filter::fletcher32:
    case Filter::crc32c:
      return without_checksum(filter, bytes);
#ifdef SHOAL_HAVE_LIBDEFLATE
    case Filter::deflate:
      if (!libraries_->deflate.decompress(bytes, {space(), size})) throw damaged("deflate cannot read it");
      return {to, size};
    case Filter::gzip:
      if (!libraries_->deflate.decompress_gzip(bytes, {space(), size})) throw damaged("gzip cannot read it");
      return {to, size};
#endif
#ifdef SHOAL_HAVE_LZ4
    case Filter::lz4:
      lz4_decode(bytes, {space(), size});
      return {to, size};
#endif
#ifdef SHOAL_HAVE_BLOSC
    case Filter::blosc:
      blosc_decode(bytes, {space(), size});
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
