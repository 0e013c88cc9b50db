// SPDX-License-Identifier: BSD-3-Clause
// Which records of a variable may hold something.
#include <doctest/doctest.h>

#include "driver/records/written_records.hpp"

using namespace shoal;

namespace {

Schema of_records(std::int64_t records) {
  Schema schema;
  schema.dims.resize(2);
  schema.dims[0].unlimited = true;
  schema.dims[0].length = records;
  schema.dims[1].length = 5;
  schema.variables.resize(2);
  schema.variables[0].dims = {0, 1};
  schema.variables[1].dims = {1};
  return schema;
}

}  // namespace

TEST_CASE("what one rank alone takes for a new record is not one that may hold something") {
  WrittenRecords written_records;
  written_records.start(of_records(7));
  const Schema grown = of_records(8);  // by a put, as far as this rank knows
  CHECK(written_records.of(grown, 0) == 7);
  CHECK(written_records.of(grown, 1) == 1);
  written_records.note(grown, 0, {{8, 0}, {2, 5}});
  CHECK(written_records.of(grown, 0) == 10);
}

TEST_CASE("variables that are new hold nothing before they are written") {
  WrittenRecords written_records;
  written_records.start({});
  const Schema defined = of_records(3);
  CHECK(written_records.of(defined, 0) == 0);
  CHECK(written_records.of(defined, 1) == 0);
  written_records.note(defined, 1, {{0}, {5}});
  CHECK(written_records.of(defined, 0) == 0);
  CHECK(written_records.of(defined, 1) == 1);
}

TEST_CASE(
    "a rank that does not know what others wrote looks at all records of the file, until it starts anew") {
  WrittenRecords written_records;
  written_records.start(of_records(2));
  written_records.lose();
  written_records.note(of_records(2), 0, {{6, 0}, {1, 5}});
  CHECK(written_records.of(of_records(4), 0) == 4);
  written_records.start(of_records(3));
  CHECK(written_records.of(of_records(9), 0) == 3);
}
