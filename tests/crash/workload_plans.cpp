// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <map>
#include <stdexcept>

#include "workload.hpp"

namespace crash {
namespace {

class Planner {
 public:
  explicit Planner(const Options& options) : options_(options) {
    plan_.dims = {{"time", SHOAL_UNLIMITED}, {"z", options.nz}, {"y", options.ny}, {"x", options.nx}};
  }

  Variable axis(const char* stem, int type = SHOAL_DOUBLE) {
    return {named(stem), next_++, type, "time", {}, true, false, {}, {}};
  }
  Variable field(const char* stem, int type) {
    return {named(stem), next_++, type, "time y x", {options_.ny, options_.nx}, true, true, {}, {}};
  }
  Variable field_3d(const char* stem, int type) {
    return {named(stem), next_++, type, "time z y x", {options_.nz, options_.ny, options_.nx}, true,
            true,        {},      {}};
  }
  Variable bottom(const char* stem) {
    return {named(stem), next_++, SHOAL_DOUBLE, "y x", {options_.ny, options_.nx}, false, true, {}, {}};
  }
  Variable line(const char* stem, int type = SHOAL_DOUBLE) {
    return {named(stem), next_++, type, "x", {options_.nx}, false, false, {}, {}};
  }

  /// The first commit: what every scenario has.
  void begin(std::vector<Variable> variables) {
    Commit commit;
    commit.kind = "define";
    commit.attributes = {{"", "title", 1}, {variables.back().name, "units", 1}};
    add(std::move(commit), std::move(variables));
  }
  void begin() {
    begin({axis("time"), field("zeta", SHOAL_FLOAT), field_3d("temp", SHOAL_DOUBLE), bottom("depth"),
           line("lon")});
  }

  void add(Commit commit, std::vector<Variable> variables) {
    for (auto& variable : variables) {
      const int index = static_cast<int>(all_.size());
      if (!variable.record) commit.writes.push_back({index, SHOAL_NO_RECORD});
      all_.push_back(variable);
    }
    commit.variables = std::move(variables);
    plan_.commits.push_back(std::move(commit));
  }

  /// The next records of everything that has them.
  void append(int records, Commit::End end = Commit::End::sync, const char* kind = "append") {
    Commit commit;
    commit.kind = kind;
    commit.end = end;
    for (int i = 0; i < records; ++i, ++record_)
      for (int v = 0; v < static_cast<int>(all_.size()); ++v)
        if (all_[static_cast<std::size_t>(v)].record) commit.writes.push_back({v, record_});
    plan_.commits.push_back(std::move(commit));
  }

  void each(int records) {
    for (int i = 0; i < records; ++i)
      append(1);
  }

  void commit_writes(std::vector<Write> writes) {
    Commit commit;
    commit.writes = std::move(writes);
    plan_.commits.push_back(std::move(commit));
  }

  void close() { plan_.commits.back().end = Commit::End::close; }

  int records() const { return options_.records; }
  void commit(Commit commit) { plan_.commits.push_back(std::move(commit)); }
  const std::string& format() const { return options_.format; }
  std::int64_t next_record() { return record_++; }
  const std::vector<Variable>& all() const { return all_; }
  Plan& plan() { return plan_; }

 private:
  std::string named(const char* stem) const { return std::string(stem) + "_" + std::to_string(next_); }

