// SPDX-License-Identifier: BSD-3-Clause
//
// What Dataset has of groups of names; groups.h says what a name with its groups is, and where dimensions are looked
// for. Included by shoal.hpp.
#ifndef SHOAL_GROUPS_HPP
#define SHOAL_GROUPS_HPP

#include <shoal/groups.h>
#include <shoal/library.hpp>

#include <string>

namespace shoal {
inline namespace api {

struct GroupInfo {
  std::string name;  ///< its path, "ocean/ice"
  int attributes = 0;
};

/// The part of a Dataset that knows groups. Each call that takes the name of a variable or dimension takes a path;
/// those of attributes take a group in place of a variable, "/" for the file.
template <class File>
class Groups {
 public:
  /// A group and those that it is in, where they are not there: for groups that nothing is in. Local.
  void def_group(const std::string& name) { detail::check(shoal_def_group(handle(), detail::text(name))); }
  /// What is in it has other paths then; see shoal_rename_group. Local.
  void rename_group(const std::string& name, const std::string& new_name) {
    detail::check(shoal_rename_group(handle(), detail::text(name), detail::text(new_name)));
  }
  /// How many there are, those in groups too; the file itself is none. Local.
  int num_groups() const {
    int groups = 0;
    detail::check(shoal_num_groups(handle(), &groups));
    return groups;
  }
  /// By number, each behind the one that it is in. Local.
  GroupInfo group(int index) const {
    shoal_group_info c = SHOAL_GROUP_INFO_INIT;
    detail::check(shoal_inq_group(handle(), index, &c));
    return {c.name, c.attributes};
  }
  GroupInfo group(const std::string& name) const { return group(find_group(name)); }
  /// The number of the group of a path. Local.
  int find_group(const std::string& name) const {
    int index = 0;
    detail::check(shoal_find_group(handle(), detail::text(name), &index));
    return index;
  }

 protected:
  Groups() = default;

 private:
  shoal_dataset* handle() const { return static_cast<const File&>(*this).opened(); }
};

}  // namespace api
}  // namespace shoal
#endif
