// SPDX-License-Identifier: BSD-3-Clause
#include "comm/cached_duplicate.hpp"

#include <utility>
#include <vector>

#include "comm/mpi_calls.hpp"

namespace shoal {

namespace {

// MPI is in no state to free a communicator while it deletes the attributes of another one. (Never destroyed:
// the last attributes go when the program ends.)
std::vector<CachedDuplicate>& left_over() {
  static auto& all = *new std::vector<CachedDuplicate>;
  return all;
}

int duplicate_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    const auto let_go = [](MPI_Comm, int, void* kept, void*) {
      left_over().push_back(std::move(*static_cast<CachedDuplicate*>(kept)));
      delete static_cast<CachedDuplicate*>(kept);
      return MPI_SUCCESS;
    };
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, let_go, &made, nullptr),
              "MPI_Comm_create_keyval");
    return made;
  }();
  return key;
}

}  // namespace

CachedDuplicate cached_duplicate(MPI_Comm parent) {
  const int key = duplicate_key();
  void* kept = nullptr;
  int there = 0;
  check_mpi(MPI_Comm_get_attr(parent, key, &kept, &there), "MPI_Comm_get_attr");
  return there != 0 ? *static_cast<CachedDuplicate*>(kept) : nullptr;
}

void cache_duplicate(MPI_Comm parent, const CachedDuplicate& duplicate) {
  left_over().clear();  // here all ranks come
  check_mpi(MPI_Comm_set_attr(parent, duplicate_key(), new CachedDuplicate(duplicate)), "MPI_Comm_set_attr");
}

}  // namespace shoal
