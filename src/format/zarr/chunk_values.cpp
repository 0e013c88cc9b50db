// SPDX-License-Identifier: BSD-3-Clause
#include "format/zarr/chunk_values.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "format/catalog.hpp"

namespace shoal::zarr {

namespace {

constexpr std::uint32_t k_last_character = 0x10FFFF;

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t number = 0;
  if (at + sizeof number > bytes.size())
    throw Error(Code::format, "a chunk is damaged: its texts end too soon");
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

void add_utf8(std::string& text, std::uint32_t c) {
  if (c > k_last_character) throw Error(Code::format, "a chunk is damaged: it has no character {}", c);
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | c >> 6);
    add(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12);
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  } else {
    add(0xF0 | c >> 18);
    add(0x80 | (c >> 12 & 0x3F));
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  }
}

// Zeros behind a text are none of it.
std::string fixed_bytes(std::span<const std::byte> bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

std::string fixed_unicode(std::span<const std::byte> bytes, bool big_endian) {
  std::vector<std::uint32_t> characters(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(characters.data(), bytes.data(), characters.size() * sizeof(std::uint32_t));
  if (big_endian)
    swap_bytes(reinterpret_cast<std::byte*>(characters.data()), sizeof(std::uint32_t),
               static_cast<std::int64_t>(characters.size()));
  while (!characters.empty() && characters.back() == 0)
    characters.pop_back();
  std::string text;
  for (const std::uint32_t c : characters)
    add_utf8(text, c);
  return text;
}

// An element of cells that are not there, as it is stored.
Bytes absent_bytes(const ArrayMetadata& array) {
  Bytes bytes = array.fill.empty() ? Bytes(array.element) : array.fill;
  if (array.big_endian) swap_bytes(bytes.data(), array.element, 1);
  return bytes;
}

}  // namespace

Bytes vlen_utf8(const std::vector<std::string>& texts) {
  ByteWriter out;
  const auto put_count = [&](std::size_t n) { out.put(static_cast<std::uint32_t>(n)); };
  put_count(texts.size());
  for (const std::string& text : texts) {
    put_count(text.size());
    for (const char c : text)
      out.put(c);
  }
  return out.take();
}

std::vector<std::string> texts_of_vlen_utf8(std::span<const std::byte> bytes, std::size_t count) {
  std::size_t at = 0;
  const auto next = [&] {
    const std::uint32_t number = number_at(bytes, at);
    at += sizeof number;
    return number;
  };
  if (const std::uint32_t n = next(); n != count)
    throw Error(Code::format, "a chunk is damaged: it has {} texts in place of {}", n, count);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t length = next();
    if (length > bytes.size() - at) throw Error(Code::format, "a chunk is damaged: its texts end too soon");
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()) + at, length);
    at += length;
  }
  return texts;
}

ChunkValueCoder::ChunkValueCoder(const ArrayMetadata& array)
    : array_(array), cells_(static_cast<std::size_t>(volume(array.unit()))) {
  if (array.shard_layout())
    coder_ = make_coder(array.unit(), array.shard_layout(), array.filters, array.type, absent_bytes(array));
  else if (!array.filters.empty())
    coder_ = std::make_unique<ChunkCoder>(array.filters, std::max<std::size_t>(array.element, 1));
}

ChunkValues ChunkValueCoder::fill() const {
  if (has_texts()) return {{}, std::vector<std::string>(cells_, array_.fill_text)};
  const std::size_t size = size_of(array_.type);
  ChunkValues values{Bytes(cells_ * size), {}};
  if (!array_.fill.empty())
    fill_box(values.cells.data(), {static_cast<std::int64_t>(size)}, {static_cast<std::int64_t>(cells_)},
             array_.fill.data(), size);
  return values;
}

// The cells of a chunk whose dimensions are stored in another order.
Bytes ChunkValueCoder::in_order(Bytes cells, bool to_storage) const {
  if (array_.order.empty()) return cells;
  const Dims& chunk = array_.unit();
  Dims stored(chunk.size());
  for (int d = 0; d < chunk.size(); ++d)
    stored[d] = chunk[array_.order[static_cast<std::size_t>(d)]];
  const Dims of_stored = byte_strides(stored, array_.element);
  Dims in_storage(chunk.size());  // strides of our dimensions there
  for (int d = 0; d < chunk.size(); ++d)
    in_storage[array_.order[static_cast<std::size_t>(d)]] = of_stored[d];
  const Dims ours = byte_strides(chunk, array_.element);
  const Element element{array_.type, array_.element, false};
  Bytes moved(cells.size());
  copy_box(cells.data(), to_storage ? ours : in_storage, moved.data(), to_storage ? in_storage : ours, chunk,
           find_conversion(element, element), nullptr);
  return moved;
}

std::vector<std::string> ChunkValueCoder::decoded_texts(std::span<const std::byte> bytes) const {
  if (array_.stored_as == StoredAs::texts) return texts_of_vlen_utf8(bytes, cells_);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < cells_; ++i) {
    const auto one = bytes.subspan(i * array_.element, array_.element);
    texts.push_back(array_.stored_as == StoredAs::fixed_bytes ? fixed_bytes(one)
                                                              : fixed_unicode(one, array_.big_endian));
  }
  return texts;
}

ChunkValues ChunkValueCoder::decode(std::span<const std::byte> stored) {
  if (array_.element == 0) {
    const Bytes whole = decode_any_length(array_.filters, stored);
    return {{}, decoded_texts(whole)};
  }
  Bytes cells(cells_ * array_.element);
  if (coder_)
    coder_->decode({stored, 0}, cells);
  else if (stored.size() == cells.size())
    std::copy(stored.begin(), stored.end(), cells.begin());
  else
    throw Error(Code::format, "a chunk has {} bytes in place of {}", stored.size(), cells.size());
  if (has_texts()) return {{}, decoded_texts(cells)};
  if (array_.big_endian) swap_bytes(cells.data(), array_.element, static_cast<std::int64_t>(cells_));
  return {in_order(std::move(cells), false), {}};
}

Bytes ChunkValueCoder::encode(const ChunkValues& values) {
  Bytes bytes;
  if (array_.stored_as == StoredAs::texts) {
    bytes = vlen_utf8(values.texts);
  } else if (has_texts()) {
    throw Error(Code::not_supported,
                "texts of a fixed length are read, and not written; write them to a new variable");
  } else {
    bytes = in_order(values.cells, true);
    if (array_.big_endian) swap_bytes(bytes.data(), array_.element, static_cast<std::int64_t>(cells_));
  }
  if (!coder_) return bytes;
  const auto stored = coder_->encode(bytes).bytes;
  return {stored.begin(), stored.end()};
}

}  // namespace shoal::zarr
