// SPDX-License-Identifier: BSD-3-Clause
#include "comm/comm.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "comm/meeting_room.hpp"

namespace shoal {

namespace {
// MPI counts are int: longer messages go in pieces of this many bytes.
constexpr std::int64_t k_piece = 1 << 30;

Bytes packed(const Status& status) {
  ByteWriter out;
  out.put(static_cast<std::int32_t>(status.code));
  out.put(static_cast<std::int32_t>(status.rank));
  out.put(status.message);
  out.put(status.file);
  out.put(status.variable);
  return out.take();
}

Status unpacked_status(const Bytes& bytes) {
  ByteReader in(bytes);
  Status status;
  status.code = static_cast<Code>(in.get<std::int32_t>());
  status.rank = in.get<std::int32_t>();
  in.get(status.message);
  in.get(status.file);
  in.get(status.variable);
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

// Until the request is over, mostly asleep: MPI's own waiting takes a core, which whoever is waited for may
// need. Naps are an eighth of what was waited so far, so that waiting becomes little longer by them.
void wait_asleep(MPI_Request& request, const char* what) {
  constexpr Seconds k_no_nap = 50e-6;
  constexpr Seconds k_longest_nap = 1e-3;
  const Seconds start = now();
  while (true) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
    if (done != 0) return;
    const Seconds waited = now() - start;
    if (waited > k_no_nap)
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(waited / 8, k_longest_nap)));
  }
}

}  // namespace

void check_mpi(int mpi_code, const char* what) {
  if (mpi_code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(mpi_code, text.data(), &length);
  throw Error(Code::mpi,
              std::string(what) + ": " + std::string(text.data(), static_cast<std::size_t>(length)));
}

// What a communicator of the caller's keeps for datasets to come: a duplicate, which is made once, and the
// room where its ranks meet if they share memory.
std::shared_ptr<const Comm> Comm::origin_of(MPI_Comm parent) {
  using Kept = std::shared_ptr<const Comm>;
  // MPI is in no state to free a communicator while it deletes the attributes of another one. (Never
  // destroyed: the last attributes go when the program ends.)
  static auto& left_over = *new std::vector<Kept>;
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    const auto let_go = [](MPI_Comm, int, void* kept, void*) {
      left_over.push_back(std::move(*static_cast<Kept*>(kept)));
      delete static_cast<Kept*>(kept);
      return MPI_SUCCESS;
    };
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, let_go, &made, nullptr),
              "MPI_Comm_create_keyval");
    return made;
  }();
  left_over.clear();
  void* kept = nullptr;
  int there = 0;
  check_mpi(MPI_Comm_get_attr(parent, key, &kept, &there), "MPI_Comm_get_attr");
  if (there != 0) return *static_cast<Kept*>(kept);
  MPI_Comm own = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(parent, &own), "MPI_Comm_dup");
  Comm made(own, Adopt{});
  if (made.size() > 1 && made.split_by_memory().size() == made.size()) made.make_room();
  auto origin = std::make_shared<const Comm>(std::move(made));
  check_mpi(MPI_Comm_set_attr(parent, key, new Kept(origin)), "MPI_Comm_set_attr");
  return origin;
}

Comm::Comm(MPI_Comm parent, Meets meets) : Comm(origin_of(parent), meets) {}

Comm::Comm(std::shared_ptr<const Comm> origin, Meets meets)
    : origin_(std::move(origin)), rank_(origin_->rank_), size_(origin_->size_) {
  if (meets == Meets::anyhow && origin_->room_) make_room();
  if (!room_) handle();
}

Comm::Comm(std::shared_ptr<const Comm> origin, std::shared_ptr<MeetingRoom> room)
    : origin_(std::move(origin)), room_(std::move(room)), rank_(origin_->rank_), size_(origin_->size_) {}

