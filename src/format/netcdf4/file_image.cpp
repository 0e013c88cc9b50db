// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/file_image.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "format/netcdf4/checksum.hpp"

namespace shoal::netcdf4 {

namespace {
constexpr std::uint64_t k_small = 64 * 1024;  // pieces below share blocks
constexpr std::uint64_t k_page = 4096;
constexpr std::uint64_t k_least_block = 8 * 1024;
constexpr std::uint64_t k_largest_block = 1024 * 1024;
constexpr std::int64_t k_raw_bound = 16 * 1024 * 1024;  // raw data kept in memory
constexpr std::size_t k_raw_direct = 4 * 1024 * 1024;   // a raw write from this size on is never kept
constexpr std::uint64_t k_cache_block = 64 * 1024;
constexpr std::size_t k_cache_blocks = 64;
constexpr std::size_t k_write_bytes = 8 * 1024 * 1024;

std::uint64_t rounded_up(std::uint64_t n, std::uint64_t unit) {
  return unit > 1 ? (n + unit - 1) / unit * unit : n;
}
}  // namespace

FileImage::FileImage(std::unique_ptr<Store> store, bool writable, std::int64_t alignment)
    : store_(std::move(store)),
      writable_(writable),
      alignment_(alignment > 1 ? static_cast<std::uint64_t>(alignment) : 1),
      store_size_(store_->size()) {
  committed_end_ = store_size_;
}

// A block of the user's own may lie in front.
bool FileImage::has_superblock_of_1_10() {
  std::array<std::byte, 9> start{};
  for (std::uint64_t at = 0; at + start.size() <= store_size_; at = at == 0 ? 512 : at * 2) {
    if (read_store(at, start) != start.size()) return false;
    if (std::memcmp(start.data(), "\x89HDF\r\n\x1a\n", 8) == 0) return start[8] >= std::byte{3};
  }
  return false;
}

std::uint64_t FileImage::end_of_file() const {
  return std::max({store_size_, image_size_, writable_ ? end_->load() : 0});
}

void FileImage::set_end_of_allocation(std::uint64_t end) {
  if (reopening_end_) {
    reopening_end_ = end;
    return;
  }
  // HDF5 counts from the start while it opens a file.
  const auto begin = std::max(end_->load(), committed_end_);
  if (end > begin) note_fresh(begin, end);
  *end_ = end;
  if (block_end_ > end) block_at_ = block_end_ = 0;
}

void FileImage::share_end(std::atomic<std::uint64_t>* end) {
  if (end == nullptr) end = &own_end_;
  if (end == end_) return;
  *end = end_->load();
  end_ = end;
}

std::uint64_t FileImage::take(std::uint64_t size, std::uint64_t alignment) {
  std::uint64_t before = *end_, address = 0;
  do {
    address = rounded_up(before, alignment);
  } while (!end_->compare_exchange_weak(before, address + size));
  note_fresh(address, address + size);
  return address;
}

void FileImage::note_fresh(std::uint64_t from, std::uint64_t to) {
  auto next = fresh_.upper_bound(from);
  if (next != fresh_.begin() && std::prev(next)->second >= from) {
    --next;
    from = next->first;
    to = std::max(to, next->second);
    next = fresh_.erase(next);
  }
  while (next != fresh_.end() && next->first <= to) {
    to = std::max(to, next->second);
    next = fresh_.erase(next);
  }
  fresh_.emplace_hint(next, from, to);
}

bool FileImage::is_fresh(std::uint64_t address, std::uint64_t size) const {
  const auto next = fresh_.upper_bound(address);
  return next != fresh_.begin() && std::prev(next)->second >= address + size;
}

// Not if somebody took space meanwhile.
bool FileImage::move_end(std::uint64_t from, std::uint64_t to) {
  return end_->compare_exchange_strong(from, to);
}

std::uint64_t FileImage::allocate(Kind kind, std::uint64_t size) {
  if (kind == Kind::raw && forced_ && forced_->size == size) {
    const auto address = forced_->address;
    forced_.reset();
    return address;
  }
  if (kind == Kind::raw && size >= k_small) return reserve(size);
  // A structure that is changed in place must not lie across pages, where a write may be torn.
  const auto gap_to_page = [&] {
    const bool crosses = block_at_ / k_page != (block_at_ + size - 1) / k_page;
    return kind != Kind::raw && size <= k_page && crosses ? k_page - block_at_ % k_page : 0;
  };
  auto gap = gap_to_page();
  if (block_end_ - block_at_ < gap + size) {
    // Blocks grow with the file, so that a small one stays small and a large one gets few, large writes.
    const auto block =
        std::max(gap + size, std::clamp(rounded_up(in_blocks_ / 2, 4096), k_least_block, k_largest_block));
    // The last block goes on, if nothing came behind it.
    if (block_end_ == 0 || !move_end(block_end_, block_at_ + block)) block_at_ = take(block, 1);
    block_end_ = block_at_ + block;
    gap = gap_to_page();
  }
  const auto address = block_at_ + gap;
  block_at_ += gap + size;
  in_blocks_ += gap + size;
  note_fresh(address, address + size);  // the rest of a block that the last commit left, too
  return address;
}

std::uint64_t FileImage::reserve(std::uint64_t size) {
  trim();
  return take(size, size >= k_small ? alignment_ : 1);
}

void FileImage::move_raw(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  raw_bytes_ -= cut(raw_, to, size);  // of who had the space before
  Bytes bytes(std::min<std::uint64_t>(size, k_write_bytes));
  for (std::uint64_t done = 0; done < size; done += bytes.size()) {
    const std::span part(bytes.data(), std::min<std::uint64_t>(bytes.size(), size - done));
    const auto n = read_store(from + done, part);
    if (to + done >= committed_end_) {
      write_store(to + done, part.first(n));
      continue;
    }
    // The last commit's file may have something else there.
    put_extent(raw_, to + done, part.first(n));
    raw_bytes_ += static_cast<std::int64_t>(n);
  }
  if (raw_bytes_ > k_raw_bound) spill();
}

void FileImage::release(std::uint64_t address, std::uint64_t size) {
  // Below the last commit the space still belongs to the file that would be found after a crash.
  if (keeps_released_ || address < committed_end_ || !move_end(address + size, address)) return;
  // Ranks may get the space next; what was written to it must not come out over what they write.
  cut(metadata_, address, size);
  raw_bytes_ -= cut(raw_, address, size);
  if (block_end_ > address) block_end_ = address;
  if (block_at_ > block_end_) block_at_ = block_end_;
}

void FileImage::trim() {
  if (block_at_ >= block_end_) return;
  const auto end = std::max(block_at_, std::min(block_end_, committed_end_));
  if (move_end(block_end_, end)) block_end_ = end;
}

bool FileImage::patch(const Extents& extents, std::uint64_t address, std::span<std::byte> bytes) {
  const auto end = address + bytes.size();
  auto it = extents.upper_bound(address);
  if (it != extents.begin()) --it;
  bool all = false;
  for (; it != extents.end() && it->first < end; ++it) {
    const auto from = std::max(address, it->first);
    const auto& kept = it->second.bytes;
    const auto to = std::min<std::uint64_t>(end, it->first + kept.size());
    if (from >= to) continue;
    std::memcpy(bytes.data() + (from - address), kept.data() + (from - it->first), to - from);
    all = from == address && to == end;
  }
  return all;
}

std::size_t FileImage::read_store(std::uint64_t address, std::span<std::byte> bytes) {
  const auto n = store_->read(address, bytes);
  reads += 1;
  bytes_read += static_cast<std::int64_t>(n);
  return n;
}

void FileImage::read_cached(std::uint64_t address, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const auto number = address / k_cache_block;
    auto found = cache_.find(number);
    if (found == cache_.end()) {
      if (cache_.size() >= k_cache_blocks) cache_.clear();
      Bytes block(k_cache_block);
      block.resize(read_store(number * k_cache_block, block));
      found = cache_.emplace(number, std::move(block)).first;
    }
    const auto at = address - number * k_cache_block;
    const auto n = std::min<std::uint64_t>(bytes.size(), k_cache_block - at);
    const auto& block = found->second;
    const auto there = at < block.size() ? std::min<std::uint64_t>(n, block.size() - at) : 0;
    if (there > 0) std::memcpy(bytes.data(), block.data() + at, there);
    std::memset(bytes.data() + there, 0, n - there);
    address += n;
    bytes = bytes.subspan(n);
  }
}

