// Settings that a dataset has no use for: refused where the call itself asks for them, else a warning, said
// once.
#include <doctest/doctest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "shoal/shoal.h"
#include "support/builds.hpp"

namespace {

constexpr const char* k_file = "unused.nc";

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

struct Variable {
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  const char* name_;
};

std::size_t count(const std::string& text, const std::string& words) {
  std::size_t n = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++n;
  return n;
}

void says(const std::string& text, const std::vector<std::string>& words) {
  for (const auto& word : words)
    CHECK_MESSAGE(count(text, word) > 0, "'", text, "' does not say '", word, "'");
}

std::string warnings_in(const std::string& report) {
  const std::size_t at = report.find("\"warnings\": [");
  REQUIRE(at != std::string::npos);
  return report.substr(at, report.find("], \"advice\"", at) - at);
}

/// What this rank prints on standard error meanwhile.
std::string printed(const std::function<void()>& work) {
  const std::string path = "stderr." + std::to_string(rank_of_world());
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  REQUIRE(std::freopen(path.c_str(), "w", stderr) != nullptr);
  work();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A field cut over ranks, some of which have nothing.
struct Field {
  Field() {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    global = {2, size};
    start = {0, rank_of_world()};
    extents = {2, rank_of_world() == 1 ? 0 : 1};
    CHECK(shoal_block(MPI_COMM_WORLD, 2, global.data(), start.data(), extents.data(), nullptr, nullptr,
                      &cut) == SHOAL_OK);
  }
  ~Field() { shoal_decomposition_free(&cut); }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  void write(shoal_dataset* file, const char* name) {
    std::array<double, 2> values{1, 2};
    const shoal_array array = shoal_array_of(values.data(), SHOAL_DOUBLE, 2, extents.data());
    CHECK(shoal_write(file, name, nullptr, &array, nullptr) == SHOAL_OK);
  }

  std::array<std::int64_t, 2> global{}, start{}, extents{};
  shoal_decomposition* cut = nullptr;
};

shoal_dataset* create(const std::string& settings) {
  shoal_dataset* file = nullptr;
  const int code = shoal_create(MPI_COMM_WORLD, k_file, settings.c_str(), &file);
  REQUIRE_MESSAGE(code == SHOAL_OK, shoal_error_message());
  return file;
}

/// y, x, the fields temp, salt and mask, and lon, which rank 0 writes.
void define(shoal_dataset* file, const Field& field) {
  CHECK(shoal_def_dim(file, "y", field.global[0]) == SHOAL_OK);
  CHECK(shoal_def_dim(file, "x", field.global[1]) == SHOAL_OK);
  CHECK(shoal_def_var(file, "temp", SHOAL_DOUBLE, "y x", field.cut) == SHOAL_OK);
  CHECK(shoal_def_var(file, "salt", SHOAL_DOUBLE, "y x", field.cut) == SHOAL_OK);
  CHECK(shoal_def_var(file, "mask", SHOAL_INT, "y x", field.cut) == SHOAL_OK);
  CHECK(shoal_def_var(file, "lon", SHOAL_DOUBLE, "x", nullptr) == SHOAL_OK);
}

/// The warnings of a dataset of these variables, at the end.
std::string warnings_with(const std::string& settings) {
  Field field;
  shoal_dataset* file = create(settings + ", quiet=true");
  define(file, field);
  field.write(file, "temp");
  CHECK(warnings_in(shoal_report(file)) == "\"warnings\": [");  // more may be defined
  CHECK(shoal_sync(file, 0) == SHOAL_OK);
  const std::string out = warnings_in(shoal_report(file));
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  return out;
}

}  // namespace

TEST_CASE("a name or pattern that fits no variable is said, with the variables there are") {
  says(warnings_with("format=netcdf4, compression=tmep=deflate:1; salt=none"),
       {"setting compression is 'tmep=deflate:1; salt=none' (from argument)",
        "no variable of the file fits 'tmep'; did you mean 'temp'?"});
  says(warnings_with("format=netcdf4, chunks=density=1x1"),
       {"setting chunks", "no variable of the file fits 'density'; there are: temp, salt, mask, lon"});
  says(warnings_with("quantize=vel_*=bitround:5"), {"setting quantize", "fits 'vel_*'", "there are: temp"});
  says(warnings_with("format=netcdf4, compression=tmep=none; deflate:1"), {"did you mean 'temp'"});
  {
    const Variable v("SHOAL_COMPRESSION", "tmep=deflate:1; slat=deflate:1; none");
    const std::string text = warnings_with("format=netcdf4");
    says(text, {"(from SHOAL_COMPRESSION)", "did you mean 'temp'?", "did you mean 'salt'?"});
    CHECK(count(text, "setting compression") == 2);
  }
}

TEST_CASE("what fits only variables that it is not for is said, and what fits is not") {
  says(warnings_with("format=netcdf4, compression=lo?=deflate:1"),
       {"'lo?' fits 'lon' alone", "cut over ranks"});
  says(warnings_with("format=netcdf4, chunks=t*=1x1x1"), {"'t*' fits 'temp' alone", "dimensions"});
  says(warnings_with("quantize=m*=bitround:5"), {"'m*' fits 'mask' alone", "float or double"});
  const std::string nothing = "\"warnings\": [";
  CHECK(warnings_with("format=netcdf4, compression=temp=deflate:1; t*=none; lon=none; shuffle") == nothing);
  CHECK(warnings_with("format=netcdf4, chunks=temp=1x1; s*=series; 1x1x1") == nothing);
  CHECK(warnings_with("quantize=temp=bitround:5; *t=granular_bitround:3; none") == nothing);
  CHECK(warnings_with("") == nothing);
}

TEST_CASE("variables may be defined as late as data is written") {
  Field field;
  const Variable quiet("SHOAL_QUIET", "true");
  shoal_dataset* file = create("format=netcdf4, compression=temp=deflate:1; later=deflate:1; nevr=deflate:1");
  define(file, field);
  field.write(file, "temp");
  CHECK(shoal_def_var(file, "later", SHOAL_DOUBLE, "y x", field.cut) == SHOAL_OK);
  field.write(file, "later");
  CHECK(shoal_end_define(file) == SHOAL_OK);
  const std::string text = warnings_in(shoal_report(file));
  says(text, {"fits 'nevr'"});
  CHECK(count(text, "fits '") == 1);
  CHECK(shoal_close(&file, 0) == SHOAL_OK);

  // What is in a file already is no slip, and who only reads is not meant.
  const Variable v("SHOAL_QUANTIZE", "temp=bitround:5; nevr=bitround:5");
  CHECK(shoal_open(MPI_COMM_WORLD, k_file, SHOAL_READ, nullptr, &file) == SHOAL_OK);
  CHECK(warnings_in(shoal_report(file)) == "\"warnings\": [");
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  CHECK(shoal_open(MPI_COMM_WORLD, k_file, SHOAL_WRITE, nullptr, &file) == SHOAL_OK);
  CHECK(shoal_def_var(file, "last", SHOAL_DOUBLE, "y x", field.cut) == SHOAL_OK);
  CHECK(shoal_sync(file, 0) == SHOAL_OK);
  const std::string more = warnings_in(shoal_report(file));
  says(more, {"fits 'nevr'; there are: temp, salt, mask, lon, later, last"});
  CHECK(count(more, "fits '") == 1);
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
}

TEST_CASE("a warning is printed once, by one rank, and stands in the report") {
  const auto run = [](const std::string& settings) {
    return printed([&] {
      Field field;
      shoal_dataset* file = create(settings);
      define(file, field);
      for (int i = 0; i < 2; ++i) {
        field.write(file, "temp");
        CHECK(shoal_end_define(file) == SHOAL_OK);
        CHECK(shoal_sync(file, 0) == SHOAL_OK);
      }
      CHECK(shoal_close(&file, 0) == SHOAL_OK);
    });
  };
  if (rank_of_world() == 0)
    for (const char* path : {"unused.json", "unused.txt"})
      unlink(path);
  const Variable chunks("SHOAL_CHUNKS", "1x1");
  const Variable quantize("SHOAL_QUANTIZE", "tmep=bitround:5");
  const std::string text = run("report=unused.json");
  const std::size_t here = rank_of_world() == 0 ? 1 : 0;
  CHECK(count(text, "shoal: unused.nc: setting chunks is '1x1' (from SHOAL_CHUNKS)") == here);
  CHECK(count(text, "shoal: unused.nc: setting quantize") == here);
  MPI_Barrier(MPI_COMM_WORLD);
  std::ifstream report("unused.json");
  const std::string json{std::istreambuf_iterator<char>(report), {}};
  CHECK(count(warnings_in(json), "did you mean 'temp'") == 1);
  CHECK(count(warnings_in(json), "has no chunks") == 1);
  CHECK(run("quiet=true").empty());
}

TEST_CASE("what a format or driver has no use for") {
  struct Case {
    const char* key;
    const char* variable;
    const char* value;
    const char* where;
    const char* why;
  };
  const std::vector<Case> cases{
      {"chunk_bytes", "SHOAL_CHUNK_BYTES", "64KiB", "format=cdf5", "format cdf5 has no chunks"},
      {"chunk_bytes", "SHOAL_CHUNK_BYTES", "64KiB", "format=raw", "format raw has no chunks"},
      {"chunks", "SHOAL_CHUNKS", "temp=1x1", "format=raw", "format raw has no chunks"},
      {"compression", "SHOAL_COMPRESSION", "shuffle", "format=cdf2", "format cdf2 cannot be compressed"},
      {"header_reserve", "SHOAL_HEADER_RESERVE", "1KiB", "format=netcdf4", "format netcdf4 has no header"},
      {"access", "SHOAL_ACCESS", "independent", "driver=native", "driver native has one way"},
      {"replicated_access", "SHOAL_REPLICATED_ACCESS", "independent", "driver=gather", "has one way"},
      {"background", "SHOAL_BACKGROUND", "thread", "driver=gather",
       "gather does not store in the background"},
      {"background", "SHOAL_BACKGROUND", "ranks", "driver=mpiio", "mpiio does not store in the background"},
      {"background_close", "SHOAL_BACKGROUND_CLOSE", "true", "background=off", "within their calls"},
      {"store_bytes_per_second", "SHOAL_STORE_BYTES_PER_SECOND", "1MiB", "background=off",
       "within their calls"},
      {"slot_bytes", "SHOAL_SLOT_BYTES", "64KiB", "driver=gather", "driver gather has no stage"},
      {"direct_bytes", "SHOAL_DIRECT_BYTES", "64KiB", "driver=mpiio", "driver mpiio has no stage"},
      {"writers", "SHOAL_WRITERS", "1", "driver=mpiio", "driver mpiio has no stage"},
      {"rearrange", "SHOAL_REARRANGE", "off", "driver=mpiio", "cells of maps go to I/O ranks in any case"},
      {"rearranger", "SHOAL_REARRANGER", "subset", "driver=gather", "driver gather hands on boxes"},
  };
  for (const Case& c : cases) {
    if (!shoal::testing::in_this_build(c.where)) continue;
    const std::string set = std::string(c.key) + "=" + c.value;
    CAPTURE(set);
    shoal_dataset* file = nullptr;
    const std::string argument = std::string(c.where) + ", " + set;
    CHECK(shoal_create(MPI_COMM_WORLD, k_file, argument.c_str(), &file) == SHOAL_SETTING);
    CHECK(file == nullptr);
    says(shoal_error_message(),
         {std::string("setting ") + c.key + " is '", c.why, "leave it out, or ", "(from argument)"});
    const Variable v(c.variable, c.value);
    file = create(std::string(c.where) + ", quiet=true");
    says(warnings_in(shoal_report(file)), {std::string("setting ") + c.key + " is '", c.why,
                                           std::string("(from ") + c.variable + ") and not used"});
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
  }
}

TEST_CASE("an existing file without chunks refuses settings of chunks, to be changed") {
  shoal_dataset* file = create("format=cdf5");
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  CHECK(shoal_open(MPI_COMM_WORLD, k_file, SHOAL_WRITE, "chunk_bytes=64KiB", &file) == SHOAL_SETTING);
  says(shoal_error_message(), {"unused.nc", "format cdf5 has no chunks"});
  const Variable v("SHOAL_CHUNK_BYTES", "64KiB");
  CHECK(shoal_open(MPI_COMM_WORLD, k_file, SHOAL_WRITE, nullptr, &file) == SHOAL_OK);
  says(warnings_in(shoal_report(file)), {"format cdf5 has no chunks"});
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  CHECK(shoal_open(MPI_COMM_WORLD, k_file, SHOAL_READ, nullptr, &file) == SHOAL_OK);
  CHECK(warnings_in(shoal_report(file)) == "\"warnings\": [");
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
}

// The environment may speak of addresses alone; an argument is of this path.
TEST_CASE("a file on this machine has no use for a server's settings") {
  for (const char* set : {"endpoint=https://objects.site.org", "requests=8"}) {
    CAPTURE(set);
    shoal_dataset* file = nullptr;
    CHECK(shoal_create(MPI_COMM_WORLD, k_file, set, &file) == SHOAL_SETTING);
    says(shoal_error_message(), {"where no server is asked", "give an address (s3://bucket/name)"});
  }
  const Variable endpoint("SHOAL_ENDPOINT", "https://objects.site.org");
  const Variable requests("SHOAL_REQUESTS", "8");
  shoal_dataset* file = create("quiet=true");
  CHECK(warnings_in(shoal_report(file)) == "\"warnings\": [");
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  CHECK(shoal_create(MPI_COMM_WORLD, "unused.zarr", "requests=0", &file) == SHOAL_SETTING);
}

TEST_CASE("how a set of files is read is no choice, and no reason to refuse it") {
  const char* path = "unused_set.nc";
  shoal_dataset* file = nullptr;
  REQUIRE(shoal_create(MPI_COMM_WORLD, path, "layout=process, quiet=true", &file) == SHOAL_OK);
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  MPI_Barrier(MPI_COMM_WORLD);
  const int code = shoal_open(MPI_COMM_WORLD, path, SHOAL_READ, "access=independent, quiet=true", &file);
  REQUIRE(code == SHOAL_OK);
  says(warnings_in(shoal_report(file)),
       {"setting access is 'independent' (from argument) and not used: driver tiles, for sets of files,"});
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  // I/O ranks read for maps.
  REQUIRE(shoal_open(MPI_COMM_WORLD, path, SHOAL_READ, "io_ranks=1, quiet=true", &file) == SHOAL_OK);
  if (rank_of_world() == 0)
    says(warnings_in(shoal_report(file)), {"are used to read fields that are cut by maps"});
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  CHECK(shoal_open(MPI_COMM_WORLD, path, SHOAL_READ, "io_ranks=100, quiet=true", &file) == SHOAL_SETTING);
  for (const std::string set : {"slot_bytes=64KiB", "direct_bytes=64KiB", "writers=100", "rearrange=on",
                                "rearranger=box", "rearranger=subset"}) {
    CAPTURE(set);
    const std::string settings = set + ", quiet=true";
    REQUIRE(shoal_open(MPI_COMM_WORLD, path, SHOAL_READ, settings.c_str(), &file) == SHOAL_OK);
    const std::string text = warnings_in(shoal_report(file));
    says(text, {"setting " + set.substr(0, set.find('=')) + " is '",
                "(from argument) and not used: each rank reads its own cells from the files of a set"});
    CHECK(count(text, "not used") == 1);
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
  }
}

TEST_CASE("more writers than any node has ranks are refused on all ranks alike") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto refused = [](int writers, int most, const std::string& more) {
    const std::string settings = "ranks_per_node=2, writers=" + std::to_string(writers) + more;
    CAPTURE(settings);
    shoal_dataset* file = nullptr;
    CHECK(shoal_create(MPI_COMM_WORLD, k_file, settings.c_str(), &file) == SHOAL_SETTING);
    CHECK(file == nullptr);
    says(shoal_error_message(), {"setting writers is " + std::to_string(writers),
                                 "no node has more than " + std::to_string(most) + " rank",
                                 "writers can be 1 to " + std::to_string(most)});
  };
  const int most = std::min(ranks, 2);
  refused(most + 1, most, "");
  refused(100, most, "");
  refused(most + 1, most, ", background=thread");
  shoal_dataset* file = create("ranks_per_node=2, writers=" + std::to_string(most));
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
}

