// The C++ interface, shoal.hpp: values go through, handles move and drop, errors carry code and message.
// Only the public header is included: its namespace must not be mixed with the library's own.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <numeric>
#include <shoal/shoal.hpp>

namespace {

struct Ranks {
  Ranks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int rank = 0, size = 1;
};

std::string scratch(const std::string& name) {
  std::array<char, 32> id{};
  const Ranks ranks;
  const std::string mine = std::to_string(getpid());
  mine.copy(id.data(), id.size() - 1);
  MPI_Bcast(id.data(), static_cast<int>(id.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  return "cpp_interface_" + std::string(id.data()) + "_" + name + ".nc";
}

void remove(const std::string& path) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (Ranks().rank == 0) unlink(path.c_str());
}

constexpr std::int64_t k_rows = 3;

shoal::Decomposition rows(std::int64_t halo = 0) {
  const Ranks ranks;
  return shoal::Decomposition::block(MPI_COMM_WORLD, {k_rows * ranks.size, 5}, {k_rows * ranks.rank, 0},
                                     {k_rows, 5}, {halo, 0}, {halo, 0});
}

template <class Call>
int code_of(Call call) {
  try {
    call();
  } catch (const shoal::Error& error) {
    CHECK(std::string(error.what()) != "");
    const int code = static_cast<int>(error.code());
    CHECK(std::string(error.name()) == shoal_error_name(code));
    return code;
  }
  return SHOAL_OK;
}

}  // namespace

TEST_CASE("C++: types have their numbers") {
  CHECK(shoal::type_of<bool> == shoal::Type::logical);
  CHECK(shoal::type_of<char> == shoal::Type::char_);
  CHECK(shoal::type_of<signed char> == shoal::Type::byte);
  CHECK(shoal::type_of<unsigned short> == shoal::Type::ushort);
  CHECK(shoal::type_of<long> == shoal::Type::int64);
  CHECK(shoal::type_of<long long> == shoal::Type::int64);
  CHECK(shoal::type_of<const double> == shoal::Type::double_);
  CHECK(shoal::type_of<const char*> == shoal::Type::string);
}

TEST_CASE("C++: settings are built, and come as text") {
  using shoal::Settings;
  CHECK(Settings{}.text().empty());
  CHECK(Settings{}.format("netcdf4").driver("native").set("io_ranks", 4).text() ==
        "format=netcdf4, driver=native, io_ranks=4");
  CHECK(Settings{}.set("fill", false).set("wait_seconds", 0.5).stage_bytes(std::int64_t{1} << 33).text() ==
        "fill=false, wait_seconds=0.5, stage_bytes=8589934592");
  CHECK(Settings("durable=true").compression("none").text() == "durable=true, compression=none");
  CHECK(Settings{}.set("hints", "a=1, b=2").text() == R"(hints="a=1, b=2")");
  CHECK(code_of([] { Settings{}.set("report", "a\"b"); }) == SHOAL_INVALID_ARGUMENT);
  CHECK(code_of([] { Settings{}.set("report", std::string("a\0b", 3)); }) == SHOAL_INVALID_ARGUMENT);
  const std::string path = scratch("built");
  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path, Settings{}.format("cdf1").exists("error"));
  CHECK(file.file().format == "cdf1");
  file.close();
  CHECK(code_of([&] { shoal::Dataset::create(MPI_COMM_WORLD, path, Settings{}.exists("error")); }) ==
        SHOAL_EXISTS);
  CHECK(code_of([&] { shoal::Dataset::create(MPI_COMM_WORLD, path, Settings{}.set("io_rank", 1)); }) ==
        SHOAL_SETTING);
  file = shoal::Dataset::open(MPI_COMM_WORLD, path, shoal::Mode::write, Settings{}.set("quiet", true));
  CHECK(file.file().writable);
  file.close();
  remove(path);
}

TEST_CASE("C++: steps are appended, and the settings that there are") {
  const std::string path = scratch("steps");
  for (int run = 0; run < 2; ++run) {
    auto file = shoal::Dataset::open(MPI_COMM_WORLD, path, shoal::Mode::append);
    if (run == 0) {
      file.def_dim("time", SHOAL_UNLIMITED);
      file.def_var("time", shoal::Type::double_, "time");
      file.def_var("depth", shoal::Type::double_, "");
    }
    const double time = run;
    CHECK(file.begin_step() == run);
    file.put("time", {&time, {}}, SHOAL_NEXT);
    CHECK(file.num_records() == run + 1);
    CHECK(file.num_records("time") == run + 1);
    CHECK(file.num_records("depth") == 0);
    file.close();
  }
  CHECK(shoal::setting_keys().find("stage_bytes\tbasic\tall") != std::string::npos);
  remove(path);
}