void FileImage::read(Kind kind, std::uint64_t address, std::span<std::byte> bytes) {
  if (kind == Kind::raw && probing_) {
    if (!traced_) traced_ = address;
    return;
  }
  if (bytes.empty() || patch(metadata_, address, bytes) || patch(raw_, address, bytes)) return;
  if (kind == Kind::raw || bytes.size() >= k_cache_block) {
    const auto n = read_store(address, bytes);
    std::memset(bytes.data() + n, 0, bytes.size() - n);
  } else {
    read_cached(address, bytes);
  }
  patch(metadata_, address, bytes);
  patch(raw_, address, bytes);
}

FileChecks::Read FileImage::reader() {
  return [this](std::uint64_t address, std::span<std::byte> bytes) { read(Kind::metadata, address, bytes); };
}

void FileImage::check_values(std::uint64_t address, std::span<const std::byte> bytes) {
  if (!probing_) checks_.heap(address, bytes, end_of_file(), reader());
}

void FileImage::set_changing(bool changing) {
  if (changing && !changing_) checks_.forget();
  changing_ = changing;
}

// While a file is changed, nodes change their places and levels, and HDF5 has some of them in memory alone.
void FileImage::check_tree(std::uint64_t address, std::span<const std::byte> bytes) {
  if (!changing_) checks_.tree(address, bytes, end_of_file());
}

