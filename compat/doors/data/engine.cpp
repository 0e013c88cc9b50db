// SPDX-License-Identifier: BSD-3-Clause
#include "data/engine.hpp"

namespace door {

bool moves_data() {
  return false;
}

int move_box(File&, int, const Box*, Direction) {
  return SHOAL_NOT_SUPPORTED;
}

int code_of_move(const File& file, int code) {
  return code == SHOAL_OK ? NC_NOERR : report_error(file, "values", code);
}

}  // namespace door
