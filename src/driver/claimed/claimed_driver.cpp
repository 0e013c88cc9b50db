// SPDX-License-Identifier: BSD-3-Clause
#include "driver/claimed/claimed_driver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "comm/nodes.hpp"
#include "driver/claimed/move_data.hpp"
#include "driver/claimed/remote_claim.hpp"
#include "driver/counters.hpp"
#include "driver/protocol/root_values.hpp"
#include "storage/paths.hpp"
#include "storage/remote/remote_path.hpp"

namespace shoal {

struct ClaimedDriver::Place {
  enum class At { working, path, nowhere };
  std::string path;     ///< as the user names it
  std::string name;     ///< the same, absolute, as programs change their working folder
  std::string working;  ///< where the driver made the file; the same as name if there is nothing to replace
  std::atomic<At> at{At::working};  ///< nowhere: another file has the name, and this one is only closed

  // Folders may have other names on other nodes.
  std::string sent(const std::string& made) const {
    return name_one_folder(made, name) ? file_name_of(made) : made;
  }
  void receive(const std::string& made) { working = path_beside(name, made); }

  bool has_diverged() const { return working != name; }
  const std::string& now() const { return at == At::working ? working : name; }
  /// What a file, or one in the folder, is called now that the driver opened by this path.
  std::string name_of(const std::string& asked) const {
    const bool is_mine =
        asked.starts_with(working) && (asked.size() == working.size() || asked[working.size()] == '/');
    return is_mine ? now() + asked.substr(working.size()) : asked;
  }
  /// The same in a text that lives on, and changes only with the name: libraries keep pointers to it.
  const std::string& keep_name(const std::string& asked, std::string& kept) const {
    if (std::string present = name_of(asked); present != kept) kept = std::move(present);
    return kept;
  }
  /// The same of one that is to be opened.
  std::string of(const std::string& asked) const {
    if (at == At::nowhere)
      throw Error(Code::state, "the data of the file have moved to a new one").in_file(path);
    return name_of(asked);
  }
};

/// A new file to which the data have moved, with the definitions, until it takes the place.
struct ClaimedDriver::Moved {
  std::shared_ptr<Place> place = std::make_shared<Place>();
  std::unique_ptr<Driver> driver;
  std::int64_t bytes = 0;
};

namespace {

/// A store whose file gets another name while it is open.
template <class Place>
class StoreOfPlace final : public Store {
 public:
  StoreOfPlace(std::unique_ptr<Store> inner, std::shared_ptr<const Place> place)
      : inner_(std::move(inner)), place_(std::move(place)) {}

  const std::string& path() const override { return place_->keep_name(inner_->path(), path_); }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    inner_->write(offset, bytes);
  }
  std::size_t write_past_cache(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return inner_->write_past_cache(offset, bytes);
  }
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    return inner_->read(offset, bytes);
  }
  std::uint64_t size() override { return inner_->size(); }
  void resize(std::uint64_t size) override { inner_->resize(size); }
  void send() override { inner_->send(); }
  void sync() override { inner_->sync(); }
  void close() override { inner_->close(); }

 private:
  std::unique_ptr<Store> inner_;
  std::shared_ptr<const Place> place_;
  mutable std::string path_;
};

/// A folder that gets another name while it is open.
template <class Place>
class FolderOfPlace final : public Container {
 public:
  FolderOfPlace(std::string made, StoreOpener open, std::shared_ptr<const Place> place)
      : made_(std::move(made)), open_(std::move(open)), place_(std::move(place)) {}

  const std::string& path() const override { return place_->keep_name(made_, path_); }
  std::unique_ptr<Store> open(const std::string& object, StoreMode mode) override {
    return now()->open(object, mode);
  }
  std::vector<std::string> list(const std::string& beginning) override { return now()->list(beginning); }
  std::vector<std::string> children(const std::string& folder) override { return now()->children(folder); }
  void remove_below(const std::string& folder) override { now()->remove_below(folder); }
  void copy(const std::string& object, const std::string& to) override { now()->copy(object, to); }
  void remove(const std::string& object) override { now()->remove(object); }
  void publish(const std::string& made, const std::string& object, bool durable) override {
    now()->publish(made, object, durable);
  }
  void sync_name(const std::string& object) override { now()->sync_name(object); }
  bool stores_whole() const override { return now()->stores_whole(); }
  void put(const std::string& object, std::span<const std::byte> bytes) override {
    now()->put(object, bytes);
  }

 private:
  std::shared_ptr<Container> now() const { return folder_container(place_->of(made_), open_); }
  std::string made_;
  StoreOpener open_;
  std::shared_ptr<const Place> place_;
  mutable std::string path_;
};

}  // namespace

