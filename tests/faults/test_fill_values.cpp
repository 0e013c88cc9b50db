// SPDX-License-Identifier: BSD-3-Clause
// Disks that are full when fill values are to be stored, and have room later: cells that nobody writes hold
// the fill value then, and what was written stays.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "codec/convert.hpp"
#include "faults/support.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

constexpr const char* k_path = "fill_values.nc";
constexpr std::int64_t k_cells = 60;
constexpr double k_fill = -5.0;

/// Stores in which writes fail on some ranks while these say so: all, or those of fill values.
class Disk {
 public:
  Disk() {
    options.open_store = [full = full_](const std::string& path, StoreMode mode) {
      return std::make_unique<FullStore>(open_posix_store(path, mode), full);
    };
  }
  void refuse_fill_values(bool on_this_rank) { full_->fill_values = on_this_rank; }
  void refuse_all() { full_->all = true; }
  void make_room() { *full_ = {}; }

  DatasetOptions options;

 private:
  struct Full {
    bool fill_values = false, all = false;
  };
  class FullStore final : public Store {
   public:
    FullStore(std::unique_ptr<Store> inner, std::shared_ptr<Full> full)
        : inner_(std::move(inner)), full_(std::move(full)) {}
    const std::string& path() const override { return inner_->path(); }
    void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
      if (full_->all || (full_->fill_values && begins_with_fill(bytes)))
        throw errno_error(ENOSPC, "a full disk").in_file(path());
      inner_->write(offset, bytes);
    }
    std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
      return inner_->read(offset, bytes);
    }
    std::uint64_t size() override { return inner_->size(); }
    void resize(std::uint64_t size) override { inner_->resize(size); }
    void sync() override { inner_->sync(); }
    void close() override { inner_->close(); }

   private:
    static bool begins_with_fill(std::span<const std::byte> bytes) {
      double value = 0;
      if (bytes.size() < sizeof value) return false;
      std::memcpy(&value, bytes.data(), sizeof value);
      if (value == k_fill) return true;
      swap_bytes(reinterpret_cast<std::byte*>(&value), sizeof value, 1);
      return value == k_fill;
    }
    std::unique_ptr<Store> inner_;
    std::shared_ptr<Full> full_;
  };
  std::shared_ptr<Full> full_ = std::make_shared<Full>();
};

std::unique_ptr<Dataset> new_file(const std::string& format, Disk& disk) {
  disk.options.settings = "format=" + format;
  auto file = Dataset::create(MPI_COMM_WORLD, k_path, disk.options);
  file->def_dim("time", 0);
  file->def_dim("x", k_cells);
  return file;
}

void def_var(Dataset& file, const std::string& name, const char* dims,
             const std::shared_ptr<const Decomposition>& cut = nullptr) {
  file.def_var(name, Type::double_, dims, cut);
  file.put_att(name.c_str(), "_FillValue", Type::double_, 1, &k_fill);
}

/// A box of one record of a variable, or of a fixed one, with values that say which cell it is.
struct Cells {
  Cells(Dataset& file, const std::string& name, std::int64_t record, std::int64_t first, std::int64_t n)
      : values(static_cast<std::size_t>(n)) {
    for (std::int64_t i = 0; i < n; ++i)
      values[static_cast<std::size_t>(i)] = static_cast<double>(1000 * record + first + i);
    for (box.variable = 0; file.schema().variable(box.variable).name != name;)
      ++box.variable;
    const bool has_record = file.schema().has_record(box.variable);
    box.start = has_record ? Dims{record, first} : Dims{first};
    box.count = has_record ? Dims{1, n} : Dims{n};
    box.stride = Dims(box.start.size(), 1);
    box.array.cells = ArrayView::contiguous(values.data(), Type::double_, box.count);
  }
  std::vector<double> values;
  BoxArgument box;
};

void write_alone(Dataset& file, const std::string& name, std::int64_t record, std::int64_t first,
                 std::int64_t n) {
  Cells cells(file, name, record, first, n);
  file.write_independent({cells.box});
}

BoxesCall call_of(const BoxArgument& box) {
  return {1, [box](int) { return box; }, {}};
}

/// Each rank brings a part of the cells.
void write_together(Dataset& file, const std::string& name, std::int64_t record, std::int64_t first,
                    std::int64_t n) {
  const std::int64_t from = n * world_rank() / world_size(), to = n * (world_rank() + 1) / world_size();
  Cells cells(file, name, record, first + from, to - from);
  file.write_boxes(call_of(cells.box));
}

