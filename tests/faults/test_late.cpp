// Ranks that come late or never, to each collective call: nobody waits longer than wait_seconds, all get the
// same code, and so does who comes late.
#include <doctest/doctest.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "comm/comm.hpp"
#include "shoal/bindings.h"
#include "support/builds.hpp"
#include "support/nodes.hpp"

namespace {

constexpr std::int64_t k_cells = 24;
constexpr double k_wait = 0.5;  // seconds, of those that come
constexpr double k_late = 1.5;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A communicator for one test: after it Shoal cannot use it any more.
struct OwnComm {
  int rank = 0, size = 1;
  std::int64_t first = 0, count = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  OwnComm() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    first = k_cells * rank / size;
    count = k_cells * (rank + 1) / size - first;
  }
  bool is_late() const { return rank == size - 1; }
  int block(shoal_decomposition** cut) const {
    return shoal_block(comm, 1, &k_cells, &first, &count, nullptr, nullptr, cut);
  }
};

/// A dataset with a field in it.
struct File {
  explicit File(const OwnComm& of, const std::string& settings, double wait_seconds = k_wait) : world(of) {
    const std::string all = settings + ", wait_seconds=" + std::to_string(wait_seconds);
    REQUIRE(world.block(&cut) == SHOAL_OK);
    REQUIRE(shoal_create(of.comm, "late.nc", all.c_str(), &file) == SHOAL_OK);
    REQUIRE(shoal_def_dim(file, "x", k_cells) == SHOAL_OK);
    REQUIRE(shoal_def_var(file, "v", SHOAL_DOUBLE, "x", cut) == SHOAL_OK);
    REQUIRE(shoal_def_var(file, "s", SHOAL_DOUBLE, "", nullptr) == SHOAL_OK);
    REQUIRE(shoal_end_define(file) == SHOAL_OK);
    REQUIRE(write() == SHOAL_OK);
    REQUIRE(shoal_sync(file, 0) == SHOAL_OK);
  }
  ~File() {
    shoal_abandon(&file);
    shoal_decomposition_free(&cut);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int write() {
    std::vector<double> data(static_cast<std::size_t>(world.count) + 1, 1.0);
    const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
    return shoal_write(file, "v", cut, &array, nullptr);
  }
  int read() {
    std::vector<double> data(static_cast<std::size_t>(world.count) + 1, 1.0);
    const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
    return shoal_read(file, "v", cut, &array, nullptr);
  }
  int get() {
    double value = 0;
    const shoal_array array = shoal_array_of(&value, SHOAL_DOUBLE, 0, nullptr);
    return shoal_get(file, "s", &array, nullptr);
  }
  const OwnComm& world;
  shoal_decomposition* cut = nullptr;
  shoal_dataset* file = nullptr;
};

std::vector<std::string> drivers() {
  return shoal::testing::in_this_build(
      {"driver=native, format=cdf5", "driver=native, format=netcdf4, ranks_per_node=2",
       "driver=native, layout=process", "driver=gather, format=cdf5",
       "driver=mpiio, format=raw, access=collective", "driver=pnetcdf, access=collective",
       "driver=netcdf, format=netcdf4, access=collective"});
}

/// The last rank is late for the call: all get SHOAL_TIMEOUT, the others after wait_seconds, and it at once.
/// words: of the message.
void expect_timeout(const OwnComm& world, const std::function<int()>& call, const std::string& words = "") {
  const bool one_node = shoal::testing::is_on_one_node();
  if (world.is_late()) std::this_thread::sleep_for(std::chrono::duration<double>(k_late));
  int code = SHOAL_OK;
  const double took = seconds_of([&] { code = call(); });
  const std::string message = shoal_error_message();
  CAPTURE(message);
  CAPTURE(took);
  CHECK(code == SHOAL_TIMEOUT);
  const std::string missing = "rank " + std::to_string(world.size - 1);
  CHECK(message.find(missing + (one_node ? " (last seen" : " of MPI_COMM_WORLD")) != std::string::npos);
  CHECK(message.find(words) != std::string::npos);
  CHECK(took < (world.is_late() ? 0.5 : k_late));
}

}  // namespace