TEST_CASE("C++: decompositions return what they were given, and refuse lists of different lengths") {
  const Ranks ranks;
  auto tiles = rows(2);
  CHECK(tiles.global() == std::vector<std::int64_t>{k_rows * ranks.size, 5});
  CHECK(tiles.first() == std::vector<std::int64_t>{k_rows * ranks.rank, 0});
  CHECK(tiles.count() == std::vector<std::int64_t>{k_rows, 5});
  CHECK(tiles.halo_low() == std::vector<std::int64_t>{2, 0});
  auto moved = std::move(tiles);
  CHECK(moved.halo_high() == std::vector<std::int64_t>{2, 0});

  // Wrong on the last rank only: the others learn of it too.
  const bool wrong = ranks.rank == ranks.size - 1;
  const std::vector<std::int64_t> count =
      wrong ? std::vector<std::int64_t>{k_rows} : std::vector<std::int64_t>{k_rows, 5};
  try {
    shoal::Decomposition::block(MPI_COMM_WORLD, {k_rows * ranks.size, 5}, {k_rows * ranks.rank, 0}, count);
    FAIL("taken");
  } catch (const shoal::Error& error) {
    CHECK(error.code() == shoal::Code::invalid_argument);
    CHECK(std::string(error.what()).find("differ in length") != std::string::npos);
  }

  // So does a program of its own: from any of the calls that make or save one.
  const auto whole = rows(2);
  const std::string path = scratch("refused");
  for (const bool by_map : {false, true}) {
    int code = SHOAL_OK;
    if (wrong)
      code = shoal_refuse(MPI_COMM_WORLD, SHOAL_RANGE, "more tiles than ranks");
    else
      code = code_of([&] {
        if (by_map)
          shoal::Decomposition::map(MPI_COMM_WORLD, {3 * ranks.size, 4}, {ranks.rank}, 1);
        else
          whole.save(MPI_COMM_WORLD, path);
      });
    CHECK(code == SHOAL_RANGE);
    CHECK(std::string(shoal_error_message()).find("more tiles than ranks") != std::string::npos);
  }
}

TEST_CASE("C++: maps return their lists, are saved and loaded, and refuse bad cells on all ranks") {
  const Ranks ranks;
  const std::int64_t rank = ranks.rank;
  const std::vector<std::int64_t> global{3 * ranks.size, 4};
  const std::vector<std::int64_t> cells{3 * rank + 2, SHOAL_HOLE, 3 * rank};
  const std::string path = scratch("map");
  {
    const auto columns = shoal::Decomposition::map(MPI_COMM_WORLD, global, cells, 1);
    CHECK(columns.global() == global);
    CHECK(columns.cells() == cells);
    const shoal::MapInfo info = columns.map_info();
    CHECK(info.is_map);
    CHECK(info.uncut == 1);
    CHECK(info.ncells == 3);
    CHECK(info.mapped == 2);
    columns.save(MPI_COMM_WORLD, path);
  }
  const auto loaded = shoal::Decomposition::load(MPI_COMM_WORLD, path);
  CHECK(loaded.cells() == cells);
  CHECK(loaded.map_info().uncut == 1);
  CHECK(code_of([&] { shoal::Decomposition::load(MPI_COMM_WORLD, path, "D1"); }) == SHOAL_NOT_FOUND);
  const bool wrong = ranks.rank == ranks.size - 1;
  const std::vector<std::int64_t> outside{3 * ranks.size};
  CHECK(code_of([&] { shoal::Decomposition::map(MPI_COMM_WORLD, global, wrong ? outside : cells, 1); }) ==
        SHOAL_INVALID_ARGUMENT);
  CHECK(code_of([&] { shoal::Decomposition::map(MPI_COMM_WORLD, {}, {}); }) == SHOAL_INVALID_ARGUMENT);
  {
    // Two levels in front of the columns, four values of each behind.
    const std::string fields = scratch("map_fields");
    std::vector<double> values(2 * 3 * 4), found(values.size(), -1);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = i / 4 % 3 == 1 ? -1 : static_cast<double>(100 * rank) + static_cast<double>(i);
    auto file = shoal::Dataset::create(MPI_COMM_WORLD, fields);
    file.def_dim("lev", 2);
    file.def_dim("ncol", 3 * ranks.size);
    file.def_dim("k", 4);
    file.def_var("v", shoal::Type::double_, "lev ncol k", loaded);
    file.write("v", {values.data(), {2, 3, 4}});
    CHECK(code_of([&] { file.read("v", {found.data(), {2, 2, 4}}); }) == SHOAL_INVALID_ARGUMENT);
    file.read("v", {found.data(), {2, 3, 4}});  // the hole in the middle is left alone
    CHECK(found == values);
    file.close();
    remove(fields);
  }
  CHECK_FALSE(rows().map_info().is_map);
  CHECK(rows().cells().size() == 5 * k_rows);
  remove(path);
}

