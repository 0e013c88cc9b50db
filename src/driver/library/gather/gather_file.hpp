// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "driver/library/gather/serial_file.hpp"
#include "driver/library/library_file.hpp"

namespace shoal {

/// The driver gather: rank 0 alone has the file, and collects everything. Fields go slab by slab, in file
/// order; each rank sends its part of a slab by a blocking message (reading: rank 0 sends). Memory on rank 0:
/// a slab and a part of one, together at most stage_bytes if that is set, else 32 MiB.
class GatherFile final : public LibraryFile {
 public:
  /// Makes or opens the file of the context. Collective.
  explicit GatherFile(const LibraryContext& context);

 private:
  LibraryTraits traits() const override;
  bool has_place(const Schema& wanted) override;
  void extend(const Schema& wanted, std::vector<Placement>& placements) override;
  void about_to_store(const StoreRegion& next) override { keeps_unowned_ = next.keeps_unowned; }
  void store(int variable, const Box& box, const std::byte* cells) override;
  void load(int variable, const Box& box, std::byte* cells, bool overlapping) override;
  void store_replicated(int variable, const Box& box, const std::byte* values) override;
  void store_strings(int variable, const Box& box, const std::vector<std::string>& values) override;
  void load_replicated(int variable, const Box& box, std::byte* values, bool all) override;
  std::vector<std::string> load_strings(int variable, const Box& box) override;
  void complete_pending() override;
  void commit(bool durable, bool closing) override;
  void close(bool durable) override;
  Status damage() const override { return file_ ? file_->damage() : Status{}; }

  /// The boxes of all ranks in one call.
  struct GatheredBoxes {
    std::vector<Box> boxes;  ///< [ranks]; on rank 0 alone
    Box all;                 ///< their bounding box
  };
  struct Part {
    int rank = 0;
    Box cells;
  };

  GatheredBoxes gather_boxes(const Box& mine) const;
  static std::vector<Part> parts_of(const GatheredBoxes& gathered, const Box& slab);
  template <class Visit>
  void for_each_slab(const Box& all, Type type, Visit&& visit) const;

  /// Some of the cells of a call, which rank 0 has in slab_.
  struct Slab {
    const Box& cells;
    std::vector<Part> parts;
    Type type;
    Status& status;  ///< of the call so far
  };
  template <class OnRoot, class Elsewhere>
  void for_each_slab_of_ranks(int variable, const Box& box, OnRoot&& on_root, Elsewhere&& elsewhere);
  /// Between the slab and the file, and the slab and all ranks' cells; `mine` are rank 0's, of the box.
  void collect(int variable, const Slab& slab, const std::byte* mine, const Box& box);
  void spread(int variable, const Slab& slab, std::byte* mine, const Box& box);
  /// The cells of a part, which lie row-major in the box.
  void send(const Box& part, Type type, const std::byte* cells, const Box& box, int to);
  void receive(const Box& part, Type type, std::byte* cells, const Box& box, int from);
  void note_memory();

  const LibraryContext& context_;
  std::unique_ptr<SerialFile> file_;  ///< on rank 0
  Bytes slab_;                        ///< on rank 0
  Bytes part_;                        ///< of a slab, on its way
  bool keeps_unowned_ = false;        ///< of the next store
};

}  // namespace shoal
