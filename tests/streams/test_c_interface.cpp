// The C interface: what streams.h says.
#include "shoal/streams.h"

#include "toy_model.hpp"

using namespace shoal::testing;

namespace {

std::string message() {
  return shoal_error_message();
}

}  // namespace

TEST_CASE("C interface: a run, from open to close") {
  const SharedFolder folder;
  const std::string text =
      "[[file]]\nname = \"" + folder.file("c.nc") +
      "\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"t\"]\nbackground = \"thread\"\n"
      "background_close = true\n";
  shoal_streams* streams = nullptr;
  REQUIRE(shoal_streams_open(MPI_COMM_WORLD, text.c_str(), "noleap", "2001-02-28", nullptr, &streams) ==
          SHOAL_OK);
  const std::int64_t ranks = world().size(), rank = world().rank();
  const std::int64_t global[] = {2, 3 * ranks}, first[] = {0, 3 * rank}, count[] = {2, 3};
  shoal_decomposition* decomposition = nullptr;
  REQUIRE(shoal_block(MPI_COMM_WORLD, 2, global, first, count, nullptr, nullptr, &decomposition) == SHOAL_OK);
  CHECK(shoal_streams_grid(streams, "g", "y x", decomposition) == SHOAL_OK);
  double ys[] = {1, 2};
  const std::int64_t two[] = {2};
  const shoal_array axis = shoal_array_of(ys, SHOAL_DOUBLE, 1, two);
  CHECK(shoal_streams_axis(streams, "y", &axis, nullptr) == SHOAL_OK);
  std::vector<double> cells(6, 1.0 + static_cast<double>(rank));
  const shoal_array array = shoal_array_of(cells.data(), SHOAL_DOUBLE, 2, count);
  CHECK(shoal_streams_coordinate(streams, "g", "lon", &array) == SHOAL_OK);
  CHECK(shoal_streams_area(streams, "g", "cell_area", &array) == SHOAL_OK);
  int t = -1, unused = -1;
  CHECK(shoal_streams_field(streams, "t", SHOAL_DOUBLE, "y x", "g", nullptr, SHOAL_AT_INSTANT, &t) ==
        SHOAL_OK);
  CHECK(shoal_streams_field(streams, "u", SHOAL_DOUBLE, "y x", "g", "more", SHOAL_FOR_STEP, &unused) ==
        SHOAL_OK);
  CHECK(t == 0);
  CHECK(unused == 1);
  CHECK(shoal_streams_put_att(streams, "t", "units", SHOAL_CHAR, 1, "K") == SHOAL_OK);
  CHECK(shoal_decomposition_free(&decomposition) == SHOAL_OK);
  for (int step = 1; step <= 4; ++step) {
    REQUIRE(shoal_streams_advance(streams, step * 43200.0) == SHOAL_OK);
    int wanted = -1;
    CHECK(shoal_streams_wants(streams, t, &wanted) == SHOAL_OK);
    CHECK(wanted == 1);
    CHECK(shoal_streams_wants(streams, unused, &wanted) == SHOAL_OK);
    CHECK(wanted == 0);
    std::fill(cells.begin(), cells.end(), step);
    CHECK(shoal_streams_send(streams, t, &array) == SHOAL_OK);
    CHECK(shoal_streams_send(streams, unused, &array) == SHOAL_OK);
  }
  CHECK(std::string(shoal_streams_report(streams)).find("\"accumulator_bytes\": 48") != std::string::npos);
  REQUIRE_MESSAGE(shoal_streams_close(&streams) == SHOAL_OK, message());
  CHECK(streams == nullptr);
  REQUIRE(shoal_wait(MPI_COMM_WORLD) == SHOAL_OK);
  const Read got = read_variable(folder.file("c.nc"), "t");
  REQUIRE(got.shape == shoal::Dims{2, 2, 3 * ranks});
  CHECK(got.values.front() == 1.5);
  CHECK(got.values.back() == 3.5);
  CHECK(read_variable(folder.file("c.nc"), "lon").values.back() == static_cast<double>(ranks));
  // 29 February is no day of this calendar.
  CHECK(read_variable(folder.file("c.nc"), "time_bounds").values ==
        std::vector<double>{0, 86400, 86400, 172800});
}

