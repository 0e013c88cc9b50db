// SPDX-License-Identifier: BSD-3-Clause
// Values of a netCDF-4 file that lie in other files, whose names whoever made the file chose; and data sets
// that have none.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <hdf5.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "format/catalog.hpp"

namespace {

using namespace shoal;
namespace fs = std::filesystem;

constexpr hsize_t k_cells = 4;

/// home/secret.bin and home/secret.h5 of the user, and home/theirs, a folder that came from somebody else.
class Home {
 public:
  Home() : path_(fs::temp_directory_path() / fmt::format("shoal-other-files-{}", ::getpid())) {
    fs::remove_all(path_);
    fs::create_directories(theirs() / "below");
    for (const fs::path& folder : {path_, theirs(), theirs() / "below"}) {
      std::ofstream(folder / "values.bin", std::ios::binary) << std::string(k_cells * 8, '\0');
      make(folder / "values.h5", "v", [](hid_t) {});
    }
    fs::create_symlink("../values.bin", theirs() / "link.bin");
    fs::create_symlink("../values.h5", theirs() / "link.h5");
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  ~Home() { fs::remove_all(path_); }
  fs::path theirs() const { return path_ / "theirs"; }
  std::string file() const { return (theirs() / "file.nc").string(); }

  static void make(const fs::path& path, const char* name, const std::function<void(hid_t creation)>& how,
                   const hsize_t* most = nullptr) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(file >= 0);
    const hid_t space = H5Screate_simple(1, &k_cells, most), creation = H5Pcreate(H5P_DATASET_CREATE);
    how(creation);
    const hid_t data = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    REQUIRE(data >= 0);
    const double values[k_cells] = {1, 2, 3, 4};
    if (H5Pget_external_count(creation) == 0 && H5Pget_layout(creation) == H5D_CONTIGUOUS)
      REQUIRE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(data);
    H5Pclose(creation);
    H5Sclose(space);
    H5Fclose(file);
  }
  void external(const std::string& name) const {
    make(file(), "v", [&](hid_t creation) { H5Pset_external(creation, name.c_str(), 0, k_cells * 8); });
  }
  void virtual_of(const std::string& name) const {
    make(file(), "v", [&](hid_t creation) {
      const hid_t space = H5Screate_simple(1, &k_cells, nullptr);
      H5Pset_virtual(creation, space, name.c_str(), "/v", space);
      H5Sclose(space);
    });
  }

  /// A file for each four cells, and as many of them as there are.
  void virtual_of_blocks(const std::string& name) const {
    const hsize_t most = H5S_UNLIMITED, first = 0;
    const auto map = [&](hid_t creation) {
      const hid_t all = H5Screate_simple(1, &k_cells, &most), one = H5Screate_simple(1, &k_cells, nullptr);
      H5Sselect_hyperslab(all, H5S_SELECT_SET, &first, &k_cells, &most, &k_cells);
      H5Pset_virtual(creation, all, name.c_str(), "/v", one);
      H5Sclose(all);
      H5Sclose(one);
    };
    make(file(), "v", map, &most);
  }

 private:
  fs::path path_;
};

std::string message_of_reading(const std::string& path, ExternalFiles allowed = ExternalFiles::folder) {
  CatalogOptions options;
  options.external_files = allowed;
  auto catalog = open_catalog(open_posix_store(path, StoreMode::read), false, options);
  REQUIRE(catalog->schema().variables.size() == 1);
  std::vector<double> values(k_cells, -1);
  try {
    catalog->get(0, Box({0}, {k_cells}), reinterpret_cast<std::byte*>(values.data()));
    CHECK(values[1] != -1);
    return "";
  } catch (const Error& e) {
    CHECK(values[1] == -1);
    return e.what();
  }
}

bool is_refused(const std::string& message, const std::string& name) {
  return message.find("file.nc: variable 'v'") != std::string::npos &&
         message.find(name) != std::string::npos && message.find("external_files") != std::string::npos;
}

}  // namespace

TEST_CASE("other files: external storage outside of the file's folder is refused") {
  const Home home;
  const auto theirs = home.theirs().string();
  for (const std::string& name :
       {theirs + "/../values.bin", theirs + "/link.bin", std::string("/etc/hostname"),
        std::string("/dev/zero"), std::string("not_there.bin")}) {
    CAPTURE(name);
    home.external(name);
    CHECK(is_refused(message_of_reading(home.file()), name));
    CHECK(is_refused(message_of_reading(home.file(), ExternalFiles::refuse), name));
  }
  for (const std::string& name : {theirs + "/values.bin", theirs + "/below/../below/values.bin"}) {
    CAPTURE(name);
    home.external(name);
    CHECK(message_of_reading(home.file()) == "");
    CHECK(is_refused(message_of_reading(home.file(), ExternalFiles::refuse), name));
  }
  home.external(theirs + "/../values.bin");
  CHECK(message_of_reading(home.file(), ExternalFiles::allow) == "");
  SUBCASE("nor is it written") {
    const std::string outside = theirs + "/../values.bin";
    auto catalog = open_catalog(open_posix_store(home.file(), StoreMode::write), true, {});
    const std::vector<double> values(k_cells, 9);
    CHECK_THROWS_AS(catalog->put(0, Box({0}, {k_cells}), reinterpret_cast<const std::byte*>(values.data())),
                    Error);
    catalog->close(false);
    std::ifstream in(outside, std::ios::binary);
    CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == std::string(k_cells * 8, '\0'));
  }
}

