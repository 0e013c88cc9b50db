// SPDX-License-Identifier: BSD-3-Clause
#include "format/zarr/zarr_catalog.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "format/format_traits.hpp"
#include "format/zarr/zarr_schema.hpp"
#include "storage/paths.hpp"

namespace shoal {

using zarr::ArrayMetadata;

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
    set_whole_objects(all_.arrays[v].second);
    add_array(static_cast<int>(v), std::make_shared<ArrayMetadata>(all_.arrays[v].second));
    Array& made = arrays_.back();
    made.objects.set_committed(made.metadata->shape);
    if (writable) made.committed_text = zarr::text_of(*made.metadata);
  }
  if (writable) remove_leftovers();
  for (int d = 0; d < schema_.dims.count(); ++d)
    if (schema_.dim(d).unlimited) committed_[d] = schema_.dim(d).length;
  if (!writable) return;
  for (const auto& [path, group] : all_.groups)
    committed_groups_[path] = zarr::text_of(group);
  // Another program's store is as it was until something changes.
  zarr::take_definitions(schema_, all_);
  documents_ = zarr::Documents(all_);
  committed_root_ = documents_.root(all_);
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

// A store that is only read is read by chunks, wherever it is.
void ZarrCatalog::set_whole_objects(ArrayMetadata& array) const {
  const bool is_plain = array.order.empty() && array.type != Type::string;
  array.whole_objects = writable_ && container_->stores_whole() && (is_plain || !array.sharded);
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
        set_whole_objects(*fresh.back());
        if (variable.independent && fresh.back()->whole_objects)
          throw Error(Code::not_supported,
                      "one rank alone cannot write to an object store, which takes objects as a whole: leave "
                      "def_independent out, and write it with all ranks, or to a local file");
      });
      variable.chunks.assign(fresh.back()->chunk.begin(), fresh.back()->chunk.end());
    }
    // What Zarr has not is refused before anything changes.
    zarr::Hierarchy all = all_;
    for (const auto& metadata : fresh)
      all.arrays.emplace_back("", *metadata);
    zarr::take_definitions(schema, all);
    zarr::Documents documents(all);
    claim_names(schema);
    schema_ = std::move(schema);
    all_ = std::move(all);
    documents_ = std::move(documents);
    for (auto& metadata : fresh)
      add_array(static_cast<int>(arrays_.size()), std::move(metadata));
    update_arrays();
  });
}

// New arrays, and such as get another name, need a folder that is nobody's. In a store that was never
// committed all are this job's.
void ZarrCatalog::claim_names(const Schema& wanted) {
  for (std::size_t v = 0; v < wanted.variables.size(); ++v) {
    const std::string& name = wanted.variables[v].name;
    const bool is_new = v >= arrays_.size();
    if (!is_new && schema_.variables[v].name == name) continue;
    in_context_of_variable(name, [&] {
      for (std::size_t other = 0; other < arrays_.size(); ++other)
        if (other != v && arrays_[other].objects.holds_folder() && arrays_[other].objects.folder() == name)
          throw Error(Code::not_supported,
                      "the variable '{}' has this name in the store until the next commit; call sync before "
                      "another one takes it",
                      schema_.variables[other].name);
      const bool keeps_folder = !is_new && arrays_[v].objects.folder() == name;
      if (committed_root_.empty() || keeps_folder) return;
      zarr::clear_folder(*container_, name);
      unmarked_.insert(name);
    });
  }
  try {
    mark_claims();
  } catch (const Error&) {  // the commit tries again, and fails where it cannot
  }
}

void ZarrCatalog::mark_claims() {
  while (!unmarked_.empty()) {
    zarr::mark_folder(*container_, *unmarked_.begin());
    unmarked_.erase(unmarked_.begin());
  }
}

// The metadata of arrays are those of the hierarchy.
void ZarrCatalog::update_arrays() {
  for (std::size_t v = 0; v < arrays_.size(); ++v) {
    Array& array = arrays_[v];
    if (!array.objects.holds_folder()) array.objects.set_folder(schema_.variables[v].name);
    *array.metadata = all_.arrays[v].second;
  }
}

