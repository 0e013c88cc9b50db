// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "driver/free_space_guard.hpp"
#include "driver/protocol.hpp"
#include "driver/rearrangers.hpp"
#include "pack/cells.hpp"
#include "pack/scratch_buffer.hpp"
#include "rearrange/io_ranks.hpp"

namespace shoal {

/// A driver that hands boxes of cells to another library: what all such drivers have in common. Ranks match
/// calls before each call of the library, so that one whose arguments are bad, or that makes another call,
/// never leaves the others waiting in it. Memory: this rank's cells of one field, packed, unless the model's
/// array can be handed on as it is. Fields cut by maps are rearranged first: I/O ranks hand on even boxes of
/// them, with fill values where nobody owns cells, at most 32 MiB of them at a time, and have at most twice
/// as much in messages (less where stage_bytes is set to less).
class BoxDriver : public Driver {
 public:
  const Schema& schema() const final { return schema_; }
  const Placement& placement(int variable) const final {
    return placements_.at(static_cast<std::size_t>(variable));
  }
  const Counters& counters() const final { return counters_; }

  void define(const Schema& wanted, const Cuts& cuts) final;
  void prepare(const std::shared_ptr<const Decomposition>& decomposition) override;
  void write(const Transfer& transfer) final;
  void read(const Transfer& transfer) final;
  void put(int variable, const Box& box, const std::byte* values, const std::vector<std::string>& strings,
           const Status& status) final;
  void get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings,
           const Status& status) final;
  void sync(bool durable) final;
  bool whole() const final { return state_.file() == FileState::whole; }
  void close(bool durable) final;

 protected:
  /// For an existing file: reads the header with Shoal's own catalog, on rank 0, and gives it to all ranks,
  /// so that no driver has to ask its library. Collective. The derived constructor then opens or creates the
  /// file.
  BoxDriver(const Comm& comm, std::string path, OpenMode mode, Format format, const DriverOptions& options);

  // What the library does. All hooks are called by all ranks in the same order, unless it says otherwise;
  // they throw where they fail, on one rank or on all.

  /// Bring the file from schema() to wanted, which is schema() plus new dimensions, variables and attributes
  /// (or attributes with new values). May set placements_.
  virtual void extend(const Schema& wanted) = 0;
  /// Cells of this region of the variable are stored next, by calls of store, or (replicated) of
  /// store_replicated or store_strings. The region is the same on all ranks.
  virtual void about_to_store(int /*variable*/, const Box& /*region*/, bool /*replicated*/) {}
  /// After extend: what the library made of the definitions (chunk shapes).
  virtual void describe(Schema& /*schema*/) {}
  /// How store and load have distributed cells.
  virtual Element stored(int variable) const {
    const Type type = schema_.variables[static_cast<std::size_t>(variable)].type;
    return {type, size_of(type), false};
  }
  /// Distributed cells, row-major. An empty box: this rank has none. The memory may be used again when store
  /// returns; `queue` drivers keep a copy.
  virtual void store(int variable, const Box& box, const std::byte* cells) = 0;
  virtual void load(int variable, const Box& box, std::byte* cells) = 0;
  /// Replicated values: rank 0 has the box, for others it is empty. (The box of a scalar has no dimensions
  /// and is never empty: look at the rank.)
  virtual void store_replicated(int variable, const Box& box, const std::byte* values) = 0;
  virtual void store_strings(int variable, const Box& box, const std::vector<std::string>& values);
  /// all: every rank reads for itself; otherwise rank 0 alone has a box.
  virtual void load_replicated(int variable, const Box& box, std::byte* values, bool all) = 0;
  virtual std::vector<std::string> load_strings(int variable, const Box& box);  ///< on rank 0 alone
  /// Everything stored can be read back by all ranks.
  virtual void complete_pending() {}
  /// The file is whole as it is now, for other programs too; durable: the device has it. closing():
  /// close_file comes next.
  virtual void commit(bool durable) = 0;
  virtual void close_file() = 0;
  /// The first failure of the library to write after which nobody knows what it keeps and what of that is in
  /// the file: nothing that is written later makes the file whole again. sync and close report it each time.
  /// Local; also after close_file.
  virtual Status damage() const { return {}; }
  /// Does the library itself give cells that nobody writes their fill value?
  virtual bool fills() const = 0;
  /// Does store change the memory it is given, if only for the time of the call? Then it never gets the
  /// model's own array.
  virtual bool changes_cells() const { return false; }
  /// Must all ranks come to the next call of store? Otherwise ranks do not match calls in write, and one that
  /// could not take part is found when the file is synced. The same on all ranks; may change in calls
  /// that are matched.
  virtual bool stores_together() const { return true; }
  /// Where the cells of the next store are packed; asked after about_to_store. Drivers that queue can have
  /// them packed to where they are kept.
  virtual std::byte* buffer_for_cells(std::size_t bytes) { return packed_.of(bytes); }
  /// Which ranks hand on boxes of fields that are cut by maps, unless settings say so.
  virtual std::vector<int> usual_io_ranks() const { return choose_io_ranks(comm_, options_); }
  /// The most bytes that one call of store or load takes; larger fields come in pieces.
  virtual std::int64_t most_bytes() const { return std::numeric_limits<std::int64_t>::max(); }

