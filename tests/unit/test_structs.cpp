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

TEST_CASE("structs: boxes of a call") {
  const std::int64_t start[] = {2, 0}, count[] = {1, 3}, stride[] = {1, 4};
  double cells[3] = {};
  shoal_box boxes[3] = {SHOAL_BOX_INIT, SHOAL_BOX_INIT, SHOAL_BOX_INIT};
  CHECK(boxes_of(0, nullptr).empty());
  boxes[1] = {sizeof(shoal_box), 5, 2, start, count, stride, shoal_array_of(cells, SHOAL_DOUBLE, 2, count)};
  boxes[2] = {sizeof(shoal_box), 6, 2, start, count, nullptr, {}};
  const auto taken = boxes_of(3, boxes);
  REQUIRE(taken.size() == 3);
  CHECK(taken[0].variable == -1);
  CHECK(taken[0].start.empty());
  CHECK(taken[1].variable == 5);
  CHECK(taken[1].start == Dims{2, 0});
  CHECK(taken[1].count == Dims{1, 3});
  CHECK(taken[1].stride == Dims{1, 4});
  CHECK(taken[1].array.problem.ok());
  CHECK(taken[1].array.cells.extents() == Dims{1, 3});
  CHECK(taken[2].stride == Dims{1, 1});
  CHECK(taken[2].array.problem.code == Code::invalid_argument);  // and nobody looks at it without need

  const auto message = [&](int n) { return caught([&] { boxes_of(n, boxes); }).message; };
  CHECK(message(-1) == "the number of boxes is -1; it must be 0 or more");
  const std::int64_t below[] = {0, -1}, none[] = {1, 0};
  boxes[2].start = below;
  CHECK(message(3).starts_with("box 2: the box starts at -1 and counts 3"));
  boxes[2].start = nullptr;
  CHECK(message(3).starts_with("box 2: argument start is NULL"));
  boxes[2].start = start, boxes[2].stride = none;
  CHECK(message(3) == "box 2: the stride of the box is 0; it must be 1 or more");
  boxes[2].ndims = 99;
  CHECK(message(3).starts_with("box 2: the box has 99 dimensions"));
  boxes[2].struct_size = 0;
  CHECK(message(3).starts_with("struct_size of box 2 is 0"));
  boxes[0].struct_size = 8;
  CHECK(message(1).starts_with("struct_size of a shoal_box is 8"));
}
