// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/bytes.hpp"

namespace shoal {

/// For pack and unpack of a struct that packs itself (PacksItself): its members, one after the other.
template <class Writer, class... Values>
void put_all(Writer& out, const Values&... values) {
  (out.put(values), ...);
}
template <class Reader, class... Values>
void get_all(Reader& in, Values&... values) {
  (in.get(values), ...);
}

}  // namespace shoal
