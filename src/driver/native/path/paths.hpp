// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "driver/native/path/direct_path.hpp"
#include "driver/native/path/encoded_path.hpp"
#include "driver/native/path/field_queue.hpp"
#include "driver/native/path/independent_path.hpp"
#include "driver/native/path/library_path.hpp"
#include "driver/native/path/rearranged_path.hpp"
#include "driver/native/path/staged_path.hpp"

namespace shoal {

/// The paths of a field between array and file: each writes and reads jobs, and has its own state.
struct NativePaths {
  NativePaths(const NativeContext& context, ChunkAddresses& addresses)
      : staged(context, addresses),
        direct(context.file, context.counters, context.groups,
               context.options.stage.direct_bytes.value_or(k_long_run)),
        rearrangers(context),
        rearranged(context, rearrangers, staged, buffers),
        queue(context, addresses, rearrangers, staged, rearranged, buffers),
        encoded(context, addresses, rearrangers, staged, buffers),
        library(context, rearranged),
        independent(context, addresses) {}

  SendBuffers buffers;
  StagedPath staged;
  DirectPath direct;
  NativeRearrangers rearrangers;
  RearrangedPath rearranged;
  FieldQueue queue;  ///< of fields that are rearranged later
  EncodedPath encoded;
  LibraryPath library;          ///< reads, and never writes
  IndependentPath independent;  ///< of single ranks
};

}  // namespace shoal
