// SPDX-License-Identifier: BSD-3-Clause
// One byte of a netCDF-4 file is another: whatever structure of HDF5 it belongs to, opening and reading the
// file ends with values or an error, and the program goes on. TEST_DAMAGES: how many damages are tried
// (2000); TEST_SEED: others.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <hdf5.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "damaged_files.hpp"
#include "format/catalog.hpp"

namespace {

using namespace shoal;
using namespace shoal::test;

struct Original {
  std::string what;
  Bytes content;
  std::vector<std::size_t> structures;  // where those with a signature begin
  int share = 1;                        // of the damages
};

std::size_t number_from_environment(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<std::size_t> structures_of(const Bytes& content) {
  constexpr std::array k_signatures{"OHDR", "OCHK", "FRHP", "FHDB", "FHIB", "BTHD", "BTIN",   "BTLF",
                                    "TREE", "SNOD", "HEAP", "GCOL", "EAHD", "EAIB", "EASB",   "EADB",
                                    "FAHD", "FADB", "SMTB", "SMLI", "FSHD", "FSSE", "\x89HDF"};
  std::vector<std::size_t> found;
  const std::string_view all(reinterpret_cast<const char*>(content.data()), content.size());
  for (const char* signature : k_signatures)
    for (auto at = all.find(signature); at != std::string_view::npos; at = all.find(signature, at + 1))
      found.push_back(at);
  return found;
}

VariableDef variable(std::string name, Type type, std::vector<int> dims, int attributes,
                     std::vector<std::int64_t> chunks = {}, Filters filters = {}) {
  VariableDef def;
  def.name = std::move(name);
  def.type = type;
  def.dims = std::move(dims);
  def.chunks = std::move(chunks);
  def.filters = std::move(filters);
  for (int a = 0; a < attributes; ++a)
    def.attributes.push_back(Attribute::text(fmt::format("attribute_{}", a), "of some length"));
  return def;
}

/// As Shoal writes it. Every tenth variable has many attributes.
Bytes by_shoal(int variables, bool for_hdf5_1_8) {
  Schema s;
  s.format = Format::netcdf4;
  s.dims = {{"y", 4, false}, {"x", 6, false}, {"time", 0, true}, {"member", 0, true}};
  s.attributes = {Attribute::text("title", "damaged soon")};
  for (int v = 0; v < variables; ++v) {
    const int attributes = v % 10 == 0 ? 20 : 2;
    const std::string name = fmt::format("variable_{}", v);
    if (v % 7 == 0)
      s.variables.push_back(variable(name, Type::float_, {2, 0, 1}, attributes, {1, 4, 6}));
    else if (v % 7 == 1)
      s.variables.push_back(variable(name, Type::string, {0}, attributes));
    else if (v % 7 == 2)
      s.variables.push_back(variable(name, Type::int_, {2, 3}, attributes, {2, 2}));
    else if (v % 7 == 3)
      s.variables.push_back(variable(name, Type::short_, {0, 1}, attributes, {2, 3}, {{2, {2}}, {1, {1}}}));
    else if (v % 7 == 4)
      s.variables.push_back(variable(name, Type::double_, {0, 1}, attributes, {1, 1}));
    else
      s.variables.push_back(variable(name, Type::double_, {0, 1}, attributes));
  }
  CatalogOptions options;
  options.for_hdf5_1_8 = for_hdf5_1_8;
  auto file = std::make_shared<MemoryFile>();
  auto catalog = create_netcdf4_catalog(Format::netcdf4, std::make_unique<MemoryStore>(file), options);
  catalog->define(s);
  for (int v = 0; v < variables; ++v) {
    Dims count(static_cast<int>(s.variables[static_cast<std::size_t>(v)].dims.size()));
    for (int d = 0; d < count.size(); ++d) {
      const auto dim = static_cast<std::size_t>(
          s.variables[static_cast<std::size_t>(v)].dims[static_cast<std::size_t>(d)]);
      count[d] = s.dims[dim].unlimited ? 5 : s.dims[dim].length;
    }
    const auto cells = static_cast<std::size_t>(volume(count));
    if (s.variables[static_cast<std::size_t>(v)].type == Type::string) {
      catalog->put_strings(v, Box::whole(count), std::vector<std::string>(cells, "a string of a heap"));
    } else {
      const Bytes values(8 * cells, std::byte{1});
      catalog->put(v, Box::whole(count), values.data());
    }
  }
  catalog->close(false);
  return file->content;
}

enum class How { earliest, latest, shared_messages, free_space };

/// As other programs write it, by HDF5's own means.
class OtherFile {
 public:
  OtherFile(How how, int variables) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    if (how != How::earliest)
      REQUIRE(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
    if (how == How::shared_messages) {
      H5Pset_shared_mesg_nindexes(creation, 1);
      H5Pset_shared_mesg_index(creation, 0, H5O_SHMESG_ALL_FLAG, 16);
      H5Pset_shared_mesg_phase_change(creation, 8, 4);
    }
    if (how == How::free_space) H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_FSM_AGGR, true, 1);
    file_ = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation, access);
    REQUIRE(file_ >= 0);
    for (int v = 0; v < variables; ++v)
      add(v);
    if (how == How::free_space)
      for (int v = 0; v < variables; v += 3)
        H5Ldelete(file_, fmt::format("v{}", v).c_str(), H5P_DEFAULT);
    H5Pclose(creation);
    H5Pclose(access);
  }
  OtherFile(const OtherFile&) = delete;
  OtherFile& operator=(const OtherFile&) = delete;
  ~OtherFile() { std::filesystem::remove(path_); }

