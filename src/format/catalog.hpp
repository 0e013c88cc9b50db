// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/pack_fields.hpp"
#include "format/placement.hpp"
#include "format/schema.hpp"
#include "storage/container.hpp"
#include "storage/object_ends.hpp"

namespace shoal {

/// Which cells that nobody writes get the fill value (setting fill).
enum class FillMode {
  all,      ///< those of all variables, but such as are defined without fill
  written,  ///< those that nobody owns of a field that is written; new variables have no fill unless they ask
  none      ///< none, of new variables
};

/// When a field is written again, do cells that nobody owns keep what the file has? Else they get the fill
/// value.
inline bool keeps_unowned(FillMode mode, const VariableDef& variable) {
  return mode == FillMode::none || (mode == FillMode::all && variable.no_fill);
}

/// Values of a netCDF-4 file may lie in other files (setting external_files).
enum class ExternalFiles {
  folder,  ///< those in the folder of the file, or below
  refuse,  ///< none
  allow,   ///< all
};

/// Has a variable that was found in a file no fill, where the format does not say? With _FillValue it has.
inline bool found_without_fill(const VariableDef& variable, FillMode mode) {
  return mode == FillMode::written && find_attribute(variable.attributes, "_FillValue") == nullptr;
}

struct CatalogOptions {
  std::int64_t header_reserve =
      64 * 1024;  ///< classic: free bytes kept behind the header for later definitions
  std::int64_t alignment =
      4096;  ///< data of distributed variables starts at multiples (classic; netcdf4 for large objects)
  std::int64_t chunk_bytes =
      4 * 1024 * 1024;  ///< netcdf4: target size of a default chunk of a distributed variable
  std::int64_t shard_bytes =
      256 * 1024 * 1024;  ///< zarr: target size of the shards of a distributed variable
  FillMode fill = FillMode::all;
  bool for_hdf5_1_8 = false;  ///< netcdf4: new files can be read with HDF5 1.8
  ExternalFiles external_files = ExternalFiles::folder;
};

/// Where a chunk lies, and how many bytes it has there after filters.
struct StoredChunk {
  Location address = k_nowhere;
  std::uint64_t bytes = 0;
  std::uint32_t left_out = 0;  ///< bit i: the chunk did not go through filter i
};

/// A chunk that somebody stored.
struct NewChunk {
  Dims index;
  StoredChunk stored;

  template <class Writer>
  void pack(Writer& out) const {
    put_all(out, index, stored);
  }
  template <class Reader>
  void unpack(Reader& in) {
    get_all(in, index, stored);
  }
};

/// The header of one file: what is in it and where. Lives on the catalog owner, one rank; every call is Local
/// to it.
///
/// Data of distributed variables never passes through a catalog: it says where bytes go (`placement`,
/// `place`), and ranks write there. Nothing a catalog does reaches the file before `commit`, except space
/// reserved at its end, so that a file killed at any moment opens as it was at the last commit.
class Catalog {
 public:
  virtual ~Catalog() = default;

  virtual const Schema& schema() const = 0;

  /// Make the file agree with `wanted`, which is schema(), with wanted.changes made to it, plus new
  /// dimensions, variables and attributes (or attributes with new values). Dimensions and variables keep
  /// their order. The whole is checked before anything is changed; on Error the catalog is as before. Errors
  /// name the variable or attribute; a variable that is too large for the format (cdf1: 2 GiB, cdf2: 4 GiB
  /// rules of the classic formats) is refused with the format to use; what has no place (has_place) likewise.
  /// Records that
  /// were written through placements since the last commit have to be reported with grow before; placements
  /// of record variables may have changed afterwards if there were none.
  virtual void define(const Schema& wanted) = 0;
  /// Would define find a place for it? Classic formats: not where a header outgrows the space in front of the
  /// data, or a variable would have to go between others; then the data must move to a new file first. Errors
  /// and what comes before as of define; nothing is changed.
  virtual bool has_place(const Schema& /*wanted*/) { return true; }

  virtual Placement placement(int variable) const = 0;

  /// Addresses of the chunks in the box of chunks (indices in the chunk grid, row-major order of the box),
  /// for Kind::listed, or of the one chunk of a Kind::regular variable whose begin is k_unplaced. place
  /// allocates those that are missing, without writing to them (`fresh` gets, for each, whether it was
  /// allocated now: its content is undefined until somebody writes it); the unlimited dimensions grow so that
  /// `cells` (a box of the variable) is inside. find returns k_nowhere for missing ones.
  virtual std::vector<Location> place(int variable, const Box& chunks, const Box& cells,
                                      std::vector<bool>& fresh) = 0;
  virtual std::vector<Location> find(int variable, const Box& chunks) = 0;
  /// What place gave in a call could not be filled, and nobody stored cells there: the chunks that were fresh
  /// have no place any more. No find gives them and no commit shows them, until place gives them, as fresh.
  virtual void unplace(int variable, const Box& chunks, const std::vector<bool>& fresh);
  /// The same with what is stored there, also for chunks that went through filters. Error(not_supported): the
  /// variable is not stored in chunks.
  virtual std::vector<StoredChunk> stored_chunks(int variable, const Box& chunks);