TEST_CASE("C++: a section with too few numbers on one rank is refused on all ranks") {
  const Ranks ranks;
  const bool wrong = ranks.rank == ranks.size - 1;
  const std::string path = scratch("section");
  const auto tiles = rows();
  std::vector<int> values(15);
  std::iota(values.begin(), values.end(), 15 * ranks.rank);
  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path);
  file.def_dim("time", SHOAL_UNLIMITED);
  file.def_dim("lev", 2);
  file.def_dim("y", k_rows * ranks.size);
  file.def_dim("x", 5);
  file.def_var("v", shoal::Type::int_, "time lev y x", tiles);
  file.def_var("s", shoal::Type::int_, "lev y");
  const shoal::Section missing(0, {1}, {}), long_one(0, {1, 0, 0, 0}, {1, 2, 2, 2}),
      uneven(0, {1, 0, 0}, {1});
  for (int lev = 0; lev < 2; ++lev)
    file.write("v", {values.data(), {1, k_rows, 5}},
               shoal::Section(0, {lev, 0, 0}, {1, k_rows * ranks.size, 5}));
  file.sync();
  std::vector<int> found(15, -1);
  const int one = 7;
  for (const auto& section : {missing, long_one, uneven}) {
    CHECK(code_of([&] {
            if (wrong)
              file.read("v", {found.data(), {1, k_rows, 5}}, section);
            else
              file.read("v", {found.data(), {1, k_rows, 5}},
                        shoal::Section(0, {1, 0, 0}, {1, k_rows * ranks.size, 5}));
          }) == SHOAL_INVALID_ARGUMENT);
    const int code = code_of([&] {
      if (wrong)
        file.write("v", {values.data(), {1, k_rows, 5}}, section);
      else
        file.write("v", {values.data(), {1, k_rows, 5}},
                   shoal::Section(0, {1, 0, 0}, {1, k_rows * ranks.size, 5}));
    });
    CHECK(code == (wrong ? SHOAL_INVALID_ARGUMENT : SHOAL_OK));
    if (ranks.size > 1) CHECK(code_of([&] { file.sync(); }) == SHOAL_INVALID_ARGUMENT);
    const char* const says =
        section.count.size() == 1 ? "start has 3 numbers, count has 1" : "has 3 dimensions";
    if (ranks.size > 1) CHECK(std::string(shoal_error_message()).find(says) != std::string::npos);
  }
  CHECK(code_of([&] {
          file.put("s", {&one, {1, 1}}, shoal::Section(SHOAL_NO_RECORD, {1}, {1}));
        }) == SHOAL_INVALID_ARGUMENT);
  code_of([&] { file.close(); });
  remove(path);
}

