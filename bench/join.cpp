// SPDX-License-Identifier: BSD-3-Clause
#include "join.hpp"

#include <shoal/shoal.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace shoal::bench {

namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t bytes_of(api::Type type, const Dims& shape) {
  constexpr std::int64_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  if (type < api::Type::byte || type > api::Type::uint64)
    throw std::runtime_error("joining: strings are not joined here");
  return std::accumulate(shape.begin(), shape.end(), sizes[static_cast<int>(type)], std::multiplies<>());
}

// How variables of one shape go over the ranks.
struct Cut {
  Dims count;  // cells of this rank
  api::Decomposition decomposition;
};

// One variable of the set.
struct Plan {
  api::VarInfo info;
  Dims shape;                // without the record dimension
  const Cut* cut = nullptr;  // none: it is small, and one rank moves it
};

class Joining {
 public:
  Joining(MPI_Comm comm, api::Dataset& from, api::Dataset& to, std::int64_t small)
      : comm_(comm), from_(from), to_(to), small_(small) {}

  void run() {
    const auto file = from_.file();
    std::int64_t records = 0;
    for (int d = 0; d < file.dimensions; ++d) {
      const auto dim = from_.dim(d);
      to_.def_dim(dim.name, dim.unlimited ? SHOAL_UNLIMITED : dim.length);
      if (dim.unlimited) records = dim.length;
    }
    copy_attributes("", file.attributes);
    for (int v = 0; v < file.variables; ++v)
      define(from_.var(v));
    to_.end_define();
    for (std::int64_t r = SHOAL_NO_RECORD; r < records; ++r)
      for (const auto& plan : plans_)
        if (plan.info.has_record == (r >= 0)) copy(plan, r);
  }

 private:
  void define(const api::VarInfo& variable) {
    Plan plan{variable, {}};
    std::string dims;
    for (const int d : variable.dims) {
      const auto dim = from_.dim(d);
      dims += dim.name + " ";
      if (!dim.unlimited) plan.shape.push_back(dim.length);
    }
    if (bytes_of(variable.type, plan.shape) > small_) plan.cut = cut_of(plan.shape);
    if (plan.cut == nullptr)
      to_.def_var(variable.name, variable.type, dims);
    else
      to_.def_var(variable.name, variable.type, dims, plan.cut->decomposition);
    copy_attributes(variable.name, variable.attributes);
    plans_.push_back(plan);
  }

  void copy_attributes(const std::string& variable, int count) {
    for (int a = 0; a < count; ++a)
      to_.copy_att(variable, from_.att(variable, a).name, from_, variable);
  }

  // Along the slowest dimension that gives every rank something, else along the longest.
  const Cut* cut_of(const Dims& shape) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &ranks);
    auto axis = std::find_if(shape.begin(), shape.end(), [&](std::int64_t n) { return n >= ranks; });
    if (axis == shape.end()) axis = std::max_element(shape.begin(), shape.end());
    Dims first(shape.size(), 0), count = shape;
    const auto at = static_cast<std::size_t>(axis - shape.begin());
    first[at] = *axis * rank / ranks;
    count[at] = *axis * (rank + 1) / ranks - first[at];
    auto found = cuts_.find(shape);
    if (found == cuts_.end())
      found = cuts_.emplace(shape, Cut{count, api::Decomposition::block(comm_, shape, first, count)}).first;
    return &found->second;
  }

  // As shoal combine does it: part by part, where ranks can read each for itself.
  void copy(const Plan& plan, std::int64_t record) {
    const auto& name = plan.info.name;
    if (plan.cut == nullptr) {
      const auto view = room(plan.info.type, plan.shape);
      from_.get(name, view, record);
      to_.put(name, view, record);
    } else if (from_.copies()) {
      to_.copy(name, plan.cut->decomposition, from_, name, record);
    } else {
      const auto view = room(plan.info.type, plan.cut->count);
      from_.read(name, plan.cut->decomposition, view, record);
      to_.write(name, plan.cut->decomposition, view, record);
    }
  }

  api::Array room(api::Type type, const Dims& extents) {
    const auto bytes = static_cast<std::size_t>(bytes_of(type, extents));
    if (memory_.size() < bytes) memory_.resize(bytes);
    return {memory_.data(), type, 0, extents};
  }

  MPI_Comm comm_;
  api::Dataset &from_, &to_;
  std::int64_t small_;  // bytes
  std::vector<Plan> plans_;
  std::map<Dims, Cut> cuts_;  // by shape
  std::vector<std::byte> memory_;
};

}  // namespace

void join_set(MPI_Comm comm, const std::string& set, const std::string& out, const std::string& format,
              bool durable, std::int64_t small) {
  auto from = api::Dataset::open(comm, set);
  // The cells of the set cover everything.
  auto to = api::Dataset::create(comm, out,
                                 "layout=one, fill=false, format=" + format +
                                     (format == "ascii" ? ", driver=gather" : ", driver=native"));
  Joining(comm, from, to, small).run();
  to.close(durable);
  from.close();
}

}  // namespace shoal::bench
