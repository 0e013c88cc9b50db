// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>

namespace shoal {

/// Throws Error(mpi) with MPI's text if the code of an MPI call is not success.
void check_mpi(int mpi_code, const char* what);

/// Keeps memory that MPI may use at any time until the program ends. Local.
void keep_until_exit(std::shared_ptr<void> memory);

/// Sends a message to the ranks whose numbers differ by a power of two: where each of these passes it on, it
/// reaches all in a few steps. Does not wait; a copy is kept until the program ends, as a rank may never
/// receive it. Local.
void send_along_powers_of_two(MPI_Comm comm, int tag, std::span<const std::byte> message);

}  // namespace shoal
