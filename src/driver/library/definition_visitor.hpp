// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "format/schema.hpp"

namespace shoal {

/// Calls visit for what wanted changes of schema, and for the groups, dimensions, variables and attributes
/// that it has beyond that (or with other values), in the order in which a library can define them.
struct DefinitionVisitor {
  virtual ~DefinitionVisitor() = default;
  virtual void change(const SchemaChange& change) = 0;
  virtual void group(int /*index*/, const GroupDef& /*group*/) {}
  virtual void dimension(int index, const Dimension& dim) = 0;
  virtual void variable(int index, const VariableDef& definition) = 0;
  /// owner: as of Schema::attributes_of.
  virtual void attribute(int owner, const Attribute& attribute) = 0;
};
void for_each_new(const Schema& in_file, const Schema& wanted, DefinitionVisitor& visitor);

}  // namespace shoal
