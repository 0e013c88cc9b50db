// SPDX-License-Identifier: BSD-3-Clause
#include "format/zarr/array_objects.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.hpp"
#include "storage/paths.hpp"

namespace shoal::zarr {

namespace {

constexpr const char* k_drafts = ".drafts/";
constexpr const char* k_claim =
    "uncommitted";  // among the drafts of an array that the root does not name yet
constexpr std::size_t k_most_entries = 4 << 20;    // of indexes that are kept: 64 MiB
constexpr std::size_t k_copy_bytes = 8 << 20;      // of chunks that a draft keeps
constexpr std::int64_t k_large_chunk = 64 * 1024;  // without filters; shall lie at a multiple of a page
constexpr std::int64_t k_page = 4096;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t to) {
  return (bytes + to - 1) / to * to;
}

std::int64_t objects_along(std::int64_t length, std::int64_t cells) {
  return cells > 0 ? (length + cells - 1) / cells : 0;
}

/// The first index in the name of an object, or of the folder of objects; nothing: it is no such name.
std::optional<std::int64_t> first_index(const std::string& name, char separator) {
  std::int64_t index = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr != name.data();
  if (!is_number || index < 0) return std::nullopt;
  const char* const end = name.data() + name.size();
  return parsed.ptr == end || *parsed.ptr == separator || *parsed.ptr == '/' ? std::optional(index)
                                                                             : std::nullopt;
}

}  // namespace

ArrayObjects::ArrayObjects(std::shared_ptr<Container> container, Catalog::Traffic& traffic, int variable,
                           std::shared_ptr<const ArrayMetadata> array, std::string folder)
    : container_(std::move(container)), traffic_(traffic), variable_(variable), array_(std::move(array)) {
  grid_.cells = array_->object;
  grid_.count = Dims(grid_.cells.size());
  for (int d = 0; d < grid_.cells.size(); ++d)
    grid_.count[d] = objects_along(array_->shape[d], grid_.cells[d]);
  grid_.folder = std::move(folder);
  grid_.prefix = array_->prefix;
  grid_.separator = std::string(1, array_->separator);
}

void ArrayObjects::set_committed(const Dims& shape) {
  committed_ = shape;
  for (auto at = changed_.begin(); at != changed_.end();) {
    const bool done = at->second.finished && is_seen(at->first);
    if (done) forget_index(at->first);
    at = done ? changed_.erase(at) : std::next(at);
  }
}

std::uint64_t ArrayObjects::place_in_object(const Dims& chunk) const {
  std::uint64_t place = 0;
  for (int d = 0; d < chunk.size(); ++d) {
    const std::int64_t n = array_->object[d] / array_->unit()[d];
    place = place * static_cast<std::uint64_t>(n) + static_cast<std::uint64_t>(chunk[d] % n);
  }
  return place;
}

std::size_t ArrayObjects::chunks_of_object() const {
  std::size_t n = 1;
  for (int d = 0; d < array_->unit().size(); ++d)
    n *= static_cast<std::size_t>(array_->object[d] / array_->unit()[d]);
  return n;
}

std::int64_t ArrayObjects::chunk_bytes() const {
  return volume(array_->unit()) * static_cast<std::int64_t>(array_->element);
}

std::uint64_t ArrayObjects::data_begin() const {
  if (!array_->has_index() || !array_->index_at_start) return 0;
  const auto index = static_cast<std::int64_t>(shard_index_bytes(chunks_of_object(), array_->index_checksum));
  const bool aligned = array_->filters.empty() && chunk_bytes() >= k_large_chunk;
  return static_cast<std::uint64_t>(aligned ? rounded_up(index, k_page) : index);
}

// Some of its cells are in the array as the last commit left it.
bool ArrayObjects::is_seen(std::uint64_t place) const {
  if (!committed_) return false;
  const Dims indices = indices_of_object(grid_, place);
  for (int d = 0; d < indices.size(); ++d)
    if (indices[d] * array_->object[d] >= (*committed_)[d]) return false;
  return true;
}

bool ArrayObjects::will_be_seen(std::uint64_t place) const {
  const Dims indices = indices_of_object(grid_, place);
  for (int d = 0; d < indices.size(); ++d)
    if (indices[d] * array_->object[d] >= array_->shape[d]) return false;
  return true;
}