  /// Kind::encoded: ranks stored these chunks themselves, in space that they took from the file's end. They
  /// are in the file with the next commit, as far as the unlimited dimensions reach them then.
  virtual void enter(int variable, const std::vector<NewChunk>& chunks);
  /// The ends of the file, or of its objects, are kept here from now on, where ranks may take space for
  /// chunks by moving them up; all empty: the catalog keeps them again.
  virtual void share_space(const SharedSpace& /*space*/) {}
  /// Kind::encoded, in a dataset of many objects: opens those that these chunks go to (ObjectEnds), for
  /// ranks that will store them.
  virtual void open_objects(int variable, const Box& chunks);

  /// Put or get values of one box of a variable, any kind of placement; contiguous, row-major, of the
  /// variable's type in memory order. put makes unlimited dimensions grow. get gives the fill value where
  /// nothing was written. Cells outside of the current shape: Error(not_found).
  virtual void put(int variable, const Box& box, const std::byte* values) = 0;
  virtual void get(int variable, const Box& box, std::byte* values) = 0;
  virtual void put_strings(int variable, const Box& box, const std::vector<std::string>& values) = 0;
  virtual std::vector<std::string> get_strings(int variable, const Box& box) = 0;

  /// The unlimited dimension `dim` has at least `length` records (others wrote them through placements).
  virtual void grow(int dim, std::int64_t length) = 0;

  /// The unlimited dimension `dim` has no more than `length` records after all: bytes of later ones were
  /// lost. What was placed for them stays reserved, and is no place until place gives it again, as fresh;
  /// nothing of them is committed, and what was put is given up. Never goes below what was committed.
  virtual void take_back(int dim, std::int64_t length) = 0;

  /// What was put to the variable so far and waits in memory goes to the file now, so that ranks may read and
  /// overwrite it there (values of other variables may go along). Headers stay as committed. Nothing to do
  /// for Kind::library, which ranks cannot touch.
  virtual void write_out(int variable) = 0;

  /// Ranks are going to write to the variable through its placement, though it was not defined as
  /// `distributed` (it was found in the file, or defined without a decomposition): call this on the owner
  /// before they do. The catalog then no longer fills it.
  virtual void set_distributed(int /*variable*/) {}

  /// (Fill values, classic formats: variables that are not `distributed` are filled by the catalog itself,
  /// when defined and when records are added, unless no_fill; those that are, by whoever calls place or
  /// writes. netcdf4: HDF5 knows the fill value of what was never placed.)

  /// A durable commit follows: what was put and no reader can see yet may go to the file (sync: to the
  /// device) now, when ranks bring theirs there. As good as nothing if the commit fails.
  virtual void write_ahead(bool /*sync*/) {}
  /// Bring the header and all that was put to the file, in few writes; durable: also to the device.
  virtual void commit(bool durable) = 0;
  /// commit, then give back the store's handle. Without it (destructor) nothing more is written.
  virtual void close(bool durable) = 0;

  /// Calls and bytes written to and read from the store by this catalog itself.
  struct Traffic {
    std::int64_t writes = 0, bytes_written = 0, reads = 0, bytes_read = 0;
  };
  virtual Traffic traffic() const = 0;
};

/// Recognise the format by its first bytes, or, for raw and ascii, by the header file beside it;
/// Error(format) names the file and what it starts with.
Format recognise(Store& store);
/// A new, empty catalog on an empty store.
std::unique_ptr<Catalog> create_catalog(Format format, std::unique_ptr<Store> store,
                                        const CatalogOptions& options);
/// The same of the dataset at a path, which is made (mode: create or create_exclusive). open_folder: of a
/// format of many objects; none: a folder of files that `open` opens.
std::unique_ptr<Catalog> create_catalog(Format format, const std::string& path, const StoreOpener& open,
                                        StoreMode mode, const CatalogOptions& options,
                                        const ContainerOpener& open_folder = {});
/// The catalog of an existing file. The file needs to be whole: a header that points behind the end of the
/// file is an Error(format), except for missing trailing data of the last record in classic files (reads as
/// fill).
std::unique_ptr<Catalog> open_catalog(std::unique_ptr<Store> store, bool writable,
                                      const CatalogOptions& options);
/// The same of the dataset at a path: a file, or a folder of objects.
std::unique_ptr<Catalog> open_catalog(const std::string& path, const StoreOpener& open, bool writable,
                                      const CatalogOptions& options, const ContainerOpener& open_folder = {});

/// Finish what a killed job left half done in the file, if it is a NetCDF file then; else Error(format), and
/// nothing is changed. Returns whether there was anything to finish. Local.
bool finish_commit(Store& store);
/// The same for a file that nobody has open, once it is known that it can be read then. Local.
bool recover_file(const StoreOpener& open, const std::string& path);

/// The classic formats (own codec), netcdf4 (HDF5), and raw and ascii (a header file beside the data); chosen
/// by the functions above (FormatTraits).
std::unique_ptr<Catalog> create_classic_catalog(Format format, std::unique_ptr<Store> store,
                                                const CatalogOptions& options);
std::unique_ptr<Catalog> open_classic_catalog(std::unique_ptr<Store> store, bool writable,
                                              const CatalogOptions& options);
std::unique_ptr<Catalog> create_netcdf4_catalog(Format format, std::unique_ptr<Store> store,
                                                const CatalogOptions& options);
std::unique_ptr<Catalog> open_netcdf4_catalog(std::unique_ptr<Store> store, bool writable,
                                              const CatalogOptions& options);
std::unique_ptr<Catalog> create_raw_catalog(Format format, std::unique_ptr<Store> store,
                                            const CatalogOptions& options);
std::unique_ptr<Catalog> open_raw_catalog(std::unique_ptr<Store> store, bool writable,
                                          const CatalogOptions& options);

}  // namespace shoal
