// SPDX-License-Identifier: BSD-3-Clause
// Names in Unicode's forms.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "base/names.hpp"
#include "dataset/definitions/definitions.hpp"

using namespace shoal;

namespace {

// e with an acute accent, as one character and as two.
const std::string k_composed = "temp\u00e9rature", k_apart = "tempe\u0301rature";

Schema of_file(const std::string& name) {
  Schema schema;
  schema.format = Format::cdf5;
  schema.dims = {{name, 3, false}};
  schema.variables.resize(1);
  schema.variables[0].name = name;
  schema.variables[0].type = Type::int_;
  schema.variables[0].dims = {0};
  schema.variables[0].attributes = {Attribute::text(name, "old")};
  schema.attributes = {Attribute::text(name, "old")};
  return schema;
}

}  // namespace

TEST_CASE("names: composed") {
  CHECK(composed("salt_x.2") == "salt_x.2");
  CHECK(composed(k_apart) == k_composed);
  CHECK(composed(k_composed) == k_composed);
  CHECK(composed("\u1112\u1161\u11ab") == "\ud55c");
  CHECK(composed("\u212b") == "\u00c5");
  CHECK(composed("a\u0323\u0307") == composed("a\u0307\u0323"));  // accents in another order
  CHECK(composed("\xff\xfe") == "\xff\xfe");                      // no UTF-8
  CHECK(composed("").empty());
  CHECK(same_name(k_apart, k_composed));
  CHECK(!same_name("e", "\u00e9"));
}

TEST_CASE("names: definitions are composed, and found by either form") {
  const Schema empty;
  Definitions made;
  made.reset(empty);
  made.def_dim(k_apart, 3);
  made.def_var(k_apart, Type::int_, {k_apart}, nullptr);
  made.put_att(nullptr, k_apart, Type::char_, 1, "x");
  made.put_att(k_composed.c_str(), k_apart, Type::char_, 1, "x");
  made.put_att(k_apart.c_str(), k_composed, Type::char_, 1, "y");
  const Schema& schema = made.schema();
  CHECK(schema.dims[0].name == k_composed);
  CHECK(schema.variables[0].name == k_composed);
  CHECK(schema.attributes[0].name == k_composed);
  REQUIRE(schema.variables[0].attributes.size() == 1);  // the second took the place of the first
  CHECK(schema.variables[0].attributes[0].name == k_composed);
  CHECK(made.variable(k_apart) == 0);
  CHECK(made.dimension(k_apart) == 0);
  CHECK(find_variable_or_throw(schema, k_apart) == 0);
  CHECK(find_attribute(schema.attributes, k_apart) == schema.attributes.data());
  CHECK_THROWS_AS(made.def_dim(k_composed, 3), Error);
  CHECK_THROWS_AS(made.def_var(k_composed, Type::int_, {}, nullptr), Error);
  made.rename_var(k_apart, "e\u0301");
  CHECK(schema.variables[0].name == "\u00e9");
  CHECK_THROWS_AS(made.variable(k_apart), Error);
  made.delete_att(nullptr, k_apart);
  CHECK(schema.attributes.empty());
}

TEST_CASE("names: files that have them in another form") {
  const Schema there = of_file(k_apart);
  Definitions made;
  made.reset(there);
  for (const std::string& name : {k_apart, k_composed}) {
    CHECK(made.variable(name) == 0);
    CHECK(made.dimension(name) == 0);
    CHECK(find_variable_or_throw(made.schema(), name) == 0);
    CHECK(find_dim_or_throw(made.schema(), name) == 0);
    CHECK_THROWS_AS(made.def_dim(name, 3), Error);
    made.put_att(nullptr, name, Type::char_, 3, "new");
    CHECK(made.schema().attributes.size() == 1);
    CHECK(made.schema().attributes[0].name == k_apart);  // which the file has
  }
  // So that others can read it.
  made.rename_var(k_composed, k_composed);
  made.rename_dim(k_composed, k_composed);
  made.rename_att(nullptr, k_composed, k_composed);
  made.rename_att(k_composed.c_str(), k_composed, k_composed);
  CHECK(made.schema().variables[0].name == k_composed);
  CHECK(made.schema().dims[0].name == k_composed);
  CHECK(made.schema().attributes[0].name == k_composed);
  CHECK(made.schema().changes.size() == 4);
  CHECK(made.variable(k_apart) == 0);
  // Two names in one file that are one: each is found as it is.
  Schema both = of_file(k_apart);
  both.variables.push_back(both.variables[0]);
  both.variables[1].name = k_composed;
  made.reset(both);
  CHECK(made.variable(k_apart) == 0);
  CHECK(made.variable(k_composed) == 1);
  CHECK(both.find_variable(k_apart) == 0);
  CHECK(both.find_variable(k_composed) == 1);
}
