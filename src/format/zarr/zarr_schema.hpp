// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "format/catalog.hpp"
#include "format/zarr/metadata.hpp"

namespace shoal::zarr {

/// What a store holds, as NetCDF sees it: dimensions by the names that arrays give them, or Shoal noted.
/// Error(format): arrays disagree about the length of a dimension.
Schema schema_of(const Hierarchy& all, FillMode fill);

/// The metadata of a new variable. schema: with its dimensions. Error(type, not_supported, invalid_argument):
/// Zarr has no such variable.
ArrayMetadata array_of(const Schema& schema, const VariableDef& variable, const CatalogOptions& options);

/// Makes what the schema says of variables, groups and dimensions that of the store: attributes, names,
/// lengths. Arrays are those of the variables already.
void take_definitions(const Schema& schema, Hierarchy& all);
/// Of the same definitions: lengths alone.
void take_lengths(const Schema& schema, Hierarchy& all);

/// Throws unless `wanted` is the schema with its changes, plus what Zarr can hold.
void check_zarr_extension(const Schema& in_store, const Schema& wanted);

}  // namespace shoal::zarr