TEST_CASE("a rank that is late for a call of a dataset: a timeout on all ranks, and no hang afterwards") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  using Call = std::function<int(File&)>;
  const std::vector<std::pair<std::string, Call>> calls{
      {"sync", [](File& f) { return shoal_sync(f.file, 0); }},
      {"read", [](File& f) { return f.read(); }},
      {"get", [](File& f) { return f.get(); }},
      {"end_define", [](File& f) { return shoal_end_define(f.file); }},
      {"close", [](File& f) { return shoal_close(&f.file, 0); }}};
  // Each pair takes seconds of waiting: all of them on three ranks, elsewhere each call with one driver.
  const auto all = drivers();
  for (std::size_t d = 0; d < all.size(); ++d)
    for (std::size_t c = 0; c < calls.size(); ++c) {
      if (size != 3 && d != (c + static_cast<std::size_t>(size)) % all.size()) continue;
      const auto& driver = all[d];
      const auto& [name, call] = calls[c];
      CAPTURE(driver);
      CAPTURE(name);
      // Fields of a set cannot be read while it is written.
      if (name == "read" && driver.find("layout=process") != std::string::npos) continue;
      const OwnComm world;
      File file(world, driver);
      expect_timeout(world, [&, call = call] { return call(file); });
      if (file.file == nullptr) continue;
      int code = SHOAL_OK;
      CHECK(seconds_of([&] { code = shoal_sync(file.file, 0); }) < 0.5);
      CHECK(code == SHOAL_TIMEOUT);
      CHECK(seconds_of([&] { code = file.write(); }) < 0.5);
      CHECK(code == SHOAL_TIMEOUT);
      CHECK(seconds_of([&] { code = shoal_close(&file.file, 0); }) < 0.5);
      CHECK(code == SHOAL_TIMEOUT);
      CHECK(file.file == nullptr);
    }
}

TEST_CASE(
    "a rank that is late for a call on a communicator: a timeout on all ranks, and no hang afterwards") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  const std::string settings = "wait_seconds=" + std::to_string(k_wait);
  const auto create = [&](const OwnComm& world) {
    shoal_dataset* file = nullptr;
    const int code = shoal_create(world.comm, "late.nc", settings.c_str(), &file);
    shoal_abandon(&file);
    return code;
  };
  const auto block = [](const OwnComm& world) {
    shoal_decomposition* cut = nullptr;
    const int code = world.block(&cut);
    shoal_decomposition_free(&cut);
    return code;
  };
  const auto load = [](const OwnComm& world) {
    shoal_decomposition* cut = nullptr;
    return shoal_decomposition_load(world.comm, "late.nc", nullptr, &cut);
  };
  using Call = std::function<int(const OwnComm&)>;
  const std::vector<std::pair<std::string, Call>> calls{
      {"create (late.nc)", create}, {"block", block}, {"load (late.nc)", load}};
  for (const auto& [name, call] : calls) {
    CAPTURE(name);
    const OwnComm world;
    // Ranks have matched calls on this one, and know how long they wait.
    setenv("SHOAL_WAIT_SECONDS", std::to_string(k_wait).c_str(), 1);
    REQUIRE(block(world) == SHOAL_OK);
    expect_timeout(
        world, [&, call = call] { return call(world); }, name);
    unsetenv("SHOAL_WAIT_SECONDS");
    int code = SHOAL_OK;
    CHECK(seconds_of([&] { code = block(world); }) < 0.5);
    CHECK(code == SHOAL_TIMEOUT);
    CHECK(seconds_of([&] { code = create(world); }) < 0.5);
    CHECK(code == SHOAL_TIMEOUT);
  }
}

TEST_CASE("a rank that never came to the first call on a communicator") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  const OwnComm world;
  shoal_dataset* file = nullptr;
  if (world.is_late()) std::this_thread::sleep_for(std::chrono::duration<double>(k_late));
  int code = SHOAL_OK;
  const double took =
      seconds_of([&] { code = shoal_create(world.comm, "late.nc", "wait_seconds=1", &file); });
  CHECK(code == SHOAL_TIMEOUT);
  CHECK(took < k_late);
}

TEST_CASE("ranks that match calls by messages alone do not wait for ever either") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  const OwnComm world;
  const shoal::Comm comm(world.comm, shoal::CollectiveMethod::by_messages, {k_wait, "test", {}});
  CHECK(comm.sum(1) == size);
  std::string message;
  const auto code_of = [&](const std::function<void()>& work) {
    const shoal::Status status = shoal::caught(work);
    message = status.message;
    return static_cast<int>(status.code);
  };
  if (world.is_late()) std::this_thread::sleep_for(std::chrono::duration<double>(k_late));
  int code = SHOAL_OK;
  const shoal::Comm::Calling calling(comm, "test", {});
  const double took = seconds_of([&] { code = code_of([&] { comm.sum(1); }); });
  CHECK(code == SHOAL_TIMEOUT);
  CHECK(took < (world.is_late() ? 0.5 : k_late));
  CAPTURE(message);
  CHECK(message.find("rank " + std::to_string(size - 1) + " of MPI_COMM_WORLD") != std::string::npos);
  CHECK(seconds_of([&] { code = code_of([&] { comm.barrier(); }); }) < 0.5);
  CHECK(code == SHOAL_TIMEOUT);
}

