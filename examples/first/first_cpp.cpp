// Every rank owns some rows of a field and writes them, three records, to one NetCDF file.
#include <shoal/shoal.hpp>
#include <vector>

void write_file(int rank, int ranks) {
  const std::int64_t rows = 4;
  const std::int64_t nx = 8;
  auto tiles = shoal::Decomposition::block(MPI_COMM_WORLD, {rows * ranks, nx}, {rows * rank, 0}, {rows, nx});
  std::vector<float> zeta(static_cast<std::size_t>(rows * nx));

  auto file = shoal::Dataset::create(MPI_COMM_WORLD, "first_cpp.nc", shoal::Settings{}.format("netcdf4"));
  file.def_dim("time", SHOAL_UNLIMITED);
  file.def_dim("y", rows * ranks);
  file.def_dim("x", nx);
  file.def_var("zeta", shoal::Type::float_, "time y x", tiles);
  file.put_att("zeta", "units", "m");
  for (int step = 0; step < 3; ++step) {
    zeta.assign(zeta.size(), static_cast<float>(10 * rank + step));
    file.write("zeta", {zeta.data(), {rows, nx}}, step);
  }
  file.close();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  shoal::abort_on_error();  // what nobody catches is printed once, and stops all ranks
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  write_file(rank, ranks);
  MPI_Finalize();
}
