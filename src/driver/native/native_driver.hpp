// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/driver.hpp"
#include "driver/native/chunk_addresses.hpp"
#include "driver/native/chunk_order.hpp"
#include "driver/native/context.hpp"
#include "driver/native/partial_chunk_buffer.hpp"
#include "driver/native/path/direct_path.hpp"
#include "driver/native/path/field_queue.hpp"
#include "driver/protocol.hpp"

namespace shoal {

/// Shoal's own way: rank 0 keeps the header (catalog), the ranks of a node assemble fields in shared memory
/// and store them where the catalog says. docs/design.md tells the story.
class NativeDriver final : public Driver {
 public:
  /// Collective.
  NativeDriver(const Comm& comm, const std::string& path, OpenMode mode, Format format,
               const DriverOptions& options);

  NativeDriver(const NativeDriver&) = delete;
  NativeDriver& operator=(const NativeDriver&) = delete;
  ~NativeDriver() override { staged_.drop(); }

  const Schema& schema() const override { return header_.schema(); }
  const Placement& placement(int variable) const override { return header_.placement(variable); }
  const Counters& counters() const override { return counters_; }

  void define(const Schema& wanted, const Cuts& cuts) override;
  void prepare(const std::shared_ptr<const Decomposition>& decomposition) override;
  void write(const Transfer& transfer) override;
  void read(const Transfer& transfer) override;
  void put(int variable, const Box& box, const std::byte* values, const std::vector<std::string>& strings,
           const Status& status) override;
  void get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings,
           const Status& status) override;
  CallMatch match_calls(const Comm& comm, const CallSignature& signature) override;
  Status failure() const override;
  void sync(bool durable) override;
  void submit_pending() override;
  bool whole() const override { return state_.file() == FileState::whole; }
  void close(bool durable) override;

 private:
  /// Do ranks need a message to learn where the bytes of a write go?
  bool places_by_message() const {
    return !rearrangers_.one_stage() && !interleaves_records(header_.schema().format);
  }

  void check_threads() const;
  void keep(Status status) { state_.defer(std::move(status)); }
  /// The others do not wait for this rank now: they learn of it where ranks match calls next.
  void skip_write(const Status& why);
  void recover();

  FieldJob job_to_write(const Transfer& transfer) const;
  bool goes_direct(const FieldJob& job) const;
  Status store(const FieldJob& job, bool rearranges);
  bool goes_together(const FieldJob& job);
  bool must_match(const Transfer& transfer) const;
  bool changes_path(const FieldJob& job, bool rearranges) const;
  void keep_order(const FieldJob& job, bool rearranges);
  Status check_encoding(const FieldJob& job);
  /// Must chunks of before be down, as what they have must be known before they are written?
  bool must_complete_chunks(const FieldJob& job) const;
  /// Chunks that wait for more cells are stored first, where the call cannot wait for them. Collective if it
  /// does that.
  void complete_earlier_chunks(const FieldJob& job);
  Status store_encoded(const FieldJob& job);
  Status store_chunks(const FieldJob& job);
  /// How chunks are put together on ranks: of one decomposition, for one shape of chunks and region.
  struct ChunkPlan {
    std::shared_ptr<const Decomposition> decomposition;
    std::vector<std::int64_t> key;
    std::shared_ptr<const Decomposition> map;
    std::unique_ptr<Rearranger> rearranger;
    bool reported = false;  ///< in the report
  };
  /// Collective, as all that needs several nodes.
  Status send_chunks(const FieldJob& job);
  /// Are chunks put together and taken apart by who compresses, and cells sent?
  bool sends_chunks(const FieldJob& job) const;
  /// Of a tile (row-major, as the variable's type) or of a map. more: halos.
  Status fetch_chunks(const FieldJob& job, bool more);
  const std::vector<int>& coders();
  NodeMessages* chunk_messages();
  ChunkPlan& chunk_plan_of(const FieldJob& job, const ChunkOrder& order, bool more);
  static Transfer in_chunk_order(const FieldJob& job, const ChunkOrder& order, const ChunkPlan& chunk_plan);
  Transfer packed_chunks(const FieldJob& job, const ChunkOrder& order, const ChunkPlan& chunk_plan,
                         Status& status);
  template <class Visit>
  void for_each_chunk(const FieldJob& job, const ChunkOrder& order, const Box& piece, std::byte* cells,
                      Visit&& visit);
  void store_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece, std::byte* cells,
                   Status& status);
  void load_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece, std::byte* cells);
  void clear_piece(const FieldJob& job, const ChunkOrder& order, const Box& piece, std::byte* cells);
  /// One part of chunks that are not whole; the rest of their cells stays. Collective.
  void store_part(const Transfer& part);
  /// The catalog learns of the encoded chunks that ranks stored. Collective.
  void enter_stored();

  /// The report's line of chunks that were sent, the first time. Collective.
  void report_sent_chunks(const FieldJob& job, const ChunkOrder& order, ChunkPlan& chunk_plan);

  /// How a field goes where cells may be sent.
  struct Route {
    bool matches = true;                   ///< ranks must come together first
    std::optional<Rearranger::Plan> plan;  ///< it can wait for others, and goes with them
    bool after_queue = false;  ///< not before all that waited is stored: some of it has the same cells
  };
  /// The same on all ranks that made the same calls. Local.
  Route route_of(const FieldJob& job) const;
  bool all_wrote_the_same() const;
  /// What ranks know who are to write together; fields that waited have gone. Collective.
  Status match_write(const Transfer& transfer);
  Status match_queued_write(std::uint64_t details, const Status& mine);
  /// Where threads of several nodes store, ranks ask each other for what failed, once they have written as
  /// much as all stages hold. Error on all ranks, in the same call.
  void ask_others();

  Status fetch_tiles(const FieldJob& job);
  void write_out_puts(int variable);

  /// Ranks match calls, and find out whether they wrote the same; then everything that was written is in the
  /// file. Collective.
  void complete_pending(const char* does);
  bool store_rest();
  bool compare();
  int mismatched_writer() const;
  Status read_by_library(const FieldJob& job);
  Status read_field(const Transfer& transfer);
  void agree_on_read(const Status& status);
  void commit(bool durable, bool final);

  const Comm& comm_;
  DriverOptions options_;
  Counters counters_;
  bool writable_;
  NativeFile file_;
  RankGroups groups_;
  FileHeader header_;
  CollectiveState state_;
  RecordState records_;
  FieldStrategies strategies_;
  const NativeContext context_;
  ChunkAddresses addresses_;
  StagedPath staged_;
  DirectPath direct_;
  SendBuffers buffers_;
  NativeRearrangers rearrangers_;
  RearrangedPath rearranged_;
  FieldQueue queue_;
  std::optional<PartialChunkBuffer> parts_;
  std::optional<DecodedChunks> decoded_;  ///< of this rank, where parts of chunks are read
  std::vector<int> coders_;               ///< who compresses what lies on several nodes
  CountedMessages chunk_messages_;
  std::deque<ChunkPlan> chunk_plans_;
  std::map<int, Encoder> encoders_;  ///< by variable
  Bytes encoded_;                    ///< chunks of a piece
  std::uint64_t chunk_writes_ = 0;   ///< calls, the same on all ranks
  std::vector<StoredPiece> stored_;  ///< that this rank stored, besides the writer
  /// What ranks that match calls before they write do, in messages to others that make another call.
  static constexpr const char* k_writes = "writes";
};

}  // namespace shoal
