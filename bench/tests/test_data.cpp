// SPDX-License-Identifier: BSD-3-Clause
// The data of the benchmark and its checks, on files that are written with nothing of Shoal's: a check that
// passes here finds what is wrong, and only that.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "arrays.hpp"
#include "dataset_check.hpp"
#include "files.hpp"
#include "grids/cubed_sphere.hpp"
#include "inject_error.hpp"
#include "join.hpp"
#include "json.hpp"
#include "workload.hpp"
#include "writers.hpp"

using namespace shoal::bench;

namespace {

const char* const k_path = "data.nc";

std::int64_t wrong(const Content& content, std::int64_t records, const std::string& path = k_path) {
  std::int64_t n = wrong_in_dataset(MPI_COMM_WORLD, path, content, records);
  MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return n;
}

// Rank 0 does it, the others wait.
void alone(const std::function<void()>& work) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) work();
  MPI_Barrier(MPI_COMM_WORLD);
}

struct Kind {
  const char* format;
  int across, along;  // files in eta and in xi; 0: one file that is no set
};

void write(const Kind& kind, const Content& content, std::int64_t records) {
  const std::string format = kind.format;
  const auto one = [&](const std::string& path, const Slices& slices) {
    if (format == "raw" || format == "raw-big" || format == "ascii")
      write_raw(path, format == "ascii", format == "raw-big", content, records, slices);
    else
      write_netcdf(path, format, content, records, slices);
  };
  remove_files(k_path);
  if (kind.along == 0) return one(k_path, {});
  for (int p = 0; p < kind.across * kind.along; ++p) {
    Slices slices;
    for (const auto& field : content.fields) {
      if (!field.distributed) continue;
      const auto cut = [&](const std::string& dimension, std::int64_t part, std::int64_t parts) {
        const auto n = content.length_of(dimension);
        slices[dimension] = {n * part / parts, n * (part + 1) / parts - n * part / parts};
      };
      const auto n = field.dims.size();
      cut(field.dims[n - 1], p % kind.along, kind.along);
      if (field.cut == 2) cut(field.dims[n - 2], p / kind.along, kind.across);
    }
    one(k_path + std::string(".000") + std::to_string(p), slices);
  }
}

}  // namespace

TEST_CASE("contiguous runs are those of the published studies") {
  const Content small = roms_content({82, 80, 16}), large = roms_content({656, 640, 16});
  const auto runs = [](const Content& c, const Grid& g, const Tiling& t) { return contiguous_runs(c, g, t); };
  CHECK(runs(small, {82, 80, 16}, {1, 16}).in_all == 16);
  CHECK(runs(small, {82, 80, 16}, {2, 8}).in_all == 160);
  CHECK(runs(small, {82, 80, 16}, {4, 4}).in_all == 320);
  CHECK(runs(large, {656, 640, 16}, {1, 16}).in_all == 16);
  CHECK(runs(large, {656, 640, 16}, {4, 4}).in_all == 2560);
  CHECK(runs(large, {656, 640, 16}, {4, 4}).most_of_a_rank == 160);
  CHECK(runs(large, {656, 640, 16}, {1, 16}).longest == 26240);
  CHECK(runs(large, {656, 640, 16}, {1, 128}).longest == 3280);
}

TEST_CASE("tiles cover every field once, of one row too") {
  const Grid grid{17, 11, 3}, line{1013, 1, 1}, sphere{6 * 9 * 25 + 2, 1, 2}, few{7, 1, 2};
  for (const Tiling tiling : {Tiling{1, 1}, Tiling{3, 2}, Tiling{5, 7}})
    for (const auto& [content, g] : {std::pair{roms_content(grid), grid},
                                     {seven_ways_content(line), line},
                                     {restart_content(sphere), sphere},
                                     {restart_content(few), few}})
      for (const auto& field : content.fields) {
        if (!field.distributed) continue;
        std::vector<int> owners(static_cast<std::size_t>(field.rows() * field.columns()));
        for (int rank = 0; rank < tiling.xi * tiling.eta; ++rank) {
          const auto tile = tile_of(field, g, tiling, rank);
          for (std::int64_t j = 0; j < tile.rows; ++j)
            for (std::int64_t i = 0; i < tile.columns; ++i)
              ++owners[static_cast<std::size_t>(tile.row(j) * field.columns() + tile.column(i))];
        }
        CHECK(std::count(owners.begin(), owners.end(), 1) == static_cast<std::ptrdiff_t>(owners.size()));
      }
}

