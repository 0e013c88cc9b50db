// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/catalog.hpp"
#include "format/netcdf4/contents.hpp"
#include "format/netcdf4/file_image.hpp"
#include "format/netcdf4/other_files.hpp"

namespace shoal::netcdf4 {

/// The catalog of a netCDF-4 file: HDF5's C library does the metadata, over a FileImage that keeps what it
/// writes until commit.
///
/// Chunks that `place` gives out are space at the end of the file; HDF5 hears of them when they come inside
/// of the variable's shape, at the latest at commit. So chunks of future records can be given out, and no
/// commit shows them too early.
class Netcdf4Catalog final : public Catalog {
 public:
  /// A new file (format netcdf4 or netcdf4_classic) on an empty store.
  Netcdf4Catalog(Format format, std::unique_ptr<Store> store, const CatalogOptions& options);
  /// An existing file.
  Netcdf4Catalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options);
  ~Netcdf4Catalog() override;

  const Schema& schema() const override { return contents_.schema; }
  void define(const Schema& wanted) override;
  Placement placement(int variable) const override;
  std::vector<Location> place(int variable, const Box& chunks, const Box& cells,
                              std::vector<bool>& fresh) override;
  std::vector<Location> find(int variable, const Box& chunks) override;
  void unplace(int variable, const Box& chunks, const std::vector<bool>& fresh) override;
  std::vector<StoredChunk> stored_chunks(int variable, const Box& chunks) override;
  void enter(int variable, const std::vector<NewChunk>& chunks) override;
  void share_space(const SharedSpace& space) override { image_->share_end(space.file_end); }
  void put(int variable, const Box& box, const std::byte* values) override;
  void get(int variable, const Box& box, std::byte* values) override;
  void put_strings(int variable, const Box& box, const std::vector<std::string>& values) override;
  std::vector<std::string> get_strings(int variable, const Box& box) override;
  void grow(int dim, std::int64_t length) override;
  void take_back(int dim, std::int64_t length) override;
  void write_out(int variable) override;
  void write_ahead(bool sync) override;
  void commit(bool durable) override;
  void close(bool durable) override;
  Traffic traffic() const override;

 private:
  // Runs work with HDF5 silent; an Error gets the file's and the variable's name, and a store's own error
  // comes before HDF5's.
  template <class Work>
  auto guarded(int variable, Work&& work) const {
    const QuietErrors quiet;
    try {
      return work();
    } catch (const Error&) {
      rethrow(variable);
    }
  }
  [[noreturn]] void rethrow(int variable) const;

  StoredVariable& stored(int variable) { return contents_.variables[variable]; }
  const VariableDef& def(int variable) const { return contents_.schema.variable(variable); }
  void check_late_fill(const Schema& wanted);
  void require_open() const;
  void require_writable() const;
  void require_variable(int variable) const;
  void require_type(int variable, bool strings) const;
  void require_inside(int variable, const Box& box, bool may_grow) const;
  void check_strings(int variable, const Box& box);
  void check_sources(int variable, const Box& box);

  bool known_chunk(const StoredVariable& stored, const Dims& index) const;
  std::uint64_t look_up(int variable, const Dims& index, std::uint32_t* filters_left_out = nullptr);
  void grow_to(int variable, const Box& cells);
  void realise(int variable);
  Dimension& unlimited(int dim);
  void unplace_records(int variable, int dim, std::int64_t length);
  bool shrink(int variable, int dim, std::int64_t length);
  Id access_list() const;
  /// How HDF5 has the file open.
  enum class Mode {
    all,     ///< everything may be changed
    append,  ///< records only: indices of several unlimited dimensions are copied, not changed in place
  };
  bool can_append_by_copy() const;
  void reopen(Mode mode);
  void enter_append_mode();
  void leave_append_mode();
  void note_change();
  void note_committed();
  void place_contiguous(int variable);
  void fill_contiguous(int variable);
  void update_scales();
  std::vector<std::uint64_t> record_headers() const;
  /// Since the last commit: none; some that HDF5 has not passed on; all with the image, for a commit.
  enum class Changes { none, in_hdf5, in_image };
  void flush();
  void pass_changes_to_image();
  void commit(bool durable, bool closing);
  void transfer(int variable, const Box& box, hid_t memory, void* values, const void* source);
  void open();
  bool drop();
  void abandon();

  std::string path_;
  CatalogOptions options_;
  OtherFiles others_;
  bool writable_ = true;
  std::unique_ptr<FileImage> image_;
  Id driver_;  // must outlive the file
  Id file_;
  mutable Contents contents_;  // data sets are opened when they are first needed
  Mode mode_ = Mode::all;
  Status lost_;  // why HDF5 could not open the file again
  Changes changes_ = Changes::none;
  bool defined_ = false;      // there are definitions among them
  bool reuses_space_ = true;  // HDF5 may put new things where the last commit's file has others
};

}  // namespace shoal::netcdf4
