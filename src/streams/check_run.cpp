// SPDX-License-Identifier: BSD-3-Clause
// SHOAL_STREAMS_CHECK=1: a model describes what it has, the configuration is held against that, and the
// program ends.
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "streams/file_problems.hpp"
#include "streams/streams.hpp"

namespace shoal::streams {

namespace {

constexpr const char* k_check_variable = "SHOAL_STREAMS_CHECK";

std::string line_of(const Output& output) {
  std::string dims;
  double cells = std::max(1, output.operation.bins);
  for (const DimChoice& dim : output.dims) {
    dims += fmt::format("{}{} {}", dims.empty() ? "" : ", ", dim.name_in_file(), dim.chosen());
    cells *= static_cast<double>(dim.chosen());
  }
  return fmt::format("  {}: {}, {}{}, {} a record\n", output.name, text_of(output.operation),
                     name_of(output.encoding.type), dims.empty() ? "" : " (" + dims + ")",
                     bytes_text(cells * static_cast<double>(size_of(output.encoding.type))));
}

}  // namespace

/// Rank 0's environment counts.
bool Streams::is_check_alone() const {
  const Bytes answer = comm_.from_root([] {
    const char* value = std::getenv(k_check_variable);
    const bool is_set = value != nullptr && *value != '\0' && std::string(value) != "0";
    return Bytes(1, is_set ? std::byte{1} : std::byte{0});
  });
  return answer.at(0) != std::byte{0};
}

void Streams::check_and_stop() {
  std::vector<Problem> problems;
  std::string files;
  // Rank 0's folders count.
  const auto look_for_folder = [&](const std::string& name, int line, const char* key) {
    const Status status = caught([&] { comm_.on_root([&] { check_folder(name); }); });
    if (!status.ok()) add_problem(problems, {line, key, status.message});
    return status.ok();
  };
  for (const FileChoice& choice : configuration_.files) {
    const auto plan = plan_of_file(comm_, configuration_, choice, descriptions_, time_, problems);
    look_for_folder(choice.name, choice.line_of("name"), "name");
    if (!plan) continue;
    files += fmt::format("{}: every {}\n", choice.name, text_of(choice.every));
    for (const Output& output : plan->files.front().outputs) {
      files += line_of(output);
      for (const Output& coarser : output.coarser)
        files += line_of(coarser);
    }
  }
  const std::string& report = configuration_.report;
  const bool has_report = !report.empty() && look_for_folder(report, 0, "report");
  if (comm_.rank() == 0) {
    const std::string name = printable_name(configuration_.path);
    for (const Problem& problem : problems)
      std::fprintf(stderr, "shoal: streams: %s: %s\n", name.c_str(), printable(text_of(problem)).c_str());
    std::fprintf(stderr, "%sshoal: streams: %s: %s; the program ends here, as %s is set\n",
                 printable(files).c_str(), name.c_str(),
                 problems.empty() ? "nothing is wrong with it for this model"
                                  : fmt::format("{} {} wrong with it for this model", problems.size(),
                                                problems.size() == 1 ? "thing is" : "things are")
                                        .c_str(),
                 k_check_variable);
  }
  if (has_report) comm_.on_root([&] { write_report(); });  // which may fail, so what was found is said before
  closed_ = true;
  std::fflush(nullptr);
  MPI_Finalize();
  std::exit(problems.empty() ? 0 : 1);
}

}  // namespace shoal::streams