Placement ZarrCatalog::placement(int variable) const {
  const Array& array = arrays_.at(static_cast<std::size_t>(variable));
  const ArrayMetadata& metadata = *array.metadata;
  Placement placement;
  placement.chunk = metadata.unit();
  placement.stores_whole = metadata.whole_objects;
  placement.shard = metadata.shard_layout();
  const bool is_plain = metadata.refusal.empty() && metadata.order.empty() && metadata.type != Type::string;
  placement.kind = !is_plain                      ? Placement::Kind::library
                   : metadata.is_placed_by_rule() ? Placement::Kind::listed
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

// ---- Records

void ZarrCatalog::grow(int dim, std::int64_t length) {
  auto& records = schema_.dim(dim).length;
  if (length <= records) return;
  records = length;
  set_shapes(dim);
}

// Of the arrays along an unlimited dimension.
void ZarrCatalog::set_shapes(int dim) {
  for (int v = 0; v < schema_.variables.count(); ++v)
    if (schema_.has_record(v) && schema_.variable(v).dims[0] == dim)
      array(v).metadata->shape[0] = schema_.dim(dim).length;
}

void ZarrCatalog::take_back(int dim, std::int64_t length) {
  auto& records = schema_.dim(dim).length;
  const auto known = committed_.find(dim);
  const std::int64_t left = std::max(length, known == committed_.end() ? 0 : known->second);
  if (left < records) {
    records = left;
    set_shapes(dim);
  }
  for (int v = 0; v < schema_.variables.count(); ++v) {
    if (schema_.variable(v).dims.empty() || schema_.variable(v).dims[0] != dim) continue;
    Dims shape = schema_.shape(v);
    shape[0] = left;
    Array& own = array(v);
    own.objects.take_back(shape);
    std::erase_if(own.waiting,
                  [&](const auto& one) { return one.first[0] * own.metadata->unit()[0] >= left; });
  }
}

// ---- Commits

void ZarrCatalog::write_text(const std::string& object, const std::string& text, bool durable) {
  ++traffic_.writes;
  traffic_.bytes_written += static_cast<std::int64_t>(text.size());
  if (container_->stores_whole()) return container_->put(object, std::as_bytes(std::span(text)));
  const std::string made = object + k_new;
  const auto store = container_->open(made, StoreMode::create);
  store->write(0, std::as_bytes(std::span(text)));
  if (durable) store->sync();
  store->close();
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

// What was stored under another name is there under both until the root says which one counts.
void ZarrCatalog::move_renamed(bool durable) {
  for (std::size_t v = 0; v < arrays_.size(); ++v) {
    Array& own = arrays_[v];
    const std::string& name = schema_.variables[v].name;
    if (own.objects.folder() == name) continue;
    zarr::clear_folder(*container_, name);  // once more: an earlier commit may have failed here
    zarr::mark_folder(*container_, name);
    own.objects.copy_to(name, durable);
    own.committed_text.clear();
  }
}

void ZarrCatalog::commit(bool durable) {
  if (!writable_) return;
  guarded(-1, [&] { mark_claims(); });
  for (int v = 0; v < schema_.variables.count(); ++v)
    guarded(v, [&] {
      write_waiting(v);
      array(v).objects.finish(durable);
    });
  guarded(-1, [&] {
    zarr::take_lengths(schema_, all_);
    if (durable) sync_earlier();
    for (Array& own : arrays_)
      own.objects.publish(durable);
    move_renamed(durable);
    for (std::size_t v = 0; v < arrays_.size(); ++v) {
      std::string text = documents_.array(v, all_.arrays[v].second.shape);
      if (text == arrays_[v].committed_text) continue;
      write_text(metadata_of(schema_.variables[v].name), text, durable);
      arrays_[v].committed_text = std::move(text);
    }
    write_groups(durable);
    if (std::string text = documents_.root(all_); text != committed_root_) {
      write_text(k_root, text, durable);
      committed_root_ = std::move(text);
    }
    if (durable && !unsynced_texts_.empty()) zarr::sync_object(*container_, k_root);
    if (durable) unsynced_texts_.clear();
    note_committed();
  });
}

void ZarrCatalog::write_groups(bool durable) {
  for (std::size_t g = 0; g < all_.groups.size(); ++g) {
    const std::string& path = all_.groups[g].first;
    const std::string& text = documents_.group(g);
    auto& committed = committed_groups_[path];
    if (text == committed) continue;
    write_text(metadata_of(path), text, durable);
    committed = text;
  }
}

// The root has what there is now: what it named before goes.
void ZarrCatalog::note_committed() {
  std::vector<std::string> old_folders;
  for (std::size_t v = 0; v < arrays_.size(); ++v) {
    zarr::ArrayObjects& objects = arrays_[v].objects;
    const std::string& name = schema_.variables[v].name;
    if (objects.folder() != name) old_folders.push_back(objects.folder());
    const bool was_claimed = !objects.is_committed() || objects.folder() != name;
    objects.set_folder(name);
    objects.set_committed(arrays_[v].metadata->shape);
    if (was_claimed) objects.remove_drafts();
  }
  draft_ = draft_ % (ObjectNumber::k_drafts - 1) + 1;
  for (Array& own : arrays_)
    own.objects.set_draft(draft_);
  if (ends_.is_there())
    ends_.clear();  // chunks that this catalog stored have opened objects of the last draft
  for (int d = 0; d < schema_.dims.count(); ++d)
    if (schema_.dim(d).unlimited) committed_[d] = schema_.dim(d).length;
  for (const std::string& folder : old_folders)
    container_->remove_below(folder + "/");
  std::erase_if(committed_groups_, [&](const auto& group) {
    const bool is_gone = std::none_of(all_.groups.begin(), all_.groups.end(),
                                      [&](const auto& there) { return there.first == group.first; });
    if (is_gone) container_->remove(metadata_of(group.first));
    return is_gone;
  });
}

}  // namespace shoal