TEST_CASE("other files: sources of virtual data sets outside of the file's folder are refused") {
  const Home home;
  const auto theirs = home.theirs().string();
  for (const std::string& name :
       {std::string("../values.h5"), theirs + "/../values.h5", std::string("link.h5")}) {
    CAPTURE(name);
    home.virtual_of(name);
    CHECK(is_refused(message_of_reading(home.file()), name));
    CHECK(is_refused(message_of_reading(home.file(), ExternalFiles::refuse), name));
    CHECK(message_of_reading(home.file(), ExternalFiles::allow) == "");
  }
  for (const std::string& name :
       {std::string("values.h5"), std::string("below/values.h5"), theirs + "/values.h5"}) {
    CAPTURE(name);
    home.virtual_of(name);
    CHECK(message_of_reading(home.file()) == "");
    CHECK(is_refused(message_of_reading(home.file(), ExternalFiles::refuse), name));
  }
  SUBCASE("and those of many blocks, whose names have numbers") {
    home.virtual_of_blocks("values%b.h5");
    for (const auto allowed : {ExternalFiles::folder, ExternalFiles::refuse})
      CHECK(is_refused(message_of_reading(home.file(), allowed), "values%b.h5"));
  }
  SUBCASE("also where a source has its values there") {
    home.external(theirs + "/../values.bin");
    fs::rename(home.file(), home.theirs() / "source.h5");
    home.virtual_of("source.h5");
    CHECK(is_refused(message_of_reading(home.file()), "source.h5"));
    CHECK(message_of_reading(home.file(), ExternalFiles::allow) == "");
  }
}

TEST_CASE("netCDF-4: a data set without a value is no 0, and the last scale of a dimension counts") {
  const Home home;
  const hid_t file = H5Fcreate(home.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t null = H5Screate(H5S_NULL), line = H5Screate_simple(1, &k_cells, nullptr),
              scalar = H5Screate(H5S_SCALAR), text = H5Tcopy(H5T_C_S1);
  const auto data_set = [&](const char* name, hid_t space) {
    return H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  };
  H5Dclose(data_set("n", null));
  H5Tset_size(text, 16);
  const hid_t list = H5Tvlen_create(H5T_STD_REF_OBJ);
  hobj_ref_t references[2] = {};
  for (const int i : {0, 1}) {
    const char* name = i == 0 ? "x" : "y";
    const hid_t scale = data_set(name, line);
    const hid_t attribute = H5Acreate2(scale, "CLASS", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Awrite(attribute, text, "DIMENSION_SCALE\0") >= 0);
    H5Aclose(attribute);
    H5Dclose(scale);
    REQUIRE(H5Rcreate(&references[i], file, name, H5R_OBJECT, -1) >= 0);
  }
  const hid_t data = data_set("a", line);
  const hsize_t one = 1;
  const hid_t dims = H5Screate_simple(1, &one, nullptr);
  const hid_t attribute = H5Acreate2(data, "DIMENSION_LIST", list, dims, H5P_DEFAULT, H5P_DEFAULT);
  hvl_t both{2, references};
  REQUIRE(H5Awrite(attribute, list, &both) >= 0);
  for (const hid_t id : {attribute, data, null, line, scalar, text, list, dims, file})
    H5Idec_ref(id);
  auto catalog = open_catalog(open_posix_store(home.file(), StoreMode::read), false, {});
  const Schema& schema = catalog->schema();
  const auto& a = schema.variable(schema.find_variable("a"));
  REQUIRE(a.dims.size() == 1);
  CHECK(schema.dim(a.dims[0]).name == "y");
  double value = -1;
  std::string message;
  try {
    catalog->get(schema.find_variable("n"), Box(Dims(), Dims()), reinterpret_cast<std::byte*>(&value));
  } catch (const Error& e) {
    message = e.what();
  }
  CHECK(value == -1);
  CHECK(message.find("file.nc: variable 'n'") != std::string::npos);
  CHECK(message.find("no value") != std::string::npos);
}
