// Runs that stop in the middle of windows, and go on.
#include "dataset/maps/map_file.hpp"
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

std::string all_files(const SharedFolder& folder, const std::string& name) {
  return "[[file]]\nname = \"" + folder.file(name + "_%Y-%m.nc") +
         "\"\nevery = \"1 day\"\nnew_file = \"1 month\"\noperation = \"mean\"\n"
         "fields = [{ group = \"ocean\" }, \"zeta\", \"total\", { field = \"zeta\", name = \"spread\", "
         "operation = "
         "\"std\" }, { field = \"rain\", operation = \"sum\" }]\n"
         "[[file]]\nname = \"" +
         folder.file(name + "_long.nc") +
         "\"\nevery = \"2 months\"\noperation = \"maximum\"\nunfinished = \"write\"\n"
         "fields = [\"t*\", { field = \"count\", operation = \"first\" }]\n"
         "[[file]]\nname = \"" +
         folder.file(name + "_steps.nc") +
         "\"\nevery = \"5 steps\"\noperation = \"mean\"\nfields = [\"rain\"]\n";
}

void same(const SharedFolder& folder, const std::string& a, const std::string& b,
          const std::string& variable) {
  CAPTURE(a);
  CAPTURE(variable);
  const Read one = read_variable(folder.file(a), variable), two = read_variable(folder.file(b), variable);
  CHECK(one.shape == two.shape);
  CHECK(one.values == two.values);
}

}  // namespace

TEST_CASE("restart: the same bits as without, however the parts are cut") {
  const SharedFolder folder;
  Run whole;
  whole.configuration = all_files(folder, "whole");
  whole.steps = uneven_steps(4, 5, 18 * 3600.0);
  Toy(whole).go();
  for (const std::size_t at : {std::size_t{1}, whole.steps.size() / 2, whole.steps.size() - 2}) {
    CAPTURE(at);
    Run first = whole;
    first.configuration = all_files(folder, "split");
    first.end = at;
    first.checkpoint = folder.file("restart.nc");
    Toy(first).go();
    Run second = first;
    second.how = at % 2 == 0 ? Cut::map : Cut::rows;
    second.now_as_length = at == 1;
    second.first = at;
    second.end = 0;
    second.checkpoint = "";
    second.resume = folder.file("restart.nc");
    Toy(second).go();
    for (const char* month : {"_2001-01.nc", "_2001-02.nc"})
      for (const char* variable : {"temp", "zeta", "total", "spread", "rain", "time", "time_bounds"})
        same(folder, std::string("whole") + month, std::string("split") + month, variable);
    for (const char* variable : {"temp", "total", "count", "time_bounds"})
      same(folder, "whole_long.nc", "split_long.nc", variable);
    for (const char* variable : {"rain", "time_bounds"})
      same(folder, "whole_steps.nc", "split_steps.nc", variable);
  }
}

TEST_CASE("restart: files of the time before are not replaced without a checkpoint") {
  const SharedFolder folder;
  Run run;
  run.configuration = "[[file]]\nname = \"" + folder.file("one.nc") +
                      "\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"zeta\"]\n";
  run.steps = uneven_steps(3, 7, 18 * 3600.0);
  run.end = run.steps.size() / 2;
  Toy(run).go();
  const auto before = read_variable(folder.file("one.nc"), "zeta").values;
  Run again = run;
  again.first = run.end;
  again.end = 0;
  Toy toy(again);
  Status status;
  for (std::size_t step = again.first; step < again.steps.size(); ++step)
    status.merge(toy.advance_and_send_anyway(step));
  status.merge(caught([&] { toy.streams->close(); }));
  CHECK(status.code == Code::exists);
  CHECK_MESSAGE(status.message.find("before 2001-01-3") != std::string::npos, status.text());
  CHECK(read_variable(folder.file("one.nc"), "zeta").values == before);
}

TEST_CASE("restart: the job's time is a date, or how long it is after the start") {
  const auto open_at = [](const std::string& now) {
    StreamsOptions options;
    options.configuration =
        "[[file]]\nname = \"a.nc\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"total\"]\n";
    options.calendar = "noleap";
    options.start = "2001-02-28 12:00:00";
    options.now = now;
    auto streams = Streams::open(MPI_COMM_WORLD, options);
    return streams->report();
  };
  for (const std::string now : {"2001-03-01 00:30", "12.5 h", "45000 s", " 45000.000000 s"})
    CHECK_MESSAGE(open_at(now).find("\"now\": \"2001-03-01 00:30:00\"") != std::string::npos, now);
  CHECK(open_at("1 month").find("\"now\": \"2001-03-28 12:00:00\"") != std::string::npos);
  for (const std::string now : {"12.5", "-1 h", "3 steps", "soon"}) {
    CAPTURE(now);
    CHECK(caught([&] { open_at(now); }).code == Code::invalid_argument);
  }
}

