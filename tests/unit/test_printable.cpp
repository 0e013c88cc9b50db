// SPDX-License-Identifier: BSD-3-Clause
// Texts that a terminal may be given.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "support/says.hpp"

using namespace shoal;

TEST_CASE("texts for a terminal have no control characters") {
  CHECK(printable("plain, 'T\u00e9mp' \u6d77\n\tx") == "plain, 'T\u00e9mp' \u6d77\n\tx");
  CHECK(printable("a\x1b[2Jb\x07\r\b\x7f") == "a\\x1b[2Jb\\x07\\x0d\\x08\\x7f");
  CHECK(printable("\u009b2J") == "\\u009b2J");
  CHECK(printable("\x9b"
                  "2J\xe9") ==
        "\\x9b"
        "2J\xe9");
  CHECK(printable("\u202egnp.exe") == "\\u202egnp.exe");
  CHECK(printable_name("a\nb\tc") == "a\\x0ab\\x09c");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  const Error error =
      Error(Code::range, "no '{}' here", "x\x1b[31m").of_variable("v\x1b]0;t\x07").in_file("f\n\x1b");
  CHECK(std::string(error.what()) == "f\\x0a\\x1b: variable 'v\\x1b]0;t\\x07': no 'x\\x1b[31m' here");
  CHECK(error.status().file == "f\n\x1b");  // for programs it is as it is
}

TEST_CASE("messages do not repeat texts of a million bytes") {
  const std::string text(1000000, 'x');
  const Error error(Code::setting, "'{}' cannot be read: why", text);
  CHECK(error.status().message.size() < 9000);
  says(error.what(), "bytes ...]");
  CHECK(error.status().message.ends_with("x' cannot be read: why"));
  CHECK(without_middle(std::string(8000, 'y')) == std::string(8000, 'y'));
}
