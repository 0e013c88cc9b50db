// Files one after another: names, windows of the calendar, climatologies, what goes on in the middle.
#include <cstdlib>

#include "support/builds.hpp"
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

bool exists(const std::string& path) {
  world().barrier();
  return std::filesystem::exists(path);
}

std::string file_table(const std::string& path, const std::string& keys) {
  return "[[file]]\nname = \"" + path + "\"\n" + keys;
}

}  // namespace

TEST_CASE("files: a new one each month, with the records of its windows") {
  const SharedFolder folder;
  Run run;
  run.start = "2001-01-30";
  run.configuration =
      file_table(folder.file("day_%Y-%m.nc"),
                 "every = \"1 day\"\nnew_file = \"1 month\"\noperation = \"mean\"\ntime = \"end\"\n"
                 "time_units = \"days\"\nfields = [\"zeta\"]\n") +
      file_table(folder.file("six_%Y%m%d.nc"),
                 "every = \"6 h\"\nnew_file = \"1 day\"\noperation = \"instant\"\nfields = [\"total\"]\n"
                 "from = \"2001-01-31\"\nuntil = \"2001-02-01\"\n");
  run.steps = std::vector<double>(4 * 12, 7200.0);
  Toy(run).go();
  CHECK(read_variable(folder.file("day_2001-01.nc"), "time").values == std::vector<double>{1, 2});
  CHECK(read_variable(folder.file("day_2001-02.nc"), "time").values == std::vector<double>{3, 4});
  CHECK_FALSE(exists(folder.file("day_2001-03.nc")));
  CHECK_FALSE(exists(folder.file("six_20010130.nc")));
  CHECK_FALSE(exists(folder.file("six_20010201.nc")));
  const double day = 86400;
  CHECK(read_variable(folder.file("six_20010131.nc"), "time").values ==
        std::vector<double>{1.25 * day, 1.5 * day, 1.75 * day, 2 * day});
  CHECK(read_variable(folder.file("six_20010131.nc"), "total").values[1] == value(3, 18, 0, 0, 0));
}

TEST_CASE("files: instants of steps that do not end where windows do") {
  const SharedFolder folder;
  Run run;
  run.start = "2001-01-30";
  run.configuration =
      file_table(folder.file("hour.nc"), "every = \"1 h\"\noperation = \"instant\"\nfields = [\"total\"]\n") +
      file_table(folder.file("mean.nc"), "every = \"1 h\"\noperation = \"mean\"\nfields = [\"total\"]\n");
  run.steps = std::vector<double>(6, 2400.0);  // 40 minutes: ends at 40, 80, 120, 160, 200, 240
  Toy(run).go();
  // The first step that reaches the end of the window.
  CHECK(read_variable(folder.file("hour.nc"), "time").values ==
        std::vector<double>{4800, 7200, 12000, 14400});
  CHECK(read_variable(folder.file("hour.nc"), "total").values ==
        std::vector<double>{value(3, 2, 0, 0, 0), value(3, 3, 0, 0, 0), value(3, 5, 0, 0, 0),
                            value(3, 6, 0, 0, 0)});
  // A step belongs to the window in which it ends.
  const auto mean = read_variable(folder.file("mean.nc"), "total").values;
  REQUIRE(mean.size() == 4);
  CHECK(mean[0] == 2400e6 * value(3, 1, 0, 0, 0) / 2400e6);
  CHECK(mean[1] == (2400e6 * value(3, 2, 0, 0, 0) + 2400e6 * value(3, 3, 0, 0, 0)) / 4800e6);
}

