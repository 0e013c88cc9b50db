// Values at other levels, however the model is cut; against NumPy: python/tests/programs/levels.py.
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

TEST_CASE("levels: between, at and outside of those of the axis, however the model is cut") {
  // lev is 5, 20, 60.
  const std::vector<double> to = {4, 5, 12.5, 20, 50, 61};
  for (const Cut how : {Cut::columns, Cut::rows, Cut::map})
    for (const std::string when : {"before", "after"})
      for (const bool masked : {false, true}) {
        const SharedFolder folder;
        Run run;
        run.configuration =
            "[[file]]\nname = \"" + folder.file("a.nc") +
            "\"\nevery = \"1 day\"\noperation = \"mean\"\ntype = \"double\"\n" +
            "fields = [\"temp\", \"rain\"]\ninterpolate = { to = [4, 5, 12.5, 20, 50, 61], when = \"" + when +
            "\" }\n";
        run.start = "2001-01-30";
        run.steps = {86400.0};
        run.how = how;
        run.masked = masked;
        run.halo = true;
        Toy(run).go();
        const Read got = read_variable(folder.file("a.nc"), "temp");
        REQUIRE(got.shape == Dims{1, 6, k_rows, k_columns});
        CHECK(read_variable(folder.file("a.nc"), "lev").values == to);
        CHECK(read_variable(folder.file("a.nc"), "rain").shape == Dims{1, k_rows, k_columns});
        std::int64_t differ = 0;
        std::size_t i = 0;
        for (const double level : to)
          for (std::int64_t y = 0; y < k_rows; ++y)
            for (std::int64_t x = 0; x < k_columns; ++x, ++i) {
              const bool none = level < 5 || level > 60 || (masked && is_land(y, x));
              if (none) {
                differ += got.values[i] < 1e30 ? 1 : 0;
                continue;
              }
              const std::int64_t k = level < 20 ? 0 : 1;
              const double depths[] = {5, 20, 60};
              const auto at = [&](std::int64_t lev) {
                return static_cast<double>(static_cast<float>(value(0, 1, lev, y, x)));
              };
              const double above = at(k), below = at(k + 1);
              double expected = above + (below - above) * ((level - depths[k]) / (depths[k + 1] - depths[k]));
              if (level == depths[k]) expected = above;
              expected = expected * 86400e6 / 86400e6;
              differ += got.values[i] != expected ? 1 : 0;
            }
        CHECK(differ == 0);
      }
}

TEST_CASE("levels: a field of levels that is not sent is a hole") {
  for (const std::string when : {"before", "after"}) {
    const SharedFolder folder;
    Run run;
    run.configuration = "[[file]]\nname = \"" + folder.file("a.nc") +
                        "\"\nevery = \"1 day\"\noperation = \"mean\"\n" +
                        "fields = [\"zeta\"]\n[[file]]\nname = \"" + folder.file("b.nc") +
                        "\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"temp\"]\n" +
                        "interpolate = { to = [1, 2], levels = \"temp\", when = \"" + when + "\" }\n";
    run.start = "2001-01-30";
    run.steps = {43200.0, 43200.0};
    run.sends = [](const std::string& field, std::size_t step) { return field != "temp" || step == 0; };
    const Status status = caught([&] { Toy(run).go(); });
    CHECK(status.code == Code::state);
    CHECK_MESSAGE(status.message.starts_with("'temp' was not sent in the step to 2001-01-31"), status.text());
  }
}
