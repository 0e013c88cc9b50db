// SPDX-License-Identifier: BSD-3-Clause
#include "comm/comm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "base/field_bytes.hpp"
#include "base/hash.hpp"
#include "comm/cached_duplicate.hpp"
#include "comm/mpi_wait.hpp"
#include "comm/node_collectives.hpp"

namespace shoal {

namespace {
constexpr std::int64_t k_part_for_all = 16 << 20;  // bytes of a message that goes to all

Bytes packed(const Status& status) {
  return bytes_of_values(status.code, status.rank, status.message, status.file, status.variable);
}

Status unpacked_status(const Bytes& bytes) {
  Status status;
  get_values(bytes, status.code, status.rank, status.message, status.file, status.variable);
  return status;
}

/// What goes first of bytes of any length: all of them, if they are few. Where there are more ranks than
/// cores each message costs more than what is in it.
struct Envelope {
  std::int64_t length;
  std::int64_t mark;
  std::array<std::byte, 2032> inside;

  Envelope(const Bytes& bytes, std::int64_t a_mark)
      : length(static_cast<std::int64_t>(bytes.size())), mark(a_mark), inside{} {
    if (bytes.size() <= inside.size()) std::copy(bytes.begin(), bytes.end(), inside.begin());
  }
  std::byte* data() { return reinterpret_cast<std::byte*>(this); }
  /// Gets the bytes; false: there is only room for them, and they come next.
  bool open(Bytes& bytes) const {
    bytes.resize(static_cast<std::size_t>(length));
    if (bytes.size() > inside.size()) return false;
    std::copy_n(inside.begin(), bytes.size(), bytes.begin());
    return true;
  }
};

std::string text_of(const Entry& entry) {
  return entry.of_what.empty() ? entry.call : fmt::format("{} ({})", entry.call, entry.of_what);
}

}  // namespace

std::shared_ptr<const Comm> Comm::duplicate_of(MPI_Comm parent, const Entry& entry) {
  if (CachedDuplicate known = cached_duplicate(parent)) return known;
  auto wait_state = std::make_shared<WaitState>();
  if (entry.wait_seconds > 0) wait_state->wait_seconds = entry.wait_seconds;
  wait_state->call = text_of(entry);
  // One on which ranks waited in vain is kept as that.
  const auto keep = [&](const CachedDuplicate& duplicate) {
    cache_duplicate(parent, duplicate);
    return duplicate;
  };
  try {
    return keep(new_duplicate(parent, wait_state));
  } catch (const Error&) {
    if (!wait_state->broken.ok()) keep(std::shared_ptr<Comm>(new Comm(MPI_COMM_NULL, wait_state, Adopt{})));
    throw;
  }
}

// Ranks that gave up the first barrier never arrive in the second one, which a late rank then gives up, too:
// so no rank is alone in a call that cannot be given up.
void Comm::arrive_together(MPI_Comm parent, WaitState& wait_state) {
  for (int i = 0; i < 2; ++i) {
    wait_state.has_matched = false;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(parent, &request), "MPI_Ibarrier");
    await_all(parent, request, "MPI_Ibarrier", nullptr, wait_state, nullptr);
  }
}

std::shared_ptr<Comm> Comm::new_duplicate(MPI_Comm parent, const std::shared_ptr<WaitState>& wait_state) {
  int size = 1;
  check_mpi(MPI_Comm_size(parent, &size), "MPI_Comm_size");
  if (size > 1) arrive_together(parent, *wait_state);
  MPI_Comm own = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(parent, &own), "MPI_Comm_dup");
  const std::shared_ptr<Comm> made(new Comm(own, wait_state, Adopt{}));
  if (size == 1 || made->split_by_memory().size() != size) return made;
  try {
    wait_state->board = std::make_shared<ProgressBoard>(*made);
    made->make_node_collectives();
  } catch (const Error& e) {
    if (e.code() != Code::no_memory) throw;
  }
  if (!made->node_collectives_) wait_state->board.reset();
  return made;
}

Comm::Comm(MPI_Comm parent, CollectiveMethod method, const Entry& entry)
    : Comm(duplicate_of(parent, entry), method, entry) {}

