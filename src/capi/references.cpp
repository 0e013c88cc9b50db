// SPDX-License-Identifier: BSD-3-Clause
#include "format/reference/reference.hpp"

#include "capi/handles.hpp"
#include "format/format_traits.hpp"
#include "format/raw/raw_header.hpp"
#include "storage/leftovers.hpp"
#include "storage/paths.hpp"
#include "storage/replacement.hpp"
#include "storage/temporary_name.hpp"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

namespace {

std::vector<std::string> paths_of(const char* const* paths, int n) {
  if (n < 1) throw Error(Code::invalid_argument, "the number of paths is {}; give one or more", n);
  require(paths, "paths");
  std::vector<std::string> out;
  for (int i = 0; i < n; ++i)
    out.push_back(required_text(paths[i], "paths"));
  return out;
}

}  // namespace

int shoal_write_reference(const char* const* paths, int n, const char* out) {
  return guard([&] { write_reference(paths_of(paths, n), required_text(out, "out")); });
}

int shoal_write_master(const char* const* paths, int n, const char* out) {
  return guard([&] { write_virtual_master(paths_of(paths, n), required_text(out, "out")); });
}

const char* shoal_beside(const char* path) {
  const char* text = nullptr;
  guard([&] {
    const std::string target = target_of(required_text(path, "path"));
    if (target.empty()) throw Error(Code::invalid_argument, "argument path is empty");
    remove_files_left_beside(target);
    thread_local std::string kept;
    kept = temporary_name(target);
    text = kept.c_str();
  });
  return text;
}

int shoal_take_place(const char* made, const char* path, int durable) {
  return guard([&] {
    const std::string from = required_text(made, "made"), to = required_text(path, "path");
    // A folder goes with all that is in it, and only one that is a dataset.
    const bool replaces_folder = is_a_folder(to);
    if (replaces_folder && header_file_of(to) == to)
      throw Error(Code::exists,
                  "it is a folder that holds no dataset, and is not replaced by one; choose another name, or "
                  "remove the folder")
          .in_file(to);
    const bool has_header = is_a_file(header_path(from));
    const std::vector<std::string> suffixes =
        has_header ? std::vector<std::string>{header_path("")} : std::vector<std::string>{};
    const auto what = replaces_folder                         ? Replacement::What::of_folder
                      : is_a_folder(from) && is_free_name(to) ? Replacement::What::of_free_name
                                                              : Replacement::What::of_file;
    Replacement replacement(to, suffixes, from, what);
    replacement.take_over_rights();
    replacement.commit(durable != 0);
  });
}
