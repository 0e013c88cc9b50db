// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codec/shard_index.hpp"
#include "format/catalog.hpp"
#include "format/zarr/metadata.hpp"

namespace shoal::zarr {

/// The objects of one array, and where its chunks lie in them: as the last commit left them, and as they are
/// now. What readers may see does not change before the commit, but for chunks without filters that are
/// written again where they lie: an object that is seen and gets other chunks is written as a draft, which
/// takes its name at the commit.
///
/// | object | seen by readers | chunks go |
/// |---|---|---|
/// | new | no: behind the committed length, or of a new array | into it |
/// | committed | yes | without filters: to where they lie; otherwise into its draft |
class ArrayObjects {
 public:
  /// array: its shape may change, in the first dimension. folder: of the array in the container.
  ArrayObjects(std::shared_ptr<Container> container, Catalog::Traffic& traffic, int variable,
               std::shared_ptr<const ArrayMetadata> array, std::string folder);

  /// The array as the last commit left it has this shape, or was not there.
  void set_committed(const Dims& shape);
  bool is_committed() const { return committed_.has_value(); }
  /// Does the folder have something that counts: committed, or stored since?
  bool holds_folder() const { return is_committed() || !changed_.empty(); }
  /// The number of the drafts of the next commit.
  void set_draft(unsigned draft) { draft_ = draft; }
  const std::string& folder() const { return grid_.folder; }
  const ObjectGrid& grid() const { return grid_; }

  /// Where a chunk lies; k_nowhere: it has never been stored.
  StoredChunk find(const Dims& chunk);
  /// The place of a chunk without filters; one that has none gets one, and is fresh. anew: not where readers
  /// see it.
  Location place(const Dims& chunk, bool anew, bool& fresh);
  void unplace(const Dims& chunk);
  /// Opens the objects of chunks that go through filters.
  void open(const Box& chunks, ObjectEnds& ends);
  /// Space for a chunk that the owner stores, while no ends are shared.
  Location take(const Dims& chunk, std::uint64_t bytes);
  /// A chunk was stored.
  void enter(const Dims& chunk, const StoredChunk& stored);
  /// Chunks behind this shape are lost: no commit shows them.
  void take_back(const Dims& shape);

  /// Makes the objects whole that readers of the array will see: indexes, and chunks that drafts keep.
  void finish(bool durable);
  /// What commits that were not durable left to the system comes down.
  void sync_earlier();
  /// Gives drafts their names.
  void publish(bool durable);
  /// Objects that a killed job left, and that readers do not see, go.
  void remove_leftovers();
  /// The array is committed: the folder of its drafts goes, with the claim.
  void remove_drafts();
  /// Objects get the folder as well, with all that was committed; those of the old one stay.
  void copy_to(const std::string& folder, bool durable);
  void set_folder(const std::string& folder) { grid_.folder = folder; }

  std::string name_of(std::uint64_t place, unsigned draft) const;
  std::int64_t chunk_bytes() const;

 private:
  /// An object that was changed since the last commit.
  struct Changed {
    unsigned draft = 0;
    std::uint64_t end = 0;                       ///< of its bytes
    std::map<std::uint64_t, ChunkPlace> chunks;  ///< by their place in the object
    bool finished = false;
  };
  std::uint64_t place_of(const Dims& chunk) const { return place_of_object(grid_, chunk, array_->unit()); }
  std::uint64_t place_in_object(const Dims& chunk) const;
  std::size_t chunks_of_object() const;
  std::uint64_t data_begin() const;
  bool is_seen(std::uint64_t place) const;
  bool will_be_seen(std::uint64_t place) const;
  Location location(std::uint64_t place, unsigned draft, std::uint64_t offset) const;
  Changed& change(std::uint64_t place);
  const ShardIndex& committed_index(std::uint64_t place);
  ShardIndex read_index(std::uint64_t place);
  ChunkPlace committed(std::uint64_t place, std::uint64_t in_object);
  void forget_index(std::uint64_t place);
  void keep_chunks(std::uint64_t place, Changed& changed, Store& draft);
  void drop_empty();
  void finish_shard(std::uint64_t place, Changed& changed, bool durable);
  void finish_chunk(std::uint64_t place, Changed& changed, bool durable);
  void sync(Store& store, const std::string& name, bool durable);
  void sync_all(const std::string& folder);
  std::unique_ptr<Store> open_store(const std::string& name, StoreMode mode);
  Bytes read(Store& store, const ChunkPlace& where);

  std::shared_ptr<Container> container_;
  Catalog::Traffic& traffic_;
  int variable_;
  std::shared_ptr<const ArrayMetadata> array_;
  ObjectGrid grid_;
  std::optional<Dims> committed_;  ///< shape
  unsigned draft_ = 1;
  std::map<std::uint64_t, Changed> changed_;
  std::set<std::uint64_t> unsynced_;             ///< objects that commits made whole which were not durable
  bool are_names_synced_ = true;                 ///< no such commit renamed the array
  std::map<std::uint64_t, ShardIndex> indexes_;  ///< of committed objects, some
  std::size_t index_entries_ = 0;
};

/// Empties a folder of a store that was committed for a new array, or for a new name: what a killed job left
/// there goes. Error(exists): it is somebody else's.
void clear_folder(Container& container, const std::string& folder);
/// Says in an empty folder that it is Shoal's.
void mark_folder(Container& container, const std::string& folder);
/// Brings down the bytes of an object and its name; does nothing where there is none.
void sync_object(Container& container, const std::string& object);
/// The name of an object below the dataset.
std::string object_name(const ObjectGrid& grid, const ObjectNumber& object);

}  // namespace shoal::zarr