TEST_CASE("files: the state at the start is a record of files of instants") {
  const SharedFolder folder;
  const auto instants = [&](const std::string& name, const std::string& keys) {
    return file_table(folder.file(name), "operation = \"instant\"\nfields = [\"total\"]\n" + keys);
  };
  Run run;
  run.start = "2001-01-30";
  run.configuration =
      instants("six_%Y%m%d.nc", "every = \"6 h\"\nnew_file = \"1 day\"\n") +
      instants("steps.nc", "every = \"4 steps\"\n") +
      instants("middle.nc", "every = \"12 h\"\noffset = \"6 h\"\n") +
      instants("from.nc", "every = \"12 h\"\nfrom = \"2001-01-30\"\n") +
      file_table(folder.file("rain.nc"),
                 "every = \"12 h\"\noperation = \"instant\"\nfields = [\"total\", \"rain\"]\n") +
      file_table(folder.file("mixed.nc"),
                 "every = \"12 h\"\noperation = \"mean\"\n"
                 "fields = [\"total\", { field = \"total\", name = \"now\", "
                 "operation = \"instant\" }]\n");
  run.steps = std::vector<double>(12, 10800.0);
  Toy toy(run);
  toy.streams->advance(0.0);
  CHECK(toy.streams->wants(toy.numbers.at("total")));
  CHECK_FALSE(toy.streams->wants(toy.numbers.at("zeta")));
  toy.send("total", 0);
  CHECK(caught([&] { toy.streams->advance(0.0); }).code == Code::invalid_argument);
  toy.go();
  const double h = 3600;
  const auto times = [&](const char* name) { return read_variable(folder.file(name), "time").values; };
  CHECK_FALSE(exists(folder.file("six_20010129.nc")));
  CHECK(times("six_20010130.nc") == std::vector<double>{0, 6 * h, 12 * h, 18 * h, 24 * h});
  CHECK(times("six_20010131.nc") == std::vector<double>{30 * h, 36 * h});
  CHECK(read_variable(folder.file("six_20010130.nc"), "total").values ==
        std::vector<double>{value(3, 0, 0, 0, 0), value(3, 2, 0, 0, 0), value(3, 4, 0, 0, 0),
                            value(3, 6, 0, 0, 0), value(3, 8, 0, 0, 0)});
  CHECK(times("steps.nc") == std::vector<double>{0, 12 * h, 24 * h, 36 * h});
  CHECK(times("middle.nc") == std::vector<double>{6 * h, 18 * h, 30 * h});
  for (const char* without : {"from.nc", "rain.nc"})
    CHECK(times(without) == std::vector<double>{12 * h, 24 * h, 36 * h});
  CHECK(read_variable(folder.file("mixed.nc"), "time_bounds").values ==
        std::vector<double>{0, 12 * h, 12 * h, 24 * h, 24 * h, 36 * h});
  double sum = 0;
  for (int step = 1; step <= 4; ++step)
    sum += 10800e6 * value(3, step, 0, 0, 0);
  CHECK(read_variable(folder.file("mixed.nc"), "total").values.at(0) == sum / (4 * 10800e6));

  // Fields that are due then are to be sent; a job that goes on has had its first record.
  run.configuration = instants("unsent.nc", "every = \"6 h\"\n");
  run.end = 3;
  run.checkpoint = folder.file("saved.nc");
  Toy unsent(run);
  unsent.streams->advance(0.0);
  const Status status = unsent.advance_and_send_anyway(0);
  CHECK(status.code == Code::state);
  CHECK_MESSAGE(status.message.find("not sent in the step to 2001-01-30 00:00:00") != std::string::npos,
                status.text());
  for (std::size_t step = 1; step < run.end; ++step)
    unsent.advance_and_send(step);
  unsent.streams->checkpoint(run.checkpoint);
  unsent.streams->close();
  run.first = 3;
  run.resume = run.checkpoint;
  Toy second(run);
  CHECK(caught([&] { second.streams->advance(3 * 3 * h); }).code == Code::invalid_argument);
  second.streams->close();
}

TEST_CASE("files: a climatology joins the same months of all years, over a restart, too") {
  const SharedFolder folder;
  Run run;
  run.calendar = "360_day";
  run.start = "2001-01-01";
  run.configuration =
      file_table(folder.file("clim.nc"),
                 "every = \"1 month\"\nclimatology = true\noperation = \"mean\"\nfields = [\"total\"]\n"
                 "time_units = \"days\"\n");
  run.steps = std::vector<double>(72, 10 * 86400.0);  // two years, three steps a month
  Toy(run).go();
  const auto whole = read_variable(folder.file("clim.nc"), "total").values;
  REQUIRE(whole.size() == 12);
  for (std::int64_t month = 0; month < 12; ++month) {
    double sum = 0, weight = 0;
    for (const std::int64_t year : {0, 1})
      for (std::int64_t i = 1; i <= 3; ++i) {
        sum += 10 * 86400e6 * value(3, year * 36 + month * 3 + i, 0, 0, 0);
        weight += 10 * 86400e6;
      }
    CHECK(whole[static_cast<std::size_t>(month)] == sum / weight);
  }
  const Read bounds = read_variable(folder.file("clim.nc"), "climatology_bounds");
  CHECK(bounds.values[0] == 0);
  CHECK(bounds.values[1] == 390);
  CHECK(bounds.values[23] == 720);
  CHECK(read_variable(folder.file("clim.nc"), "time").values[1] == 45);
  CHECK(read_variable(folder.file("clim.nc"), "time").texts.at("climatology") == "climatology_bounds");
  CHECK(read_variable(folder.file("clim.nc"), "total").texts.at("cell_methods") ==
        "time: mean within years time: mean over years");
  Run first = run;
  first.end = 40;
  first.checkpoint = folder.file("restart.nc");
  Toy(first).go();
  Run second = run;
  second.first = 40;
  second.resume = folder.file("restart.nc");
  Toy(second).go();
  CHECK(read_variable(folder.file("clim.nc"), "total").values == whole);
  CHECK(read_variable(folder.file("clim.nc"), "climatology_bounds").values == bounds.values);
}

