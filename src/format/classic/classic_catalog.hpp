// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/catalog.hpp"
#include "format/classic/header.hpp"
#include "format/classic/layout.hpp"
#include "format/classic/pending_bytes.hpp"

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
/// Who fills. Variables that are not `distributed` are filled here, unless they are no_fill: the whole when
/// they are defined, records when they are added, also by others. Filling happens at put, get and commit.
/// Ranks may write to a variable only after define or set_distributed said so, else fill values come out over
/// what they wrote.
///
/// Killed before a commit, the file is as at the commit before, but for values of variables and records that
/// were committed already and overwritten since with more than 8 MiB of puts, or before a write_out: these
/// may have reached the file.
class ClassicCatalog final : public Catalog {
 public:
  /// A new file.
  ClassicCatalog(Format format, std::unique_ptr<Store> store, const CatalogOptions& options);
  /// An existing file.
  ClassicCatalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options);

  const Schema& schema() const override { return schema_; }
  void define(const Schema& wanted) override;
  bool has_place(const Schema& wanted) override;
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
  void write_ahead(bool sync) override;
  void set_distributed(int variable) override;
  void commit(bool durable) override;
  void close(bool durable) override;
  Traffic traffic() const override { return traffic_; }

 private:
  struct Filling {
    bool ours = false;      ///< filled by the catalog
    std::int64_t upto = 0;  ///< that many slabs (records; 1 for others) were filled or are not to be
  };
  /// What readers of the file see since the last commit.
  struct Visible {
    Bytes header;  ///< empty: nothing
    std::int64_t fixed_end = 0;
    std::int64_t record_begin = 0;
    std::int64_t record_end = 0;
    std::int64_t records = 0;
  };

  void check_file(const ClassicHeader& header);
  void check_overlaps();
  Schema extended(const Schema& wanted) const;
  std::optional<ClassicLayout> layout_for(const Schema& schema) const;
  template <class Work>
  auto in_words_of_file(Work&& work) const;
  void need_writable() const;
  Error located(const Error& error, int variable) const;
  const VariableDef& usable(int variable) const;
  void check_box(int variable, const Box& box, bool may_grow) const;
  void check_unlimited(int dim) const;
  void freeze() const;
  void give_up_generation(int variable);

  std::int64_t records() const;
  std::int64_t slabs_of(int variable) const;
  std::int64_t slab_begin(int variable, std::int64_t slab) const;
  std::int64_t slab_with_padding(int variable) const;
  bool touches(int variable, std::int64_t begin, std::int64_t end) const;
  void grow_records(std::int64_t length);
  void fill_missing(int variable, const Box* put);
  void fill_slab(int variable, std::int64_t slab, bool padding_only);
  template <class Visit>
  void for_each_run(int variable, const Box& box, Visit&& visit) const;

  void hold(std::int64_t offset, std::span<const std::byte> bytes);
  void fill_all_missing();
  void flush(bool invisible_only);
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void read(std::int64_t offset, std::span<std::byte> bytes, const Bytes& fill);
  void commit_header(bool durable);

  std::unique_ptr<Store> store_;
  CatalogOptions options_;
  bool writable_ = true;
  bool closed_ = false;
  int record_dim_ = -1;
  Schema schema_;
  ClassicLayout layout_;
  std::vector<Filling> filling_;  ///< [variables]
  PendingBytes pending_;
  Visible visible_;
  bool header_changed_ = true;
  bool in_commit_ = false;             ///< the last one failed, and a journal of it may lie behind the file
  bool unsynced_ = false;              ///< this store has written since its last sync
  std::uint64_t ensured_end_ = 0;      ///< the file is as long at least, since a commit
  mutable bool fixed_frozen_ = false;  ///< variables that are there stay where they are
  Traffic traffic_;
};

}  // namespace shoal