TEST_CASE("restart: what the environment says of the model's files is no error of checkpoints and maps") {
  const SharedFolder folder;
  Run run;
  run.configuration = "[[file]]\nname = \"" + folder.file("one.nc") +
                      "\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [\"zeta\"]\n"
                      "format = \"netcdf4\"\n";
  run.start = "2001-01-30";
  run.steps = std::vector<double>(4, 43200.0);
  run.end = 3;
  run.checkpoint = folder.file("saved.nc");
  ::setenv("SHOAL_UNUSED_SETTINGS", "refuse", 1);
  ::setenv("SHOAL_COMPRESSION", "deflate:1", 1);
  ::setenv("SHOAL_PACK", "short(-2, 35)", 1);
  ::setenv("SHOAL_QUANTIZE", "bitround:3", 1);
  const Status saved = caught([&] {
    Toy toy(run);
    toy.go();
    save_decomposition(world().handle(), toy.grid.get(), folder.file("map.nc"));
  });
  // Of other drivers; nothing is written now.
  ::setenv("SHOAL_ACCESS", "independent", 1);
  Run later = run;
  later.first = 3;
  later.resume = run.checkpoint;
  const Status read = caught([&] {
    Toy toy(later);
    load_decomposition(world().handle(), folder.file("map.nc"), "");
  });
  for (const char* name :
       {"SHOAL_UNUSED_SETTINGS", "SHOAL_COMPRESSION", "SHOAL_ACCESS", "SHOAL_PACK", "SHOAL_QUANTIZE"})
    ::unsetenv(name);
  CHECK_MESSAGE(saved.ok(), saved.text());
  CHECK_MESSAGE(read.ok(), read.text());
}

TEST_CASE("restart: a checkpoint of another time is refused") {
  const SharedFolder folder;
  Run run;
  run.configuration = all_files(folder, "wrong");
  run.steps = uneven_steps(2, 7, 18 * 3600.0);
  run.end = 3;
  run.checkpoint = folder.file("restart.nc");
  Toy(run).go();
  Run later = run;
  later.first = 4;
  later.resume = folder.file("restart.nc");
  const Status status = caught([&] { Toy toy(later); });
  CHECK(status.code == Code::invalid_argument);
  CHECK_MESSAGE(status.message.find("now of the checkpoint") != std::string::npos, status.text());
  later.resume = folder.file("nothing.nc");
  CHECK(caught([&] { Toy toy(later); }).code == Code::not_found);
}

TEST_CASE("restart: a file that goes on keeps the type of its variables, and has no other dimensions") {
  const SharedFolder folder;
  Run run;
  const auto configuration = [&](const std::string& type, const std::string& more) {
    return "[[file]]\nname = \"" + folder.file("one.nc") + "\"\nevery = \"1 day\"\noperation = \"mean\"\n" +
           more + "fields = [{ field = \"temp\", type = \"" + type + "\" }]\n";
  };
  run.configuration = configuration("double", "");
  run.steps = std::vector<double>(8, 12 * 3600.0);
  run.end = 4;
  run.checkpoint = folder.file("restart.nc");
  Toy(run).go();
  Run later = run;
  later.first = 4;
  later.end = 0;
  later.checkpoint = "";
  later.resume = folder.file("restart.nc");
  later.configuration = configuration("float", "reduce = { dims = [\"lev\"] }\n");
  Toy reduced(later);
  const Status status = caught([&] { reduced.go(); });
  CHECK_MESSAGE(
      status.message.find("the dimensions (time lev y x), and its description has (time y x) now") !=
          std::string::npos,
      status.text());
  later.configuration = configuration("float", "");
  Toy(later).go();
  const Read found = read_variable(folder.file("one.nc"), "temp");
  CHECK(found.type == Type::double_);
  CHECK(found.shape[0] == 4);
}

namespace {

/// Four steps of six hours, a job of two each; the second one may have another configuration.
struct TwoJobs {
  SharedFolder folder;
  Run run(const std::string& fields, const std::string& more = "") const {
    Run out;
    out.configuration = "[[file]]\nname = \"" + folder.file("one.nc") +
                        "\"\nevery = \"1 day\"\noperation = \"mean\"\nfields = [" + fields + "]\n" + more;
    out.start = "2001-01-30";
    out.steps = std::vector<double>(4, 21600.0);
    return out;
  }
  Run first(const std::string& fields) const {
    Run out = run(fields);
    out.end = 2;
    out.checkpoint = folder.file("saved.nc");
    return out;
  }
  Run second(const std::string& fields, const std::string& more = "") const {
    Run out = run(fields, more);
    out.first = 2;
    out.how = Cut::map;
    out.resume = folder.file("saved.nc");
    return out;
  }
  std::vector<double> read(const std::string& variable) const {
    return read_variable(folder.file("one.nc"), variable).values;
  }
};

double total(int step) {
  return value(3, step, 0, 0, 0);
}

std::string with(const std::string& operation, const std::string& field = "total") {
  return "{ field = \"" + field + "\", name = \"" + field + "_" + operation.substr(0, 3) +
         "\", operation = \"" + operation + "\" }";
}

}  // namespace