/// Cells first to end of the record are written, all others hold the fill value.
void check(Dataset& file, const std::string& name, std::int64_t record, std::int64_t first,
           std::int64_t end) {
  Cells cells(file, name, record, 0, k_cells);
  std::vector<double> expected = cells.values;
  for (std::int64_t i = 0; i < k_cells; ++i)
    if (i < first || i >= end) expected[static_cast<std::size_t>(i)] = k_fill;
  std::fill(cells.values.begin(), cells.values.end(), 0.0);
  file.read_independent({cells.box});
  CAPTURE(name);
  CAPTURE(record);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(cells.values[i] == expected[i]);
  }
}

void check_closed(const std::function<void(Dataset&)>& check_in) {
  const auto file = Dataset::open(MPI_COMM_WORLD, k_path, false, {});
  check_in(*file);
  file->close(false);
}

}  // namespace

TEST_CASE("fill values: new variables that could not be filled when they were defined") {
  if (!is_native()) return;
  const int last = world_size() - 1;
  for (const std::string format : {"cdf5", "netcdf4"})
    for (const int rank : {0, last})
      for (const int alone : {0, 1, 2}) {  // nobody; before the sync that fails; after it
        CAPTURE(format);
        CAPTURE(rank);
        CAPTURE(alone);
        // Where there are records, a classic file is written anew for another variable that has them.
        const std::int64_t records = format == "cdf5" ? 0 : 3;
        Disk disk;
        const auto file = new_file(format, disk);
        def_var(*file, "v", "time x");
        file->end_define();
        for (std::int64_t record = 0; record < records; ++record)
          write_together(*file, "v", record, 0, k_cells);
        file->sync(false);
        disk.refuse_fill_values(world_rank() == rank);
        std::vector<std::string> names;
        if (records > 0) names.emplace_back("w");
        for (int i = 0; i < world_size(); ++i)  // each rank has some to fill
          names.push_back("f" + std::to_string(i));
        for (const auto& name : names) {
          def_var(*file, name, name == "w" ? "time x" : "x");
          file->def_independent(name);
        }
        all_ok(outcome_of([&] { file->end_define(); }));
        const auto write_some = [&] {
          for (const auto& name : names)
            if (world_rank() == last) write_alone(*file, name, name == "w" ? 1 : 0, 20, 5);
        };
        if (alone == 1) write_some();
        all_got(outcome_of([&] { file->sync(false); }), Code::no_space, {k_path});
        disk.make_room();
        if (alone == 2) write_some();
        all_ok(outcome_of([&] { file->sync(false); }));
        // What waited when it failed is lost; who hears of it writes again.
        const auto check_new = [&](Dataset& in) {
          for (const auto& name : names)
            for (std::int64_t record = 0; record < (name == "w" ? records : 1); ++record)
              check(in, name, record, 20, alone == 2 && record == (name == "w" ? 1 : 0) ? 25 : 20);
        };
        check_new(*file);
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank() == 0) write_alone(*file, names[0], 0, 0, k_cells);  // at once, as it is ready now
        MPI_Barrier(MPI_COMM_WORLD);
        check(*file, names[0], 0, 0, k_cells);
        file->close(false);
        check_closed([&](Dataset& in) {
          check(in, names[0], 0, 0, k_cells);
          names.erase(names.begin());
          check_new(in);
          for (std::int64_t record = 0; record < records; ++record)
            check(in, "v", record, 0, k_cells);
        });
      }
}

TEST_CASE("fill values: while they cannot be stored, no commit shows their cells as whole") {
  if (!is_native()) return;
  for (const std::string format : {"cdf5", "netcdf4"}) {
    CAPTURE(format);
    Disk disk;
    const auto file = new_file(format, disk);
    file->end_define();
    file->sync(false);
    disk.refuse_fill_values(world_rank() == 0);
    def_var(*file, "fixed", "x");
    file->def_independent("fixed");
    all_ok(outcome_of([&] { file->end_define(); }));
    for (int i = 0; i < 2; ++i)
      all_got(outcome_of([&] { file->sync(false); }), Code::no_space, {k_path, "fixed"});
    all_got(outcome_of([&] { file->close(false); }), Code::no_space, {k_path, "fixed"});
    check_closed([&](Dataset& in) { CHECK(in.schema().variables.empty()); });
  }
}

