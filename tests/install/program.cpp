// As program.c, through the C++ interface and netCDF-4.
#include <iostream>
#include <shoal/shoal.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int wrong = 0;
  try {
    constexpr std::int64_t k_cells = 10;
    auto row = shoal::Decomposition::block(MPI_COMM_WORLD, {k_cells * size}, {k_cells * rank}, {k_cells});
    std::vector<float> values(k_cells);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(k_cells * rank) + static_cast<float>(i);
    }

    auto file = shoal::Dataset::create(MPI_COMM_WORLD, "installed_cpp.nc", "format=netcdf4");
    file.def_dim("time", SHOAL_UNLIMITED);
    file.def_dim("x", k_cells * size);
    file.def_var("row", shoal::Type::float_, "time x", row);
    file.write("row", values, 0);
    file.close();

    std::vector<double> back(k_cells);
    file = shoal::Dataset::open(MPI_COMM_WORLD, "installed_cpp.nc");
    file.read("row", row, back, 0);
    file.close();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (back[i] != static_cast<double>(values[i])) ++wrong;
    }
  } catch (const shoal::Error& error) {
    std::cerr << error.name() << ": " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::cout << "C++: " << wrong << " of " << 10 * size << " values wrong\n";
  MPI_Finalize();
  return wrong != 0;
}
