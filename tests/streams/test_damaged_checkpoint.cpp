// Checkpoints that are damaged, or made by somebody else: an error that says so, or nothing has changed.
#include "streams/checkpoint.hpp"
#include "streams/checksum.hpp"
#include "support/seeds.hpp"
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

/// A run in two jobs, and a checkpoint between them in the middle of windows.
class Saved {
 public:
  Saved() {
    run_.configuration = "[[file]]\nname = \"" + folder_.file("day_%Y-%m-%d.nc") +
                         "\"\nevery = \"1 day\"\nnew_file = \"1 day\"\noperation = \"mean\"\n"
                         "fields = [\"zeta\", { field = \"rain\", operation = \"maximum\" }, \"total\"]\n"
                         "[[file]]\nname = \"" +
                         folder_.file("steps.nc") +
                         "\"\nevery = \"2 steps\"\noperation = \"instant\"\nfields = [\"total\"]\n"
                         "[[file]]\nname = \"" +
                         folder_.file("five.nc") +
                         "\"\nevery = \"5 steps\"\noperation = \"sum\"\nfields = [\"total\"]\n";
    run_.start = "2001-01-30";
    run_.steps = std::vector<double>(12, 21600.0);
    Run first = run_;
    first.end = 6;
    first.checkpoint = path();
    Toy(first).go();
    original_ = world().from_root([&] { return bytes_of(path()); });
    Toy(second()).go();
    expected_ = result();
  }
  std::string path() const { return folder_.file("saved.nc"); }
  const SharedFolder& folder() const { return folder_; }
  const Bytes& original() const { return original_; }
  Run second() const {
    Run out = run_;
    out.first = 6;
    out.resume = path();
    return out;
  }
  /// What becomes of the second job with these bytes as its checkpoint.
  Status outcome(const Bytes& bytes) const {
    world().on_root([&] {
      std::ofstream(path(), std::ios::binary | std::ios::trunc)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    });
    return caught([&] { Toy(second()).go(); });
  }
  /// Are the files of the second job as they were with the checkpoint that nobody changed?
  bool same() const { return result() == expected_; }

 private:
  static Bytes bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    Bytes out(text.size());
    std::memcpy(out.data(), text.data(), text.size());
    return out;
  }
  std::vector<double> result() const {
    std::vector<double> all;
    for (const char* variable : {"zeta", "rain", "total", "time_bounds"}) {
      const auto one = read_variable(folder_.file("day_2001-01-31.nc"), variable).values;
      all.insert(all.end(), one.begin(), one.end());
    }
    for (const char* name : {"steps.nc", "five.nc"}) {
      const auto one = read_variable(folder_.file(name), "total").values;
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  SharedFolder folder_;
  Run run_;
  Bytes original_;
  std::vector<double> expected_;
};

/// A checkpoint with other attributes, whose checksums are right.
class Forged {
 public:
  explicit Forged(const Saved& saved) : saved_(saved) {
    DatasetOptions options;
    options.sources = {"", ""};
    file_ = Dataset::open(MPI_COMM_WORLD, saved.path(), true, options);
  }
  void put(const char* variable, const std::string& name, std::int64_t number) {
    file_->put_att(variable, name, Type::int64, 1, &number);
    sum(variable);
  }
  void put(const char* variable, const std::string& name, const std::string& text) {
    file_->put_att(variable, name, Type::char_, static_cast<std::int64_t>(text.size()), text.data());
    sum(variable);
  }
  Status outcome() {
    file_->close(false);
    const Status status = caught([&] { Toy(saved_.second()).go(); });
    world().on_root([&] {
      std::ofstream(saved_.path(), std::ios::binary | std::ios::trunc)
          .write(reinterpret_cast<const char*>(saved_.original().data()),
                 static_cast<std::streamsize>(saved_.original().size()));
    });
    return status;
  }

 private:
  void sum(const char* variable) {
    const Schema& schema = file_->schema();
    const auto& attributes =
        variable == nullptr ? schema.attributes : schema.variable(schema.find_variable(variable)).attributes;
    const auto value = static_cast<std::int64_t>(checksum_of(attributes));
    file_->put_att(variable, k_checksum_name, Type::int64, 1, &value);
  }
  const Saved& saved_;
  std::unique_ptr<Dataset> file_;
};

void is_refused(const Status& status, const Saved& saved, const std::string& part) {
  CHECK(status.code == Code::format);
  CHECK(status.file == saved.path());
  CHECK_MESSAGE(status.message.find("the checkpoint is damaged: ") != std::string::npos, status.text());
  CHECK_MESSAGE(status.message.find(part) != std::string::npos, status.text());
  CHECK_MESSAGE(status.message.find("resume from an older checkpoint") != std::string::npos, status.text());
}

}  // namespace

TEST_CASE("damaged checkpoint: a window whose key has another name is found") {
  const Saved saved;
  Bytes bytes = saved.original();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t at = text.find(std::string("\3key\0", 5));
  REQUIRE(at != std::string::npos);
  bytes[at + 3] ^= std::byte{1};
  is_refused(saved.outcome(bytes), saved, "has another checksum");
}

