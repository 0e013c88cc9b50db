// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/numbered.hpp"
#include "format/catalog.hpp"
#include "format/flat/flat_layout.hpp"
#include "format/flat/pending_bytes.hpp"

namespace shoal {

/// Catalog of a file with a FlatLayout: a variable is contiguous, or one slab a record. The formats say where
/// things lie, how elements are written, and how the header is committed.
///
/// Who fills. Variables that are not `distributed` are filled here, unless they are no_fill: the whole when
/// they are defined, records when they are added, also by others. Filling happens at put, get and commit.
/// Ranks may write to a variable only after define or set_distributed said so, else fill values come out over
/// what they wrote.
class FlatCatalog : public Catalog {
 public:
  const Schema& schema() const override { return schema_; }
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
  void close(bool durable) override;
  Traffic traffic() const override { return traffic_; }

 protected:
  FlatCatalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options)
      : store_(std::move(store)), options_(options), writable_(writable) {}

  virtual const FlatLayout& layout() const = 0;
  /// End of the file with so many records; Error(not_supported) if it is too large to count.
  virtual std::int64_t end_of(std::int64_t records) const = 0;
  /// Records that readers of the file see since the last commit.
  virtual std::int64_t committed_records() const = 0;
  /// May readers of the file see bytes of this range since the last commit?
  virtual bool is_visible(std::int64_t /*begin*/, std::int64_t /*end*/) const { return true; }
  virtual void check_records(std::int64_t /*length*/) const {}
  /// Bytes of padding behind a slab.
  virtual std::int64_t padding(int /*variable*/) const { return 0; }
  /// Bytes of an element in the file.
  virtual std::int64_t width_of(int variable) const;
  /// n elements as they are in the file.
  virtual void encode(int variable, const std::byte* values, std::int64_t n, Bytes& to) const;
  /// The n elements from this byte of the file on. fill: an element as it is in the file.
  virtual void get_run(int variable, std::int64_t offset, std::int64_t n, std::byte* values,
                       const Bytes& fill);

  void need_writable() const;
  Error located(const Error& error, int variable) const;
  const VariableDef& usable(int variable) const;
  std::int64_t records() const { return record_dim_ < 0 ? 0 : schema_.dim(record_dim_).length; }
  /// schema_ and the layout were found in a file.
  void note_found();
  /// The definitions that the file gets; its layout follows.
  void take_definitions(Schema schema);
  /// Fills all slabs that were added since the last time.
  void fill_all_missing();
  void flush(bool invisible_only);
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Bytes of a variable as they are in the file or will be; the fill value behind the end of the file.
  /// offset is that of an element.
  void read(std::int64_t offset, std::span<std::byte> bytes, const Bytes& fill);
  void reach_end();

  std::unique_ptr<Store> store_;
  CatalogOptions options_;
  bool writable_ = true;
  Schema schema_;
  bool swapped_ = false;          ///< byte order in the file is not this machine's
  bool unsynced_ = false;         ///< this store has written since its last sync
  mutable bool is_used_ = false;  ///< addresses were given out, or values put: variables stay where they are
  Traffic traffic_;

 private:
  struct Filling {
    bool ours = false;      ///< filled by the catalog
    std::int64_t upto = 0;  ///< that many slabs (records; 1 for others) were filled or are not to be
  };

  void check_box(int variable, const Box& box, bool may_grow) const;
  void check_unlimited(int dim) const;
  void give_up_generation(int variable);
  std::int64_t slabs_of(int variable) const { return schema_.has_record(variable) ? records() : 1; }
  std::int64_t slab_begin(int variable, std::int64_t slab) const;
  std::int64_t slab_with_padding(int variable) const;
  bool touches(int variable, std::int64_t begin, std::int64_t end) const;
  void grow_records(std::int64_t length);
  Bytes encoded_fill(int variable) const;
  void fill_missing(int variable, const Box* put);
  void fill_slab(int variable, std::int64_t slab, bool padding_only);
  template <class Visit>
  void for_each_run(int variable, const Box& box, Visit&& visit) const;
  void hold(std::int64_t offset, std::span<const std::byte> bytes);
  void flush_chosen(const PendingBytes::Choice& chosen);

  bool closed_ = false;
  int record_dim_ = -1;
  std::uint64_t ensured_end_ = 0;  ///< the file is as long at least, since a commit
  Numbered<Filling> filling_;      ///< [variables]
  PendingBytes pending_;
};

}  // namespace shoal
