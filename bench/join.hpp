// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace shoal::bench {

/// Joins the files of a set to one, as `shoal combine` does: read as a set by Shoal, written by driver native
/// (ascii: gather), on all ranks, record after record. Where ranks cannot read the files each for itself, a
/// rank holds its part of a record of a variable. All that the set has is copied, definitions and attributes
/// too. durable: the device has it at the end; small: bytes of a record up to which one rank moves a
/// variable. std::runtime_error with Shoal's message. Collective.
void join_set(MPI_Comm comm, const std::string& set, const std::string& out, const std::string& format,
              bool durable, std::int64_t small = std::int64_t{1} << 20);

}  // namespace shoal::bench
