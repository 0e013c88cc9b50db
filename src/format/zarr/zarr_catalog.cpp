// SPDX-License-Identifier: BSD-3-Clause
#include "format/zarr/zarr_catalog.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "format/format_traits.hpp"
#include "format/zarr/zarr_schema.hpp"
#include "storage/paths.hpp"

namespace shoal {

using zarr::ArrayMetadata;
using zarr::ChunkValues;

namespace {

constexpr const char* k_root = "zarr.json";
constexpr const char* k_root_v2 = ".zgroup";
constexpr const char* k_consolidated_v2 = ".zmetadata";
constexpr const char* k_new = ".new";
constexpr std::uint64_t k_most_metadata = std::uint64_t{1} << 30;

std::string metadata_of(const std::string& path) {
  return path + "/" + k_root;
}

std::string text_in(Container& container, const std::string& object, Catalog::Traffic& traffic) {
  const auto store = container.open(object, StoreMode::read);
  const std::uint64_t size = store->size();
  if (size > k_most_metadata)
    throw Error(Code::format, "it has {} bytes, too many for metadata", size).in_file(store->path());
  std::string text(size, '\0');
  text.resize(store->read(0, std::as_writable_bytes(std::span(text))));
  ++traffic.reads;
  traffic.bytes_read += static_cast<std::int64_t>(text.size());
  return text;
}

/// "" where there is none.
std::string text_if_there(Container& container, const std::string& object, Catalog::Traffic& traffic) {
  try {
    return text_in(container, object, traffic);
  } catch (const Error& e) {
    if (e.code() != Code::not_found) throw;
    return {};
  }
}

std::vector<std::int64_t> key_of(const Dims& index) {
  return {index.begin(), index.end()};
}

Dims index_of(const std::vector<std::int64_t>& key) {
  return Dims(std::span<const std::int64_t>(key));
}

}  // namespace

ZarrCatalog::ZarrCatalog(std::shared_ptr<Container> container, const CatalogOptions& options)
    : container_(std::move(container)), options_(options) {
  schema_.format = Format::zarr;
  all_.noted = true;
}

ZarrCatalog::ZarrCatalog(std::shared_ptr<Container> container, Format format, bool writable,
                         const CatalogOptions& options)
    : container_(std::move(container)), options_(options), writable_(writable) {
  if (writable && format != Format::zarr)
    throw Error(
        Code::not_supported,
        "a store of Zarr version 2 is read, and not written; make one of version 3 of it (shoal convert, or "
        "format=zarr)")
        .in_file(container_->path());
  read_store(format);
  schema_ = zarr::schema_of(all_, options.fill);
  schema_.format = format;
  for (std::size_t v = 0; v < all_.arrays.size(); ++v) {
    add_array(static_cast<int>(v), std::make_shared<ArrayMetadata>(all_.arrays[v].second));
    Array& made = arrays_.back();
    made.objects.set_committed(made.metadata->shape);
    if (writable) made.committed_text = zarr::text_of(*made.metadata);
  }
  if (writable) remove_leftovers();
  for (int d = 0; d < schema_.dims.count(); ++d)
    if (schema_.dim(d).unlimited) committed_[d] = schema_.dim(d).length;
  for (const auto& [path, group] : all_.groups)
    groups_there_.insert(path + '\n' + zarr::text_of(group));
  if (!writable) return;
  // Another program's store is as it was until something changes.
  zarr::take_definitions(schema_, all_);
  committed_root_ = zarr::root_text(all_);
}

// ---- The store's metadata

void ZarrCatalog::read_store(Format format) {
  if (format == Format::zarr) {
    committed_root_ = text_in(*container_, k_root, traffic_);
    if (committed_root_.empty())
      throw Error(Code::format, "the store was never committed: its zarr.json is empty")
          .in_file(container_->path());
    bool consolidated = false;
    all_ = zarr::parse_root(committed_root_, joined_path(container_->path(), k_root), consolidated);
    if (!consolidated) read_nodes("");
  } else {
    const std::string consolidated = text_if_there(*container_, k_consolidated_v2, traffic_);
    if (!consolidated.empty()) {
      all_ = zarr::parse_consolidated_v2(consolidated, joined_path(container_->path(), k_consolidated_v2));
    } else {
      zarr::parse_group_v2(text_in(*container_, k_root_v2, traffic_),
                           text_if_there(*container_, ".zattrs", traffic_), "",
                           joined_path(container_->path(), k_root_v2), all_);
      read_nodes("");
    }
  }
  zarr::settle_notes(all_);
}

// Of a store without consolidated metadata: the folders of groups have those of what is in them.
void ZarrCatalog::read_nodes(const std::string& folder) {
  std::vector<std::string> names = container_->children(folder);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (!name.ends_with('/')) continue;
    const std::string path = folder + name.substr(0, name.size() - 1);
    const auto text_of = [&](const char* object) {
      return text_if_there(*container_, path + "/" + object, traffic_);
    };
    const auto where = [&](const char* object) {
      return joined_path(container_->path(), path + "/" + object);
    };
    const std::size_t arrays = all_.arrays.size();
    bool is_node = true;
    if (const std::string text = text_of(k_root); !text.empty())
      zarr::parse_node(text, path, where(k_root), all_);
    else if (const std::string array = text_of(".zarray"); !array.empty())
      zarr::parse_array_v2(array, text_of(".zattrs"), path, where(".zarray"), all_);
    else if (const std::string group = text_of(k_root_v2); !group.empty())
      zarr::parse_group_v2(group, text_of(".zattrs"), path, where(k_root_v2), all_);
    else
      is_node = false;
    if (is_node && all_.arrays.size() == arrays) read_nodes(path + "/");
  }
}

