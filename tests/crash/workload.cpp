// SPDX-License-Identifier: BSD-3-Clause
// Writes a scenario, by the calls of Shoal, netCDF or PnetCDF, and says what it was promised:
//   crash_workload[_netcdf|_pnetcdf] SCENARIO FORMAT PATH [records=10] [durable=N] [ny=6] [nx=40] [nz=2]
//                                    [settings=...]
// The scenario `open` opens files of a run that was killed, all that are there, for writing, and closes them.
//
//   CRASH_PROMISE  gets a line of JSON for each commit that begins, that is done, and that failed
//   CRASH_COPY     a folder: after a commit that failed the files are copied to a folder of it at once; then
//                  whatever makes things fail is ended, and the commit is made again
//   CRASH_SPACE    a size ("8m"): the file system of the files is mounted again with so much room then; or
//                  the path of a file that is removed
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "workload.hpp"

namespace crash {
namespace {

constexpr int k_most_attempts = 4;

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string json_text(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c == '\n' ? ' ' : c;
  }
  return all + "\"";
}

template <class List, class Text>
std::string joined(const List& list, Text&& text) {
  std::string all = "[";
  for (const auto& one : list)
    all += (all.size() > 1 ? ", " : "") + text(one);
  return all + "]";
}

/// One line, by one call, in a place of the order: all ranks say it, and the first counts.
class Promises {
 public:
  Promises() {
    const char* path = std::getenv("CRASH_PROMISE");
    if (path != nullptr) file_ = ::open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  }
  ~Promises() {
    if (file_ >= 0) ::close(file_);
  }
  Promises(const Promises&) = delete;
  Promises& operator=(const Promises&) = delete;
  void say(const std::string& line) const {
    const std::string whole = line + "\n";
    if (file_ >= 0 && ::write(file_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
      throw std::runtime_error("the promise cannot be written");
  }

 private:
  int file_ = -1;
};

class Model {
 public:
  Model(MPI_Comm comm, const Options& options, const Plan& plan)
      : comm_(comm),
        options_(options),
        plan_(plan),
        cells_(cells(comm, options, plan.map)),
        file_(make_file(comm, options, plan)) {
    MPI_Comm_rank(comm_, &rank_);
    for (const auto& commit : plan_.commits)
      for (const auto& variable : commit.variables)
        all_.push_back(variable);
  }

  void run() {
    for (const auto& commit : plan_.commits) {
      ++number_;
      promises_.say("{\"begin\": " + std::to_string(number_) + ", \"kind\": " + json_text(commit.kind) + "}");
      for (int attempt = 0; !make(commit); ++attempt)
        if (attempt == k_most_attempts)
          throw Failure("commit " + std::to_string(number_) + " never succeeds: " + first_);
      promise(commit);
    }
  }

 private:
  /// True if the commit was made, on all ranks.
  bool make(const Commit& commit) {
    first_.clear();
    ready();
    if (first_.empty()) {
      for (const auto& variable : commit.variables)
        note(file_->define(variable, again_), "definition of " + variable.name);
      for (const auto& a : commit.attributes)
        note(file_->put(a, a.name + " v" + std::to_string(a.version)), "attribute " + a.name);
      for (const auto& r : commit.renames)
        if (note(file_->rename(r, again_), "new name of " + r.from)) rename(r);
      if (!commit.variables.empty() || !commit.attributes.empty() || !commit.renames.empty())
        note(file_->end_define(), "end of definitions");
      for (const auto& w : commit.writes)
        write(all_[static_cast<std::size_t>(w.variable)], w);
      if (commit.end == Commit::End::sync)
        synced_ = note(file_->sync(is_durable()), "sync");
      else
        synced_ = note(file_->close(is_durable()), "close");
    }
    int failed = first_.empty() ? 0 : 1;
    const int mine = failed;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm_);
    if (failed != mine) std::cerr << "DISAGREE: rank " << rank_ << " has no error, others do\n";
    if (failed && synced_) std::cerr << "LOST: " << first_ << ", and the commit says nothing of it\n";
    if (failed) after_failure();
    return failed == 0;
  }

  /// Also the last one of a dataset: another one knows nothing of what this one left to the system.
  bool is_durable() const {
    const bool ends = plan_.commits[static_cast<std::size_t>(number_ - 1)].end != Commit::End::sync;
    return options_.durable > 0 && (ends || number_ % options_.durable == 0);
  }

  bool note(const std::string& failure, const std::string& what) {
    if (failure.empty()) return true;
    if (first_.empty()) first_ = what + ": " + failure;
    return false;
  }

  void ready() {
    synced_ = false;
    if (file_->is_open()) return;
    if (exists_)
      note(file_->open(), "open");
    else
      note(file_->create(), "create");
  }

  void rename(const Rename& r) {
    for (auto& v : all_)
      if (v.name == r.from) v.name = r.to;
  }

  void write(const Variable& v, const Write& w) {
    switch (v.type) {
      case SHOAL_FLOAT:
        return write_numbers<float>(v, w);
      case SHOAL_DOUBLE:
        return write_numbers<double>(v, w);
      case SHOAL_INT:
        return write_numbers<std::int32_t>(v, w);
      default:
        return write_strings(v, w);
    }
  }

  template <class T>
  void write_numbers(const Variable& v, const Write& w) {
    std::int64_t layers = 1;
    const std::size_t uncut = v.field ? v.inner.size() - 2 : v.inner.size();
    for (std::size_t d = 0; d < uncut; ++d)
      layers *= v.inner[d];
    const std::int64_t of_layer = v.field ? options_.ny * options_.nx : 1;
    std::vector<T> values;
    for (std::int64_t layer = 0; layer < layers; ++layer)
      if (v.field)
        for (const auto cell : cells_)
          values.push_back(static_cast<T>(value_of(v.id, seed_of(w), layer * of_layer + cell)));
      else
        values.push_back(static_cast<T>(value_of(v.id, seed_of(w), layer)));
    std::vector<std::int64_t> extents(v.inner.begin(), v.inner.begin() + static_cast<std::ptrdiff_t>(uncut));
    if (v.field && plan_.map) extents.push_back(static_cast<std::int64_t>(cells_.size()));
    if (v.field && !plan_.map) {
      extents.push_back(static_cast<std::int64_t>(cells_.size()) / options_.nx);
      extents.push_back(options_.nx);
    }
    note(file_->write(v, w.record, values.data(), extents), "write of " + v.name);
  }

  void write_strings(const Variable& v, const Write& w) {
    const std::int64_t n = v.inner.empty() ? 1 : v.inner[0];
    std::vector<std::string> texts;
    for (std::int64_t cell = 0; cell < n; ++cell) {
      const auto value = value_of(v.id, seed_of(w), cell);
      texts.push_back("s" + std::to_string(value) + std::string(static_cast<std::size_t>(value % 7), 'x'));
    }
    std::vector<const char*> pointers;
    for (const auto& text : texts)
      pointers.push_back(text.c_str());
    note(file_->write(v, w.record, pointers.data(), v.inner), "write of " + v.name);
  }

  static std::int64_t seed_of(const Write& w) { return w.record < 0 ? w.version : w.record; }

  void promise(const Commit& commit) {
    again_ = false;
    exists_ = true;
    for (const auto& v : commit.variables)
      records_.emplace(v.name, 0);
    for (const auto& r : commit.renames)
      for (auto* known : {&records_, &firsts_, &rewritten_})
        if (auto node = known->extract(r.from)) {
          node.key() = r.to;
          known->insert(std::move(node));
        }
    for (const auto& w : commit.writes) {
      const auto& name = all_[static_cast<std::size_t>(w.variable)].name;
      if (records_[name] == 0) firsts_[name] = w.record;
      records_[name] = std::max(records_[name], w.record + 1);
      rewritten_[name] = w.version;
    }
    for (const auto& a : commit.attributes)
      versions_[{a.variable, a.name}] = a.version;
    promises_.say("{\"promise\": " + std::to_string(number_) + ", \"kind\": " + json_text(commit.kind) +
                  ", \"durable\": " + (is_durable() ? "true" : "false") + ", \"variables\": " +
                  joined(records_, [this](const auto& r) { return reported(r.first, r.second); }) +
                  ", \"attributes\": " +
                  joined(versions_,
                         [](const auto& a) {
                           return "[" + json_text(a.first.first) + ", " + json_text(a.first.second) + ", " +
                                  std::to_string(a.second) + "]";
                         }) +
                  "}");
  }

  std::string reported(const std::string& name, std::int64_t records) const {
    for (const auto& v : all_)
      if (v.name == name)
        return "{\"name\": " + json_text(name) + ", \"records\": " + std::to_string(v.record ? records : -1) +
               ", \"first\": " + std::to_string(records > 0 ? firsts_.at(name) : 0) +
               ", \"version\": " + std::to_string(rewritten_.contains(name) ? rewritten_.at(name) : 0) +
               next_name(name) +
               ", \"inner\": " + joined(v.inner, [](std::int64_t n) { return std::to_string(n); }) +
               ", \"field\": " + (v.field ? "true" : "false") + "}";
    return "{}";
  }

  /// Of a variable that the next commit renames: which it may have by then.
  std::string next_name(const std::string& name) const {
    if (number_ < static_cast<int>(plan_.commits.size()))
      for (const auto& r : plan_.commits[static_cast<std::size_t>(number_)].renames)
        if (r.from == name) return ", \"then\": " + json_text(r.to);
    return "";
  }

  void make_space(const std::string& room) const {
    if (room.starts_with('/')) {
      std::filesystem::remove(room);
      return;
    }
    const auto folder = std::filesystem::path(options_.path).parent_path();
    if (::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT, ("size=" + room).c_str()) != 0)
      throw Failure("the file system cannot be given more room");
  }

