// SPDX-License-Identifier: BSD-3-Clause
#include "shoal/groups.h"

#include "base/language.hpp"
#include "base/text.hpp"
#include "capi/handles.hpp"
#include "capi/structs.hpp"
#include "format/group_paths.hpp"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

int shoal_def_group(shoal_dataset* dataset, const char* name) {
  return guard([&] {
    Dataset& file = dataset_of(dataset);
    file.begin_definition();
    file.def_group(required_text(name, "name"));
  });
}

int shoal_rename_group(shoal_dataset* dataset, const char* name, const char* new_name) {
  return guard([&] {
    Dataset& file = dataset_of(dataset);
    file.begin_definition();
    file.rename_group(required_text(name, "name"), required_text(new_name, "new_name"));
  });
}

int shoal_num_groups(const shoal_dataset* dataset, int* out) {
  return guard([&] {
    require(out, "out");
    *out = dataset_of(dataset).schema().groups.count();
  });
}

int shoal_inq_group(const shoal_dataset* dataset, int index, shoal_group_info* out) {
  return guard([&] {
    require(out, "out");
    const auto& groups = dataset_of(dataset).schema().groups;
    if (!groups.has(index))
      throw Error(Code::not_found, "there is no group number {}; there are {}, counting {}", as_index(index),
                  groups.size(), counted_from());
    const shoal_group_info made{0, groups[index].name.c_str(),
                                static_cast<int>(groups[index].attributes.size())};
    hand_out(made, out, sizeof(shoal_group_info), "shoal_group_info");
  });
}

int shoal_find_group(const shoal_dataset* dataset, const char* name, int* out) {
  return guard([&] {
    require(out, "out");
    std::string group = required_text(name, "name");
    if (!group.ends_with('/')) group += '/';
    if (from_root(group).empty())
      throw Error(Code::not_found, "'{}' is the file itself, which is not among its groups", name);
    *out = group_number(dataset_of(dataset).owner(group.c_str()));
  });
}
