// The main of the unit tests. They start no MPI; what needs ranks is in tests/mpi.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