Comm::Comm(MPI_Comm own, Adopt) : comm_(own) {
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

Comm::Comm(Comm&& other) noexcept
    : origin_(std::move(other.origin_)),
      comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      room_(std::move(other.room_)),
      rank_(other.rank_),
      size_(other.size_),
      apart_(std::move(other.apart_)) {}

Comm& Comm::operator=(Comm&& other) noexcept {
  if (this != &other) {
    release();
    origin_ = std::move(other.origin_);
    comm_ = std::exchange(other.comm_, MPI_COMM_NULL);
    room_ = std::move(other.room_);
    rank_ = other.rank_;
    size_ = other.size_;
    apart_ = std::move(other.apart_);
  }
  return *this;
}

Comm::~Comm() {
  release();
}

void Comm::release() noexcept {
  room_.reset();
  if (comm_ == MPI_COMM_NULL) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

// Without shared memory for it ranks meet in MPI.
void Comm::make_room() {
  try {
    room_ = std::make_shared<MeetingRoom>(origin_ ? *origin_ : *this);
  } catch (const Error& e) {
    if (e.code() != Code::no_memory) throw;
  }
}

MPI_Comm Comm::handle() const {
  if (comm_ == MPI_COMM_NULL) {
    check_mpi(MPI_Comm_dup(origin_->comm_, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  return comm_;
}

MPI_Comm Comm::ranks() const {
  return comm_ == MPI_COMM_NULL ? origin_->comm_ : comm_;
}

Comm Comm::split(int color) const {
  return split(color, rank_);
}

Comm Comm::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(handle(), color, key, &part), "MPI_Comm_split");
  Comm out(part, Adopt{});
  if (room_ && out.size() > 1) out.make_room();
  return out;
}

Comm Comm::split_by_memory() const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(handle(), MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part),
            "MPI_Comm_split_type");
  return {part, Adopt{}};
}

Comm Comm::split_shared() const {
  if (room_ && origin_) return {origin_, room_};
  Comm out = split_by_memory();
  if (out.size() > 1) out.make_room();
  return out;
}

void Comm::broadcast(std::byte* data, std::int64_t bytes, int root) const {
  if (room_) return room_->spread(data, bytes, root);
  for (std::int64_t at = 0; at < bytes; at += k_piece) {
    const auto n = static_cast<int>(std::min<std::int64_t>(k_piece, bytes - at));
    check_mpi(MPI_Bcast(data + at, n, MPI_BYTE, root, handle()), "MPI_Bcast");
  }
}

void Comm::broadcast(Bytes& bytes, int root) const {
  Envelope envelope(bytes, 0);
  broadcast(envelope.data(), sizeof envelope, root);
  if (!envelope.open(bytes)) broadcast(bytes.data(), envelope.length, root);
}

Met Comm::meet(const Deed& mine, Box* of_root) const {
  if (size_ == 1) return {true, mine.failed, mine.raised};
  if (!apart_.ok()) throw Error(apart_);
  enum Word : std::size_t {
    does,
    not_does,
    details,
    not_details,
    led,  // `does` of ranks that left nothing out
    not_led,
    missed,
    failed,
    raised,
    box,
    count = box + 2 * k_max_dims
  };
  const auto number_of = [](const char* text) {
    Hash hash;
    hash.add(std::string_view(text));
    return static_cast<std::int64_t>(hash.value() >> 1);
  };
  // The largest of the numbers and of their opposites: equal if all are. As many words in every meeting.
  std::array<std::int64_t, Word::count> words{};
  words[does] = number_of(mine.does);
  words[not_does] = -words[does];
  words[details] = static_cast<std::int64_t>(mine.details >> 1);
  words[not_details] = -words[details];
  const bool leads = mine.missed == nullptr;
  words[led] = leads ? words[does] : std::numeric_limits<std::int64_t>::min();
  words[not_led] = leads ? -words[does] : std::numeric_limits<std::int64_t>::min();
  words[missed] = leads ? -1 : number_of(mine.missed);
  words[failed] = mine.failed ? 1 : 0;
  words[raised] = mine.raised ? 1 : 0;
  std::fill(words.begin() + box, words.end(), -1);
  if (of_root != nullptr && rank_ == 0) {
    const auto word = std::copy(of_root->first.begin(), of_root->first.end(), words.begin() + box);
    std::copy(of_root->count.begin(), of_root->count.end(), word);
  }
  most_of(words.data(), Word::count);
  if (words[does] != -words[not_does]) {
    const bool led_alike = words[led] == words[missed] && words[not_led] == -words[led];
    if (!led_alike) part(mine.does);
    return {false, true, words[raised] != 0, number_of(mine.does) != words[led]};
  }
  if (of_root != nullptr) {
    const int n = of_root->rank();
    std::copy_n(words.begin() + box, n, of_root->first.begin());
    std::copy_n(words.begin() + box + n, n, of_root->count.begin());
  }
  return {words[details] == -words[not_details], words[failed] != 0, words[raised] != 0};
}

void Comm::part(const std::string& does) const {
  ByteWriter out;
  out.put(does);
  Bytes message = out.take();
  broadcast(message, 0);
  std::string of_root;
  ByteReader(message).get(of_root);
  Status status;
  if (of_root != does)
    status = {Code::out_of_step,
              "ranks made different calls: this one " + does + ", rank 0 " + of_root +
                  "; every rank must make the same calls in the same order",
              -1,
              {},
              {}};
  status = agree(status);
  apart_ = status;
  apart_.message = "ranks made different calls before, and cannot go on together; close the dataset. Then: " +
                   status.message;
  throw Error(status);
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
  if (room_) {
    room_->spread(envelope.data(), sizeof envelope, root);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibcast(&envelope, sizeof envelope, MPI_BYTE, root, handle(), &request), "MPI_Ibcast");
    wait_asleep(request, "MPI_Ibcast");
  }
  if (!envelope.open(result)) broadcast(result.data(), envelope.length, root);
  if (envelope.mark == 0) throw Error(unpacked_status(result));
  return result;
}

void Comm::agree_or_throw(const Status& mine) const {
  Status agreed = agree(mine);
  if (!agreed.ok()) throw Error(std::move(agreed));
}

}  // namespace shoal
