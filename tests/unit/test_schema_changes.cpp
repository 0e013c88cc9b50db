// SPDX-License-Identifier: BSD-3-Clause
// Names that change, and attributes that go: in schemas, and in files whose writer was killed meanwhile.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/catalog.hpp"
#include "format/checks.hpp"
#include "format/format_traits.hpp"
#include "logged_store.hpp"
#include "support/folder.hpp"

namespace {

using namespace shoal;
using namespace shoal::test;
using Kind = SchemaChange::Kind;

Schema example(Format format) {
  Schema schema;
  schema.format = format;
  schema.dims = {{"time", 0, true}, {"y", 3, false}, {"x", 4, false}};
  schema.attributes = {Attribute::text("title", "a run"), Attribute::text("history", "made")};
  VariableDef y, field;
  y.name = "y";
  y.type = Type::double_;
  y.dims = {1};
  field.name = "field";
  field.type = Type::double_;
  field.dims = {0, 1, 2};
  field.attributes = {Attribute::text("units", "m"), Attribute::text("comment", "none")};
  schema.variables = {y, field};
  return schema;
}

const std::vector<SchemaChange>& changes() {
  static const std::vector<SchemaChange> k_changes{
      {Kind::rename_dim, 1, "y", "latitude_of_the_rows"},  // longer
      {Kind::rename_variable, 0, "y", "latitude_of_the_rows"},
      {Kind::rename_variable, 1, "field", "f"},
      {Kind::rename_attribute, 1, "units", "unit"},
      {Kind::delete_attribute, 1, "comment", ""},
      {Kind::rename_attribute, -1, "title", "name_of_the_run"},
      {Kind::delete_attribute, -1, "history", ""}};
  return k_changes;
}

std::string names_of(const Schema& schema) {
  std::string all;
  const auto add = [&](const std::vector<Attribute>& attributes) {
    for (const auto& a : attributes)
      all += " " + a.name;
  };
  for (const auto& dim : schema.dims)
    all += " " + dim.name;
  add(schema.attributes);
  for (const auto& variable : schema.variables) {
    all += " " + variable.name;
    add(variable.attributes);
  }
  return all;
}

void put(Catalog& catalog, std::int64_t record) {
  std::vector<double> values(12);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(100 * record + static_cast<std::int64_t>(i));
  catalog.put(1, Box({record, 0, 0}, {1, 3, 4}), reinterpret_cast<const std::byte*>(values.data()));
}

bool has(Catalog& catalog, std::int64_t record) {
  std::vector<double> values(12);
  catalog.get(1, Box({record, 0, 0}, {1, 3, 4}), reinterpret_cast<std::byte*>(values.data()));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != static_cast<double>(100 * record + static_cast<std::int64_t>(i))) return false;
  return true;
}

}  // namespace

TEST_CASE("schema changes are made in order, survive packing, and are all that may be missing") {
  const Schema before = example(Format::netcdf4);
  Schema wanted = changed(before, changes());
  wanted.changes = changes();
  CHECK(names_of(wanted) == " time latitude_of_the_rows x name_of_the_run latitude_of_the_rows f unit");
  check_extends(before, wanted);
  ByteWriter out;
  pack(out, wanted);
  const Bytes bytes = out.take();
  ByteReader in(bytes);
  const Schema copy = unpack_schema(in);
  REQUIRE(copy.changes.size() == changes().size());
  for (std::size_t i = 0; i < changes().size(); ++i)
    CHECK(text_of(copy.changes[i]) == text_of(changes()[i]));
  CHECK(copy.changes[5].index == -1);
  CHECK(text_of(changes()[0]) == "rename dimension 'y' to 'latitude_of_the_rows'");
  CHECK(text_of(changes()[4]) == "delete attribute 'comment'");
  wanted.changes.pop_back();
  CHECK_THROWS_AS(check_extends(before, wanted), Error);
  wanted.changes = changes();
  wanted.changes[2].to = wanted.variables[1].name = "a/b";
  CHECK_THROWS_AS(check_extends(before, wanted), Error);
}

TEST_CASE("schema changes: killed at any write, a file has the names before or those after, and its data") {
  for (const Format format : {Format::cdf1, Format::cdf5, Format::netcdf4})
    for (const std::int64_t reserve : {std::int64_t{65536}, std::int64_t{200}})
      for (const bool durable : {false, true}) {
        CAPTURE(name_of(format));
        CAPTURE(reserve);
        CatalogOptions options;
        options.header_reserve = reserve;
        auto owned = std::make_unique<LoggedStore>(Bytes{});
        LoggedStore* const store = owned.get();
        auto catalog = traits_of(format).is_classic
                           ? create_classic_catalog(format, std::move(owned), options)
                           : create_netcdf4_catalog(format, std::move(owned), options);
        catalog->define(example(format));
        put(*catalog, 0);
        catalog->commit(durable);
        const std::size_t committed = store->steps.size();
        const std::string before = names_of(catalog->schema());
        Schema wanted = changed(catalog->schema(), changes());
        wanted.changes = changes();
        catalog->define(wanted);
        const std::string after = names_of(catalog->schema());
        CHECK(after == " time latitude_of_the_rows x name_of_the_run latitude_of_the_rows f unit");
        CHECK(catalog->schema().changes.empty());
        put(*catalog, 1);
        catalog->commit(durable);
        const std::size_t renamed = store->steps.size();
        const testing::Folder folder;
        const std::string path = folder.file("image.nc");
        Bytes image;
        int old_names = 0, new_names = 0;
        for (std::size_t i = 0; i < store->steps.size(); ++i)
          for (const auto& piece : torn(store->steps[i], 512)) {
            apply_to(image, piece);
            if (i < committed) continue;
            const auto file = open_posix_store(path, StoreMode::create);
            file->resize(0);
            file->write(0, image);
            file->close();
            const auto reader = open_catalog(open_posix_store(path, StoreMode::write), true, {});
            const std::string names = names_of(reader->schema());
            CHECK((names == before || names == after));
            if (i + 1 >= renamed) CHECK(names == after);
            (names == after ? new_names : old_names) += 1;
            CHECK(has(*reader, 0));
            if (reader->schema().dims[0].length > 1) CHECK(has(*reader, 1));
            reader->close(false);
          }
        CHECK(old_names > 0);
        CHECK(new_names > 0);
        catalog->close(false);
      }
}
