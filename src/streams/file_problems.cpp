// SPDX-License-Identifier: BSD-3-Clause
#include "streams/file_problems.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/error.hpp"
#include "storage/paths.hpp"

namespace shoal::streams {

namespace {

/// "line 3: every: ..." in its parts.
Problem problem_of(std::string message) {
  Problem out;
  if (message.starts_with("line ")) {
    const std::size_t end = message.find(": ");
    out.line = std::atoi(message.c_str() + 5);
    message = end == std::string::npos ? "" : message.substr(end + 2);
    const std::size_t key = message.find(": ");
    if (key != std::string::npos && message.find_first_of(" '") > key) {
      out.key = message.substr(0, key);
      message = message.substr(key + 2);
    }
  }
  out.message = std::move(message);
  return out;
}

}  // namespace

std::string missing_folder(const std::string& name) {
  const std::string folder = folder_of(name);
  const bool is_known = folder.find('%') == std::string::npos;
  return is_known && !is_a_folder(folder) ? folder : "";
}

void check_folder(const std::string& name) {
  const std::string folder = missing_folder(name);
  if (!folder.empty())
    throw Error(Code::not_found, "there is no folder '{}'; make it before the run", folder).in_file(name);
}

void add_problem(std::vector<Problem>& problems, Problem problem) {
  for (const auto& known : problems)
    if (known.line == problem.line && known.key == problem.key && known.message == problem.message) return;
  problems.push_back(std::move(problem));
}

std::optional<Plan> plan_of_file(const Comm& comm, const Configuration& configuration, const FileChoice& file,
                                 const Descriptions& model, const RunTime& time,
                                 std::vector<Problem>& problems) {
  Configuration one = configuration;
  const std::size_t before = problems.size();
  const auto attempt = [&](const FileChoice& wanted) {
    std::optional<Plan> plan;
    one.files = {wanted};
    const Status status = caught([&] { plan = make_plan(comm, one, model, time); });
    if (!status.ok()) add_problem(problems, problem_of(status.message));
    return plan;
  };
  FileChoice of_field = file;
  for (const auto& field : file.fields) {
    of_field.fields = {field};
    // What is chosen of a dimension may be for other fields of the file.
    if (file.fields.size() > 1) {
      of_field.region.clear();
      of_field.regions.clear();
      of_field.sites.reset();
      of_field.indices.clear();
      of_field.levels.clear();
      of_field.reduce.reset();
      of_field.interpolate.reset();
      of_field.pyramid.reset();
    }
    attempt(of_field);
  }
  if (problems.size() != before) return {};
  return attempt(file);
}

}  // namespace shoal::streams
