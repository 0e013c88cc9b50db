// SPDX-License-Identifier: BSD-3-Clause
#include "driver/claimed/claimed_driver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "comm/nodes.hpp"
#include "driver/claimed/move_data.hpp"
#include "driver/counters.hpp"

namespace shoal {

struct ClaimedDriver::Place {
  std::string path;     ///< as the user names it
  std::string working;  ///< where the driver made the file; the same as path if there is nothing to replace
  std::atomic<bool> renamed{false};

  bool has_diverged() const { return working != path; }
  const std::string& now() const { return renamed ? path : working; }
  /// Where a file is that the driver opens by this path.
  const std::string& of(const std::string& asked) const { return asked == working ? now() : asked; }
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

  const std::string& path() const override { return place_->of(inner_->path()); }
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
};

}  // namespace

ClaimedDriver::ClaimedDriver(DriverMaker* make, bool calls_mpi_io, const Comm& comm, const std::string& path,
                             OpenMode mode, Format format, const DriverOptions& options)
    : make_(make), comm_(comm), format_(format), options_(options), place_(std::make_shared<Place>()) {
  place_->path = path;
  const Bytes claimed = comm_.from_root([&] {
    claim_ = std::make_unique<Claim>(path, mode, format, options, calls_mpi_io);
    ByteWriter out;
    out.put(claim_->working_path());
    out.put(claim_->needs_rename_fence());
    out.put(claim_->mode());
    return out.take();
  });
  ByteReader in(claimed);
  in.get(place_->working);
  const auto needs_rename_fence = in.get<bool>();
  auto claimed_mode = in.get<OpenMode>();
  if (needs_rename_fence && !Nodes(comm_, options.rearranging.ranks_per_node).single()) {
    claimed_mode = mode;
    place_->working = path;
    if (claim_)
      claim_->replace_at_once("several nodes write it, on a file system where they see new names late");
  }
  DriverOptions with_warnings = options;
  if (claim_) {
    with_warnings.warnings.insert(with_warnings.warnings.end(), claim_->warnings().begin(),
                                  claim_->warnings().end());
    warnings_reported_ = claim_->warnings().size();
  }
  in_words_of_user([&] { inner_ = made(place_, claimed_mode, with_warnings); });
  comm_.on_root([&] { claim_->opened(); });
}

ClaimedDriver::~ClaimedDriver() = default;

std::unique_ptr<Driver> ClaimedDriver::made(const std::shared_ptr<Place>& place, OpenMode mode,
                                            DriverOptions options) const {
  if (place->has_diverged()) {
    options.file.renamed_later = true;
    options.system.open_store = [inner = options.system.open_store, place](const std::string& path,
                                                                           StoreMode store_mode) {
      return std::make_unique<StoreOfPlace<Place>>(inner(place->of(path), store_mode), place);
    };
    options.system.find_free_space = [inner = options.system.find_free_space,
                                      place](const std::string& path) { return inner(place->of(path)); };
  }
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
  return place_->has_diverged() && !place_->renamed;
}

// Also of what is beside the file: its header file.
Status ClaimedDriver::as_user_knows_it(Status status) const {
  for (const Place* place : {place_.get(), moved_ ? moved_->place.get() : nullptr})
    if (place != nullptr && place->has_diverged() && status.file.starts_with(place->working))
      status.file = place->path + status.file.substr(place->working.size());
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
  const Timer timer(earlier_.define);
  const Bytes begun = comm_.from_root([&] {
    ByteWriter out;
    out.put(claim_->begin_move());
    return out.take();
  });
  moved_ = std::make_unique<Moved>();
  moved_->place->path = place_->path;
  moved_->place->working = ByteReader(begun).get<std::string>();
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
  moved_->place->renamed = !waits_for_commit();
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
                        const std::vector<std::string>& strings, const Status& status) {
  in_words_of_user([&] { inner_->put(variable, box, values, strings, status); });
}

void ClaimedDriver::get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings,
                        const Status& status) {
  in_words_of_user([&] { inner_->get(variable, box, values, strings, status); });
}

void ClaimedDriver::fetch(int variable, const Box& box, std::byte* values) {
  in_words_of_user([&] { inner_->fetch(variable, box, values); });
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
  if (status.ok() && renames) place_->renamed = true;
  return status;
}

void ClaimedDriver::sync(bool durable) {
  if (durable && claim_) claim_->make_name_durable();
  Status outcome = as_user_knows_it(caught([&] { inner_->sync(durable); }));
  if (inner_->whole()) outcome.merge(finish(durable, false));
  if (!outcome.ok()) throw Error(outcome);
}

// Others may open the file as soon as this returns on one rank.
void ClaimedDriver::close(bool durable) {
  if (durable && claim_) claim_->make_name_durable();
  Status outcome = as_user_knows_it(caught([&] { inner_->close(durable); }));
  if (inner_->whole()) {
    Status renamed = finish(durable, true);
    if (!renamed.ok() && waits_for_commit()) {
      if (claim_) renamed.message += fmt::format("; it is whole, and stays as '{}'", claim_->leave());
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
  if (mode == OpenMode::read) return make(comm, path, mode, format, options);
  return std::make_unique<ClaimedDriver>(make, calls_mpi_io, comm, path, mode, format, options);
}

}  // namespace shoal
