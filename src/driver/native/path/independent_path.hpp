// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/pack_fields.hpp"
#include "driver/native/chunk_addresses.hpp"
#include "driver/native/context.hpp"
#include "driver/native/path/waiting_cells.hpp"

namespace shoal {

/// The path of cells that one rank writes or reads alone, without the others (Driver::store, Driver::fetch).
///
/// Cells go to the file at once where that is right: this rank knows their place, nobody has still to fill
/// what lies around them, and nothing that ranks wrote together to the variable is on its way. All others
/// wait in this rank's memory, in the order of calls, until ranks complete pending writes.
class IndependentPath {
 public:
  IndependentPath(const NativeContext& context, ChunkAddresses& addresses)
      : context_(context), addresses_(addresses) {}

  /// As Driver. Local.
  void store(int v, const Box& box, const std::byte* cells);
  void fetch(int v, const Box& box, std::byte* values);

  /// Do cells wait for the other ranks?
  bool waits() const { return !waiting_.empty(); }
  /// Ranks write the region together, or put it: what waits of it is old. written: the part of it that this
  /// rank knows to be written. Error(state): others of these cells may be such that keep their values, since
  /// no rank has them. Local.
  Status supersede(int v, const Box& region, const Box& written);
  /// Stores what waits on any rank; it is in the file on all ranks when this returns. The Status is of this
  /// rank. Collective.
  Status store_waiting();
  /// Makes the regions ready for cells that come alone: puts are in the file, chunks have a place, and cells
  /// the fill value where nobody wrote. Error on all ranks alike. Collective.
  /// On Error nothing has changed: what got a place has none again.
  void make_ready(const std::map<int, Box>& regions);
  /// The same of new variables that ranks are going to write alone, as a whole. Where it fails, they are not
  /// ready yet: their cells wait, and make_rest_ready tries it again. Collective.
  void make_new_ready(const std::map<int, Box>& regions);
  /// To be called after a commit that left the file whole. Collective, where any are not ready.
  void make_rest_ready();

  /// The file has been committed as ranks know it.
  void note_committed();
  /// Records were taken back, or may have been: their chunks may get another address.
  void forget_addresses();

 private:
  /// Visits the runs of a box, whose cells lie row-major in memory. addresses: of its chunks; empty: by the
  /// placement's rule.
  void for_each_run(int v, const Box& box, const Numbered<Location>& addresses,
                    const std::function<void(const Extent&)>& visit) const;
  void store_at(int v, const Box& box, const std::byte* cells, const Numbered<Location>& addresses);
  Status store_each_waiting();
  std::map<int, Box> regions_of_all() const;

  void require_one_view_of_file() const;
  bool is_pending(int v) const;
  /// The addresses for a write at once; nothing: the cells must wait.
  std::optional<Numbered<Location>> place_of(int v, const Box& box);
  /// Addresses as far as there are any; nothing: this rank does not know.
  std::optional<Numbered<Location>> find(int v, const Box& box);
  bool is_placed_by_rule(int v) const;
  void keep_addresses(int v, const Box& chunks, const Numbered<Location>& addresses);

  /// What the owner gave a variable.
  struct Given {
    int variable = 0;
    std::vector<Location> addresses;  ///< of its chunks in the region; empty: the placement's rule says them
    std::vector<char> fresh;          ///< which of them they have just now
    std::vector<Box> gaps;            ///< cells in the region that were never written, as the owner knows

    template <class Writer>
    void pack(Writer& out) const {
      put_all(out, variable, addresses, fresh, gaps);
    }
    template <class Reader>
    void unpack(Reader& in) {
      get_all(in, variable, addresses, fresh, gaps);
    }
  };
  void give_places(const std::map<int, Box>& regions, std::vector<Given>& given);
  void take_places(const Given& given, const Box& chunks);
  void give_back_places(const Given& given, const Box& chunks);
  Box chunks_in(int v, const Box& region) const;
  void fill(const Given& given, const Box& region, std::int64_t& part);
  void fetch_stored(int v, const Box& box, std::byte* cells);

  const NativeContext& context_;
  ChunkAddresses& addresses_;
  WaitingCells waiting_;
  struct IndexLess {
    bool operator()(const Dims& a, const Dims& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };
  std::map<int, std::map<Dims, Location, IndexLess>> known_;  ///< chunks with an address
  std::size_t known_count_ = 0;
  std::map<int, Box> unready_;  ///< new variables that could not be made ready, the same on all ranks
  int committed_variables_ = 0;
};

}  // namespace shoal
