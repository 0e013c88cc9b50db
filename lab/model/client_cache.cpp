// SPDX-License-Identifier: BSD-3-Clause
#include "model/client_cache.hpp"

#include <algorithm>
#include <limits>

namespace shoal::lab {
namespace {

constexpr Extent k_all{0, std::numeric_limits<std::int64_t>::max()};

bool overlap(Extent a, Extent b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

ClientCache::Pages& ClientCache::pages(FileId file, const Layout& layout, int object) {
  File& of = files_[file];
  of.layout = layout;
  return of.objects[object];
}

ClientCache::Pages* ClientCache::find(FileId file, int object) {
  const auto of = files_.find(file);
  if (of == files_.end()) return nullptr;
  const auto found = of->second.objects.find(object);
  return found == of->second.objects.end() ? nullptr : &found->second;
}

void ClientCache::send(FileId file, File& of, int object, Extent extent, Seconds now) {
  Pages& here = of.objects[object];
  std::erase_if(here.sent, [&](const Moving& moving) { return moving.done <= now; });
  here.pending.remove(extent);
  pending_bytes_ -= extent.bytes();
  here.uncommitted = true;
  for (std::int64_t at = extent.begin; at < extent.end;) {
    const std::int64_t bytes = parameters_.request_bytes;
    const std::int64_t end = std::min(extent.end, (at / bytes + 1) * bytes);
    const Seconds done =
        transport_.move(Direction::write, client_, file, of.layout, {object, {at, end}}, now);
    here.sent.push_back({{at, end}, done});
    in_flight_.emplace(done, end - at);
    in_flight_bytes_ += end - at;
    at = end;
  }
}

void ClientCache::send_pending(FileId file, File& of, int object, Extent extent, Seconds now) {
  for (const Extent& part : of.objects[object].pending.parts(extent))
    send(file, of, object, part, now);
}

// When so many bytes more may be dirty.
Seconds ClientCache::room(std::int64_t bytes, Seconds now) {
  const auto forget_first = [&] {
    in_flight_bytes_ -= in_flight_.begin()->second;
    in_flight_.erase(in_flight_.begin());
  };
  const auto fits = [&] { return pending_bytes_ + in_flight_bytes_ + bytes <= parameters_.dirty_bytes; };
  while (!in_flight_.empty() && in_flight_.begin()->first <= now)
    forget_first();
  if (fits()) return now;
  for (auto& [file, of] : files_)
    for (auto& entry : of.objects)
      send_pending(file, of, entry.first, k_all, now);
  while (!fits() && !in_flight_.empty()) {
    now = std::max(now, in_flight_.begin()->first);
    forget_first();
  }
  return now;
}

Seconds ClientCache::copy(std::int64_t bytes, Seconds now) {
  return parameters_.bandwidth > 0 ? memory_.book(now, static_cast<double>(bytes) / parameters_.bandwidth).end
                                   : now;
}

Seconds ClientCache::write(FileId file, const Layout& layout, Layout::Part part, Seconds now) {
  const std::int64_t most = parameters_.request_bytes;
  for (std::int64_t at = part.extent.begin; at < part.extent.end;) {
    const Extent piece{at, std::min(part.extent.end, (at / most + 1) * most)};
    at = piece.end;
    Pages& here = pages(file, layout, part.object);
    now = copy(piece.bytes(), room(piece.bytes(), now));
    // Once more dirty than before, by what was not.
    if (here.pending.empty()) {
      here.pending_since = now;
      due_.push_back({now, file, part.object});
    }
    // Pages of memory go to servers whole, and those beside each other in one request; of larger ones (GPFS'
    // blocks) only what is dirty.
    const std::int64_t before = here.pending.bytes();
    const std::int64_t page = std::clamp<std::int64_t>(parameters_.page_bytes, 1, k_memory_page);
    here.pending.add({piece.begin / page * page, (piece.end + page - 1) / page * page});
    pending_bytes_ += here.pending.bytes() - before;
    validate(file, part.object, here, piece);
    const Extent whole{piece.begin / most * most, (piece.begin / most + 1) * most};
    if (here.pending.covers(whole)) send(file, files_[file], part.object, whole, now);
  }
  return now;
}

void ClientCache::validate(FileId file, int object, Pages& of, Extent extent) {
  for (const Extent& gap : of.valid.gaps(extent)) {
    kept_.push_back({file, {object, gap}});
    kept_bytes_ += gap.bytes();
  }
  of.valid.add(extent);
  evict();
}

// The oldest pages go first. Those that are dirty and not sent stay, and come last again.
void ClientCache::evict() {
  for (std::size_t tries = kept_.size(); kept_bytes_ > parameters_.bytes && tries > 0; --tries) {
    const Kept oldest = kept_.front();
    kept_.pop_front();
    kept_bytes_ -= oldest.part.extent.bytes();
    Pages* const of = find(oldest.file, oldest.part.object);
    if (of == nullptr) continue;
    of->valid.remove(oldest.part.extent);
    for (const Extent& dirty : of->pending.parts(oldest.part.extent)) {
      of->valid.add(dirty);
      kept_.push_back({oldest.file, {oldest.part.object, dirty}});
      kept_bytes_ += dirty.bytes();
    }
  }
}

Seconds ClientCache::read(FileId file, const Layout& layout, Layout::Part part, Seconds now) {
  Pages& here = pages(file, layout, part.object);
  std::erase_if(here.fetched, [&](const Moving& moving) { return moving.done <= now; });
  const std::int64_t most = parameters_.request_bytes;
  for (const Extent& gap : here.valid.gaps(part.extent)) {
    for (std::int64_t at = gap.begin; at < gap.end;) {
      const Extent piece{at, std::min(gap.end, (at / most + 1) * most)};
      at = piece.end;
      const Seconds done = transport_.move(Direction::read, client_, file, layout, {part.object, piece}, now);
      here.fetched.push_back({piece, done});
    }
  }
  validate(file, part.object, here, part.extent);
  Seconds ready = now;
  for (const Moving& moving : here.fetched)
    if (overlap(moving.extent, part.extent)) ready = std::max(ready, moving.done);
  return ready;
}

bool ClientCache::holds(FileId file, Layout::Part part) const {
  const auto of = files_.find(file);
  if (of == files_.end()) return false;
  const auto found = of->second.objects.find(part.object);
  return found != of->second.objects.end() && found->second.valid.covers(part.extent);
}

void ClientCache::keep(FileId file, const Layout& layout, Layout::Part part) {
  validate(file, part.object, pages(file, layout, part.object), part.extent);
}

void ClientCache::passed_by(FileId file, const Layout& layout, int object) {
  pages(file, layout, object).uncommitted = true;
}

Seconds ClientCache::flush(FileId file, Layout::Part part, Seconds now) {
  Pages* const here = find(file, part.object);
  if (here == nullptr) return now;
  send_pending(file, files_[file], part.object, part.extent, now);
  Seconds done = now;
  for (const Moving& moving : here->sent)
    if (overlap(moving.extent, part.extent)) done = std::max(done, moving.done);
  return done;
}

Seconds ClientCache::flush(FileId file, Seconds now) {
  const auto of = files_.find(file);
  if (of == files_.end()) return now;
  Seconds done = now;
  for (auto& entry : of->second.objects)
    done = std::max(done, flush(file, {entry.first, k_all}, now));
  return done;
}

Seconds ClientCache::commit(FileId file, Seconds now) {
  const auto of = files_.find(file);
  if (of == files_.end()) return now;
  Seconds done = now;
  for (auto& [object, here] : of->second.objects) {
    if (!here.uncommitted) continue;
    here.uncommitted = false;
    done = std::max(done, transport_.commit(of->second.layout, object, now));
  }
  return done;
}

void ClientCache::send_aged(Seconds now) {
  while (!due_.empty() && due_.front().since + parameters_.writeback <= now) {
    const Due due = due_.front();
    due_.pop_front();
    Pages* const here = find(due.file, due.object);
    // Pages that were sent meanwhile, and dirtied again, have an entry of their own.
    if (here == nullptr || here->pending.empty() || here->pending_since != due.since) continue;
    send_pending(due.file, files_[due.file], due.object, k_all, due.since + parameters_.writeback);
  }
}

void ClientCache::drop(FileId file, Layout::Part part) {
  Pages* const here = find(file, part.object);
  if (here == nullptr) return;
  const std::int64_t before = here->pending.bytes();
  here->pending.remove(part.extent);
  pending_bytes_ -= before - here->pending.bytes();
  here->valid.remove(part.extent);
}

void ClientCache::drop_clean(FileId file) {
  const auto of = files_.find(file);
  if (of == files_.end()) return;
  for (auto& entry : of->second.objects)
    entry.second.valid = entry.second.pending;
}

void ClientCache::forget(FileId file) {
  const auto of = files_.find(file);
  if (of == files_.end()) return;
  for (const auto& entry : of->second.objects)
    pending_bytes_ -= entry.second.pending.bytes();
  files_.erase(of);
}

}  // namespace shoal::lab