  Bytes content() {
    REQUIRE(H5Fclose(file_) >= 0);
    std::ifstream in(path_, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
    return Bytes(first, first + bytes.size());
  }

 private:
  // Shapes that have the different indices of chunks; the last ones are contiguous, compact, and text.
  void add(int v) const {
    const hsize_t fixed[2] = {6, 200}, one[2] = {H5S_UNLIMITED, 200}, two[2] = {H5S_UNLIMITED, H5S_UNLIMITED},
                  chunk[2] = {1, 2}, whole[2] = {6, 200};
    const int kind = v % 8;
    const hid_t space = H5Screate_simple(2, fixed, kind == 1 ? one : kind == 2 ? two : nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (kind < 4) H5Pset_chunk(creation, 2, kind == 3 ? whole : chunk);
    if (kind == 0 || kind == 3) H5Pset_deflate(creation, 1);
    if (kind == 4) H5Pset_layout(creation, H5D_COMPACT);
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    const hid_t type = kind == 5 ? text : H5T_NATIVE_FLOAT;
    const hid_t data =
        H5Dcreate2(file_, fmt::format("v{}", v).c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    REQUIRE(data >= 0);
    const std::vector<float> values(1200, 1.5F);
    const std::vector<const char*> texts(1200, "some text");
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
             kind == 5 ? static_cast<const void*>(texts.data()) : values.data());
    for (int a = 0; a < (v % 5 == 0 ? 12 : 2); ++a) {
      const hid_t scalar = H5Screate(H5S_SCALAR);
      const hid_t attribute = H5Acreate2(data, fmt::format("a{}", a).c_str(), a == 1 ? text : H5T_NATIVE_INT,
                                         scalar, H5P_DEFAULT, H5P_DEFAULT);
      const char* word = "word";
      H5Awrite(attribute, a == 1 ? text : H5T_NATIVE_INT, a == 1 ? static_cast<const void*>(&word) : &a);
      H5Aclose(attribute);
      H5Sclose(scalar);
    }
    H5Dclose(data);
    H5Tclose(text);
    H5Pclose(creation);
    H5Sclose(space);
  }

  std::string path_ =
      fmt::format("{}/shoal-damages-{}.h5", std::filesystem::temp_directory_path().string(), ::getpid());
  hid_t file_ = -1;
};

std::vector<Original> originals() {
  std::vector<Original> all;
  const auto add = [&](std::string what, Bytes content, int share) {
    auto structures = structures_of(content);
    all.push_back({std::move(what), std::move(content), std::move(structures), share});
  };
  for (const bool old : {false, true})
    for (const auto& [variables, share] : {std::pair{1, 16}, {9, 16}, {100, 4}})
      add(fmt::format("Shoal, {} variables{}", variables, old ? ", for HDF5 1.8" : ""),
          by_shoal(variables, old), share);
  add("Shoal, 1000 variables", by_shoal(1000, false), 1);
  for (const auto& [variables, share] : {std::pair{1, 10}, {9, 24}, {60, 4}})
    add(fmt::format("HDF5's earliest format, {} variables", variables),
        OtherFile(How::earliest, variables).content(), share);
  add("HDF5's latest format", OtherFile(How::latest, 16).content(), 12);
  add("shared messages", OtherFile(How::shared_messages, 16).content(), 8);
  add("free space", OtherFile(How::free_space, 16).content(), 8);
  return all;
}

struct Damage {
  std::size_t of = 0, at = 0;
  std::byte now{};
};

/// Near the start of a structure mostly: values may be large.
Damage damage(const std::vector<Original>& all, std::mt19937_64& random) {
  int shares = 0;
  for (const auto& one : all)
    shares += one.share;
  Damage result;
  for (auto rest = static_cast<int>(random() % static_cast<unsigned>(shares)); rest >= all[result.of].share;
       ++result.of)
    rest -= all[result.of].share;
  const Original& one = all[result.of];
  result.at = random() % one.content.size();
  if (random() % 5 > 0) {
    const std::size_t reach = random() % 2 == 0 ? 64 : 600;
    result.at = one.structures[random() % one.structures.size()] + random() % reach;
  }
  result.at = std::min(result.at, one.content.size() - 1);
  const std::byte before = one.content[result.at];
  const auto kind = random() % 4;
  result.now = kind == 0   ? std::byte{0}
               : kind == 1 ? std::byte{0xff}
               : kind == 2 ? static_cast<std::byte>(random())
                           : before ^ static_cast<std::byte>(1U << random() % 8);
  if (result.now == before) result.now ^= std::byte{1};
  return result;
}

}  // namespace

TEST_CASE("damaged netCDF-4: one byte of any structure, and the program goes on") {
  const std::size_t n = number_from_environment("TEST_DAMAGES", 500);
  std::mt19937_64 random(number_from_environment("TEST_SEED", 1));
  const auto all = originals();
  std::vector<Damage> damages;
  for (std::size_t i = 0; i < n; ++i)
    damages.push_back(damage(all, random));
  for (const auto& one : all) {
    INFO(one.what);
    CHECK_NOTHROW(read_all(*open_bytes(one.content)));
  }
  const auto ends = ends_of_reading(n, [&](std::size_t i) {
    const Damage& one = damages[i];
    Bytes content = all[one.of].content;
    content[one.at] = one.now;
    return content;
  });
  std::array<int, 4> count{};
  for (std::size_t i = 0; i < n; ++i) {
    ++count[static_cast<std::size_t>(ends[i])];
    if (ends[i] != End::left_open && ends[i] != End::crash) continue;
    const Damage& one = damages[i];
    FAIL_CHECK((ends[i] == End::crash ? "crash, " : "left open, "), all[one.of].what, ": byte ", one.at,
               " becomes ", std::to_integer<int>(one.now));
    if (const char* keep = std::getenv("TEST_KEEP")) {
      Bytes content = all[one.of].content;
      content[one.at] = one.now;
      std::FILE* f = std::fopen(fmt::format("{}/{}.nc", keep, i).c_str(), "wb");
      std::fwrite(content.data(), 1, content.size(), f);
      std::fclose(f);
    }
  }
  MESSAGE("read ", count[0], ", errors ", count[1], ", left open ", count[2], ", crashed ", count[3]);
  CHECK(count[1] > static_cast<int>(n) / 10);
}
