// What is refused before the TOML library sees it.
#include "base/toml_text.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/error.hpp"

using namespace shoal;

namespace {

std::string refusal(const std::string& text) {
  try {
    parse_toml(text, "test");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("letters that are not ASCII stand in text and comments") {
  for (const std::string text : {
           "# \xc3\xa9\na = \"\xc3\xa9\"",
           "\"\xc3\xa9\" = 1\na.\"\xc3\xa9\".b = 2",
           "a = ['\xc3\xa9', \"\xc3\xa9\", { \"\xc3\xa9\" = '\xc3\xa9', b.'\xc3\xa9' = 1 }]",
           "a = [\n  \"x\",  # \xc3\xa9\n  \"\xc3\xa9\",\n]\nb.\"\xc3\xa9\" = 1",
           "a = \"\"\"\n\xc3\xa9 \" \xc3\xa9\"\"\"\"\n",
           "[\"\xc3\xa9\"]\n[a.\"\xc3\xa9\"]",
       }) {
    CAPTURE(text);
    CHECK(refusal(text).empty());
  }
}

TEST_CASE("elsewhere they are refused, with the line, also behind a quote that begins no text") {
  for (const std::string text : {
           "\n\xc3\xa9 = 1",
           "\na = \xc3\xa9",
           "\na = -\"\xc3\xa9\"",
           "\na = 2.'\xc3\xa9'",
           "\na = x.\"\xc3\xa9\"",
           "\na = [1, 2.\"\xc3\xa9\"]",
           "\n2a\"\xc3\xa9\" = 1",
           "\"\"\"r\n\xc3\xa9\n\"\"\" = 1",
           "\na = 2b='\xc3\xa9'",
           "\na = 2[\"\xc3\xa9\"]",
           "\na = 2{'\xc3\xa9'}",
       }) {
    CAPTURE(text);
    CHECK(refusal(text).find("line 2 has a letter that is not ASCII outside of quotes") != std::string::npos);
  }
}
