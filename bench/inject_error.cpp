// SPDX-License-Identifier: BSD-3-Clause
#include "inject_error.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "arrays.hpp"
#include "dataset_check.hpp"
#include "files.hpp"

namespace shoal::bench {

namespace {

// A file's bytes, shared with whoever reads it next.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) : path_(path) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || fstat(fd, &info) != 0)
      throw std::runtime_error("injecting an error: " + path + " cannot be opened");
    size_ = static_cast<std::size_t>(info.st_size);
    data_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (data_ == MAP_FAILED) throw std::runtime_error("injecting an error: " + path + " cannot be mapped");
  }
  ~MappedFile() { munmap(data_, size_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Where values of so many bytes each lie, in either byte order. The last place: levels of the last record
  // are found in records before it too.
  std::int64_t find(const std::vector<std::byte>& values, std::int64_t size) const {
    auto at = find_last(values);
    auto swapped = values;
    for (auto value = swapped.begin(); at < 0 && value != swapped.end(); value += size)
      std::reverse(value, value + size);
    if (at < 0) at = find_last(swapped);
    if (at < 0) throw std::runtime_error("injecting an error: the values are not in " + path_);
    return at;
  }

  // Makes the value at a place another one by one byte: a bit of a number, a digit of a text.
  void spoil(std::int64_t place, bool text) const {
    auto* byte = static_cast<std::byte*>(data_) + place;
    auto* const end = static_cast<std::byte*>(data_) + size_;
    if (!text) {
      byte[1] ^= std::byte{0x10};
      return;
    }
    const auto digit =
        std::find_if(byte, end, [](std::byte b) { return b >= std::byte{'1'} && b <= std::byte{'9'}; });
    if (digit == end) throw std::runtime_error("injecting an error: there is no digit in " + path_);
    *digit = *digit == std::byte{'9'} ? std::byte{'8'} : std::byte(static_cast<unsigned char>(*digit) + 1);
  }

 private:
  std::int64_t find_last(const std::vector<std::byte>& bytes) const {
    auto* const begin = static_cast<std::byte*>(data_);
    std::int64_t last = -1;
    for (;;) {
      const auto from = static_cast<std::size_t>(last + 1);
      const auto* at =
          static_cast<std::byte*>(memmem(begin + from, size_ - from, bytes.data(), bytes.size()));
      if (at == nullptr) return last;
      last = at - begin;
    }
  }

  std::string path_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// The last distributed field.
const Field& injected_field(const Content& content) {
  for (auto field = content.fields.rbegin(); field != content.fields.rend(); ++field)
    if (field->distributed) return *field;
  throw std::runtime_error("injecting an error: the workload has no distributed field");
}

// In the first of the files that has the values.
void inject_error_in_one(const std::vector<std::string>& files, const std::vector<std::byte>& values,
                         std::int64_t size) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    try {
      const MappedFile mapped(files[i]);
      mapped.spoil(mapped.find(values, size), false);
      return;
    } catch (const std::runtime_error&) {
      if (i + 1 == files.size()) throw;
    }
  }
}

}  // namespace

void inject_error(const std::string& path, const Content& content, std::int64_t records, const Tile& tile,
                  bool bare) {
  const auto& field = injected_field(content);
  const auto record = field.record ? records - 1 : 0;
  for (const auto& piece : pieces_of(path)) {
    const auto file = bare ? nullptr : open_plain(piece);
    auto box = file ? Piece::box_of(*file, content, field) : tile;
    if (box.empty()) continue;
    std::vector<std::int64_t> cell(field.shape.size(), 0);
    if (field.record) cell.insert(cell.begin(), record);
    const auto place = file ? file->place(field.name, cell) : -1;
    // Some neighbouring values are enough to be found nowhere else.
    if (place < 0) {
      box.rows = 1;
      box.columns = std::min<std::int64_t>(4, box.columns);
    }
    if (std::filesystem::is_directory(piece)) {
      inject_error_in_one(files_of(path), values_of_box(field, box, record), size_of(field.type));
      return;
    }
    const MappedFile mapped(piece);
    if (place >= 0) {
      mapped.spoil(place, file->is_text());
      return;
    }
    mapped.spoil(mapped.find(values_of_box(field, box, record), size_of(field.type)), false);
    return;
  }
  throw std::runtime_error("injecting an error: no file of " + path + " has values of " + field.name);
}

void inject_error_in(const std::string& path, const std::vector<std::byte>& values, std::int64_t size) {
  inject_error_in_one(pieces_of(path), values, size);
}

}  // namespace shoal::bench
