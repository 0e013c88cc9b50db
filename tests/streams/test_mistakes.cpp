// Fields that are not sent, sent twice or of another shape; configurations with mistakes: one answer on all
// ranks.
#include <chrono>
#include <thread>

#include "streams/file_problems.hpp"
#include "support/faulty_store.hpp"
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

std::string daily(const SharedFolder& folder, const std::string& more = "") {
  return "[[file]]\nname = \"" + folder.file("day.nc") +
         "\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"zeta\", \"rain\"]\n" + more;
}

/// Half days: windows end with every second step.
Run half_days(const std::string& configuration) {
  Run run;
  run.configuration = configuration;
  run.start = "2001-01-30";
  run.steps = std::vector<double>(6, 43200.0);
  run.masked = false;
  return run;
}

Status run_all(Toy& toy, const Run& run) {
  Status first;
  for (std::size_t step = 0; step < run.steps.size(); ++step)
    first.merge(toy.advance_and_send_anyway(step));
  first.merge(caught([&] { toy.streams->close(); }));
  return first;
}

void says(const Status& status, Code code, const std::string& part) {
  CHECK(status.code == code);
  CHECK_MESSAGE(status.text().find(part) != std::string::npos, status.text());
}

}  // namespace

TEST_CASE("mistakes: what one rank refuses for a field that does not exist reaches all") {
  const SharedFolder folder;
  const Run run = half_days(daily(folder));
  Toy toy(run);
  Status first;
  for (std::size_t step = 0; step < run.steps.size(); ++step) {
    first.merge(toy.advance_and_send_anyway(step));
    if (step == 0 && world().rank() == world().size() - 1)
      first.merge(caught([&] { toy.streams->refuse(-1, {Code::not_found, "no such field", -1, {}, {}}); }));
  }
  first.merge(caught([&] { toy.streams->close(); }));
  says(first, Code::not_found, "no such field");
}

TEST_CASE("mistakes: a wrong time of one rank reaches all where a window ends, and nobody waits") {
  const SharedFolder folder;
  const Run run = half_days(daily(folder));
  Toy toy(run);
  const bool is_wrong = world().rank() == world().size() - 1;
  Status first;
  for (std::size_t step = 0; step < run.steps.size(); ++step) {
    if (is_wrong && step == 1) {  // nothing is due: this rank alone knows, and advances again
      const Status alone = caught([&] { toy.streams->advance_to("2001-01-29"); });
      says(alone, Code::invalid_argument, "it is 2001-01-30 12:00:00 already");
    }
    if (step != 2 || !is_wrong) {
      first.merge(toy.advance_and_send_anyway(step));
      continue;
    }
    toy.seconds += run.steps[step];
    first.merge(caught([&] { toy.streams->advance_to("no date"); }));
  }
  says(first, Code::invalid_argument, "'no date'");
  // What was due was written.
  const auto rain = read_variable(folder.file("day.nc"), "rain").values;
  CHECK(rain[7] == doctest::Approx((value(2, 1, 0, 0, 7) + value(2, 2, 0, 0, 7)) / 2));
  first = caught([&] { toy.streams->close(); });
}

TEST_CASE("mistakes: different times of ranks are an error of all") {
  if (world().size() == 1) return;
  const SharedFolder folder;
  const Run run = half_days(daily(folder));
  Toy toy(run);
  for (std::size_t step = 0; step < 2; ++step)
    toy.advance_and_send(step);
  const Status status = caught([&] { toy.streams->advance(world().rank() == 0 ? 100000.0 : 100001.0); });
  says(status, Code::out_of_step, "different times, the last to 2001-01-31 03:46:41");
}

TEST_CASE("mistakes: a time that ends a window on one rank alone") {
  if (world().size() == 1) return;
  const bool is_wrong = world().rank() == world().size() - 1;
  for (const double to : {1.25, 1.5}) {  // days; the others are at 1 then
    const SharedFolder folder;
    const Run run = half_days(daily(folder));
    Toy toy(run);
    toy.advance_and_send(0);
    Status status;
    if (is_wrong) {  // its window ends here: it waits for the others at the end of theirs
      status = caught([&] { toy.streams->advance(to * 86400); });
    } else {
      toy.advance_and_send(1);
      status = toy.advance_and_send_anyway(2);
    }
    says(status, Code::out_of_step,
         to == 1.25 ? "different times, the last to 2001-01-31 12:00:00"
                    : "up to 2001-01-31 12:00:00 one rank advanced its streams 2 times, another one 3 times");
  }
}

