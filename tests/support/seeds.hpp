// Seeds of tests with random cases: fixed ones, which give the same cases in every run, and of each run
// others.
#pragma once

#include <ostream>
#include <vector>

namespace shoal::testing {

struct Seed {
  unsigned value = 0;
  unsigned of_run = 0;  ///< what it was made from; 0: it is fixed
};

/// Failures say how to have the same cases again.
std::ostream& operator<<(std::ostream& out, const Seed& seed);

/// The fixed one, and one of this run: the environment's TEST_SEED, or any. The same on all ranks of
/// MPI_COMM_WORLD, which are all here.
std::vector<Seed> seeds(unsigned fixed);
/// first .. end - 1, and some of this run.
std::vector<Seed> seeds(unsigned first, unsigned end);

}  // namespace shoal::testing