TEST_CASE("columns of a sphere are scattered, as many for each rank, and come in elements") {
  const Grid grid{6 * 9 * 64 + 2, 1, 3};
  const auto content = restart_content(grid);
  const auto runs = contiguous_runs(content, grid, {16, 1});
  // 384 elements, 24 a rank: a square of 4x4 and half of the next one, never rows of a face alone.
  CHECK(runs.in_all >= 16 * 6);
  CHECK(runs.in_all <= 384);
  CHECK(runs.longest % 9 <= 2);
  auto blocks = content_of({"w", "", {}, 0, restart_content}, grid, "block");
  CHECK(contiguous_runs(blocks, grid, {16, 1}).in_all == 16);
  CHECK_THROWS_WITH_AS(content_of({"w", "", {}, 0, roms_content}, {17, 11, 3}, "map"),
                       "--cut is given, but w is always cut in tiles", std::invalid_argument);
  // The curve never jumps inside of a face of 2^k elements a side: neighbours on it are neighbours on the
  // face.
  const auto all = shoal::grids::sphere_columns(grid.xi, 0, 384);
  CHECK(*all == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  for (int e = 1; e < 64; ++e) {
    const auto before = shoal::grids::sphere_columns(grid.xi, e - 1, 384)->front() / 9,
               here = shoal::grids::sphere_columns(grid.xi, e, 384)->front() / 9;
    CHECK(std::abs(before % 8 - here % 8) + std::abs(before / 8 - here / 8) == 1);
  }
}

TEST_CASE("arrays keep their halos to themselves") {
  for (const auto& [content, grid] : {std::pair{roms_content({17, 11, 3}), Grid{17, 11, 3}},
                                      {restart_content({218, 1, 4}), Grid{218, 1, 4}}}) {
    auto arrays = make_arrays(content, grid, {2, 2}, 1, 3, Purpose::write);
    std::size_t bytes = 0;
    for (auto& array : arrays) {
      array.fill();
      bytes += array.memory_bytes();
      CHECK(array.wrong_cells(0, 0) == 0);
      CHECK((!array.field().record || array.wrong_cells(2, 2) == 0));
      CHECK(array.extents().size() == array.field().shape.size());
      CHECK(array.strides().back() == size_of(array.field().type));
      array.interior(0)[1] ^= std::byte{0x10};
      CHECK(array.wrong_cells(0, 0) == 1);
    }
    CHECK(arrays_bytes(content, grid, {2, 2}, 1, 3, Purpose::write) == static_cast<std::int64_t>(bytes));
  }
}

TEST_CASE("fields with the same values share their arrays to be written, and have their own to be read") {
  const Grid grid{218, 1, 4};
  auto content = restart_content(grid);
  auto& replica = content.add("replica", Type::dbl, "lev ncol", true);
  replica.same_as = "T";
  const auto named = [](std::vector<LocalField>& arrays, const std::string& name) -> LocalField& {
    return *std::find_if(arrays.begin(), arrays.end(), [&](const auto& a) { return a.field().name == name; });
  };
  auto written = make_arrays(content, grid, {2, 2}, 1, 1, Purpose::write);
  named(written, "T").fill();
  CHECK(named(written, "replica").interior(0) == named(written, "T").interior(0));
  CHECK(named(written, "replica").wrong_cells(0, 0) == 0);
  auto read = make_arrays(content, grid, {2, 2}, 1, 1, Purpose::read);
  named(read, "T").fill();
  named(read, "replica").spoil();
  CHECK(named(read, "T").wrong_cells(0, 0) == 0);
  CHECK(named(read, "replica").wrong_cells(0, 0) == named(read, "replica").owned());
  CHECK(arrays_bytes(content, grid, {2, 2}, 1, 1, Purpose::read) -
            arrays_bytes(content, grid, {2, 2}, 1, 1, Purpose::write) ==
        named(read, "replica").owned_bytes());
}

TEST_CASE("sizes have names, rules and numbers") {
  const Workload w{"w", "", {{"small", {82, 1, 26}}}, 0, restart_content, restart_size, "neN"};
  CHECK(find_size(w, "").xi == 82);
  CHECK(find_size(w, "ne120").xi == 777602);
  CHECK(find_size(w, "100x1x3").s == 3);
  CHECK(find_size(w, "100").xi == 100);
  for (const char* bad : {"ne", "neX", "ne0", "100x2x3", "100x", "0x1x1", "large", "1x1x1x1"})
    CHECK_THROWS_AS(find_size(w, bad), std::invalid_argument);
}

TEST_CASE("JSON keeps every character of a text") {
  for (const std::string text :
       {"a\nb", "tab\there", "\x01", "back\\slash \"quoted\"", "gr\xc3\xbc\xc3\x9f"}) {
    const auto line = line_of({{"a", text}});
    CHECK(line.find('\n') == std::string::npos);
    CHECK(Json::parse(line).at("a") == text);
  }
  CHECK(line_of("\xff") == "\"\xef\xbf\xbd\"");
  CHECK(line_of({{"z", rounded(1.0 / 3, 6)}, {"a", rounded(2, 6)}}) == R"({"z":0.333333,"a":2.0})");
}

TEST_CASE("header files of raw data are read as JSON, escapes too") {
  alone([] {
    std::ofstream("data.nc") << "12345678";
    std::ofstream("data.nc.json") << R"({"format": "raw", "byte_order": "little", "dimensions":
      [{"name": "t\u0065\u00fc", "length": 2, "unlimited": false}], "variables": []})";
    CHECK(open_plain("data.nc")->length("te\xc3\xbc") == 2);
    for (const char* bad : {"", "{", "[1 2]", "{}", R"({"format": 1})"}) {
      std::ofstream("data.nc.json") << bad;
      CHECK_THROWS_WITH_AS(open_plain("data.nc"), doctest::Contains("data.nc.json: "), std::runtime_error);
    }
    remove_files("data.nc");
  });
}

