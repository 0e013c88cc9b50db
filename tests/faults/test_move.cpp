// Data of a classic file that move to a new one, and what fails meanwhile.
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "faults/support.hpp"

using namespace shoal;
using namespace shoal::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t k_cells = 400000;  // a record of three megabytes: each rank has a part to copy
const char* const k_folder = "move";

std::string path() {
  return (fs::absolute(k_folder) / "x.nc").string();
}

void make_folder() {
  if (world_rank() == 0) {
    fs::remove_all(k_folder);
    fs::create_directories(k_folder);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void make_old(Line& line) {
  make_folder();
  DatasetOptions options;
  options.settings = "header_reserve=0, alignment=4";
  auto file = Dataset::create(MPI_COMM_WORLD, path(), options);
  line.define(*file);
  for (std::int64_t record = 0; record < 2; ++record)
    file->write(line.call(record));
  file->close(false);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Of files that lie beside another, on one rank.
DatasetOptions with_fault_beside(const std::string& settings, int rank, const Fault& fault) {
  DatasetOptions options;
  options.settings = settings;
  if (world_rank() == rank)
    options.open_store = [faulty = with_fault(open_posix_store, fault)](const std::string& file,
                                                                        StoreMode mode) {
      return file.ends_with(".tmp") ? faulty(file, mode) : open_posix_store(file, mode);
    };
  return options;
}

std::vector<std::string> drivers() {
  std::vector<std::string> all{"driver=native", "driver=mpiio"};
#ifdef SHOAL_HAVE_PNETCDF
  all.emplace_back("driver=pnetcdf");
#endif
#ifdef SHOAL_HAVE_NETCDF
  all.emplace_back("driver=gather");
#endif
  return all;
}

ino_t inode() {
  struct stat status {};
  return ::stat(path().c_str(), &status) == 0 ? status.st_ino : 0;
}

std::int64_t files_there() {
  std::int64_t n = 0;
  for (const auto& entry : fs::directory_iterator(k_folder))
    n += entry.path().filename().string().ends_with(".lock") ? 0 : 1;
  return n;
}

void put_text(Dataset& file) {
  const std::string text(3000, 'x');
  file.put_att(nullptr, "long", Type::char_, static_cast<std::int64_t>(text.size()), text.data());
}

void write(Dataset& file, Line& line, std::int64_t record) {
  DataCall call = line.call(record);
  call.decomposition = line.cut;
  file.write(call);
}

void define_more(Dataset& file) {
  put_text(file);
  file.def_var("late", Type::double_, "time x", nullptr);
}

}  // namespace

TEST_CASE(
    "data that move: a fault on one rank is an error on all, and the old file stays and can be written") {
  Line line(k_cells);
  for (const auto& driver : drivers())
    for (const std::string operation : {"open", "write", "sync", "close"})
      for (const int rank : {0, world_size() - 1}) {
        CAPTURE(driver);
        CAPTURE(operation);
        CAPTURE(rank);
        make_old(line);
        const ino_t before = inode();
        auto file = Dataset::open(MPI_COMM_WORLD, path(), true,
                                  with_fault_beside(driver, rank, {operation, 0, 1, 28}));
        const Outcome failed = outcome_of([&] {
          define_more(*file);
          file->end_define();
        });
        all_got(failed, Code::no_space, {path()});
        CHECK(failed.message.find(".tmp") == std::string::npos);
        CHECK(inode() == before);
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank() == 0) CHECK(files_there() == 1);
        MPI_Barrier(MPI_COMM_WORLD);
        all_ok(outcome_of([&] {
          write(*file, line, 2);
          line.check(*file, 1);
          define_more(*file);  // the fault is over
          file->end_define();
          write(*file, line, 3);
          line.check(*file, 2);
          file->close(false);
        }));
        CHECK(inode() != before);
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank() == 0) CHECK(files_there() == 1);
        check_records(line, path(), 4);
      }
}

