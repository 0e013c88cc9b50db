// Bytes that had no room are an error with every driver, also where its library says nothing of them.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "conformance/support.hpp"
#include "driver/library/free_space_guard.hpp"
#include "driver/registry.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr std::int64_t k_cells = 1 << 20;

/// A stand-in for a device with room for so many bytes of a file.
class SmallDevice {
 public:
  explicit SmallDevice(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    rlimit small = before_;
    small.rlim_cur = bytes;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  }
  ~SmallDevice() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  SmallDevice(const SmallDevice&) = delete;
  SmallDevice& operator=(const SmallDevice&) = delete;

 private:
  rlimit before_{};
};

/// The first error of a program that writes a field of 4 MiB, alone.
int write_field(const std::string& path, const std::string& settings) {
  shoal_dataset* file = nullptr;
  ok(shoal_create(MPI_COMM_SELF, path.c_str(), settings.c_str(), &file));
  def_dim(file, "x", k_cells);
  const Cut cut(MPI_COMM_SELF, {k_cells}, Box::whole({k_cells}), {0}, {0});
  ok(shoal_def_var(file, "field", SHOAL_FLOAT, "x", cut.handle()));
  TestArray field(SHOAL_FLOAT, {k_cells});
  int first = shoal_write(file, "field", cut.handle(), field.c(), nullptr);
  const int closed = shoal_close(&file, 0);
  return first != SHOAL_OK ? first : closed;
}

Schema schema_of(std::int64_t cells) {
  Schema schema;
  schema.dims = {{"x", cells, false}};
  VariableDef field;
  field.name = "field";
  field.type = Type::double_;
  field.dims = {0};
  schema.variables = {field};
  return schema;
}

}  // namespace

TEST_CASE("a field that has no room is an error with every driver") {
  const std::string path = "full_device_" + std::to_string(world_rank()) + ".data";
  for (const auto& kind : registered_drivers()) {
    if (kind.make == nullptr) continue;
    for (const auto& format : formats_of(kind)) {
      auto accesses = words(kind.accesses);
      if (accesses.empty()) accesses.emplace_back();
      for (const auto& access : accesses) {
        const std::string settings = std::string("driver=") + kind.name + ", format=" + format +
                                     (access.empty() ? "" : ", access=" + access);
        CAPTURE(settings);
        int code = SHOAL_OK;
        {
          const SmallDevice device(1 << 20);
          code = write_field(path, settings);
        }
        CHECK(code != SHOAL_OK);
        std::filesystem::remove(path);
        std::filesystem::remove(path + ".json");
      }
    }
  }
}

TEST_CASE("a device is asked for room before and after") {
  const std::string path = "free_space_guard_" + std::to_string(world_rank()) + ".data";
  std::FILE* file = std::fopen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  const std::vector<char> bytes(1 << 16, 'x');
  REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
  std::fclose(file);
  Placement place;
  place.chunk = {1 << 13};
  const auto code_of = [](const auto& work) { return caught(work).code; };

  FreeSpaceGuard room(path);
  CHECK(code_of([&] { room.expect(schema_of(1 << 13), 1 << 16, 0); }) == Code::ok);
  CHECK(code_of([&] { room.check_stored(schema_of(1 << 13), {place}); }) == Code::ok);
  // More than any device has.
  const std::int64_t huge = std::int64_t{1} << 58;
  CHECK(code_of([&] { FreeSpaceGuard(path).expect(schema_of(huge), 8, 0); }) == Code::no_space);
  CHECK(code_of([&] { FreeSpaceGuard(path).expect(schema_of(1), 8, 8 * huge - 8); }) == Code::no_space);
  // A file whose end is missing, and one that ends where it should and is full of holes.
  place.begin = 8;
  CHECK(code_of([&] { room.check_stored(schema_of(1 << 13), {place}); }) == Code::no_space);
  place.begin = 0;
  Schema holes = schema_of(huge);
  CHECK(code_of([&] { room.check_stored(holes, {}); }) == Code::no_space);
  holes.variables[0].no_fill = true;
  CHECK(code_of([&] { room.check_stored(holes, {}); }) == Code::ok);
  // Who cannot be asked does not object.
  CHECK(code_of([&] { FreeSpaceGuard("none/" + path).expect(holes, 8, 0); }) == Code::ok);
  ::unlink(path.c_str());
}
