// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "format/flat/flat_catalog.hpp"
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
class RawCatalog final : public FlatCatalog {
 public:
  /// A new file. What is beside it of an earlier one is removed.
  RawCatalog(Format format, std::unique_ptr<Store> store, const CatalogOptions& options);
  /// An existing file.
  RawCatalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options);

  void define(const Schema& wanted) override;
  Placement placement(int variable) const override;
  void commit(bool durable) override;

 private:
  const FlatLayout& layout() const override { return layout_; }
  std::int64_t end_of(std::int64_t records) const override { return layout_.end(records); }
  std::int64_t committed_records() const override { return committed_records_; }
  std::int64_t width_of(int variable) const override;
  void encode(int variable, const std::byte* values, std::int64_t n, Bytes& to) const override;
  void get_run(int variable, std::int64_t offset, std::int64_t n, std::byte* values,
               const Bytes& fill) override;

  bool is_text() const { return schema_.format == Format::ascii; }
  void check_file_size();
  void decode(int variable, const Bytes& in_file, std::int64_t n, std::byte* values,
              std::int64_t offset) const;

  RawLayout layout_;
  std::int64_t committed_records_ = 0;
  std::string written_header_;  ///< empty: none by this catalog or as found
};

}  // namespace shoal
