// A format of many objects, as a format of a cloud has them: the proof that a format needs a folder of its
// own, and a line where formats are listed. A dataset is a folder: "header" has the schema, "v3/r7" the
// cells of record 7 of variable 3, row-major, in this machine's byte order.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "format/catalog.hpp"
#include "format/format_traits.hpp"

namespace shoal::testing {

inline constexpr auto k_objects = static_cast<Format>(1000);

/// The row of the format.
FormatTraits objects_format();

class ObjectsCatalog final : public Catalog {
 public:
  /// A new dataset.
  ObjectsCatalog(std::shared_ptr<Container> container, const CatalogOptions& options);
  /// One that is there. For writing, objects that a killed job left are removed.
  ObjectsCatalog(std::shared_ptr<Container> container, bool writable, const CatalogOptions& options);

  const Schema& schema() const override { return schema_; }
  void define(const Schema& wanted) override;
  Placement placement(int variable) const override;
  std::vector<Location> place(int variable, const Box& chunks, const Box& cells,
                              std::vector<bool>& fresh) override;
  std::vector<Location> find(int variable, const Box& chunks) override;
  void unplace(int variable, const Box& chunks, const std::vector<bool>& fresh) override;
  void put(int variable, const Box& box, const std::byte* values) override;
  void get(int variable, const Box& box, std::byte* values) override;
  void put_strings(int variable, const Box& box, const std::vector<std::string>& values) override;
  std::vector<std::string> get_strings(int variable, const Box& box) override;
  void grow(int dim, std::int64_t length) override;
  void take_back(int dim, std::int64_t length) override;
  void write_out(int variable) override;
  void set_distributed(int variable) override;
  void commit(bool durable) override;
  void close(bool durable) override { commit(durable); }
  Traffic traffic() const override { return traffic_; }

 private:
  std::string name_of(std::uint64_t object) const;
  Bytes load(int variable, std::uint64_t object);
  void store(std::uint64_t object, const Bytes& cells, bool durable);
  void require(int variable, const Box& box, bool may_grow) const;
  template <class Move>
  void for_each_part(int variable, const Box& box, Move&& move);

  std::shared_ptr<Container> container_;
  CatalogOptions options_;
  bool writable_ = true;
  Schema schema_;
  std::int64_t committed_ = 0;              ///< records
  std::set<std::uint64_t> there_;           ///< objects that have bytes, or will have at the commit
  std::map<std::uint64_t, Bytes> waiting_;  ///< what was put and is not stored
  Traffic traffic_;
};

}  // namespace shoal::testing
