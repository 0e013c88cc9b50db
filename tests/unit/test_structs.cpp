// Structs of the C interface that programs allocate: which versions of them the library takes.
#include <doctest/doctest.h>

#include <cstring>

#include "capi/handles.hpp"
#include "capi/structs.hpp"

using namespace shoal;
using namespace shoal::capi;

namespace {

struct First {
  std::size_t struct_size;
  const char* name;
  std::int64_t number;
};

struct Later {
  std::size_t struct_size;
  const char* name;
  std::int64_t number;
  std::int64_t added;
};

}  // namespace

TEST_CASE("structs: an older program's is read and filled as far as it goes") {
  // What lies behind an older struct is somebody else's.
  Later memory{sizeof(First), "given", 7, 99};
  const Later in = taken(memory, sizeof(First), "shoal_test");
  CHECK(std::string(in.name) == "given");
  CHECK(in.number == 7);
  CHECK(in.added == 0);
  hand_out(Later{0, "made", 8, 11}, &memory, sizeof(First), "shoal_test");
  CHECK(memory.struct_size == sizeof(First));
  CHECK(std::string(memory.name) == "made");
  CHECK(memory.number == 8);
  CHECK(memory.added == 99);
  memory.struct_size = sizeof(Later);
  hand_out(Later{0, "made", 8, 11}, &memory, sizeof(First), "shoal_test");
  CHECK(memory.added == 11);
  CHECK(taken(memory, sizeof(First), "shoal_test").added == 11);
}

TEST_CASE("structs: sizes that no version has are refused, with what is wrong") {
  Later memory{0, "given", 7, 99};
  for (const std::size_t size : {std::size_t{0}, sizeof(First) - 1, sizeof(Later) + 8, ~std::size_t{0}}) {
    memory.struct_size = size;
    for (const bool out : {false, true}) {
      const Status status = caught([&] {
        if (out)
          hand_out(Later{}, &memory, sizeof(First), "shoal_test");
        else
          taken(memory, sizeof(First), "shoal_test");
      });
      CHECK(status.code == Code::invalid_argument);
      CHECK(status.message.find("shoal_test is " + std::to_string(size)) != std::string::npos);
      CHECK((status.message.find("newer shoal.h") != std::string::npos) == (size > sizeof(Later)));
    }
  }
  CHECK(memory.number == 7);
}

TEST_CASE("structs: those of shoal.h carry their size") {
  const double one = 1;
  const shoal_array array = shoal_array_of(const_cast<double*>(&one), SHOAL_DOUBLE, 0, nullptr);
  CHECK(array.struct_size == sizeof(shoal_array));
  CHECK(array_of(&array).extents().empty());
  shoal_array wrong = array;
  wrong.struct_size = 0;
  CHECK(caught([&] { array_of(&wrong); }).message.find("struct_size of a shoal_array is 0") == 0);
  CHECK(static_cast<const shoal_section*>(SHOAL_RECORD(3))->record == 3);
  CHECK(static_cast<const shoal_section*>(SHOAL_RECORD(3))->struct_size == sizeof(shoal_section));
  const shoal_section plain = SHOAL_SECTION_INIT;
  CHECK(plain.record == SHOAL_NO_RECORD);
}
