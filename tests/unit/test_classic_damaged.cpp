// SPDX-License-Identifier: BSD-3-Clause
// Damaged, truncated and odd classic files: an error that says where, or the values; never a crash.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "classic_support.hpp"
#include "format/classic/header.hpp"

namespace {

using namespace shoal;
using namespace shoal::test;

/// A file with some of everything, and three records.
std::shared_ptr<MemoryFile> example(Format format) {
  auto file = std::make_shared<MemoryFile>();
  CatalogOptions options;
  options.header_reserve = 16;
  options.alignment = 64;
  auto catalog = create(file, format, options);
  Schema schema;
  schema.format = format;
  const int t = add_dim(schema, "time", 0);
  const int x = add_dim(schema, "x", 5);
  schema.attributes.push_back(Attribute::text("title", "seven"));
  const double numbers[] = {1.0, 2.0};
  schema.attributes.push_back(Attribute::numbers("numbers", Type::double_, numbers, 2));
  add_variable(schema, "scalar", Type::int_, {});
  add_variable(schema, "fixed", Type::short_, {x}, true);
  add_variable(schema, "time", Type::double_, {t});
  add_variable(schema, "temp", Type::float_, {t, x}, true);
  schema.variables[3].attributes.push_back(Attribute::text("units", "K"));
  catalog->define(schema);
  put<std::int16_t>(*catalog, 1, Box({0}, {5}), {1, 2, 3, 4, 5});
  put<double>(*catalog, 2, Box({0}, {3}), {0.5, 1.5, 2.5});
  put<float>(*catalog, 3, Box({0, 0}, {3, 5}), std::vector<float>(15, 4.0F));
  catalog->close(false);
  return file;
}

/// Read all there is, within reason. Errors must be those of damaged files.
bool read_all(const std::shared_ptr<MemoryFile>& file) {
  try {
    auto catalog = open(file);
    for (std::size_t i = 0; i < catalog->schema().variables.size(); ++i) {
      const int v = static_cast<int>(i);
      const auto& definition = catalog->schema().variables[i];
      if (!definition.fits_plainly) {
        CHECK_THROWS_AS(catalog->placement(v), Error);
        continue;
      }
      (void)catalog->placement(v);
      Box box = Box::whole(catalog->schema().shape(v));
      for (int d = 0; d < box.rank(); ++d) {
        const std::int64_t first = box.count[d];
        box.count[d] = std::min<std::int64_t>(box.count[d], 3);
        box.first[d] = first - box.count[d];
      }
      Bytes values(static_cast<std::size_t>(box.cells()) * size_of(definition.type));
      catalog->get(v, box, values.data());
    }
    return true;
  } catch (const Error& error) {
    CHECK_MESSAGE(error.code() == Code::format, error.what());
    CHECK(error.status().file == "memory.nc");
    return false;
  }
}

std::shared_ptr<MemoryFile> with_bytes(const MemoryFile& file, std::size_t at,
                                       const std::vector<int>& bytes) {
  auto changed = std::make_shared<MemoryFile>(file);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    changed->content[at + i] = static_cast<std::byte>(bytes[i]);
  return changed;
}

}  // namespace

