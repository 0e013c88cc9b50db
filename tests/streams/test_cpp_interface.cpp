// The C++ interface, streams.hpp: descriptions, steps, records and mistakes. Only the public header is
// included: its namespace must not be mixed with the library's own.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <shoal/streams.hpp>

namespace {

constexpr std::int64_t k_rows = 2, k_columns = 3, k_levels = 2;
constexpr double k_six_hours = 21600;

struct Ranks {
  Ranks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int rank = 0, size = 1;
};

/// A name that this run alone has.
std::string scratch(const std::string& name) {
  int id = static_cast<int>(getpid());
  MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return "cpp_streams_" + std::to_string(id) + "_" + name + ".nc";
}

void remove(const std::string& path) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (Ranks().rank == 0) unlink(path.c_str());
}

shoal::Decomposition rows() {
  const Ranks ranks;
  return shoal::Decomposition::block(MPI_COMM_WORLD, {k_rows * ranks.size, k_columns},
                                     {k_rows * ranks.rank, 0}, {k_rows, k_columns});
}

/// The error of a call; ok: there was none.
template <class Call>
shoal::Code code_of(Call call) {
  try {
    call();
  } catch (const shoal::Error& error) {
    CHECK(std::string(error.what()) != "");
    return error.code();
  }
  return shoal::Code::ok;
}

std::string configuration(const std::string& path, const std::string& fields = "\"temp\", \"rain\"",
                          const std::string& operation = "mean") {
  return "[[file]]\nname = \"" + path + "\"\nevery = \"1 day\"\noperation = \"" + operation +
         "\"\nfields = [" + fields + "]\n";
}

/// A grid, a field of levels and one of rain.
struct Model {
  explicit Model(const std::string& text, const std::string& now = "")
      : streams(shoal::Streams::open(MPI_COMM_WORLD, text, "noleap", "2001-01-01", now)) {
    const std::vector<double> depths = {5, 20};
    const std::vector<double> ends = {0, 10, 10, 30};
    streams.axis("lev", depths, {ends.data(), {k_levels, 2}});
    streams.put_att("lev", "units", "m");
    streams.put_att("lev", "positive", std::string("down"));
    streams.axis("x", k_columns);
    streams.grid("sea", {"y", "x"}, rows());
    const std::vector<double> areas(static_cast<std::size_t>(k_rows * k_columns), 2.5);
    streams.area("sea", "cell_area", {areas.data(), {k_rows, k_columns}});
    streams.coordinate("sea", "lon", {areas.data(), {k_rows, k_columns}});
    temp = streams.field("temp", shoal::Type::float_, {"lev", "y", "x"}, "sea", "ocean");
    rain = streams.field("rain", shoal::Type::double_, "y x", "sea", "", shoal::Holds::for_step);
    streams.put_att("rain", "_FillValue", -1.0);
    streams.put_att("temp", "valid_range", std::vector<float>{-5, 50});
    streams.put_att("", "title", "of the C++ test");
  }
  void send(int step) {
    std::vector<float> values(static_cast<std::size_t>(k_levels * k_rows * k_columns),
                              static_cast<float>(step));
    streams.send(temp, {values.data(), {k_levels, k_rows, k_columns}});
    const std::vector<double> drops(static_cast<std::size_t>(k_rows * k_columns), 10.0 * step);
    streams.send(rain, {drops.data(), {k_rows, k_columns}});
  }
  void step(int step) {
    streams.advance(k_six_hours * step);
    send(step);
  }
  shoal::Streams streams;
  int temp = -1, rain = -1;
};

/// Of one record.
double first_value(const std::string& path, const std::string& variable, std::int64_t record) {
  auto file = shoal::Dataset::open(MPI_COMM_WORLD, path);
  std::vector<double> all(static_cast<std::size_t>(k_levels * k_rows * k_columns));
  const auto tiles = rows();
  if (variable == "temp")
    file.read(variable, tiles, {all.data(), {k_levels, k_rows, k_columns}}, record);
  else
    file.read(variable, tiles, {all.data(), {k_rows, k_columns}}, record);
  file.close();
  return all[0];
}

}  // namespace

TEST_CASE("C++ streams: means, bounds and attributes are in the file") {
  const std::string path = scratch("mean");
  Model model(configuration(path));
  CHECK(model.temp == 0);
  CHECK(model.rain == 1);
  CHECK(model.streams.wants(model.temp));  // before the first step, so that who asks first and sends is told
  CHECK_FALSE(model.streams.wants(2));
  for (int step = 1; step <= 7; ++step)
    model.step(step);
  CHECK(model.streams.wants(model.rain));
  model.streams.advance_to("2001-01-03 00:00:00");
  model.send(8);
  CHECK(model.streams.report().find("\"temp\"") != std::string::npos);
  CHECK(model.streams.c_handle() != nullptr);
  shoal::Streams moved = std::move(model.streams);
  CHECK_FALSE(model.streams.is_open());  // NOLINT: what a handle is after it was moved
  moved.close();
  CHECK_FALSE(moved.is_open());
  CHECK(code_of([&] { moved.advance(1e9); }) == shoal::Code::state);
  CHECK(code_of([&] { moved.close(); }) == shoal::Code::state);

  CHECK(first_value(path, "temp", 0) == 2.5);
  CHECK(first_value(path, "temp", 1) == 6.5);
  CHECK(first_value(path, "rain", 1) == 65);
  auto file = shoal::Dataset::open(MPI_COMM_WORLD, path);
  CHECK(file.num_records() == 2);
  std::array<double, 2> bounds{};
  file.get("time_bounds", {bounds.data(), {2}}, 1);
  CHECK(bounds[0] > 0);
  CHECK(bounds[1] == 2 * bounds[0]);
  CHECK(file.get_att<std::string>("lev", "units") == "m");
  CHECK(file.get_att<std::string>("lev", "positive") == "down");
  CHECK(file.get_att<double>("rain", "_FillValue") == -1);
  CHECK(file.get_att<std::vector<float>>("temp", "valid_range") == std::vector<float>{-5, 50});
  CHECK(file.get_att<std::string>("", "title") == "of the C++ test");
  CHECK(file.get_att<std::string>("temp", "cell_measures") == "area: cell_area");
  CHECK(file.get_att<std::string>("temp", "coordinates") == "lon");
  file.close();
  remove(path);
}

