// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

/// Why no other file can take the place of the one at the path by a rename, though there is one ("the folder
/// may not be written by this user"); empty: one can. Local.
std::string why_not_replaceable(const std::string& path);

/// Where links lead to, also one that leads to a name without a file. Local.
std::string target_of(const std::string& path);

/// Is there a regular file, or a link to one? Local.
bool is_a_file(const std::string& path);

/// Error(invalid_argument): there is a pipe, a socket or a device, which nothing may replace. Local.
void refuse_special(const std::string& path);

/// The number that a file system has for the file of this name; 0: it has none. Local.
std::uint64_t file_number(const std::string& path);

/// Error(state) where the name has another file than that of the number; 0: any. Local.
void check_replaced(const std::string& path, std::uint64_t number);

/// A new file that takes the place of another, or a name that no file has, when it is whole. Until then it
/// lies beside it, under a name that nobody can foresee, and the old one is as it was. A path that is a link
/// stays one: the file that it leads to is replaced. Other names of the old file (hard links) keep the old
/// file. All is Local; errors name the path.
class Replacement {
 public:
  /// of_free_name: the path has no file, and one that somebody makes meanwhile stays.
  enum class What { of_file, of_free_name };
  /// suffixes: of files beside the new one that belong to it, and come and go with it.
  explicit Replacement(std::string path, std::vector<std::string> suffixes = {}, What what = What::of_file);
  /// Of a file that is made already, in the folder of the one that it replaces.
  Replacement(std::string path, std::vector<std::string> suffixes, std::string made);
  Replacement(Replacement&&) = delete;
  /// Without commit the new file is removed.
  ~Replacement();

  /// Where the new file is to be made, exclusively.
  const std::string& beside() const { return beside_; }
  What what() const { return what_; }
  /// The new file is there: it gets the permissions of the old one, and its owner and group as far as that is
  /// allowed. Nothing to do where there is no old one.
  void take_over_rights() const;
  /// The new file has the name from now on, and what belongs to it is beside it; durable: also after a loss
  /// of power. After an Error it can be tried again. Error(exists): somebody made a file of the name;
  /// (invalid_argument): as refuse_special.
  void commit(bool durable);
  /// The new file stays for its user, under a name that no later job removes (name_to_keep): which.
  std::string keep();

 private:
  void take_name();

  std::string path_;    ///< as the user names it
  std::string target_;  ///< where links lead to
  std::string beside_;
  std::vector<std::string> suffixes_;
  What what_;
  bool done_ = false;
};

}  // namespace shoal