Location ArrayObjects::location(std::uint64_t place, unsigned draft, std::uint64_t offset) const {
  return {ObjectNumber{variable_, draft, place}.number(), offset};
}

std::string ArrayObjects::name_of(std::uint64_t place, unsigned draft) const {
  return object_name(grid_, ObjectNumber{variable_, draft, place});
}

ArrayObjects::Changed& ArrayObjects::change(std::uint64_t place) {
  const auto [at, is_new] = changed_.try_emplace(place);
  Changed& changed = at->second;
  if (is_new) {
    changed.draft = is_seen(place) ? draft_ : 0;
    changed.end = data_begin();
  }
  changed.finished = false;
  return changed;
}

// ---- Where chunks lie

std::unique_ptr<Store> ArrayObjects::open_store(const std::string& name, StoreMode mode) {
  return container_->open(name, mode);
}

Bytes ArrayObjects::read(Store& store, const ChunkPlace& where) {
  const std::uint64_t size = store.size();
  if (where.offset > size || where.bytes > size - where.offset)
    throw Error(Code::format,
                "the index of the shard has a chunk of {} bytes at {}, and the shard has {} bytes",
                where.bytes, where.offset, size)
        .in_file(store.path());
  Bytes bytes(where.bytes);
  const std::size_t got = store.read(where.offset, bytes);
  ++traffic_.reads;
  traffic_.bytes_read += static_cast<std::int64_t>(got);
  if (got < bytes.size()) throw Error(Code::format, "the file ends within a chunk").in_file(store.path());
  return bytes;
}

// An object that is not there has no chunks.
ShardIndex ArrayObjects::read_index(std::uint64_t place) {
  const std::size_t n = chunks_of_object();
  std::unique_ptr<Store> store;
  try {
    store = open_store(name_of(place, 0), StoreMode::read);
  } catch (const Error& e) {
    if (e.code() != Code::not_found) throw;
    return {};
  }
  const std::uint64_t size = store->size();
  if (!array_->has_index()) return {{0, size}};
  const std::size_t bytes = shard_index_bytes(n, array_->index_checksum);
  if (size < bytes)
    throw Error(Code::format, "the shard has {} bytes, and its index alone takes {}: it is not whole", size,
                bytes)
        .in_file(store->path());
  const Bytes stored = read(*store, {array_->index_at_start ? 0 : size - bytes, bytes});
  ShardIndex index;
  try {
    index = shard_index_of(stored, array_->index_checksum);
  } catch (const Error& e) {
    throw e.in_file(store->path());
  }
  for (const ChunkPlace& chunk : index)
    if (chunk.is_there() && (chunk.offset > size || chunk.bytes > size - chunk.offset))
      throw Error(Code::format,
                  "the index of the shard has a chunk of {} bytes at {}, and the shard has {} bytes",
                  chunk.bytes, chunk.offset, size)
          .in_file(store->path());
  return index;
}

void ArrayObjects::forget_index(std::uint64_t place) {
  const auto known = indexes_.find(place);
  if (known == indexes_.end()) return;
  index_entries_ -= std::max<std::size_t>(known->second.size(), 1);
  indexes_.erase(known);
}

const ShardIndex& ArrayObjects::committed_index(std::uint64_t place) {
  const auto known = indexes_.find(place);
  if (known != indexes_.end()) return known->second;
  if (index_entries_ > k_most_entries) {
    indexes_.clear();
    index_entries_ = 0;
  }
  const ShardIndex& index = indexes_[place] = read_index(place);
  index_entries_ += std::max<std::size_t>(index.size(), 1);
  return index;
}

ChunkPlace ArrayObjects::committed(std::uint64_t place, std::uint64_t in_object) {
  if (!is_seen(place)) return {};
  const ShardIndex& index = committed_index(place);
  if (index.empty()) return {};  // there is no such object
  const ChunkPlace where = index[static_cast<std::size_t>(in_object)];
  if (where.is_there() && array_->is_placed_by_rule() &&
      where.bytes != static_cast<std::uint64_t>(chunk_bytes()))
    throw Error(Code::format, "a chunk has {} bytes in place of {}", where.bytes, chunk_bytes())
        .in_file(joined_path(container_->path(), name_of(place, 0)));
  return where;
}