TEST_CASE("C++: what was written is read, through vectors, spans, pointers and strides") {
  const Ranks ranks;
  for (const std::string format : {"cdf5", "netcdf4"}) {
    const std::string path = scratch(format);
    const auto tiles = rows();
    const auto haloed = rows(1);
    std::vector<float> values(15);
    std::iota(values.begin(), values.end(), static_cast<float>(15 * ranks.rank));
    const double step = 0.25;
    {
      auto file = shoal::Dataset::create(MPI_COMM_WORLD, path, "format=" + format);
      file.def_dim("time", SHOAL_UNLIMITED);
      file.def_dim("y", k_rows * ranks.size);
      file.def_dim("x", 5);
      file.def_var("field", shoal::Type::float_, "time y x", tiles);
      file.def_var("turned", shoal::Type::int_, "y x", tiles);
      file.def_var("step", shoal::Type::double_, "");
      file.def_var("x", shoal::Type::double_, "x");
      file.def_fill("field", -1);
      file.def_no_fill("turned");
      file.def_var("later", shoal::Type::int_, "y x");
      file.def_cut("later");
      CHECK(code_of([&] { file.def_cut("step"); }) == SHOAL_INVALID_ARGUMENT);
      file.put_att("", "title", "C++");
      file.put_att("field", "levels", std::vector<int>{1, 2, 3});
      file.put_att("field", "scale", 2.5);
      for (std::int64_t record = 0; record < 2; ++record)
        file.write("field", {values.data(), {k_rows, 5}}, record);
      // Columns first in memory: the transpose by strides, from a pointer to const.
      std::vector<int> columns(15);
      for (std::size_t i = 0; i < 15; ++i)
        columns[(i % 5) * 3 + i / 5] = static_cast<int>(i) + 100 * ranks.rank;
      const int* pointer = columns.data();
      file.write("turned", shoal::ConstArray(pointer, {k_rows, 5}, {4, 12}));
      file.write("later", tiles, shoal::ConstArray(pointer, {k_rows, 5}, {4, 12}));
      file.put("step", shoal::scalar(step));
      file.put("x", std::vector<double>{0, 1, 2, 3, 4});
      file.sync();
      CHECK(file.is_open());
      CHECK(file.report().find('{') != std::string::npos);
      CHECK(file.settings().find("stage_bytes") != std::string::npos);
      file.close(true);
      CHECK_FALSE(file.is_open());
    }
    auto file = shoal::Dataset::open(MPI_COMM_WORLD, path);
    CHECK(file.file().format == format);
    CHECK_FALSE(file.file().writable);
    CHECK(file.dim("time").length == 2);
    CHECK(file.dim("time").unlimited);
    const auto info = file.var("field");
    CHECK(info.type == shoal::Type::float_);
    CHECK(info.has_record);
    CHECK(info.dims.size() == 3);
    CHECK(info.chunks.empty() == (format == "cdf5"));
    CHECK(file.get_att<std::string>("", "title") == "C++");
    CHECK(file.get_att<std::vector<double>>("field", "levels") == std::vector<double>{1, 2, 3});
    CHECK(file.get_att<float>("field", "scale") == 2.5F);
    CHECK(file.get_att<int>("field", "_FillValue") == -1);
    CHECK(file.att("field", "levels").count == 3);
    CHECK(code_of([&] { (void)file.get_att<int>("field", "levels"); }) == SHOAL_INVALID_ARGUMENT);

    std::vector<double> found(15);
    file.read("field", tiles, {found.data(), {k_rows, 5}}, 1);
    for (std::size_t i = 0; i < 15; ++i)
      CHECK(found[i] == values[i]);
    std::vector<double> around(25, -5);
    file.read("field", haloed, {around.data(), {k_rows + 2, 5}}, 0);
    CHECK(around[5] == values[0]);
    CHECK(around[0] == (ranks.rank > 0 ? values[0] - 5 : -5));
    CHECK(around[20] == (ranks.rank < ranks.size - 1 ? values[0] + 15 : -5));
    for (const char* name : {"turned", "later"}) {
      std::vector<int> turned(15);
      file.read(name, tiles, {turned.data(), {k_rows, 5}});
      for (std::size_t i = 0; i < 15; ++i)
        CHECK(turned[i] == static_cast<int>(i) + 100 * ranks.rank);
    }
    double found_step = 0;
    file.get("step", shoal::scalar(found_step));
    CHECK(found_step == step);
    std::vector<float> part(2);
    file.get("x", std::span<float>(part), {SHOAL_NO_RECORD, {3}, {2}});
    CHECK(part == std::vector<float>{3, 4});
    file.close();
    remove(path);
  }
}

