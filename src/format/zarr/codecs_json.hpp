// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "format/zarr/json_text.hpp"
#include "format/zarr/metadata.hpp"

namespace shoal::zarr {

/// Version 3: the list "codecs", of an array whose type and object are known. Sets order, big_endian,
/// filters, and chunk and index where objects are shards; or the refusal. Error(format): no such codecs.
void read_codecs(const Json& codecs, ArrayMetadata& array);
/// Version 2: "filters" and "compressor", of an array whose type is known.
void read_filters_v2(const Json& filters, const Json& compressor, ArrayMetadata& array);
/// The list of version 3. Error(not_supported): Zarr has no such codec.
Json codecs_of(const ArrayMetadata& array);

}  // namespace shoal::zarr
