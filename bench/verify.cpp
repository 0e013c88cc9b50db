// SPDX-License-Identifier: BSD-3-Clause
#include "verify.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

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

std::int64_t wrong_replicated(int file, int id, const Field& field, std::int64_t record,
                              const std::string& path) {
  const auto expected = replicated_values(field, std::max<std::int64_t>(record, 0));
  std::vector<std::byte> found(expected.size());
  const auto s = netcdf_whole(field, record);
  check_netcdf(nc_get_vara(file, id, s.start.data(), s.count.data(), found.data()),
               "reading of " + field.name, path);
  return found == expected ? 0 : 1;
}

std::int64_t wrong_values(int file, Run& run) {
  const auto ids = find_netcdf_variables(file, run.content, run.path);
  std::vector<std::byte> packed;
  std::int64_t wrong = 0;
  for (std::int64_t r = -1; r < run.records; ++r) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto& field = run.content.fields[i];
      const std::size_t array = field.distributed ? at++ : 0;
      if (field.record != (r >= 0)) continue;
      if (!field.distributed) {
        if (run.rank == 0) wrong += wrong_replicated(file, ids[i], field, r, run.path);
        continue;
      }
      const auto& local = run.arrays[array];
      packed.resize(static_cast<std::size_t>(local.owned_bytes()));
      const auto s = netcdf_section(field, local.tile(), r);
      check_netcdf(nc_get_vara(file, ids[i], s.start.data(), s.count.data(), packed.data()),
                   "reading of " + field.name, run.path);
      wrong += local.wrong_packed(packed.data(), std::max<std::int64_t>(r, 0));
    }
  }
  return wrong;
}

std::int64_t wrong_by_library(Run& run) {
  if (run.content.define_only && run.rank != 0) return 0;
  int file = -1;
  check_netcdf(nc_open(run.path.c_str(), NC_NOWRITE, &file), "opening", run.path);
  const auto wrong = run.content.define_only ? wrong_definitions(file, run.content) : wrong_values(file, run);
  check_netcdf(nc_close(file), "closing", run.path);
  return wrong;
}

#else

std::int64_t wrong_by_library(Run& run) {
  if (run.content.define_only)
    throw std::runtime_error("definitions cannot be checked: this build has no netCDF-C");
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
  explicit MappedFile(const std::string& path) {
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

  // The last place: levels of the last record are found in records before it too.
  std::byte* find_last(const std::vector<std::byte>& bytes) const {
    auto* const begin = static_cast<std::byte*>(data_);
    std::byte* last = nullptr;
    for (auto* at = begin;; at = last + 1) {
      const auto left = size_ - static_cast<std::size_t>(at - begin);
      at = static_cast<std::byte*>(memmem(at, left, bytes.data(), bytes.size()));
      if (at == nullptr) return last;
      last = at;
    }
  }

 private:
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
  const auto size = size_of(array.field().type);
  // Some neighbouring values are enough to be found nowhere else; file byte order may be either.
  const auto cells = std::min<std::int64_t>(4, array.tile().columns);
  const auto* begin = array.interior(array.field().record ? run.records - 1 : 0);
  std::vector<std::byte> native(begin, begin + cells * size), swapped = native;
  for (std::int64_t c = 0; c < cells; ++c)
    std::reverse(swapped.begin() + c * size, swapped.begin() + (c + 1) * size);
  const MappedFile file(run.path);
  auto* at = file.find_last(native);
  if (at == nullptr) at = file.find_last(swapped);
  if (at == nullptr)
    throw std::runtime_error("planting an error: the values of " + array.field().name + " are not in " +
                             run.path);
  at[1] ^= std::byte{0x10};
}

const char* checked_by() {
#ifdef SHOAL_HAVE_NETCDF
  return "serial netCDF-C";
#else
  return "Shoal itself";
#endif
}

}  // namespace shoal::bench
