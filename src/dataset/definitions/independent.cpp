// SPDX-License-Identifier: BSD-3-Clause
// Variables that ranks write alone.
#include "dataset/definitions/definitions.hpp"

namespace shoal {

void check_can_be_independent(const VariableDef& variable, const Filters& filters) {
  if (variable.type == Type::string)
    throw Error(Code::not_supported,
                "text of any length cannot be written by a rank alone; use put, of all ranks")
        .of_variable(variable.name);
  if (!filters.empty())
    throw Error(Code::not_supported,
                "a compressed variable ({}) cannot be written by a rank alone: a chunk is compressed as a "
                "whole; write it with all ranks (write, put), or leave out its compression",
                text_of(filters))
        .of_variable(variable.name);
}

void Definitions::def_independent(const std::string& name) {
  VariableDef& v = new_variable(name, "that ranks write it alone");
  check_can_be_independent(v, v.filters);
  v.independent = v.distributed = true;
}

}  // namespace shoal