TEST_CASE("files of a dataset") {
  alone([] {
    remove_files(k_path);
    for (const char* name : {"data.nc.0001", "data.nc.0000", "data.nc.10000", "data.nc.0000.json",
                             "data.nc.json.tmp", "data.nc.1", "data.nc.joined", "data.nc.00x0", "data.ncx"})
      std::ofstream(name) << "1234";
    CHECK(pieces_of(k_path) == std::vector<std::string>{"data.nc.0000", "data.nc.0001", "data.nc.10000"});
    CHECK(files_of(k_path).size() == 5);
    CHECK(bytes_of_files(k_path) == 20);
    remove_files(k_path);
    CHECK(files_of(k_path).empty());
    CHECK(std::filesystem::exists("data.nc.joined"));
    for (const char* name : {"data.nc.1", "data.nc.joined", "data.nc.00x0", "data.ncx"})
      std::filesystem::remove(name);
  });
}

TEST_CASE("a wrong byte is found in every kind of file, and nothing else") {
  const std::pair<Content, std::int64_t> workloads[] = {{roms_content({17, 11, 3}), 2},
                                                        {mom_output_content({13, 9, 4}), 2},
                                                        {restart_content({218, 1, 3}), 0},
                                                        {seven_ways_content({1013, 1, 1}), 0}};
  for (const auto& [content, records] : workloads)
    for (const Kind kind : {Kind{"cdf1", 0, 0},
                            {"cdf5", 2, 2},
                            {"netcdf4", 0, 0},
                            {"netcdf4-classic", 1, 3},
                            {"raw", 0, 0},
                            {"raw-big", 2, 3},
                            {"ascii", 0, 0},
                            {"ascii", 2, 2}}) {
      if (content.fields.back().cut == 1 && kind.across > 1) continue;
      CAPTURE(kind.format);
      CAPTURE(kind.along);
      alone([&] { write(kind, content, records); });
      CHECK(wrong(content, records) == 0);
      alone([&] { inject_error(k_path, content, records, {}, false); });
      CHECK(wrong(content, records) == 1);
    }
}

TEST_CASE("what is missing, too much or of another kind is wrong") {
  const auto content = mom_output_content({13, 9, 4});
  for (const Kind kind : {Kind{"cdf5", 2, 2}, {"raw", 2, 2}}) {
    alone([&] { write(kind, content, 2); });
    REQUIRE(wrong(content, 2) == 0);
    CHECK(wrong(content, 1) > 0);
    auto other = content;
    other.add("missing", Type::real, "time", false);
    CHECK(wrong(other, 2) > 0);
    other = content;
    other.fields.back().type = Type::dbl;
    CHECK(wrong(other, 2) > 0);
    alone([&] { std::filesystem::rename("data.nc.0003", "third"); });
    CHECK(wrong(content, 2) > 0);
    alone([&] {
      std::filesystem::rename("third", "data.nc.0003");
      std::filesystem::copy("data.nc.0001", "data.nc.0004");
      if (std::filesystem::exists("data.nc.0001.json"))
        std::filesystem::copy("data.nc.0001.json", "data.nc.0004.json");
    });
    CHECK(wrong(content, 2) > 0);
    alone([] { remove_files(k_path); });
    CHECK_THROWS_AS(wrong_in_dataset(MPI_COMM_WORLD, k_path, content, 2), std::runtime_error);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_CASE("a joined set has all values, wrong ones too") {
  const std::pair<Content, std::int64_t> workloads[] = {{roms_content({17, 11, 3}), 2},
                                                        {roms_content({61, 50, 9}), 1},
                                                        {restart_content({218, 1, 26}), 0},
                                                        {seven_ways_content({5003, 1, 1}), 0}};
  const std::string joined = k_path + std::string(".joined");
  for (const auto& [content, records] : workloads)
    for (const Kind kind : {Kind{"cdf5", 1, 3}, {"netcdf4", 2, 2}, {"raw", 1, 2}, {"ascii", 1, 2}}) {
      if (content.fields.back().cut == 1 && kind.across > 1) continue;
      CAPTURE(kind.format);
      alone([&] { write(kind, content, records); });
      join_set(MPI_COMM_WORLD, k_path, joined, kind.format, false, 4096);
      CHECK(wrong(content, records, joined) == 0);
      alone([&] { inject_error(k_path, content, records, {}, false); });
      join_set(MPI_COMM_WORLD, k_path, joined, kind.format, true, 4096);
      CHECK(wrong(content, records, joined) == 1);
      alone([&] {
        remove_files(k_path);
        remove_files(joined);
      });
    }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = doctest::Context(argc, argv).run();
  MPI_Finalize();
  return failed;
}
