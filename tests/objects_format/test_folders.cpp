// Folders that a new dataset takes the place of: behind links, and such as hold no dataset.
#include <filesystem>
#include <fstream>

#include "conformance/support.hpp"

using namespace shoal;
using namespace shoal::testing;
namespace fs = std::filesystem;

namespace {

/// Does the work on rank 0, between barriers.
template <class Work>
void on_first_rank(Work&& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) work();
  MPI_Barrier(MPI_COMM_WORLD);
}

int make(const std::string& path, const std::string& format, const std::string& more, int value) {
  shoal_dataset* file = nullptr;
  const int code = shoal_create(MPI_COMM_WORLD, path.c_str(), ("format=" + format + more).c_str(), &file);
  if (code != SHOAL_OK) return code;
  ok(shoal_def_var(file, "v", SHOAL_INT, "", nullptr));
  const shoal_array one = scalar(value, SHOAL_INT);
  ok(shoal_put(file, "v", &one, nullptr));
  return shoal_close(&file, 0);
}

int value_in(const std::string& path) {
  shoal_dataset* file = nullptr;
  ok(shoal_open(MPI_COMM_WORLD, path.c_str(), SHOAL_READ, nullptr, &file));
  int value = 0;
  const shoal_array one = scalar(value, SHOAL_INT);
  ok(shoal_get(file, "v", &one, nullptr));
  ok(shoal_close(&file, 0));
  return value;
}

}  // namespace

TEST_CASE("objects: what a link leads to is replaced at once, and the link stays") {
  if (skipped(has_format("objects"), "the format of many objects is not under test")) return;
  for (const std::string before : {"objects", "cdf5"})
    for (const std::string after : {"objects", "cdf5"}) {
      CAPTURE(before);
      CAPTURE(after);
      on_first_rank([] {
        fs::remove_all("target");
        fs::remove_all("link");
      });
      ok(make("target", before, "", 1));
      on_first_rank([] { fs::create_symlink("target", "link"); });
      ok(make("link", after, ", replace=at_once", 2));
      CHECK(fs::is_symlink("link"));
      CHECK(fs::is_directory("target") == (after == "objects"));
      CHECK(value_in("link") == 2);
      CHECK(value_in("target") == 2);
    }
}

TEST_CASE("objects: a folder whose header is of no format is not replaced") {
  if (skipped(has_format("objects"), "the format of many objects is not under test")) return;
  const auto put_header = [](const char* text) {
    on_first_rank([&] {
      fs::remove_all("mine");
      fs::create_directory("mine");
      std::ofstream("mine/header") << text;
      std::ofstream("mine/other") << "notes";
    });
  };
  for (const std::string more : {"", ", replace=at_once"}) {
    CAPTURE(more);
    put_header("notes of somebody");
    const int code = make("mine", "objects", more, 3);
    fails(code, SHOAL_EXISTS, {"mine", "holds no dataset"});
    alike(code);
    CHECK(fs::exists("mine/other"));
    // One that was never committed.
    put_header("");
    ok(make("mine", "objects", more, 4));
    CHECK(value_in("mine") == 4);
    CHECK_FALSE(fs::exists("mine/other"));
  }
}