TEST_CASE("C++: dimensions as a list of names, which may have blanks and commas") {
  const std::string path = scratch("names");
  const auto cut = rows();
  const Ranks ranks;
  {
    auto file = shoal::Dataset::create(MPI_COMM_WORLD, path, "");
    file.def_dim("time step", SHOAL_UNLIMITED);
    file.def_dim("y, north", k_rows * ranks.size);
    file.def_dim(R"(the "x" \ axis)", 5);
    file.def_var("a", shoal::Type::int_, {"time step", "y, north", R"(the "x" \ axis)"}, cut);
    const std::vector<std::string> names{"y, north", R"(the "x" \ axis)"};
    file.def_var("b", shoal::Type::int_, names, cut);
    file.def_var("c", shoal::Type::int_, {"y, north"});
    file.def_var("d", shoal::Type::int_, {});
    file.def_var("e", shoal::Type::int_, names);
    file.def_var("f", shoal::Type::int_, R"("y, north" "the \"x\" \\ axis")", cut);
    CHECK(code_of([&] { file.def_var("g", shoal::Type::int_, {"y", "x"}); }) == SHOAL_NOT_FOUND);
    const std::vector<int> numbers{file.find_dim("y, north"), 2};
    file.def_var("h", shoal::Type::int_, numbers, cut);
    file.def_var("i", shoal::Type::int_, {0});
    CHECK(code_of([&] { file.def_gathered("j", {1, 2}, cut); }) == SHOAL_INVALID_ARGUMENT);
    for (const int wrong : {-1, 3})
      CHECK(code_of([&] { file.def_var("j", shoal::Type::int_, {wrong}); }) == SHOAL_INVALID_ARGUMENT);
    for (const int ndims : {-1, SHOAL_MAX_DIMS + 1}) {
      CHECK(shoal_def_var_dims(file.c_handle(), "j", SHOAL_INT, ndims, numbers.data(), nullptr) ==
            SHOAL_INVALID_ARGUMENT);
      CHECK(shoal_def_var_names(file.c_handle(), "j", SHOAL_INT, ndims, nullptr, nullptr) ==
            SHOAL_INVALID_ARGUMENT);
    }
    CHECK(shoal_def_var_names(file.c_handle(), "j", SHOAL_INT, 1, nullptr, nullptr) ==
          SHOAL_INVALID_ARGUMENT);
    file.close();
  }
  auto file = shoal::Dataset::open(MPI_COMM_WORLD, path);
  CHECK(file.var("a").dims == std::vector<int>{0, 1, 2});
  CHECK(file.var("b").dims == std::vector<int>{1, 2});
  CHECK(file.var("c").dims == std::vector<int>{1});
  CHECK(file.var("d").dims.empty());
  CHECK(file.var("e").dims == std::vector<int>{1, 2});
  CHECK(file.var("f").dims == std::vector<int>{1, 2});
  CHECK(file.var("h").dims == std::vector<int>{1, 2});
  CHECK(file.var("i").dims == std::vector<int>{0});
  CHECK(file.file().variables == 8);
  file.close();
  remove(path);
}

TEST_CASE("C++: strings and lists of strings") {
  const std::string path = scratch("strings");
  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path, "format=netcdf4");
  file.def_dim("n", 2);
  file.def_var("name", shoal::Type::string, "n");
  file.put_att("name", "notes", std::vector<std::string>{"one", "", "three"});
  const std::array<const char*, 2> names{"Hilo", "Callao"};
  file.put("name", {names.data(), {2}});
  file.close();
  file = shoal::Dataset::open(MPI_COMM_WORLD, path);
  CHECK(file.get_att<std::vector<std::string>>("name", "notes") ==
        std::vector<std::string>{"one", "", "three"});
  std::array<char*, 2> found{};
  file.get("name", {found.data(), {2}});
  CHECK(std::string(found[1]) == "Callao");
  shoal_free_strings(2, found.data());
  file.close();
  remove(path);
}