StoredChunk ArrayObjects::find(const Dims& chunk) {
  const std::uint64_t place = place_of(chunk), in_object = place_in_object(chunk);
  if (const auto changed = changed_.find(place); changed != changed_.end()) {
    const auto at = changed->second.chunks.find(in_object);
    if (at != changed->second.chunks.end())
      return {location(place, changed->second.draft, at->second.offset), at->second.bytes, 0};
  }
  const ChunkPlace where = committed(place, in_object);
  if (!where.is_there()) return {};
  return {location(place, 0, where.offset), where.bytes, 0};
}

Location ArrayObjects::place(const Dims& chunk, bool anew, bool& fresh) {
  const StoredChunk known = find(chunk);
  const std::uint64_t place = place_of(chunk);
  const bool is_kept = known.address.is_placed() && ObjectNumber::of(known.address.object).draft == 0;
  fresh = !known.address.is_placed();
  if (!fresh && !(anew && is_kept && is_seen(place))) return known.address;
  Changed& changed = change(place);
  const std::uint64_t in_object = place_in_object(chunk);
  const auto bytes = static_cast<std::uint64_t>(chunk_bytes());
  const std::uint64_t offset = data_begin() + in_object * bytes;
  changed.chunks[in_object] = {offset, bytes};
  changed.end = std::max(changed.end, offset + bytes);
  return location(place, changed.draft, offset);
}

void ArrayObjects::unplace(const Dims& chunk) {
  const auto changed = changed_.find(place_of(chunk));
  if (changed != changed_.end()) changed->second.chunks.erase(place_in_object(chunk));
}

void ArrayObjects::open(const Box& chunks, ObjectEnds& ends) {
  Dims per_object(array_->unit().size());
  for (int d = 0; d < per_object.size(); ++d)
    per_object[d] = array_->object[d] / array_->unit()[d];
  for_each_index(chunks_of(chunks, per_object), [&](const Dims& indices) {
    Dims first = indices;
    for (int d = 0; d < first.size(); ++d)
      first[d] *= per_object[d];
    const std::uint64_t place = place_of(first);
    const Changed& changed = change(place);
    ends.open(location(place, 0, 0).object, location(place, changed.draft, 0).object, changed.end);
  });
}

Location ArrayObjects::take(const Dims& chunk, std::uint64_t bytes) {
  const std::uint64_t place = place_of(chunk);
  Changed& changed = change(place);
  const std::uint64_t at = changed.end;
  if (!array_->whole_objects) changed.end += bytes;
  return location(place, changed.draft, at);
}

void ArrayObjects::enter(const Dims& chunk, const StoredChunk& stored) {
  const std::uint64_t place = place_of(chunk);
  Changed& changed = change(place);
  if (location(place, changed.draft, 0).object != stored.address.object)
    throw Error(Code::internal, "a chunk was stored in another object than that which is open");
  changed.chunks[place_in_object(chunk)] = {stored.address.offset, stored.bytes};
  if (array_->whole_objects) return;  // the next one takes its place
  changed.end = std::max(changed.end, stored.address.offset + stored.bytes);
}

void ArrayObjects::take_back(const Dims& shape) {
  for (auto& [place, changed] : changed_) {
    const Dims object = indices_of_object(grid_, place);
    const auto lost = std::erase_if(changed.chunks, [&](const auto& one) {
      std::uint64_t rest = one.first;
      for (int d = shape.size() - 1; d >= 0; --d) {
        const auto n = static_cast<std::uint64_t>(array_->object[d] / array_->unit()[d]);
        const std::int64_t index =
            object[d] * static_cast<std::int64_t>(n) + static_cast<std::int64_t>(d == 0 ? rest : rest % n);
        if (index * array_->unit()[d] >= shape[d]) return true;
        rest /= n;
      }
      return false;
    });
    if (lost > 0) changed.finished = false;
  }
}

// ---- Commits

