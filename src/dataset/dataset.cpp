// SPDX-License-Identifier: BSD-3-Clause
// Opening, definitions, sync and close. Data calls are in dataset_data.cpp.
#include "dataset/dataset.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/language.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "comm/host.hpp"
#include "comm/nodes.hpp"
#include "dataset/report/report.hpp"
#include "dataset/settings/driver_options.hpp"
#include "dataset/settings/unused.hpp"
#include "driver/registry.hpp"
#include "driver/tiles/tiles_driver.hpp"
#include "format/format_traits.hpp"
#include "format/reference/reference.hpp"
#include "format/tiles/set_paths.hpp"
#include "storage/paths.hpp"
#include "storage/remote/remote_path.hpp"

namespace shoal {

// ---- Opening ---------------------------------------------------------------------------------

namespace {

// As far as this rank knows before it has matched calls with others: of its own argument and environment.
double own_wait_seconds(const std::string& settings) {
  double seconds = 0;
  caught([&] {
    const Settings mine = resolve_settings(settings, {"", ""});
    if (!mine.is_default("wait_seconds")) seconds = mine.seconds("wait_seconds");
  });  // what is wrong with them is said where all ranks hear it
  return seconds;
}

}  // namespace

template <class Work>
auto Dataset::in_file(Work&& work) const {
  try {
    return work();
  } catch (const Error& e) {
    throw e.in_file(shown_path(path_));
  }
}

std::unique_ptr<Dataset> Dataset::create(MPI_Comm comm, const std::string& path,
                                         const DatasetOptions& options) {
  const Seconds start = now();
  std::unique_ptr<Dataset> dataset(
      new Dataset(comm, {own_wait_seconds(options.settings), "create", path}, path, true));
  const Comm::Calling calling(dataset->comm_, "create", shown_path(path));
  dataset->take_settings(options, OpenMode::create);
  dataset->in_file([&] {
    Settings& s = dataset->settings_;
    if (s.is_default("format") && extension_of(path.substr(0, path.find_last_not_of('/') + 1)) == ".zarr")
      s.set("format", "zarr", "name of the file");
    dataset->limit_shards();
    const Format format = format_of(s.text("format"));
    dataset->warn(unused_settings(s, {format, s.text("driver"), true, is_remote(path)}));
    dataset->driver_ =
        make_driver(s.text("driver"), dataset->comm_, path,
                    s.text("exists") == "replace" ? OpenMode::create : OpenMode::create_exclusive, format,
                    dataset->driver_options(options));
    dataset->driver_name_ = s.text("driver");
  });
  dataset->started(start);
  return dataset;
}

std::unique_ptr<Dataset> Dataset::open(MPI_Comm comm, const std::string& path, bool writable,
                                       const DatasetOptions& options) {
  const Seconds start = now();
  std::unique_ptr<Dataset> dataset(
      new Dataset(comm, {own_wait_seconds(options.settings), "open", path}, path, writable));
  const Comm::Calling calling(dataset->comm_, "open", shown_path(path));
  const OpenMode mode = writable ? OpenMode::write : OpenMode::read;
  dataset->take_settings(options, mode);
  if (writable) dataset->limit_shards();
  dataset->in_file([&] {
    const std::string driver = dataset->settings_.text("driver");
    const Bytes is_set = dataset->comm_.from_root([&] {
      if (files_of_set(path).empty()) return Bytes{};
      if (driver != "native" && dataset->settings_.origin("driver") == "argument")
        throw Error(Code::setting,
                    "driver {} cannot read a dataset in several files; leave the setting driver out", driver);
      return Bytes(1);
    });
    dataset->driver_ =
        is_set.empty()
            ? make_driver(driver, dataset->comm_, path, mode, Format::cdf5, dataset->driver_options(options))
            : make_tiles_driver(dataset->comm_, path, mode, dataset->driver_options(options));
    dataset->driver_name_ = is_set.empty() ? driver : "tiles";
    const Format format = dataset->driver_->schema().format;
    dataset->warn(
        unused_settings(dataset->settings_, {format, dataset->driver_name_, writable, is_remote(path)}));
    dataset->library_rounds_ = (driver == "netcdf" || driver == "gather") && traits_of(format).has_chunks;
  });
  dataset->started(start);
  return dataset;
}

std::unique_ptr<Dataset> Dataset::append(MPI_Comm comm, const std::string& path, DatasetOptions options) {
  options.may_create = true;
  try {
    return open(comm, path, true, options);
  } catch (const Error& e) {  // of all ranks alike
    if (e.code() != Code::not_found) throw;
  }
  options.may_create = false;
  options.settings += "\nexists=error";
  return create(comm, path, options);
}

// Rank 0 looks at environment and files; the others take its settings, and compare their arguments with its.
// What one rank refuses all refuse before, in the same agreement as in other calls on a communicator.
void Dataset::take_settings(const DatasetOptions& options, OpenMode open_mode) {
  const std::string mode = open_mode == OpenMode::create  ? "create"
                           : options.may_create           ? "open or create"
                           : open_mode == OpenMode::write ? "open to write"
                                                          : "open to read";
  comm_.agree_or_throw(options.problem);
  ByteWriter arguments;
  arguments.put(path_);
  arguments.put(mode);
  arguments.put(options.settings);
  const Bytes mine = arguments.take();
  Bytes message;
  Status status;
  if (comm_.rank() == 0) {
    status.merge(caught([&] {
      if (path_.find('\0') != std::string::npos)
        throw Error(Code::invalid_argument,
                    "the path has a zero byte inside, where names end for the system");
      settings_ = resolve_settings(options.settings, options.sources);
      if (options.may_create && settings_.origin("exists") == "argument" &&
          settings_.text("exists") != "error")
        throw Error(Code::setting, "exists={} contradicts the mode, which appends to a file that exists",
                    settings_.text("exists"));
      if (open_mode == OpenMode::read) settings_.drop_outputs_below();
      if (options.may_create)
        settings_.drop_those_of_new_files();
      else if (open_mode != OpenMode::create)
        for (const auto& key : setting_keys())
          if (key.creation_only && settings_.origin(key.name) == "argument")
            throw Error(Code::setting, "setting {} is for new files; this one exists", key.name);
      check_report_path(settings_.text("report"));
      machine_ = resolve_machine(settings_, options.sources, path_, options.find_file_system, open_mode);
    }));
    ByteWriter out;
    out.put(std::vector<std::byte>(mine));
    settings_.pack(out);
    pack(out, machine_.figures);
    out.put(machine_.warnings);
    message = out.take();
  }
  comm_.broadcast(message, 0);
  ByteReader in(message);
  Bytes of_root;
  in.get(of_root);
  settings_ = Settings::unpack(in);
  machine_.figures = unpack_machine_figures(in);
  in.get(machine_.warnings);
  comm_.wait_at_most(settings_.seconds("wait_seconds"), settings_.origin("wait_seconds") != "argument");
  ByteReader root(of_root);
  const auto root_path = root.get<std::string>();
  const auto root_mode = root.get<std::string>();
  const auto root_text = root.get<std::string>();
  if (of_root != mine)
    status.merge(
        {Code::out_of_step,
         fmt::format("this rank asks to {} '{}' with settings '{}', rank 0 to {} '{}' with settings '{}'",
                     mode, shown_path(path_), options.settings, root_mode, shown_path(root_path),
                     root_text)});
  if (status.file.empty()) status.file = root_path;
  auto pending_close = PendingClose::none;
  status.merge(caught([&] {
    if (options.pending_close) pending_close = options.pending_close(comm_, path_);
  }));
  const auto most = comm_.max({std::int64_t{status.ok() ? 0 : 1}, static_cast<std::int64_t>(pending_close)});
  if (most[0] != 0) comm_.agree_or_throw(status);
  settle_background();
  if (most[1] == 0) return;
  if (most[1] == static_cast<std::int64_t>(PendingClose::elsewhere))
    throw Error(
        Code::state,
        "the file is still being closed in the background, by ranks that do not all open it here; call "
        "shoal_wait on all ranks that closed it first")
        .in_file(shown_path(path_));
  comm_.agree_or_throw(caught([&] { options.await_pending_close(path_); }));
}

// A rank has a whole one in memory where objects are stored as a whole.
void Dataset::limit_shards() {
  if (is_remote(path_) && settings_.is_default("shard_bytes"))
    settings_.set("shard_bytes", "32MiB", "object store");
}

void Dataset::warn(const std::vector<std::string>& more) {
  warnings_.insert(warnings_.end(), more.begin(), more.end());
}

// A thread makes no call of MPI, but MPI may know of none: then ranks store within their calls, and files are
// the same.
void Dataset::settle_background() {
  const std::string& wanted = settings_.text("background");
  const bool native = writable_ && settings_.text("driver") == "native";
  if (wanted == "auto")
    settings_.set("background", native && have_cores_for_threads(comm_) ? "thread" : "off", "auto");
  else if (wanted == "thread" && native && !allows_threads(comm_)) {
    const std::string why = fmt::format(
        "setting background is 'thread' (from {}), but this program started MPI without threads "
        "(MPI_THREAD_SINGLE)",
        settings_.origin("background"));
    if (settings_.text("unused_settings") == "refuse")
      throw Error(Code::setting, "{}; {}, or leave background out", why, way_to_threads())
          .in_file(shown_path(path_));
    warnings_.push_back(
        fmt::format("{}, so ranks store within their calls; to have threads, {}", why, way_to_threads()));
    settings_.set("background", "off", "auto");
  }
}

DriverOptions Dataset::driver_options(const DatasetOptions& options) const {
  DriverOptions out = driver_options_of(settings_, machine_.figures);
  out.system.open_store = options.open_store;
  out.system.find_file_system = options.find_file_system;
  out.system.lustre_libraries = options.lustre_libraries;
  if (!settings_.flag("quiet"))
    out.file.announce = [path = path_](const std::string& text) {
      std::fprintf(stderr, "shoal: %s: %s\n", path.c_str(), text.c_str());
    };
  if (out.background.stored_by == StoredBy::ranks) {  // who serve make their own of them
    ByteWriter packed;
    settings_.pack(packed);
    pack(packed, machine_.figures);
    out.servers.settings = packed.take();
  }
  return out;
}

void Dataset::started(Seconds start) {
  definitions_ =
      Definitions({fill_mode_of(settings_), settings_.choices("compression"), settings_.choices("quantize"),
                   settings_.choices("pack"), settings_.choices("chunks"), settings_.bytes("chunk_bytes"),
                   fill_mode_of(settings_) == FillMode::written && driver_name_ == "native"});
  definitions_.reset(driver_->schema());
  if (writable_) definitions_.find_quantized();
  in_file([&] { warn(definitions_.find_packed(writable_)); });
  gatherings_ = gatherings_of(schema());
  next_records_.start(schema());
  opened_at_ = start;
  warn(machine_.warnings);
  print_warnings();
}

Dataset::~Dataset() {
  if (!closed_) comm_.leave();
}

void Dataset::check_open() const {
  if (closed_) throw Error(Code::state, "the dataset is closed").in_file(shown_path(path_));
}

void Dataset::check_ranks(const Decomposition* decomposition) const {
  if (decomposition != nullptr &&
      (decomposition->comm_size() != comm_.size() || decomposition->comm_rank() != comm_.rank()))
    throw Error(Code::invalid_argument,
                "the decomposition was made with another communicator than the dataset");
}

void Dataset::check_writable() const {
  check_open();
  if (!writable_)
    throw Error(Code::state, "the file was opened for reading; open it with {} to change it",
                word_for_writing())
        .in_file(shown_path(path_));
}

// ---- Definitions -----------------------------------------------------------------------------

// Also when the definition itself fails: then all ranks finish definitions together with the ranks where it
// did not.
void Dataset::begin_definition() {
  check_writable();
  defining_ = true;
}

// An Error names the file, and the variable if there is one.
template <class Work>
void Dataset::define(const char* variable, Work&& work) {
  begin_definition();
  try {
    work();
  } catch (const Error& e) {
    throw(variable == nullptr ? e : e.of_variable(variable)).in_file(shown_path(path_));
  }
}

void Dataset::def_group(const std::string& name) {
  define(nullptr, [&] { definitions_.def_group(name); });
}

void Dataset::def_dim(const std::string& name, std::int64_t length) {
  define(nullptr, [&] { definitions_.def_dim(name, length); });
}

void Dataset::def_var(const std::string& name, Type type, const std::string& dims,
                      std::shared_ptr<const Decomposition> decomposition) {
  std::vector<std::string> names;
  define(name.c_str(), [&] { names = names_in(dims); });
  def_var(name, type, names, std::move(decomposition));
}

void Dataset::def_var(const std::string& name, Type type, const std::vector<std::string>& dims,
                      std::shared_ptr<const Decomposition> decomposition) {
  define(name.c_str(), [&] {
    check_ranks(decomposition.get());
    definitions_.def_var(name, type, dims, std::move(decomposition));
  });
}

void Dataset::def_cut(const std::string& variable) {
  define(nullptr, [&] { definitions_.def_cut(variable); });
}

void Dataset::def_independent(const std::string& variable) {
  define(nullptr, [&] { definitions_.def_independent(variable); });
}

void Dataset::def_gathered(const std::string& name, const std::string& dims,
                           std::shared_ptr<const Decomposition> decomposition) {
  define(name.c_str(), [&] {
    check_ranks(decomposition.get());
    definitions_.def_gathered(name, dims, std::move(decomposition));
  });
}

void Dataset::def_fill(const std::string& variable, Type type, const void* value) {
  define(nullptr, [&] { definitions_.def_fill(variable, type, value); });
}

void Dataset::def_chunks(const std::string& variable, const std::int64_t* chunks) {
  define(nullptr, [&] { definitions_.def_chunks(variable, chunks); });
}

void Dataset::def_compression(const std::string& variable, const std::string& text) {
  define(nullptr, [&] { definitions_.def_compression(variable, text); });
}

void Dataset::def_quantize(const std::string& variable, const std::string& text) {
  define(nullptr, [&] { definitions_.def_quantize(variable, text); });
}

void Dataset::def_pack(const std::string& variable, const std::string& text) {
  define(nullptr, [&] { definitions_.def_pack(variable, text); });
}

void Dataset::put_att(const char* variable, const std::string& name, Type type, std::int64_t count,
                      const void* values) {
  define(variable, [&] { definitions_.put_att(variable, name, type, count, values); });
}

void Dataset::copy_att(const char* variable, const Attribute& attribute) {
  define(variable, [&] {
    definitions_.copy_att(variable, attribute, driver_name_ == "native" || driver_name_ == "mpiio");
  });
}

void Dataset::rename_dim(const std::string& name, const std::string& to) {
  define(nullptr, [&] { definitions_.rename_dim(name, to); });
}

void Dataset::rename_var(const std::string& name, const std::string& to) {
  define(name.c_str(), [&] { definitions_.rename_var(name, to); });
}

void Dataset::rename_group(const std::string& name, const std::string& to) {
  define(nullptr, [&] { definitions_.rename_group(name, to); });
}

void Dataset::rename_att(const char* variable, const std::string& name, const std::string& to) {
  define(variable, [&] { definitions_.rename_att(variable, name, to); });
}

void Dataset::delete_att(const char* variable, const std::string& name) {
  define(variable, [&] { definitions_.delete_att(variable, name); });
}

void Dataset::end_define() {
  check_writable();
  const Comm::Calling calling(comm_, "end_define", shown_path(path_));
  defining_ = true;  // also with nothing to do, so that a rank that defined something finds the others here
  finish_definitions();
  look_for_unused_choices();
  print_warnings();
}

void Dataset::finish_definitions() {
  if (!defining_) return;
  const Status status = caught([&] {
    definitions_.describe_left_cells();
    Bytes mine = definitions_.packed();
    if (const auto of_root = match_with_root("finishes definitions", mine)) {
      Status differs;
      if (*of_root != mine && settings_.text("attributes") == "rank0") {
        definitions_.take_attribute_values(*of_root);
        mine = definitions_.packed();
      }
      if (*of_root != mine)
        differs = {Code::out_of_step,
                   fmt::format("ranks made different definitions: {}; every rank must make the same ones in "
                               "the same order. Definitions since the last end_define are dropped",
                               first_difference(mine, *of_root))};
      comm_.agree_or_throw(differs);
    }
    warn(definitions_.describe_packed());  // throws on all ranks, whose definitions are the same now
    definitions_.describe_quantized();
    check_layout_of_gathered();
    driver_->define(definitions_.wanted(), cuts_in_file());
  });
  if (!status.ok()) {
    drop_definitions();
    throw Error(status).in_file(shown_path(path_));
  }
  const auto gathered = definitions_.gathered();
  definitions_.reset(driver_->schema());
  gatherings_ = gatherings_of(schema());
  roundings_.clear();
  box_calls_.forget_plans();
  write_lists(gathered);
  // Lists of variables agree, so ranks come to new decompositions in the same order.
  for (const auto& d : definitions_.decompositions()) {
    if (d == nullptr || std::find(prepared_.begin(), prepared_.end(), d) != prepared_.end()) continue;
    driver_->prepare(d);
    prepared_.push_back(d);
  }
  defining_ = false;  // else what failed is tried again
  find_gathered_fields();
}

void Dataset::drop_definitions() {
  definitions_.reset(driver_->schema());
  defining_ = false;
}

// ---- Sync and close --------------------------------------------------------------------------

std::optional<Bytes> Dataset::match_with_root(const char* does, const Bytes& details) {
  Hash hash;
  hash.add(details);
  if (driver_->match_calls(comm_, {does, hash.value()}).same) return std::nullopt;
  Bytes of_root = details;
  comm_.broadcast(of_root, 0);
  return of_root;
}

template <class Work>
Status Dataset::complete_call(const char* does, bool durable, Work&& work) {
  CallMatch match;
  Status status = caught([&] {
    match = driver_->match_calls(comm_, {does, 0, !late_.ok(), defining_ || definitions_.any_left_cells(),
                                         durable || settings_.flag("durable")});
  });
  // Ranks that found each other in different calls have nothing more to do together.
  if (status.ok()) {
    status.merge(caught([&] {
      std::vector<std::int64_t> pending{defining_ ? 1 : 0, definitions_.any_left_cells() ? 1 : 0};
      if (match.any_flag) pending = comm_.max(std::move(pending));
      defining_ = pending[0] != 0;
      finish_definitions();
      if (pending[1] != 0) add_fill_values();
    }));
    status.merge(caught([&] { work(match.asks); }));
    if (match.failed) status.merge(comm_.agree(late_));
    if (status.ok()) look_for_unused_choices();
  }
  late_ = {};
  print_warnings();
  return status;
}

ProgramOutcome Dataset::match_program_call(const ProgramCall& mine) {
  check_open();
  const Comm::Calling calling(comm_, mine.name.c_str(), shown_path(path_));
  return in_file([&] {
    return shoal::match_program_call(
        comm_, mine, [this](const CallSignature& s) { return driver_->match_calls(comm_, s); });
  });
}

void Dataset::sync(bool durable) {
  check_open();
  if (!writable_) return;  // nothing can be on its way
  const Comm::Calling calling(comm_, "sync", shown_path(path_));
  // Durable for all if it is for one: drivers of other libraries do together what that takes.
  const Status status = complete_call("syncs", durable, [&](bool of_any) { driver_->sync(of_any); });
  if (status.ok())
    next_records_.settle(schema());
  else
    next_records_.start(schema());
  if (!status.ok()) throw Error(status).in_file(shown_path(path_));
  retry_gathered_fields();
}

bool Dataset::closes_later() const {
  return writable_ && !closed_ && settings_.flag("background_close") &&
         settings_.text("background") != "off" && settings_.text("driver") == "native";
}

void Dataset::begin_close() {
  check_open();
  const Comm::Calling calling(comm_, "close", shown_path(path_));
  driver_->submit_pending();
}

void Dataset::close(bool durable) {
  check_open();
  const Comm::Calling calling(comm_, "close", shown_path(path_));
  Status status = complete_call("closes", durable, [&](bool of_any) { driver_->close(of_any); });
  closed_ = true;
  if (status.ok() && writable_) status.merge(caught([&] { write_overviews(); }));
  // Where ranks wait no more for each other, nothing can be gathered.
  if (!comm_.diverged() && !driver_->diverged() && status.code != Code::timeout && status.code != Code::mpi) {
    status.merge(warn_of_values_out_of_range());
    status.merge(finish_report());
  }
  definitions_.reset(driver_->schema());
  if (!status.ok()) throw Error(status).in_file(shown_path(path_));
}

// What opens the files as one elsewhere, once they are whole.
void Dataset::write_overviews() {
  const std::string reference = settings_.text("reference");
  const std::string master = settings_.text("master");
  if (reference.empty() && master.empty()) return;
  const std::string stem =
      path_.size() > 3 && path_.ends_with(".nc") ? path_.substr(0, path_.size() - 3) : path_;
  comm_.on_root([&] {
    for (const char* key : {"reference", "master"})
      if (const std::string& path = settings_.text(key); path != "auto") settings_.check_below(key, path);
    if (!reference.empty())
      write_reference({path_}, reference == "auto" ? stem + "_reference.json" : reference);
    if (!master.empty()) write_virtual_master({path_}, master == "auto" ? stem + "_master.nc" : master);
  });
}

std::map<std::string, std::int64_t> Dataset::fill_cells() const {
  std::map<std::string, std::int64_t> out;
  for (const auto& [variable, cells] : fill_cells_)
    if (cells > 0) out[schema().variable(variable).name] = cells;
  return out;
}

std::map<std::string, OutOfRange> Dataset::out_of_range() const {
  std::map<std::string, OutOfRange> out;
  for (const auto& [variable, packed] : packed_)
    if (packed.out_of_range.count > 0) out[schema().variable(variable).name] = packed.out_of_range;
  return out;
}

// Values are lost, whether somebody reads a report or not.
Status Dataset::warn_of_values_out_of_range() {
  if (!writable_ || definitions_.packings().empty()) return {};
  return caught([&] {
    RankReport mine;
    mine.out_of_range = out_of_range();
    std::map<std::string, OutOfRange> of_all;
    for (const auto& part : comm_.gather(packed(mine), 0))
      for (const auto& [variable, values] : unpack_rank_report(part).out_of_range)
        of_all[variable].add(values);
    for (const auto& [variable, values] : of_all)
      warnings_.push_back(fmt::format("variable '{}': {}", variable, text_of(values)));
    print_warnings();
  });
}

Status Dataset::finish_report() {
  if (settings_.text("report").empty()) return {};
  return caught([&] {
    RankReport mine{counters(), now() - opened_at_, host_name(), fill_cells(), out_of_range()};
    const auto parts = comm_.gather(packed(mine), 0);
    const auto servers = driver_->counters_of_servers();
    comm_.on_root([&] {
      DatasetReport report = report_without_ranks();
      for (const auto& part : parts)
        report.of_ranks.push_back(unpack_rank_report(part));
      for (const auto& counters : servers)
        report.of_servers.push_back({counters, mine.open_seconds});
      write_report(report, settings_);
    });
  });
}

// Variables may be defined at any time. Where a program says that it is done with that, or what it wrote is
// to be whole, those that settings name should be there.
void Dataset::look_for_unused_choices() {
  if (choices_looked_at_ || !definitions_.any_defined_here()) return;
  choices_looked_at_ = true;
  for (auto& warning : unused_choices(settings_, definitions_))
    warnings_.push_back(std::move(warning));
}

Counters Dataset::counters() const {
  Counters all = driver_->counters();
  all.warnings.insert(all.warnings.begin(), warnings_.begin(), warnings_.end());
  return all;
}

void Dataset::print_warnings() {
  const auto print = [&](const std::vector<std::string>& warnings, std::size_t& printed) {
    for (; printed < warnings.size(); ++printed)
      if (comm_.rank() == 0 && !settings_.flag("quiet"))
        std::fprintf(stderr, "shoal: %s: %s\n", printable_name(path_).c_str(),
                     printable(warnings[printed]).c_str());
  };
  print(warnings_, own_printed_);
  print(driver_->counters().warnings, warnings_printed_);
}

// ---- What is known ---------------------------------------------------------------------------

const Schema& Dataset::schema() const {
  return definitions_.schema();
}

const std::vector<Attribute>& Dataset::attributes_of(const char* name) const {
  return schema().attributes_of(definitions_.owner(name));
}

std::int64_t Dataset::begin_step() {
  check_writable();
  return in_file([&] { return next_records_.begin_step(schema()); });
}

std::int64_t Dataset::num_records(const char* variable) const {
  next_records_.check_known();
  int dim = -1;
  if (variable == nullptr) {
    dim = record_dim_of(schema());
  } else {
    const int v = definitions_.variable(variable);
    if (schema().has_record(v)) dim = schema().variable(v).dims.front();
  }
  return dim < 0 ? 0 : schema().dim(dim).length;
}

// Of the formats, netCDF-4 alone says that a variable is not filled; of the others the setting does, for who
// writes.
bool Dataset::fills(int variable) const {
  return !schema().variable(variable).no_fill && (!writable_ || fill_mode_of(settings_) != FillMode::none);
}

std::optional<Placement> Dataset::placement(int variable) const {
  if (closed_ || variable >= static_cast<int>(driver_->schema().variables.size())) return std::nullopt;
  return driver_->placement(variable);
}

DatasetReport Dataset::report_without_ranks() const {
  DatasetReport report;
  report.path = path_;
  report.format = name_of(schema().format);
  report.driver = driver_name();
  report.ranks = comm_.size();
  report.cores = cores_of_host();
  if (machine_.figures && machine_.figures->measured()) report.machine = machine_.figures;
  report.filled = definitions_.added_fill_values();
  return report;
}

std::string Dataset::report_text() const {
  DatasetReport report = report_without_ranks();
  report.of_ranks.push_back({counters(), now() - opened_at_, {}, fill_cells(), out_of_range()});
  return json_of(report, settings_);
}

}  // namespace shoal
