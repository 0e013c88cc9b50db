// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/virtual_file.hpp"

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // HDF5 1.14 keeps the driver class there
#endif

#include <cstdlib>
#include <memory>
#include <new>

namespace shoal::netcdf4 {

namespace {

struct DriverInfo {
  FileImage* image;
};

struct File {
  H5FD_t base;  // first: HDF5 knows only this part
  FileImage* image;
  std::unique_ptr<FileImage> own;  // of a file that virtual data sets of the first one refer to
};

FileImage& image_of(const H5FD_t* file) {
  return *reinterpret_cast<const File*>(file)->image;
}

FileImage::Kind kind_of(H5FD_mem_t type) {
  return type == H5FD_MEM_DRAW    ? FileImage::Kind::raw
         : type == H5FD_MEM_SUPER ? FileImage::Kind::superblock
                                  : FileImage::Kind::metadata;
}

// No exception may pass through HDF5.
template <class Result, class Work>
Result kept_in(FileImage& image, Result failed, Work&& work) {
  try {
    return work();
  } catch (...) {
    image.keep_failure(std::current_exception());
    return failed;
  }
}

// HDF5 opens the sources of virtual data sets with the driver of the file that they are in.
H5FD_t* open_file(const char* name, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  auto* file = new (std::nothrow) File{};
  if (file == nullptr) return nullptr;
  file->image = info->image;
  try {
    if (info->image->store().path() != name) {
      const auto& may_open = info->image->may_open;
      if (may_open && !may_open(name)) throw Error(Code::permission, "another file");
      file->own = std::make_unique<FileImage>(open_posix_store(name, StoreMode::read), false, 1);
      file->own->may_open = may_open;
      file->image = file->own.get();
    }
  } catch (...) {  // HDF5 tries several names, and takes a source that is not there for one without values
    delete file;
    return nullptr;
  }
  return &file->base;
}

// What the sources are opened with: HDF5 gives the memory back with free.
void* driver_info(H5FD_t* file) {
  auto* info = static_cast<DriverInfo*>(std::malloc(sizeof(DriverInfo)));
  if (info != nullptr) info->image = reinterpret_cast<File*>(file)->image;
  return info;
}

herr_t close_file(H5FD_t* file) {
  delete reinterpret_cast<File*>(file);
  return 0;
}

// Writes of a commit keep an order in which others may read (FileImage::commit).
herr_t query(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) *flags = H5FD_FEAT_SUPPORTS_SWMR_IO;
  return 0;
}

haddr_t allocate(H5FD_t* file, H5FD_mem_t type, hid_t, hsize_t size) {
  auto& image = image_of(file);
  return kept_in(image, HADDR_UNDEF, [&]() -> haddr_t { return image.allocate(kind_of(type), size); });
}

herr_t release(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, hsize_t size) {
  image_of(file).release(address, size);
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) {
  return image_of(file).end_of_allocation();
}

herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  image_of(file).set_end_of_allocation(address);
  return 0;
}

haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) {
  return image_of(file).end_of_file();
}

herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, size_t size, void* buffer) {
  auto& image = image_of(file);
  return kept_in(image, -1, [&] {
    const std::span bytes(static_cast<std::byte*>(buffer), size);
    image.read(kind_of(type), address, bytes);
    if (type == H5FD_MEM_DRAW) image.check_values(address, bytes);
    if (type == H5FD_MEM_BTREE) image.check_tree(address, bytes);
    if (type == H5FD_MEM_OHDR) image.check_object(address, bytes);
    return 0;
  });
}

herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, size_t size, const void* buffer) {
  auto& image = image_of(file);
  return kept_in(image, -1, [&] {
    image.write(kind_of(type), address, {static_cast<const std::byte*>(buffer), size});
    return 0;
  });
}

herr_t nothing(H5FD_t*, hid_t, hbool_t) {
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t c{};
#ifdef H5FD_CLASS_VERSION
  c.version = H5FD_CLASS_VERSION;
  c.value =
      static_cast<H5FD_class_value_t>(600);  // the range for drivers that are not registered with anybody
#endif
  c.name = "shoal";
  c.maxaddr = (haddr_t{1} << 62) - 1;
  c.fc_degree = H5F_CLOSE_STRONG;
  c.fapl_size = sizeof(DriverInfo);
  c.fapl_get = driver_info;
  c.open = open_file;
  c.close = close_file;
  c.query = query;
  c.alloc = allocate;
  c.free = release;
  c.get_eoa = get_eoa;
  c.set_eoa = set_eoa;
  c.get_eof = get_eof;
  c.read = read;
  c.write = write;
  c.flush = nothing;
  c.truncate = nothing;
  // Space that metadata gave up since the last commit must not be given to raw data, which is written at
  // once.
  for (auto& type : c.fl_map)
    type = H5FD_MEM_SUPER;
  c.fl_map[H5FD_MEM_DRAW] = H5FD_MEM_DRAW;
  return c;
}

}  // namespace

Id register_driver() {
  const auto the_class = driver_class();
  return Id(check(H5FDregister(&the_class), "register a file driver"));
}

Id access_through(hid_t driver, FileImage& image) {
  Id access(check(H5Pcreate(H5P_FILE_ACCESS), "make a file access list"));
  const DriverInfo info{&image};
  check(H5Pset_driver(access, driver, &info), "set the file driver");
  check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "set how files are closed");
  return access;
}

}  // namespace shoal::netcdf4