void ArrayObjects::sync(Store& store, const std::string& name, bool durable) {
  if (durable) store.sync();
  store.close();
  if (durable) container_->sync_name(name);
}

// What the object had, and was not stored again, moves to the draft.
void ArrayObjects::keep_chunks(std::uint64_t place, Changed& changed, Store& draft) {
  const ShardIndex old = read_index(place);
  std::unique_ptr<Store> from;
  const bool placed_by_rule = array_->filters.empty();
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (!old[i].is_there() || changed.chunks.contains(i)) continue;
    if (!from) from = open_store(name_of(place, 0), StoreMode::read);
    const std::uint64_t to = placed_by_rule ? data_begin() + i * old[i].bytes : changed.end;
    for (std::uint64_t done = 0; done < old[i].bytes; done += k_copy_bytes) {
      const std::uint64_t part = std::min<std::uint64_t>(k_copy_bytes, old[i].bytes - done);
      const Bytes bytes = read(*from, {old[i].offset + done, part});
      draft.write(to + done, bytes);
      ++traffic_.writes;
      traffic_.bytes_written += static_cast<std::int64_t>(part);
    }
    changed.chunks[i] = {to, old[i].bytes};
    changed.end = std::max(changed.end, to + old[i].bytes);
  }
}

void ArrayObjects::finish_shard(std::uint64_t place, Changed& changed, bool durable) {
  const std::string name = name_of(place, changed.draft);
  const auto store = open_store(name, StoreMode::write_or_create);
  if (changed.draft != 0) keep_chunks(place, changed, *store);
  ShardIndex index(chunks_of_object());
  for (const auto& [i, where] : changed.chunks)
    index[static_cast<std::size_t>(i)] = where;
  const Bytes bytes = stored_shard_index(index, array_->index_checksum);
  if (array_->index_at_start) {
    store->write(0, bytes);
    // Of a chunk that sticks out of the array ranks store what is inside.
    if (store->size() < changed.end) store->resize(changed.end);
  } else {
    store->resize(changed.end);
    store->write(changed.end, bytes);
  }
  ++traffic_.writes;
  traffic_.bytes_written += static_cast<std::int64_t>(bytes.size());
  sync(*store, name, durable);
}

// What was stored in an object was lost: it has nothing for an index, and no reader may find it without one.
void ArrayObjects::drop_empty() {
  for (auto at = changed_.begin(); at != changed_.end();) {
    const bool is_empty = at->second.chunks.empty() && will_be_seen(at->first);
    if (is_empty) container_->remove(name_of(at->first, at->second.draft));
    at = is_empty ? changed_.erase(at) : std::next(at);
  }
}

// The object is the chunk and nothing else.
void ArrayObjects::finish_chunk(std::uint64_t place, Changed& changed, bool durable) {
  const std::string name = name_of(place, changed.draft);
  const auto store = open_store(name, StoreMode::write_or_create);  // nobody may have stored a cell
  ChunkPlace& where = changed.chunks.begin()->second;
  if (where.offset != 0) {
    const Bytes bytes = read(*store, where);
    store->write(0, bytes);
    where.offset = 0;
    ++traffic_.writes;
    traffic_.bytes_written += static_cast<std::int64_t>(bytes.size());
  }
  if (store->size() != where.bytes) store->resize(where.bytes);
  sync(*store, name, durable);
}

void ArrayObjects::finish(bool durable) {
  drop_empty();
  for (auto& [place, changed] : changed_) {
    if (changed.finished || !will_be_seen(place)) continue;
    if (array_->has_index())
      finish_shard(place, changed, durable);
    else if (!array_->whole_objects)
      finish_chunk(place, changed, durable);
    changed.finished = true;
    if (durable || array_->whole_objects)
      unsynced_.erase(place);
    else
      unsynced_.insert(place);
  }
}

void ArrayObjects::publish(bool durable) {
  for (auto at = changed_.begin(); at != changed_.end();) {
    const auto& [place, changed] = *at;
    if (changed.draft == 0 || !changed.finished) {
      ++at;
      continue;
    }
    container_->publish(name_of(place, changed.draft), name_of(place, 0), durable);
    forget_index(place);
    at = changed_.erase(at);
  }
}

