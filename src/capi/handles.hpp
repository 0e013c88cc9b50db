// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/language.hpp"
#include "dataset/dataset.hpp"
#include "shoal/bindings.h"

/// What the C handles hold.
struct shoal_dataset {
  std::unique_ptr<shoal::Dataset> dataset;
  shoal::Language language = shoal::language();  // of who opened it
};

struct shoal_decomposition {
  std::shared_ptr<const shoal::Decomposition> decomposition;
};

namespace shoal::capi {

/// Keep this thread's last error, its message and where it was; its code.
int keep(const Status& status) noexcept;

/// Run work; exceptions become codes, their messages are kept for shoal_error_message. Nothing gets past it.
template <class Work>
int guard(Work&& work) noexcept {
  try {
    const Speaking until_the_end;  // dataset_of may change it
    work();
    return SHOAL_OK;
  } catch (...) {
    return keep(shoal::detail::current_exception_status());
  }
}

/// The call is in the language of the dataset. Error(state) if the handle is NULL.
Dataset& dataset_of(shoal_dataset* handle);
const Dataset& dataset_of(const shoal_dataset* handle);
/// nullptr for a NULL handle.
std::shared_ptr<const Decomposition> decomposition_of(const shoal_decomposition* handle);
/// Error(invalid_argument) if the pointer is NULL.
void require(const void* pointer, const char* name);
/// The text, or Error(invalid_argument) for NULL.
std::string required_text(const char* text, const char* name);
/// "" for NULL.
inline std::string text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}
/// What a caller refuses (shoal_refuse): numbers that are no error code are invalid_argument.
Status refusal_of(int code, const char* message);
/// What C++, Fortran and Python hand on for text with a zero byte inside, of which C would see the front.
constexpr std::string_view k_zero_inside = "\x01";
/// The array, wherever it lies. Error(invalid_argument, type): what is wrong with it.
CellArray array_of(const shoal_array* array);
/// The same for a call; what is wrong with it goes along, because a rank without cells need not have one.
ArrayArgument argument_of(const shoal_array* array);
/// The boxes of a call, each taken where it is looked at. Error(invalid_argument): there are none to take; of
/// a box: what is wrong with it, but for its array.
BoxesCall boxes_call_of(int n, const shoal_box* boxes);
/// All of them.
std::vector<BoxArgument> boxes_of(int n, const shoal_box* boxes);
/// Error(mpi) unless MPI is initialised and not finalised; Error(invalid_argument) for MPI_COMM_NULL.
void require_mpi(MPI_Comm comm);
/// Settings files that a new dataset looks at.
SettingSources current_sources();

}  // namespace shoal::capi
