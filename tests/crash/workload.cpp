// SPDX-License-Identifier: BSD-3-Clause
// Writes a scenario and says what it was promised:
//   crash_workload SCENARIO FORMAT PATH [records=10] [durable=1] [ny=6] [nx=40] [nz=2] [settings=...]
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
      : comm_(comm), options_(options), plan_(plan) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    for (const auto& commit : plan_.commits)
      for (const auto& variable : commit.variables)
        all_.push_back(variable);
    decompose();
  }
  ~Model() {
    shoal_abandon(&file_);
    shoal_decomposition_free(&cut_);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

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
  void decompose() {
    const std::int64_t global[] = {options_.ny, options_.nx};
    int code = SHOAL_OK;
    if (plan_.map) {  // each rank every so many cells, backwards
      for (std::int64_t cell = global[0] * global[1] - 1; cell >= 0; --cell)
        if (cell % size_ == rank_) cells_.push_back(cell);
      code = shoal_map(comm_, 2, global, 0, static_cast<std::int64_t>(cells_.size()), cells_.data(), &cut_);
    } else {
      const std::int64_t first[] = {options_.ny * rank_ / size_, 0};
      const std::int64_t count[] = {options_.ny * (rank_ + 1) / size_ - first[0], options_.nx};
      for (std::int64_t cell = first[0] * global[1]; cell < (first[0] + count[0]) * global[1]; ++cell)
        cells_.push_back(cell);
      code = shoal_block(comm_, 2, global, first, count, nullptr, nullptr, &cut_);
    }
    if (code != SHOAL_OK) throw Failure(shoal_error_message());
  }

  /// True if the commit was made, on all ranks.
  bool make(const Commit& commit) {
    first_.clear();
    ready();
    if (first_.empty()) {
      for (const auto& variable : commit.variables)
        define(variable);
      for (const auto& attribute : commit.attributes)
        put(attribute);
      if (!commit.variables.empty() || !commit.attributes.empty())
        note(shoal_end_define(file_), "end_define");
      for (const auto& w : commit.writes)
        write(all_[static_cast<std::size_t>(w.variable)], w.record);
      if (commit.end == Commit::End::sync)
        synced_ = note(shoal_sync(file_, options_.durable), "sync");
      else
        synced_ = note(shoal_close(&file_, options_.durable), "close");
    }
    int failed = first_.empty() ? 0 : 1;
    const int mine = failed;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm_);
    if (failed != mine) std::cerr << "DISAGREE: rank " << rank_ << " has no error, others do\n";
    if (failed && synced_) std::cerr << "LOST: " << first_ << ", and the commit says nothing of it\n";
    if (failed) after_failure();
    return failed == 0;
  }

  bool note(int code, const std::string& what) {
    if (code == SHOAL_OK) return true;
    if (first_.empty()) first_ = what + ": " + shoal_error_name(code) + ": " + shoal_error_message();
    return false;
  }

  void ready() {
    synced_ = false;
    if (file_ != nullptr) return;
    if (exists_) {
      note(shoal_open(comm_, options_.path.c_str(), SHOAL_WRITE, settings(false).c_str(), &file_), "open");
      return;
    }
    if (!note(shoal_create(comm_, options_.path.c_str(), settings(true).c_str(), &file_), "create")) return;
    for (const auto& [name, length] : plan_.dims)
      note(shoal_def_dim(file_, name.c_str(), length), "def_dim");
  }

  std::string settings(bool create) const {
    std::string all = "quiet=true";
    if (create) all += ", format=" + options_.format;
    if (!plan_.settings.empty()) all += ", " + plan_.settings;
    if (!options_.settings.empty()) all += ", " + options_.settings;
    return all;
  }

  /// What a failed commit did define is there when it is made again.
  void define(const Variable& v) {
    const char* name = v.name.c_str();
    const int code = shoal_def_var(file_, name, v.type, v.dims.c_str(), v.field ? cut_ : nullptr);
    if (code == SHOAL_EXISTS && again_) return;
    note(code, "def_var");
    if (!v.filters.empty()) note(shoal_def_compression(file_, name, v.filters.c_str()), "def_compression");
    if (!v.chunks.empty()) note(shoal_def_chunks(file_, name, v.chunks.data()), "def_chunks");
  }

  void put(const Attribute& a) {
    const std::string text = a.name + " v" + std::to_string(a.version);
    note(shoal_put_att(file_, a.variable.empty() ? nullptr : a.variable.c_str(), a.name.c_str(), SHOAL_CHAR,
                       static_cast<std::int64_t>(text.size()), text.data()),
         "put_att");
  }

  void write(const Variable& v, std::int64_t record) {
    switch (v.type) {
      case SHOAL_FLOAT:
        return write_numbers<float>(v, record);
      case SHOAL_DOUBLE:
        return write_numbers<double>(v, record);
      case SHOAL_INT:
        return write_numbers<std::int32_t>(v, record);
      default:
        return write_strings(v, record);
    }
  }

  template <class T>
  void write_numbers(const Variable& v, std::int64_t record) {
    std::int64_t layers = 1;
    const std::size_t uncut = v.field ? v.inner.size() - 2 : v.inner.size();
    for (std::size_t d = 0; d < uncut; ++d)
      layers *= v.inner[d];
    const std::int64_t of_layer = v.field ? options_.ny * options_.nx : 1;
    std::vector<T> values;
    for (std::int64_t layer = 0; layer < layers; ++layer)
      if (v.field)
        for (const auto cell : cells_)
          values.push_back(static_cast<T>(value_of(v.id, at_least_0(record), layer * of_layer + cell)));
      else
        values.push_back(static_cast<T>(value_of(v.id, at_least_0(record), layer)));
    std::vector<std::int64_t> extents(v.inner.begin(), v.inner.begin() + static_cast<std::ptrdiff_t>(uncut));
    if (v.field && plan_.map) extents.push_back(static_cast<std::int64_t>(cells_.size()));
    if (v.field && !plan_.map) {
      extents.push_back(static_cast<std::int64_t>(cells_.size()) / options_.nx);
      extents.push_back(options_.nx);
    }
    const shoal_array array =
        shoal_array_of(values.data(), v.type, static_cast<int>(extents.size()), extents.data());
    const int code = v.field ? shoal_write(file_, v.name.c_str(), cut_, &array, SHOAL_RECORD(record))
                             : shoal_put(file_, v.name.c_str(), &array, SHOAL_RECORD(record));
    note(code, "write of " + v.name);
  }

  void write_strings(const Variable& v, std::int64_t record) {
    const std::int64_t n = v.inner.empty() ? 1 : v.inner[0];
    std::vector<std::string> texts;
    for (std::int64_t cell = 0; cell < n; ++cell) {
      const auto value = value_of(v.id, at_least_0(record), cell);
      texts.push_back("s" + std::to_string(value) + std::string(static_cast<std::size_t>(value % 7), 'x'));
    }
    std::vector<const char*> pointers;
    for (const auto& text : texts)
      pointers.push_back(text.c_str());
    const shoal_array array =
        shoal_array_of(pointers.data(), SHOAL_STRING, static_cast<int>(v.inner.size()), v.inner.data());
    note(shoal_put(file_, v.name.c_str(), &array, SHOAL_RECORD(record)), "put of " + v.name);
  }

  static std::int64_t at_least_0(std::int64_t record) { return record < 0 ? 0 : record; }

  void promise(const Commit& commit) {
    again_ = false;
    exists_ = true;
    for (const auto& v : commit.variables)
      records_.emplace(v.name, 0);
    for (const auto& w : commit.writes) {
      const auto& name = all_[static_cast<std::size_t>(w.variable)].name;
      if (records_[name] == 0) firsts_[name] = w.record;
      records_[name] = std::max(records_[name], w.record + 1);
    }
    for (const auto& a : commit.attributes)
      versions_[{a.variable, a.name}] = a.version;
    promises_.say("{\"promise\": " + std::to_string(number_) + ", \"kind\": " + json_text(commit.kind) +
                  ", \"variables\": " +
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
               ", \"inner\": " + joined(v.inner, [](std::int64_t n) { return std::to_string(n); }) +
               ", \"field\": " + (v.field ? "true" : "false") + "}";
    return "{}";
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
  std::vector<std::int64_t> cells_;              // of this rank
  std::map<std::string, std::int64_t> records_;  // promised: from the first one on
  std::map<std::string, std::int64_t> firsts_;
  std::map<std::pair<std::string, std::string>, int> versions_;
  Promises promises_;
  shoal_decomposition* cut_ = nullptr;
  shoal_dataset* file_ = nullptr;
  int rank_ = 0, size_ = 1, number_ = 0, copies_ = 0;
  bool exists_ = false, again_ = false, synced_ = false;
  std::string first_;
};

void open_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path()))
    paths.push_back(entry.path().string());
  for (const auto& one : paths) {
    shoal_dataset* file = nullptr;
    if (shoal_open(MPI_COMM_WORLD, one.c_str(), SHOAL_WRITE, "quiet=true", &file) != SHOAL_OK ||
        shoal_close(&file, 0) != SHOAL_OK)
      throw Failure(shoal_error_message());
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
      options.durable = value == "1";
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
}  // namespace crash

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  try {
    const auto options = crash::read_options(argc, argv);
    if (options.scenario == "open") {
      crash::open_files(options.path);
      MPI_Finalize();
      return 0;
    }
    const auto plan = crash::make_plan(options);
    MPI_Comm computing = MPI_COMM_WORLD;
    if (plan.servers && shoal_serve(MPI_COMM_WORLD, 1, &computing) != SHOAL_OK)
      throw std::runtime_error(shoal_error_message());
    if (computing != MPI_COMM_NULL) crash::Model(computing, options, plan).run();
  } catch (const std::exception& e) {
    std::cerr << "crash_workload: " << e.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
