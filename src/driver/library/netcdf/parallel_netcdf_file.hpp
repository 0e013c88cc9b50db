// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef SHOAL_HAVE_NETCDF

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/library/library_file.hpp"
#include "driver/library/netcdf_ids.hpp"
#include "format/netcdf4/contents.hpp"

namespace shoal {

/// The driver netcdf: netcdf4 and netcdf4-classic through parallel netCDF-C, that is parallel HDF5.
class ParallelNetcdfFile final : public LibraryFile {
 public:
  /// Makes or opens the file of the context. Collective.
  explicit ParallelNetcdfFile(const LibraryContext& context);

 private:
  LibraryTraits traits() const override;
  void extend(const Schema& wanted, std::vector<Placement>& placements) override;
  void describe(Schema& schema, std::vector<Placement>& placements) override;
  void about_to_store(const StoreRegion& next) override;
  void store(int variable, const Box& box, const std::byte* cells) override;
  void load(int variable, const Box& box, std::byte* cells, bool overlapping) override;
  void store_replicated(int variable, const Box& box, const std::byte* values) override;
  void load_replicated(int variable, const Box& box, std::byte* values, bool all) override;
  void complete_pending() override;
  void commit(bool durable, bool closing) override;
  void close(bool durable) override;
  Status damage() const override { return damage_; }

  void check(int status, const std::string& what) const;
  void check_written(int status, const std::string& what);
  void open_file(const Hints& hints);
  void check_usable() const;
  void define(const Schema& wanted);
  void define_variable(const Schema& wanted, const VariableDef& definition);
  void find_ids(const Schema& schema);
  void check_space(int variable, const Box& region) const;
  NetcdfId id_of(int variable) const { return ids_.at(variable); }
  /// Of a variable that is in the file, a group or the file.
  NetcdfId owner(const Schema& schema, int owner) const;
  void use(Access how);
  bool filtered(int v) const { return !context_.variable(v).filters.empty(); }
  void put(int variable, const Box& box, const std::byte* values);
  void get(int variable, const Box& box, std::byte* values) const;
  void put_filtered(int variable, const Box& box, const std::byte* values);
  void get_filtered(int variable, const Box& box, std::byte* values);
  bool overlaps_alone();

  const LibraryContext& context_;
  int file_ = -1;
  bool defining_ = false;        ///< the library is in define mode
  Status unusable_;              ///< definitions failed half way; the same on all ranks
  Status damage_;                ///< of this rank
  Numbered<NetcdfId> ids_;       ///< of the library, by variable
  bool barred_ = false;          ///< the region must not be stored (check_space)
  bool extending_ = false;       ///< the region to store is beyond what the variable is known to have
  std::map<int, Dims> extents_;  ///< how far each variable was extended, by variable; independent access only
  std::optional<Access> access_;  ///< that all variables but scalars are in
  std::set<int> together_;        ///< compressed variables that were written here
  std::optional<bool> overlaps_alone_;
};

}  // namespace shoal

#endif
