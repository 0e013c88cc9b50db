// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/type.hpp"

namespace shoal::netcdf4 {

/// An HDF5 identifier that is given back at the end of its life.
class Id {
 public:
  Id() = default;
  explicit Id(hid_t id) : id_(id) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Id& operator=(Id&& other) noexcept {
    if (this != &other) {
      close();
      id_ = std::exchange(other.id_, -1);
    }
    return *this;
  }
  ~Id() { close(); }

  hid_t get() const { return id_; }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }
  hid_t release() { return std::exchange(id_, -1); }
  /// All kinds of identifiers that are used here are closed when their last reference goes.
  void close() {
    if (id_ >= 0) H5Idec_ref(id_);
    id_ = -1;
  }

 private:
  hid_t id_ = -1;
};

/// HDF5 prints nothing during the life of it; what the program had set comes back afterwards.
class QuietErrors {
 public:
  QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors();

 private:
  H5E_auto2_t handler_ = nullptr;
  void* data_ = nullptr;
  bool saved_ = false;
};

/// The Error for the HDF5 call that has just failed: "HDF5 could not WHAT: its innermost reason".
Error hdf5_error(const std::string& what, Code code = Code::format);
/// The innermost reason on HDF5's error stack, "" if there is none.
std::string innermost_reason();

/// An identifier, a count or a status as HDF5 returned it; negative: hdf5_error(what).
template <class T>
T check(T result, const char* what) {
  if (result < 0) throw hdf5_error(what);
  return result;
}

/// HDF5's type of a Type in memory; string: variable-length UTF-8 (a copy to be closed, like the others).
Id memory_type(Type type);

/// What a type in a file means here.
struct FileType {
  Type type = Type::none;
  bool fits = false;   ///< Shoal has a type for it
  bool plain = false;  ///< its bytes are the type's, maybe swapped
  bool swapped = false;
  bool fixed_text = false;  ///< string of fixed length > 1, read as Type::string
};
FileType file_type(hid_t type);

}  // namespace shoal::netcdf4