TEST_CASE("C++: errors, and handles that were moved, closed or dropped") {
  const std::string path = scratch("errors");
  CHECK(code_of([] { shoal::Dataset::open(MPI_COMM_WORLD, "no_such_file.nc"); }) == SHOAL_NOT_FOUND);
  CHECK(code_of([&] { shoal::Dataset::create(MPI_COMM_WORLD, path, "stage_byts=1"); }) == SHOAL_SETTING);
  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path, "format=cdf5");
  file.def_dim("n", 4);
  file.def_var("v", shoal::Type::short_, "n");
  CHECK(code_of([&] { file.def_fill("v", 40000); }) == SHOAL_RANGE);
  CHECK(code_of([&] { file.def_fill("v", -1.5); }) == SHOAL_RANGE);
  CHECK(code_of([&] { file.def_fill("v", 'x'); }) == SHOAL_TYPE);
  CHECK(code_of([&] { file.def_fill("v", "text"); }) == SHOAL_TYPE);
  try {
    file.def_fill("v", 40000);
  } catch (const shoal::Error& error) {
    CHECK(error.rank() == -1);
    CHECK(error.file() == path);
    CHECK(error.variable() == "v");
  }
  file.def_fill("v", -2.0);
  CHECK(file.get_att<int>("v", "_FillValue") == -2);
  CHECK(code_of([&] { file.def_chunks("v", {1, 2}); }) == SHOAL_INVALID_ARGUMENT);
  CHECK(code_of([&] { file.def_dim("n", 5); }) == SHOAL_EXISTS);
  CHECK(code_of([&] { (void)file.var("w"); }) == SHOAL_NOT_FOUND);
  CHECK(code_of([&] { (void)file.get_att<int>("v", "none"); }) == SHOAL_NOT_FOUND);
  file.put("v", std::vector<short>{1, 2, 3, 4});
  file.sync();
  file.put("v", std::vector<short>{5, 6, 7, 8});
  auto moved = std::move(file);
  CHECK(code_of([&] { file.sync(); }) != SHOAL_OK);
  moved.abandon();
  CHECK_FALSE(moved.is_open());
  CHECK(code_of([&] { moved.sync(); }) != SHOAL_OK);

  // What was synced is there; a dataset that goes out of scope waits for nobody.
  MPI_Barrier(MPI_COMM_WORLD);
  {
    auto dropped = shoal::Dataset::open(MPI_COMM_WORLD, path);
    std::vector<int> found(4);
    dropped.get("v", found);
    CHECK((found == std::vector<int>{1, 2, 3, 4} || found == std::vector<int>{5, 6, 7, 8}));
  }
  remove(path);
}

TEST_CASE("C++: masks, saved and loaded, and water points alone") {
  const std::string path = scratch("water");
  const std::string saved = scratch("active_map");
  const Ranks ranks;
  const auto tiles = rows();
  std::vector<unsigned char> active;
  for (int i = 0; i < k_rows * 5; ++i)
    active.push_back((i + ranks.rank) % 4 != 0 ? 1 : 0);
  CHECK(code_of([&] {
          (void)tiles.masked(MPI_COMM_WORLD, {active.data(), {k_rows, 4}});
        }) == SHOAL_INVALID_ARGUMENT);
  tiles.masked(MPI_COMM_WORLD, {active.data(), {k_rows, 5}}).save(MPI_COMM_WORLD, saved);
  const auto masked = shoal::Decomposition::load(MPI_COMM_WORLD, saved);
  std::vector<float> field(active.size(), NAN);
  std::vector<std::int64_t> expected;
  for (std::int64_t cell = 0; cell < k_rows * 5 * ranks.size; ++cell)
    if ((cell % (k_rows * 5) + cell / (k_rows * 5)) % 4 != 0) expected.push_back(cell);
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i] != 0) field[i] = static_cast<float>(i) + 100 * static_cast<float>(ranks.rank);

  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path, "format=cdf5");
  file.def_dim("y", k_rows * ranks.size);
  file.def_dim("x", 5);
  CHECK(code_of([&] { file.def_gathered("point", "y x", tiles); }) == SHOAL_INVALID_ARGUMENT);
  file.def_gathered("point", "y x", masked);
  file.def_var("v", shoal::Type::float_, "point", masked);
  file.def_fill("v", -1.0F);
  file.write("v", {field.data(), {k_rows, 5}});
  file.close();
  file = shoal::Dataset::open(MPI_COMM_WORLD, path);
  std::vector<std::int64_t> list(expected.size());
  file.get("point", list);
  CHECK(list == expected);
  std::vector<float> back(active.size());
  file.read("v", tiles, {back.data(), {k_rows, 5}});
  for (std::size_t i = 0; i < active.size(); ++i)
    CHECK(back[i] == (active[i] != 0 ? field[i] : -1.0F));
  file.close();
  remove(path);
  remove(saved);
}

