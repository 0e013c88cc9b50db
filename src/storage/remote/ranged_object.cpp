// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/ranged_object.hpp"

#ifdef SHOAL_HAVE_CURL
#include <algorithm>
#include <charconv>
#include <cstring>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "storage/remote/in_parallel.hpp"

namespace shoal {

namespace {

// A server that sends no parts sends all, which is kept.
constexpr std::size_t k_most_whole = std::size_t{64} << 20;
constexpr std::size_t k_block = std::size_t{1} << 20;
constexpr std::size_t k_most_blocks = 64;

struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t total = 0;
};

/// "bytes 0-99/1234".
std::optional<ContentRange> parse_content_range(std::string_view text) {
  ContentRange range;
  const auto number = [&](std::string_view before, std::uint64_t& value) {
    if (!text.starts_with(before)) return false;
    text.remove_prefix(before.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc();
  };
  if (!number("bytes ", range.first) || !number("-", range.last) || !number("/", range.total) ||
      !text.empty())
    return std::nullopt;
  if (range.first > range.last || range.last >= range.total) return std::nullopt;
  return range;
}

/// What changes with the bytes of an object: its tag, or its date where the tag is none of bytes.
std::string version_in(const Answer& answer) {
  const std::string tag = answer.header("etag");
  return tag.empty() || tag.starts_with("W/") ? answer.header("last-modified") : tag;
}

class ReadingStore : public Store {
 public:
  explicit ReadingStore(std::unique_ptr<RangedObject> object) : object_(std::move(object)) {}
  const std::string& path() const override { return object_->shown(); }
  void write(std::uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {
    throw is_read_only();
  }
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    return object_->read(offset, bytes);
  }
  std::uint64_t size() override { return object_->size(); }
  void resize(std::uint64_t /*size*/) override { throw is_read_only(); }
  void sync() override {}
  void close() override {}

 protected:
  RangedObject& object() { return *object_; }

 private:
  Error is_read_only() const {
    return Error(Code::permission, "it was opened to be read, and cannot be written").in_file(path());
  }

  std::unique_ptr<RangedObject> object_;
};

class CachedStore final : public ReadingStore {
 public:
  using ReadingStore::ReadingStore;

  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override {
    if (bytes.size() > k_block || offset + bytes.size() <= object().known())
      return object().read(offset, bytes);
    std::size_t done = 0;
    while (done < bytes.size() && offset + done < size()) {
      const std::uint64_t at = offset + done;
      const std::vector<std::byte>& block = block_at(at / k_block);
      const std::size_t begin = at % k_block;
      const std::size_t count = std::min(bytes.size() - done, block.size() - begin);
      std::memcpy(bytes.data() + done, block.data() + begin, count);
      done += count;
    }
    return done;
  }

 private:
  using Blocks = std::list<std::pair<std::uint64_t, std::vector<std::byte>>>;  // the last used one first

  const std::vector<std::byte>& block_at(std::uint64_t number) {
    if (const auto found = places_.find(number); found != places_.end()) {
      blocks_.splice(blocks_.begin(), blocks_, found->second);
      return blocks_.front().second;
    }
    const std::uint64_t begin = number * k_block;
    std::vector<std::byte> bytes(std::min<std::uint64_t>(k_block, size() - begin));
    object().read(begin, bytes);
    if (blocks_.size() == k_most_blocks) {
      places_.erase(blocks_.back().first);
      blocks_.pop_back();
    }
    blocks_.emplace_front(number, std::move(bytes));
    places_[number] = blocks_.begin();
    return blocks_.front().second;
  }

  Blocks blocks_;
  std::unordered_map<std::uint64_t, Blocks::iterator> places_;
};

}  // namespace

RangedObject::RangedObject(std::shared_ptr<Requests> requests, std::string url, std::string shown,
                           std::size_t first_bytes)
    : requests_(std::move(requests)), url_(std::move(url)), shown_(std::move(shown)) {
  Request request = request_of(0, first_bytes);
  request.most_text = k_most_whole;
  const Answer answer = requests_->run(request);
  if (answer.status == 416) return;  // no first byte: it is empty
  if (answer.status == 200 && answer.is_too_long)
    throw Error(
        Code::not_supported,
        "the server sends no parts of files (range requests), and this one has more than {} MiB: download it "
        "first",
        k_most_whole >> 20)
        .in_file(shown_);
  if (answer.status != 200 && answer.status != 206) throw requests_->failure(request, answer);
  take_first(answer, request);
}

void RangedObject::take_first(const Answer& answer, const Request& request) {
  if (answer.is_too_long) throw requests_->failure(request, answer);
  const std::string encoding = answer.header("content-encoding");
  // "aws-chunked" is how some writers sent it, and not how it is sent now.
  if (!encoding.empty() && encoding != "identity" && encoding != "aws-chunked")
    throw Error(Code::not_supported,
                "it is stored in an encoding of its own ('{}'), so that its parts mean nothing: "
                "download and decode it first",
                encoding)
        .in_file(shown_);
  version_ = version_in(answer);
  first_ = answer.text;
  if (answer.status == 200) {
    if (answer.header("content-length").empty() && answer.header("transfer-encoding").empty())
      throw Error(
          Code::not_supported,
          "the server says neither the length of the file nor sends parts of it (range requests), so that "
          "one cannot know whether all came: download it first")
          .in_file(shown_);
    size_ = first_.size();
    return;
  }
  const auto range = parse_content_range(answer.header("content-range"));
  if (!range || range->first != 0 || range->last + 1 != first_.size())
    throw Error(Code::io,
                "the server does not say which part of the file it sends ('{}'), or sends another: "
                "download it first",
                requests_->without_secrets(answer.header("content-range")))
        .in_file(shown_);
  size_ = range->total;
}

Request RangedObject::request_of(std::uint64_t offset, std::size_t bytes) const {
  Request request;
  request.method = "GET";
  request.url = url_;
  request.shown = shown_;
  request.doing = "read it";
  request.range = {offset, offset + bytes - 1};
  return request;
}

std::size_t RangedObject::read(std::uint64_t offset, std::span<std::byte> bytes) {
  if (offset >= size_) return 0;
  bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), size_ - offset));
  std::size_t known = 0;
  if (offset < first_.size()) {
    known = std::min<std::size_t>(bytes.size(), first_.size() - offset);
    std::memcpy(bytes.data(), first_.data() + offset, known);
  }
  const std::span<std::byte> rest = bytes.subspan(known);
  const auto part = static_cast<std::size_t>(requests_->options().part_bytes);
  const std::size_t parts = (rest.size() + part - 1) / part;
  in_parallel(parts, static_cast<std::size_t>(requests_->options().most_requests), [&](std::size_t i) {
    fetch(offset + known + i * part, rest.subspan(i * part, std::min(part, rest.size() - i * part)));
  });
  return bytes.size();
}

void RangedObject::fetch(std::uint64_t offset, std::span<std::byte> bytes) {
  Request request = request_of(offset, bytes.size());
  request.into = bytes;
  const Answer answer = requests_->run(request);
  const auto changed = [&] {
    return Error(Code::io, "it was changed on the server while it was read; open it again").in_file(shown_);
  };
  if (answer.status == 416 || answer.status == 412) throw changed();
  const bool is_success = answer.status == 200 || answer.status == 206;
  if (is_success && version_in(answer) != version_) throw changed();
  if (answer.status != 206 || answer.is_too_long) throw requests_->failure(request, answer);
  const auto range = parse_content_range(answer.header("content-range"));
  if (range && range->total != size_) throw changed();
  if (!range || range->first != offset || answer.received != bytes.size())
    throw Error(Code::io, "the server sends other bytes than were asked for ({} from {})", bytes.size(),
                offset)
        .in_file(shown_);
}

std::unique_ptr<Store> reading_store(std::unique_ptr<RangedObject> object, bool cached) {
  if (cached) return std::make_unique<CachedStore>(std::move(object));
  return std::make_unique<ReadingStore>(std::move(object));
}

}  // namespace shoal
#endif