  /// Copies the files as they are now, makes room, and lets the commit be made again.
  void after_failure() {
    again_ = true;
    MPI_Barrier(comm_);
    if (std::getenv("CRASH_COPY") == nullptr) throw Failure(first_);
    if (rank_ == 0) {
      const std::string copy = std::to_string(number_) + "." + std::to_string(++copies_);
      namespace fs = std::filesystem;
      fs::copy(fs::path(options_.path).parent_path(), fs::path(std::getenv("CRASH_COPY")) / copy,
               fs::copy_options::recursive);
      promises_.say("{\"failed\": " + std::to_string(number_) + ", \"copy\": " + json_text(copy) +
                    ", \"message\": " + json_text(first_) + "}");
      if (const char* room = std::getenv("CRASH_SPACE")) make_space(room);
      if (void* clear = ::dlsym(RTLD_DEFAULT, "crash_clear_fault")) reinterpret_cast<void (*)()>(clear)();
    }
    MPI_Barrier(comm_);
  }

  MPI_Comm comm_;
  Options options_;
  const Plan& plan_;
  std::vector<Variable> all_;
  std::vector<std::int64_t> cells_;  // of this rank
  std::unique_ptr<File> file_;
  std::map<std::string, std::int64_t> records_;  // promised: from the first one on
  std::map<std::string, std::int64_t> firsts_;
  std::map<std::string, std::int64_t> rewritten_;  // the version of what has no records
  std::map<std::pair<std::string, std::string>, int> versions_;
  Promises promises_;
  int rank_ = 0, number_ = 0, copies_ = 0;
  bool exists_ = false, again_ = false, synced_ = false;
  std::string first_;
};

void open_files(Options options) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(options.path).parent_path()))
    if (!entry.path().filename().string().starts_with('.')) paths.push_back(entry.path().string());
  const Plan plan;
  for (const auto& one : paths) {
    options.path = one;
    const auto file = make_file(MPI_COMM_WORLD, options, plan);
    for (const auto& failure : {file->open(), file->close(false)})
      if (!failure.empty()) throw Failure(one + ": " + failure);
  }
}