void ZarrCatalog::add_array(int variable, std::shared_ptr<ArrayMetadata> metadata) {
  const std::string folder = schema_.variable(variable).name;
  arrays_.push_back(
      {metadata, zarr::ArrayObjects(container_, traffic_, variable, metadata, folder), nullptr, {}, {}});
  arrays_.back().objects.set_draft(draft_);
}

void ZarrCatalog::require_writable() const {
  if (!writable_)
    throw Error(Code::permission, "the store was opened for reading only; open it for writing")
        .in_file(container_->path());
}

// What a killed job left in the folders of the store's own arrays and groups. Others may be somebody's.
void ZarrCatalog::remove_leftovers() {
  for (Array& own : arrays_)
    if (own.metadata->refusal.empty()) own.objects.remove_leftovers();
  container_->remove(std::string(k_root) + k_new);
  for (const auto& [path, array] : all_.arrays)
    container_->remove(metadata_of(path) + k_new);
  for (const auto& [path, group] : all_.groups)
    container_->remove(metadata_of(path) + k_new);
}

template <class Work>
decltype(auto) ZarrCatalog::guarded(int variable, Work&& work) const {
  try {
    return work();
  } catch (const Error& error) {
    throw located(error, variable);
  }
}

Error ZarrCatalog::located(const Error& error, int variable) const {
  const Error all = variable >= 0 ? error.of_variable(schema_.variable(variable).name) : error;
  return all.in_file(container_->path());
}

void ZarrCatalog::define(const Schema& wanted) {
  guarded(-1, [&] {
    require_writable();
    zarr::check_zarr_extension(schema_, wanted);
    Schema schema = wanted;
    schema.changes.clear();
    for (std::size_t d = 0; d < schema.dims.size(); ++d)
      if (schema.dims[d].unlimited)
        schema.dims[d].length = d < schema_.dims.size() ? schema_.dims[d].length : 0;
    std::vector<std::shared_ptr<ArrayMetadata>> fresh;
    for (std::size_t v = schema_.variables.size(); v < schema.variables.size(); ++v) {
      VariableDef& variable = schema.variables[v];
      if (options_.fill == FillMode::none) variable.no_fill = true;
      in_context_of_variable(variable.name, [&] {
        fresh.push_back(std::make_shared<ArrayMetadata>(zarr::array_of(schema, variable, options_)));
        zarr::text_of(*fresh.back());  // what Zarr has not is refused before anything changes
      });
      variable.chunks.assign(fresh.back()->chunk.begin(), fresh.back()->chunk.end());
    }
    // Names that other arrays have until the commit.
    for (std::size_t v = 0; v < schema.variables.size(); ++v)
      for (std::size_t other = 0; other < arrays_.size(); ++other)
        if (other != v && arrays_[other].objects.is_committed() &&
            arrays_[other].objects.folder() == schema.variables[v].name)
          throw Error(Code::not_supported,
                      "the variable '{}' has this name in the store until the next commit; call sync before "
                      "another one takes it",
                      schema_.variables[other].name)
              .of_variable(schema.variables[v].name);
    schema_ = std::move(schema);
    for (auto& metadata : fresh) {
      const int v = static_cast<int>(arrays_.size());
      all_.arrays.emplace_back(schema_.variable(v).name, *metadata);
      add_array(v, std::move(metadata));
      container_->remove_below(schema_.variable(v).name + "/");  // what a killed job left
    }
    update_arrays();
  });
}

