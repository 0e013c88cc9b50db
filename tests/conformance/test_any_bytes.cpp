// Attributes of any bytes, of any length and of none; names that NetCDF takes, and those that it refuses.
#include "conformance/support.hpp"

namespace shoal::testing {

namespace {

struct Bytes {
  std::string name;
  int type;
  std::string data;  ///< in memory order
};

std::vector<Bytes> attributes_for(const std::string& format) {
  using namespace std::string_literals;
  std::string much(300000, ' ');
  for (std::size_t i = 0; i < much.size(); ++i)
    much[i] = static_cast<char>(i * 31 + i / 251);
  std::vector<Bytes> all{{"zeros inside", SHOAL_CHAR, "a\0b\0"s},
                         {"one zero", SHOAL_CHAR, "\0"s},
                         {"no UTF-8", SHOAL_CHAR, "\xff\xfe\xc3(\x80\xed\xa0\x80"},
                         {"controls", SHOAL_CHAR, "\n\r\t\x01\x1f\x7f\"\\"},
                         {"blanks", SHOAL_CHAR, "   "},
                         {"no text", SHOAL_CHAR, ""}};
  for (const std::size_t length : {65535, 65536, 300000})
    all.push_back({"text of " + std::to_string(length), SHOAL_CHAR, much.substr(0, length)});
  auto types = types_of(format);
  for (const int type : types) {
    const std::size_t size = bytes_of(type);
    all.push_back({"none of type " + std::to_string(type), type, ""});
    all.push_back({"many of type " + std::to_string(type), type, std::string(20000 * size, '\x3f')});
    all.push_back({"one of type " + std::to_string(type), type, std::string(size, '\x41')});
  }
  return all;
}

const std::vector<std::string>& texts() {
  static const std::vector<std::string> k_texts{"plain",
                                                "",
                                                "gr\xc3\xb6\xc3\x9f"
                                                "e",
                                                "no UTF-8 \xff",
                                                "a\nline",
                                                "blank ",
                                                ""};
  return k_texts;
}

void check_strings(shoal_dataset* file, const char* variable, const char* name,
                   const std::vector<std::string>& expected) {
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  int index = -1;
  ok(shoal_find_att(file, variable, name, &index));
  ok(shoal_inq_att(file, variable, index, &info));
  CHECK(info.type == SHOAL_STRING);
  REQUIRE(info.count == static_cast<std::int64_t>(expected.size()));
  std::vector<char*> got(expected.size() + 1);
  ok(shoal_get_att(file, variable, name, SHOAL_STRING, got.data()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(std::string(got[i]) == expected[i]);
  shoal_free_strings(info.count, got.data());
}

}  // namespace

TEST_CASE("attributes of any bytes are kept as they are") {
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "bytes.nc", ("format=" + format).c_str(), &file));
    ok(shoal_def_var(file, "v", SHOAL_INT, "", nullptr));
    const bool strings = has_strings(format);
    std::vector<const char*> pointers;
    for (const auto& text : texts())
      pointers.push_back(text.c_str());
    for (const char* variable : {static_cast<const char*>(nullptr), "v"}) {
      for (const auto& a : attributes_for(format))
        ok(shoal_put_att(file, variable, a.name.c_str(), a.type,
                         static_cast<std::int64_t>(a.data.size() / bytes_of(a.type)), a.data.data()));
      if (!strings) continue;
      ok(shoal_put_att(file, variable, "strings", SHOAL_STRING, static_cast<std::int64_t>(pointers.size()),
                       pointers.data()));
      ok(shoal_put_att(file, variable, "an empty string", SHOAL_STRING, 1, &pointers[1]));
      ok(shoal_put_att(file, variable, "no strings", SHOAL_STRING, 0, pointers.data()));
    }
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "bytes.nc", SHOAL_READ, nullptr, &file));
    for (const char* variable : {static_cast<const char*>(nullptr), "v"}) {
      for (const auto& a : attributes_for(format)) {
        CAPTURE(a.name);
        shoal_att_info info = SHOAL_ATT_INFO_INIT;
        int index = -1;
        ok(shoal_find_att(file, variable, a.name.c_str(), &index));
        ok(shoal_inq_att(file, variable, index, &info));
        CHECK(info.type == a.type);
        REQUIRE(info.count == static_cast<std::int64_t>(a.data.size() / bytes_of(a.type)));
        std::string got(a.data.size(), '!');
        ok(shoal_get_att(file, variable, a.name.c_str(), a.type, got.data()));
        CHECK((got == a.data));
      }
      if (!strings) continue;
      check_strings(file, variable, "strings", texts());
      check_strings(file, variable, "an empty string", {""});
      check_strings(file, variable, "no strings", {});
    }
    ok(shoal_close(&file, 0));
  }
}

