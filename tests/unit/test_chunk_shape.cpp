// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "dataset/choices.hpp"
#include "format/chunk_shape.hpp"

using namespace shoal;

namespace {

using Lengths = std::vector<std::int64_t>;
constexpr std::int64_t k_target = 4 * 1024 * 1024;

std::optional<Lengths> chunk(const std::string& request, const Dims& shape,
                             const std::vector<bool>& unlimited, std::int64_t bytes = k_target) {
  return requested_chunk(chunk_request_of(request), shape, unlimited, 4, bytes);
}

std::int64_t bytes_of(const Lengths& lengths) {
  std::int64_t bytes = 4;
  for (const auto n : lengths)
    bytes *= n;
  return bytes;
}

}  // namespace

TEST_CASE("chunk shape: a map is one level of one record, whole if there is room") {
  CHECK(chunk("map", {0, 30, 600, 800}, {true, false, false, false}) == Lengths{1, 1, 600, 800});
  CHECK(chunk("map", {0, 30, 6000, 8000}, {true, false, false, false}) == Lengths{1, 1, 125, 8000});
  CHECK(chunk("map", {0, 30, 6000, 8000}, {true, false, false, false}, 1024) == Lengths{1, 1, 1, 250});
  CHECK(chunk("map", {0, 40}, {true, false}) == Lengths{1, 40});
  CHECK(chunk("map", {600, 800}, {false, false}) == Lengths{600, 800});
  CHECK(chunk("map", {5, 600, 800}, {false, false, false}) == Lengths{1, 600, 800});
  CHECK(chunk("map", {7}, {false}) == Lengths{7});
}

TEST_CASE("chunk shape: a series is long in the first dimension, whatever the records there are") {
  const auto grows = chunk("series", {0, 30, 600, 800}, {true, false, false, false});
  REQUIRE(grows);
  CHECK((*grows)[0] == 128);
  CHECK((*grows)[1] == 1);
  CHECK(bytes_of(*grows) <= k_target);
  CHECK(bytes_of(*grows) > k_target / 2);
  CHECK(chunk("series", {9999, 30, 600, 800}, {true, false, false, false}) == grows);
  const auto fixed = chunk("series", {3650, 600, 800}, {false, false, false});
  REQUIRE(fixed);
  CHECK((*fixed)[0] >= 700);
  CHECK(bytes_of(*fixed) <= k_target);
  CHECK(chunk("series", {3650, 3, 4}, {false, false, false}) == Lengths{3650, 3, 4});
  CHECK(chunk("series", {0, 3, 4}, {true, false, false}) == Lengths{128, 3, 4});
  CHECK(chunk("series", {0, 5}, {true, false}) == Lengths{128, 5});
  // Two dimensions that do not grow: a map that fits is one chunk, and a long series is whole.
  CHECK(chunk("series", {600, 800}, {false, false}) == Lengths{600, 800});
  CHECK(chunk("series", {40000, 640}, {false, false}) == Lengths{40000, 20});
  CHECK(chunk("series", {4000000, 3}, {false, false}) == Lengths{1000000, 1});
  CHECK(chunk("series", {7}, {false}) == Lengths{7});
}

TEST_CASE("chunk shape: as it is said, cut to the dimensions; nothing is said of others") {
  CHECK(chunk("2x100x100", {0, 30, 800}, {true, false, false}) == Lengths{2, 30, 100});
  CHECK_FALSE(chunk("2x100", {0, 30, 800}, {true, false, false}));
  CHECK_FALSE(chunk("auto", {0, 30, 800}, {true, false, false}));
  CHECK_FALSE(chunk("map", {0}, {true}));
  CHECK_FALSE(chunk("series", {}, {}));
  // Dimensions of which nothing is there yet, or nothing at all.
  CHECK(chunk("map", {0, 0, 0}, {true, true, false}) == Lengths{1, 1, 1});
}

TEST_CASE("chunk shape: text") {
  for (const char* same : {"auto", "map", "series", "1x30x100"})
    CHECK(text_of(chunk_request_of(same)) == same);
  CHECK(text_of(chunk_request_of(" 1X2 ")) == "1x2");
  for (const char* bad : {"", "1x", "x2", "0x4", "-1x2", "1,2", "maps", "9999999999999999x1"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS(chunk_request_of(bad), doctest::Contains("allowed: auto, map, series"), Error);
  }
}

TEST_CASE("choices: the first that matches counts, and what is for all comes last") {
  const auto same = [](const std::string& value) { return value; };
  const Choices choices("temp=a; salt*=b;  c ", same);
  CHECK(choices.of("temp")->value == "a");
  CHECK(choices.of("temp")->named);
  CHECK(choices.of("salt_2")->value == "b");
  CHECK_FALSE(choices.of("salt_2")->named);
  CHECK(choices.of("u")->value == "c");
  CHECK(choices.text() == "temp=a; salt*=b; c");
  CHECK(Choices("temp=a", same).of("u") == nullptr);
  CHECK(Choices("", same).text().empty());
  CHECK(Choices("t[1[=a", same).of("t[1[") != nullptr);
  CHECK_THROWS_WITH_AS(Choices("a; temp=b", same), doctest::Contains("put that last"), Error);
  CHECK_THROWS_WITH_AS(Choices("=b", same), doctest::Contains("variable=value"), Error);
  CHECK_THROWS_WITH_AS(Choices("b=", same), doctest::Contains("variable=value"), Error);
}
