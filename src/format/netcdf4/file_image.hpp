// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "format/netcdf4/file_checks.hpp"
#include "storage/journal.hpp"
#include "storage/store.hpp"

namespace shoal::netcdf4 {

/// The file as HDF5 sees it: the bytes of a store, under those that HDF5 wrote since the last commit.
///
/// It also hands out the space of the file, so that metadata and small data lie together in blocks of their
/// own, and nothing comes between the chunks of a record. All calls Local.
class FileImage {
 public:
  enum class Kind { metadata, superblock, raw };

  FileImage(std::unique_ptr<Store> store, bool writable, std::int64_t alignment);

  Store& store() { return *store_; }

  /// Whether the file in the store is of the kind that HDF5 1.10 introduced.
  bool has_superblock_of_1_10();

  /// Bytes of the image; zeros where nothing was written.
  void read(Kind kind, std::uint64_t address, std::span<std::byte> bytes);
  /// Kept in memory until commit. Raw data beyond a bound goes to the store early, new space first.
  void write(Kind kind, std::uint64_t address, std::span<const std::byte> bytes);

  /// Space for size bytes. Small pieces come from a common block; large raw ones start at a multiple of the
  /// alignment.
  std::uint64_t allocate(Kind kind, std::uint64_t size);
  /// Space at the end of the file for data that ranks write there themselves.
  std::uint64_t reserve(std::uint64_t size);
  /// Raw data lies elsewhere from now on.
  void move_raw(std::uint64_t from, std::uint64_t to, std::uint64_t size);
  /// HDF5 gives up space at the end of the file.
  void release(std::uint64_t address, std::uint64_t size);
  /// Whether space that HDF5 gives up stays taken: ranks know addresses in it.
  void keep_released(bool keep) { keeps_released_ = keep; }
  /// While it lives, HDF5 opens the file again, which may be longer than the store. It counts the end of the
  /// space from the start of the file then, and others who take space must not see that.
  class Reopening {
   public:
    explicit Reopening(FileImage& image) : image_(image) {
      image_.image_size_ = *image_.end_;
      image_.reopening_end_ = *image_.end_;
      image_.block_at_ = image_.block_end_ = 0;  // HDF5 has counted the rest of it, too
    }
    Reopening(const Reopening&) = delete;
    Reopening& operator=(const Reopening&) = delete;
    ~Reopening() { image_.reopening_end_.reset(); }

   private:
    FileImage& image_;
  };
  /// Raw data that is kept goes to the store now.
  void write_raw();

  std::uint64_t end_of_allocation() const { return reopening_end_.value_or(*end_); }
  /// The end of the allocated space is kept in *end from now on, where others may move it up to get space;
  /// nullptr: here again.
  void share_end(std::atomic<std::uint64_t>* end);
  void set_end_of_allocation(std::uint64_t end);
  /// As HDF5 compares it with what the superblock says: the file may not be shorter.
  std::uint64_t end_of_file() const;

  struct Place {
    std::uint64_t address, size;
  };
  /// While it lives, raw writes (and reads, if probing) are not done but their address is noted; the next raw
  /// allocation of the size of `forced` gets its address.
  class Tracing {
   public:
    Tracing(FileImage& image, bool probe, std::optional<Place> forced = {});
    Tracing(const Tracing&) = delete;
    Tracing& operator=(const Tracing&) = delete;
    ~Tracing();
    /// Address of the first raw access so far.
    std::optional<std::uint64_t> address() const { return image_.traced_; }

   private:
    FileImage& image_;
  };

  /// An existing file has been opened: what is allocated now is what the last commit left.
  void opened() {
    committed_end_ = *end_;
    fresh_.clear();
  }

  /// A durable commit follows: what the last commit's file does not refer to goes to the store now. It stays
  /// kept. sync: the device has it when this returns. others_take_space: ranks may move the shared end up
  /// meanwhile, so that the store keeps its size.
  void write_ahead(bool sync, bool others_take_space);
  /// Give unused space of the open block back, before HDF5 notes the end of the file in the superblock.
  void trim();
  /// Write all that is kept: first what the last commit's file does not refer to, then what changes in it, by
  /// change_in_place; durable: the device has it. each_valid: HDF5 only added records or values since the
  /// last commit, and gave no space out anew. On Error everything is still kept, and commit can be tried
  /// again. last: addresses of object headers that change after all others.
  void commit(bool durable, ChangeOrder order, std::span<const std::uint64_t> last = {});
  /// From now on nothing is kept or written.
  void abandon();

