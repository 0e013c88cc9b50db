// Old names of settings: they set what they are called now, from every source, and say so.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "dataset/settings/setting_aliases.hpp"
#include "dataset/settings/settings.hpp"
#include "shoal/shoal.h"

using namespace shoal;

namespace {

struct Variable {
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  const char* name_;
};

std::string own_file(const std::string& name, const std::string& content) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string path = name + "." + std::to_string(rank);
  std::ofstream(path) << content;
  return path;
}

void check_one_warning(const Settings& settings, const std::string& words) {
  REQUIRE(settings.warnings().size() == 1);
  CHECK_MESSAGE(settings.warnings()[0].find(words) != std::string::npos, settings.warnings()[0]);
}

}  // namespace

TEST_CASE("every old name stands for a setting that there is, and is none itself") {
  for (const auto& alias : setting_aliases()) {
    CAPTURE(alias.old_name);
    CHECK_NOTHROW(Settings().text(alias.name));
    CHECK_THROWS_AS(Settings().text(alias.old_name), Error);
  }
}

TEST_CASE("an old name in the argument of a call") {
  const Settings settings = resolve_settings("exchange=off, io_ranks=2", {"", ""});
  CHECK(settings.text("rearrange") == "off");
  CHECK(settings.origin("rearrange") == "argument");
  check_one_warning(settings, "setting exchange (from argument) is now called rearrange");
  CHECK(resolve_settings("io_way=subset", {"", ""}).text("rearranger") == "subset");
  CHECK(resolve_settings("direct_io=off", {"", ""}).text("bypass_page_cache") == "off");
  CHECK(resolve_settings("rearrange=on", {"", ""}).warnings().empty());
}

TEST_CASE("old names in the environment, a namelist and a toml file") {
  {
    const Variable v("SHOAL_IO_WAY", "box");
    const Settings settings = resolve_settings("", {"", ""});
    CHECK(settings.text("rearranger") == "box");
    CHECK(settings.origin("rearranger") == "SHOAL_IO_WAY");
    check_one_warning(settings, "(from SHOAL_IO_WAY) is now called rearranger");
    CHECK(resolve_settings("rearranger=subset", {"", ""}).text("rearranger") == "subset");
  }
  const std::string toml = own_file("aliases.toml", "exchange = \"on\"\n");
  check_one_warning(resolve_settings("", {"", toml}), "is now called rearrange");
  const std::string namelist = own_file("aliases.nml", "&shoal\n direct_io = 'off'\n/\n");
  const Settings settings = resolve_settings("", {namelist, ""});
  CHECK(settings.text("bypass_page_cache") == "off");
  check_one_warning(settings, "is now called bypass_page_cache");
}

TEST_CASE("of both names in the environment the one of today counts, in whichever order they are there") {
  for (const bool old_first : {true, false}) {
    CAPTURE(old_first);
    const Variable first(old_first ? "SHOAL_EXCHANGE" : "SHOAL_REARRANGE", old_first ? "off" : "on");
    const Variable second(old_first ? "SHOAL_REARRANGE" : "SHOAL_EXCHANGE", old_first ? "on" : "off");
    const Settings settings = resolve_settings("", {"", ""});
    CHECK(settings.text("rearrange") == "on");
    CHECK(settings.origin("rearrange") == "SHOAL_REARRANGE");
    check_one_warning(settings, "(from SHOAL_EXCHANGE) is now called rearrange");
  }
}

TEST_CASE("a wrong value of an old name is an error that has the name of today") {
  try {
    resolve_settings("exchange=perhaps", {"", ""});
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find("setting rearrange is 'perhaps'") != std::string::npos);
  }
}

TEST_CASE("the warning goes with the settings to all ranks, and into the report") {
  shoal_dataset* file = nullptr;
  REQUIRE(shoal_create(MPI_COMM_WORLD, "aliases.nc", "exchange=off, quiet=true", &file) == SHOAL_OK);
  CHECK(std::string(shoal_report(file)).find("is now called rearrange") != std::string::npos);
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
}
