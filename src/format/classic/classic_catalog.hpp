// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "format/classic/header.hpp"
#include "format/classic/layout.hpp"
#include "format/flat/flat_catalog.hpp"

namespace shoal {

/// Catalog of cdf1, cdf2 and cdf5 files. Where things lie: see ClassicLayout.
///
/// What can be defined when. Until an address was given out (placement, place, find) or a value put or
/// committed, everything is laid out anew by each define. After that, variables stay where they are, and
/// - dimensions, attributes and variables can be added as long as the header does not reach the first
///   variable: header_reserve bytes are kept free for that when the file is made;
/// - new variables without the record dimension go behind the others of that kind: there are header_reserve
///   bytes free in front of the records; without record variables, or as long as there is no record, any
///   amount;
/// - new record variables can be added as long as there is none yet, or no record: the records then begin
///   elsewhere.
/// Whatever has no place so (has_place) needs a new file, to which the data move (ClassicMove).
///
/// Killed before a commit, the file is as at the commit before, but for values of variables and records that
/// were committed already and overwritten since with more than 8 MiB of puts, or before a write_out: these
/// may have reached the file.
class ClassicCatalog final : public FlatCatalog {
 public:
  /// A new file.
  ClassicCatalog(Format format, std::unique_ptr<Store> store, const CatalogOptions& options);
  /// An existing file.
  ClassicCatalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options);

  void define(const Schema& wanted) override;
  bool has_place(const Schema& wanted) override;
  void write_ahead(bool sync) override;
  void commit(bool durable) override;

 private:
  /// What readers of the file see since the last commit.
  struct Visible {
    Bytes header;  ///< empty: nothing
    std::int64_t fixed_end = 0;
    std::int64_t record_begin = 0;
    std::int64_t record_end = 0;
    std::int64_t records = 0;
  };

  const FlatLayout& layout() const override { return layout_; }
  std::int64_t end_of(std::int64_t records) const override { return layout_.end(records); }
  std::int64_t committed_records() const override { return visible_.records; }
  bool is_visible(std::int64_t begin, std::int64_t end) const override;
  void check_records(std::int64_t length) const override;
  std::int64_t padding(int variable) const override { return layout_.padding(schema_, variable); }

  void note_visible();
  void check_file(const ClassicHeader& header);
  void check_overlaps();
  Schema extended(const Schema& wanted) const;
  std::optional<ClassicLayout> layout_for(const Schema& schema) const;
  void commit_header(bool durable);

  ClassicLayout layout_;
  Visible visible_;
  bool header_changed_ = true;
  bool in_commit_ = false;  ///< the last one failed, and a journal of it may lie behind the file
};

}  // namespace shoal