TEST_CASE("data that move: the lock goes with them, and readers keep the file that they have open") {
  Line line(k_cells);
  for (const auto& driver : drivers()) {
    CAPTURE(driver);
    make_old(line);
    const auto reader = Dataset::open(MPI_COMM_WORLD, path(), false, {});
    DatasetOptions options;
    options.settings = driver;
    auto file = Dataset::open(MPI_COMM_WORLD, path(), true, options);
    all_ok(outcome_of([&] {
      define_more(*file);
      file->end_define();
    }));
    all_got(outcome_of([&] { Dataset::open(MPI_COMM_WORLD, path(), true, {}); }), Code::state,
            {path(), "open for writing already"});
    all_ok(outcome_of([&] {
      line.check(*reader, 1);
      reader->close(false);
      file->close(false);
      Dataset::open(MPI_COMM_WORLD, path(), true, {})->close(false);
    }));
  }
}

TEST_CASE("data that move: without room for both files nothing is changed") {
  const SmallFolder small("move_small");
  if (!small.is_there()) return;
  Line line(40000);
  DatasetOptions options;
  options.settings = "header_reserve=0, alignment=4";
  auto file = Dataset::create(MPI_COMM_WORLD, small.file(), options);
  line.define(*file);
  for (std::int64_t record = 0; record < 2; ++record)
    file->write(line.call(record));
  file->close(false);
  MPI_Barrier(MPI_COMM_WORLD);
  file = Dataset::open(MPI_COMM_WORLD, small.file(), true, {});
  all_got(outcome_of([&] {
            put_text(*file);
            file->end_define();
          }),
          Code::no_space, {small.file(), "to a new file", "are free"});
  small.grow();
  all_ok(outcome_of([&] {
    put_text(*file);
    file->end_define();
    file->close(false);
  }));
  check_records(line, small.file(), 2);
}

TEST_CASE(
    "data that move before the first commit: the name stays locked, and what somebody made of it stays") {
  Line line(k_cells);
  for (const bool is_taken : {false, true})
    for (const auto& driver : drivers()) {
      CAPTURE(driver);
      CAPTURE(is_taken);
      make_old(line);
      MPI_Barrier(MPI_COMM_WORLD);
      if (world_rank() == 0) fs::remove(path());
      MPI_Barrier(MPI_COMM_WORLD);
      DatasetOptions options;
      options.settings = driver + ", header_reserve=0, alignment=4";
      auto file = Dataset::create(MPI_COMM_WORLD, path(), options);
      line.define(*file);
      all_ok(outcome_of([&] { write(*file, line, 0); }));
      if (world_rank() == 0 && is_taken) std::ofstream(path()) << "somebody's";
      MPI_Barrier(MPI_COMM_WORLD);
      all_ok(outcome_of([&] {
        define_more(*file);
        file->end_define();
        write(*file, line, 1);
      }));
      if (is_taken) {
        all_got(outcome_of([&] { file->close(false); }), Code::exists, {path(), "the new file is whole"});
        if (world_rank() == 0) CHECK(fs::file_size(path()) == 10);
        continue;
      }
      all_got(outcome_of([&] { Dataset::create(MPI_COMM_WORLD, path(), {}); }), Code::state,
              {path(), "open for writing already"});
      all_ok(outcome_of([&] { file->close(false); }));
      MPI_Barrier(MPI_COMM_WORLD);
      if (world_rank() == 0) CHECK(files_there() == 1);
      check_records(line, path(), 2);
    }
}