TEST_CASE("damaged checkpoint: a bit that flipped is found, wherever it is") {
  const Saved saved;
  const char* many = std::getenv("TEST_FLIPS");
  const int flips = many != nullptr ? std::atoi(many) : 120;
  for (const Seed& seed : seeds(1, 1)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    for (int i = 0; i < flips; ++i) {
      Bytes bytes = saved.original();
      const std::size_t at = random() % bytes.size();
      const auto bit = static_cast<unsigned>(random() % 8);
      CAPTURE(at);
      CAPTURE(bit);
      bytes[at] ^= static_cast<std::byte>(1U << bit);
      const Status status = saved.outcome(bytes);
      if (status.ok()) {
        CHECK(saved.same());  // a byte between variables
        continue;
      }
      CHECK(status.code != Code::internal);
      CHECK_MESSAGE(status.file == saved.path(), status.text());
    }
  }
  CHECK(saved.outcome(saved.original()).ok());
  CHECK(saved.same());
}

TEST_CASE("damaged checkpoint: a file that is cut off") {
  const Saved saved;
  for (const std::size_t part : {1U, 2U, 4U, 9U}) {
    Bytes bytes = saved.original();
    bytes.resize(bytes.size() - bytes.size() / (part + 1));
    const Status status = saved.outcome(bytes);
    CHECK(!status.ok());
    CHECK(status.file == saved.path());
  }
}

TEST_CASE("damaged checkpoint: numbers that cannot be, with checksums that are right") {
  const Saved saved;
  constexpr std::int64_t k_huge = std::int64_t{1} << 62U;
  struct Case {
    const char* variable;
    std::string name;
    std::int64_t number;
  };
  for (const Case& one :
       {Case{nullptr, "files", k_huge}, Case{nullptr, "files", -1}, Case{nullptr, "files", 9},
        Case{nullptr, "steps", k_huge}, Case{nullptr, "steps", -3}, Case{nullptr, "file_0_records", -1},
        Case{nullptr, "file_0_records", k_huge}, Case{"zeta.1_day", "steps", k_huge},
        Case{"zeta.1_day", "steps", -1}, Case{"zeta.1_day", "weight_in_microseconds", k_huge},
        Case{"zeta.1_day", "weight_in_microseconds", 1},  // less than a cell has
        Case{"zeta.1_day", "state", 1}, Case{"zeta.1_day", "state", k_huge}}) {
    CAPTURE(one.name);
    CAPTURE(one.number);
    Forged forged(saved);
    forged.put(one.variable, one.name, one.number);
    is_refused(forged.outcome(), saved, "");
  }
  struct Text {
    const char* variable;
    std::string name, text;
  };
  for (const Text& one :
       {Text{nullptr, "file_0_first_window", "soon"}, Text{nullptr, "file_0_first_window", "2001-02-01"},
        Text{nullptr, "file_0_first_window", "1801-02-01"}, Text{"zeta.1_day", "window_start", "2001-01-28"},
        Text{"zeta.1_day", "since", "2001-01-29"}, Text{"zeta.1_day", "until", "2001-03-01"},
        Text{"zeta.1_day", "operations", "mean, meen"}, Text{"total.5_steps", "not_sent_in_the_step_to", "x"},
        Text{nullptr, "window_of_5_steps_since", "2002-01-01"}}) {
    CAPTURE(one.name);
    CAPTURE(one.text);
    Forged forged(saved);
    forged.put(one.variable, one.name, one.text);
    is_refused(forged.outcome(), saved, "");
  }
  CHECK(saved.outcome(saved.original()).ok());
}

TEST_CASE("damaged checkpoint: it names no file that is written") {
  const Saved saved;
  const std::string victim = saved.folder().file("victim.nc");
  world().on_root([&] { std::ofstream(victim) << "precious"; });
  Forged forged(saved);
  for (const char* name : {"file_0_path", "file_1_path"})
    forged.put(nullptr, name, victim);
  CHECK(forged.outcome().ok());
  CHECK(saved.same());
  std::string left;
  std::ifstream(victim) >> left;
  CHECK(left == "precious");
  // Nor one that the configuration does not have.
  Forged other(saved);
  other.put(nullptr, "file_0_name", "../victim.nc");
  CHECK(caught([&] { other.outcome(); }).ok());
  std::ifstream(victim) >> left;
  CHECK(left == "precious");
}

TEST_CASE("damaged checkpoint: of another form, or none") {
  const Saved saved;
  Forged forged(saved);
  const std::int32_t first = 1;
  forged.put(nullptr, "title", "x");
  forged.put(nullptr, "shoal_streams_checkpoint", std::int64_t{first});
  const Status status = forged.outcome();
  CHECK(status.code == Code::format);
  CHECK_MESSAGE(status.message.starts_with("this is a checkpoint of form 0"), status.text());
}
