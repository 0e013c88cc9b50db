// Random calendars, steps, windows, operations and cuts: a run in parts gives the bits of the whole one.
#include <fmt/core.h>

#include "support/seeds.hpp"
#include "toy_model.hpp"

using namespace shoal;
using namespace shoal::testing;

namespace {

template <class T>
const T& one_of(std::mt19937& random, const std::vector<T>& all) {
  return all[random() % all.size()];
}

/// All variables of a file as text, to compare.
std::vector<std::pair<std::string, std::vector<double>>> contents(const std::string& path) {
  DatasetOptions options;
  options.sources = {"", ""};
  std::vector<std::string> names;
  {
    const auto file = Dataset::open(MPI_COMM_WORLD, path, false, options);
    for (const auto& variable : file->schema().variables)
      names.push_back(variable.name);
    file->close(false);
  }
  std::vector<std::pair<std::string, std::vector<double>>> out;
  for (const auto& name : names)
    out.emplace_back(name, read_variable(path, name).values);
  return out;
}

std::string table(std::mt19937& random, const std::string& path) {
  static const std::vector<std::string> k_every = {"1 h",      "6 h",    "1 day",   "5 days", "1 month",
                                                   "3 months", "1 year", "7 steps", "2 days"};
  static const std::vector<std::string> k_operations = {
      "mean", "sum", "min", "max", "range", "variance", "std", "rms", "first", "last", "count", "diurnal(3)"};
  const std::string every = one_of(random, k_every);
  std::string text = "[[file]]\nname = \"" + path + "\"\nevery = \"" + every +
                     "\"\nunfinished = \"write\"\n" + (random() % 4 == 0 ? "" : "commit = \"close\"\n") +
                     "fields = [";
  for (const char* field : {"temp", "zeta", "total"})
    for (int i = 0; i < 2; ++i)
      text += fmt::format("{}{{ field = \"{}\", name = \"v{}{}\", operation = \"{}\", type = \"double\" }}",
                          text.ends_with('[') ? "" : ", ", field, field, i, one_of(random, k_operations));
  text += "]\n";
  if (random() % 3 == 0) text += "levels = [1, 2]\n";
  if (random() % 4 == 0) text += "indices = { x = [2, 9, 2] }\n";
  if (random() % 4 == 0)
    text += "climatology = " +
            std::string(every.find("month") != std::string::npos && text.find("diurnal") == std::string::npos
                            ? "true"
                            : "false") +
            "\n";
  return text;
}

}  // namespace

TEST_CASE("random runs: in parts the same bits as whole") {
  for (const Seed& seed : seeds(1, 9)) {
    CAPTURE(seed);
    std::mt19937 random(seed.value);
    const SharedFolder folder;
    Run whole;
    whole.calendar = one_of(random, std::vector<std::string>{"standard", "proleptic_gregorian", "julian",
                                                             "noleap", "all_leap", "360_day"});
    whole.start = one_of(random, std::vector<std::string>{"2000-02-28 13:30:00", "1582-10-03",
                                                          "0001-12-30 23:59:59.5", "1999-12-29 12:00:00"});
    whole.how = one_of(random, std::vector<Cut>{Cut::columns, Cut::rows, Cut::map});
    whole.masked = random() % 2 == 0;
    whole.halo = random() % 2 == 0;
    const bool long_steps = random() % 2 == 0;
    for (int i = 0; i < 40; ++i)
      whole.steps.push_back(static_cast<double>(1 + random() % 3000) * (long_steps ? 20.25 : 1.0));
    const auto kind = static_cast<unsigned>(random());
    const auto configuration = [&](const std::string& name) {
      std::mt19937 same(kind);
      return table(same, folder.file(name + "_1.nc")) + table(same, folder.file(name + "_2.nc"));
    };
    whole.configuration = configuration("whole");
    CAPTURE(whole.configuration);
    Status longer = caught([&] { Toy(whole).go(); });
    if (longer.code == Code::invalid_argument) continue;  // steps longer than windows
    REQUIRE_MESSAGE(longer.ok(), longer.text());
    Run part = whole;
    part.configuration = configuration("parts");
    std::size_t at = 0;
    while (at < whole.steps.size()) {
      part.first = at;
      part.end = std::min(whole.steps.size(), at + 1 + random() % 25);
      part.resume = at == 0 ? "" : folder.file("restart" + std::to_string(at) + ".nc");
      at = part.end;
      part.checkpoint = at == whole.steps.size() ? "" : folder.file("restart" + std::to_string(at) + ".nc");
      part.how = one_of(random, std::vector<Cut>{Cut::columns, Cut::rows, Cut::map});
      const Status status = caught([&] {
        Toy toy(part);
        // All but the last part leave their windows to the checkpoint.
        for (std::size_t step = part.first; step < part.end; ++step)
          toy.advance_and_send(step);
        if (part.checkpoint.empty()) return toy.streams->close();
        toy.streams->checkpoint(part.checkpoint);
        toy.streams.reset();
      });
      REQUIRE_MESSAGE(status.ok(), status.text());
    }
    for (const char* file : {"_1.nc", "_2.nc"}) {
      const auto one = contents(folder.file(std::string("whole") + file)),
                 two = contents(folder.file(std::string("parts") + file));
      REQUIRE(one.size() == two.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        CAPTURE(file);
        CAPTURE(one[i].first);
        CHECK(one[i].second == two[i].second);
      }
    }
  }
}
