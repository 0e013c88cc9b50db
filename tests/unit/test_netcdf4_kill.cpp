// SPDX-License-Identifier: BSD-3-Clause
// netCDF-4 files whose writer was killed: every state that the file goes through is read by HDF5 as it lies,
// through HDF5's own driver, and by the catalog.
#include <doctest/doctest.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/catalog.hpp"
#include "logged_store.hpp"
#include "support/folder.hpp"

namespace {

using namespace shoal;
using namespace shoal::test;

constexpr std::int64_t k_cells = 30;

double value_of(int variable, std::int64_t record, std::int64_t cell) {
  return static_cast<double>(variable * 1000000 + record * 1000 + cell);
}

/// What the writer was promised: so many records of so many variables.
struct Promise {
  std::size_t step = 0;  ///< the log had that many steps when the commit returned
  std::int64_t records = 0;
  int variables = 0;
};

/// A file with the coordinate variable time, `variables` variables (time, cell) named v0, v1, ... and what
/// happened to it.
struct Run {
  std::shared_ptr<LoggedStore*> store = std::make_shared<LoggedStore*>(nullptr);
  std::unique_ptr<Catalog> catalog;
  std::vector<Promise> promises;
  int variables = 0;

  explicit Run(const CatalogOptions& options = {}) {
    auto logged = std::make_unique<LoggedStore>(Bytes{});
    *store = logged.get();
    catalog = create_netcdf4_catalog(Format::netcdf4, std::move(logged), options);
  }
  void define(bool cells_unlimited, const std::string& filters = "") {
    Schema wanted = catalog->schema();
    if (wanted.dims.empty()) {
      wanted.dims.push_back({"time", 0, true});
      wanted.dims.push_back({"cell", cells_unlimited ? 0 : k_cells, cells_unlimited});
      VariableDef time;
      time.name = "time";
      time.type = Type::double_;
      time.dims = {0};
      time.chunks = {64};
      wanted.variables.push_back(time);
    }
    VariableDef def;
    def.name = "v" + std::to_string(variables++);
    def.type = Type::double_;
    def.dims = {0, 1};
    def.chunks = {1, 10};
    if (!filters.empty()) def.filters = filters_of(filters);
    wanted.variables.push_back(def);
    catalog->define(wanted);
  }
  void put(std::int64_t record) {
    const auto time = static_cast<double>(record);
    catalog->put(0, Box({record}, {1}), reinterpret_cast<const std::byte*>(&time));
    for (int v = 0; v < variables; ++v) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < k_cells; ++i)
        values.push_back(value_of(v, record, i));
      catalog->put(v + 1, Box({record, 0}, {1, k_cells}), reinterpret_cast<const std::byte*>(values.data()));
    }
  }
  // As PendingWrites does it.
  void commit(std::int64_t records, bool durable = false) {
    for (const bool sync : {false, true})
      if (durable) catalog->write_ahead(sync);
    catalog->commit(durable);
    promises.push_back({(*store)->steps.size(), records, variables});
  }
};

// Thousands of files: in memory, where that is to be had.
std::filesystem::path folder_of_images() {
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
}

void save(const std::string& path, const Bytes& bytes) {
  std::filesystem::remove(path);
  const auto store = open_posix_store(path, StoreMode::create);
  store->write(0, bytes);
  store->close();
}

Bytes file_bytes(const std::string& path) {
  const auto store = open_posix_store(path, StoreMode::read);
  Bytes bytes(static_cast<std::size_t>(store->size()));
  store->read(0, bytes);
  return bytes;
}

/// Records that the file has a time of, by HDF5 alone.
std::int64_t records_with_time(hid_t file) {
  const hid_t dataset = H5Dopen2(file, "time", H5P_DEFAULT);
  if (dataset < 0) return 0;
  const hid_t space = H5Dget_space(dataset);
  hsize_t extent = 0;
  H5Sget_simple_extent_dims(space, &extent, nullptr);
  H5Sclose(space);
  H5Dclose(dataset);
  return static_cast<std::int64_t>(extent);
}

/// What is wrong with the image, as HDF5 alone reads it: "" if nothing is. Records that have a time are whole
/// in variables that were promised.
std::string wrong_for_hdf5(const std::string& path, const Promise& promise) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return "cannot be opened";
  std::string wrong;
  const std::int64_t whole = std::max(promise.records, records_with_time(file));
  for (int v = 0; v < promise.variables && wrong.empty(); ++v) {
    const auto name = "v" + std::to_string(v);
    const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    if (dataset < 0) {
      wrong = name + " cannot be opened";
      break;
    }
    const hid_t space = H5Dget_space(dataset);
    hsize_t extent[2] = {0, 0};
    H5Sget_simple_extent_dims(space, extent, nullptr);
    H5Sclose(space);
    std::vector<double> values(extent[0] * extent[1], -1);
    if (extent[0] < static_cast<hsize_t>(whole)) {
      wrong = name + " has " + std::to_string(extent[0]) + " records";
    } else if (!values.empty() &&
               H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
      wrong = name + " cannot be read";
    } else {
      for (std::int64_t r = 0; r < static_cast<std::int64_t>(extent[0]); ++r)
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(extent[1]); ++i) {
          const auto got = values[static_cast<std::size_t>(r * static_cast<std::int64_t>(extent[1]) + i)];
          const bool right = got == value_of(v, r, i) || (r >= whole && got > 9e36);
          if (!right && wrong.empty())
            wrong = name + " record " + std::to_string(r) + " cell " + std::to_string(i) + " is " +
                    std::to_string(got);
        }
    }
    H5Dclose(dataset);
  }
  H5Fclose(file);
  return wrong;
}