ClaimedDriver::ClaimedDriver(DriverMaker* make, bool calls_mpi_io, const Comm& comm, const std::string& path,
                             OpenMode mode, Format format, const DriverOptions& options)
    : make_(make), comm_(comm), format_(format), options_(options), place_(std::make_shared<Place>()) {
  place_->path = path;
  place_->name = absolute_path(path);
  Bytes claimed;
  in_words_of_user([&] { claimed = claim(mode, calls_mpi_io); });
  ByteReader in(claimed);
  place_->receive(in.get<std::string>());
  const auto needs_rename_fence = in.get<bool>();
  auto claimed_mode = in.get<OpenMode>();
  if (needs_rename_fence && !Nodes(comm_, options.rearranging.ranks_per_node).single()) {
    place_->working = place_->name;
    claimed_mode = value_of_root(comm_, [&] {
      claim_->replace_at_once(Claim::why_not_with_nodes());
      return claim_->mode();
    });
  }
  DriverOptions with_warnings = options;
  if (claim_) {
    with_warnings.warnings.insert(with_warnings.warnings.end(), claim_->warnings().begin(),
                                  claim_->warnings().end());
    warnings_reported_ = claim_->warnings().size();
  }
  in_words_of_user([&] { inner_ = made(place_, claimed_mode, with_warnings); });
  in_words_of_user([&] { comm_.on_root([&] { claim_->opened(); }); });
}

ClaimedDriver::~ClaimedDriver() = default;

Bytes ClaimedDriver::claim(OpenMode mode, bool calls_mpi_io) {
  return comm_.from_root([&] {
    claim_ = std::make_unique<Claim>(place_->name, mode, format_, options_, calls_mpi_io);
    ByteWriter out;
    out.put(place_->sent(claim_->working_path()));
    out.put(claim_->needs_rename_fence());
    out.put(claim_->mode());
    return out.take();
  });
}

std::unique_ptr<Driver> ClaimedDriver::made(const std::shared_ptr<Place>& place, OpenMode mode,
                                            DriverOptions options) const {
  options.file.renamed_later = place->has_diverged();
  SystemOptions& system = options.system;
  system.open_store = [inner = system.open_store, place](const std::string& path, StoreMode store_mode) {
    return std::make_unique<StoreOfPlace<Place>>(inner(place->of(path), store_mode), place);
  };
  system.open_folder = [open = system.open_store, place](const std::string& path) {
    return std::make_shared<FolderOfPlace<Place>>(path, open, place);
  };
  system.find_free_space = [inner = system.find_free_space, place](const std::string& path) {
    return inner(place->of(path));
  };
  system.present_name = [place](const std::string& path) { return place->of(path); };
  return make_(comm_, place->working, mode, format_, options);
}

// What a file system says of locks only once there is a file to lock.
const Counters& ClaimedDriver::counters() const {
  const bool any_new = claim_ && claim_->warnings().size() > warnings_reported_;
  if (!any_new && !has_moved_) return inner_->counters();
  counters_ = added(earlier_, inner_->counters());
  if (any_new)
    counters_.warnings.insert(counters_.warnings.end(),
                              claim_->warnings().begin() + static_cast<std::ptrdiff_t>(warnings_reported_),
                              claim_->warnings().end());
  return counters_;
}

bool ClaimedDriver::waits_for_commit() const {
  return place_->has_diverged() && place_->at == Place::At::working;
}

// Also of what is beside the file: its header file.
Status ClaimedDriver::as_user_knows_it(Status status) const {
  std::vector<const Place*> places{place_.get()};
  if (moved_) places.push_back(moved_->place.get());
  for (const Place* place : places)
    for (const std::string* known : {&place->working, &place->name})
      if (!known->empty() && status.file.starts_with(*known))
        status.file = place->path + status.file.substr(known->size());
  return status;
}

template <class Work>
void ClaimedDriver::in_words_of_user(Work&& work) const {
  try {
    work();
  } catch (const Error& e) {
    throw Error(as_user_knows_it(e.status()));
  }
}

void ClaimedDriver::make_place(const Schema& wanted) {
  in_words_of_user([&] {
    if (!inner_->has_place(wanted)) move(wanted);
  });
}

void ClaimedDriver::drop_place() {
  if (moved_ && claim_) claim_->give_up_move();
  moved_.reset();
}

void ClaimedDriver::define(const Schema& wanted, const Cuts& cuts) {
  if (!moved_) make_place(wanted);
  in_words_of_user([&] {
    if (!moved_) return inner_->define(wanted, cuts);
    take_place();
    Schema in_file = wanted;
    in_file.changes.clear();
    inner_->define(in_file, cuts);
  });
}

// Until the new file has the name, the driver of the one that is there can go on.
template <class Work>
void ClaimedDriver::or_drop_place(Work&& work) {
  const Status status = as_user_knows_it(caught(work));
  if (status.ok()) return;
  drop_place();
  throw Error(status);
}