TEST_CASE("mistakes: a rank that does not come is waited for as long as the configuration says") {
  if (world().size() == 1) return;
  const SharedFolder folder;
  const Run run = half_days(daily(folder, "wait_seconds = 1\n"));
  Toy toy(run);
  for (std::size_t step = 0; step < 2; ++step)
    toy.advance_and_send(step);
  const bool is_late = world().rank() == world().size() - 1;
  if (is_late) std::this_thread::sleep_for(std::chrono::seconds(3));
  const Status status = toy.advance_and_send_anyway(2);
  CHECK_MESSAGE(status.code == Code::timeout, status.text());
  CHECK(status.text().find("streams_advance") != std::string::npos);
  toy.streams.reset();
}

TEST_CASE("mistakes: a field that is not sent, on one rank or all") {
  for (const bool everywhere : {true, false}) {
    for (const bool warns : {false, true}) {
      const SharedFolder folder;
      Run run = half_days(daily(folder, warns ? "missing = \"warn\"\n" : ""));
      const int last = world().size() - 1;
      run.sends = [=](const std::string& field, std::size_t step) {
        return field != "rain" || step != 3 || (!everywhere && world().rank() != last);
      };
      Toy toy(run);
      const Status status = run_all(toy, run);
      if (warns)
        CHECK_MESSAGE(status.ok(), status.text());
      else
        says(status, Code::state, "'rain' was not sent in the step to 2001-02-01 00:00:00");
      // The window has no value of the field; other fields and windows have theirs.
      const auto rain = read_variable(folder.file("day.nc"), "rain").values;
      const auto zeta = read_variable(folder.file("day.nc"), "zeta").values;
      const std::size_t cells = k_rows * k_columns;
      REQUIRE(rain.size() == 3 * cells);
      CHECK(rain[1 * cells + 7] > 1e36);
      CHECK(rain[0 * cells + 7] < 100);
      CHECK(rain[2 * cells + 7] < 100);
      CHECK(zeta[1 * cells + 7] < 100);
    }
  }
}

TEST_CASE("mistakes: sent twice, of another shape, of another type") {
  const SharedFolder folder;
  const Run run = half_days(daily(folder));
  {
    Toy toy(run);
    Status status;
    for (std::size_t step = 0; step < run.steps.size(); ++step) {
      status.merge(toy.advance_and_send_anyway(step));
      if (step == 2) status.merge(caught([&] { toy.send("rain", 40); }));
    }
    status.merge(caught([&] { toy.streams->close(); }));
    says(status, Code::state, "sent already");
    // The first values count.
    const auto rain = read_variable(folder.file("day.nc"), "rain").values;
    CHECK(rain[k_rows * k_columns + 7] < 1e30);
  }
  Toy toy(run);
  Status status;
  for (std::size_t step = 0; step < run.steps.size(); ++step) {
    toy.seconds += run.steps[step];
    status.merge(caught([&] { toy.streams->advance(toy.seconds); }));
    const bool wrong = step == 2 && world().rank() == 0;
    std::vector<float> few(3);
    if (wrong && !toy.grid->tile().empty())
      status.merge(caught([&] {
        toy.streams->send(toy.numbers["rain"], {ArrayView::contiguous(few.data(), Type::float_, {3}), {}});
      }));
    else if (wrong)
      toy.streams->keep_problem({Code::invalid_argument, "extents 3", -1, {}, {}});
    else
      toy.send("rain", static_cast<std::int64_t>(step) + 1);
    toy.send("zeta", static_cast<std::int64_t>(step) + 1);
  }
  status.merge(caught([&] { toy.streams->close(); }));
  says(status, Code::invalid_argument, "extents 3");
}