  Options options_;
  Plan plan_;
  std::vector<Variable> all_;
  int next_ = 0;
  std::int64_t record_ = 0;
};

void append(Planner& p) {
  p.begin();
  p.each(p.records());
  p.close();
}

void batches(Planner& p) {
  p.begin();
  for (int done = 0; done < p.records(); done += 3)
    p.append(3);
  p.close();
}

// Values come into records that are there.
void late(Planner& p) {
  p.begin();
  for (int i = 0; i < p.records(); ++i) {
    const auto record = p.next_record();
    p.commit_writes({{0, record}, {1, record}});
    p.commit_writes({{2, record}});
  }
  p.close();
}

// In the classic formats data move for another variable with records once there are some (move).
void define_more(Planner& p, int version, Commit::End end) {
  Commit commit;
  commit.kind = "define";
  commit.end = end;
  commit.attributes = {
      {"", "title", version}, {"", "note" + std::to_string(version), 1}, {"zeta_1", "units", version}};
  std::vector<Variable> more = {p.bottom("mask"), p.line("area", SHOAL_INT)};
  if (!p.format().starts_with("cdf")) more.push_back(p.field("salt", SHOAL_FLOAT));
  p.add(std::move(commit), std::move(more));
}

void define(Planner& p) {
  p.begin();
  for (int version = 2; version < 5; ++version) {
    p.each(p.records() / 4);
    define_more(p, version, Commit::End::sync);
  }
  p.each(p.records() / 4);
  p.close();
}

void reopen(Planner& p) {
  p.begin();
  for (int version = 2; version < 5; ++version) {
    p.each(p.records() / 4);
    p.append(1, Commit::End::reopen);
    if (version == 3) define_more(p, version, Commit::End::reopen);
  }
  p.each(p.records() / 4);
  p.close();
}

// Nothing has a place beside what is there: all data move to a new file.
void move(Planner& p) {
  p.plan().settings = "header_reserve=0, alignment=4";
  p.begin();
  for (int version = 2; version < 5; ++version) {
    p.each(p.records() / 4);
    Commit commit;
    commit.kind = "define";
    commit.end = version == 3 ? Commit::End::reopen : Commit::End::sync;
    commit.attributes = {{"", "title", version}};
    for (int i = 0; i < 40; ++i)  // more than what a move keeps free
      commit.attributes.push_back({"", "note" + std::to_string(100 * version + i), 1});
    p.add(std::move(commit), {p.field("salt", SHOAL_FLOAT), p.line("area", SHOAL_INT), p.axis("late")});
  }
  p.each(p.records() / 4);
  p.close();
}

// Chunks of one record, chunks of four that are filled over four commits, and a variable without filters.
void deflate(Planner& p) {
  auto zeta = p.field("zeta", SHOAL_FLOAT);
  auto temp = p.field_3d("temp", SHOAL_DOUBLE);
  zeta.filters = temp.filters = "shuffle+deflate:1";
  zeta.chunks = {4, zeta.inner[0], zeta.inner[1]};
  temp.chunks = {1, temp.inner[0], temp.inner[1], temp.inner[2]};
  p.begin({zeta, temp, p.axis("time"), p.bottom("depth")});
  p.each(p.records());
  p.close();
}

void strings(Planner& p) {
  p.begin({p.axis("time"), p.field("zeta", SHOAL_FLOAT), p.axis("name", SHOAL_STRING),
           p.line("label", SHOAL_STRING)});
  for (int i = 0; i < p.records(); ++i)
    p.append(1, Commit::End::sync, "strings");
  p.close();
}

void maps(Planner& p) {
  p.plan().map = true;
  append(p);
}

void thread(Planner& p) {
  p.plan().settings = "background=thread, stage_bytes=1MiB, slot_bytes=64KiB";
  append(p);
}

void servers(Planner& p) {
  p.plan().settings = "background=ranks, stage_bytes=1MiB, slot_bytes=64KiB";
  p.plan().servers = true;
  append(p);
}

void domains(Planner& p) {
  p.plan().settings = "layout=process";
  append(p);
}

void unlimited(Planner& p) {
  p.plan().dims.emplace_back("event", SHOAL_UNLIMITED);
  auto events = p.axis("event");
  events.dims = "event";
  auto track = p.field("track", SHOAL_FLOAT);
  track.dims = "event y x";
  p.begin({p.axis("time"), p.field("zeta", SHOAL_FLOAT), events, track});
  std::int64_t event = 0;
  for (int i = 0; i < p.records(); ++i) {
    const auto record = p.next_record();
    p.commit_writes({{0, record}, {1, record}});
    if (i % 3 == 0) p.commit_writes({{2, event}, {3, event}, {2, event + 1}, {3, event + 1}});
    if (i % 3 == 0) event += 2;
  }
  p.close();
}

// Records of variables in groups, which have a dimension of their own, and groups that come later.
void groups(Planner& p) {
  const auto flow = [&p](const std::string& group) {
    auto line = p.line((group + "/line").c_str());
    line.dims = "point";
    line.inner = {3};
    auto field = p.field((group + "/field").c_str(), SHOAL_FLOAT);
    return std::vector<Variable>{field, p.axis((group + "/axis").c_str()), line};
  };
  p.plan().dims.emplace_back("first/point", 3);
  auto variables = flow("first/inner");
  variables.push_back(p.axis("time"));
  p.begin(variables);
  for (const char* group : {"second", "first/inner/last"}) {
    p.each(p.records() / 4);
    Commit commit;
    commit.kind = "define";
    commit.attributes = {{"first", "title", 2}, {"first/inner", "note", 1}};
    const bool opens = std::string(group) != "second";
    if (opens) commit.end = Commit::End::reopen;
    auto more = flow(group);
    if (!opens) more.pop_back();  // it does not see the dimension
    commit.attributes.push_back({group, "title", 1});
    p.add(std::move(commit), std::move(more));
  }
  p.each(p.records() / 2);
  p.close();
}

// What has no records is written again in each commit: fields with and without filters, in several shards.
void again(Planner& p) {
  p.plan().settings = "chunk_bytes=1KiB, shard_bytes=2KiB";
  auto zipped = p.bottom("zipped");
  zipped.filters = "shuffle+deflate:1";
  p.begin({p.axis("time"), p.bottom("depth"), zipped, p.line("lon"), p.line("label", SHOAL_STRING),
           p.field("zeta", SHOAL_FLOAT)});
  for (int i = 1; i <= p.records(); ++i) {
    p.append(1);
    for (int v = 1; v < 5; ++v)
      p.plan().commits.back().writes.push_back({v, SHOAL_NO_RECORD, i});
    if (i % 3 == 0) p.plan().commits.back().end = Commit::End::reopen;
  }
  p.close();
}

void renames(Planner& p) {
  auto zeta = p.field("zeta", SHOAL_FLOAT);
  zeta.filters = "shuffle+deflate:1";
  p.begin({p.axis("time"), zeta, p.field_3d("temp", SHOAL_DOUBLE), p.bottom("depth"), p.line("lon"),
           p.axis("late")});
  const char* const k_names[][2] = {{"zeta_0", "height_0"},
                                    {"depth_3", "bottom_3"},
                                    {"lon_4", "x_4"},
                                    {"height_0", "level_0"},
                                    {"temp_2", "heat_2"}};
  for (const auto& name : k_names) {
    p.each(p.records() / 4);
    Commit commit;
    commit.kind = "define";
    commit.renames = {{name[0], name[1]}};
    if (name[0] == std::string("lon_4")) commit.end = Commit::End::reopen;
    p.commit(std::move(commit));
  }
  p.each(p.records() / 4);
  p.close();
}

const std::map<std::string, std::function<void(Planner&)>> k_scenarios = {
    {"append", append}, {"batches", batches}, {"late", late},       {"define", define},
    {"reopen", reopen}, {"deflate", deflate}, {"strings", strings}, {"maps", maps},
    {"thread", thread}, {"servers", servers}, {"domains", domains}, {"unlimited", unlimited},
    {"move", move},     {"groups", groups},   {"again", again},     {"renames", renames},
};

}  // namespace

Plan make_plan(const Options& options) {
  const auto found = k_scenarios.find(options.scenario);
  if (found == k_scenarios.end()) throw std::runtime_error("unknown scenario '" + options.scenario + "'");
  Planner planner(options);
  found->second(planner);
  return planner.plan();
}

}  // namespace crash
