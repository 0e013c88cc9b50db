// A file with the rest of a commit behind it, which a killed job left undone: no driver lists it as finished
// and reads it as it lies.
#include <fstream>
#include <iterator>

#include "base/hash.hpp"
#include "conformance/support.hpp"
#include "storage/journal_format.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

const std::string k_path = "unfinished.nc";
constexpr std::int64_t k_x = 5;

double value(std::int64_t record, std::int64_t cell) {
  return static_cast<double>(1 + 10 * record + cell);
}

void put_record(shoal_dataset* file, std::int64_t record, std::mt19937& random) {
  TestArray one(SHOAL_DOUBLE, {1, k_x}, random);
  for_cells(Box::whole({1, k_x}),
            [&](const Dims& i) { one.set(i, world_rank() == 0 ? value(record, i[1]) : -7); });
  ok(shoal_put(file, "v", one.c(), SHOAL_RECORDS(record, 1)));
}

std::string content() {
  std::ifstream in(k_path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What a job leaves that is killed once its journal is down: the new record lies where nobody looks yet.
std::string killed_between(const std::string& before, const std::string& after) {
  std::string file = before;
  if (file.size() < after.size()) file += after.substr(before.size());
  std::string journal;
  JournalTrailer trailer;
  const auto change = [&](std::uint64_t offset, std::uint64_t n) {
    const std::uint64_t where[2] = {offset, n};
    journal.append(reinterpret_cast<const char*>(where), sizeof where);
    journal += file.substr(offset, n) + after.substr(offset, n);
    ++trailer.count;
  };
  change(0, k_journal_start);
  for (std::size_t at = k_journal_start; at < after.size(); ++at)
    if (file[at] != after[at]) change(at, 1);
  Hash hash;
  hash.add(reinterpret_cast<const std::byte*>(journal.data()), journal.size());
  trailer.file_size = after.size();
  trailer.begin = journal_begin(after.size());
  trailer.bytes = journal.size();
  trailer.checksum = hash.value();
  trailer.own_checksum = trailer.sum();
  file.resize(trailer.begin);
  return file + journal + std::string(reinterpret_cast<const char*>(&trailer), sizeof trailer);
}

/// A file of one record with the journal of a second one.
void leave_unfinished(const std::string& format, std::mt19937& random) {
  shoal_dataset* file = nullptr;
  const std::string settings = "driver=native, format=" + format;
  ok(shoal_create(MPI_COMM_WORLD, k_path.c_str(), settings.c_str(), &file));
  def_dim(file, "time", SHOAL_UNLIMITED);
  def_dim(file, "x", k_x);
  ok(shoal_def_var(file, "v", SHOAL_DOUBLE, "time x", nullptr));
  put_record(file, 0, random);
  ok(shoal_close(&file, 0));
  const std::string before = content();
  MPI_Barrier(MPI_COMM_WORLD);
  ok(shoal_open(MPI_COMM_WORLD, k_path.c_str(), SHOAL_WRITE, "driver=native", &file));
  put_record(file, 1, random);
  ok(shoal_close(&file, 0));
  const std::string after = content();
  REQUIRE(after.size() >= before.size());
  REQUIRE(before != after);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) {
    const std::string killed = killed_between(before, after);
    std::ofstream(k_path, std::ios::binary | std::ios::trunc) << killed;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void check_records(int mode, std::mt19937& random) {
  shoal_dataset* file = nullptr;
  ok(shoal_open(MPI_COMM_WORLD, k_path.c_str(), mode, nullptr, &file));
  std::int64_t count = 0;
  ok(shoal_num_records(file, nullptr, &count));
  REQUIRE(count == 2);
  TestArray got(SHOAL_DOUBLE, {2, k_x}, random);
  ok(shoal_get(file, "v", got.c(), SHOAL_RECORDS(0, 2)));
  for_cells(Box::whole({2, k_x}), [&](const Dims& i) { CHECK(got.get(i) == value(i[0], i[1])); });
  ok(shoal_close(&file, 0));
}

}  // namespace

TEST_CASE("a commit that a killed job left undone is read as done, or refused") {
  if (!in_one_file()) return;
  std::mt19937 random(3);
  for (const auto& format : formats()) {
    if (format == "ascii") continue;  // text grows cell by cell
    CAPTURE(format);
    leave_unfinished(format, random);
    if (is_native()) {
      check_records(SHOAL_READ, random);
    } else {
      shoal_dataset* file = nullptr;
      const int code = shoal_open(MPI_COMM_WORLD, k_path.c_str(), SHOAL_READ, nullptr, &file);
      fails(code, SHOAL_STATE, {k_path, "shoal recover " + k_path, "driver native"});
      alike(code);
    }
    check_records(SHOAL_WRITE, random);
    check_records(SHOAL_READ, random);
  }
}