TEST_CASE("a rank in a call on a communicator and others in a call of a dataset find each other") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  for (const auto& driver : drivers())
    for (const bool maps : {false, true}) {
      CAPTURE(driver);
      const OwnComm world;
      // On several nodes they wait as long as for ranks that are late.
      const bool at_once = shoal::testing::is_on_one_node();
      const int expected = at_once ? SHOAL_OUT_OF_STEP : SHOAL_TIMEOUT;
      if (!at_once) setenv("SHOAL_WAIT_SECONDS", std::to_string(k_wait).c_str(), 1);
      File file(world, driver, at_once ? 60 : k_wait);
      shoal_decomposition* cut = nullptr;
      int code = SHOAL_OK;
      const double took = seconds_of([&] {
        if (!world.is_late())
          code = shoal_sync(file.file, 0);
        else if (maps)
          code = shoal_map(world.comm, 1, &k_cells, 0, 0, nullptr, &cut);
        else
          code = world.block(&cut);
      });
      const std::string message = shoal_error_message();
      CAPTURE(message);
      // Elsewhere the late rank may be through with its own call before the others are with theirs.
      const auto is_expected = [&] { return code == expected || (!at_once && code == SHOAL_OUT_OF_STEP); };
      CHECK(is_expected());
      CHECK(took < 5);
      code = shoal_close(&file.file, 0);
      CHECK(is_expected());
      unsetenv("SHOAL_WAIT_SECONDS");
    }
}

TEST_CASE("what one rank wants durable is durable for all") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const auto& driver : drivers()) {
    CAPTURE(driver);
    const OwnComm world;
    File file(world, driver, 5);
    REQUIRE(file.write() == SHOAL_OK);
    CHECK(shoal_sync(file.file, world.rank == 0 ? 1 : 0) == SHOAL_OK);
    CHECK(shoal_close(&file.file, world.is_late() ? 1 : 0) == SHOAL_OK);
  }
}

TEST_CASE("a definition that fails on one rank: all ranks finish definitions together") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  for (int kind = 0; kind < 4; ++kind) {
    CAPTURE(kind);
    const OwnComm world;
    File file(world, "format=netcdf4", 60);
    const double fill = 0;
    const std::int64_t chunk = 4;
    const char* name = world.is_late() ? "nonsense" : "w";
    if (kind == 0) {  // no definition reaches the library on the last rank
      if (world.is_late()) CHECK(shoal_def_dim(file.file, nullptr, 4) == SHOAL_INVALID_ARGUMENT);
      if (!world.is_late()) CHECK(shoal_def_dim(file.file, "d", 4) == SHOAL_OK);
    } else {
      REQUIRE(shoal_def_var(file.file, "w", SHOAL_DOUBLE, "x", file.cut) == SHOAL_OK);
      if (kind == 1) shoal_def_fill(file.file, name, SHOAL_DOUBLE, &fill);
      if (kind == 2) shoal_def_chunks(file.file, name, &chunk);
      if (kind == 3) shoal_def_compression(file.file, name, "shuffle+deflate:1");
    }
    int code = SHOAL_OK;
    CHECK(seconds_of([&] { code = kind == 0 ? file.write() : shoal_end_define(file.file); }) < 3);
    CHECK(code == SHOAL_OUT_OF_STEP);
    CHECK(shoal_close(&file.file, 0) == SHOAL_OK);
  }
}

TEST_CASE("who waits in a write for a rank that has dropped the file learns of it") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  const OwnComm world;
  const bool at_once = shoal::testing::is_on_one_node();
  File file(world, "format=cdf5, stage_bytes=64KiB", at_once ? 60 : k_wait);
  if (world.is_late()) {
    shoal_abandon(&file.file);
    return;
  }
  const double took = seconds_of([&] {
    for (int i = 0; i < 200; ++i)
      file.write();
    const int code = shoal_sync(file.file, 0);
    CHECK((code == SHOAL_OUT_OF_STEP || (!at_once && code == SHOAL_TIMEOUT)));
  });
  CHECK(took < 5);
}