TEST_CASE("data that move: the driver that had the old file writes nothing to the new one") {
  const auto cells = [](Dataset& file, const char* variable) {
    std::array<std::int8_t, 3> values{1, 2, 3};
    DataCall call;
    call.variable = variable;
    call.section.record = 0;
    call.array.cells = ArrayView::contiguous(values.data(), Type::byte_, Dims{3});
    file.put(call);
  };
  for (const auto& driver : drivers()) {
    CAPTURE(driver);
    Line line(8);
    make_old(line);  // (an empty folder)
    DatasetOptions options;
    options.settings = "header_reserve=10MiB";
    all_ok(outcome_of([&] {
      auto file = Dataset::create(MPI_COMM_WORLD, path(), options);
      file->def_dim("time", 0);
      file->def_dim("x", 3);
      for (const char* name : {"a", "b"}) {
        file->def_var(name, Type::byte_, "time x", nullptr);
        cells(*file, name);
      }
      file->close(false);
      options.settings = driver;
      file = Dataset::open(MPI_COMM_WORLD, path(), true, options);
      file->def_var("c", Type::byte_, "time x", nullptr);
      cells(*file, "c");
      file->close(false);
    }));
    CHECK(fs::file_size(path()) < (1U << 20U));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_CASE("data that move: not with several nodes on file systems whose clients cache names") {
  if (world_size() < 2) return;
  Line line(k_cells);
  for (const auto& driver : drivers()) {
    if (driver == "driver=gather") continue;  // one rank writes
    CAPTURE(driver);
    make_old(line);
    DatasetOptions options;
    options.settings = driver + ", quiet=true, ranks_per_node=1";
    options.find_file_system = [](const std::string&) { return file_system_named("fuse"); };
    auto file = Dataset::open(MPI_COMM_WORLD, path(), true, options);
    all_got(outcome_of([&] {
              define_more(*file);
              file->end_define();
            }),
            Code::not_supported, {path(), "see new names late"});
    all_ok(outcome_of([&] {
      write(*file, line, 2);
      file->close(false);
    }));
    check_records(line, path(), 3);
  }
}

namespace {

// Bytes that this process shares with others, in large pieces.
std::int64_t bytes_shared() {
  std::int64_t sum = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string text; std::getline(maps, text);) {
    unsigned long begin = 0, end = 0;
    std::array<char, 8> how{};
    if (std::sscanf(text.c_str(), "%lx-%lx %7s", &begin, &end, how.data()) == 3 && how[3] == 's' &&
        end - begin >= (1U << 20U))
      sum += static_cast<std::int64_t>(end - begin);
  }
  return sum;
}

}  // namespace

TEST_CASE("data that move: there is one stage, before and after") {
  Line line(k_cells);
  make_old(line);
  auto file = Dataset::open(MPI_COMM_WORLD, path(), true, {});
  all_ok(outcome_of([&] {
    write(*file, line, 2);
    file->sync(false);
  }));
  const std::int64_t before = bytes_shared();
  all_ok(outcome_of([&] {
    define_more(*file);
    file->end_define();
    write(*file, line, 3);
  }));
  CHECK(bytes_shared() <= before);
  all_ok(outcome_of([&] { file->close(false); }));
  check_records(line, path(), 4);
}

// Each file of a set has its own data to move.
TEST_CASE("data that move: where it fails for one file of a set, no file has the definitions") {
  Line line(k_cells);
  for (const auto& driver : drivers())
    for (const std::string operation : {"open", "sync"})
      for (const int rank : {0, world_size() - 1}) {
        CAPTURE(driver);
        CAPTURE(operation);
        CAPTURE(rank);
        make_folder();
        bool fails = false;
        DatasetOptions options;
        options.settings = driver + ", layout=process, header_reserve=0, alignment=4";
        if (world_rank() == rank)
          options.open_store = [&fails, faulty = with_fault(open_posix_store, {operation, 0, 1, 28})](
                                   const std::string& name, StoreMode mode) {
            return fails ? faulty(name, mode) : open_posix_store(name, mode);
          };
        auto file = Dataset::create(MPI_COMM_WORLD, path(), options);
        line.define(*file);
        write(*file, line, 0);
        file->sync(false);
        fails = true;
        all_got(outcome_of([&] {
                  define_more(*file);
                  file->rename_var("v", "a_longer_name");
                  file->end_define();
                }),
                Code::no_space, {path() + ".000" + std::to_string(rank)});
        fails = false;
        all_ok(outcome_of([&] {
          write(*file, line, 1);
          file->sync(false);
        }));
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank() == 0) CHECK(files_there() == world_size());
        check_records(line, path(), 2);
        all_ok(outcome_of([&] {
          define_more(*file);
          file->end_define();
          write(*file, line, 2);
          file->close(false);
        }));
        check_records(line, path(), 3);
      }
}