void ArrayObjects::remove_drafts() {
  container_->remove_below(grid_.folder + "/" + k_drafts);
}

void ArrayObjects::remove_leftovers() {
  remove_drafts();
  if (!committed_ || committed_->empty()) return;
  const std::int64_t objects = objects_along((*committed_)[0], array_->object[0]);
  const std::string folder = grid_.folder + "/" + array_->prefix.substr(0, array_->prefix.rfind('/') + 1);
  const std::string beginning = array_->prefix.substr(array_->prefix.rfind('/') + 1);
  for (const std::string& name : container_->children(folder)) {
    if (!name.starts_with(beginning)) continue;
    const auto index = first_index(name.substr(beginning.size()), array_->separator);
    if (!index || *index < objects) continue;
    if (name.ends_with('/'))
      container_->remove_below(folder + name);
    else
      container_->remove(folder + name);
  }
}

void ArrayObjects::copy_to(const std::string& folder, bool durable) {
  for (const std::string& name : container_->list(grid_.folder + "/" + array_->prefix))
    container_->copy(name, folder + name.substr(grid_.folder.size()));
  if (durable) sync_all(folder);
  are_names_synced_ = durable;
}

void ArrayObjects::sync_earlier() {
  if (!are_names_synced_) sync_all(grid_.folder);
  are_names_synced_ = true;
  while (!unsynced_.empty()) {
    sync_object(*container_, name_of(*unsynced_.begin(), 0));
    unsynced_.erase(unsynced_.begin());
  }
}

void ArrayObjects::sync_all(const std::string& folder) {
  std::map<std::string, std::string> objects;  // by their folders, each with the last one
  for (const std::string& name : container_->list(folder + "/" + array_->prefix)) {
    const auto store = open_store(name, StoreMode::write);
    store->sync();
    store->close();
    objects[folder_of(name)] = name;
  }
  for (const auto& [in, object] : objects)
    container_->sync_name(object);
}

void clear_folder(Container& container, const std::string& folder) {
  const std::vector<std::string> drafts = container.children(folder + "/" + k_drafts);
  const std::vector<std::string> there = container.children(folder + "/");
  const bool is_marked = std::find(drafts.begin(), drafts.end(), k_claim) != drafts.end();
  // A mark that could not be made leaves its folder.
  const bool is_empty =
      drafts.empty() &&
      std::all_of(there.begin(), there.end(), [](const std::string& name) { return name == k_drafts; });
  if (!is_marked && !is_empty)
    throw Error(
        Code::exists,
        "the store has a folder '{}' that its metadata do not name, as an array that another program added "
        "without consolidating them; consolidate the metadata (zarr.consolidate_metadata), remove the "
        "folder, "
        "or choose another name",
        folder)
        .in_file(joined_path(container.path(), folder));
  container.remove_below(folder + "/");
}

void mark_folder(Container& container, const std::string& folder) {
  const std::string name = folder + "/" + k_drafts + k_claim;
  const auto mark = container.open(name, StoreMode::create);
  mark->sync();  // what is in the folder without it is somebody else's
  mark->close();
  container.sync_name(name);
}

void sync_object(Container& container, const std::string& object) {
  std::unique_ptr<Store> store;
  try {
    store = container.open(object, StoreMode::write);
  } catch (const Error& e) {
    if (e.code() == Code::not_found) return;
    throw;
  }
  store->sync();
  store->close();
  container.sync_name(object);
}

std::string object_name(const ObjectGrid& grid, const ObjectNumber& object) {
  std::string name = grid.folder + "/";
  if (object.draft != 0) return fmt::format("{}{}{}.{}", name, k_drafts, object.draft, object.place);
  if (grid.cells.empty()) {  // no dimension: "c", or "0" where there is no prefix
    const std::string prefix = grid.prefix.substr(0, grid.prefix.find_last_not_of("/.") + 1);
    return name + (prefix.empty() ? "0" : prefix);
  }
  name += grid.prefix;
  const Dims indices = indices_of_object(grid, object.place);
  for (int d = 0; d < indices.size(); ++d)
    name += (d == 0 ? "" : grid.separator) + std::to_string(indices[d]);
  return name;
}

}  // namespace shoal::zarr
