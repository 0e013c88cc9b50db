// SPDX-License-Identifier: BSD-3-Clause
// A map as text, as PIO writes it.
#include <mpi.h>

#include <functional>

#include "dataset/map_file.hpp"
#include "fuzz.hpp"

using namespace shoal;

// MPI's threads run to the end, and the search for leaks fails on them.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Comm& comm = [] {
    MPI_Init(nullptr, nullptr);
    return std::ref(*new Comm(MPI_COMM_SELF));  // until the process ends
  }();
  static const fuzz::InputFile file("map");
  const std::string path = file.fill(data, size);
  fuzz::taken([&] {
    const auto cut = map_file::load_pio_text(comm, path, size % 2 == 0 ? "" : "c");
    fuzz::require(cut->map() != nullptr, "a map is read as a map");
  });
  return 0;
}
