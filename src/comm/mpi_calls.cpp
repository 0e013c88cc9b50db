// SPDX-License-Identifier: BSD-3-Clause
#include "comm/mpi_calls.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace shoal {

void check_mpi(int mpi_code, const char* what) {
  if (mpi_code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(mpi_code, text.data(), &length);
  throw Error(Code::mpi, "{}: {}", what, std::string(text.data(), static_cast<std::size_t>(length)));
}

void keep_until_exit(std::shared_ptr<void> memory) {
  static auto& kept = *new std::vector<std::shared_ptr<void>>;
  kept.push_back(std::move(memory));
}

void send_along_powers_of_two(MPI_Comm comm, int tag, std::span<const std::byte> message) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const auto kept = std::make_shared<std::vector<std::byte>>(message.begin(), message.end());
  for (int step = 1; step < size; step *= 2)
    for (const int to : {(rank + step) % size, (rank + size - step) % size}) {
      MPI_Request request = MPI_REQUEST_NULL;
      if (MPI_Isend(kept->data(), static_cast<int>(kept->size()), MPI_BYTE, to, tag, comm, &request) ==
          MPI_SUCCESS)
        MPI_Request_free(&request);
    }
  keep_until_exit(kept);
}

}  // namespace shoal