TEST_CASE("rearranger=box takes tiles to I/O ranks with drivers of other libraries, too") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Field field;
  for (const bool box : {false, true}) {
    CAPTURE(box);
    shoal_dataset* file =
        create(std::string("driver=mpiio, ranks_per_node=1, quiet=true") + (box ? ", rearranger=box" : ""));
    define(file, field);
    field.write(file, "temp");
    CHECK(shoal_sync(file, 0) == SHOAL_OK);
    const std::string report = shoal_report(file);
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
    if (ranks == 1) continue;
    CHECK((count(report, "\"writers\": " + std::to_string(ranks)) == 1) == box);
  }
}

TEST_CASE("what asks for nothing is no reason to refuse") {
  for (const char* settings :
       {"format=cdf5, compression=none, chunks=auto, quantize=none",
        "driver=gather, background=off, background_close=false", "driver=native, store_bytes_per_second=0",
        "driver=gather, slot_bytes=0, writers=0, rearrange=auto, rearranger=auto",
        "driver=gather, rearranger=box"}) {
    if (!shoal::testing::in_this_build(settings)) continue;
    const Variable v("SHOAL_ACCESS", "collective");  // as it would be anyway
    shoal_dataset* file = create(settings);
    CHECK(warnings_in(shoal_report(file)) == "\"warnings\": [");
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
  }
}

TEST_CASE("unused_settings=refuse: what is passed over elsewhere is an error") {
  const Variable chunks("SHOAL_CHUNK_BYTES", "1MiB");
  shoal_dataset* file = nullptr;
  REQUIRE(shoal_create(MPI_COMM_WORLD, k_file, "quiet=true, format=cdf5", &file) == SHOAL_OK);
  REQUIRE(shoal_close(&file, 0) == SHOAL_OK);
  CHECK(shoal_create(MPI_COMM_WORLD, k_file, "unused_settings=refuse", &file) == SHOAL_SETTING);
  says(shoal_error_message(), {"SHOAL_CHUNK_BYTES", "has no chunks"});
  // A file that is read has no use for it either, and nobody minds.
  REQUIRE(shoal_open(MPI_COMM_WORLD, k_file, SHOAL_READ, "unused_settings=refuse", &file) == SHOAL_OK);
  REQUIRE(shoal_close(&file, 0) == SHOAL_OK);
}
