// SPDX-License-Identifier: BSD-3-Clause
// Values that pass through the catalog: what one rank puts and gets, and what ranks cannot read themselves.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "format/zarr/zarr_catalog.hpp"
#include "storage/paths.hpp"

namespace shoal {

using zarr::ArrayMetadata;
using zarr::ChunkValues;

namespace {

std::vector<std::int64_t> key_of(const Dims& index) {
  return {index.begin(), index.end()};
}

Dims index_of(const std::vector<std::int64_t>& key) {
  return Dims(std::span<const std::int64_t>(key));
}

}  // namespace

void ZarrCatalog::require(int variable, const Box& box, bool may_grow) const {
  require_plain(schema_.variable(variable));
  const ArrayMetadata& metadata = *array(variable).metadata;
  if (may_grow && container_->stores_whole() && !metadata.whole_objects)
    throw Error(
        Code::not_supported,
        "its shards have texts, or dimensions in another order, and are not written to an object store; "
        "write to a new variable");
  const Dims shape = schema_.shape(variable);
  bool inside = box.rank() == shape.size();
  if (inside && box.empty()) return;
  for (int d = 0; inside && d < shape.size(); ++d) {
    const bool grows = may_grow && d == 0 && schema_.has_record(variable);
    inside = box.first[d] >= 0 && (grows || box.end(d) <= shape[d]);
  }
  if (!inside)
    throw Error(Code::not_found, "the cells {} are not all inside of the shape {}", text_of(box),
                text_of(shape));
}

zarr::ChunkValueCoder& ZarrCatalog::coder_of(Array& array) {
  if (!array.coder) array.coder = std::make_unique<zarr::ChunkValueCoder>(*array.metadata);
  return *array.coder;
}

ChunkValues ZarrCatalog::load_stored(Array& array, const Dims& chunk) {
  const StoredChunk stored = array.objects.find(chunk);
  const ObjectNumber object = ObjectNumber::of(stored.address.object);
  const bool by_rule = array.metadata->is_placed_by_rule();
  Bytes bytes;
  std::string path;
  bool is_there = false;
  if (stored.address.is_placed()) {
    const std::string name = array.objects.name_of(object.place, object.draft);
    path = joined_path(container_->path(), name);
    bytes.resize(stored.bytes);
    // Another rank may be about to make it.
    try {
      const auto store = container_->open(name, StoreMode::read);
      if (store->size() < stored.address.offset + stored.bytes && !by_rule)
        throw Error(Code::format, "the file ends within a chunk").in_file(path);
      bytes.resize(store->read(stored.address.offset, bytes));
      is_there = true;
      ++traffic_.reads;
      traffic_.bytes_read += static_cast<std::int64_t>(bytes.size());
    } catch (const Error& e) {
      if (e.code() != Code::not_found) throw;
      bytes.clear();
    }
  }
  zarr::ChunkValueCoder& coder = coder_of(array);
  if (!is_there || (bytes.empty() && by_rule)) return coder.fill();
  // Cells of a new chunk that nobody stored yet are behind the end of its object.
  if (by_rule && bytes.size() < stored.bytes) {
    const Bytes fill = coder.encode(coder.fill());
    const std::size_t whole = bytes.size() / array.metadata->element * array.metadata->element;
    bytes.resize(whole);
    bytes.insert(bytes.end(), fill.begin() + static_cast<std::ptrdiff_t>(whole), fill.end());
  }
  try {
    return coder.decode(bytes);
  } catch (const Error& e) {
    throw e.in_file(path);
  }
}

// As it is stored, with what was put since.
ChunkValues ZarrCatalog::load(Array& array, const Dims& chunk) {
  const auto waits = array.waiting.find(key_of(chunk));
  if (waits == array.waiting.end()) return load_stored(array, chunk);
  const auto& [values, put] = waits->second;
  if (std::find(put.begin(), put.end(), false) == put.end()) return values;
  ChunkValues now = load_stored(array, chunk);
  const std::size_t size = values.texts.empty() ? size_of(array.metadata->type) : 0;
  for (std::size_t cell = 0; cell < put.size(); ++cell) {
    if (!put[cell]) continue;
    if (size == 0)
      now.texts[cell] = values.texts[cell];
    else
      std::memcpy(now.cells.data() + cell * size, values.cells.data() + cell * size, size);
  }
  return now;
}

// The part is put next.
ZarrCatalog::Waiting& ZarrCatalog::waiting_for(Array& array, const Dims& chunk, const Box& part) {
  const Box whole = cells_of_chunk(chunk, array.metadata->unit());
  const auto [at, is_new] = array.waiting.try_emplace(key_of(chunk));
  Waiting& waiting = at->second;
  if (is_new) {
    waiting.values = coder_of(array).fill();
    waiting.put.resize(static_cast<std::size_t>(whole.cells()));
  }
  for_each_index(part, [&](const Dims& cell) {
    waiting.put[static_cast<std::size_t>(position_in(cell, whole))] = true;
  });
  return waiting;
}

/// Calls move(chunk's index, its cells, the part of the box in it).
template <class Move>
void ZarrCatalog::for_each_part(int variable, const Box& box, Move&& move) {
  const Dims& chunk = array(variable).metadata->unit();
  for_each_index(chunks_of(box, chunk), [&](const Dims& index) {
    const Box whole = cells_of_chunk(index, chunk);
    move(index, whole, intersection(box, whole));
  });
}

void ZarrCatalog::begin_put(int variable, const Box& box) {
  require_writable();
  require(variable, box, true);
  if (schema_.has_record(variable) && !box.empty()) grow(schema_.variable(variable).dims[0], box.end(0));
}

void ZarrCatalog::put(int variable, const Box& box, const std::byte* values) {
  guarded(variable, [&] {
    begin_put(variable, box);
    if (box.empty()) return;
    Array& own = array(variable);
    const Element element{schema_.variable(variable).type, size_of(schema_.variable(variable).type), false};
    const auto size = static_cast<std::int64_t>(element.size);
    const ConvertRun copy = find_conversion(element, element);
    for_each_part(variable, box, [&](const Dims& index, const Box& whole, const Box& part) {
      Waiting& waiting = waiting_for(own, index, part);
      copy_box(values + position_in(part.first, box) * size, byte_strides(box.count, element.size),
               waiting.values.cells.data() + position_in(part.first, whole) * size,
               byte_strides(whole.count, element.size), part.count, copy, nullptr);
    });
  });
}

void ZarrCatalog::get(int variable, const Box& box, std::byte* values) {
  guarded(variable, [&] {
    require(variable, box, false);
    if (box.empty()) return;
    Array& own = array(variable);
    const Element element{schema_.variable(variable).type, size_of(schema_.variable(variable).type), false};
    const auto size = static_cast<std::int64_t>(element.size);
    const ConvertRun copy = find_conversion(element, element);
    const Bytes unwritten = absent_value_of(schema_.variable(variable));
    for_each_part(variable, box, [&](const Dims& index, const Box& whole, const Box& part) {
      std::byte* const to = values + position_in(part.first, box) * size;
      const Dims strides = byte_strides(box.count, element.size);
      if (!own.waiting.contains(key_of(index)) && !own.objects.find(index).address.is_placed())
        return fill_box(to, strides, part.count, unwritten.data(), element.size);
      const ChunkValues now = load(own, index);
      copy_box(now.cells.data() + position_in(part.first, whole) * size,
               byte_strides(whole.count, element.size), to, strides, part.count, copy, nullptr);
    });
  });
}

void ZarrCatalog::put_strings(int variable, const Box& box, const std::vector<std::string>& values) {
  guarded(variable, [&] {
    begin_put(variable, box);
    if (box.empty()) return;
    Array& own = array(variable);
    for_each_part(variable, box, [&](const Dims& index, const Box& whole, const Box& part) {
      Waiting& waiting = waiting_for(own, index, part);
      for_each_index(part, [&](const Dims& cell) {
        waiting.values.texts[static_cast<std::size_t>(position_in(cell, whole))] =
            values[static_cast<std::size_t>(position_in(cell, box))];
      });
    });
  });
}

std::vector<std::string> ZarrCatalog::get_strings(int variable, const Box& box) {
  return guarded(variable, [&] {
    require(variable, box, false);
    std::vector<std::string> values(static_cast<std::size_t>(box.cells()));
    if (box.empty()) return values;
    Array& own = array(variable);
    for_each_part(variable, box, [&](const Dims& index, const Box& whole, const Box& part) {
      const ChunkValues now = load(own, index);
      for_each_index(part, [&](const Dims& cell) {
        values[static_cast<std::size_t>(position_in(cell, box))] =
            now.texts[static_cast<std::size_t>(position_in(cell, whole))];
      });
    });
    return values;
  });
}

// A chunk that the owner stores. Readers of the last commit do not see it in an object without an index, as
// its bytes would change under them; but where ranks store cells themselves, it stays where they know it.
void ZarrCatalog::store(int variable, const Dims& chunk) {
  Array& own = array(variable);
  const ArrayMetadata& metadata = *own.metadata;
  const bool by_rule = metadata.is_placed_by_rule();
  const bool in_place = by_rule && schema_.variable(variable).distributed;
  if (const Location at = in_place ? own.objects.find(chunk).address : k_nowhere; at.is_placed())
    return store_cells(own, chunk, at);
  const Bytes bytes = coder_of(own).encode(load(own, chunk));
  ++traffic_.writes;
  traffic_.bytes_written += static_cast<std::int64_t>(bytes.size());
  if (metadata.whole_objects) return store_object(own, chunk, bytes);
  const Location before = own.objects.find(chunk).address;
  Location at;
  if (by_rule) {
    bool fresh = false;
    at = own.objects.place(chunk, !metadata.sharded && !in_place, fresh);
  } else if (ends_.is_there()) {
    own.objects.open(Box(chunk, Dims(chunk.size(), 1)), ends_);
    at = ends_.take(object_of_chunk(variable, placement(variable), chunk), bytes.size());
  } else {
    at = own.objects.take(chunk, bytes.size());
  }
  const ObjectNumber object = ObjectNumber::of(at.object);
  try {
    const auto store =
        container_->open(own.objects.name_of(object.place, object.draft), StoreMode::write_or_create);
    store->write(at.offset, bytes);
    store->close();
  } catch (...) {
    // What the chunk had before is read again when this is tried again.
    if (by_rule && !(at == before)) own.objects.unplace(chunk);
    throw;
  }
  if (!by_rule) own.objects.enter(chunk, {at, bytes.size(), 0});
}

void ZarrCatalog::store_object(Array& array, const Dims& unit, const Bytes& bytes) {
  const Location at = array.objects.take(unit, bytes.size());
  const ObjectNumber object = ObjectNumber::of(at.object);
  container_->put(array.objects.name_of(object.place, object.draft), bytes);
  array.objects.enter(unit, {at, bytes.size(), 0});
}

// What was put, and no cell beside it.
void ZarrCatalog::store_cells(Array& array, const Dims& chunk, const Location& at) {
  const ObjectNumber object = ObjectNumber::of(at.object);
  const auto store =
      container_->open(array.objects.name_of(object.place, object.draft), StoreMode::write_or_create);
  const auto& [values, put] = array.waiting.at(key_of(chunk));
  const std::size_t size = array.metadata->element;
  Bytes cells = values.cells;
  if (array.metadata->big_endian) swap_bytes(cells.data(), size, static_cast<std::int64_t>(put.size()));
  for (auto first = std::find(put.begin(), put.end(), true); first != put.end();) {
    const auto last = std::find(first, put.end(), false);
    const auto from = static_cast<std::size_t>(first - put.begin()) * size;
    const auto bytes = static_cast<std::size_t>(last - first) * size;
    store->write(at.offset + from, {cells.data() + from, bytes});
    ++traffic_.writes;
    traffic_.bytes_written += static_cast<std::int64_t>(bytes);
    first = std::find(last, put.end(), true);
  }
  store->close();
}

void ZarrCatalog::write_waiting(int variable) {
  auto& waiting = array(variable).waiting;
  while (!waiting.empty()) {
    store(variable, index_of(waiting.begin()->first));
    waiting.erase(waiting.begin());
  }
}

void ZarrCatalog::write_out(int variable) {
  guarded(variable, [&] { write_waiting(variable); });
}

void ZarrCatalog::set_distributed(int variable) {
  write_out(variable);
  schema_.variable(variable).distributed = true;
}

}  // namespace shoal