Options read_options(int argc, char** argv) {
  if (argc < 4) throw std::runtime_error("usage: crash_workload SCENARIO FORMAT PATH [key=value...]");
  Options options{argv[1], argv[2], argv[3], {}};
  for (int i = 4; i < argc; ++i) {
    const std::string one = argv[i], key = one.substr(0, one.find('=')), value = one.substr(key.size() + 1);
    if (key == "records")
      options.records = std::stoi(value);
    else if (key == "durable")
      options.durable = std::stoi(value);
    else if (key == "nz")
      options.nz = std::stoi(value);
    else if (key == "ny")
      options.ny = std::stoi(value);
    else if (key == "nx")
      options.nx = std::stoi(value);
    else if (key == "settings")
      options.settings = value;
    else
      throw std::runtime_error("unknown option '" + key + "'");
  }
  return options;
}

}  // namespace

std::vector<std::int64_t> cells(MPI_Comm comm, const Options& options, bool map) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::vector<std::int64_t> found;
  const std::int64_t all = options.ny * options.nx;
  if (map)
    for (std::int64_t cell = all - 1; cell >= 0; --cell)
      if (cell % size == rank) found.push_back(cell);
  const auto row = [&](int of) { return options.ny * of / size; };
  if (!map)
    for (std::int64_t cell = row(rank) * options.nx; cell < row(rank + 1) * options.nx; ++cell)
      found.push_back(cell);
  return found;
}

}  // namespace crash

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  try {
    const auto options = crash::read_options(argc, argv);
    if (options.scenario == "open") {
      crash::open_files(options);
      MPI_Finalize();
      return 0;
    }
    const auto plan = crash::make_plan(options);
    const MPI_Comm computing = crash::computing_ranks(plan);
    if (computing != MPI_COMM_NULL) crash::Model(computing, options, plan).run();
  } catch (const std::exception& e) {
    std::cerr << "crash_workload: " << e.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