  /// Bytes that HDF5 has just read, of values (raw), of a tree or of an object's head: Error(format), if they
  /// would lead it astray.
  void check_values(std::uint64_t address, std::span<const std::byte> bytes);
  void check_tree(std::uint64_t address, std::span<const std::byte> bytes);
  void check_object(std::uint64_t address, std::span<const std::byte> bytes);
  FileChecks& checks() { return checks_; }
  /// May HDF5 open another file of that name, where virtual data sets have their values? None: it may.
  std::function<bool(const std::string& name)> may_open;
  /// HDF5 has changes, or has none since the last commit: whether it may hold other structures than the
  /// image.
  void set_changing(bool changing);
  /// For checks.
  FileChecks::Read reader();

  /// What a call of HDF5 could not pass on; rethrown by the caller of HDF5.
  void keep_failure(std::exception_ptr failure) { failure_ = std::move(failure); }
  std::exception_ptr take_failure() { return std::exchange(failure_, nullptr); }

  std::int64_t writes = 0, bytes_written = 0, reads = 0, bytes_read = 0;

 private:
  struct Extent {
    Bytes bytes;
    bool in_store = false;  // the store has the same bytes
  };
  using Extents = std::map<std::uint64_t, Extent>;  // address of the first byte, no two overlap

  struct Piece {
    std::uint64_t address;
    std::span<const std::byte> bytes;
  };

  void note_fresh(std::uint64_t from, std::uint64_t to);
  bool is_fresh(std::uint64_t address, std::uint64_t size) const;
  bool is_superblock(std::uint64_t address) const { return has_superblock_ && address == superblock_; }
  void write_fresh();
  void reach_end();
  void write_joined(std::vector<Piece>& pieces);
  void change(ChangeOrder order, bool durable, std::span<const std::uint64_t> last);
  void forget_cached(std::uint64_t address, std::uint64_t size);
  void put_extent(Extents& extents, std::uint64_t address, std::span<const std::byte> bytes);
  static std::int64_t cut(Extents& extents, std::uint64_t address, std::uint64_t size);
  static bool patch(const Extents& extents, std::uint64_t address, std::span<std::byte> bytes);
  std::size_t read_store(std::uint64_t address, std::span<std::byte> bytes);
  void read_cached(std::uint64_t address, std::span<std::byte> bytes);
  void write_store(std::uint64_t address, std::span<const std::byte> bytes);
  void write_raw_from(std::uint64_t address);
  std::uint64_t take(std::uint64_t size, std::uint64_t alignment);
  bool move_end(std::uint64_t from, std::uint64_t to);
  void spill();

  std::unique_ptr<Store> store_;
  bool writable_;
  std::uint64_t alignment_;
  std::atomic<std::uint64_t> own_end_ = 0;
  std::atomic<std::uint64_t>* end_ = &own_end_;  // end of the allocated space
  std::optional<std::uint64_t> reopening_end_;   // what HDF5 takes for it while it opens the file again
  std::uint64_t committed_end_ =
      0;  // the same at the last commit: nothing below may be given out anew as raw space
  std::uint64_t store_size_ = 0;
  std::uint64_t image_size_ = 0;                                // when HDF5 opened the image last
  std::uint64_t block_at_ = 0, block_end_ = 0, in_blocks_ = 0;  // the block that small pieces come from
  std::uint64_t superblock_ = 0;
  bool has_superblock_ = false;  // it is kept
  bool in_commit_ = false;       // the last one failed, and a journal of it may lie behind the file
  bool unsynced_ = true;         // the store has got bytes since its last sync
  Extents metadata_, raw_;
  std::map<std::uint64_t, std::uint64_t>
      fresh_;  // begin and end of space that the last commit's file does not use
  std::int64_t raw_bytes_ = 0;
  bool abandoned_ = false, keeps_released_ = false;
  bool tracing_ = false, probing_ = false;
  std::optional<std::uint64_t> traced_;
  std::optional<Place> forced_;
  std::unordered_map<std::uint64_t, Bytes> cache_;  // blocks of the store, for metadata only
  std::exception_ptr failure_;
  FileChecks checks_;
  bool changing_ = false;
};

}  // namespace shoal::netcdf4
