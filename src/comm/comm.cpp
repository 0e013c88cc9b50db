// SPDX-License-Identifier: BSD-3-Clause
#include "comm/comm.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/hash.hpp"

namespace shoal {

namespace {
// MPI counts are int: longer messages go in pieces of this many bytes.
constexpr std::int64_t k_piece = 1 << 30;
constexpr int k_exchange_tag = 1;
constexpr int k_length_tag = 2;

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

void check_length(std::int64_t bytes, const char* what) {
  if (bytes > std::numeric_limits<int>::max())
    throw Error(Code::not_supported, std::string(what) + ": more than 2 GiB of metadata in one message");
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

/// What ranks say to each other that wait for all (all_come).
enum class Call : unsigned char { here, gone, ask, stays, go, part };
constexpr int k_call_tag = 7;

void say(MPI_Comm comm, int to, Call call) {
  check_mpi(MPI_Send(&call, 1, MPI_BYTE, to, k_call_tag, comm), "MPI_Send");
}

std::optional<Call> hear(MPI_Comm comm, int from) {
  int there = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(from, k_call_tag, comm, &there, &status), "MPI_Iprobe");
  if (there == 0) return std::nullopt;
  Call call{};
  check_mpi(MPI_Recv(&call, 1, MPI_BYTE, status.MPI_SOURCE, k_call_tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  return call;
}

// Does each of the others say it in time?
bool all_say(MPI_Comm comm, int size, Call wanted, double seconds) {
  const Seconds start = now();
  for (int said = 1; said < size;) {
    const auto heard = hear(comm, MPI_ANY_SOURCE);
    if (heard == wanted)
      ++said;
    else if (heard || now() - start > seconds)
      return false;
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Rank 0 decides. Who was asked waits for what it decides, and who gives up before says so: nobody goes on
// with a rank that is gone. (A barrier of MPI that is not over can neither be left nor its communicator
// freed.)
bool call_all(MPI_Comm comm, int size, double seconds) {
  const auto tell_all = [&](Call call) {
    for (int r = 1; r < size; ++r)
      say(comm, r, call);
  };
  bool all = all_say(comm, size, Call::here, seconds);
  if (all) {
    tell_all(Call::ask);
    all = all_say(comm, size, Call::stays, seconds);
  }
  tell_all(all ? Call::go : Call::part);
  return all;
}

bool answer_call(MPI_Comm comm, double seconds) {
  const Seconds start = now();
  say(comm, 0, Call::here);
  for (bool asked = false;;) {
    const auto heard = hear(comm, 0);
    if (heard && heard != Call::ask) return heard == Call::go;
    if (heard) {
      asked = true;
      say(comm, 0, Call::stays);
    } else if (!asked && now() - start > seconds) {
      say(comm, 0, Call::gone);
      return false;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
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

Comm::Comm(MPI_Comm parent) {
  check_mpi(MPI_Comm_dup(parent, &comm_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

Comm::Comm(MPI_Comm own, Adopt) : comm_(own) {
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

Comm::Comm(Comm&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      rank_(other.rank_),
      size_(other.size_),
      apart_(std::move(other.apart_)) {}

Comm& Comm::operator=(Comm&& other) noexcept {
  if (this != &other) {
    release();
    comm_ = std::exchange(other.comm_, MPI_COMM_NULL);
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
  if (comm_ == MPI_COMM_NULL) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

void Comm::barrier() const {
  check_mpi(MPI_Barrier(comm_), "MPI_Barrier");
}

bool Comm::all_come(double seconds) const {
  if (size_ == 1) return true;
  return rank_ == 0 ? call_all(comm_, size_, seconds) : answer_call(comm_, seconds);
}

void Comm::broadcast(Bytes& bytes, int root) const {
  Envelope envelope(bytes, 0);
  check_mpi(MPI_Bcast(&envelope, sizeof envelope, MPI_BYTE, root, comm_), "MPI_Bcast");
  if (!envelope.open(bytes)) broadcast(bytes.data(), envelope.length, root);
}

void Comm::broadcast(std::byte* data, std::int64_t bytes, int root) const {
  for (std::int64_t at = 0; at < bytes; at += k_piece) {
    const auto n = static_cast<int>(std::min<std::int64_t>(k_piece, bytes - at));
    check_mpi(MPI_Bcast(data + at, n, MPI_BYTE, root, comm_), "MPI_Bcast");
  }
}

std::vector<Bytes> Comm::gather(const Bytes& mine, int root) const {
  const auto length = static_cast<std::int64_t>(mine.size());
  const auto n = static_cast<std::size_t>(size_);
  std::vector<std::int64_t> lengths(n);
  check_mpi(MPI_Allgather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, comm_), "MPI_Allgather");
  std::int64_t total = 0;
  for (const auto l : lengths)
    total += l;
  check_length(total, "MPI_Gatherv");
  std::vector<int> counts(n);
  std::vector<int> offsets(n);
  int offset = 0;
  for (std::size_t i = 0; i < n; ++i) {
    counts[i] = static_cast<int>(lengths[i]);
    offsets[i] = offset;
    offset += counts[i];
  }
  Bytes all(rank_ == root ? static_cast<std::size_t>(total) : 0);
  check_mpi(MPI_Gatherv(mine.data(), static_cast<int>(length), MPI_BYTE, all.data(), counts.data(),
                        offsets.data(), MPI_BYTE, root, comm_),
            "MPI_Gatherv");
  std::vector<Bytes> parts;
  if (rank_ != root) return parts;
  for (std::size_t i = 0; i < n; ++i)
    parts.emplace_back(all.begin() + offsets[i], all.begin() + offsets[i] + counts[i]);
  return parts;
}

std::vector<std::int64_t> Comm::gather(const std::vector<std::int64_t>& mine, int root) const {
  const auto n = static_cast<int>(mine.size());
  std::vector<std::int64_t> all;
  if (rank_ == root) all.resize(mine.size() * static_cast<std::size_t>(size_));
  check_mpi(MPI_Gather(mine.data(), n, MPI_INT64_T, all.data(), n, MPI_INT64_T, root, comm_), "MPI_Gather");
  return all;
}

Bytes Comm::scatter(const std::vector<Bytes>& parts, int root) const {
  const bool is_root = rank_ == root;
  const bool one_each = parts.size() == static_cast<std::size_t>(size_);
  std::int64_t total = 0;
  for (const auto& part : parts)
    total += static_cast<std::int64_t>(part.size());
  // Each rank hears of the total as well, so that all of them refuse it alike.
  using Lengths = std::array<std::int64_t, 2>;
  std::vector<Lengths> lengths;
  if (is_root) lengths.assign(static_cast<std::size_t>(size_), Lengths{0, one_each ? total : -1});
  for (std::size_t i = 0; i < lengths.size() && one_each; ++i)
    lengths[i][0] = static_cast<std::int64_t>(parts[i].size());
  Lengths mine{};
  check_mpi(MPI_Scatter(lengths.data(), 2, MPI_INT64_T, mine.data(), 2, MPI_INT64_T, root, comm_),
            "MPI_Scatter");
  if (mine[1] < 0) throw Error(Code::internal, "MPI_Scatterv: the root needs one part for each rank");
  check_length(mine[1], "MPI_Scatterv");
  std::vector<int> counts;
  std::vector<int> offsets;
  Bytes all;
  if (is_root) {
    for (const auto& part : parts) {
      counts.push_back(static_cast<int>(part.size()));
      offsets.push_back(static_cast<int>(all.size()));
      all.insert(all.end(), part.begin(), part.end());
    }
  }
  const auto count = static_cast<int>(mine[0]);
  Bytes bytes(static_cast<std::size_t>(count));
  check_mpi(MPI_Scatterv(all.data(), counts.data(), offsets.data(), MPI_BYTE, bytes.data(), count, MPI_BYTE,
                         root, comm_),
            "MPI_Scatterv");
  return bytes;
}

std::vector<Bytes> Comm::exchange(const std::vector<Bytes>& parts) const {
  const auto n = static_cast<std::size_t>(size_);
  // A rank that breaks the rule says so to all, so that all of them refuse it alike.
  std::vector<std::int64_t> to(n, -1);
  for (std::size_t i = 0; i < n && parts.size() == n; ++i)
    to[i] = static_cast<std::int64_t>(parts[i].size());
  std::vector<std::int64_t> from(n);
  check_mpi(MPI_Alltoall(to.data(), 1, MPI_INT64_T, from.data(), 1, MPI_INT64_T, comm_), "MPI_Alltoall");
  if (*std::min_element(from.begin(), from.end()) < 0)
    throw Error(Code::internal, "exchange: a rank needs one part for each rank");

  // All memory before the first message: afterwards no rank may leave alone.
  std::vector<Bytes> got(n);
  std::vector<MPI_Request> requests;
  agree_or_throw(caught([&] {
    std::size_t messages = 0;
    for (std::size_t r = 0; r < n; ++r) {
      messages +=
          static_cast<std::size_t>((from[r] + k_piece - 1) / k_piece + (to[r] + k_piece - 1) / k_piece);
      if (static_cast<int>(r) == rank_)
        got[r] = parts[r];
      else
        got[r].resize(static_cast<std::size_t>(from[r]));
    }
    requests.reserve(messages);
  }));
  // Longer parts go in pieces, which arrive in order.
  const auto in_pieces = [&](std::int64_t bytes, auto start) {
    for (std::int64_t at = 0; at < bytes; at += k_piece) {
      requests.push_back(MPI_REQUEST_NULL);
      start(at, static_cast<int>(std::min<std::int64_t>(k_piece, bytes - at)));
    }
  };
  // Each rank begins with its successor, so that not all send to the same one first.
  for (int step = 0; step < size_; ++step) {
    const int r = (rank_ + size_ - step) % size_;
    auto& part = got[static_cast<std::size_t>(r)];
    const std::int64_t bytes = from[static_cast<std::size_t>(r)];
    if (r == rank_) continue;
    in_pieces(bytes, [&](std::int64_t at, int length) {
      check_mpi(MPI_Irecv(part.data() + at, length, MPI_BYTE, r, k_exchange_tag, comm_, &requests.back()),
                "MPI_Irecv");
    });
  }
  for (int step = 1; step < size_; ++step) {
    const int r = (rank_ + step) % size_;
    const auto& part = parts[static_cast<std::size_t>(r)];
    in_pieces(to[static_cast<std::size_t>(r)], [&](std::int64_t at, int length) {
      check_mpi(MPI_Isend(part.data() + at, length, MPI_BYTE, r, k_exchange_tag, comm_, &requests.back()),
                "MPI_Isend");
    });
  }
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
  return got;
}

int Comm::count_naming(const std::vector<int>& to) const {
  std::vector<int> named(static_cast<std::size_t>(size_), 0);
  for (const int r : to)
    named[static_cast<std::size_t>(r)] = 1;
  int count = 0;
  check_mpi(MPI_Reduce_scatter_block(named.data(), &count, 1, MPI_INT, MPI_SUM, comm_),
            "MPI_Reduce_scatter_block");
  return count;
}

std::vector<Parcel> Comm::exchange(const std::vector<Parcel>& parts) const {
  std::vector<int> to;
  std::vector<std::int64_t> lengths;
  for (const auto& part : parts) {
    to.push_back(part.rank);
    lengths.push_back(static_cast<std::int64_t>(part.bytes.size()));
  }
  std::vector<MPI_Request> requests;
  const auto finish = [&] {
    check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
    requests.clear();
  };
  // Lengths first: there is memory for all before the first part is sent, or all ranks learn that there is
  // not.
  struct Coming {
    int rank;
    std::int64_t length;
  };
  std::vector<Coming> coming(static_cast<std::size_t>(count_naming(to)));
  for (std::size_t i = 0; i < to.size(); ++i)
    check_mpi(MPI_Isend(&lengths[i], 1, MPI_INT64_T, to[i], k_length_tag, comm_, &requests.emplace_back()),
              "MPI_Isend");
  for (auto& part : coming) {
    MPI_Status status;
    check_mpi(MPI_Recv(&part.length, 1, MPI_INT64_T, MPI_ANY_SOURCE, k_length_tag, comm_, &status),
              "MPI_Recv");
    part.rank = status.MPI_SOURCE;
  }
  finish();
  std::sort(coming.begin(), coming.end(), [](const Coming& a, const Coming& b) { return a.rank < b.rank; });
  std::vector<Parcel> got;
  agree_or_throw(caught([&] {
    for (const auto& [rank, length] : coming)
      got.push_back({rank, Bytes(static_cast<std::size_t>(length))});
  }));
  const auto in_pieces = [&](std::int64_t bytes, auto start) {
    for (std::int64_t at = 0; at < bytes; at += k_piece) {
      requests.push_back(MPI_REQUEST_NULL);
      start(at, static_cast<int>(std::min<std::int64_t>(k_piece, bytes - at)));
    }
  };
  for (std::size_t i = 0; i < got.size(); ++i)
    in_pieces(coming[i].length, [&](std::int64_t at, int length) {
      check_mpi(MPI_Irecv(got[i].bytes.data() + at, length, MPI_BYTE, got[i].rank, k_exchange_tag, comm_,
                          &requests.back()),
                "MPI_Irecv");
    });
  for (const auto& part : parts)
    in_pieces(static_cast<std::int64_t>(part.bytes.size()), [&](std::int64_t at, int length) {
      check_mpi(MPI_Isend(part.bytes.data() + at, length, MPI_BYTE, part.rank, k_exchange_tag, comm_,
                          &requests.back()),
                "MPI_Isend");
    });
  finish();
  return got;
}

std::vector<std::int64_t> Comm::all_gather(std::int64_t mine) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size_));
  check_mpi(MPI_Allgather(&mine, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, comm_), "MPI_Allgather");
  return all;
}

std::vector<Bytes> Comm::all_gather(const Bytes& mine) const {
  ByteWriter out;
  for (const auto& part : gather(mine, 0))
    out.put(part);
  Bytes all = out.take();
  broadcast(all, 0);
  ByteReader in(all);
  std::vector<Bytes> parts(static_cast<std::size_t>(size_));
  for (auto& part : parts)
    in.get(part);
  return parts;
}

std::int64_t Comm::sum(std::int64_t mine) const {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Allreduce");
  return mine;
}

std::int64_t Comm::max(std::int64_t mine) const {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_MAX, comm_), "MPI_Allreduce");
  return mine;
}

std::int64_t Comm::min(std::int64_t mine) const {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_MIN, comm_), "MPI_Allreduce");
  return mine;
}

std::vector<std::int64_t> Comm::max(std::vector<std::int64_t> mine) const {
  const auto n = static_cast<int>(mine.size());
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, mine.data(), n, MPI_INT64_T, MPI_MAX, comm_), "MPI_Allreduce");
  return mine;
}

double Comm::max(double mine) const {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, comm_), "MPI_Allreduce");
  return mine;
}

Comm Comm::split(int color) const {
  return split(color, rank_);
}

Comm Comm::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split");
  return {part, Adopt{}};
}

Comm Comm::split_shared() const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part),
            "MPI_Comm_split_type");
  return {part, Adopt{}};
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
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, words.data(), Word::count, MPI_INT64_T, MPI_MAX, comm_),
            "MPI_Allreduce");
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
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&envelope, sizeof envelope, MPI_BYTE, root, comm_, &request), "MPI_Ibcast");
  wait_asleep(request, "MPI_Ibcast");
  if (!envelope.open(result)) broadcast(result.data(), envelope.length, root);
  if (envelope.mark == 0) throw Error(unpacked_status(result));
  return result;
}

void Comm::agree_or_throw(const Status& mine) const {
  Status agreed = agree(mine);
  if (!agreed.ok()) throw Error(std::move(agreed));
}

}  // namespace shoal
