// SPDX-License-Identifier: BSD-3-Clause
#include "driver/claimed/claimed_driver.hpp"

#include <fmt/core.h>

#include <atomic>
#include <optional>
#include <utility>

#include "comm/nodes.hpp"

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
    : comm_(comm), place_(std::make_shared<Place>()), mode_(mode) {
  place_->path = path;
  const Bytes claimed = comm_.from_root([&] {
    claim_ = std::make_unique<Claim>(path, mode, format, options, calls_mpi_io);
    ByteWriter out;
    out.put(claim_->working_path());
    out.put(claim_->minds_nodes());
    out.put(claim_->mode());
    return out.take();
  });
  ByteReader in(claimed);
  in.get(place_->working);
  const auto minds_nodes = in.get<bool>();
  in.get(mode_);
  if (minds_nodes && !Nodes(comm_, options.rearranging.ranks_per_node).single()) {
    mode_ = mode;
    place_->working = path;
    if (claim_)
      claim_->replace_at_once("several nodes write it, on a file system where they see new names late");
  }
  open(make, format, options);
}

void ClaimedDriver::open(DriverMaker* make, Format format, DriverOptions options) {
  if (place_->has_diverged()) {
    options.file.renamed_later = true;
    options.system.open_store = [inner = options.system.open_store, place = place_](const std::string& path,
                                                                                    StoreMode mode) {
      return std::make_unique<StoreOfPlace<Place>>(inner(place->of(path), mode), place);
    };
    options.system.find_free_space = [inner = options.system.find_free_space, place = place_](
                                         const std::string& path) { return inner(place->of(path)); };
  }
  if (claim_) {
    options.warnings.insert(options.warnings.end(), claim_->warnings().begin(), claim_->warnings().end());
    warnings_reported_ = claim_->warnings().size();
  }
  in_words_of_user([&] { inner_ = make(comm_, place_->working, mode_, format, options); });
  comm_.on_root([&] { claim_->opened(); });
}

// What a file system says of locks only once there is a file to lock.
const Counters& ClaimedDriver::counters() const {
  if (!claim_ || claim_->warnings().size() == warnings_reported_) return inner_->counters();
  counters_ = inner_->counters();
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
  if (place_->has_diverged() && status.file.starts_with(place_->working))
    status.file = place_->path + status.file.substr(place_->working.size());
  return status;
}

template <class Work>
void ClaimedDriver::in_words_of_user(Work&& work) const {
  try {
    work();
  } catch (const Error& e) {
    if (!place_->has_diverged()) throw;
    throw Error(as_user_knows_it(e.status()));
  }
}

void ClaimedDriver::define(const Schema& wanted, const Cuts& cuts) {
  in_words_of_user([&] { inner_->define(wanted, cuts); });
}

void ClaimedDriver::prepare(const std::shared_ptr<const Decomposition>& decomposition) {
  in_words_of_user([&] { inner_->prepare(decomposition); });
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
  if (mode == OpenMode::read || (!options.file.locks && !options.file.replace_at_commit))
    return make(comm, path, mode, format, options);
  return std::make_unique<ClaimedDriver>(make, calls_mpi_io, comm, path, mode, format, options);
}

}  // namespace shoal
