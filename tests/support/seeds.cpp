#include "support/seeds.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace shoal::testing {

namespace {

unsigned any_seed() {
  const char* asked = std::getenv("TEST_SEED");
  const unsigned long seed = asked != nullptr ? std::strtoul(asked, nullptr, 10) : std::random_device()();
  return std::max(1U, static_cast<unsigned>(seed % 1000000000));
}

// The first call is by all ranks, as is every test case.
unsigned seed_of_run() {
  static const unsigned k_seed = [] {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned seed = rank == 0 ? any_seed() : 0;
    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    return seed;
  }();
  return k_seed;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Seed& seed) {
  out << seed.value;
  if (seed.of_run > 0) out << " (of this run; TEST_SEED=" << seed.of_run << " repeats it)";
  return out;
}

std::vector<Seed> seeds(unsigned fixed) {
  return seeds(fixed, fixed + 1);
}

std::vector<Seed> seeds(unsigned first, unsigned end) {
  constexpr unsigned k_fixed_for_each = 5;
  std::vector<Seed> all;
  for (unsigned seed = first; seed < end; ++seed)
    all.push_back({seed, 0});
  const unsigned more = std::max(1U, (end - first) / k_fixed_for_each);
  for (unsigned i = 0; i < more; ++i)
    all.push_back({seed_of_run() + i, seed_of_run()});
  return all;
}

}  // namespace shoal::testing