TEST_CASE("C++ streams: a run that is split in the middle of a day") {
  const std::string path = scratch("split"), saved = scratch("saved");
  {
    Model model(configuration(path));
    for (int step = 1; step <= 2; ++step)
      model.step(step);
    model.streams.checkpoint(saved);
  }  // dropped, as by a job that is killed
  for (const char* now : {"2001-01-01 12:00:00", "43200.0 s", "12 h"}) {
    remove(path);
    Model model(configuration(path), now);
    model.streams.resume(saved);
    for (int step = 3; step <= 4; ++step)
      model.step(step);
    model.streams.close();
    CHECK(first_value(path, "temp", 0) == 2.5);
  }
  CHECK(code_of([&] { Model(configuration(path), "12 hoors"); }) == shoal::Code::invalid_argument);
  Model other(configuration(path), "2001-01-02");
  CHECK(code_of([&] { other.streams.resume(saved); }) == shoal::Code::invalid_argument);
  Model lost(configuration(path));
  CHECK(code_of([&] { lost.streams.resume("no_such.nc"); }) == shoal::Code::not_found);
  remove(path);
  remove(saved);
}

TEST_CASE("C++ streams: the state at the start") {
  const std::string path = scratch("start");
  Model model(configuration(path, "\"temp\"", "instant"));
  for (int step = 0; step <= 4; ++step)
    model.step(step);
  model.streams.close();
  CHECK(first_value(path, "temp", 0) == 0);
  CHECK(first_value(path, "temp", 1) == 4);
  remove(path);
}

TEST_CASE("C++ streams: mistakes throw, on all ranks alike") {
  using shoal::Code;
  using shoal::Streams;
  const std::string path = scratch("mistakes");
  const auto opens = [](const std::string& text, const std::string& calendar, const std::string& start) {
    return code_of([&] { Streams::open(MPI_COMM_WORLD, text, calendar, start); });
  };
  CHECK(opens("no_such.toml", "noleap", "2001-01-01") == Code::not_found);
  CHECK(opens("[[fil]]\n", "noleap", "2001-01-01") == Code::setting);
  CHECK(opens(configuration(path), "lunar", "2001-01-01") == Code::invalid_argument);
  CHECK(opens(configuration(path), "noleap", "2001-02-29") == Code::invalid_argument);

  {
    Model unknown(configuration(path, "\"tmp\""));
    CHECK(code_of([&] { unknown.streams.advance(1); }) == Code::not_found);
  }
  {
    auto described = Streams::open(MPI_COMM_WORLD, configuration(path), "noleap", "2001-01-01");
    described.axis("x", k_columns);
    CHECK(code_of([&] { described.axis("x", k_columns); }) == Code::exists);
    CHECK(code_of([&] { described.field("t", shoal::Type::float_, "x z"); }) == Code::not_found);
    CHECK(code_of([&] { described.field("t", shoal::Type::char_, "x"); }) == Code::type);
    CHECK(code_of([&] { described.field("t", shoal::Type::float_, "x", "no grid"); }) == Code::not_found);
    CHECK(code_of([&] { described.put_att("no field", "units", "m"); }) == Code::not_found);
    described.abandon();
    CHECK(code_of([&] { described.axis("z", 2); }) == Code::state);
  }

  // What send finds wrong comes out at once on a single rank, and on several where they meet.
  for (const bool twice : {true, false}) {
    Model model(configuration(path));
    const Ranks ranks;
    Code found = Code::ok;
    const auto keep = [&](auto call) {
      const Code code = code_of(call);
      if (found == Code::ok) found = code;
    };
    for (int step = 1; step <= 4; ++step) {
      keep([&] { model.streams.advance(k_six_hours * step); });
      const bool wrong = step == 2 && ranks.rank == ranks.size - 1;
      if (wrong && !twice) {
        const std::vector<float> few(4);
        keep([&] { model.streams.send(model.temp, {few.data(), {2, 2}}); });
      }
      keep([&] { model.send(step); });
      if (wrong && twice) keep([&] { model.send(step); });
    }
    if (ranks.size > 1) CHECK(found == Code::ok);
    keep([&] { model.streams.close(); });
    CHECK(found == (twice ? Code::state : Code::invalid_argument));
    remove(path);
  }
}