TEST_CASE("files: types, attributes, other settings, and those of FMS") {
  const SharedFolder folder;
  Run run;
  run.start = "2001-01-30";
  run.configuration = "[defaults]\nformat = \"netcdf4\"\ncompression = \"shuffle+deflate:1\"\n" +
                      file_table(folder.file("one.nc"),
                                 "every = \"1 day\"\noperation = \"mean\"\nfms_attributes = true\n"
                                 "fields = [{ field = \"temp\", type = \"double\", attributes = { note = "
                                 "\"x\", long_name = \"T\" } }, "
                                 "\"count\", { field = \"count\", operation = \"max\", name = \"most\" }]\n"
                                 "attributes = { run = 7, title = \"test\" }\n");
  run.steps = std::vector<double>(4, 43200.0);
  Toy(run).go();
  CHECK(read_variable(folder.file("one.nc"), "temp").type == Type::double_);
  CHECK(read_variable(folder.file("one.nc"), "temp").texts.at("long_name") == "T");
  CHECK(read_variable(folder.file("one.nc"), "temp").texts.at("time_avg_info") ==
        "average_T1,average_T2,average_DT");
  CHECK(read_variable(folder.file("one.nc"), "average_DT").values == std::vector<double>{86400, 86400});
  CHECK(read_variable(folder.file("one.nc"), "count").type == Type::double_);  // a mean is no longer whole
  CHECK(read_variable(folder.file("one.nc"), "most").type == Type::int_);
}

TEST_CASE("files: any setting of a dataset stands in the table of a file") {
  const std::vector<std::string> all = {
      "format = \"cdf1\"\n",
      "format = \"netcdf4-classic\"\n",
      "format = \"netcdf4\"\ncompression = \"zeta=none; shuffle+deflate:1\"\nchunks = \"temp=1x1x2x2\"\n",
      "format = \"netcdf4\"\nquantize = \"temp=bitround:9\"\n",
      "layout = \"process\"\n",
      "layout = \"node\"\nranks_per_node = 2\nformat = \"netcdf4\"\n",
      "io_layout = \"1x1\"\n",
      "background = \"thread\"\nbackground_close = true\ncommit = \"close\"\n",
      "driver = \"gather\"\ndurable = true\n",
      "driver = \"netcdf\"\nformat = \"netcdf4\"\n",
      "driver = \"pnetcdf\"\naccess = \"nonblocking\"\n",
      "ranks_per_node = 2\nrearrange = \"on\"\nio_ranks = 1\n",
      "stage_bytes = \"64KiB\"\nalignment = 1\nheader_reserve = 0\nwait_seconds = 30\n",
  };
  const SharedFolder folder;
  Run run;
  run.start = "2001-01-30";
  run.steps = std::vector<double>(4, 43200.0);
  run.how = Cut::rows;
  const std::string keys =
      "every = \"1 day\"\noperation = \"mean\"\nfields = [\"temp\", \"zeta\", \"total\"]\n";
  run.configuration = file_table(folder.file("plain.nc"), keys);
  Toy(run).go();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& settings = all[i];
    CAPTURE(settings);
    if (settings.find("gather") != std::string::npos && !in_this_build("driver=gather")) continue;
    const std::string path = folder.file("set_" + std::to_string(i) + ".nc");
    run.configuration = file_table(path, keys + settings);
    const Status status = caught([&] { Toy(run).go(); });
    if (status.code == Code::not_supported) continue;  // a library that this build does not have
    REQUIRE_MESSAGE(status.ok(), status.text());
    for (const char* name : {"temp", "zeta", "total", "time", "time_bounds"}) {
      CAPTURE(name);
      const Read plain = read_variable(folder.file("plain.nc"), name);
      const Read set = read_variable(path, name);
      CHECK(set.shape == plain.shape);
      const bool rounds = settings.find(std::string("quantize = \"") + name) != std::string::npos;
      CHECK((set.values == plain.values) != rounds);
    }
  }
}