// The cached duplicate waits as long as the new Comm while that is made.
Comm::Comm(std::shared_ptr<const Comm> duplicate, CollectiveMethod method, const Entry& entry)
    : Communicator(*duplicate), duplicate_(std::move(duplicate)), wait_state_(std::make_shared<WaitState>()) {
  WaitState& first = *duplicate_->wait_state_;
  if (!first.broken.ok()) throw Error(first.broken);
  wait_state_->wait_seconds = entry.wait_seconds > 0 ? entry.wait_seconds : first.wait_seconds;
  wait_state_->board = first.board;
  const bool begins = *entry.call != '\0';
  if (begins)
    first.call = text_of(entry);
  else
    first.call = first.board ? first.board->call_under_way() : "";
  wait_state_->call = first.call;
  first.has_matched = false;
  if (first.board && begins) first.board->arrive_at_call(entry.call, entry.of_what);
  const double usual = std::exchange(first.wait_seconds, wait_state_->wait_seconds);
  const Status made = caught([&] {
    if (method == CollectiveMethod::anyhow && duplicate_->node_collectives_) make_node_collectives();
    if (!node_collectives_) handle();
  });
  first.wait_seconds = usual;
  if (made.ok()) return;
  if (first.board && begins) first.board->leave_call();
  throw Error(made);
}

Comm::Comm(std::shared_ptr<const Comm> duplicate, std::shared_ptr<WaitState> wait_state,
           std::shared_ptr<NodeCollectives> node_collectives)
    : Communicator(*duplicate),
      duplicate_(std::move(duplicate)),
      node_collectives_(std::move(node_collectives)),
      wait_state_(std::move(wait_state)) {}

Comm::Comm(MPI_Comm own, std::shared_ptr<WaitState> wait_state, Adopt)
    : Communicator(0, 1), comm_(own), wait_state_(std::move(wait_state)) {
  if (comm_ == MPI_COMM_NULL) return;
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

Comm::Comm(Comm&& other) noexcept
    : Communicator(other),
      duplicate_(std::move(other.duplicate_)),
      comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      node_collectives_(std::move(other.node_collectives_)),
      wait_state_(std::move(other.wait_state_)),
      board_ranks_(std::move(other.board_ranks_)),
      calls_(other.calls_),
      diverged_(std::move(other.diverged_)) {}

Comm& Comm::operator=(Comm&& other) noexcept {
  if (this != &other) {
    release();
    Communicator::operator=(other);
    duplicate_ = std::move(other.duplicate_);
    comm_ = std::exchange(other.comm_, MPI_COMM_NULL);
    node_collectives_ = std::move(other.node_collectives_);
    wait_state_ = std::move(other.wait_state_);
    board_ranks_ = std::move(other.board_ranks_);
    calls_ = other.calls_;
    diverged_ = std::move(other.diverged_);
  }
  return *this;
}

Comm::~Comm() {
  release();
}

// Where ranks waited in vain a call of MPI on the communicator may not be over.
void Comm::release() noexcept {
  node_collectives_.reset();
  if (comm_ == MPI_COMM_NULL) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && wait_state_->broken.ok()) MPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

// Without shared memory for them ranks match calls by messages of MPI.
void Comm::make_node_collectives() {
  try {
    node_collectives_ =
        std::make_shared<NodeCollectives>(duplicate_ ? *duplicate_ : *this, wait_state_, board_ranks_);
  } catch (const Error& e) {
    if (e.code() != Code::no_memory) throw;
  }
}

MPI_Comm Comm::handle() const {
  if (comm_ == MPI_COMM_NULL) {
    if (node_collectives_)
      barrier();
    else
      duplicate_->barrier();
    check_mpi(MPI_Comm_dup(duplicate_->comm_, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  return comm_;
}

MPI_Comm Comm::ranks() const {
  return comm_ == MPI_COMM_NULL ? duplicate_->comm_ : comm_;
}

// For calls of MPI that cannot be given up: when this returns all ranks have arrived.
MPI_Comm Comm::in_step() const {
  if (comm_ != MPI_COMM_NULL) barrier();
  return handle();
}

MPI_Comm Comm::together() const {
  if (!wait_state_->broken.ok()) throw Error(wait_state_->broken);
  return handle();
}

void Comm::wait_at_most(double seconds, bool of_parent) const {
  wait_state_->wait_seconds = seconds;
  if (of_parent && duplicate_) duplicate_->wait_state_->wait_seconds = seconds;
}

double Comm::wait_seconds() const {
  return wait_state_->wait_seconds;
}

Comm::Calling::Calling(const Comm& comm, const char* name, const std::string& of_what)
    : wait_state_(comm.wait_state_) {
  if (wait_state_->calls++ > 0) around_ = wait_state_->call;
  wait_state_->call.assign(name);
  if (!of_what.empty()) wait_state_->call.append(" (").append(of_what).append(")");
  wait_state_->has_matched = false;
  if (wait_state_->board) wait_state_->board->begin_call(name, of_what);
}

Comm::Calling::~Calling() {
  if (--wait_state_->calls > 0) wait_state_->call.swap(around_);
  if (wait_state_->board) wait_state_->board->end_call();
}

// A message to a communicator that is freed would be taken for one of the next that gets its number, where
// MPI may even crash.
void Comm::leave() const {
  wait_state_->broken.merge({Code::state, "it was dropped without close"});
}

bool Comm::diverged() const {
  return !diverged_.ok() || !wait_state_->broken.ok();
}

void Comm::require_together() const {
  if (!wait_state_->broken.ok()) throw Error(wait_state_->broken);
  if (!diverged_.ok()) throw Error(diverged_);
}

Comm Comm::split(int color) const {
  return split(color, rank_);
}

Comm Comm::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(in_step(), color, key, &part), "MPI_Comm_split");
  Comm out(part, wait_state_, Adopt{});
  out.find_board_ranks(*this);
  if (node_collectives_ && out.size() > 1) out.make_node_collectives();
  return out;
}

void Comm::find_board_ranks(const Comm& whole) {
  if (!wait_state_->board) return;
  MPI_Group mine = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(comm_, &mine), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(whole.handle(), &all), "MPI_Comm_group");
  Numbered<int> ranks(size_);
  std::iota(ranks.begin(), ranks.end(), 0);
  board_ranks_.resize(ranks.size());
  const int code = MPI_Group_translate_ranks(mine, size_, ranks.data(), all, board_ranks_.data());
  for (MPI_Group* group : {&mine, &all})
    MPI_Group_free(group);
  check_mpi(code, "MPI_Group_translate_ranks");
  if (!whole.board_ranks_.empty())
    for (int& rank : board_ranks_)
      rank = whole.board_ranks_[rank];
}

Comm Comm::split_by_memory() const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(in_step(), MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part),
            "MPI_Comm_split_type");
  return {part, wait_state_, Adopt{}};
}