namespace {

/// Some writes of rank 0 fail, from the one after so many on. Did the run have an error?
bool fails_on_a_full_disk(const std::string& how, std::int64_t after) {
  const SharedFolder folder;
  const std::string path = folder.file("full.nc");
  Run run = half_days("[[file]]\nname = \"" + path +
                      "\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"zeta\", \"total\"]\n" + how);
  run.steps = std::vector<double>(12, 43200.0);
  StoreOpener opener = open_posix_store;
  if (world().rank() == 0) opener = with_fault(open_posix_store, {"write", after, 2, 28});
  run.maker.options = [opener](const std::string& settings) {
    DatasetOptions options = FileMaker().options(settings);
    options.open_store = opener;
    return options;
  };
  Toy toy(run);
  const Status status = run_all(toy, run);
  const auto codes =
      world().max(std::vector<std::int64_t>{static_cast<int>(status.code), -static_cast<int>(status.code)});
  CHECK(codes[0] == -codes[1]);  // all ranks alike
  if (!status.ok()) {
    CHECK_MESSAGE(status.code == Code::no_space, status.text());
    CHECK(status.file == path);
  }
  if (!std::filesystem::exists(path)) return !status.ok();
  // What is in the file is whole, and in order; nothing of it counts before it is closed, where that is said.
  const Status readable = caught([&] { read_variable(path, "total"); });
  if (!status.ok() && how.find("close") != std::string::npos && readable.code == Code::format) return true;
  const auto bounds = read_variable(path, "time_bounds").values, total = read_variable(path, "total").values;
  REQUIRE(bounds.size() == 2 * total.size());
  for (std::size_t i = 0; i < total.size(); ++i) {
    const auto day = std::llround(bounds[2 * i] / 86400.0);
    CHECK((i == 0 || bounds[2 * i] >= bounds[2 * i - 1]));
    const double first = value(3, 2 * day + 1, 0, 0, 0), second = value(3, 2 * day + 2, 0, 0, 0);
    CHECK(total[i] == (43200e6 * first + 43200e6 * second) / 86400e6);
  }
  return !status.ok();
}

}  // namespace

TEST_CASE("mistakes: a disk that is full for a while") {
  for (const std::string how : {"", "commit = \"close\"\n", "background = \"thread\"\n"}) {
    int failures = 0;
    for (std::int64_t after = 0; after < 24; after += 3) {
      CAPTURE(how);
      CAPTURE(after);
      failures += fails_on_a_full_disk(how, after) ? 1 : 0;
    }
    CHECK(failures > 0);
  }
}

TEST_CASE("mistakes: a folder that does not exist is known with the first step") {
  const SharedFolder folder;
  const Run run = half_days("[[file]]\nname = \"" + folder.file("none/day.nc") +
                            "\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"rain\"]\n");
  Toy toy(run);
  const Status status = caught([&] { toy.streams->advance(1); });
  says(status, Code::not_found, "there is no folder");
  CHECK(status.file == folder.file("none/day.nc"));
}

TEST_CASE("mistakes: time that goes back, and steps longer than windows") {
  const SharedFolder folder;
  Run run = half_days(daily(folder));
  Toy toy(run);
  toy.advance_and_send(0);
  says(caught([&] { toy.streams->advance(43200.0); }), Code::invalid_argument,
       "it is 2001-01-30 12:00:00 already");
  says(caught([&] { toy.streams->advance(43200.0 + 3 * 86400.0); }), Code::invalid_argument,
       "longer than windows of 1 day");
  toy.streams.reset();
}

TEST_CASE("mistakes: a field that is sent before the first advance") {
  for (const bool refuses : {false, true}) {
    const SharedFolder folder;
    const Run run = half_days(daily(folder));
    Toy toy(run);
    // A model that asks first is told, too.
    CHECK(toy.streams->wants(toy.numbers["rain"]));
    CHECK_FALSE(toy.streams->wants(-1));
    CHECK_FALSE(toy.streams->wants(99));
    const Status alone = caught([&] {
      if (refuses)
        toy.streams->refuse(toy.numbers["rain"], {Code::type, "complex numbers", -1, {}, {}});
      else
        toy.send("rain", 1);
    });
    CHECK(alone.ok() == (world().size() > 1));
    const Status all = world().size() > 1 ? caught([&] { toy.streams->advance(43200); }) : alone;
    if (refuses)
      says(all, Code::type, "complex numbers");
    else
      says(all, Code::state, "field 'rain' was sent before the first step; advance first");
    // Nothing was changed: the run can begin now.
    CHECK(run_all(toy, run).ok());
    CHECK(read_variable(folder.file("day.nc"), "rain").values[7] ==
          doctest::Approx((value(2, 1, 0, 0, 7) + value(2, 2, 0, 0, 7)) / 2));
  }
}

TEST_CASE("mistakes: a field that is sent between a checkpoint and the next advance") {
  const SharedFolder folder;
  const Run run = half_days(daily(folder));
  Toy toy(run);
  toy.advance_and_send(0);
  toy.streams->checkpoint(folder.file("saved.nc"));
  CHECK(toy.streams->wants(toy.numbers["rain"]));
  Status status = caught([&] { toy.send("rain", 2); });
  for (const std::size_t step : {1, 2})
    status.merge(toy.advance_and_send_anyway(step));
  says(status, Code::state,
       "field 'rain' was sent when the step to 2001-01-30 12:00:00 was complete; advance");
  toy.streams.reset();
}

