// SPDX-License-Identifier: BSD-3-Clause
#include "join.hpp"

#include <shoal/shoal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace shoal::bench {

namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t k_small = std::int64_t{1} << 20;  // what is smaller is moved by one rank

std::int64_t product(Dims::const_iterator begin, Dims::const_iterator end) {
  return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
}

std::size_t bytes_of(shoal::api::Type of) {
  const int type = static_cast<int>(of);
  constexpr std::size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  if (type < 1 || type > SHOAL_UINT64) throw std::runtime_error("joining: strings are not joined here");
  return sizes[type];
}

// One variable of the set, and how it goes over the ranks: indices of the leading dimensions in groups, one
// of the others cut in equal parts.
struct Plan {
  std::string name;
  shoal::api::Type type{};
  bool record = false;
  bool small = false;
  Dims shape;              // without the record dimension
  std::size_t lead = 0;    // how many leading dimensions go in sections
  std::int64_t group = 1;  // indices of the last of them at a time
  Dims first, count;       // of this rank, in the dimensions that are not leading
  const api::Decomposition* cut = nullptr;
  std::int64_t bytes() const {
    return product(shape.begin(), shape.end()) * static_cast<std::int64_t>(bytes_of(type));
  }
};

class Joining {
 public:
  Joining(MPI_Comm comm, api::Dataset& from, api::Dataset& to, std::int64_t block)
      : comm_(comm), from_(from), to_(to), block_(block) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
  }

  void run() {
    define();
    std::int64_t records = 0;
    for (int d = 0; d < from_.file().dimensions; ++d)
      if (from_.dim(d).unlimited) records = from_.dim(d).length;
    for (std::int64_t r = SHOAL_NO_RECORD; r < records; ++r)
      for (const auto& plan : plans_)
        if (plan.record == (r >= 0)) copy(plan, r);
  }

 private:
  void define() {
    const auto file = from_.file();
    for (int d = 0; d < file.dimensions; ++d) {
      const auto dim = from_.dim(d);
      to_.def_dim(dim.name, dim.unlimited ? SHOAL_UNLIMITED : dim.length);
    }
    copy_attributes("", file.attributes);
    for (int v = 0; v < file.variables; ++v) {
      const auto variable = from_.var(v);
      plans_.push_back(plan_of(variable));
      const auto& plan = plans_.back();
      std::string dims;
      for (const int d : variable.dims)
        dims += from_.dim(d).name + " ";
      if (plan.small)
        to_.def_var(plan.name, plan.type, dims);
      else
        to_.def_var(plan.name, plan.type, dims, *plan.cut);
      copy_attributes(plan.name, variable.attributes);
    }
    to_.end_define();
  }

  void copy_attributes(const std::string& variable, int count) {
    const char* owner = variable.empty() ? nullptr : variable.c_str();
    for (int a = 0; a < count; ++a) {
      const auto info = from_.att(variable, a);
      std::vector<std::byte> values(static_cast<std::size_t>(info.count) * bytes_of(info.type) + 1);
      const int type = static_cast<int>(info.type);
      check(shoal_get_att(from_.c_handle(), owner, info.name.c_str(), type, values.data()));
      check(shoal_put_att(to_.c_handle(), owner, info.name.c_str(), type, info.count, values.data()));
    }
  }

  static void check(int code) {
    if (code != SHOAL_OK) throw api::Error(static_cast<api::Code>(code), shoal_error_message());
  }

  Plan plan_of(const api::VarInfo& variable) {
    Plan plan;
    plan.name = variable.name;
    plan.type = variable.type;
    plan.record = variable.has_record;
    for (std::size_t d = plan.record ? 1 : 0; d < variable.dims.size(); ++d)
      plan.shape.push_back(from_.dim(variable.dims[d]).length);
    plan.small = plan.bytes() <= std::min(k_small, block_);
    if (plan.small) return plan;
    const auto size = static_cast<std::int64_t>(bytes_of(plan.type)), budget = block_ * ranks_;
    const auto below = [&](std::size_t lead) {
      return product(plan.shape.begin() + static_cast<std::ptrdiff_t>(lead), plan.shape.end()) * size;
    };
    while (plan.lead + 1 < plan.shape.size() && below(plan.lead) > budget)
      ++plan.lead;
    if (plan.lead > 0)
      plan.group = std::clamp<std::int64_t>(budget / below(plan.lead), 1, plan.shape[plan.lead - 1]);
    cut(plan, Dims(plan.shape.begin() + static_cast<std::ptrdiff_t>(plan.lead), plan.shape.end()));
    return plan;
  }

  // Along the slowest dimension that gives every rank something, else along the longest.
  void cut(Plan& plan, const Dims& shape) {
    auto axis = std::find_if(shape.begin(), shape.end(), [&](std::int64_t n) { return n >= ranks_; });
    if (axis == shape.end()) axis = std::max_element(shape.begin(), shape.end());
    const auto at = static_cast<std::size_t>(axis - shape.begin());
    plan.first.assign(shape.size(), 0);
    plan.count = shape;
    plan.first[at] = *axis * rank_ / ranks_;
    plan.count[at] = *axis * (rank_ + 1) / ranks_ - plan.first[at];
    auto found = cuts_.find(shape);
    if (found == cuts_.end())
      found = cuts_.emplace(shape, api::Decomposition::block(comm_, shape, plan.first, plan.count)).first;
    plan.cut = &found->second;
  }

  void copy(const Plan& plan, std::int64_t record) {
    if (plan.small) {
      const auto view = room(plan, plan.shape);
      from_.get(plan.name, view, record);
      to_.put(plan.name, view, record);
      return;
    }
    if (plan.lead == 0) {
      const auto view = room(plan, plan.count);
      from_.read(plan.name, *plan.cut, view, record);
      to_.write(plan.name, *plan.cut, view, record);
      return;
    }
    const auto last = static_cast<std::ptrdiff_t>(plan.lead) - 1;
    const auto outer = product(plan.shape.begin(), plan.shape.begin() + last);
    for (std::int64_t place = 0; place < outer; ++place)
      for (std::int64_t begin = 0; begin < plan.shape[plan.lead - 1]; begin += plan.group)
        copy_section(plan, record, place, begin);
  }

  // place counts the leading dimensions but the last of them, row-major; begin is an index of that one.
  void copy_section(const Plan& plan, std::int64_t record, std::int64_t place, std::int64_t begin) {
    Dims start(plan.shape.size(), 0), count = plan.shape;
    for (std::size_t d = plan.lead - 1; d-- > 0; place /= plan.shape[d]) {
      start[d] = place % plan.shape[d];
      count[d] = 1;
    }
    start[plan.lead - 1] = begin;
    count[plan.lead - 1] = std::min(plan.group, plan.shape[plan.lead - 1] - begin);
    Dims extents(count.begin(), count.begin() + static_cast<std::ptrdiff_t>(plan.lead));
    extents.insert(extents.end(), plan.count.begin(), plan.count.end());
    const auto view = room(plan, extents);
    from_.read(plan.name, *plan.cut, view, {record, start, count});
    to_.write(plan.name, *plan.cut, view, {record, start, count});
  }

  api::Array room(const Plan& plan, const Dims& extents) {
    const auto bytes =
        static_cast<std::size_t>(product(extents.begin(), extents.end())) * bytes_of(plan.type);
    if (memory_.size() < bytes) memory_.resize(bytes);
    return {memory_.data(), plan.type, 0, extents};
  }

  MPI_Comm comm_;
  api::Dataset &from_, &to_;
  std::int64_t block_;  // bytes of a rank at a time
  int rank_ = 0, ranks_ = 1;
  std::vector<Plan> plans_;
  std::map<Dims, api::Decomposition> cuts_;
  std::vector<std::byte> memory_;
};

}  // namespace

void join_set(MPI_Comm comm, const std::string& set, const std::string& out, const std::string& format,
              bool durable, std::int64_t block) {
  auto from = api::Dataset::open(comm, set);
  // The cells of the set cover everything.
  auto to = api::Dataset::create(comm, out,
                                 "layout=one, fill=false, format=" + format +
                                     (format == "ascii" ? ", driver=gather" : ", driver=native"));
  Joining(comm, from, to, block).run();
  to.close(durable);
  from.close();
}

}  // namespace shoal::bench