Comm Comm::split_shared() const {
  if (node_collectives_ && duplicate_) return {duplicate_, wait_state_, node_collectives_};
  Comm out = split_by_memory();
  out.find_board_ranks(*this);
  if (out.size() > 1) out.make_node_collectives();
  return out;
}

// What MPI reads or writes is memory that it may keep.
void Comm::broadcast(std::byte* data, std::int64_t bytes, int root) const {
  if (node_collectives_) return node_collectives_->spread(data, bytes, root);
  for (std::int64_t at = 0; at < bytes; at += k_part_for_all) {
    const auto n = std::min<std::int64_t>(k_part_for_all, bytes - at);
    const auto piece = std::make_shared<Bytes>(static_cast<std::size_t>(n));
    if (rank_ == root) std::copy_n(data + at, n, piece->begin());
    carry_out(piece, "MPI_Ibcast", [&](MPI_Comm comm, MPI_Request* request) {
      return MPI_Ibcast(piece->data(), static_cast<int>(n), MPI_BYTE, root, comm, request);
    });
    if (rank_ != root) std::copy_n(piece->begin(), n, data + at);
  }
}

void Comm::broadcast(Bytes& bytes, int root) const {
  Envelope envelope(bytes, 0);
  broadcast(envelope.data(), sizeof envelope, root);
  if (!envelope.open(bytes)) broadcast(bytes.data(), envelope.length, root);
}

namespace {
// A box of more dimensions has a message of its own, so that matches have few words.
constexpr int k_usual_dims = 8;

void words_of_box(const Box& box, std::int64_t* words) {
  std::copy(box.count.begin(), box.count.end(), std::copy(box.first.begin(), box.first.end(), words));
}
}  // namespace