TEST_CASE("C++: a file that was closed needs no recovery, one that is damaged cannot be recovered") {
  const std::string path = scratch("recover");
  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path);
  file.def_dim("x", 3);
  file.close();
  if (Ranks().rank == 0) {
    CHECK_FALSE(shoal::recover(path));
    REQUIRE(truncate(path.c_str(), 3) == 0);
    CHECK(code_of([&] { shoal::recover(path); }) == SHOAL_FORMAT);
    CHECK(std::string(shoal_error_message()).find(path) != std::string::npos);
    CHECK(code_of([] { shoal::recover("no_such_file.nc"); }) == SHOAL_NOT_FOUND);
  }
  remove(path);
}

TEST_CASE("C++: land is said in the file, and stays as it is when the field is read, or is filled") {
  const std::string path = scratch("land");
  const Ranks ranks;
  const auto tiles = rows();
  std::vector<unsigned char> active(std::size_t{k_rows} * 5, 1);
  if (ranks.rank == 0) active[3] = 0;
  const auto masked = tiles.masked(MPI_COMM_WORLD, {active.data(), {k_rows, 5}});
  std::vector<float> field(active.size(), 2.0F);
  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path);
  file.def_dim("y", k_rows * ranks.size);
  file.def_dim("x", 5);
  file.def_var("v", shoal::Type::float_, "y x", masked);
  file.def_var("all", shoal::Type::float_, "y x", tiles);
  file.write("v", {field.data(), {k_rows, 5}});
  file.write("all", {field.data(), {k_rows, 5}});
  file.close();
  for (const char* how : {"read_masked=leave", "read_masked=fill"}) {
    file = shoal::Dataset::open(MPI_COMM_WORLD, path, shoal::Mode::read, how);
    const auto fill = file.get_att<float>("v", "_FillValue");
    CHECK(code_of([&] { (void)file.get_att<float>("all", "_FillValue"); }) == SHOAL_NOT_FOUND);
    std::vector<float> back(active.size(), 7.0F);
    file.read("v", masked, {back.data(), {k_rows, 5}});
    const float land = std::string(how) == "read_masked=fill" ? fill : 7.0F;
    for (std::size_t i = 0; i < active.size(); ++i)
      CHECK(back[i] == (active[i] != 0 ? 2.0F : land));
    file.close();
  }
  remove(path);
}

TEST_CASE("C++: the library describes itself") {
  CHECK(shoal::version() == shoal_version());
  CHECK(shoal::version() == std::to_string(SHOAL_VERSION_NUMBER / 10000) + '.' +
                                std::to_string(SHOAL_VERSION_NUMBER / 100 % 100) + '.' +
                                std::to_string(SHOAL_VERSION_NUMBER % 100));
  CHECK(shoal::build_info().find("hdf5") != std::string::npos);
  CHECK(shoal::build_info().find("\nfilters: shuffle") != std::string::npos);
  CHECK(shoal::settings().find("stage_bytes") != std::string::npos);
}

TEST_CASE("C++: several records, names that change, fill values in effect, maps made unique") {
  const std::string path = scratch("renamed");
  std::vector<double> values{1, 2, 3, 4, 5, 6};
  {
    auto file = shoal::Dataset::create(MPI_COMM_WORLD, path, shoal::Settings{}.format("netcdf4"));
    file.def_dim("time", SHOAL_UNLIMITED);
    file.def_dim("x", 3);
    file.def_var("v", shoal::Type::double_, "time x");
    file.def_var("none", shoal::Type::float_, "x");
    file.def_no_fill("none");
    file.put_att("v", "units", "m");
    file.put_att("v", "comment", "none");
    file.put_att("", "title", "a run");
    file.put("v", {values.data(), {2, 3}}, shoal::Section(1, {}, {}, 2));
    file.rename_dim("x", "cells");
    file.rename_var("v", "field");
    file.rename_att("field", "units", "unit");
    file.rename_att("", "title", "name");
    file.delete_att("field", "comment");
    CHECK(file.inq_fill<double>("field").has_value());
    CHECK(!file.inq_fill<double>("none"));
    CHECK(code_of([&] { file.rename_var("v", "w"); }) == SHOAL_NOT_FOUND);
    file.close();
  }
  auto file = shoal::Dataset::open(MPI_COMM_WORLD, path);
  std::vector<double> got(6);
  file.get("field", {got.data(), {2, 3}}, shoal::Section(1, {}, {}, 2));
  CHECK(got == values);
  CHECK(file.dim(1).name == "cells");
  CHECK(file.var("field").attributes == 1);
  CHECK(file.get_att<std::string>("field", "unit") == "m");
  CHECK(file.get_att<std::string>("", "name") == "a run");
  file.close();
  remove(path);

  const Ranks ranks;
  const auto twice = shoal::Decomposition::map(MPI_COMM_WORLD, {4}, std::vector<std::int64_t>{3, 0, 3});
  CHECK(twice.map_info().repeated == (ranks.size > 1 ? 0 : 3));
  const auto once = twice.unique(MPI_COMM_WORLD);
  const std::vector<std::int64_t> first{SHOAL_HOLE, 0, 3}, holes(3, SHOAL_HOLE);
  CHECK(once.cells() == (ranks.rank == 0 ? first : holes));
  CHECK(once.map_info().repeated == SHOAL_HOLE);
}

