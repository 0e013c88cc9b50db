// SPDX-License-Identifier: BSD-3-Clause
#include "tune/beside_files.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "codec/filters.hpp"
#include "comm/tags.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_bytes = std::size_t{4} << 20;
constexpr std::size_t k_codec_bytes = std::size_t{1} << 20;
constexpr int k_times = 5;

/// The median time of some calls.
Seconds median_of(const std::function<void()>& work) {
  std::vector<Seconds> times;
  for (int i = 0; i < k_times; ++i) {
    const Seconds start = now();
    work();
    times.push_back(now() - start);
  }
  std::nth_element(times.begin(), times.begin() + k_times / 2, times.end());
  return std::max(times[k_times / 2], 1e-9);
}

/// Floats of a smooth field with noise, as models have them.
Bytes field_bytes() {
  std::vector<float> cells(k_codec_bytes / sizeof(float));
  unsigned noise = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    noise = noise * 1664525U + 1013904223U;
    cells[i] =
        15.0F + 10.0F * std::sin(static_cast<float>(i) * 1e-3F) + static_cast<float>(noise >> 24U) * 1e-4F;
  }
  Bytes bytes(k_codec_bytes);
  std::memcpy(bytes.data(), cells.data(), bytes.size());
  return bytes;
}

double codec_rate(const std::string& filters, const Bytes& field) {
  if (!missing_code(filters_of(filters)).empty()) return 0;
  ChunkCoder coder(filters_of(filters), sizeof(float));
  return static_cast<double>(field.size()) / median_of([&] { coder.encode(field); });
}

/// Half a round trip between two ranks; 0 on others.
Seconds message_time(const Comm& comm, int a, int b, Bytes& bytes) {
  const int mine = comm.rank();
  if (mine != a && mine != b) return 0;
  const int other = mine == a ? b : a;
  const auto count = static_cast<int>(bytes.size());
  const auto send = [&] {
    check_mpi(MPI_Send(bytes.data(), count, MPI_BYTE, other, tags::tuned_beside, comm.handle()), "MPI_Send");
  };
  const auto receive = [&] {
    check_mpi(
        MPI_Recv(bytes.data(), count, MPI_BYTE, other, tags::tuned_beside, comm.handle(), MPI_STATUS_IGNORE),
        "MPI_Recv");
  };
  return median_of([&] {
           if (mine == a) send();
           receive();
           if (mine == b) send();
         }) /
         2;
}

}  // namespace

NodeFigures measure_nodes(const Comm& comm, const Nodes& nodes) {
  NodeFigures figures;
  figures.cores = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
  comm.handle();  // made by all ranks together
  const auto first_of_node = comm.all_gather(std::int64_t{nodes.node().rank() == 0 ? nodes.index() : -1});
  Seconds small = 0, large = 0;
  const auto second = std::find(first_of_node.begin(), first_of_node.end(), 1);
  if (second != first_of_node.end()) {
    const auto b = static_cast<int>(second - first_of_node.begin());
    const auto a =
        static_cast<int>(std::find(first_of_node.begin(), first_of_node.end(), 0) - first_of_node.begin());
    Bytes few, many;
    comm.agree_or_throw(caught([&] {
      few.resize(8);
      many.resize(k_bytes);
    }));
    small = message_time(comm, a, b, few);
    large = message_time(comm, a, b, many);
  }
  figures.message_seconds = comm.max(small);
  if (const Seconds most = comm.max(large); most > 0)
    figures.message_bytes_per_second = static_cast<double>(k_bytes) / most;
  const Bytes measured = comm.from_root([&] {
    const Bytes field = field_bytes();
    const Bytes from(k_bytes, std::byte{1});
    Bytes copy(k_bytes);
    figures.copy_bytes_per_second =
        static_cast<double>(k_bytes) / median_of([&] { std::memcpy(copy.data(), from.data(), k_bytes); });
    figures.shuffle_bytes_per_second = codec_rate("shuffle", field);
    figures.deflate_bytes_per_second = codec_rate("shuffle+deflate:1", field);
    figures.zstd_bytes_per_second = codec_rate("shuffle+zstd:1", field);
    ByteWriter out;
    out.put(figures);
    return out.take();
  });
  return ByteReader(measured).get<NodeFigures>();
}

}  // namespace shoal