CallMatch Comm::match_calls(const CallSignature& mine, Box* of_root) const {
  if (size_ == 1) return {true, mine.failed, mine.any_flag, mine.asks, mine.waits};
  require_together();
  enum Word : std::size_t {
    does,
    not_does,
    details,
    not_details,
    led,  // `does` of ranks that left nothing out
    not_led,
    skipped_call,
    failed,
    any_flag,
    asks,
    waits,
    box_dims,
    box,
    count = box + 2 * k_usual_dims
  };
  const auto number_of = [](const char* text) {
    Hash hash;
    hash.add(std::string_view(text));
    return static_cast<std::int64_t>(hash.value() >> 1);
  };
  // The largest of the numbers and of their opposites: equal if all are. Every match has as many words.
  std::array<std::int64_t, Word::count> words{};
  words[does] = number_of(mine.does);
  words[not_does] = -words[does];
  words[details] = static_cast<std::int64_t>(mine.details >> 1);
  words[not_details] = -words[details];
  const bool leads = mine.skipped_call == nullptr;
  words[led] = leads ? words[does] : std::numeric_limits<std::int64_t>::min();
  words[not_led] = leads ? -words[does] : std::numeric_limits<std::int64_t>::min();
  words[skipped_call] = leads ? -1 : number_of(mine.skipped_call);
  words[failed] = mine.failed ? 1 : 0;
  words[any_flag] = mine.any_flag ? 1 : 0;
  words[asks] = mine.asks ? 1 : 0;
  words[waits] = mine.waits ? 1 : 0;
  std::fill(words.begin() + box_dims, words.end(), -1);
  const bool has_box = of_root != nullptr && rank_ == 0;
  if (has_box) words[box_dims] = of_root->rank();
  if (has_box && of_root->rank() <= k_usual_dims) words_of_box(*of_root, &words[box]);
  most_of(words.data(), Word::count);
  if (words[does] != -words[not_does]) {
    const bool led_alike = words[led] == words[skipped_call] && words[not_led] == -words[led];
    if (!led_alike) diverge(mine.does);
    return {false,
            true,
            words[any_flag] != 0,
            words[asks] != 0,
            words[waits] != 0,
            number_of(mine.does) != words[led]};
  }
  const auto n = static_cast<int>(words[box_dims]);
  std::int64_t* box_words = &words[box];
  std::vector<std::int64_t> many;
  if (n > k_usual_dims) {
    many.assign(2 * static_cast<std::size_t>(n), -1);
    if (has_box) words_of_box(*of_root, many.data());
    most_of(many.data(), 2 * n);
    box_words = many.data();
  }
  if (of_root != nullptr && of_root->rank() == n) {
    std::copy_n(box_words, n, of_root->first.begin());
    std::copy_n(box_words + n, n, of_root->count.begin());
  }
  return {words[details] == -words[not_details], words[failed] != 0, words[any_flag] != 0, words[asks] != 0,
          words[waits] != 0};
}

void Comm::diverge(const std::string& does) const {
  Bytes message = bytes_of_values(does);
  broadcast(message, 0);
  std::string of_root;
  get_values(message, of_root);
  Status status;
  if (of_root != does)
    status = {Code::out_of_step,
              fmt::format("ranks made different calls: this one {}, rank 0 {}; every rank must make the same "
                          "calls in the same order",
                          does, of_root)};
  status = agree(status);
  diverged_ = status;
  diverged_.message =
      "ranks made different calls before, and cannot go on together; close the dataset. Then: " +
      status.message;
  throw Error(status);
}

void Comm::carry_out(const std::shared_ptr<void>& memory, const char* what,
                     const std::function<int(MPI_Comm, MPI_Request*)>& start) const {
  const MPI_Comm comm = together();
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(start(comm, &request), what);
  await_all(comm, request, what, memory, *wait_state_, &calls_);
}

Status Comm::agree(const Status& mine) const {
  if (size_ == 1) {
    Status out = mine;
    if (!out.ok() && out.rank < 0) out.rank = rank_;
    return out;
  }
  const std::int64_t failed = min(mine.ok() ? std::int64_t{size_} : std::int64_t{rank_});
  if (failed == size_) return {};
  Status out = mine;
  if (out.rank < 0) out.rank = rank_;
  Bytes bytes = rank_ == failed ? packed(out) : Bytes{};
  broadcast(bytes, static_cast<int>(failed));
  return unpacked_status(bytes);
}

Bytes Comm::outcome_of_root(Status status, Bytes result, int root) const {
  if (!status.ok() && status.rank < 0) status.rank = rank_;
  if (size_ == 1) {
    if (!status.ok()) throw Error(std::move(status));
    return result;
  }
  if (!status.ok()) result = packed(status);
  Envelope envelope(result, status.ok() ? 1 : 0);
  broadcast(envelope.data(), sizeof envelope, root);
  if (!envelope.open(result)) broadcast(result.data(), envelope.length, root);
  if (envelope.mark == 0) throw Error(unpacked_status(result));
  return result;
}

void Comm::agree_or_throw(const Status& mine) const {
  Status agreed = agree(mine);
  if (!agreed.ok()) throw Error(std::move(agreed));
}

}  // namespace shoal