void FileImage::check_object(std::uint64_t address, std::span<const std::byte> bytes) {
  checks_.object_header(address, bytes, end_of_file(), reader(), !changing_);
}

std::int64_t FileImage::cut(Extents& extents, std::uint64_t address, std::uint64_t size) {
  const auto end = address + size;
  std::int64_t removed = 0;
  auto it = extents.upper_bound(address);
  if (it != extents.begin()) --it;
  while (it != extents.end() && it->first < end) {
    const auto first = it->first;
    const auto last = first + it->second.bytes.size();
    if (last <= address) {
      ++it;
      continue;
    }
    const auto [old, in_store] = std::move(it->second);
    it = extents.erase(it);
    if (first < address)
      extents.emplace(
          first,
          Extent{Bytes(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(address - first)), in_store});
    if (last > end)
      extents.emplace(
          end, Extent{Bytes(old.end() - static_cast<std::ptrdiff_t>(last - end), old.end()), in_store});
    removed += static_cast<std::int64_t>(std::min(last, end) - std::max(first, address));
  }
  return removed;
}

void FileImage::put_extent(Extents& extents, std::uint64_t address, std::span<const std::byte> bytes) {
  const auto end = address + bytes.size();
  auto next = extents.upper_bound(address);
  if (next != extents.begin()) {
    auto& [first, extent] = *std::prev(next);
    auto& held = extent.bytes;
    const auto last = first + held.size();
    if (end <= last) {
      std::memcpy(held.data() + (address - first), bytes.data(), bytes.size());
      extent.in_store = false;
      return;
    }
    if (&extents == &raw_ && address == last && (next == extents.end() || end <= next->first)) {
      held.insert(held.end(), bytes.begin(), bytes.end());
      extent.in_store = false;
      return;
    }
  }
  cut(extents, address, bytes.size());
  extents.emplace(address, Extent{Bytes(bytes.begin(), bytes.end())});
}

namespace {

// A collection of the heap of strings and lists, which HDF5 writes whole, and passes to drivers as values.
bool is_collection(std::span<const std::byte> bytes) {
  static constexpr std::string_view k_signature = "GCOL";
  return bytes.size() > k_signature.size() &&
         std::memcmp(bytes.data(), k_signature.data(), k_signature.size()) == 0;
}

}  // namespace

void FileImage::write(Kind kind, std::uint64_t address, std::span<const std::byte> bytes) {
  if (abandoned_) return;
  if (kind == Kind::raw && !tracing_ && is_collection(bytes)) kind = Kind::metadata;
  if (kind != Kind::raw) {
    if (kind == Kind::superblock) {
      superblock_ = address;
      has_superblock_ = true;
    }
    raw_bytes_ -= cut(raw_, address, bytes.size());
    put_extent(metadata_, address, bytes);
    return;
  }
  if (tracing_) {
    if (!traced_) traced_ = address;
    return;
  }
  cut(metadata_, address, bytes.size());
  raw_bytes_ -= cut(raw_, address, bytes.size());
  if (bytes.size() >= k_raw_direct && address >= committed_end_) {
    write_store(address, bytes);
    return;
  }
  put_extent(raw_, address, bytes);
  raw_bytes_ += static_cast<std::int64_t>(bytes.size());
  if (raw_bytes_ > k_raw_bound) spill();
}

void FileImage::write_store(std::uint64_t address, std::span<const std::byte> bytes) {
  unsynced_ = true;
  store_->write(address, bytes);
  writes += 1;
  bytes_written += static_cast<std::int64_t>(bytes.size());
  store_size_ = std::max(store_size_, address + bytes.size());
  forget_cached(address, bytes.size());
}

void FileImage::forget_cached(std::uint64_t address, std::uint64_t size) {
  if (cache_.empty()) return;
  for (auto block = address / k_cache_block; block <= (address + size) / k_cache_block; ++block)
    cache_.erase(block);
}

void FileImage::write_raw_from(std::uint64_t address) {
  for (auto it = raw_.lower_bound(address); it != raw_.end();) {
    const auto& kept = it->second.bytes;
    if (!it->second.in_store) write_store(it->first, kept);
    raw_bytes_ -= static_cast<std::int64_t>(kept.size());
    it = raw_.erase(it);
  }
}

void FileImage::write_raw() {
  write_raw_from(0);
}

void FileImage::spill() {
  write_raw_from(committed_end_);
  // New values of old cells: memory is bounded, so they have to go as well. The file stays valid.
  if (raw_bytes_ > k_raw_bound) write_raw_from(0);
}

void FileImage::abandon() {
  abandoned_ = true;
  metadata_.clear();
  raw_.clear();
}

FileImage::Tracing::Tracing(FileImage& image, bool probe, std::optional<Place> forced) : image_(image) {
  image_.tracing_ = true;
  image_.probing_ = probe;
  image_.forced_ = forced;
  image_.traced_.reset();
}

FileImage::Tracing::~Tracing() {
  image_.tracing_ = image_.probing_ = false;
  image_.forced_.reset();
}

}  // namespace shoal::netcdf4