void ClaimedDriver::move(const Schema& wanted) {
  inner_->sync(false);
  inner_->drop_stage();  // there may be no memory for two
  const Timer timer(earlier_.define);
  const bool several_nodes = !Nodes(comm_, options_.rearranging.ranks_per_node).single();
  const std::string begun =
      value_of_root(comm_, [&] { return place_->sent(claim_->begin_move(several_nodes)); });
  moved_ = std::make_unique<Moved>();
  moved_->place->path = place_->path;
  moved_->place->name = place_->name;
  moved_->place->receive(begun);
  or_drop_place([&] {
    moved_->bytes = move_data(comm_, place_->now(), moved_->place->working, wanted, options_);
    moved_->driver = made(moved_->place, OpenMode::write, options_);
    for (const auto& decomposition : prepared_)
      moved_->driver->prepare(decomposition);
    moved_->driver->sync(false);  // what a library opens by name later it opens before that changes
  });
}

void ClaimedDriver::take_place() {
  or_drop_place([&] { comm_.on_root([&] { claim_->end_move(); }); });
  if (!waits_for_commit()) moved_->place->at = Place::At::path;
  place_->at = Place::At::nowhere;
  place_ = moved_->place;
  std::swap(inner_, moved_->driver);
  caught([&] { moved_->driver->close(false); });  // nobody needs to know what becomes of the old file
  earlier_ = added(earlier_, moved_->driver->counters());
  if (comm_.rank() == 0) earlier_.bytes_moved += moved_->bytes;
  has_moved_ = true;
  moved_.reset();
}

void ClaimedDriver::prepare(const std::shared_ptr<const Decomposition>& decomposition) {
  in_words_of_user([&] { inner_->prepare(decomposition); });
  if (std::find(prepared_.begin(), prepared_.end(), decomposition) == prepared_.end())
    prepared_.push_back(decomposition);
}

void ClaimedDriver::write(const Transfer& transfer) {
  in_words_of_user([&] { inner_->write(transfer); });
}

void ClaimedDriver::read(const Transfer& transfer) {
  in_words_of_user([&] { inner_->read(transfer); });
}

void ClaimedDriver::put(int variable, const Box& box, const std::byte* values,
                        const std::vector<std::string>& strings) {
  in_words_of_user([&] { inner_->put(variable, box, values, strings); });
}

void ClaimedDriver::get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings) {
  in_words_of_user([&] { inner_->get(variable, box, values, strings); });
}

void ClaimedDriver::refuse(const RefusedCall& call) {
  in_words_of_user([&] { inner_->refuse(call); });
}

void ClaimedDriver::fetch(int variable, const Box& box, std::byte* values) {
  in_words_of_user([&] { inner_->fetch(variable, box, values); });
}

void ClaimedDriver::store(int variable, const Box& box, const std::byte* cells) {
  in_words_of_user([&] { inner_->store(variable, box, cells); });
}

// Only once, and at the end: so many ranks that wait for the first of them do so no more than is needed.
Status ClaimedDriver::finish(bool durable, bool final) {
  const bool renames = waits_for_commit();
  if (!renames && !final) return {};
  const Status status = caught([&] {
    comm_.on_root([&] {
      if (renames) claim_->commit(durable);
      if (final) claim_->release();
    });
  });
  if (status.ok() && renames) place_->at = Place::At::path;
  return status;
}

void ClaimedDriver::sync(bool durable) {
  if (durable && claim_) claim_->make_name_durable();
  Status outcome = as_user_knows_it(caught([&] { inner_->sync(durable); }));
  if (inner_->whole()) outcome.merge(as_user_knows_it(finish(durable, false)));
  if (!outcome.ok()) throw Error(outcome);
}

// Others may open the file as soon as this returns on one rank.
void ClaimedDriver::close(bool durable) {
  if (durable && claim_) claim_->make_name_durable();
  Status outcome = as_user_knows_it(caught([&] { inner_->close(durable); }));
  if (inner_->whole()) {
    Status renamed = as_user_knows_it(finish(durable, true));
    if (!renamed.ok() && waits_for_commit()) {
      const std::string kept = value_of_root(comm_, [&] { return claim_->keep(); });
      renamed.message += fmt::format("; the new file is whole, and stays as '{}'", kept);
    }
    outcome.merge(renamed);
  } else if (outcome.ok() && waits_for_commit()) {  // what a sync said is not said again by the driver
    outcome = {
        Code::io,
        "the new file was never whole, as an earlier sync said; the file that was there stays as it was",
        -1,
        place_->path,
        {}};
  }
  if (claim_) claim_.reset();
  if (!outcome.ok()) throw Error(outcome);
}

std::unique_ptr<Driver> make_claimed_driver(DriverMaker* make, bool calls_mpi_io, const Comm& comm,
                                            const std::string& path, OpenMode mode, Format format,
                                            const DriverOptions& options) {
  if (is_remote(path)) return make_remote_driver(make, comm, path, mode, format, options);
  if (mode == OpenMode::read) return make(comm, path, mode, format, options);
  return std::make_unique<ClaimedDriver>(make, calls_mpi_io, comm, path, mode, format, options);
}

}  // namespace shoal
