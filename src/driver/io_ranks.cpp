// SPDX-License-Identifier: BSD-3-Clause
#include "driver/io_ranks.hpp"

#include <algorithm>

namespace shoal {

namespace {

std::string ranks_text(int ranks) {
  return "there " + (ranks == 1 ? std::string("is 1 rank") : "are " + std::to_string(ranks) + " ranks");
}

}  // namespace

std::vector<int> io_ranks_of(int ranks, int count, int stride, int base) {
  if (base >= ranks)
    throw Error(Code::setting, "setting io_base is " + std::to_string(base) + ", but " + ranks_text(ranks) +
                                   "; io_base can be 0 to " + std::to_string(ranks - 1));
  const int room = ranks - base;
  const std::string from = base > 0 ? " from rank " + std::to_string(base) + " on" : "";
  if (count > room)
    throw Error(Code::setting, "setting io_ranks is " + std::to_string(count) + ", but " + ranks_text(ranks) +
                                   (base > 0 ? ", " + std::to_string(room) + " of them" + from : "") +
                                   "; io_ranks can be 1 to " + std::to_string(room));
  if (count == 0) count = stride == 0 ? room : (room - 1) / stride + 1;
  if (stride == 0) stride = room / count;
  if ((count - 1) > (room - 1) / stride)
    throw Error(Code::setting, "io_ranks=" + std::to_string(count) +
                                   " with io_stride=" + std::to_string(stride) + from +
                                   " needs more ranks than there are (" + ranks_text(ranks) +
                                   "); io_ranks can be 1 to " + std::to_string((room - 1) / stride + 1) +
                                   ", or io_stride 1 to " + std::to_string((room - 1) / (count - 1)));
  std::vector<int> list;
  for (int i = 0; i < count; ++i)
    list.push_back(base + i * stride);
  return list;
}

std::vector<int> choose_io_ranks(const Comm& comm, const DriverOptions& options) {
  if (sets_io_ranks(options))
    return io_ranks_of(comm.size(), options.io_ranks, options.io_stride, options.io_base);
  const Nodes nodes(comm, options.ranks_per_node);
  const auto of_node =
      io_ranks_of(nodes.node().size(), std::min(nodes.node().size(), k_io_ranks_of_node), 0, 0);
  const bool chosen = std::find(of_node.begin(), of_node.end(), nodes.node().rank()) != of_node.end();
  const auto all = comm.all_gather(std::int64_t{chosen ? 1 : 0});
  std::vector<int> list;
  for (int r = 0; r < comm.size(); ++r)
    if (all[static_cast<std::size_t>(r)] != 0) list.push_back(r);
  return list;
}

}  // namespace shoal
