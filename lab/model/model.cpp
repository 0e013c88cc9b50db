// SPDX-License-Identifier: BSD-3-Clause
#include "model/model.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <stdexcept>

namespace shoal::lab {

Model::Model(const Parameters& parameters, int clients)
    : parameters_((check(parameters), parameters)),
      faults_(parameters.faults),
      transport_(parameters, clients, faults_),
      metadata_(parameters.metadata, parameters.network.latency) {
  if (clients < 1)
    throw std::invalid_argument("there are " + std::to_string(clients) + " clients; 1 or more are needed");
  for (ClientId client = 0; client < clients; ++client)
    caches_.push_back(std::make_unique<ClientCache>(parameters.cache, client, transport_));
}

void Model::advance(Seconds now) {
  for (const auto& cache : caches_)
    cache->send_aged(now);
}

// ---- names ----

Model::Outcome Model::open(Seconds now, ClientId client, FileId id, FileId folder) {
  advance(now);
  if (const int error = faults_.request(Operation::open, client)) return failed(now, error);
  const Seconds done = metadata_.serve(Operation::open, folder, 0, now);
  const File& of = file(id);
  ClientCache::Seen& seen = cache(client).seen(id);
  if (parameters_.locks.mode == LockMode::file && seen.data != of.data) cache(client).drop_clean(id);
  seen.data = of.data;
  seen.attributes = of.attributes;
  seen.attributes_at = done;
  return {done, 0};
}

Model::Outcome Model::create(Seconds now, ClientId client, FileId folder) {
  advance(now);
  if (const int error = faults_.request(Operation::create, client)) return failed(now, error);
  const int stripes = striping_of_folder(folder).count;
  return {metadata_.serve(Operation::create, folder, stripes, now), 0};
}

void Model::add_file(ClientId client, FileId id, FileId folder, Seconds now) {
  const StripingParameters striping = striping_of_folder(folder);
  for (const auto& each : caches_)
    each->forget(id);
  File& of = files_[id] = File{};
  of.layout = {striping.bytes, striping.count, next_server_};
  next_server_ = (next_server_ + striping.count) % parameters_.servers.number;
  cache(client).seen(id).attributes_at = now;
}

void Model::adopt_file(FileId id, FileId folder, std::int64_t size) {
  add_file(0, id, folder, 0);
  File& of = file(id);
  of.size = size;
  of.allocated.add({0, size});
  used_ += size;
}

void Model::add_folder(FileId folder, FileId parent) {
  if (const auto found = folders_.find(parent); found != folders_.end()) folders_[folder] = found->second;
}

Model::Outcome Model::name(Operation operation, Seconds now, ClientId client, FileId folder) {
  advance(now);
  if (const int error = faults_.request(operation, client)) return failed(now, error);
  return {metadata_.serve(operation, folder, 0, now), 0};
}

Model::Outcome Model::stat(Seconds now, ClientId client, FileId id, FileId folder) {
  advance(now);
  if (const int error = faults_.request(Operation::stat, client)) return failed(now, error);
  const auto found = files_.find(id);  // a folder is none
  const std::uint64_t attributes = found == files_.end() ? 0 : found->second.attributes;
  ClientCache::Seen& seen = cache(client).seen(id);
  const bool young = seen.attributes_at >= 0 && now < seen.attributes_at + parameters_.cache.attributes;
  // Where clients have locks, they hear of a change.
  if (young && (parameters_.locks.mode != LockMode::extents || seen.attributes == attributes))
    return {now, 0};
  const int stripes = found == files_.end() ? 0 : found->second.layout.stripe_count;
  const Seconds done = metadata_.serve(Operation::stat, folder, stripes, now);
  seen.attributes = attributes;
  seen.attributes_at = done;
  return {done, 0};
}

void Model::remove_file(FileId id) {
  folders_.erase(id);
  for (const auto& cache : caches_)
    cache->forget(id);
  const auto found = files_.find(id);
  if (found == files_.end()) return;
  used_ -= found->second.allocated.bytes();
  files_.erase(found);
  transport_.forget(id);
}

// ---- stripes ----

int Model::set_striping(FileId id, bool is_folder, StripingParameters striping) {
  if (striping.bytes == 0) striping.bytes = parameters_.striping.bytes;
  if (striping.count == 0) striping.count = parameters_.striping.count;
  if (striping.bytes < 0 || striping.count < -1 || striping.bytes % parameters_.cache.page_bytes != 0)
    return EINVAL;
  if (is_folder) {
    folders_[id] = striping;
    return 0;
  }
  File& of = file(id);
  if (of.size > 0 || !of.allocated.empty()) return EEXIST;
  const int servers = parameters_.servers.number;
  of.layout.stripe_bytes = striping.bytes;
  of.layout.stripe_count = striping.count < 0 ? servers : std::min(striping.count, servers);
  return 0;
}

StripingParameters Model::striping_of_folder(FileId folder) const {
  const auto found = folders_.find(folder);
  StripingParameters striping = found == folders_.end() ? parameters_.striping : found->second;
  const int servers = parameters_.servers.number;
  striping.count = striping.count < 0 ? servers : std::min(striping.count, servers);
  return striping;
}

Layout Model::layout(FileId id) const {
  const auto found = files_.find(id);
  return found == files_.end() ? Layout{} : found->second.layout;
}

// ---- locks ----

Extent Model::whole_pages(Extent extent) const {
  const std::int64_t page = parameters_.cache.page_bytes;
  return {extent.begin / page * page, (extent.end + page - 1) / page * page};
}

// When the client has the lock. Messages: to the server, from there to the holders, and back the same way.
Seconds Model::take_one(LockTable& table, int object, Extent extent, ClientId client, FileId id,
                        LockTable::Mode mode, Seconds now) {
  const LockParameters& locks = parameters_.locks;
  const Seconds latency = transport_.latency();
  const LockTable::Grant grant = table.acquire(client, extent, mode, locks);
  if (grant.held) return std::max(now, table.use(client).from);
  ++counters_.lock_requests;
  const File& of = file(id);
  const Seconds asked = now + latency;
  Seconds granted = asked;
  for (const LockTable::Revocation& revocation : grant.revocations) {
    ++counters_.revocations;
    ClientCache& holder = cache(revocation.holder);
    const Seconds told = std::max(asked, table.use(revocation.holder).until) + latency;
    Seconds flushed = told;
    for (const Extent& lost : revocation.lost) {
      const std::vector<Layout::Part> parts =
          locks.of_objects ? std::vector{Layout::Part{object, lost}}
                           : of.layout.parts({lost.begin, std::min(lost.end, of.size)});
      for (const Layout::Part& part : parts) {
        flushed = std::max(flushed, holder.flush(id, part, told));
        holder.drop(id, part);
      }
    }
    granted = std::max(granted, flushed + locks.revoke + latency);
  }
  granted += locks.enqueue + latency;
  LockTable::Use& use = table.use(client);
  use.from = std::max(use.from, granted);
  use.until = std::max(use.until, granted);
  return granted;
}

Seconds Model::take_lock(ClientId client, FileId id, Extent extent, LockTable::Mode mode, Seconds now) {
  if (parameters_.locks.mode != LockMode::extents) return now;
  File& of = file(id);
  extent = whole_pages(extent);
  if (!parameters_.locks.of_objects) return take_one(of.locks[0], 0, extent, client, id, mode, now);
  Seconds granted = now;
  for (const Layout::Part& part : of.layout.parts(extent))
    granted =
        std::max(granted, take_one(of.locks[part.object], part.object, part.extent, client, id, mode, now));
  return granted;
}

void Model::use_lock(ClientId client, File& of, Extent extent, Seconds until) {
  if (parameters_.locks.mode != LockMode::extents) return;
  const auto use = [&](int object) {
    Seconds& last = of.locks[object].use(client).until;
    last = std::max(last, until);
  };
  if (!parameters_.locks.of_objects) return use(0);
  for (const Layout::Part& part : of.layout.parts(whole_pages(extent)))
    use(part.object);
}

Model::Outcome Model::lock(Seconds now, ClientId client, FileId id, bool unlocks) {
  advance(now);
  if (const int error = faults_.request(Operation::lock, client)) return failed(now, error);
  Seconds done = now;
  if (parameters_.locks.mode == LockMode::file && unlocks) done = cache(client).flush(id, done);
  if (parameters_.metadata.lock > 0) done = metadata_.serve(Operation::lock, id, 0, done);
  if (parameters_.locks.mode == LockMode::file && !unlocks) cache(client).drop_clean(id);
  return {done, 0};
}

// ---- bytes ----

// A page of which a part is written is read first, if the file has more of it that the client has not.
Seconds Model::read_partial_pages(ClientId client, FileId id, Extent extent, Seconds now) {
  const std::int64_t page = parameters_.cache.page_bytes;
  if (page <= 1) return now;
  const File& of = file(id);
  Seconds ready = now;
  const std::int64_t first = extent.begin / page * page;
  const std::int64_t last = (extent.end - 1) / page * page;
  for (std::int64_t begin = first; begin <= last; begin += std::max(page, last - first)) {
    const Extent there{begin, std::min(begin + page, of.size)};
    const Extent before{there.begin, std::min(there.end, extent.begin)};
    const Extent behind{std::max(there.begin, extent.end), there.end};
    bool missing = false;
    for (const Extent& rest : {before, behind})
      for (const Layout::Part& part : of.layout.parts(rest))
        missing = missing || !cache(client).holds(id, part);
    if (!missing) continue;
    ++counters_.partial_page_reads;
    for (const Layout::Part& part : of.layout.parts(there))
      ready = std::max(ready, cache(client).read(id, of.layout, part, now));
  }
  return ready;
}

// What the file has between its end and the next bytes is known where the client has the page: zeros.
void Model::keep_zeros(ClientId client, FileId id, std::int64_t next) {
  const File& of = file(id);
  const std::int64_t page = std::max<std::int64_t>(1, parameters_.cache.page_bytes);
  const auto keep = [&](Extent zeros) {
    if (zeros.empty()) return;
    for (const Layout::Part& part : of.layout.parts(zeros))
      cache(client).keep(id, of.layout, part);
  };
  keep({std::max(of.size, next / page * page), next});
  if (of.size % page == 0) return;
  bool has_last = true;
  for (const Layout::Part& part : of.layout.parts({of.size / page * page, of.size}))
    has_last = has_last && cache(client).holds(id, part);
  if (has_last) keep({of.size, std::min(next, (of.size / page + 1) * page)});
}

int Model::take_space(File& of, Extent extent) {
  std::int64_t fresh = 0;
  for (const Extent& gap : of.allocated.gaps(extent))
    fresh += gap.bytes();
  if (!faults_.fits(used_ + fresh)) return ENOSPC;
  of.allocated.add(extent);
  used_ += fresh;
  return 0;
}

// The client that changed it knows.
void Model::changed(ClientId client, FileId id, Seconds now) {
  File& of = file(id);
  ClientCache::Seen& seen = cache(client).seen(id);
  if (seen.data == of.data) ++seen.data;
  ++of.data;
  seen.attributes = ++of.attributes;
  seen.attributes_at = now;
}

Model::Outcome Model::write(Seconds now, ClientId client, FileId id, Extent extent, bool direct,
                            bool durable) {
  advance(now);
  if (const int error = faults_.request(Operation::write, client)) return failed(now, error);
  File& of = file(id);
  if (extent.empty()) return {now, 0};
  if (const int error = take_space(of, extent)) return failed(now, error);
  ClientCache& mine = cache(client);
  Seconds done = take_lock(client, id, extent, LockTable::Mode::write, now);
  const std::vector<Layout::Part> parts = of.layout.parts(extent);
  if (mine.enabled() && !direct) {
    done = read_partial_pages(client, id, extent, done);
    keep_zeros(client, id, extent.begin);
    for (const Layout::Part& part : parts)
      done = mine.write(id, of.layout, part, done);
  } else {
    const Seconds begin = done;
    for (const Layout::Part& part : parts) {
      mine.drop(id, part);
      done = std::max(done, transport_.move(Direction::write, client, id, of.layout, part, begin));
      mine.passed_by(id, of.layout, part.object);
    }
    if (durable) done = mine.commit(id, done);
  }
  use_lock(client, of, extent, done);
  of.size = std::max(of.size, extent.end);
  changed(client, id, done);
  return {done, 0};
}

// Up to whole requests, so that steps of a small reader do not become small requests. Only of what the client
// may keep already.
void Model::read_ahead(ClientId client, FileId id, Extent extent, Seconds now) {
  File& of = file(id);
  const std::int64_t most = parameters_.cache.request_bytes;
  const std::int64_t end = (extent.end + parameters_.cache.read_ahead_bytes + most - 1) / most * most;
  const Extent ahead{extent.end, std::min(of.size, end)};
  const LockParameters& locks = parameters_.locks;
  if (locks.mode == LockMode::extents && !locks.of_objects &&
      !of.locks[0].holds(client, ahead, LockTable::Mode::read))
    return;
  for (const Layout::Part& part : of.layout.parts(ahead)) {
    if (locks.mode == LockMode::extents && locks.of_objects &&
        !of.locks[part.object].holds(client, part.extent, LockTable::Mode::read))
      continue;
    cache(client).read(id, of.layout, part, now);
  }
}

Model::Outcome Model::read(Seconds now, ClientId client, FileId id, Extent extent, bool direct) {
  advance(now);
  if (const int error = faults_.request(Operation::read, client)) return failed(now, error);
  File& of = file(id);
  extent.end = std::min(extent.end, of.size);
  if (extent.empty()) return {now, 0};
  ClientCache& mine = cache(client);
  const Seconds begin = take_lock(client, id, extent, LockTable::Mode::read, now);
  Seconds done = begin;
  if (mine.enabled() && !direct) {
    Extent pages = whole_pages(extent);
    pages.end = std::min(pages.end, of.size);
    for (const Layout::Part& part : of.layout.parts(pages))
      done = std::max(done, mine.read(id, of.layout, part, begin));
    ClientCache::Seen& seen = mine.seen(id);
    if (parameters_.cache.read_ahead_bytes > 0 && extent.begin == seen.read_to)
      read_ahead(client, id, extent, begin);
    seen.read_to = extent.end;
    done = mine.copy(extent.bytes(), done);
  } else {
    for (const Layout::Part& part : of.layout.parts(extent)) {
      const Seconds flushed = mine.flush(id, part, begin);
      done = std::max(done, transport_.move(Direction::read, client, id, of.layout, part, flushed));
    }
  }
  use_lock(client, of, extent, done);
  return {done, 0};
}

Model::Outcome Model::truncate(Seconds now, ClientId client, FileId id, std::int64_t size) {
  advance(now);
  if (const int error = faults_.request(Operation::truncate, client)) return failed(now, error);
  File& of = file(id);
  Seconds done = now;
  if (const Extent cut{size, of.size}; !cut.empty()) {
    done = take_lock(client, id, cut, LockTable::Mode::write, now);
    for (const auto& cache : caches_)
      for (const Layout::Part& part : of.layout.parts(cut))
        cache->drop(id, part);
    use_lock(client, of, cut, done);
  }
  const std::int64_t before = of.allocated.bytes();
  of.allocated.remove({size, std::numeric_limits<std::int64_t>::max()});
  used_ -= before - of.allocated.bytes();
  of.size = size;
  done = metadata_.serve(Operation::truncate, id, 0, done);
  changed(client, id, done);
  return {done, 0};
}

Model::Outcome Model::allocate(Seconds now, ClientId client, FileId id, Extent extent, bool grows) {
  advance(now);
  if (const int error = faults_.request(Operation::truncate, client)) return failed(now, error);
  File& of = file(id);
  if (const int error = take_space(of, extent)) return failed(now, error);
  if (grows) of.size = std::max(of.size, extent.end);
  const Seconds done = metadata_.serve(Operation::truncate, id, 0, now);
  changed(client, id, done);
  return {done, 0};
}

Model::Outcome Model::punch(Seconds now, ClientId client, FileId id, Extent extent) {
  advance(now);
  if (const int error = faults_.request(Operation::truncate, client)) return failed(now, error);
  File& of = file(id);
  Seconds done = take_lock(client, id, extent, LockTable::Mode::write, now);
  for (const auto& cache : caches_)
    for (const Layout::Part& part : of.layout.parts({extent.begin, std::min(extent.end, of.size)}))
      cache->drop(id, part);
  const std::int64_t before = of.allocated.bytes();
  of.allocated.remove(extent);
  used_ -= before - of.allocated.bytes();
  done = metadata_.serve(Operation::truncate, id, 0, done);
  use_lock(client, of, extent, done);
  changed(client, id, done);
  return {done, 0};
}

Model::Outcome Model::fsync(Seconds now, ClientId client, FileId id) {
  advance(now);
  if (const int error = faults_.request(Operation::fsync, client)) return failed(now, error);
  Seconds done = cache(client).commit(id, cache(client).flush(id, now));
  if (parameters_.metadata.fsync > 0) done = metadata_.serve(Operation::fsync, id, 0, done);
  return {done, 0};
}

Model::Outcome Model::close(Seconds now, ClientId client, FileId id) {
  advance(now);
  if (const int error = faults_.request(Operation::close, client)) return failed(now, error);
  Seconds done = parameters_.cache.flush_on_close ? cache(client).flush(id, now) : now;
  if (parameters_.metadata.close > 0) done = metadata_.serve(Operation::close, id, 0, done);
  return {done, 0};
}

Model::Counters Model::counters() const {
  Counters counters = counters_;
  counters.metadata_requests = metadata_.requests();
  return counters;
}

}  // namespace shoal::lab