TEST_CASE("C interface: the state at the start, and a job that begins so long after it") {
  const SharedFolder folder;
  const std::string saved = folder.file("saved.nc");
  const std::string text = "[[file]]\nname = \"" + folder.file("t.nc") +
                           "\"\nevery = \"1 day\"\noperation = \"instant\"\nfields = [\"t\"]\n";
  for (const bool later : {false, true}) {
    shoal_streams* streams = nullptr;
    REQUIRE(shoal_streams_open(MPI_COMM_WORLD, text.c_str(), "noleap", "2001-02-28", later ? "36 h" : nullptr,
                               &streams) == SHOAL_OK);
    int t = -1;
    CHECK(shoal_streams_field(streams, "t", SHOAL_DOUBLE, "", nullptr, nullptr, SHOAL_AT_INSTANT, &t) ==
          SHOAL_OK);
    if (later) REQUIRE_MESSAGE(shoal_streams_resume(streams, saved.c_str()) == SHOAL_OK, message());
    for (int step = later ? 4 : 0; step <= (later ? 4 : 3); ++step) {
      REQUIRE_MESSAGE(shoal_streams_advance(streams, step * 43200.0) == SHOAL_OK, message());
      double value = step;
      const shoal_array array = shoal_array_of(&value, SHOAL_DOUBLE, 0, nullptr);
      CHECK(shoal_streams_send(streams, t, &array) == SHOAL_OK);
    }
    if (!later) REQUIRE_MESSAGE(shoal_streams_checkpoint(streams, saved.c_str()) == SHOAL_OK, message());
    REQUIRE_MESSAGE(shoal_streams_close(&streams) == SHOAL_OK, message());
  }
  CHECK(read_variable(folder.file("t.nc"), "t").values == std::vector<double>{0, 2, 4});
  CHECK(read_variable(folder.file("t.nc"), "time").values == std::vector<double>{0, 86400, 172800});
}

TEST_CASE("C interface: mistakes have codes") {
  shoal_streams* streams = nullptr;
  const char* text = "[[file]]\nname = \"x.nc\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"t\"]\n";
  CHECK(shoal_streams_open(MPI_COMM_WORLD, text, "lunar", "2001-02-28", nullptr, &streams) ==
        SHOAL_INVALID_ARGUMENT);
  CHECK(shoal_streams_open(MPI_COMM_WORLD, text, "noleap", "2004-02-29", nullptr, &streams) ==
        SHOAL_INVALID_ARGUMENT);
  CHECK(shoal_streams_open(MPI_COMM_WORLD, text, "noleap", nullptr, nullptr, &streams) ==
        SHOAL_INVALID_ARGUMENT);
  CHECK(shoal_streams_open(MPI_COMM_WORLD, "[[file]]\nnme = 3\n", "noleap", "2001-01-01", nullptr,
                           &streams) == SHOAL_SETTING);
  CHECK(shoal_streams_open(MPI_COMM_WORLD, text, "noleap", "2001-01-02", "2001-01-01", &streams) ==
        SHOAL_INVALID_ARGUMENT);
  CHECK(streams == nullptr);
  CHECK(shoal_streams_close(&streams) == SHOAL_STATE);
  REQUIRE(shoal_streams_open(MPI_COMM_WORLD, text, "noleap", "2001-02-28", nullptr, &streams) == SHOAL_OK);
  int number = 0;
  CHECK(shoal_streams_field(streams, "t", SHOAL_DOUBLE, "z", nullptr, nullptr, SHOAL_AT_INSTANT, &number) ==
        SHOAL_NOT_FOUND);
  // All ranks learn of a description that failed.
  CHECK(shoal_streams_advance(streams, 10) == SHOAL_NOT_FOUND);
  CHECK(shoal_streams_field(streams, "t", SHOAL_DOUBLE, "", nullptr, nullptr, SHOAL_AT_INSTANT, &number) ==
        SHOAL_OK);
  CHECK(shoal_streams_advance(streams, 10) == SHOAL_OK);
  CHECK(shoal_streams_advance_to(streams, "2001-02-28 00:00:05") == SHOAL_INVALID_ARGUMENT);
  CHECK(shoal_streams_field(streams, "s", SHOAL_DOUBLE, "", nullptr, nullptr, SHOAL_AT_INSTANT, &number) ==
        SHOAL_STATE);
  shoal_streams_abandon(&streams);
  CHECK(streams == nullptr);
}