TEST_SUITE("classic damaged") {
  TEST_CASE("variables that lie over each other are refused, by their names") {
    Schema schema;
    schema.format = Format::cdf2;
    add_dim(schema, "t", 0);
    schema.dims[0].length = 2;
    add_dim(schema, "x", 4);
    add_variable(schema, "r", Type::int_, {0});
    add_variable(schema, "q", Type::int_, {0});
    add_variable(schema, "a", Type::int_, {1});
    add_variable(schema, "b", Type::short_, {1});
    const std::vector<std::int64_t> slabs{4, 4, 16, 8};
    const auto file_with = [&](std::vector<std::int64_t> begins) {
      auto file = std::make_shared<MemoryFile>();
      const Bytes nowhere = encode_header(schema, begins, slabs);
      for (auto& begin : begins)
        begin += static_cast<std::int64_t>(nowhere.size());
      file->content = encode_header(schema, begins, slabs);
      file->content.resize(nowhere.size() + 200);
      return file;
    };
    // In any order, one behind the other: as writers of others lay files out.
    for (const std::vector<std::int64_t>& begins :
         {std::vector<std::int64_t>{24, 28, 0, 16}, {28, 24, 8, 0}, {100, 104, 40, 60}})
      CHECK_NOTHROW(open(file_with(begins), true));
    const auto refused = [&](const std::vector<std::int64_t>& begins, bool writable,
                             const std::vector<std::string>& names) {
      const Status status = error_of([&] { open(file_with(begins), writable); });
      CHECK(status.code == Code::format);
      for (const auto& name : names)
        CHECK_MESSAGE(mentions(status, name), status.text());
    };
    refused({24, 28, 0, 15}, false, {"variable 'a'", "b"});
    refused({24, 26, 0, 16}, false, {"variable 'r'", "q"});
    refused({0, 4, 8, 24}, false, {"variable 'r'", "a"});    // record 1
    refused({24, 28, 0, 36}, false, {"variable 'r'", "b"});  // the same
    CHECK_NOTHROW(open(file_with({24, 28, 0, 40})));         // behind the last
    refused({24, 28, 0, 40}, true, {"variable 'r'", "b", "records that are added"});
    schema.dims[0].length = 0;
    CHECK_NOTHROW(open(file_with({0, 4, 8, 24})));
    refused({0, 4, 8, 24}, true, {"variable 'r'", "a"});
    schema.dims[0].length = 1;  // without padding, as nothing is written behind the one record variable
    schema.variables = {schema.variables[0], schema.variables[3]};
    schema.variables[0].type = Type::byte_;
    auto one = std::make_shared<MemoryFile>();
    const auto header = static_cast<std::int64_t>(encode_header(schema, {0, 0}, {1, 8}).size());
    one->content = encode_header(schema, {header + 8, header}, {1, 8});
    one->content.resize(one->content.size() + 9);
    CHECK_NOTHROW(open(one, true));
  }

  TEST_CASE("the example is in order") {
    for (const auto format : {Format::cdf1, Format::cdf2, Format::cdf5})
      CHECK(read_all(example(format)));
  }

  TEST_CASE("truncated files are refused; only the end of the last record may be missing") {
    for (const auto format : {Format::cdf1, Format::cdf2, Format::cdf5}) {
      const auto whole = example(format);
      const auto temp = open(whole)->placement(3);
      const std::size_t last_record = open(whole)->placement(2).begin + 2 * temp.stride;
      for (std::size_t n = 0; n < whole->content.size(); ++n) {
        auto part = std::make_shared<MemoryFile>(*whole);
        part->content.resize(n);
        CHECK_MESSAGE(read_all(part) == (n >= last_record), n);
      }
      auto part = std::make_shared<MemoryFile>(*whole);
      part->content.resize(temp.begin + 2 * temp.stride + 10);
      CHECK(get<float>(*open(part), 3, Box({2, 0}, {1, 5})) ==
            std::vector<float>{4, 4, 9.9692099683868690e+36F, 9.9692099683868690e+36F,
                               9.9692099683868690e+36F});
    }
  }

  TEST_CASE("any byte of the header may be wrong") {
    for (const auto format : {Format::cdf1, Format::cdf2, Format::cdf5}) {
      const auto whole = example(format);
      const std::size_t header = open(whole)->placement(0).begin;
      std::size_t refused = 0;
      for (std::size_t at = 0; at < header; ++at)
        for (const int value : {0x00, 0x01, 0x0A, 0x7F, 0x80, 0xFF})
          refused += read_all(with_bytes(*whole, at, {value})) ? 0 : 1;
      CHECK(refused > header);  // most of what matters is noticed
    }
  }

  TEST_CASE("many bytes may be wrong at once") {
    std::mt19937 random(11);
    for (const auto format : {Format::cdf1, Format::cdf2, Format::cdf5}) {
      const auto whole = example(format);
      const std::size_t header = open(whole)->placement(0).begin;
      for (int round = 0; round < 3000; ++round) {
        auto file = std::make_shared<MemoryFile>(*whole);
        for (unsigned i = 0; i < 1 + random() % 6; ++i)
          file->content[4 + random() % (header - 4)] = static_cast<std::byte>(random());
        if (round % 3 == 0) file->content.resize(random() % file->content.size());
        read_all(file);
      }
    }
  }

  TEST_CASE("counts are held against the size of the file before memory is taken") {
    const auto whole = example(Format::cdf5);
    // The number of dimensions: 4 bytes magic, 8 records, 4 tag.
    const auto file = with_bytes(*whole, 16, {0x0F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF});
    const Status status = error_of([&] { open(file); });
    CHECK(status.code == Code::format);
    CHECK(mentions(status, "byte 16"));
    CHECK(mentions(status, "1152921504606846975"));
  }

  TEST_CASE("more records than the file has room for") {
    const auto file = with_bytes(*example(Format::cdf1), 4, {0, 0, 1, 0});
    const Status status = error_of([&] { open(file); });
    CHECK(status.code == Code::format);
    CHECK(mentions(status, "256 records"));
  }

  TEST_CASE("sizes of variables in the header are not trusted") {
    const auto whole = example(Format::cdf1);
    const auto temp = open(whole)->placement(3);
    // The last entry of the header is the begin of temp, its size stands before it.
    std::size_t at = open(whole)->placement(0).begin;
    const std::vector<std::byte> begin{
        static_cast<std::byte>(temp.begin >> 24), static_cast<std::byte>(temp.begin >> 16),
        static_cast<std::byte>(temp.begin >> 8), static_cast<std::byte>(temp.begin)};
    while (
        !std::equal(begin.begin(), begin.end(), whole->content.begin() + static_cast<std::ptrdiff_t>(at - 4)))
      --at;
    const auto file = with_bytes(*whole, at - 8, {0, 0, 0, 1});
    CHECK(open(file)->placement(3).stride == temp.stride);
    CHECK(get_all<float>(*open(file), 3) == std::vector<float>(15, 4.0F));
  }

  TEST_CASE("a number of records that is left open follows from the size of the file") {
    for (const auto format : {Format::cdf1, Format::cdf5}) {
      const auto whole = example(format);
      const std::size_t bytes = format == Format::cdf5 ? 8 : 4;
      auto file = with_bytes(*whole, 4, std::vector<int>(bytes, 0xFF));
      CHECK(open(file)->schema().dims[0].length == 3);
      CHECK(get_all<double>(*open(file), 2) == std::vector<double>{0.5, 1.5, 2.5});
      file->content.resize(file->content.size() - 1);
      CHECK(open(file)->schema().dims[0].length == 2);
      open(file, true)->close(false);
      CHECK(file->content[4 + bytes - 1] == std::byte{2});  // who writes, closes the count
    }
  }

  TEST_CASE("variables of more dimensions than Shoal has are listed, not read") {
    auto file = std::make_shared<MemoryFile>();
    const auto add = [&](std::initializer_list<int> bytes) {
      for (const int b : bytes)
        file->content.push_back(static_cast<std::byte>(b));
    };
    add({'C', 'D', 'F', 1, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 1, 0, 0, 0, 1, 'x', 0, 0, 0, 0, 0, 0, 1});
    add({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 1, 0, 0, 0, 1, 'v', 0, 0, 0, 0, 0, 0, k_max_dims + 1});
    for (int d = 0; d <= k_max_dims; ++d)
      add({0, 0, 0, 0});
    add({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 144});
    REQUIRE(file->content.size() == 144);
    add({0, 0, 0, 7});
    const auto catalog = open(file);
    CHECK_FALSE(catalog->schema().variables[0].fits_plainly);
    CHECK(error_of([&] { catalog->placement(0); }).code == Code::not_supported);
  }

  TEST_CASE("other files are refused with what they start with") {
    const auto status_of = [](const std::string& start) {
      auto file = std::make_shared<MemoryFile>();
      for (const char c : start)
        file->content.push_back(static_cast<std::byte>(c));
      MemoryStore store(file);
      return error_of([&] { recognise(store); });
    };
    CHECK(mentions(status_of(""), "empty"));
    CHECK(mentions(status_of("CDF\x07 and more"), "version 7"));
    CHECK(mentions(status_of("hello"), "68 65 6c 6c 6f"));
    CHECK(mentions(status_of("CDF"), "43 44 46"));
    CHECK(status_of("hello").code == Code::format);
  }

  TEST_CASE("HDF5 files are known by their signature, behind a user block too") {
    for (const std::size_t at : {0, 512, 1024, 4096}) {
      auto file = std::make_shared<MemoryFile>();
      file->content.resize(at + 8);
      const unsigned char magic[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
      for (std::size_t i = 0; i < 8; ++i)
        file->content[at + i] = static_cast<std::byte>(magic[i]);
      MemoryStore store(file);
      CHECK(recognise(store) == Format::netcdf4);
    }
  }
}
