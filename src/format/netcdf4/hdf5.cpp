// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/hdf5.hpp"

namespace shoal::netcdf4 {

QuietErrors::QuietErrors() {
  unsigned is_v2 = 1;
  H5Eauto_is_v2(H5E_DEFAULT, &is_v2);
  // A handler of HDF5 1.6's kind cannot be asked for in the new way; then its program sees our errors, which
  // is harmless.
  if (!is_v2) return;
  saved_ = H5Eget_auto2(H5E_DEFAULT, &handler_, &data_) >= 0;
  if (saved_) H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() {
  if (saved_) H5Eset_auto2(H5E_DEFAULT, handler_, data_);
}

std::string innermost_reason() {
  std::string reason;
  const auto visit = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
    if (error->desc != nullptr && *error->desc != '\0') {
      *static_cast<std::string*>(to) = error->desc;
      return 1;
    }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &reason);
  return reason;
}

Error hdf5_error(const std::string& what, Code code) {
  const auto reason = innermost_reason();
  return Error(code, "HDF5 could not {}{}", what, reason.empty() ? "" : ": " + reason);
}

Id memory_type(Type type) {
  const auto copy = [](hid_t id) { return Id(check(H5Tcopy(id), "copy a type")); };
  switch (type) {
    case Type::byte_:
      return copy(H5T_NATIVE_SCHAR);
    case Type::char_:
      return copy(H5T_C_S1);
    case Type::short_:
      return copy(H5T_NATIVE_SHORT);
    case Type::int_:
      return copy(H5T_NATIVE_INT);
    case Type::float_:
      return copy(H5T_NATIVE_FLOAT);
    case Type::double_:
      return copy(H5T_NATIVE_DOUBLE);
    case Type::ubyte:
      return copy(H5T_NATIVE_UCHAR);
    case Type::ushort:
      return copy(H5T_NATIVE_USHORT);
    case Type::uint:
      return copy(H5T_NATIVE_UINT);
    case Type::int64:
      return copy(H5T_NATIVE_LLONG);
    case Type::uint64:
      return copy(H5T_NATIVE_ULLONG);
    case Type::string: {
      auto text = copy(H5T_C_S1);
      check(H5Tset_size(text, H5T_VARIABLE), "make a string type");
      check(H5Tset_cset(text, H5T_CSET_UTF8), "make a string type");
      return text;
    }
    default:
      throw Error(Code::type, std::string("netCDF-4 has no type ") + name_of(type));
  }
}

namespace {

FileType whole_number(hid_t type, std::size_t size) {
  static constexpr Type k_signed[] = {Type::byte_, Type::short_, Type::int_, Type::int64};
  static constexpr Type k_unsigned[] = {Type::ubyte, Type::ushort, Type::uint, Type::uint64};
  FileType result;
  const int power = size <= 1 ? 0 : size <= 2 ? 1 : size <= 4 ? 2 : 3;
  const bool with_sign = H5Tget_sign(type) != H5T_SGN_NONE;
  result.fits = size <= 8;
  if (!result.fits) return result;
  result.type = (with_sign ? k_signed : k_unsigned)[power];
  result.plain =
      size == size_of(result.type) && H5Tget_precision(type) == 8 * size && H5Tget_offset(type) == 0;
  return result;
}

FileType real_number(hid_t type, std::size_t size) {
  FileType result;
  result.fits = size <= 8;
  if (!result.fits) return result;
  result.type = size <= 4 ? Type::float_ : Type::double_;
  result.plain =
      size == 4 ? H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0
                : size == 8 && (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0);
  return result;
}

}  // namespace

FileType file_type(hid_t type) {
  const auto size = H5Tget_size(type);
  FileType result;
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      result = whole_number(type, size);
      break;
    case H5T_FLOAT:
      result = real_number(type, size);
      break;
    case H5T_STRING: {
      const bool variable = H5Tis_variable_str(type) > 0;
      result.fits = true;
      result.type = !variable && size == 1 ? Type::char_ : Type::string;
      result.plain = result.type == Type::char_;
      result.fixed_text = !variable && size > 1;
      return result;
    }
    default:
      return result;
  }
  if (result.plain && size > 1) {
    const auto order = H5Tget_order(type);
    result.plain = order == H5T_ORDER_LE || order == H5T_ORDER_BE;
    result.swapped = order != H5Tget_order(H5T_NATIVE_INT);
  }
  return result;
}

}  // namespace shoal::netcdf4