TEST_CASE("fill values: a field that leaves records of its chunk to others") {
  if (!is_native()) return;
  const std::int64_t chunks[] = {4, k_cells};
  Disk disk;
  const auto file = new_file("netcdf4", disk);
  def_var(*file, "v", "time x");
  def_var(*file, "w", "time x");
  file->def_chunks("w", chunks);
  file->end_define();
  for (std::int64_t record = 0; record < 4; ++record)
    write_together(*file, "v", record, 0, k_cells);
  file->sync(false);
  disk.refuse_fill_values(true);
  write_together(*file, "w", 1, 0, k_cells);
  all_got(outcome_of([&] { file->sync(false); }), Code::no_space, {k_path});
  disk.make_room();
  write_together(*file, "w", 1, 0, k_cells);
  all_ok(outcome_of([&] { file->sync(false); }));
  file->close(false);
  check_closed([&](Dataset& in) {
    for (std::int64_t record = 0; record < 4; ++record) {
      check(in, "v", record, 0, k_cells);
      check(in, "w", record, 0, record == 1 ? k_cells : 0);
    }
  });
}

TEST_CASE("fill values: nothing is left of records that were lost") {
  if (!is_native()) return;
  const std::int64_t chunks[] = {4, k_cells};
  for (const std::string format : {"cdf5", "netcdf4"}) {
    CAPTURE(format);
    Disk disk;
    const auto file = new_file(format, disk);
    def_var(*file, "v", "time x");
    if (format == "netcdf4") file->def_chunks("v", chunks);
    file->end_define();
    file->sync(false);
    for (std::int64_t record = 0; record < 2; ++record)
      write_together(*file, "v", record, 0, k_cells);
    Cells read(*file, "v", 0, 0, k_cells);
    file->read_boxes(call_of(read.box));  // they are stored
    disk.refuse_all();
    write_together(*file, "v", 2, 0, k_cells);
    all_got(outcome_of([&] { file->sync(false); }), Code::no_space, {k_path});
    disk.make_room();
    write_together(*file, "v", 0, 0, k_cells);
    write_together(*file, "v", 2, 0, k_cells);
    all_ok(outcome_of([&] { file->sync(false); }));
    file->close(false);
    check_closed([&](Dataset& in) {
      for (std::int64_t record = 0; record < 3; ++record)
        check(in, "v", record, 0, record == 1 ? 0 : k_cells);
    });
  }
}

TEST_CASE("fill values: a fixed field that nobody writes, of a classic file") {
  if (!is_native()) return;
  Disk disk;
  const auto file = new_file("cdf5", disk);
  const auto cut =
      Decomposition::block(Comm(MPI_COMM_WORLD), {k_cells},
                           world_rank() == 0 ? Box({0}, {k_cells}) : Box({0}, {0}), Dims{0}, Dims{0});
  def_var(*file, "v", "x", cut);
  def_var(*file, "w", "x", cut);
  file->end_define();
  disk.refuse_fill_values(world_rank() == 0);
  all_got(outcome_of([&] { file->sync(false); }), Code::no_space, {k_path, "'v'"});
  disk.make_room();
  write_together(*file, "w", 0, 0, k_cells);
  all_ok(outcome_of([&] { file->sync(false); }));
  file->close(false);
  check_closed([&](Dataset& in) {
    check(in, "v", 0, 0, 0);
    check(in, "w", 0, 0, k_cells);
  });
}

TEST_CASE("values that were put when the disk was full do not come out over what is written later") {
  if (!is_native()) return;
  for (const std::string format : {"cdf5", "netcdf4"})
    for (const bool alone : {false, true}) {
      CAPTURE(format);
      CAPTURE(alone);
      Disk disk;
      const auto file = new_file(format, disk);
      def_var(*file, "v", "x");
      file->end_define();
      file->sync(false);
      const std::vector<double> old(static_cast<std::size_t>(k_cells), 7.0);
      DataCall put;
      put.variable = "v";
      put.array.cells = ArrayView::contiguous(const_cast<double*>(old.data()), Type::double_, {k_cells});
      file->put(put);
      if (world_rank() == 0) disk.refuse_all();
      all_got(outcome_of([&] { file->sync(false); }), Code::no_space, {k_path});
      disk.make_room();
      if (!alone) write_together(*file, "v", 0, 0, k_cells);
      if (alone && world_rank() == world_size() - 1) write_alone(*file, "v", 0, 0, k_cells);
      all_ok(outcome_of([&] { file->sync(false); }));
      file->close(false);
      check_closed([&](Dataset& in) { check(in, "v", 0, 0, k_cells); });
    }
}
