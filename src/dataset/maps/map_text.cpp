// SPDX-License-Identifier: BSD-3-Clause
// PIO's text form of a decomposition:
//   version 2001 npes 4 ndims 2
//   36 18
//   0 162
//   1 2 3 ...
//   1 162
//   ...
// the number of ranks, the lengths of the dimensions (fastest first, where a Fortran program wrote it), then
// of each rank its number, how many cells it has, and which, from 1; 0 is a hole. Ranks without cells may be
// left out. What follows (the calls that led there, an id) is no number. Rank 0 reads it in pieces, twice:
// all is checked before any rank waits for a part.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "base/pack_fields.hpp"
#include "dataset/maps/map_file.hpp"
#include "storage/store.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_buffer = 1 << 20;           // bytes read at once
constexpr std::size_t k_message = 1 << 17;          // cells sent at once
constexpr std::int64_t k_most_ranks = 100'000'000;  // more than there are: a bound for what is kept for each

/// The words of a file, one after the other.
class Words {
 public:
  explicit Words(const std::string& path)
      : store_(open_posix_store(path, StoreMode::read)), buffer_(k_buffer) {}

  /// Empty at the end of the file. Lives until the next call.
  const std::string& next() {
    word_.clear();
    while (at_ < end_ || fill()) {
      const char c = static_cast<char>(buffer_[at_]);
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        if (!word_.empty()) return word_;
        if (c == '\n') ++line_;
      } else if (word_.size() == k_longest) {
        return word_;  // no number is that long: whoever asked for one refuses it
      } else
        word_.push_back(c);
      ++at_;
    }
    return word_;
  }
  std::int64_t line() const { return line_; }

  /// Error(format) unless the next word is a number.
  std::int64_t number(const char* what) {
    const auto value = as_number(next());
    if (!value)
      throw Error(Code::format,
                  "line {}: '{}' stands where {} should; the file is cut off or is not PIO's text form",
                  line_, word_, what);
    return *value;
  }
  static std::optional<std::int64_t> as_number(const std::string& word) {
    std::int64_t value = 0;
    const char* end = word.data() + word.size();
    const auto result = std::from_chars(word.data(), end, value);
    if (word.empty() || result.ec != std::errc() || result.ptr != end) return {};
    return value;
  }

 private:
  static constexpr std::size_t k_longest = 32;
  bool fill() {
    end_ = store_->read(offset_, buffer_);
    offset_ += end_;
    at_ = 0;
    return end_ > 0;
  }
  std::unique_ptr<Store> store_;
  Bytes buffer_;
  std::uint64_t offset_ = 0;
  std::size_t at_ = 0, end_ = 0;
  std::int64_t line_ = 1;
  std::string word_;
};

struct Header {
  std::int64_t ranks = 0;
  Dims dims;  // in the order of the file

  template <class Writer>
  void pack(Writer& out) const {
    put_all(out, ranks, dims);
  }
  template <class Reader>
  void unpack(Reader& in) {
    get_all(in, ranks, dims);
  }
};

void expect(Words& words, const char* word) {
  const std::string& found = words.next();
  if (found != word)
    throw Error(Code::format, "line {}: '{}' stands where '{}' should", words.line(), found, word);
}

Header header_of(Words& words) {
  Header header;
  expect(words, "version");
  const std::int64_t version = words.number("the version");
  if (version != 2001)
    throw Error(Code::format, "PIO's text form has version 2001; this file says {}", version);
  expect(words, "npes");
  header.ranks = words.number("the number of ranks");
  expect(words, "ndims");
  const std::int64_t ndims = words.number("the number of dimensions");
  if (header.ranks < 1 || header.ranks > k_most_ranks || ndims < 1 || ndims >= k_max_dims)
    throw Error(Code::format, "line 1: {} ranks and {} dimensions; 1 to {} dimensions are possible",
                header.ranks, ndims, k_max_dims - 1);
  std::int64_t cells = 1;
  for (std::int64_t d = 0; d < ndims; ++d) {
    header.dims.push_back(words.number("the length of a dimension"));
    const std::int64_t length = header.dims[static_cast<int>(d)];
    if (length < 1 || length > INT64_MAX / cells)
      throw Error(Code::format, "line 2: a dimension has length {}", length);
    cells *= length;
  }
  return header;
}

/// Goes through the lists: list(rank, length) before each, cell(index from 1 or 0) for each cell of it.
template <class List, class Cell>
void for_each_list(Words& words, const Header& header, List&& list, Cell&& cell) {
  const std::int64_t cells = volume(header.dims);
  std::int64_t last = -1;
  while (const auto rank = Words::as_number(words.next())) {
    const auto where = fmt::format("line {}: ", words.line());
    if (*rank <= last || *rank >= header.ranks)
      throw Error(Code::format, "{}the list of rank {} comes where that of a rank from {} to {} should",
                  where, *rank, last + 1, header.ranks - 1);
    last = *rank;
    const std::int64_t length = words.number("the length of a list");
    if (length < 0 || length > map_file::k_longest_list)
      throw Error(Code::format, "{}the list of rank {} has {} cells", where, *rank, length);
    list(*rank, length);
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t index = words.number("the index of a cell");
      if (index < 0 || index > cells)
        throw Error(Code::format, "line {}: rank {}: the index {} is outside of 1 to {} (0: a hole)",
                    words.line(), *rank, index, cells);
      cell(index);
    }
  }
}

/// What rank 0 finds when it goes through the file for the first time.
struct Survey {
  Header header;
  std::vector<std::int64_t> lengths;  // of each saved rank's list
  std::int64_t mapped = 0;            // cells of all lists that are no holes
};