TEST_CASE("what a rank refuses in place of a call reaches all ranks") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  const shoal_section whole = SHOAL_SECTION_INIT;
  const auto says = [] {
    return std::string(shoal_error_message()).find("my own words") != std::string::npos;
  };
  for (const auto& driver : drivers()) {
    CAPTURE(driver);
    const OwnComm world;
    File file(world, driver, 60);
    shoal_variable v = -1;
    CHECK(shoal_find_var(file.file, "v", &v) == SHOAL_OK);
    const auto try_all = [&](shoal_variable variable, const shoal_section* section) {
      const auto refuse = [&](int call) {
        return shoal_refuse_data(file.file, call, variable, nullptr, section, SHOAL_RANGE, "my own words");
      };
      if (driver.find("layout") == std::string::npos) {  // files a rank are not read while they are written
        CHECK((world.is_late() ? refuse(SHOAL_CALL_READ) : file.read()) == SHOAL_RANGE);
        CHECK(says());
        CHECK(file.read() == SHOAL_OK);
        CHECK((world.is_late() ? refuse(SHOAL_CALL_GET) : file.get()) == SHOAL_RANGE);
        CHECK(says());
      }
      const int code = world.is_late() ? refuse(SHOAL_CALL_WRITE) : file.write();
      CHECK((code == SHOAL_OK || code == SHOAL_RANGE));  // drivers of libraries report it at once
      const int synced = shoal_sync(file.file, 0);
      CHECK((synced == SHOAL_RANGE || code == SHOAL_RANGE));
      CHECK(says());
      CHECK(file.write() == SHOAL_OK);
      CHECK(shoal_sync(file.file, 0) == SHOAL_OK);
    };
    try_all(v, &whole);
    try_all(v, nullptr);
    try_all(-1, nullptr);
    CHECK(shoal_close(&file.file, 0) == SHOAL_OK);
  }
  const OwnComm world;
  shoal_dataset* none = nullptr;
  CHECK((world.is_late() ? shoal_refuse(world.comm, SHOAL_RANGE, "my own words")
                         : shoal_create(world.comm, "late.nc", "", &none)) == SHOAL_RANGE);
  CHECK((world.is_late() ? shoal_refuse(world.comm, SHOAL_RANGE, "my own words")
                         : shoal_open(world.comm, "late.nc", SHOAL_READ, "", &none)) == SHOAL_RANGE);
}

TEST_CASE(
    "late: calls of a program that are matched: one code on all ranks, other calls and details are found") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  const auto says = [](const char* words) {
    return std::string(shoal_error_message()).find(words) != std::string::npos;
  };
  const auto all_of = [&](const OwnComm& world,
                          const std::function<int(const char*, const char*, int*)>& match) {
    int code = 0;
    CHECK(match("put_att", "units", &code) == SHOAL_OK);
    CHECK(code == 0);
    code = world.rank > 0 ? 40 + world.rank : 0;
    CHECK(match("put_att", world.rank == 0 ? "a" : "b", &code) == SHOAL_OK);
    CHECK(code == 41);  // details of a call that fails are not compared
    CHECK(says("rank 1: wrong on 1"));
    code = 0;
    CHECK(match("put_att", world.is_late() ? "units" : "name", &code) == SHOAL_OUT_OF_STEP);
    CHECK(says("put_att (units)"));
    CHECK(match(world.is_late() ? "def_var" : "put_att", "units", &code) == SHOAL_OUT_OF_STEP);
    CHECK(says("def_var (units)"));
    CHECK(match("put_att", "units", &code) == SHOAL_OK);  // and they go on
    CHECK(code == 0);
  };
  const OwnComm world;
  const std::string wrong = "wrong on " + std::to_string(world.rank);
  all_of(world, [&](const char* call, const char* details, int* code) {
    return shoal_match(world.comm, call, details, code, wrong.c_str());
  });
  for (const auto& driver : drivers()) {
    CAPTURE(driver);
    File file(world, driver, 60);
    all_of(world, [&](const char* call, const char* details, int* code) {
      return shoal_match_data(file.file, call, details, code, wrong.c_str());
    });
    // A write that a rank refuses, and says so itself, is no error of the next sync.
    const shoal_section whole = SHOAL_SECTION_INIT;
    shoal_variable v = -1;
    CHECK(shoal_find_var(file.file, "v", &v) == SHOAL_OK);
    if (world.is_late())
      shoal_refuse_data(file.file, SHOAL_CALL_WRITE, v, nullptr, &whole, SHOAL_OK, "told elsewhere");
    else
      file.write();
    const int synced = shoal_sync(file.file, 0);
    if (driver.find("driver=native") == 0) CHECK(synced == SHOAL_OK);
    CHECK(file.write() == SHOAL_OK);
    CHECK(shoal_close(&file.file, 0) == SHOAL_OK);
  }
}
