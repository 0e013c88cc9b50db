// A model sends a field after each step of six hours; the configuration asks for the means of days.
#include <shoal/streams.hpp>
#include <stdexcept>
#include <vector>

const char* const daily = R"(
[[file]]
name = "first_streams_cpp.nc"
every = "1 day"
operation = "mean"
fields = ["zeta"]
)";

void run(int rank, int ranks) {
  const std::int64_t rows = 4;
  const std::int64_t nx = 8;
  auto tiles = shoal::Decomposition::block(MPI_COMM_WORLD, {rows * ranks, nx}, {rows * rank, 0}, {rows, nx});
  std::vector<float> zeta(static_cast<std::size_t>(rows * nx));

  auto streams = shoal::Streams::open(MPI_COMM_WORLD, daily, "noleap", "2001-01-01");
  streams.grid("sea", "y x", tiles);
  const int field = streams.field("zeta", shoal::Type::float_, "y x", "sea");
  streams.put_att("zeta", "units", "m");
  for (int step = 1; step <= 8; ++step) {
    zeta.assign(zeta.size(), static_cast<float>(step));
    streams.advance(21600.0 * step);  // the clock first: the step ends here
    streams.send(field, {zeta.data(), {rows, nx}});
  }
  streams.close();

  // The second day has steps 5 to 8.
  auto file = shoal::Dataset::open(MPI_COMM_WORLD, "first_streams_cpp.nc");
  std::vector<double> bounds(2);
  file.read("zeta", tiles, {zeta.data(), {rows, nx}}, 1);
  file.get("time_bounds", bounds, 1);
  file.close();
  if (zeta[0] != 6.5F || bounds[1] != 2 * bounds[0]) throw std::runtime_error("a wrong mean");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  shoal::abort_on_error();  // what nobody catches is printed once, and stops all ranks
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  run(rank, ranks);
  MPI_Finalize();
}
