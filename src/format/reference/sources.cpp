// SPDX-License-Identifier: BSD-3-Clause
#include "format/reference/reference.hpp"
#include "format/tiles/set_paths.hpp"
#include "storage/leftovers.hpp"
#include "storage/paths.hpp"
#include "storage/replacement.hpp"

namespace shoal::reference {

Sources sources_of(const std::vector<std::string>& paths) {
  Sources sources;
  for (const auto& path : paths) {
    const auto files = files_of_set(path);
    sources.is_set = sources.is_set || !files.empty();
    if (files.empty())
      sources.files.push_back(path);
    else
      sources.files.insert(sources.files.end(), files.begin(), files.end());
  }
  if (sources.files.empty()) throw Error(Code::invalid_argument, "no file was given");
  sources.is_set = sources.is_set || sources.files.size() > 1;
  return sources;
}

FileSet set_of(const Sources& sources, const FileSetOptions& options) {
  if (sources.is_set) return open_file_set(sources.files, options);
  const std::string& path = sources.files.front();
  FileSet set;
  with_catalog_of(path, options, [&](Catalog& catalog) { set.schema = catalog.schema(); });
  SetFile file{path, -1, {}, {}};
  for (const auto& dim : set.schema.dims) {
    file.spans.push_back({0, dim.length, 0, dim.length});
    set.cut.push_back(false);
  }
  for (std::size_t v = 0; v < set.schema.variables.size(); ++v) {
    file.variables.push_back(static_cast<int>(v));
    set.has_gaps.push_back(false);
  }
  set.files.push_back(std::move(file));
  return set;
}

void write_whole(const std::string& out, const std::function<void(const std::string&)>& write) {
  if (out.empty()) throw Error(Code::invalid_argument, "the path to write to is empty");
  refuse_special(out);
  remove_files_left_beside(target_of(out));
  Replacement replacement(out);
  write(replacement.beside());
  replacement.take_over_rights();
  replacement.commit(false);
}

}  // namespace shoal::reference