TEST_CASE("mistakes: other cells of a dimension that fields share are known before the run") {
  const std::string text =
      "[[file]]\nname = \"x.nc\"\nevery = \"1 day\"\noperation = \"mean\"\n"
      "fields = [\"zeta\", \"v\"]\nregion = { row = [1, 2] }\n";
  Toy toy(half_days(text));
  Descriptions& model = toy.streams->descriptions();
  model.add_grid("staggered", "y xv", toy.grid);
  model.add_field("v", Type::float_, "y xv", "staggered", "", false);
  const bool is_empty = toy.grid->tile().empty();
  std::vector<double> rows;
  for (const std::int64_t cell : is_empty ? std::vector<std::int64_t>{} : cells_of(*toy.grid))
    rows.push_back(static_cast<double>(cell / k_columns));
  model.add_grid_variable(
      "sea", "row",
      ArrayView::contiguous(rows.data(), Type::double_, is_empty ? Dims(2) : own_extents({}, toy.grid.get())),
      false);
  std::vector<Problem> problems;
  const Configuration configuration = read_configuration(text, "the configuration");
  CHECK_FALSE(
      plan_of_file(world(), configuration, configuration.files[0], model, {Calendar(), {}, {}}, problems));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].line == 5);
  CHECK(problems[0].key == "fields");
  const std::string part = "'v' has other cells of dimension 'y' than fields before it";
  CHECK(problems[0].message.starts_with(part));
  const Status status = caught([&] { toy.streams->advance(100); });
  says(status, Code::setting, "line 5: fields: " + part);
  CHECK(status.file == "the configuration");
}

TEST_CASE("mistakes: what a configuration says of fields that there are not") {
  const auto fails = [](const std::string& text, Code code, const std::string& part) {
    Run run = half_days(text);
    const Status status = caught([&] {
      Toy toy(run);
      toy.streams->advance(100);
    });
    says(status, code, part);
  };
  const std::string head = "[[file]]\nname = \"x.nc\"\nevery = \"1 day\"\noperation = \"mean\"\n";
  fails(head + "fields = [\"tmp\"]\n", Code::not_found,
        "line 5: fields: the model has no field 'tmp'; did you mean 'temp'?");
  fails(head + "fields = [\"q*\"]\n", Code::not_found, "no field of the model matches 'q*'");
  fails(head + "fields = [{ group = \"sea\" }]\n", Code::not_found, "in group 'sea'");
  fails(head + "fields = [\"zeta\", \"z*\"]\n", Code::setting, "has 'zeta' twice");
  fails(head + "fields = [\"zeta\"]\nreduce = { dims = [\"lev\"] }\n", Code::setting,
        "none of the dimensions lev");
  fails(head + "fields = [\"zeta\"]\nfrom = \"2001-02-30\"\n", Code::invalid_argument, "from:");
  // Paths in groups.
  const auto named = [](const std::string& name) {
    return "fields = [\n\"zeta\",\n{ field = \"total\", name = \"" + name + "\" }]\n";
  };
  fails(head + named("sea/t"), Code::invalid_argument, "line 7: fields: no variable may be called 'sea/t'");
  fails(head + named("sea/t"), Code::invalid_argument, "format cdf5 has no groups; netcdf4 has them");
  const std::string with_groups = head + "format = \"netcdf4\"\n";
  for (const char* name : {"/t", "sea/", "sea//t"})
    fails(with_groups + named(name), Code::invalid_argument, "line 8: fields: no variable may be called");
  for (const char* name : {"zeta/t", "x/t", "time/a/t"})
    fails(with_groups + named(name), Code::exists,
          std::string("line 8: fields: '") + name + "' would be in a group '");
  fails(with_groups + "fields = [\"temp\"]\ninterpolate = { to = [10], name = \"sea/z\" }\n", Code::setting,
        "line 7: interpolate.name: 'sea/z' is in a group");
}

TEST_CASE("mistakes: axes, dimensions and coordinates in groups") {
  Toy toy(
      half_days("[[file]]\nname = \"x.nc\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"zeta\"]\n"));
  Descriptions& model = toy.streams->descriptions();
  const std::string part = "would be in a group; only fields are";
  double one = 1;
  const ArrayView values = ArrayView::contiguous(&one, Type::double_, {1});
  says(caught([&] { model.add_axis("sea/z", values, nullptr); }), Code::invalid_argument, part);
  says(caught([&] { model.add_grid("other", "sea/y x", toy.grid); }), Code::invalid_argument, part);
  says(caught([&] { model.add_grid_variable("sea", "sea/lat", values, false); }), Code::invalid_argument,
       part);
}
