// Windows that do not end where steps do.
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

Run hourly(const std::string& configuration, int steps) {
  Run run;
  run.configuration = configuration;
  run.start = "2001-01-30";
  run.steps = std::vector<double>(static_cast<std::size_t>(steps), 3600.0);
  return run;
}

std::string every(const SharedFolder& folder, const std::string& length, const std::string& operation) {
  return "[[file]]\nname = \"" + folder.file("odd.nc") + "\"\nevery = \"" + length + "\"\noperation = \"" +
         operation + "\"\nfields = [\"total\"]\n";
}

double total(std::int64_t step) {
  return value(3, step, 0, 0, 0);
}

}  // namespace

TEST_CASE("irregular: bounds are those of the steps that a record holds") {
  const SharedFolder folder;
  Toy(hourly(every(folder, "90 min", "mean") + "unfinished = \"write\"\nfms_attributes = true\n", 7)).go();
  // Steps end at 1, 2, 3, ... h, windows at 1.5, 3, 4.5, 6, ... h.
  const auto got = read_variable(folder.file("odd.nc"), "total").values;
  REQUIRE(got.size() == 5);
  CHECK(got[0] == total(1));
  CHECK(got[1] == doctest::Approx((total(2) + total(3)) / 2));
  CHECK(got[2] == total(4));
  CHECK(got[4] == total(7));
  const std::vector<double> bounds = {0, 3600, 3600, 10800, 10800, 14400, 14400, 21600, 21600, 25200};
  CHECK(read_variable(folder.file("odd.nc"), "time_bounds").values == bounds);
  CHECK(read_variable(folder.file("odd.nc"), "average_DT").values ==
        std::vector<double>{3600, 7200, 3600, 7200, 3600});
  CHECK(read_variable(folder.file("odd.nc"), "time").values ==
        std::vector<double>{1800, 7200, 12600, 18000, 23400});
}

TEST_CASE("irregular: with strict it is an error of the step, on all ranks, which changes nothing") {
  for (const std::string operation : {"mean", "instant"}) {
    const SharedFolder folder;
    const Run run = hourly(every(folder, "90 min", operation) + "strict = true\n", 3);
    Toy toy(run);
    toy.advance_and_send(0);
    const Status status = caught([&] { toy.streams->advance(7200.0); });
    CHECK(status.code == Code::setting);
    CHECK(status.file == folder.file("odd.nc"));
    CHECK_MESSAGE(status.message ==
                      "the step from 2001-01-30 01:00:00 to 2001-01-30 02:00:00 goes past 2001-01-30 "
                      "01:30:00, where a window of 90 min ends; the configuration says strict = true",
                  status.text());
    toy.streams->advance(5400.0);  // a shorter step
    toy.send_all(1);
    toy.streams->close();
    CHECK(read_variable(folder.file("odd.nc"), "time").values.size() == 1);
  }
}

TEST_CASE("irregular: strict takes windows that end with steps, and those that are left out") {
  const SharedFolder folder;
  for (const std::string keys : {"every = \"2 h\"\n", "every = \"5 steps\"\n",
                                 "every = \"90 min\"\nfrom = \"2001-01-30 06:00:00\"\n"}) {
    const Run run = hourly("[[file]]\nname = \"" + folder.file("even.nc") +
                               "\"\noperation = \"mean\"\nfields = [\"total\"]\nstrict = true\n" + keys,
                           5);
    CHECK_MESSAGE(caught([&] { Toy(run).go(); }).ok(), keys);
  }
}
