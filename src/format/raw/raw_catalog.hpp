// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/catalog.hpp"
#include "format/classic/pending_bytes.hpp"
#include "format/raw/raw_header.hpp"

namespace shoal {

/// Catalog of raw and ascii files: the data file holds values and nothing else, a header file beside it says
/// what is where. Where things lie: see RawLayout.
///
/// raw has regular placements, so that ranks write there themselves; ascii values pass through put and get.
///
/// The header file is replaced as a whole by each commit, after the values have been written, and says the
/// number of records: killed before, the records committed earlier are what is there. Values of what was
/// committed already and was overwritten since with more than 8 MiB of puts, or before a write_out, may have
/// reached the file.
///
/// Variables can be added as long as there is no record; ones without the record dimension also where there
/// are no record variables. Attributes and dimensions always.
///
/// Who fills: as for the classic formats, this catalog what is not `distributed`, unless it is no_fill.
class RawCatalog final : public Catalog {
 public:
  /// A new file. What is beside it of an earlier one is removed.
  RawCatalog(Format format, std::unique_ptr<Store> store, const CatalogOptions& options);
  /// An existing file.
  RawCatalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options);

  const Schema& schema() const override { return header_.schema; }
  void define(const Schema& wanted) override;
  Placement placement(int variable) const override;
  std::vector<Location> place(int variable, const Box& chunks, const Box& cells,
                              std::vector<bool>& fresh) override;
  std::vector<Location> find(int variable, const Box& chunks) override;
  void put(int variable, const Box& box, const std::byte* values) override;
  void get(int variable, const Box& box, std::byte* values) override;
  void put_strings(int variable, const Box& box, const std::vector<std::string>& values) override;
  std::vector<std::string> get_strings(int variable, const Box& box) override;
  void grow(int dim, std::int64_t length) override;
  void take_back(int dim, std::int64_t length) override;
  void write_out(int variable) override;
  void set_distributed(int variable) override;
  void commit(bool durable) override;
  void close(bool durable) override;
  Traffic traffic() const override { return traffic_; }

 private:
  struct Filling {
    bool ours = false;      ///< filled by the catalog
    std::int64_t upto = 0;  ///< that many slabs (records; 1 for others) were filled or are not to be
  };

  void check_file_size();
  void need_writable() const;
  Error located(const Error& error, int variable) const;
  const VariableDef& usable(int variable) const;
  void check_box(int variable, const Box& box, bool may_grow) const;
  void check_unlimited(int dim) const;

  std::int64_t records() const;
  std::int64_t slabs_of(int variable) const;
  std::int64_t slab_begin(int variable, std::int64_t slab) const;
  std::int64_t width_of(int variable) const;
  void grow_records(std::int64_t length);
  void give_up_generation(int variable);
  void fill_missing(int variable, const Box* put);
  template <class Visit>
  void for_each_run(int variable, const Box& box, Visit&& visit) const;

  Bytes encoded(int variable, const std::byte* values, std::int64_t n) const;
  void decode(int variable, const Bytes& in_file, std::int64_t n, std::byte* values,
              std::uint64_t offset) const;
  void hold(std::uint64_t offset, const Bytes& bytes);
  void flush();
  void read(int variable, std::uint64_t offset, std::span<std::byte> bytes);

  std::unique_ptr<Store> store_;
  CatalogOptions options_;
  bool writable_ = true;
  bool closed_ = false;
  int record_dim_ = -1;
  RawHeader header_;
  std::int64_t committed_records_ = 0;
  std::vector<Filling> filling_;  ///< [variables]
  PendingBytes pending_;
  std::string written_header_;  ///< empty: none by this catalog or as found
  Traffic traffic_;
};

}  // namespace shoal
