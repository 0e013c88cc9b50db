// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/stage/background.hpp"

#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <csignal>
#include <system_error>

namespace shoal {

namespace {

// Bytes that go on to the device while the model computes, so that a sync need not wait for all of them.
constexpr std::int64_t k_sent_together = 4 * 1024 * 1024;

/// Signals are the model's: its handlers run in its own threads.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

// Of this thread: a name for top and debuggers, and that it takes its turn when it wakes, and does not
// interrupt a rank that computes, for which others would have to wait; those that wait for messages yield.
// A run of 8 ranks on 2 cores takes 2.51 s so, in place of 2.64 (without the thread 2.65).
void be_in_background() {
  pthread_setname_np(pthread_self(), "shoal-store");
  sched_param parameters{};
  int policy = 0;
  if (pthread_getschedparam(pthread_self(), &policy, &parameters) == 0 && policy == SCHED_OTHER)
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters);
}

void add_counters(Counters& from, Counters& into) {
  into.encode += from.encode;
  into.decode += from.decode;
  into.store += from.store;
  into.read += from.read;
  into.writes += from.writes;
  into.reads += from.reads;
  into.bytes_written += from.bytes_written;
  into.bytes_past_cache += from.bytes_past_cache;
  into.bytes_read += from.bytes_read;
  into.bytes_encoded += from.bytes_encoded;
  into.bytes_encoded_again += from.bytes_encoded_again;
  from = {};
}

}  // namespace

Background::Background(Stage& stage, const ObjectFiles& file, int rank, bool past_cache)
    : stage_(stage),
      file_(file, counters_),
      storing_(stage, file_, counters_, rank),
      past_cache_(past_cache) {
  file_.set_rate_limiter(
      [this](std::int64_t bytes) { stage_.await_turn(bytes, [this] { return dropped_.load(); }); });
  const NoSignals blocked;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& e) {
    throw Error(Code::no_memory,
                "the system gives no thread to store in the background ({}); allow more threads (ulimit -u, "
                "cgroup pids.max), or set background=off",
                e.what());
  }
}

Background::~Background() {
  drop();
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool Background::has_turn(const SlotGeneration& generation) const {
  if (!stage_.stores()) return false;
  // Encoding is work for all cores, storing waits for one device.
  if (generation.encoded) return true;
  const auto ranks = static_cast<std::uint64_t>(stage_.storers());
  const auto writers = static_cast<std::uint64_t>(stage_.writers());
  const auto mine = static_cast<std::uint64_t>(stage_.node().rank() - stage_.first_storer());
  const std::uint64_t first = generation.number % ranks * writers % ranks;
  return (mine + ranks - first) % ranks < writers;
}

void Background::take(std::shared_ptr<const SlotGeneration> generation) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(generation));
  }
  changed_.notify_all();
}

void Background::run() {
  be_in_background();
  std::unique_lock lock(mutex_);
  while (true) {
    busy_ = false;
    if (queue_.empty()) {
      changed_.notify_all();  // somebody may wait for the thread to rest
    }
    changed_.wait(lock, [&] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    busy_ = true;
    const auto generation = queue_.front();
    lock.unlock();
    Status status;
    const bool over = step(*generation, status);
    lock.lock();
    status_.merge(status);
    // It may have been dropped meanwhile.
    if (over && !queue_.empty() && queue_.front() == generation) queue_.pop_front();
  }
}

// True if nothing of the slot generation is left for this rank.
bool Background::step(const SlotGeneration& generation, Status& status) {
  if (stage_.broken() || stage_.is_over(generation.number)) return true;
  if (!stage_.all_arrived(generation.number)) {
    stage_.await_arrivals(generation.number);
    return false;
  }
  if (!stage_.is_time_to_store()) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    return false;
  }
  // More slot generations than one may be full, each with storers of its own.
  const bool limited = !generation.encoded;
  const std::uint32_t seen = stage_.events();
  const auto cached = [&] { return counters_.bytes_written - counters_.bytes_past_cache; };
  const auto before = cached();
  file_.set_past_cache(past_cache_ && !stage_.is_pressed());
  if (storing_.store_share(generation, limited, status)) {
    unsent_ += cached() - before;
    if (unsent_ >= k_sent_together) {
      file_.send();
      unsent_ = 0;
    }
    return false;
  }
  if (!stage_.has_unclaimed(generation.number, generation.shares())) return true;
  stage_.await_event(seen);
  return false;
}

Status Background::failure() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

Status Background::rest(Counters& into) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !busy_ && queue_.empty(); });
  add_counters(counters_, into);
  return std::exchange(status_, {});
}

void Background::drop() {
  std::unique_lock lock(mutex_);
  queue_.clear();
  dropped_ = true;
  changed_.wait(lock, [&] { return !busy_; });
  dropped_ = false;
}

}  // namespace shoal