TEST_CASE("C++: a variable by its number") {
  const std::string path = scratch("number");
  const Ranks ranks;
  const auto cells = rows();
  std::vector<double> tile(static_cast<std::size_t>(k_rows * 5), 0.5 + ranks.rank), back(tile.size());
  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path);
  file.def_dim("y", k_rows * ranks.size);
  file.def_dim("x", 5);
  file.def_var("n", shoal::Type::int_, "");
  file.def_var("v", shoal::Type::double_, "y x");
  const shoal_variable v = file.find_var("v"), n = file.find_var("n");
  const int five = 5;
  file.write(v, cells, shoal::ConstArray(tile.data(), {k_rows, 5}));
  file.put(n, shoal::ConstArray(&five, {}));
  file.sync();
  file.read(v, cells, shoal::Array(back.data(), {k_rows, 5}));
  CHECK(back == tile);
  int got = 0;
  file.get(n, shoal::Array(&got, {}));
  CHECK(got == 5);
  CHECK(code_of([&] { file.get(7, shoal::Array(&got, {})); }) == SHOAL_INVALID_ARGUMENT);
  file.close();
  remove(path);
}

TEST_CASE("C++: boxes that one rank writes and reads alone") {
  const std::string path = scratch("alone");
  const Ranks ranks;
  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path);
  file.def_dim("y", 3);
  file.def_dim("x", 6);
  file.def_var("v", shoal::Type::float_, "y x");
  file.def_var("w", shoal::Type::int_, "x");
  file.def_independent("v");
  file.end_define();
  const shoal_variable w = file.find_var("w");
  std::vector<double> row{1, 2, 3, 4, 5, 6};
  const std::vector<int> odd{7, 8, 9};
  if (ranks.rank == ranks.size - 1) {
    file.write_independent({"v", shoal::Array(row.data(), {1, 6}), {1, 0}, {1, 6}});
    file.write_independent(std::vector<shoal::ConstBox>{{w, odd, {1}, {3}, {2}},
                                                        {"w", shoal::Array(row.data(), {1}), {0}, {1}}});
    CHECK(code_of([&] { file.write_independent({"v", row, {0, 0}, {6}}); }) == SHOAL_INVALID_ARGUMENT);
  }
  file.sync();
  std::vector<float> back(12);
  std::vector<int> ints(6);
  file.read_independent({{"v", shoal::Array(back.data(), {2, 6}), {1, 0}, {2, 6}}, {w, ints, {0}, {6}}});
  CHECK(back[0] == 1);
  CHECK(back[5] == 6);
  CHECK(back[6] > 9e36F);
  CHECK(ints[1] == 7);
  CHECK(ints[3] == 8);
  CHECK(ints[5] == 9);
  CHECK(ints[0] == 1);
  // All ranks together, each with a box of its own; the first rank has the cell that all write.
  const double mine = 10 + ranks.rank;
  const std::int64_t place = ranks.rank % 6;
  file.write_boxes({{"v", shoal::ConstArray(&mine, {1, 1}), {1, place}, {1, 1}},
                    {w, shoal::ConstArray(&mine, {1}), {0}, {1}}});
  file.sync();
  file.read_boxes({{"v", shoal::Array(back.data(), {2, 6}), {1, 0}, {2, 6}}, {w, ints, {0}, {6}}});
  CHECK(back[static_cast<std::size_t>(place)] == static_cast<float>(10 + place));
  CHECK(ints[0] == 10);
  CHECK(code_of([&] { file.read_boxes({{"none", ints, {0}, {6}}}); }) == SHOAL_NOT_FOUND);
  file.close();
  remove(path);
}
