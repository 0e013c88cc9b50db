// SPDX-License-Identifier: BSD-3-Clause
#include "streams_program/check.hpp"

#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "comm/comm.hpp"
#include "storage/text_file.hpp"
#include "streams/configuration.hpp"
#include "streams/file_problems.hpp"
#include "streams/plan.hpp"
#include "streams_program/model.hpp"
#include "streams_program/schedule.hpp"

namespace shoal::streams {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t k_most_steps = 100'000'000;

Json json_of(const Problem& problem, const std::string& file) {
  return {{"file", file}, {"line", problem.line}, {"key", problem.key}, {"message", problem.message}};
}

class Checker {
 public:
  explicit Checker(const CheckRequest& request)
      : request_(request), comm_(MPI_COMM_SELF), calendar_(Calendar::of(request.calendar)) {}

  Json check() {
    configuration_ = read_configuration(text_of_file(request_.configuration, k_most_input_bytes),
                                        request_.configuration, problems_);
    if (!request_.fields.empty()) read_fields();
    if (!request_.from.empty()) read_run();
    if (!configuration_.report.empty()) check_folder(configuration_.report, 0, "report");
    auto files = Json::array();
    std::int64_t records = 0, bytes = 0, count = 0;
    for (const auto& choice : configuration_.files) {
      files.push_back(file(choice));
      if (run_) {
        records += files.back()["records"].get<std::int64_t>();
        count += static_cast<std::int64_t>(files.back()["written"].size());
        if (files.back().contains("bytes")) bytes += files.back()["bytes"].get<std::int64_t>();
      }
    }
    Json out{
        {"configuration", request_.configuration}, {"calendar", calendar_.name()}, {"ranks", request_.ranks}};
    if (run_)
      out["run"] = {{"start", calendar_.text(run_->start)},
                    {"from", calendar_.text(run_->from)},
                    {"to", calendar_.text(run_->to)},
                    {"seconds", cf_value(TimeUnit::seconds, run_->to, run_->from)},
                    {"step_seconds", static_cast<double>(run_->step) / static_cast<double>(k_second)}};
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const auto& a, const auto& b) { return a.line < b.line; });
    auto found = Json::array();
    for (const auto& problem : problems_)
      found.push_back(json_of(problem, request_.configuration));
    for (const auto& problem : field_problems_)
      found.push_back(json_of(problem, request_.fields));
    out["problems"] = found;
    out["warnings"] = warnings_;
    out["files"] = files;
    if (run_) out["totals"] = {{"files", count}, {"records", records}};
    if (run_ && model_) out["totals"]["bytes"] = bytes;
    if (model_ && problems_.empty() && field_problems_.empty()) out["memory"] = memory();
    return out;
  }

 private:
  void read_fields() {
    model_.emplace(read_model(comm_, text_of_file(request_.fields, k_most_input_bytes), request_.fields,
                              field_problems_));
    const auto is_unknown = [&](const CoordinateRange& range) {
      const bool unknown = model_->unknown_coordinates.count(range.coordinate) > 0;
      if (unknown) warn_unknown(range.line, range.key());
      return unknown;
    };
    for (auto& choice : configuration_.files) {
      std::erase_if(choice.region, is_unknown);
      for (NamedRegion& one : choice.regions)
        std::erase_if(one.region, is_unknown);
      if (!choice.sites) continue;
      const auto& names = choice.sites->coordinates;
      if (std::any_of(names.begin(), names.end(),
                      [&](const std::string& name) { return model_->unknown_coordinates.count(name) > 0; })) {
        warn_unknown(choice.sites->line, choice.sites->key());
        choice.sites.reset();
      }
    }
    if (!field_problems_.empty()) model_.reset();
  }

  void warn_unknown(int line, const std::string& key) {
    warn(line, key,
         "the file of fields has no values of this coordinate, so the sizes are those of all cells along it");
  }

  void read_run() {
    RunOfSteps run{calendar_, {}, calendar_.parse(request_.from), calendar_.parse(request_.to), 0};
    run.start = request_.start.empty() ? run.from : calendar_.parse(request_.start);
    const Duration step = parse_duration(request_.step);
    if (step.kind != Duration::Kind::microseconds || step.count <= 0)
      throw Error(Code::invalid_argument, "--step is '{}'; it is of s, min, h or day, and more than nothing",
                  request_.step);
    run.step = step.count;
    if (run.to <= run.from || run.start > run.from)
      throw Error(Code::invalid_argument,
                  "the run goes from {} to {}, started at {}; --start comes before --from, "
                  "that before --to",
                  request_.from, request_.to, calendar_.text(run.start));
    if ((run.to.microseconds - run.from.microseconds) / run.step > k_most_steps)
      throw Error(Code::invalid_argument, "the run has more than {} steps; check a shorter one",
                  k_most_steps);
    run_ = run;
  }

  void warn(int line, const std::string& key, std::string message) {
    warnings_.push_back(json_of({line, key, std::move(message)}, request_.configuration));
  }

  RunTime time() const {
    if (!run_) return {calendar_, {}, {}};
    return {calendar_, run_->start, run_->from};
  }

  void add_problem(Problem problem) { streams::add_problem(problems_, std::move(problem)); }

  Json file(const FileChoice& choice) {
    Json out{{"line", choice.line}, {"name", choice.name}, {"every", text_of(choice.every)}};
    if (choice.offset) out["offset"] = text_of(*choice.offset);
    if (choice.new_file) out["new_file"] = text_of(*choice.new_file);
    for (const auto& [name, value] : choice.settings)
      if (name == "compression") out["compression"] = value;
    out["climatology"] = choice.climatology;
    std::int64_t record_bytes = -1;
    if (model_) {
      const auto plan = plan_of_file(comm_, configuration_, choice, model_->descriptions, time(), problems_);
      if (plan) {
        record_bytes = variables(plan->files.front(), out);
        good_.push_back(choice);
      }
    }
    check_folder(choice.name, choice.line_of("name"), "name");
    if (run_) schedule(choice, record_bytes, out);
    for (const auto& written : out.value("written", Json::array()))
      check_folder(written["name"].get<std::string>(), choice.line_of("name"), "name");
    return out;
  }

  /// Adds the variables, and returns the bytes of a record.
  static std::int64_t variables(const FilePlan& plan, Json& out) {
    out["variables"] = Json::array();
    std::int64_t all = 0;
    const auto add = [&](const Output& output) {
      auto dims = Json::array();
      std::int64_t cells = std::max(1, output.operation.bins);
      for (const auto& dim : output.dims) {
        dims.push_back({{"name", dim.name_in_file()}, {"length", dim.chosen()}});
        cells *= dim.chosen();
      }
      const std::int64_t bytes = cells * static_cast<std::int64_t>(size_of(output.encoding.type));
      out["variables"].push_back({{"name", output.name},
                                  {"operation", text_of(output.operation)},
                                  {"type", name_of(output.encoding.type)},
                                  {"dims", dims},
                                  {"record_bytes", bytes}});
      all += bytes;
    };
    for (const Output& output : plan.outputs) {
      add(output);
      std::for_each(output.coarser.begin(), output.coarser.end(), add);
    }
    return all;
  }

  /// As the run would see it, if it begins in this folder.
  void check_folder(const std::string& name, int line, const std::string& key) {
    const std::string folder = missing_folder(name);
    if (folder.empty() || !folders_.insert(folder).second) return;
    std::error_code ignored;
    warn(line, key,
         fmt::format("there is no folder '{}' here, in '{}'; make it before the run", folder,
                     std::filesystem::current_path(ignored).string()));
  }

  void schedule(const FileChoice& choice, std::int64_t record_bytes, Json& out) {
    out["records"] = 0;
    out["written"] = Json::array();
    out["windows"] = Json::array();
    Schedule found;
    const Status status = caught([&] { found = schedule_of(choice, *run_); });
    if (!status.ok()) return add_problem({choice.line_of("every"), "every", status.message});
    if (!found.crossing.empty()) {
      if (choice.strict)
        return add_problem({choice.line_of("every"), "every", found.crossing + " (strict = true)"});
      warn(choice.line_of("every"), "every",
           found.crossing + ": records hold other lengths of time than windows have, and instants are late");
    }
    out["records"] = found.records();
    for (const auto& file : found.files) {
      const auto [other, is_new] = names_.emplace(file.name, choice.line);
      if (!is_new)
        add_problem({choice.line_of("name"), "name",
                     fmt::format("'{}' would be written twice, by the file of line {}, too", file.name,
                                 other->second)});
      out["written"].push_back({{"name", file.name},
                                {"records", file.records},
                                {"start", calendar_.text(file.first.start)},
                                {"end", calendar_.text(file.last.end)}});
      if (record_bytes >= 0) out["written"].back()["bytes"] = record_bytes * file.records;
    }
    if (record_bytes >= 0) out["bytes"] = record_bytes * found.records();
    const auto seconds = [&](const Window& window) -> Json {
      return {cf_value(TimeUnit::seconds, window.start, run_->from),
              cf_value(TimeUnit::seconds, window.end, run_->from)};
    };
    if (found.unfinished) {
      out["unfinished"] = {{"start", calendar_.text(found.unfinished->start)},
                           {"end", calendar_.text(found.unfinished->end)},
                           {"seconds", seconds(*found.unfinished)}};
      if (!choice.climatology && !found.files.empty())
        warn(choice.line_of("every"), "every",
             fmt::format("the run ends in the window from {} to {}: it is saved by a checkpoint, or lost",
                         calendar_.text(found.unfinished->start), calendar_.text(found.unfinished->end)));
    }
    if (found.files.empty())
      warn(choice.line_of("every"), "every",
           found.unfinished
               ? fmt::format("the run ends before {}, where the first window does: there is no record; a "
                             "checkpoint saves what was sent",
                             calendar_.text(found.unfinished->end))
               : "there is no record: no window lies in the run, between from and until");
    for (const auto& window : found.windows)
      out["windows"].push_back(seconds(window));
    if (found.windows.size() == Schedule::k_most_windows && found.windows.back() != found.files.back().last)
      out["more_windows"] = seconds({found.windows.back().end, found.files.back().last.end});
  }

  /// Of the accumulators of all files together, which share them.
  Json memory() {
    Configuration all = configuration_;
    all.files = good_;
    Plan plan = make_plan(comm_, all, model_->descriptions, time());
    auto rows = Json::array();
    std::int64_t sum = 0, sum_of_rank = 0;
    for (const auto& collector : plan.collectors) {
      const std::int64_t bytes = collector.kept ? collector.kept->bytes() : collector.accumulator->bytes();
      const std::int64_t of_rank = bytes_of_rank(plan.source_of(collector).like, *collector.part, bytes);
      auto kept = Json::array();
      for (int m = 0; collector.accumulator && m < k_moments; ++m)
        if (collector.accumulator->moments().has(static_cast<Moment>(m)))
          kept.push_back(name_of(static_cast<Moment>(m)));
      rows.push_back({{"field", plan.source_of(collector).like.name},
                      {"every", text_of(plan.clock_of(collector).options().every)},
                      {"keeps", kept},
                      {"bytes", bytes},
                      {"bytes_of_rank", of_rank}});
      sum += bytes;
      sum_of_rank += of_rank;
    }
    return {{"accumulators", rows}, {"bytes", sum}, {"bytes_of_rank", sum_of_rank}};
  }

  /// At most, where the grid is cut evenly: all chosen cells may be those of one rank.
  std::int64_t bytes_of_rank(const Field& field, const Part& part, std::int64_t bytes) const {
    const Decomposition* grid = model_->descriptions.decomposition_of(field);
    if (grid == nullptr || part.cells() == 0) return bytes;
    std::int64_t outer = 1;  // chosen cells for each of the grid
    for (int d = 0; d < part.outer_dims(); ++d)
      outer *= part.choices()[static_cast<std::size_t>(d)].chosen();
    const std::int64_t tile = (volume(grid->global()) + request_.ranks - 1) / request_.ranks;
    const double per_cell = static_cast<double>(bytes) / static_cast<double>(part.cells());
    return std::min(bytes, static_cast<std::int64_t>(per_cell * static_cast<double>(outer * tile)));
  }

  const CheckRequest& request_;
  Comm comm_;
  Calendar calendar_;
  Configuration configuration_;
  std::optional<Model> model_;
  std::optional<RunOfSteps> run_;
  std::vector<Problem> problems_, field_problems_;
  Json warnings_ = Json::array();
  std::vector<FileChoice> good_;
  std::set<std::string> folders_;     // that there are not
  std::map<std::string, int> names_;  // of files that would be written, by the line of their [[file]]
};

}  // namespace

nlohmann::ordered_json check(const CheckRequest& request) {
  return Checker(request).check();
}

}  // namespace shoal::streams