TEST_CASE("restart: operations that are new begin with the job, the others go on") {
  const double mean = (total(1) + total(2) + total(3) + total(4)) / 4;
  const double low = std::min({total(1), total(2), total(3), total(4)});
  for (const std::string before : {"mean", "minimum"}) {
    const TwoJobs jobs;
    Toy(jobs.first(with(before))).go();
    Toy(jobs.second(with("mean") + ", " + with("minimum") + ", " + with("maximum") + ", " +
                    with("mean", "count") + ", " + with("count", "zeta")))
        .go();
    CHECK(jobs.read("total_mea")[0] ==
          doctest::Approx(before == "mean" ? mean : (total(3) + total(4)) / 2).epsilon(1e-14));
    CHECK(jobs.read("total_min")[0] == (before == "minimum" ? low : std::min(total(3), total(4))));
    CHECK(jobs.read("total_max")[0] == std::max(total(3), total(4)));
    CHECK(jobs.read("zeta_cou")[7] ==
          (testing::is_missing(3, 0, 7) ? 0 : 1) + (testing::is_missing(4, 0, 7) ? 0 : 1));
    CHECK(jobs.read("time_bounds") == std::vector<double>{0, 86400});
  }
}

TEST_CASE("restart: operations that began in different jobs go on in the next, each by itself") {
  const TwoJobs jobs;
  Run first = jobs.first(with("mean"));
  first.end = 1;
  Toy(first).go();
  Run second = jobs.second(with("mean") + ", " + with("maximum"));
  second.first = 1;
  second.end = 3;
  second.checkpoint = jobs.folder.file("again.nc");
  Toy(second).go();
  Run third = jobs.second(with("maximum") + ", " + with("mean") + ", " + with("sum"));
  third.first = 3;
  third.resume = second.checkpoint;
  third.how = Cut::columns;
  Toy(third).go();
  CHECK(jobs.read("total_mea")[0] ==
        doctest::Approx((total(1) + total(2) + total(3) + total(4)) / 4).epsilon(1e-14));
  CHECK(jobs.read("total_max")[0] == std::max({total(2), total(3), total(4)}));
  CHECK(jobs.read("total_sum")[0] == total(4));
}

TEST_CASE("restart: what the second job does not need any more is left out") {
  const TwoJobs jobs;
  Toy(jobs.first(with("mean") + ", " + with("maximum") + ", " + with("mean", "zeta"))).go();
  Toy(jobs.second(with("maximum"), "exists = \"replace\"\n")).go();
  CHECK(jobs.read("total_max")[0] == std::max({total(1), total(2), total(3), total(4)}));
  // Other cells, or another type of values, are nothing that goes on.
  Toy(jobs.first(with("maximum", "zeta"))).go();
  Toy(jobs.second(with("maximum", "zeta"), "indices = { x = [0, 8] }\nexists = \"replace\"\n")).go();
  const auto zeta = jobs.read("zeta_max");
  REQUIRE(zeta.size() == k_rows * 8);
  CHECK(zeta[7] == doctest::Approx(testing::is_missing(3, 0, 7) ? value(1, 4, 0, 0, 7)
                                   : testing::is_missing(4, 0, 7)
                                       ? value(1, 3, 0, 0, 7)
                                       : std::max(value(1, 3, 0, 0, 7), value(1, 4, 0, 0, 7))));
}

TEST_CASE("restart: a file that goes on, and is not there any more, begins anew") {
  const TwoJobs jobs;
  Run first = jobs.run(with("mean"));
  first.steps = std::vector<double>(6, 21600.0);
  first.end = 5;
  first.checkpoint = jobs.folder.file("saved.nc");
  Toy(first).go();
  world().on_root([&] { std::filesystem::remove(jobs.folder.file("one.nc")); });
  Run second = first;
  second.first = 5;
  second.end = 0;
  second.checkpoint = "";
  second.resume = first.checkpoint;
  second.configuration += "unfinished = \"write\"\n";
  Toy(second).go();
  CHECK(jobs.read("time_bounds") == std::vector<double>{86400, 129600});
}
