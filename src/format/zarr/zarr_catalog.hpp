// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "format/catalog.hpp"
#include "format/zarr/array_objects.hpp"
#include "format/zarr/chunk_values.hpp"
#include "format/zarr/documents.hpp"
#include "format/zarr/metadata.hpp"

namespace shoal {

/// Catalog of a store of Zarr: version 3 with shards, and versions 2 and 3 of anyone for reading.
///
/// The root's zarr.json has the metadata of all arrays (consolidated metadata), and is what counts: a commit
/// makes objects whole, then the arrays' zarr.json, then that. Killed before, the store opens as the last
/// commit left it.
class ZarrCatalog final : public Catalog {
 public:
  /// A new store.
  ZarrCatalog(std::shared_ptr<Container> container, const CatalogOptions& options);
  /// One that is there, of version 3 or 2. For writing, what a killed job left is removed.
  ZarrCatalog(std::shared_ptr<Container> container, Format format, bool writable,
              const CatalogOptions& options);

  const Schema& schema() const override { return schema_; }
  void define(const Schema& wanted) override;
  Placement placement(int variable) const override;
  std::vector<Location> place(int variable, const Box& chunks, const Box& cells,
                              std::vector<bool>& fresh) override;
  std::vector<Location> find(int variable, const Box& chunks) override;
  void unplace(int variable, const Box& chunks, const std::vector<bool>& fresh) override;
  std::vector<StoredChunk> stored_chunks(int variable, const Box& chunks) override;
  void enter(int variable, const std::vector<NewChunk>& chunks) override;
  void share_space(const SharedSpace& space) override { ends_ = space.objects; }
  void open_objects(int variable, const Box& chunks) override;
  void put(int variable, const Box& box, const std::byte* values) override;
  void get(int variable, const Box& box, std::byte* values) override;
  void put_strings(int variable, const Box& box, const std::vector<std::string>& values) override;
  std::vector<std::string> get_strings(int variable, const Box& box) override;
  void grow(int dim, std::int64_t length) override;
  void take_back(int dim, std::int64_t length) override;
  void write_out(int variable) override;
  void set_distributed(int variable) override;
  void commit(bool durable) override;
  void close(bool durable) override { commit(durable); }
  Traffic traffic() const override { return traffic_; }

 private:
  /// Values of a chunk that were put and are not stored. What ranks store beside them counts, so that the
  /// chunk is looked at when it is stored.
  struct Waiting {
    zarr::ChunkValues values;
    std::vector<bool> put;  ///< [cells] which of them
  };
  /// An array as the catalog keeps it.
  struct Array {
    std::shared_ptr<zarr::ArrayMetadata> metadata;
    zarr::ArrayObjects objects;
    std::unique_ptr<zarr::ChunkValueCoder> coder;          ///< made when it is needed
    std::map<std::vector<std::int64_t>, Waiting> waiting;  ///< by the index of the chunk
    std::string committed_text;                            ///< of its zarr.json; "": there is none
  };
  void read_store(Format format);
  void read_nodes(const std::string& folder);
  void add_array(int variable, std::shared_ptr<zarr::ArrayMetadata> metadata);
  void update_arrays();
  void set_shapes(int dim);
  void require(int variable, const Box& box, bool may_grow) const;
  void set_whole_objects(zarr::ArrayMetadata& array) const;
  void require_writable() const;
  void remove_leftovers();
  zarr::ChunkValueCoder& coder_of(Array& array);
  zarr::ChunkValues load_stored(Array& array, const Dims& chunk);
  zarr::ChunkValues load(Array& array, const Dims& chunk);
  Waiting& waiting_for(Array& array, const Dims& chunk, const Box& part);
  void store(int variable, const Dims& chunk);
  void store_object(Array& array, const Dims& unit, const Bytes& bytes);
  void store_cells(Array& array, const Dims& chunk, const Location& at);
  void write_waiting(int variable);
  Array& array(int variable) { return arrays_.at(static_cast<std::size_t>(variable)); }
  const Array& array(int variable) const { return arrays_.at(static_cast<std::size_t>(variable)); }
  template <class Move>
  void for_each_part(int variable, const Box& box, Move&& move);
  void begin_put(int variable, const Box& box);
  void claim_names(const Schema& wanted);
  void mark_claims();
  void move_renamed(bool durable);
  void write_groups(bool durable);
  void note_committed();
  void sync_earlier();
  void write_text(const std::string& object, const std::string& text, bool durable);
  Error located(const Error& error, int variable) const;
  /// Runs the work; an Error from it names the variable (-1: none) and the store.
  template <class Work>
  decltype(auto) guarded(int variable, Work&& work) const {
    try {
      return work();
    } catch (const Error& error) {
      throw located(error, variable);
    }
  }

  std::shared_ptr<Container> container_;
  CatalogOptions options_;
  bool writable_ = true;
  Schema schema_;
  zarr::Hierarchy all_;
  zarr::Documents documents_{all_};                      ///< of all_, but for lengths
  std::deque<Array> arrays_;                             ///< by the number of the variable
  std::map<int, std::int64_t> committed_;                ///< lengths of unlimited dimensions
  std::map<std::string, std::string> committed_groups_;  ///< the text of each one's zarr.json, by its path
  std::string committed_root_;                           ///< the text of the root's zarr.json
  std::set<std::string> unmarked_;                       ///< folders of new arrays that have no mark yet
  std::set<std::string> unsynced_texts_;  ///< zarr.json that commits wrote which were not durable
  unsigned draft_ = 1;
  ObjectEnds ends_;  ///< of all ranks; not there: this catalog alone stores chunks
  Traffic traffic_;
};

}  // namespace shoal