std::string wrong_for_catalog(const std::string& path, const Promise& promise, bool writable) {
  try {
    const auto catalog =
        open_catalog(open_posix_store(path, writable ? StoreMode::write : StoreMode::read), writable, {});
    if (static_cast<int>(catalog->schema().variables.size()) < 1 + promise.variables)
      return "variables are missing";
    if (promise.records > 0 && catalog->schema().dims[0].length < promise.records)
      return "records are missing";
    for (int v = 0; v < promise.variables; ++v)
      for (std::int64_t r = 0; r < promise.records; ++r) {
        std::vector<double> values(k_cells);
        catalog->get(v + 1, Box({r, 0}, {1, k_cells}), reinterpret_cast<std::byte*>(values.data()));
        for (std::int64_t i = 0; i < k_cells; ++i)
          if (values[static_cast<std::size_t>(i)] != value_of(v, r, i)) return "a value is wrong";
      }
    catalog->close(false);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

struct Outcome {
  int images = 0, healed = 0;
};

/// Looks at each state of the file: as it lies, or where a journal is allowed, as the catalog finishes it.
Outcome check_all(const Run& run, bool journal_allowed) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const testing::Folder folder(folder_of_images());
  const auto path = folder.file("image.nc");
  Outcome outcome;
  Bytes image;
  Promise promise;
  auto next = run.promises.begin();
  std::size_t number = 0;
  for (const auto& step : (*run.store)->steps) {
    for (const auto& piece : torn(step, 4096)) {
      apply_to(image, piece);
      if (next == run.promises.begin()) continue;
      ++outcome.images;
      save(path, image);
      auto wrong = wrong_for_hdf5(path, promise);
      if (!wrong.empty() && journal_allowed) {
        wrong = wrong_for_catalog(path, promise, false);
        CHECK(file_bytes(path) == image);  // reading leaves it as it is
        if (outcome.healed % 2 == 0) CHECK(recover_file(open_posix_store, path));
        if (wrong.empty() && outcome.healed % 2 == 1) wrong = wrong_for_catalog(path, promise, true);
        if (wrong.empty()) wrong = wrong_for_hdf5(path, promise);
        ++outcome.healed;
      }
      INFO("step ", number, " of ", (*run.store)->steps.size(), ", offset ", piece.offset, ", bytes ",
           piece.bytes.size(), ", records ", promise.records);
      CHECK(wrong == "");
    }
    ++number;
    while (next != run.promises.end() && next->step == number)
      promise = *next++;
  }
  CHECK(image == (*run.store)->content);
  return outcome;
}

}  // namespace

TEST_SUITE("netcdf4 kill") {
  TEST_CASE("records added and committed one by one: each state is valid as it lies") {
    Run run;
    std::string filters;
    bool two_unlimited = false;
    SUBCASE("plain") {}
    SUBCASE("deflated") {
      filters = "deflate:1";
    }
    SUBCASE("two unlimited dimensions") {
      two_unlimited = true;
    }
    for (int v = 0; v < 3; ++v)
      run.define(two_unlimited, filters);
    run.commit(0);
    for (int r = 0; r < 150; ++r) {
      run.put(r);
      run.commit(r + 1);
    }
    const auto outcome = check_all(run, false);
    CHECK(outcome.images > 1000);
    MESSAGE(outcome.images, " states, ", outcome.healed, " by the journal");
  }

  TEST_CASE("durable: what nobody reads yet is on the device before ranks agree, and is written once") {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const testing::Folder folder(folder_of_images());
    const auto path = folder.file("image.nc");
    const Promise promise{0, 3, 1};
    Run run;
    run.define(false);
    for (int r = 0; r < 3; ++r)
      run.put(r);
    run.catalog->write_ahead(false);
    const auto& steps = (*run.store)->steps;
    const auto written = steps.size();
    CHECK(written > 0);
    save(path, (*run.store)->content);
    CHECK(wrong_for_hdf5(path, promise) == "cannot be opened");  // there is no superblock
    run.catalog->write_ahead(false);
    CHECK(steps.size() == written);
    run.catalog->write_ahead(true);
    REQUIRE(steps.size() == written + 1);
    CHECK(steps.back().kind == Step::Kind::sync);
    run.catalog->write_ahead(true);
    CHECK(steps.size() == written + 1);
    run.catalog->commit(true);
    REQUIRE(steps.size() == written + 3);
    CHECK(steps[written + 1].offset == 0);  // the superblock alone
    CHECK(steps[written + 1].bytes.size() == 48);
    CHECK(steps.back().kind == Step::Kind::sync);
    save(path, (*run.store)->content);
    CHECK(wrong_for_hdf5(path, promise) == "");
    // The file reaches the end that its superblock names, and closing changes nothing.
    run.catalog->close(true);
    for (auto i = written + 3; i < steps.size(); ++i)
      CHECK(steps[i].kind == Step::Kind::sync);
  }

  TEST_CASE("definitions after data: each state is valid as it lies or with its journal") {
    CatalogOptions options;
    SUBCASE("HDF5 1.10") {}
    SUBCASE("HDF5 1.8") {
      options.for_hdf5_1_8 = true;
    }
    Run run(options);
    run.define(false);
    run.commit(0);
    for (int r = 0; r < 90; ++r) {
      run.put(r);
      if (r % 20 == 19) run.commit(r + 1);
      if (r % 20 == 19) run.define(false);
      if (r % 20 == 19)
        for (std::int64_t old = 0; old <= r; ++old)
          run.put(old);
      run.commit(r + 1, r % 3 == 0);
    }
    const auto outcome = check_all(run, true);
    CHECK(outcome.images > 200);
    MESSAGE(outcome.images, " states, ", outcome.healed, " by the journal");
  }
}