// The metadata of arrays are those of the schema.
void ZarrCatalog::update_arrays() {
  zarr::take_definitions(schema_, all_);
  for (std::size_t v = 0; v < arrays_.size(); ++v) {
    Array& array = arrays_[v];
    if (!array.objects.is_committed()) array.objects.set_folder(schema_.variables[v].name);
    *array.metadata = all_.arrays[v].second;
  }
}

Placement ZarrCatalog::placement(int variable) const {
  const Array& array = arrays_.at(static_cast<std::size_t>(variable));
  const ArrayMetadata& metadata = *array.metadata;
  Placement placement;
  placement.chunk = metadata.chunk;
  const bool is_plain = metadata.refusal.empty() && metadata.order.empty() && metadata.type != Type::string;
  placement.kind = !is_plain                  ? Placement::Kind::library
                   : metadata.filters.empty() ? Placement::Kind::listed
                                              : Placement::Kind::encoded;
  placement.swapped = metadata.big_endian;
  placement.objects = array.objects.grid();
  return placement;
}

// ---- Where chunks lie

std::vector<Location> ZarrCatalog::place(int variable, const Box& chunks, const Box& cells,
                                         std::vector<bool>& fresh) {
  return guarded(variable, [&] {
    require_writable();
    require(variable, cells, true);
    if (schema_.has_record(variable) && !cells.empty())
      grow(schema_.variable(variable).dims[0], cells.end(0));
    std::vector<Location> found;
    fresh.clear();
    for_each_index(chunks, [&](const Dims& index) {
      bool is_fresh = false;
      found.push_back(array(variable).objects.place(index, false, is_fresh));
      fresh.push_back(is_fresh);
    });
    return found;
  });
}

std::vector<Location> ZarrCatalog::find(int variable, const Box& chunks) {
  return guarded(variable, [&] {
    std::vector<Location> found;
    for_each_index(chunks,
                   [&](const Dims& index) { found.push_back(array(variable).objects.find(index).address); });
    return found;
  });
}

void ZarrCatalog::unplace(int variable, const Box& chunks, const std::vector<bool>& fresh) {
  std::size_t i = 0;
  for_each_index(chunks, [&](const Dims& index) {
    if (fresh[i++]) array(variable).objects.unplace(index);
  });
}

std::vector<StoredChunk> ZarrCatalog::stored_chunks(int variable, const Box& chunks) {
  return guarded(variable, [&] {
    write_waiting(variable);
    std::vector<StoredChunk> found;
    for_each_index(chunks, [&](const Dims& index) { found.push_back(array(variable).objects.find(index)); });
    return found;
  });
}

void ZarrCatalog::open_objects(int variable, const Box& chunks) {
  guarded(variable, [&] { array(variable).objects.open(chunks, ends_); });
}

void ZarrCatalog::enter(int variable, const std::vector<NewChunk>& chunks) {
  guarded(variable, [&] {
    for (const NewChunk& chunk : chunks)
      array(variable).objects.enter(chunk.index, chunk.stored);
  });
}

// ---- Values

