// SPDX-License-Identifier: BSD-3-Clause
// Codecs of Zarr: chunks go there and back, those that numcodecs made are read, damaged ones do no harm.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string_view>

#include "base/bytes.hpp"
#include "base/crc32c.hpp"
#include "base/error.hpp"
#include "codec/blosc.hpp"
#include "codec/filters.hpp"

namespace {

using namespace shoal;

/// Any text but those that this build has no code for.
bool has_code(const std::string& text) {
  const auto missing = missing_code(filters_of(text));
  if (!missing.empty()) MESSAGE("skipped: ", missing);
  return missing.empty();
}

std::string text_of_bytes(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes noisy_floats(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> eddies(0, 0.01F);
  Bytes made(bytes);
  for (std::size_t at = 0; at < bytes; at += sizeof(float)) {
    const float value = std::sin(static_cast<float>(at) * 0.001F) + eddies(random);
    std::memcpy(made.data() + at, &value, std::min(sizeof value, bytes - at));
  }
  return made;
}

Bytes encoded(const std::string& text, std::size_t element, const Bytes& chunk) {
  ChunkCoder coder(filters_of(text), element);
  const auto stored = coder.encode(chunk);
  CHECK(stored.left_out == 0);
  return {stored.bytes.begin(), stored.bytes.end()};
}

/// With bytes around the chunk that nobody may touch. Error: as decode.
Bytes decoded(const std::string& text, std::size_t element, std::span<const std::byte> stored,
              std::size_t size) {
  constexpr std::byte k_guard{0xa5};
  constexpr std::size_t k_guards = 64;
  Bytes around(size + 2 * k_guards, k_guard);
  const auto untouched = [&] {
    const auto is_guard = [](std::byte b) { return b == k_guard; };
    return std::all_of(around.begin(), around.begin() + k_guards, is_guard) &&
           std::all_of(around.end() - k_guards, around.end(), is_guard);
  };
  try {
    ChunkCoder(filters_of(text), element).decode({stored, 0}, std::span(around).subspan(k_guards, size));
  } catch (const Error&) {
    CHECK(untouched());
    throw;
  }
  CHECK(untouched());
  return {around.begin() + k_guards, around.end() - k_guards};
}

std::vector<std::string> all_of_blosc() {
  std::vector<std::string> all;
  for (const auto& compressor : blosc_compressors())
    for (const auto& shuffle : blosc_shuffles())
      all.push_back("blosc:" + compressor + ":5:" + shuffle);
  return all;
}

std::vector<std::string> all_codecs() {
  std::vector<std::string> all{"gzip:0",
                               "gzip:1",
                               "gzip:9",
                               "lz4",
                               "crc32c",
                               "zstd:1+crc32c",
                               "lz4+crc32c",
                               "shuffle+gzip:1",
                               "blosc:zstd:0",
                               "blosc:zstd:9",
                               "shuffle+lz4",
                               "blosc:lz4+crc32c",
                               "shuffle+blosc:zstd:1:noshuffle"};
  for (const auto& one : all_of_blosc())
    all.push_back(one);
  std::erase_if(all, [](const std::string& text) { return !has_code(text); });
  return all;
}

TEST_CASE("codecs: words and what they say back") {
  for (const auto& [given, said] : {std::pair<const char*, const char*>{"gzip", "gzip:1"},
                                    {"GZIP:9", "gzip:9"},
                                    {"lz4", "lz4"},
                                    {"crc32c, zstd:3", "zstd:3+crc32c"},
                                    {"blosc:zstd", "blosc:zstd:5"},
                                    {"blosc:zstd:5:shuffle", "blosc:zstd:5"},
                                    {"blosc:lz4:bitshuffle", "blosc:lz4:5:bitshuffle"},
                                    {"crc32c+Blosc:LZ4HC:9:NoShuffle", "blosc:lz4hc:9:noshuffle+crc32c"},
                                    {"blosc:blosclz:0", "blosc:blosclz:0"},
                                    {"shuffle+lz4", "shuffle+lz4"},
                                    {"blosc:zlib:1:noshuffle shuffle", "shuffle+blosc:zlib:1:noshuffle"}}) {
    CAPTURE(given);
    const auto filters = filters_of(given);
    CHECK(text_of(filters) == said);
    CHECK(filters_of(said) == filters);
  }
  for (const auto& [given, reason] :
       {std::pair<const char*, const char*>{"gzip:10", "level of gzip that is not 0 to 9"},
        {"lz4:1", "gives lz4 a level"},
        {"crc32c:1", "gives crc32c a level"},
        {"gzip:1:2", "'2' behind the level of gzip"},
        {"zstd:1:shuffle", "'shuffle' behind the level of zstd"},
        {"blosc", "blosc:zstd, blosc:lz4, blosc:lz4hc, blosc:zlib, blosc:blosclz"},
        {"blosc:5", "says not by what blosc compresses"},
        {"blosc:snappy", "says not by what blosc compresses"},
        {"blosc:zstd:10", "level of blosc that is not 0 to 9"},
        {"blosc:zstd:", "level of blosc that is not 0 to 9"},
        {"blosc:zstd:5:bytes", "'bytes', which is no shuffle of blosc: shuffle, bitshuffle, noshuffle"},
        {"blosc:zstd:shuffle:5", "'5', which is no shuffle of blosc"},
        {"shuffle+blosc:zstd:5", "shuffles twice"},
        {"zstd+blosc:zstd", "compresses twice"},
        {"fletcher32+crc32c", "has two checksums"},
        {"hdf5-blosc", "is no filter that can be written"}}) {
    CAPTURE(given);
    try {
      filters_of(given);
      FAIL("taken");
    } catch (const Error& e) {
      CHECK(e.code() == Code::setting);
      CHECK_MESSAGE(std::string(e.what()).find(reason) != std::string::npos, e.what());
    }
  }
  CHECK(filters_of("blosc:zstd:5") != filters_of("blosc:zstd:5:bitshuffle"));
  CHECK(filters_of("blosc:zstd:5") != filters_of("blosc:lz4:5"));
  CHECK_FALSE(blosc_filter("snappy", 5, "shuffle"));
  CHECK_FALSE(blosc_filter("zstd", 5, "bytes"));
  CHECK(name_of({32001}) == "hdf5-blosc");
  CHECK(missing_code({{32001}}) == "Shoal has no code for hdf5-blosc");
}

TEST_CASE("codecs: chunks of all sizes go there and back") {
  for (const auto& text : all_codecs())
    for (const std::size_t element : {1, 2, 4, 8})
      for (const std::size_t size : {0, 1, 3, 8, 1021, 40'000, 3'000'003}) {
        if (size > 100'000 && (element != 4 || text == "blosc:zstd:9" || text == "gzip:9")) continue;
        CAPTURE(text);
        CAPTURE(element);
        CAPTURE(size);
        const Bytes chunk = noisy_floats(size, static_cast<unsigned>(size));
        const Bytes stored = encoded(text, element, chunk);
        CHECK(decoded(text, element, stored, size) == chunk);
        if (size > 0) CHECK_THROWS_AS(decoded(text, element, stored, size - 1), Error);
        CHECK_THROWS_AS(decoded(text, element, stored, size + 1), Error);
      }
}

TEST_CASE("codecs: what is alike gets small, and what is noise hardly longer") {
  std::mt19937 random(5);
  Bytes noise(100'000);
  for (auto& b : noise)
    b = static_cast<std::byte>(random());
  for (const auto& text : all_codecs()) {
    if (text == "gzip:0" || text == "crc32c" || text == "blosc:zstd:0") continue;
    CAPTURE(text);
    CHECK(encoded(text, 4, Bytes(100'000)).size() < 1'000);
    CHECK(encoded(text, 4, noise).size() < 100'600);
  }
}

// A coder is used for one chunk after the other.
TEST_CASE("codecs: a coder keeps nothing of one chunk for the next") {
  for (const auto& text : all_codecs()) {
    CAPTURE(text);
    ChunkCoder coder(filters_of(text), 4);
    for (const std::size_t size : {50'000, 12, 0, 50'000}) {
      const Bytes chunk = noisy_floats(size, 7);
      const auto stored = coder.encode(chunk);
      const Bytes kept(stored.bytes.begin(), stored.bytes.end());
      CHECK(kept == encoded(text, 4, chunk));
      Bytes again(size);
      coder.decode({kept, 0}, again);
      CHECK(again == chunk);
    }
  }
}

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16)));
  return bytes;
}

struct Known {
  const char* text;
  const char* hex;
};

/// 32 integers of 4 bytes, each three times, by numcodecs 0.16.6.
const std::vector<Known> k_by_numcodecs{
    {"gzip:1",
     "1f8b080027150b6b04ff45c6490a00200cc0c0ba56fdff838d8760602011bfc2aaf26abc3aafc16bf24a5e8bd7e675f8e702"
     "8aac26b280000000"},
    {"lz4",
     "8000000017000100170104001702040017030400170404001705040017060400170704001708040017090400800a0000000a"
     "000000"},
    {"zstd:1",
     "28b52ffd20804d01009800000102030405060708090a0000000a0000000a00c00830070c0346803960183002cced0cdb401b"},
    {"deflate:1",
     "780145c6490a00200cc0c0ba56fdff838d8760602011bfc2aaf26abc3aafc16bf24a5e8bd7e675f8e7021a48009c"},
    {"shuffle+zstd:1",
     "28b52ffd20804d010014020000000101010202020303030404040505050606060707070808080909090a0a000100e1093c01"},
    {"crc32c",
     "0000000000000000000000000100000001000000010000000200000002000000020000000300000003000000030000000400"
     "0000040000000400000005000000050000000500000006000000060000000600000007000000070000000700000008000000"
     "08000000080000000900000009000000090000000a0000000a000000fe040adf"},
    {"fletcher32",
     "0000000000000000000000000100000001000000010000000200000002000000020000000300000003000000030000000400"
     "0000040000000400000005000000050000000500000006000000060000000600000007000000070000000700000008000000"
     "08000000080000000900000009000000090000000a0000000a000000009b0ce4"},
    {"blosc:zstd:5",
     "0201910480000000800000004a000000140000003200000028b52ffd20804d01001402000000010101020202030303040404"
     "0505050606060707070808080909090a0a000100e1093c01"},
    {"blosc:zstd:5:bitshuffle",
     "02019404800000008000000038000000140000002000000028b52ffd2080bd000088388ee338c00ffcc000f0ff00000000ff"
     "000100590a96"},
    {"blosc:zstd:5:noshuffle",
     "02019004800000008000000044000000140000002c00000028b52ffd20801d01009800000102030405060708090a0000000a"
     "0000000aa810e807d0e3109ef201d8c87d32"},
    {"blosc:lz4:5",
     "020131048000000080000000480000001400000030000000ff16000000010101020202030303040404050505060606070707"
     "0808080909090a0a0000000000050043500000000000"},
    {"blosc:lz4:5:bitshuffle",
     "020134048000000080000000380000001400000020000000ff06388ee338c00ffcc000f0ff00000000ff0000000000050053"
     "500000000000"},
    {"blosc:lz4:5:noshuffle",
     "0201300480000000800000004900000014000000310000001700010017010400170204001703040017040400170504001706"
     "0400170704001708040017090400800a0000000a000000"},
    {"blosc:lz4hc:5",
     "02013104800000008000000044000000140000002c000000ff12000000010101020202030303040404050505060606070707"
     "0808080909090a0a00010047500000000000"},
    {"blosc:lz4hc:5:bitshuffle",
     "02013404800000008000000034000000140000001c000000ff02388ee338c00ffcc000f0ff00000000ff0001005750000000"
     "0000"},
    {"blosc:lz4hc:5:noshuffle",
     "0201300480000000800000004900000014000000310000001700010017010400170204001703040017040400170504001706"
     "0400170704001708040017090400800a0000000a000000"},
    {"blosc:zlib:5",
     "020171048000000080000000400000001400000028000000785eb5c187010030080230c401faffc1bda209808820999955d5"
     "dd3323c9f6eedee1b3074112009c"},
    {"blosc:zlib:5:bitshuffle",
     "02017404800000008000000032000000140000001a000000785eb3e87b6c7180ffcf01860fff1980004cd01300007ae7075b"},
    {"blosc:zlib:5:noshuffle",
     "0201700480000000800000003d0000001400000025000000785e636040004624cc84849991300b126645c26c48981d097320"
     "614e24cc05c5001a48009c"},
    {"blosc:blosclz:5",
     "0201110480000000800000004100000014000000290000003f00000001010102020203030304040405050506060607070708"
     "08080909090a0a0000e05400010000"},
    {"blosc:blosclz:5:bitshuffle",
     "0201140480000000800000003000000014000000180000002e388ee338c00ffcc000f0ff000000006004e06101010000"},
    {"blosc:blosclz:5:noshuffle",
     "0201100480000000800000005e00000014000000460000002300000000c003010100e00103010200e00103010300e0010301"
     "0400e00103010500e00103010600e00103010700e00103010800e00103010900e00103070a0000000a000000"},
};

Bytes threes() {
  Bytes bytes;
  for (int i = 0; i < 32; ++i)
    for (const int byte : {i / 3, 0, 0, 0})
      bytes.push_back(static_cast<std::byte>(byte));
  return bytes;
}

TEST_CASE("codecs: what numcodecs made is read") {
  for (const auto& known : k_by_numcodecs) {
    CAPTURE(known.text);
    if (!has_code(known.text)) continue;
    CHECK(decoded(known.text, 4, from_hex(known.hex), threes().size()) == threes());
  }
}

TEST_CASE("codecs: a frame of zstd that says no length, and members of gzip one after another, are read") {
  if (has_code("zstd")) {
    const Bytes stream = from_hex(
        "28b52ffd00484d01009800000102030405060708090a0000000a0000000a00c00830070c0346803960183002cced0cdb401"
        "b");
    CHECK(decoded("zstd", 4, stream, threes().size()) == threes());
    CHECK(unzstd(stream) == threes());
    for (std::size_t length = 0; length < stream.size(); ++length)
      CHECK_THROWS_AS(unzstd(std::span(stream).first(length)), Error);
  }
  if (has_code("gzip")) {
    Bytes twice = encoded("gzip:1", 4, threes()), wanted = threes();
    for (const auto b : Bytes(twice))
      twice.push_back(b);
    for (const auto b : Bytes(wanted))
      wanted.push_back(b);
    CHECK(decoded("gzip", 4, twice, wanted.size()) == wanted);
    CHECK_THROWS_AS(decoded("gzip", 4, twice, threes().size()), Error);
    twice.push_back(std::byte{0});
    CHECK_THROWS_AS(decoded("gzip", 4, twice, wanted.size()), Error);
  }
}

/// The values, or nothing where the damage was seen.
std::optional<Bytes> read_damaged(const std::string& text, std::span<const std::byte> stored,
                                  std::size_t size) {
  try {
    return decoded(text, 4, stored, size);
  } catch (const Error& e) {
    CHECK(e.code() == Code::format);
    CHECK(std::string(e.what()).find("damaged") != std::string::npos);
    return std::nullopt;
  }
}

bool sees_all_damage(const std::string& text) {
  return text.find("crc32c") != std::string::npos || text.find("gzip") != std::string::npos;
}

TEST_CASE("codecs: every truncation and every flipped bit is an error, or at least does no harm") {
  std::vector<std::string> texts = all_codecs();
  for (const auto& text : texts) {
    CAPTURE(text);
    for (const Bytes& chunk : {threes(), noisy_floats(57, 3)}) {
      const Bytes stored = encoded(text, 4, chunk);
      for (std::size_t length = 0; length < stored.size(); ++length)
        CHECK_FALSE(read_damaged(text, std::span(stored).first(length), chunk.size()));
      for (std::size_t bit = 0; bit < 8 * stored.size(); ++bit) {
        Bytes flipped = stored;
        flipped[bit / 8] ^= std::byte{1} << bit % 8;
        const auto found = read_damaged(text, flipped, chunk.size());
        if (found && sees_all_damage(text)) CHECK(*found == chunk);
      }
    }
  }
}

TEST_CASE("codecs: some damaged bytes of larger chunks do no harm") {
  std::mt19937 random(17);
  for (const auto& text : all_codecs()) {
    CAPTURE(text);
    const Bytes chunk = noisy_floats(40'000, 3);
    const Bytes stored = encoded(text, 4, chunk);
    for (int i = 0; i < 60; ++i) {
      Bytes wrong = stored;
      for (int n = 0; n < 4; ++n)
        wrong[i < 30 ? random() % std::min<std::size_t>(wrong.size(), 64) : random() % wrong.size()] =
            static_cast<std::byte>(random());
      const auto found = read_damaged(text, wrong, chunk.size());
      if (found && sees_all_damage(text)) CHECK(*found == chunk);
    }
  }
}

TEST_CASE("codecs: lengths that a damaged head says are not believed") {
  if (has_code("lz4")) {
    Bytes stored = encoded("lz4", 4, threes());
    std::fill_n(stored.begin(), 4, std::byte{0xff});
    CHECK_THROWS_WITH_AS(decoded("lz4", 4, stored, threes().size()),
                         doctest::Contains("lz4 says that it had 4294967295 bytes"), Error);
  }
  if (has_code("blosc:zstd")) {
    const Bytes good = encoded("blosc:zstd:5", 4, threes());
    // Bytes before and of a block, and stored ones, stand behind four of other kinds.
    for (const std::size_t at : {4, 8, 12})
      for (const std::uint32_t said : {0U, 1U, 0x7fffffffU - 16U, 0xffffffffU, 0x80000000U}) {
        Bytes stored = good;
        std::memcpy(stored.data() + at, &said, sizeof said);
        CHECK_FALSE(read_damaged("blosc:zstd", stored, threes().size()));
      }
  }
}

TEST_CASE("codecs: a chunk that is too long for a library is refused before a byte is touched") {
  const std::byte one{};
  for (const auto& [text, longest] :
       {std::pair<const char*, std::uint64_t>{"blosc:zstd", 0x7fffffef}, {"lz4", 0x7e000000}}) {
    if (!has_code(text)) continue;
    CHECK(longest_chunk(filters_of(text)) == longest);
    ChunkCoder coder(filters_of(text), 4);
    CHECK_THROWS_WITH_AS(coder.encode({&one, longest + 1}), doctest::Contains("choose a smaller chunk shape"),
                         Error);
  }
  CHECK(longest_chunk(filters_of("shuffle+zstd+crc32c")) > std::uint64_t{1} << 40);
}

TEST_CASE("crc32c: as RFC 3720 has it, by the machine's instruction and without") {
  const auto sum_of = [](const Bytes& bytes) {
    CHECK(crc32c(bytes) == crc32c_by_table(bytes));
    return crc32c(bytes);
  };
  Bytes counted(32), digits;
  for (std::size_t i = 0; i < 32; ++i)
    counted[i] = static_cast<std::byte>(i);
  for (const char c : std::string_view("123456789"))
    digits.push_back(static_cast<std::byte>(c));
  CHECK(sum_of({}) == 0);
  CHECK(sum_of(digits) == 0xe3069283);
  CHECK(sum_of(Bytes(32)) == 0x8a9136aa);
  CHECK(sum_of(Bytes(32, std::byte{0xff})) == 0x62a8ab43);
  CHECK(sum_of(counted) == 0x46dd794e);
  const Bytes any = noisy_floats(2'000, 1);
  for (std::size_t begin = 0; begin < 9; ++begin)
    for (std::size_t end = begin; end < 200; ++end) {
      const auto part = std::span(any).subspan(begin, end - begin);
      CHECK(crc32c(part) == crc32c_by_table(part));
    }
  CHECK(crc32c(any) == crc32c_by_table(any));
}

TEST_CASE("Zarr's codecs: chunks of a length that nobody knows") {
  std::string words;
  for (int i = 0; i < 40000; ++i)
    words += i % 7 == 0 ? "water " : "land ";
  for (const char* text :
       {"none", "zstd:1", "gzip:1", "deflate:1", "lz4", "blosc:lz4:5", "blosc:zstd:3:noshuffle",
        "zstd:1+crc32c", "fletcher32", "shuffle+deflate:1+fletcher32"}) {
    CAPTURE(text);
    if (!has_code(text)) continue;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{77}, words.size()}) {
      CAPTURE(size);
      const std::string_view part = std::string_view(words).substr(0, size);
      const auto* begin = reinterpret_cast<const std::byte*>(part.data());
      const Bytes stored = encoded(text, 1, Bytes(begin, begin + size));
      CHECK(text_of_bytes(decode_any_length(filters_of(text), stored)) == part);
    }
  }
}

TEST_CASE("Zarr's codecs: a damaged head of a chunk of unknown length takes no memory") {
  for (const char* text : {"zstd:1", "gzip:1", "deflate:1", "lz4", "blosc:lz4:5", "crc32c", "fletcher32"}) {
    CAPTURE(std::string(text));
    if (!has_code(text)) continue;
    Bytes bytes(1000);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>(i * i / 7);
    const Bytes stored = encoded(text, 1, bytes);
    for (std::size_t length = 0; length < stored.size(); ++length) {
      CAPTURE(length);
      const Bytes cut(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(length));
      CHECK_THROWS_AS(decode_any_length(filters_of(text), cut), Error);
    }
    for (std::size_t at = 0; at < stored.size(); ++at) {
      Bytes changed = stored;
      changed[at] = std::byte{0xff};
      Bytes found;
      try {
        found = decode_any_length(filters_of(text), changed);
      } catch (const Error& e) {
        CHECK(e.code() == Code::format);
      }
      CHECK(found.size() <= 64 * 1024 * 1024);
    }
  }
}

}  // namespace