Survey survey_of(const std::string& path) {
  Survey survey;
  Words words(path);
  survey.header = header_of(words);
  survey.lengths.assign(static_cast<std::size_t>(survey.header.ranks), 0);
  for_each_list(
      words, survey.header,
      [&](std::int64_t rank, std::int64_t length) {
        survey.lengths[static_cast<std::size_t>(rank)] = length;
      },
      [&](std::int64_t index) { survey.mapped += index > 0 ? 1 : 0; });
  return survey;
}

/// Rank 0's way to hand out cells in order of ranks; others receive in `receive`.
class Dealer {
 public:
  Dealer(const Comm& comm, std::vector<std::int64_t> shares, std::vector<std::int64_t>& own)
      : comm_(comm), shares_(std::move(shares)), own_(own) {
    next_rank();
  }

  void deal(std::int64_t cell) {
    if (to_ >= comm_.size()) changed();
    if (to_ == 0)
      own_.push_back(cell);
    else
      message_.push_back(cell);
    if (--left_ == 0 || message_.size() == k_message) send();
    if (left_ == 0) next_rank();
  }

  /// All ranks must have their share by now.
  void finish() const {
    if (to_ < comm_.size()) changed();
  }

  /// Ranks that wait for more do not get it: they find a message without cells.
  void give_up() noexcept {
    for (; to_ < comm_.size(); next_rank())
      if (to_ > 0) MPI_Send(nullptr, 0, MPI_INT64_T, to_, 0, comm_.handle());
  }

 private:
  [[noreturn]] static void changed() { throw Error(Code::format, "the file changed while it was read"); }
  void send() {
    if (to_ == 0) return;
    check_mpi(
        MPI_Send(message_.data(), static_cast<int>(message_.size()), MPI_INT64_T, to_, 0, comm_.handle()),
        "MPI_Send");
    message_.clear();
  }
  void next_rank() {
    left_ = 0;
    while (left_ == 0 && ++to_ < comm_.size())
      left_ = shares_[static_cast<std::size_t>(to_)];
  }
  const Comm& comm_;
  std::vector<std::int64_t> shares_;
  std::vector<std::int64_t>& own_;
  std::vector<std::int64_t> message_;
  int to_ = -1;
  std::int64_t left_ = 0;
};

void receive(const Comm& comm, std::vector<std::int64_t>& cells) {
  for (std::size_t at = 0; at < cells.size();) {
    const auto capacity = static_cast<int>(std::min(k_message, cells.size() - at));
    MPI_Status status;
    int got = 0;
    check_mpi(MPI_Recv(cells.data() + at, capacity, MPI_INT64_T, 0, 0, comm.handle(), &status), "MPI_Recv");
    check_mpi(MPI_Get_count(&status, MPI_INT64_T, &got), "MPI_Get_count");
    if (got <= 0) return;  // rank 0 says why
    at += static_cast<std::size_t>(got);
  }
}

void deal_file(const Comm& comm, const std::string& path, bool same_ranks, std::vector<std::int64_t> shares,
               std::vector<std::int64_t>& own) {
  Dealer dealer(comm, std::move(shares), own);
  try {
    Words words(path);
    const Header header = header_of(words);
    for_each_list(
        words, header, [](std::int64_t, std::int64_t) {},
        [&](std::int64_t index) {
          if (same_ranks || index > 0) dealer.deal(index - 1);
        });
    dealer.finish();
  } catch (...) {
    dealer.give_up();
    throw;
  }
}

}  // namespace

bool map_file::is_pio_text(const std::string& first_bytes) {
  return first_bytes.starts_with("version ");
}

std::shared_ptr<const Decomposition> map_file::load_pio_text(const Comm& comm, const std::string& path,
                                                             const std::string& name) {
  comm.handle();  // all are here to make it
  if (!name.empty() && name != "c" && name != "fortran")
    throw Error(Code::not_found,
                "PIO's text form holds one decomposition, which has no name; the name may say the order of "
                "its dimensions: 'fortran' (fastest first, unless said otherwise) or 'c'; it is '{}'",
                name);
  Survey survey;  // on rank 0
  const Bytes known = comm.from_root([&] {
    survey = survey_of(path);
    ByteWriter out;
    out.put(survey.header);
    out.put(survey.mapped);
    return out.take();
  });
  ByteReader in(known);
  const auto header = in.get<Header>();
  const auto mapped = in.get<std::int64_t>();
  Dims global = header.dims;
  if (name != "c") std::reverse(global.begin(), global.end());

  const bool same_ranks = header.ranks == comm.size();
  std::vector<std::int64_t> shares;
  if (comm.rank() == 0) {
    shares = std::move(survey.lengths);
    if (!same_ranks) {
      shares.assign(static_cast<std::size_t>(comm.size()), 0);
      for (int r = 0; r < comm.size(); ++r)
        shares[static_cast<std::size_t>(r)] =
            even_begin(mapped, comm.size(), r + 1) - even_begin(mapped, comm.size(), r);
    }
  }
  std::vector<Bytes> messages(shares.size());
  for (std::size_t r = 0; r < shares.size(); ++r) {
    ByteWriter out;
    out.put(shares[r]);
    messages[r] = out.take();
  }
  const Bytes message = comm.scatter(messages, 0);
  const auto share = static_cast<std::size_t>(ByteReader(message).get<std::int64_t>());

  std::vector<std::int64_t> cells;
  comm.agree_or_throw(caught([&] { comm.rank() == 0 ? cells.reserve(share) : cells.resize(share); }));
  const Status status = caught([&] {
    if (comm.rank() == 0)
      deal_file(comm, path, same_ranks, std::move(shares), cells);
    else
      receive(comm, cells);
  });
  return Decomposition::map(comm, global, 0, cells, status);
}

}  // namespace shoal