TEST_CASE("names: what NetCDF takes is taken, and what it refuses is refused with the rule") {
  // Names of 256 bytes netCDF itself loses when it opens the file.
  // A folder's has 255 at most.
  const std::string longest(driver() == "netcdf" || has_format("zarr") ? 255 : 256, 'n');
  const std::vector<std::string> good{"with blanks in it",
                                      "1leading",
                                      "_x",
                                      "a-b.c+d@e(f)[g]{h}%&*!?<>|\\^~`'#$,:;=",
                                      "quote\"d",
                                      "gr\xc3\xb6\xc3\x9f"
                                      "e",
                                      "\xe6\xb5\xb7",
                                      "\xf0\x9f\x8c\x8a wave",
                                      "nbsp\xc2\xa0",
                                      longest};
  const std::vector<std::pair<std::string, const char*>> bad{{"", "empty"},
                                                             {"trailing ", "ends with a blank"},
                                                             {" leading", "start with a letter"},
                                                             {"-minus", "start with"},
                                                             {"sla//sh", "'sla//sh'"},
                                                             {"tab\t", "control character at byte 3"},
                                                             {"del\x7f", "control"},
                                                             {"\xc3", "not valid UTF-8"},
                                                             {"over\xc0\xaf", "byte 4 is not valid"},
                                                             {"s\xed\xa0\x80", "UTF-8"},
                                                             {std::string(257, 'n'), "257 bytes"}};
  for (const auto& format : formats()) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    ok(shoal_create(MPI_COMM_WORLD, "names.nc", ("format=" + format).c_str(), &file));
    const int one = 1;
    for (const auto& name : good) {
      CAPTURE(name);
      ok(shoal_def_dim(file, name.c_str(), 2));
      const char* const dims[] = {name.c_str()};
      ok(shoal_def_var_names(file, name.c_str(), SHOAL_INT, 1, dims, nullptr));
      ok(shoal_put_att(file, name.c_str(), name.c_str(), SHOAL_INT, 1, &one));
    }
    ok(shoal_close(&file, 0));
    ok(shoal_open(MPI_COMM_WORLD, "names.nc", SHOAL_READ, nullptr, &file));
    for (const auto& name : good) {
      CAPTURE(name);
      int index = -1;
      ok(shoal_find_dim(file, name.c_str(), &index));
      ok(shoal_find_var(file, name.c_str(), &index));
      ok(shoal_find_att(file, name.c_str(), name.c_str(), &index));
    }
    ok(shoal_close(&file, 0));
    for (const auto& [name, rule] : bad)
      for (const int what : {0, 1, 2}) {
        CAPTURE(name);
        CAPTURE(what);
        ok(shoal_create(MPI_COMM_WORLD, "names.nc", ("format=" + format).c_str(), &file));
        int code = what == 0   ? shoal_def_dim(file, name.c_str(), 2)
                   : what == 1 ? shoal_def_var(file, name.c_str(), SHOAL_INT, "", nullptr)
                               : shoal_put_att(file, nullptr, name.c_str(), SHOAL_INT, 1, &one);
        if (code == SHOAL_OK) code = shoal_end_define(file);
        fails(code, SHOAL_INVALID_ARGUMENT, {rule});
        shoal_abandon(&file);
      }
  }
}

}  // namespace shoal::testing
