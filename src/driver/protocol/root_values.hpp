// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "base/box.hpp"
#include "base/type.hpp"
#include "comm/comm.hpp"

namespace shoal {

/// What `make` gives on rank 0, on all ranks; its Error, too. Collective.
template <class Make>
auto value_of_root(const Comm& comm, Make&& make) {
  const Bytes message = comm.from_root([&] {
    ByteWriter out;
    out.put(make());
    return out.take();
  });
  return ByteReader(message).get<std::decay_t<decltype(make())>>();
}

/// The value becomes that of a rank, which alone needs to have it. Collective.
template <class T>
void share_value(const Comm& comm, T& value, int of_rank = 0) {
  ByteWriter out;
  if (comm.rank() == of_rank) out.put(value);
  Bytes message = out.take();
  comm.broadcast(message, of_rank);
  ByteReader(message).get(value);
}

/// Replicated values as of Driver::get, that rank 0 has read. Collective.
inline void share_values(const Comm& comm, Type type, const Box& box, std::byte* values,
                         std::vector<std::string>& strings) {
  if (type == Type::string) return share_value(comm, strings);
  comm.broadcast(values, box.cells() * static_cast<std::int64_t>(size_of(type)), 0);
}

}  // namespace shoal