TEST_CASE("files: the environment replaces the configuration") {
  const SharedFolder folder;
  if (world().rank() == 0)
    std::ofstream(folder.file("other.toml")) << file_table(
        folder.file("other.nc"), "every = \"1 day\"\noperation = \"mean\"\nfields = [\"total\"]\n");
  world().barrier();
  ::setenv("SHOAL_STREAMS", folder.file("other.toml").c_str(), 1);
  Run run;
  run.start = "2001-01-30";
  run.configuration = "not_there.toml";
  run.steps = std::vector<double>(2, 43200.0);
  Toy(run).go();
  ::unsetenv("SHOAL_STREAMS");
  CHECK(read_variable(folder.file("other.nc"), "total").values.size() == 1);
  CHECK(caught([&] { Toy toy(run); }).code == Code::not_found);
}

TEST_CASE("files: windows that are not finished are dropped, or written as they are") {
  const SharedFolder folder;
  Run run;
  run.start = "2001-01-30";
  run.configuration =
      file_table(folder.file("drop.nc"), "every = \"1 day\"\noperation = \"mean\"\nfields = [\"total\"]\n") +
      file_table(folder.file("write.nc"),
                 "every = \"1 day\"\noperation = \"mean\"\nfields = [\"total\"]\nunfinished = \"write\"\n");
  run.steps = std::vector<double>(3, 43200.0);
  Toy(run).go();
  CHECK(read_variable(folder.file("drop.nc"), "time_bounds").values == std::vector<double>{0, 86400});
  CHECK(read_variable(folder.file("write.nc"), "time_bounds").values ==
        std::vector<double>{0, 86400, 86400, 129600});
}

TEST_CASE("files: one that exists is an error where it is to be kept") {
  const SharedFolder folder;
  Run run;
  run.start = "2001-01-30";
  run.configuration =
      file_table(folder.file("kept.nc"),
                 "every = \"1 day\"\noperation = \"mean\"\nfields = [\"total\"]\nexists = \"error\"\n");
  run.steps = std::vector<double>(2, 43200.0);
  Toy(run).go();
  CHECK(caught([&] { Toy(run).go(); }).code == Code::exists);
}

TEST_CASE("files: variables in groups, with the coordinates of the file, over a restart, too") {
  const SharedFolder folder;
  const std::string path = folder.file("groups.nc");
  Run first;
  first.start = "2001-01-30";
  first.configuration =
      file_table(path,
                 "every = \"1 day\"\noperation = \"mean\"\nformat = \"netcdf4\"\n"
                 "compression = \"ocean/*=deflate:1\"\n"
                 "fields = [\"total\", { field = \"temp\", name = \"ocean/temp\" }, "
                 "{ field = \"zeta\", name = \"ocean/deep/most\", operation = \"maximum\" }, "
                 "\"ice/*\"]\n");
  first.steps = std::vector<double>(8, 21600.0);
  first.end = 6;  // in the middle of the second day
  first.checkpoint = folder.file("saved.nc");
  Run second = first;
  second.first = 6;
  second.end = 0;
  second.how = Cut::map;
  second.resume = second.checkpoint;
  second.checkpoint = "";
  for (const Run& run : {first, second}) {
    Run started = run;
    started.resume = "";
    Toy toy(started);
    const int ice = toy.streams->descriptions().add_field("ice/total", Type::double_, "", "", "", false);
    if (!run.resume.empty()) toy.streams->resume(run.resume);
    for (std::size_t step = run.first; step < (run.end == 0 ? run.steps.size() : run.end); ++step) {
      toy.advance_and_send(step);
      auto one = static_cast<double>(step);
      toy.streams->send(ice, {ArrayView::contiguous(&one, Type::double_, {}), {}});
    }
    if (!run.checkpoint.empty()) toy.streams->checkpoint(run.checkpoint);
    toy.streams->close();
  }
  CHECK(read_variable(path, "ice/total").values == std::vector<double>{1.5, 5.5});
  const Read temp = read_variable(path, "ocean/temp"), most = read_variable(path, "ocean/deep/most");
  CHECK(temp.dims == std::vector<std::string>{"time", "lev", "y", "x"});
  CHECK(most.dims == std::vector<std::string>{"time", "y", "x"});
  CHECK(temp.texts.at("coordinates") == "lon");
  CHECK(read_variable(path, "lon").dims == std::vector<std::string>{"y", "x"});
  // As without groups.
  Run plain = first;
  plain.configuration = file_table(folder.file("plain.nc"),
                                   "every = \"1 day\"\noperation = \"mean\"\nfields = [\"temp\", "
                                   "{ field = \"zeta\", name = \"most\", operation = \"maximum\" }]\n");
  plain.end = 0;
  plain.checkpoint = "";
  Toy(plain).go();
  CHECK(temp.values == read_variable(folder.file("plain.nc"), "temp").values);
  CHECK(most.values == read_variable(folder.file("plain.nc"), "most").values);
}
