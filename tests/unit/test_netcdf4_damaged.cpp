// SPDX-License-Identifier: BSD-3-Clause
// Damaged netCDF-4 files: opening and reading them ends, with an error or with values, and leaves nothing of
// HDF5 open. Damages are tried in other processes, so that one that ends the program is seen.
#include <doctest/doctest.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "damaged_files.hpp"
#include "format/catalog.hpp"
#include "format/netcdf4/checksum.hpp"

namespace {

using namespace shoal;
using namespace shoal::test;

VariableDef variable(const char* name, Type type, std::vector<int> dims,
                     std::vector<std::int64_t> chunks = {}) {
  VariableDef def;
  def.name = name;
  def.type = type;
  def.dims = std::move(dims);
  def.chunks = std::move(chunks);
  Attribute words;
  words.name = "words";
  words.type = Type::string;
  words.strings = {"one", "a longer one, so that it is not alone", ""};
  def.attributes = {Attribute::text("units", "m s-1"), words};
  return def;
}

/// Strings with and without chunks; for HDF5 1.8, a tree of chunks with two levels.
Bytes whole_file(bool for_hdf5_1_8 = false) {
  CatalogOptions options;
  options.for_hdf5_1_8 = for_hdf5_1_8;
  Schema s;
  s.format = Format::netcdf4;
  s.dims = {{"x", 300, false}, {"station", 3, false}, {"time", 0, true}};
  s.attributes = {Attribute::text("title", "damaged soon")};
  s.variables = {variable("temp", Type::float_, {0}, {2}), variable("name", Type::string, {1}),
                 variable("event", Type::string, {2}), variable("depth", Type::double_, {0, 1})};
  auto file = std::make_shared<MemoryFile>();
  auto catalog = create_netcdf4_catalog(Format::netcdf4, std::make_unique<MemoryStore>(file), options);
  catalog->define(s);
  const std::vector<float> temp(300, 4.5F);
  const std::vector<double> depth(900, 100.25);
  catalog->put(0, Box({0}, {300}), reinterpret_cast<const std::byte*>(temp.data()));
  catalog->put_strings(1, Box({0}, {3}), {"Zurich", "Bern", "a place with a longer name than others"});
  catalog->put_strings(2, Box({0}, {2}), {"storm", "calm"});
  catalog->put(3, Box({0, 0}, {300, 3}), reinterpret_cast<const std::byte*>(depth.data()));
  catalog->close(false);
  return file->content;
}

std::string message_of(const Bytes& content) {
  try {
    read_all(*open_bytes(content));
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

std::size_t find(const Bytes& content, const std::string& text, std::size_t from = 0) {
  const std::string all(reinterpret_cast<const char*>(content.data()), content.size());
  return all.find(text, from);
}

void put_number(Bytes& content, std::size_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    content[at + i] = static_cast<std::byte>(value >> (8 * i));
}

/// Of the oldest form, as programs make it that ask for nothing else.
Bytes old_file() {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_fapl_core(access, 4096, false) >= 0);
  const hid_t file = H5Fcreate("old.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t n = 4;
  const hid_t space = H5Screate_simple(1, &n, nullptr);
  const hid_t data = H5Dcreate2(file, "v", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(data >= 0);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  Bytes content(static_cast<std::size_t>(H5Fget_file_image(file, nullptr, 0)));
  REQUIRE(H5Fget_file_image(file, content.data(), content.size()) > 0);
  H5Dclose(data);
  H5Sclose(space);
  H5Fclose(file);
  H5Pclose(access);
  return content;
}

TEST_CASE("damaged netCDF-4: an impossible superblock is reported as such") {
  const Bytes whole = old_file();
  REQUIRE(message_of(whole).empty());
  REQUIRE(whole[8] == std::byte{0});
  const auto changed = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    Bytes content = whole;
    put_number(content, at, value, size);
    return message_of(content);
  };
  CHECK(changed(8, 7, 1).find("version 7") != std::string::npos);
  CHECK(changed(13, 3, 1).find("addresses or sizes of 3 bytes") != std::string::npos);
  CHECK(changed(16, 0, 2).find("groups without entries") != std::string::npos);
  CHECK(changed(24, 4096, 8).find("says that it lies at 4096") != std::string::npos);
  CHECK(changed(40, whole.size() + 1, 8).find("cut off") != std::string::npos);
  CHECK(changed(64, whole.size() + 8, 8).find("root group") != std::string::npos);
}

TEST_CASE("damaged netCDF-4: a superblock with a checksum is held to it, and to the file") {
  bool old = false;
  SUBCASE("of HDF5 1.10") {}
  SUBCASE("of HDF5 1.8") {
    old = true;
  }
  const Bytes whole = whole_file(old);
  REQUIRE(message_of(whole).empty());
  REQUIRE(whole[8] == std::byte{old ? std::uint8_t{2} : std::uint8_t{3}});
  for (std::size_t at = 9; at < 48; ++at) {
    CAPTURE(at);
    Bytes content = whole;
    content[at] ^= std::byte{1};
    CHECK(message_of(content).find("damaged") != std::string::npos);
  }
  for (const std::size_t at : {std::size_t{20}, std::size_t{28}, std::size_t{36}}) {
    CAPTURE(at);
    Bytes content = whole;
    put_number(content, at, whole.size() + 100, 8);
    put_number(content, 44, netcdf4::checksum(std::span(content).first(44)), 4);
    CHECK(message_of(content).find("damaged") != std::string::npos);
  }
  for (const std::size_t length : {std::size_t{9}, std::size_t{40}, whole.size() - 1}) {
    CAPTURE(length);
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK(message_of(part).find("memory.nc: the file is damaged") != std::string::npos);
  }
}

TEST_CASE("damaged netCDF-4: collections of strings that would lead HDF5 astray") {
  const Bytes whole = whole_file();
  const auto first = find(whole, "GCOL");
  REQUIRE(first != std::string::npos);
  for (std::size_t at = first; at != std::string::npos; at = find(whole, "GCOL", at + 1))
    for (const auto& [offset, value] : {std::pair<std::size_t, std::uint64_t>{8, 0},  // its size
                                        {8, 16},
                                        {8, std::uint64_t{1} << 60},
                                        {24, std::uint64_t{1} << 40},  // of the first object
                                        {24, ~std::uint64_t{0}}}) {
      CAPTURE(at);
      CAPTURE(offset);
      CAPTURE(value);
      Bytes content = whole;
      put_number(content, at + offset, value, 8);
      CHECK(end_of_reading(content) != End::crash);
    }
  // Free space of no bytes: HDF5 would walk on for ever.
  Bytes content = whole;
  put_number(content, first + 16, 0, 2);
  put_number(content, first + 24, 0, 8);
  CHECK(end_of_reading(content) != End::crash);
}

TEST_CASE("damaged netCDF-4: bytes of any place are changed, and nothing ends or hangs the program") {
  const Bytes whole = whole_file(true);
  std::mt19937_64 random(11);
  std::vector<Bytes> contents;
  const auto any_byte = [&] { return static_cast<std::byte>(random() % 4 == 0 ? 0xff : random()); };
  for (int i = 0; i < 300; ++i) {
    Bytes content = whole;
    for (std::uint64_t n = 1 + random() % 4; n > 0; --n)
      content[random() % content.size()] = any_byte();
    contents.push_back(std::move(content));
  }
  // Near what has no checksum.
  for (const char* signature : {"GCOL", "TREE", "\x89HDF"})
    for (int i = 0; i < 100; ++i) {
      std::vector<std::size_t> places;
      for (std::size_t at = find(whole, signature); at != std::string::npos;
           at = find(whole, signature, at + 1))
        places.push_back(at);
      REQUIRE(!places.empty());
      Bytes content = whole;
      const std::size_t at = places[random() % places.size()] + 4;
      for (std::uint64_t n = 1 + random() % 3; n > 0; --n)
        content[std::min(content.size() - 1, at + random() % 200)] = any_byte();
      contents.push_back(std::move(content));
    }
  std::array<int, 4> ends{};
  for (const End end : ends_of_reading(contents.size(), [&](std::size_t i) { return contents[i]; }))
    ++ends[static_cast<std::size_t>(end)];
  MESSAGE("read ", ends[0], ", errors ", ends[1], ", left open ", ends[2], ", crashed ", ends[3]);
  CHECK(ends[2] + ends[3] == 0);
  CHECK(ends[1] > 50);
}

TEST_CASE("damaged netCDF-4: strings of a variable that lead nowhere are an error") {
  const Bytes whole = whole_file();
  const auto heap = find(whole, "GCOL");
  int found = 0;
  std::array<std::byte, 8> address{};
  // All places that have the address of a collection and are none of an attribute, which has a checksum.
  for (std::size_t gcol = heap; gcol != std::string::npos; gcol = find(whole, "GCOL", gcol + 1)) {
    for (std::size_t i = 0; i < 8; ++i)
      address[i] = static_cast<std::byte>(gcol >> (8 * i));
    for (std::size_t at = 8; at + 12 < whole.size(); ++at) {
      if (std::memcmp(whole.data() + at, address.data(), 8) != 0) continue;
      for (const auto& [offset, value] : {std::pair<std::size_t, std::uint64_t>{8, 60000}, {8, 99}, {0, 8}}) {
        Bytes content = whole;
        put_number(content, at + offset, value, offset == 0 ? 8 : 4);
        CAPTURE(at);
        CAPTURE(offset);
        CHECK(end_of_reading(content) != End::crash);
        ++found;
      }
    }
  }
  CHECK(found >= 15);
}

TEST_CASE("damaged netCDF-4: failed opens leave nothing of HDF5 open") {
  const Bytes whole = whole_file();
  const auto open_ids = [] { return H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL); };
  message_of(whole);  // what HDF5 makes once
  const auto ids = open_ids();
  int errors = 0;
  for (std::size_t at = find(whole, "OHDR"); at != std::string::npos; at = find(whole, "OHDR", at + 1)) {
    Bytes content = whole;
    content[at + 20] ^= std::byte{0xff};  // under a checksum
    errors += message_of(content).empty() ? 0 : 1;
    CHECK(open_ids() == ids);
  }
  CHECK(errors > 0);
}

/// What a process prints on stderr that does it and then ends as programs do, with all that libraries do at
/// exit.
std::string printed_by_program(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  std::fflush(nullptr);  // or the child prints it too
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(k_seconds);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    work();
    std::exit(0);
  }
  ::close(ends[1]);
  std::string printed;
  std::array<char, 256> part{};
  for (ssize_t n = 0; (n = ::read(ends[0], part.data(), part.size())) > 0;)
    printed.append(part.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  return printed;
}

TEST_CASE("damaged netCDF-4: a program ends in silence after opens that failed") {
  const Bytes whole = whole_file();
  bool writable = false;
  SUBCASE("for reading") {}
  SUBCASE("for writing") {
    writable = true;
  }
  int errors = 0;
  for (const char* signature : {"OHDR", "OCHK"})
    for (std::size_t at = find(whole, signature); at != std::string::npos;
         at = find(whole, signature, at + 1))
      for (const std::size_t offset :
           {std::size_t{0}, std::size_t{4}, std::size_t{5}, std::size_t{6}, std::size_t{20}}) {
        CAPTURE(signature);
        CAPTURE(at);
        CAPTURE(offset);
        Bytes content = whole;
        content[at + offset] ^= std::byte{0xff};
        const auto attempt = [&] {
          try {
            read_all(*open_bytes(content, writable));
          } catch (const Error&) {
          }
        };
        errors += end_of_reading(content) == End::error ? 1 : 0;
        CHECK(printed_by_program(attempt) == "");
      }
  CHECK(errors > 10);
}

TEST_CASE("damaged netCDF-4: blocks of many links and attributes are looked at before HDF5 reads the first") {
  Schema s;
  s.format = Format::netcdf4;
  s.dims = {{"y", 2, false}, {"x", 2, false}};
  for (int v = 0; v < 300; ++v) {
    s.variables.push_back(variable(("v" + std::to_string(v)).c_str(), Type::float_, {0, 1}));
    for (int a = 0; a < (v == 7 ? 200 : 0); ++a)
      s.variables.back().attributes.push_back(Attribute::text("a" + std::to_string(a), std::string(90, 'x')));
  }
  auto file = std::make_shared<MemoryFile>();
  auto catalog = create_netcdf4_catalog(Format::netcdf4, std::make_unique<MemoryStore>(file), {});
  catalog->define(s);
  catalog->close(false);
  const Bytes whole = file->content;
  REQUIRE(message_of(whole).empty());
  for (const std::string signature : {"FRHP", "FHIB", "FHDB", "BTHD", "BTIN", "BTLF"}) {
    CAPTURE(signature);
    std::size_t n = 0;
    for (std::size_t at = find(whole, signature); at != std::string::npos;
         at = find(whole, signature, at + 1), ++n)
      for (const std::size_t offset : {std::size_t{0}, std::size_t{4}, std::size_t{9}, std::size_t{19}}) {
        Bytes content = whole;
        content[at + offset] ^= std::byte{1};
        const auto message = message_of(content);
        CHECK(message.find("memory.nc: the file is damaged") != std::string::npos);
        CHECK(message.find(std::to_string(at)) != std::string::npos);
        CHECK_THROWS_AS(open_bytes(content, true), Error);
      }
    CHECK(n > 0);
  }
  SUBCASE("and not again while the file is changed") {
    auto changed = open_bytes(whole, true);
    Schema wanted = changed->schema();
    wanted.attributes.push_back(Attribute::text("title", "x"));
    for (int v = 0; v < 20; ++v)
      wanted.variables.push_back(variable(("w" + std::to_string(v)).c_str(), Type::float_, {0, 1}));
    changed->define(wanted);
    changed->commit(false);
    wanted = changed->schema();
    for (int v = 0; v < 20; ++v)
      wanted.variables.push_back(variable(("u" + std::to_string(v)).c_str(), Type::float_, {0, 1}));
    changed->define(wanted);
    CHECK_NOTHROW(changed->close(false));
  }
}

}  // namespace
