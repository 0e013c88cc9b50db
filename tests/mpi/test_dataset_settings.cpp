// Settings: what each source may say, who goes first, and that all ranks use rank 0's.
#include <doctest/doctest.h>
#include <mpi.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "comm/nodes.hpp"
#include "dataset/dataset.hpp"
#include "dataset/settings/settings.hpp"
#include "shoal/shoal.h"
#include "support/builds.hpp"
#include "support/says.hpp"

using namespace shoal;

namespace {

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// A file of this rank's own.
std::string file_with(const std::string& name, const std::string& content) {
  const std::string path = name + "." + std::to_string(rank_of_world());
  std::ofstream(path) << content;
  return path;
}

struct Variable {
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  const char* name_;
};

std::string error_of(const std::string& argument, const SettingSources& sources = {"", ""}) {
  try {
    resolve_settings(argument, sources);
  } catch (const Error& e) {
    CHECK((e.code() == Code::setting || e.code() == Code::not_found));
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("defaults, and what an argument may look like") {
  const Settings defaults = resolve_settings("", {"", ""});
  CHECK(defaults.text("format") == "cdf5");
  CHECK(defaults.bytes("stage_bytes") == 256LL * 1024 * 1024);
  CHECK((defaults.text("fill") == "true"));
  CHECK(defaults.is_default("stage_bytes"));
  for (const auto& key : setting_keys())
    CHECK(defaults.text(key.name) == key.fallback);

  const Settings s = resolve_settings(
      "format = NetCDF4,stage_bytes=1.5 MiB\n durable=.TRUE., report=\"a, b.json\",, wait_seconds=2.5, "
      "writers=3",
      {"", ""});
  CHECK(s.text("format") == "netcdf4");
  CHECK(s.bytes("stage_bytes") == 1572864);
  CHECK(s.flag("durable"));
  CHECK(s.text("report") == "a, b.json");
  CHECK(s.seconds("wait_seconds") == 2.5);
  CHECK(s.count("writers") == 3);
  CHECK(s.origin("writers") == "argument");
  says(s.listing(), "writers = 3");
  CHECK(s.listing().rfind("# basic\nformat = ", 0) == 0);
  CHECK(s.listing().find("\n# expert\n") < s.listing().find("writers = 3"));
  CHECK(s.listing().find("\n# expert\n") > s.listing().find("stage_bytes = "));
}

TEST_CASE("a program's own default counts where no other source has a value") {
  const Settings alone = resolve_settings("fill?=written, writers ?= 3, lock=off, lock?=auto", {"", ""});
  CHECK(alone.text("fill") == "written");
  CHECK(alone.origin("fill") == "program's default");
  CHECK(alone.count("writers") == 3);
  CHECK(alone.text("lock") == "off");
  const Variable fill("SHOAL_FILL", "false");
  const Settings with = resolve_settings("fill?=written", {"", ""});
  CHECK(with.text("fill") == "false");
  CHECK(with.origin("fill") == "SHOAL_FILL");
}

TEST_CASE("wrong keys and values are errors that help") {
  says(error_of("stagebytes=1MiB"), "did you mean 'stage_bytes'");
  says(error_of("stage_bytes=lots"), "stage_bytes");
  says(error_of("stage_bytes=1"), "64KiB");
  says(error_of("format=hdf"), "format");
  says(error_of("driver=adios"), "allowed: native");
  says(error_of("layout=rank"), "allowed: one");
  says(error_of("fill=perhaps"), "true, false, written");
  says(error_of("durable=written"), "true or false");
  says(error_of("writers=-1"), "writers");
  says(error_of("writers=2x"), "writers");
  says(error_of("wait_seconds=0"), "more than 0");
  says(error_of("fill"), "key=value");
  says(error_of("report=\"x"), "not closed");
  says(error_of("slot_bytes=17"), "4KiB");
  says(error_of("compression=t*=none; temp=deflate:1"), "'temp=deflate:1' comes after 't*=none'");
  says(error_of("quantize=temp=bitround:3; temp=bitround:4"), "would never count");
  says(error_of("chunks=t*=map; s*=map; t*=series"), "would never count");
  CHECK(error_of("chunks=t?=map; t*=series; auto") == "no error");
}

TEST_CASE("environment") {
  {
    const Variable v("SHOAL_CHUNK_BYTES", "2MiB");
    const Settings s = resolve_settings("", {"", ""});
    CHECK(s.bytes("chunk_bytes") == 2LL * 1024 * 1024);
    CHECK(s.origin("chunk_bytes") == "SHOAL_CHUNK_BYTES");
    CHECK(resolve_settings("chunk_bytes=4KiB", {"", ""}).origin("chunk_bytes") == "argument");
  }
  const Variable v("SHOAL_CHUNKBYTES", "2MiB");
  says(error_of(""), "did you mean 'SHOAL_CHUNK_BYTES'");
}

TEST_CASE("namelist") {
  const std::string path = file_with("model.nml",
                                     "! &shoal is not here\n"
                                     "&model title = 'a / in &shoal text' x = 1 /\n"
                                     "  &SHOAL\n"
                                     "  stage_bytes = '32MiB',  ! a comment / here\n"
                                     "  fill = .false.\n"
                                     "  Format='netcdf4' , writers=2 report = \"it''s\"\n"
                                     "/\n&last y=2 /\n");
  const Settings s = resolve_settings("", {path, ""});
  CHECK(s.bytes("stage_bytes") == 32LL * 1024 * 1024);
  CHECK(s.text("fill") == "false");
  CHECK(s.text("format") == "netcdf4");
  CHECK(s.count("writers") == 2);
  CHECK(s.text("report") == "it''s");
  says(s.origin("fill"), "namelist");
  const Variable v("SHOAL_WRITERS", "1");
  CHECK(resolve_settings("", {path, ""}).count("writers") == 1);

  says(error_of("", {file_with("bad1.nml", "&shoal\n\n stage = 1 /"), ""}), "stage");
  says(error_of("", {file_with("bad2.nml", "&shoal\n fill .true. /"), ""}), "line 2");
  says(error_of("", {file_with("bad3.nml", "&shoal\n fill = .true.\n"), ""}), "does not end");
  says(error_of("", {file_with("bad4.nml", "&shoal\n report = 'x\n/"), ""}), "not closed");
  CHECK(resolve_settings("", {file_with("other.nml", "&model x = 1 /"), ""}).is_default("format"));
  says(error_of("", {"nowhere.nml", ""}), "nowhere.nml");
}

TEST_CASE("toml") {
  const std::string table = file_with("a.toml",
                                      "[other]\nx = 1\n[shoal]\nstage_bytes = 1048576\nfill = false\nformat "
                                      "= \"cdf2\"\nwait_seconds = 2.5\n");
  const Settings s = resolve_settings("", {"", table});
  CHECK(s.bytes("stage_bytes") == 1048576);
  CHECK(s.text("fill") == "false");
  CHECK(s.text("format") == "cdf2");
  CHECK(s.seconds("wait_seconds") == 2.5);
  CHECK(s.origin("format") == table);
  const std::string top = file_with("b.toml", "writers = 2\n");
  CHECK(resolve_settings("", {"", top}).count("writers") == 2);
  const std::string namelist = file_with("c.nml", "&shoal writers = 3 /");
  CHECK(resolve_settings("", {namelist, top}).count("writers") == 3);
  says(error_of("", {"", file_with("d.toml", "writers = \n")}), "line 1");
  says(error_of("", {"", file_with("e.toml", "writer = 2\n")}), "did you mean 'writers'");
  says(error_of("", {"", file_with("f.toml", "writers = [2]\n")}), "neither text nor a number");
}

TEST_CASE("toml: letters that are not ASCII are in text, names in quotes and comments alone") {
  const std::string path = file_with("g.toml",
                                     "\xef\xbb\xbf# Lä\"ufe\n"
                                     "[\"Schären\"]\n"
                                     "'ö' = '''a''b\nü'''''\n"
                                     "\"\\\"é\" = \"\"\"ä\\\"\"\"\"\"\n"
                                     "[shoal]\n"
                                     "report = \"Läufe.json\"\n"
                                     "reference = 'é.json' # ü\n");
  const Settings s = resolve_settings("", {"", path});
  CHECK(s.text("report") == "Läufe.json");
  CHECK(s.text("reference") == "é.json");
  for (const std::string bad : {"\nwriterü = 2\n", "\nwriters = 2 ü\n", "\nwriters\u00a0= 2\n",
                                "x = '''\n''' \xff\n", "x = 'a'\n\"\"ü = 1", "\n[ü]\n"})
    for (const std::string words : {"h.toml", "line 2", "ASCII", "quotes"}) {
      CAPTURE(bad);
      says(error_of("", {"", file_with("h.toml", bad)}), words);
    }
}

TEST_CASE("all ranks use what rank 0 sees") {
  // Ranks see different environments: rank 0's counts.
  setenv("SHOAL_ALIGNMENT", std::to_string(512 * (1 + rank_of_world())).c_str(), 1);
  shoal_dataset* file = nullptr;
  REQUIRE(shoal_create(MPI_COMM_WORLD, "settings.nc", "fill=false", &file) == SHOAL_OK);
  const std::string text = shoal_settings(file);
  says(text, "alignment = 512 ");
  says(text, "# SHOAL_ALIGNMENT");
  says(text, "fill = false");
  says(text, "# argument");
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  unsetenv("SHOAL_ALIGNMENT");

  says(shoal_settings(nullptr), "alignment = 4KiB");
  const std::string path = file_with("g.nml", "&shoal writers = 5 /");
  CHECK(shoal_namelist(path.c_str()) == SHOAL_OK);
  says(shoal_settings(nullptr), "writers = 5");
  CHECK(shoal_namelist(nullptr) == SHOAL_OK);
  says(shoal_settings(nullptr), "writers = 0");

  // Only rank 0 has a bad variable: all ranks get the error.
  if (rank_of_world() == 0) setenv("SHOAL_STAGEBYTES", "1", 1);
  CHECK(shoal_create(MPI_COMM_WORLD, "settings.nc", nullptr, &file) == SHOAL_SETTING);
  says(shoal_error_message(), "SHOAL_STAGE_BYTES");
  unsetenv("SHOAL_STAGEBYTES");
  // What the drop-in for PIO reads is no concern of datasets.
  setenv("SHOAL_PIO_SYNC", "lazy", 1);
  CHECK(shoal_create(MPI_COMM_WORLD, "settings.nc", nullptr, &file) == SHOAL_OK);
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
  unsetenv("SHOAL_PIO_SYNC");
  CHECK(shoal_open(MPI_COMM_WORLD, "settings.nc", SHOAL_READ, "format=cdf1", &file) == SHOAL_SETTING);
  says(shoal_error_message(), "new files");
}

TEST_CASE("background=auto: threads where each rank has two cores") {
  const Comm comm(MPI_COMM_WORLD);
  // Of one rank alone the answer is known: MPI is started for threads in these tests.
  cpu_set_t cores;
  CPU_ZERO(&cores);
  REQUIRE(sched_getaffinity(0, sizeof cores, &cores) == 0);
  const Comm alone(MPI_COMM_SELF);
  CHECK(have_cores_for_threads(alone) == (CPU_COUNT(&cores) >= 2));
  const bool together = have_cores_for_threads(comm);
  CHECK(comm.max(std::int64_t{together}) != comm.max(std::int64_t{!together}));  // all of them agree
  if (Nodes(comm, 0).single() && comm.size() * 2 > static_cast<int>(std::thread::hardware_concurrency()))
    CHECK(!together);

  const auto background_of = [&](const std::string& settings, MPI_Comm ranks) {
    DatasetOptions options;
    options.settings = settings;
    options.sources = {"", ""};
    const auto file = Dataset::create(
        ranks, "auto" + std::to_string(ranks == MPI_COMM_SELF ? comm.rank() : -1) + ".nc", options);
    const std::string text = file->settings().text("background");
    CHECK(file->settings().origin("background") == "auto");
    file->close(false);
    return text;
  };
  CHECK(background_of("background=auto", MPI_COMM_WORLD) == (together ? "thread" : "off"));
  CHECK(background_of("background=auto, background_close=true, store_bytes_per_second=1GiB",
                      MPI_COMM_WORLD) == (together ? "thread" : "off"));
  CHECK(background_of("background=auto", MPI_COMM_SELF) == (CPU_COUNT(&cores) >= 2 ? "thread" : "off"));
  // Others have no threads, and this is no reason to refuse them.
  if (testing::in_this_build("driver=gather"))
    CHECK(background_of("background=auto, driver=gather", MPI_COMM_WORLD) == "off");
}

namespace {

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a settings file that nobody named: what it has written is below its folder, without links") {
  const std::string out = file_with("out.toml", "report = \"/tmp/elsewhere.json\"");
  says(error_of("", {"", out}), "not below the folder");
  says(error_of("", {"", out}), "SHOAL_REPORT");
  says(error_of("", {"", file_with("up.toml", "reference = \"a/../../r.json\"")}), "not below the folder");
  const std::string link = "link." + std::to_string(rank_of_world());
  std::filesystem::remove(link);
  std::filesystem::create_symlink("/etc", link);
  says(error_of("", {"", file_with("link.toml", "master = \"" + link + "/m.nc\"")}), "is a link");
  CHECK(error_of("", {"", file_with("good.toml", "report = \"r.json\"\nreference = \"auto\"")}) ==
        "no error");
  says(error_of("", {"", file_with("hints.toml", "hints = \"nc_burst_buf_dirname=/home\"")}), "has a path");
  CHECK(error_of("", {"", file_with("hints.toml", "hints = \"cb_nodes=2\"")}) == "no error");
  says(error_of("", {"", file_with("files.toml", "external_files = \"allow\"")}), "files elsewhere");
  CHECK(error_of("", {"", file_with("files.toml", "external_files = \"refuse\"")}) == "no error");
  CHECK(error_of("", {"", file_with("stderr.toml", "report = \"-\"")}) == "no error");
  // Of other sources it lies where they say, of a file that was named, too.
  CHECK(resolve_settings("report=/tmp/elsewhere.json", {"", ""}).below("report").empty());
  const std::string namelist = file_with("out.nml", "&shoal report = '/tmp/elsewhere.json' /");
  CHECK(resolve_settings("", {namelist, ""}).text("report") == "/tmp/elsewhere.json");
  const Variable named("SHOAL_SETTINGS", out.c_str());
  CHECK(resolve_settings("", {"", "none.toml"}).text("report") == "/tmp/elsewhere.json");
  CHECK(resolve_settings("", {"", "none.toml"}).origin("report") == out);
  const Variable gone("SHOAL_SETTINGS", "gone.toml");
  says(error_of("", {"", "none.toml"}), "gone.toml: it cannot be read");
  const Variable empty("SHOAL_SETTINGS", "");
  CHECK(resolve_settings("", {"", "none.toml"}).is_default("report"));
}

TEST_CASE("a settings file that is not trusted is not used, and this is said") {
  const std::string path = file_with("all.toml", "writers = 7");
  REQUIRE(::chmod(path.c_str(), 0666) == 0);
  const Settings settings = resolve_settings("", {"", path});
  CHECK(settings.is_default("writers"));
  REQUIRE(settings.warnings().size() == 1);
  says(settings.warnings()[0], path + " is not used: every user may write to it");
  says(settings.warnings()[0], "SHOAL_SETTINGS=" + path);
  says(settings.listing(), "# warning: " + path);
  const Variable named("SHOAL_SETTINGS", path.c_str());
  CHECK(resolve_settings("", {"", path}).count("writers") == 7);
}

TEST_CASE("who opens a file to read has nothing written for a settings file") {
  const Comm comm(MPI_COMM_WORLD);
  DatasetOptions options;
  options.sources = {"", "reports.toml"};
  comm.on_root([&] {
    std::ofstream("reports.toml") << "report = \"reports.json\"";
    std::filesystem::remove("reports.json");
    std::filesystem::remove("reports.txt");
  });
  Dataset::create(MPI_COMM_WORLD, "reports.nc", options)->close(false);
  const std::string one = text_in("reports.json");
  says(one, "reports.nc");
  const auto read = Dataset::open(MPI_COMM_WORLD, "reports.nc", false, options);
  CHECK(read->settings().text("report").empty());
  REQUIRE(read->settings().warnings().size() == 1);
  says(read->settings().warnings()[0], "SHOAL_REPORT");
  read->close(false);
  comm.barrier();
  CHECK(text_in("reports.json") == one);
  // A link that comes to the place of the report meanwhile is not followed.
  const auto second = Dataset::open(MPI_COMM_WORLD, "reports.nc", true, options);
  comm.on_root([&] {
    std::filesystem::remove("reports.json");
    std::filesystem::remove("victim");
    std::filesystem::create_symlink("victim", "reports.json");
  });
  CHECK_THROWS_AS(second->close(false), Error);
  CHECK(!std::filesystem::exists("victim"));
  comm.barrier();
  comm.on_root([] { std::filesystem::remove("reports.json"); });
}