  /// For constructors of drivers whose ranks all store: a warning where several nodes had better not.
  /// Collective.
  void warn_of_sharing();
  /// For constructors of drivers whose library writes by MPI-IO: rank 0 looks for room on the device before
  /// variables are defined and fields are written. reports_to_nobody: and after, as the library may say
  /// nothing of bytes that had none. Only where a rank sees at once what others stored.
  void watch_device(bool reports_to_nobody);
  /// For constructors of drivers that create files through MPI-IO: stripes that are asked for become hints.
  void stripe_by_hints();
  /// Do other nodes see what was stored only once it is flushed?
  bool must_flush() const { return where_.sharing == FileSystem::Sharing::close_to_open; }
  const FileSystem& where() const { return where_; }

  /// Error(not_supported): the file that was opened is of another format, and a driver that reads it. For
  /// constructors.
  void require_format(const char* driver, std::initializer_list<Format> held) const;

  const Comm& comm() const { return comm_; }
  const std::string& path() const { return path_; }
  const DriverOptions& options() const { return options_; }
  bool writable() const { return writable_; }
  bool fresh() const { return fresh_; }  ///< made now, not opened
  /// Multiples of cells at which pieces had best begin.
  Dims alignment(int v) const;
  const VariableDef& variable(int v) const { return schema_.variables.at(static_cast<std::size_t>(v)); }
  /// Do cells that nobody owns stay as they are in the file?
  bool keeps_unowned(int v) const { return variable(v).no_fill || !options_.catalog.fill; }
  Counters& count() { return counters_; }
  /// Within load: do ranks read the same cells (halos)? The same on all ranks.
  bool overlapping() const { return overlapping_; }
  bool closing() const { return closing_; }
  /// Had the variable, when the file was opened, chunks without a place in the file (or is that
  /// unknown)?
  bool has_holes(int v) const {
    return static_cast<std::size_t>(v) < holes_.size() && holes_[static_cast<std::size_t>(v)] != 0;
  }

  std::vector<Placement> placements_;  ///< for inquiries; filled in where a driver knows

 private:
  void keep(Status status, int variable);
  void keep_damage();
  /// about_to_store, of a region of which all cells will be in the file.
  void begin_storing(int variable, const Box& region, bool replicated);
  bool compare();
  const std::byte* packed_cells(const Transfer& transfer, const Box& box);
  /// The box in the pieces that the library takes, and on all ranks as many: visit gets each and where its
  /// cells are in the packed box.
  template <class Visit>
  void in_pieces(int variable, const Box& region, const Box& box, bool together, Visit&& visit);
  void fill_box_of(int variable, const Box& box, bool replicated);
  std::vector<RecordFillTracker::Gap> gaps(bool any_skipped);
  void fill_unowned(const Transfer& transfer, std::int64_t had, bool together);
  /// A map, and which cells of a block it stands for.
  struct Rearranged {
    std::shared_ptr<const Decomposition> decomposition;
    bool halo = false;
    std::shared_ptr<const Decomposition> map;  ///< of a map: itself
    Rearranger* rearranger = nullptr;
  };
  Rearranged& rearranged(const std::shared_ptr<const Decomposition>& decomposition, bool halo = false);
  /// Do other ranks than those that have cells of the field hand it on?
  bool rearranges(const Transfer& transfer) const;
  std::int64_t kept_records(const Transfer& transfer);
  void write_map(const Transfer& transfer, Rearranger& rearranger);
  void write_tiles(const Transfer& transfer);
  Status read_map(const Transfer& transfer, Rearranger& rearranger);
  Status read_tiles(const Transfer& transfer);
  void fill_gaps(bool any_skipped);
  Status find_free_space(const Schema& schema, std::int64_t more, std::int64_t new_cells);
  void finish(bool durable, bool final);

  const Comm& comm_;
  std::string path_;
  DriverOptions options_;
  FileSystem where_;
  bool writable_;
  bool fresh_;
  Schema schema_;
  CollectiveState state_;
  RecordState records_{true};
  Counters counters_;
  std::vector<char> holes_;
  bool overlapping_ = false;
  bool closing_ = false;
  std::optional<FreeSpaceGuard> device_;
  bool reports_to_nobody_ = false;
  ScratchBuffer packed_;
  struct Kept {
    std::shared_ptr<const Decomposition> decomposition;
    std::vector<Box> unowned;
  };
  std::vector<Kept> decompositions_;
  std::optional<Rearrangers> rearrangers_;  ///< once they are asked for
  std::vector<Rearranged> maps_;
  ScratchBuffer
      tile_;  ///< this rank's cells of a field that goes through I/O ranks though it is cut into tiles
};

/// Calls visit for the dimensions, variables and attributes that wanted has beyond schema (or with other
/// values), in the order in which a library can define them.
struct DefinitionVisitor {
  virtual ~DefinitionVisitor() = default;
  virtual void dimension(int index, const Dimension& dim) = 0;
  virtual void variable(int index, const VariableDef& definition) = 0;
  /// variable -1: of the file.
  virtual void attribute(int variable, const Attribute& attribute) = 0;
};
void for_each_new(const Schema& schema, const Schema& wanted, DefinitionVisitor& visitor);

}  // namespace shoal
