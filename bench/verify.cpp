// SPDX-License-Identifier: BSD-3-Clause
#include "verify.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "dataset_check.hpp"
#include "files.hpp"

#ifdef SHOAL_HAVE_NETCDF
#include <netcdf.h>

#include "netcdf_file.hpp"
#endif

namespace shoal::bench {

namespace {

#ifdef SHOAL_HAVE_NETCDF

std::int64_t wrong_definitions(int file, const Content& content) {
  std::int64_t wrong = 0;
  for (const auto& field : content.fields) {
    int id = -1, dims = -1;
    if (nc_inq_varid(file, field.name.c_str(), &id) != NC_NOERR ||
        nc_inq_varndims(file, id, &dims) != NC_NOERR || dims != static_cast<int>(field.dims.size())) {
      ++wrong;
      continue;
    }
    for (const auto& [key, value] : field.attributes) {
      std::size_t length = 0;
      std::string found;
      if (nc_inq_attlen(file, id, key.c_str(), &length) == NC_NOERR) found.resize(length);
      wrong += nc_get_att_text(file, id, key.c_str(), found.data()) != NC_NOERR || found != value;
    }
  }
  return wrong;
}

std::int64_t wrong_by_library(Run& run) {
  if (!run.content.define_only) return wrong_in_dataset(run.comm, run.path, run.content, run.records);
  if (run.rank != 0) return 0;
  const auto path = pieces_of(run.path).at(0);
  int file = -1;
  check_netcdf(nc_open(path.c_str(), NC_NOWRITE, &file), "opening", path);
  const auto wrong = wrong_definitions(file, run.content);
  check_netcdf(nc_close(file), "closing", path);
  return wrong;
}

#else

std::int64_t wrong_by_library(Run& run) {
  if (run.content.define_only)
    throw std::runtime_error("definitions cannot be checked: this build has no netCDF-C");
  if (run.format == "raw" || run.format == "ascii")
    return wrong_in_dataset(run.comm, run.path, run.content, run.records);
  auto shoal = make_native();
  std::vector<LocalField> arrays;
  for (const auto& a : run.arrays)
    arrays.emplace_back(a.field(), a.tile(), 1);
  for (auto& a : arrays)
    a.spoil();
  std::int64_t wrong = 0;
  Phases unused;
  const KeyValues none;
  Run check{run.comm,
            run.rank,
            run.ranks,
            run.path,
            run.format,
            run.records,
            false,
            run.content,
            none,
            none,
            arrays,
            unused,
            [&](std::int64_t r) { wrong += wrong_in_arrays(arrays, r); },
            [] {},
            0};
  shoal->prepare(check);
  shoal->read(check);
  return wrong;
}

#endif

// A file's bytes, shared with whoever reads it next.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) : path_(path) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || fstat(fd, &info) != 0)
      throw std::runtime_error("planting an error: " + path + " cannot be opened");
    size_ = static_cast<std::size_t>(info.st_size);
    data_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (data_ == MAP_FAILED) throw std::runtime_error("planting an error: " + path + " cannot be mapped");
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
    if (at < 0) throw std::runtime_error("planting an error: the values are not in " + path_);
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
    if (digit == end) throw std::runtime_error("planting an error: there is no digit in " + path_);
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

}  // namespace

std::int64_t wrong_in_file(Method& method, Run& run) {
  std::int64_t wrong = method.wrong_in_file(run);
  if (wrong < 0) wrong = wrong_by_library(run);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, run.comm);
  return wrong;
}

std::int64_t wrong_in_arrays(const std::vector<LocalField>& arrays, std::int64_t record) {
  std::int64_t wrong = 0;
  for (const auto& array : arrays)
    if (array.field().record == (record >= 0))
      wrong += array.wrong_cells(0, std::max<std::int64_t>(record, 0));
  return wrong;
}

void plant_error(const Run& run) {
  const auto& array = run.arrays.back();
  const auto& field = array.field();
  // Raw files of methods that have no header are found by their values alone.
  const bool bare = run.format == "raw" && !std::filesystem::exists(pieces_of(run.path).at(0) + ".json");
  for (const auto& piece : pieces_of(run.path)) {
    const auto file = bare ? nullptr : open_plain(piece);
    const auto box = file ? Piece::box_of(*file, run.content, field) : array.tile();
    if (box.empty()) continue;
    const auto record = field.record ? run.records - 1 : 0;
    std::vector<std::int64_t> cell(field.shape.size(), 0);
    if (field.record) cell.insert(cell.begin(), record);
    const auto place = file ? file->place(field.name, cell) : -1;
    const bool text = file && file->is_text();
    if (place >= 0) {
      MappedFile(piece).spoil(place, text);
    } else {
      // Some neighbouring values are enough to be found nowhere else.
      auto few = box;
      few.rows = 1;
      few.columns = std::min<std::int64_t>({4, box.columns, std::max<std::int64_t>(array.tile().columns, 1)});
      const MappedFile mapped(piece);
      mapped.spoil(mapped.find(values_of_box(field, few, record), size_of(field.type)), false);
    }
    return;
  }
  throw std::runtime_error("planting an error: no file of " + run.path + " has values of " + field.name);
}

const char* checked_by() {
#ifdef SHOAL_HAVE_NETCDF
  return "serial netCDF-C";
#else
  return "Shoal itself";
#endif
}

}  // namespace shoal::bench