void ZarrCatalog::require(int variable, const Box& box, bool may_grow) const {
  require_plain(schema_.variable(variable));
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
      if (store->size() < stored.address.offset + stored.bytes && !array.metadata->filters.empty())
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
  if (!is_there || (bytes.empty() && array.metadata->filters.empty() && array.metadata->element > 0))
    return coder.fill();
  // Cells of a new chunk that nobody stored yet are behind the end of its object.
  if (array.metadata->filters.empty() && array.metadata->element > 0 && bytes.size() < stored.bytes) {
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
  const Box whole = cells_of_chunk(chunk, array.metadata->chunk);
  ChunkValues values =
      waits->second.front().part == whole ? coder_of(array).fill() : load_stored(array, chunk);
  const Element element{array.metadata->type, size_of(array.metadata->type), false};
  for (const Patch& patch : waits->second) {
    if (array.metadata->type == Type::string) {
      for_each_index(patch.part, [&](const Dims& cell) {
        values.texts[static_cast<std::size_t>(position_in(cell, whole))] =
            patch.values.texts[static_cast<std::size_t>(position_in(cell, patch.part))];
      });
      continue;
    }
    copy_box(
        patch.values.cells.data(), byte_strides(patch.part.count, element.size),
        values.cells.data() + position_in(patch.part.first, whole) * static_cast<std::int64_t>(element.size),
        byte_strides(whole.count, element.size), patch.part.count, find_conversion(element, element),
        nullptr);
  }
  return values;
}

void ZarrCatalog::keep(Array& array, const Dims& chunk, Patch patch) {
  auto& patches = array.waiting[key_of(chunk)];
  if (patch.part == cells_of_chunk(chunk, array.metadata->chunk)) patches.clear();
  patches.push_back(std::move(patch));
}

/// Calls move(chunk's index, its cells, the part of the box in it).
template <class Move>
void ZarrCatalog::for_each_part(int variable, const Box& box, Move&& move) {
  const Dims& chunk = array(variable).metadata->chunk;
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
    for_each_part(variable, box, [&](const Dims& index, const Box& /*whole*/, const Box& part) {
      Patch patch{part, {Bytes(static_cast<std::size_t>(part.cells() * size)), {}}};
      copy_box(values + position_in(part.first, box) * size, byte_strides(box.count, element.size),
               patch.values.cells.data(), byte_strides(part.count, element.size), part.count, copy, nullptr);
      keep(own, index, std::move(patch));
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
    for_each_part(variable, box, [&](const Dims& index, const Box& /*whole*/, const Box& part) {
      Patch patch{part, {}};
      for_each_index(part, [&](const Dims& cell) {
        patch.values.texts.push_back(values[static_cast<std::size_t>(position_in(cell, box))]);
      });
      keep(own, index, std::move(patch));
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
  const bool by_rule = metadata.filters.empty() && metadata.element > 0;
  const bool in_place = by_rule && schema_.variable(variable).distributed;
  if (const Location at = in_place ? own.objects.find(chunk).address : k_nowhere; at.is_placed())
    return store_cells(own, chunk, at);
  const Bytes bytes = coder_of(own).encode(load(own, chunk));
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
  const auto store =
      container_->open(own.objects.name_of(object.place, object.draft), StoreMode::write_or_create);
  store->write(at.offset, bytes);
  store->close();
  ++traffic_.writes;
  traffic_.bytes_written += static_cast<std::int64_t>(bytes.size());
  if (!by_rule) own.objects.enter(chunk, {at, bytes.size(), 0});
}

// What was put, and no cell beside it.
void ZarrCatalog::store_cells(Array& array, const Dims& chunk, const Location& at) {
  const ObjectNumber object = ObjectNumber::of(at.object);
  const auto store =
      container_->open(array.objects.name_of(object.place, object.draft), StoreMode::write_or_create);
  const Box whole = cells_of_chunk(chunk, array.metadata->chunk);
  const auto size = static_cast<std::int64_t>(array.metadata->element);
  for (const Patch& patch : array.waiting.at(key_of(chunk))) {
    Bytes cells = patch.values.cells;
    if (array.metadata->big_endian) swap_bytes(cells.data(), array.metadata->element, patch.part.cells());
    const int last = patch.part.rank() - 1;
    Box rows = patch.part;
    if (last >= 0) rows.count[last] = 1;
    const std::int64_t row = (last < 0 ? 1 : patch.part.count[last]) * size;
    std::int64_t from = 0;
    for_each_index(rows, [&](const Dims& first) {
      const auto to = at.offset + static_cast<std::uint64_t>(position_in(first, whole) * size);
      store->write(to, {cells.data() + from, static_cast<std::size_t>(row)});
      from += row;
      ++traffic_.writes;
      traffic_.bytes_written += row;
    });
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

// ---- Records

void ZarrCatalog::grow(int dim, std::int64_t length) {
  auto& records = schema_.dim(dim).length;
  if (length <= records) return;
  records = length;
  update_arrays();
}

void ZarrCatalog::take_back(int dim, std::int64_t length) {
  auto& records = schema_.dim(dim).length;
  const auto known = committed_.find(dim);
  const std::int64_t left = std::max(length, known == committed_.end() ? 0 : known->second);
  if (left < records) {
    records = left;
    update_arrays();
  }
  for (int v = 0; v < schema_.variables.count(); ++v) {
    if (schema_.variable(v).dims.empty() || schema_.variable(v).dims[0] != dim) continue;
    Dims shape = schema_.shape(v);
    shape[0] = left;
    Array& own = array(v);
    own.objects.take_back(shape);
    std::erase_if(own.waiting,
                  [&](const auto& one) { return one.first[0] * own.metadata->chunk[0] >= left; });
  }
}

// ---- Commits

void ZarrCatalog::write_text(const std::string& object, const std::string& text, bool durable) {
  const std::string made = object + k_new;
  const auto store = container_->open(made, StoreMode::create);
  store->write(0, std::as_bytes(std::span(text)));
  if (durable) store->sync();
  store->close();
  ++traffic_.writes;
  traffic_.bytes_written += static_cast<std::int64_t>(text.size());
  container_->publish(made, object, durable);
  if (durable)
    unsynced_texts_.erase(object);
  else
    unsynced_texts_.insert(object);
}

// What commits wrote that were not durable, all but the root: it names the rest.
void ZarrCatalog::sync_earlier() {
  for (Array& own : arrays_)
    own.objects.sync_earlier();
  for (const std::string& object : unsynced_texts_)
    if (object != k_root) zarr::sync_object(*container_, object);
}

// What was committed under another name is there under both until the root says which one counts.
void ZarrCatalog::move_renamed(bool durable) {
  for (std::size_t v = 0; v < arrays_.size(); ++v) {
    Array& own = arrays_[v];
    const std::string& name = schema_.variables[v].name;
    if (own.objects.folder() == name) continue;
    container_->remove_below(name + "/");
    own.objects.copy_to(name, durable);
    own.committed_text.clear();
  }
}

void ZarrCatalog::commit(bool durable) {
  if (!writable_) return;
  for (int v = 0; v < schema_.variables.count(); ++v)
    guarded(v, [&] {
      write_waiting(v);
      array(v).objects.finish(durable);
    });
  guarded(-1, [&] {
    zarr::take_definitions(schema_, all_);
    if (durable) sync_earlier();
    for (Array& own : arrays_)
      own.objects.publish(durable);
    move_renamed(durable);
    std::vector<std::string> old_folders;
    for (std::size_t v = 0; v < arrays_.size(); ++v) {
      Array& own = arrays_[v];
      const std::string& name = schema_.variables[v].name;
      std::string text = zarr::text_of(*own.metadata);
      if (text != own.committed_text) {
        write_text(metadata_of(name), text, durable);
        own.committed_text = std::move(text);
      }
      if (own.objects.folder() != name) old_folders.push_back(own.objects.folder());
    }
    for (const auto& [path, group] : all_.groups) {
      const std::string text = zarr::text_of(group);
      if (groups_there_.insert(path + '\n' + text).second) write_text(metadata_of(path), text, durable);
    }
    if (std::string text = zarr::root_text(all_); text != committed_root_) {
      write_text(k_root, text, durable);
      committed_root_ = std::move(text);
    }
    if (durable && !unsynced_texts_.empty()) zarr::sync_object(*container_, k_root);
    if (durable) unsynced_texts_.clear();
    for (std::size_t v = 0; v < arrays_.size(); ++v) {
      arrays_[v].objects.set_folder(schema_.variables[v].name);
      arrays_[v].objects.set_committed(arrays_[v].metadata->shape);
    }
    draft_ = draft_ % (ObjectNumber::k_drafts - 1) + 1;
    for (Array& own : arrays_)
      own.objects.set_draft(draft_);
    if (ends_.is_there())
      ends_.clear();  // chunks that this catalog stored have opened objects of the last draft
    for (auto& [dim, length] : committed_)
      length = schema_.dim(dim).length;
    for (int d = 0; d < schema_.dims.count(); ++d)
      if (schema_.dim(d).unlimited) committed_[d] = schema_.dim(d).length;
    for (const std::string& folder : old_folders)
      container_->remove_below(folder + "/");
  });
}

}  // namespace shoal
