// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

/// The reason why the file at the path cannot be replaced by a rename ("the folder may not be written by this
/// user"); empty: it can, or there is none. Local.
std::string why_not_replaceable(const std::string& path);

/// Error(invalid_argument): there is a pipe, a socket or a device, which nothing may replace. Local.
void refuse_special(const std::string& path);

/// Error(state) where the file of this name has another inode number; 0: any. Local.
void check_replaced(const std::string& path, std::uint64_t number);

/// A new file or folder that replaces another, or takes a free name, when it is whole. Until then it has a
/// temporary name in the same folder (temporary_name), and the old file is as it was. A path that is a link
/// stays one: the file that it leads to is replaced. Other names of the old file (hard links) keep the old
/// file. All is Local; errors name the path.
class Replacement {
 public:
  /// of_file: the path has a file, which is replaced. of_folder: a folder, which goes with all that is in it.
  /// of_free_name: it has none; one made meanwhile stays.
  enum class What { of_file, of_folder, of_free_name };
  /// suffixes: of the names of files that belong to the new one, and are renamed or removed with it.
  explicit Replacement(const std::string& path, const std::vector<std::string>& suffixes = {},
                       What what = What::of_file);
  /// made: the path of the new file, which is there already, in the folder of the one that it replaces.
  Replacement(const std::string& path, const std::vector<std::string>& suffixes, std::string made,
              What what = What::of_file);
  Replacement(Replacement&&) = delete;
  /// Removes the new file, unless it was committed.
  ~Replacement();

  /// The temporary path of the new file; make it exclusively.
  const std::string& beside() const { return beside_; }
  What what() const { return what_; }
  /// Gives the new file the permissions of the old one, and its owner and group as far as that is allowed.
  /// Does nothing where there is no old file.
  void take_over_rights() const;
  /// Renames the new file, and the files that belong to it, which are beside the path (where that is a link,
  /// not beside the file that it leads to); durable: also after a loss of power. After an Error it can be
  /// tried again. Error(exists): a file of the name was made meanwhile; (invalid_argument): as
  /// refuse_special.
  void commit(bool durable);
  /// Keeps the new file for its user under a name of its own (kept_name), and returns its path.
  std::string keep();

 private:
  /// A file that belongs to the new one.
  struct Companion {
    std::string suffix;
    std::string place;  ///< the path that it gets
    std::string ready;  ///< what is renamed to it, in its folder; empty: nothing yet, or nothing any more
  };
  void make_ready(Companion& companion, bool durable) const;
  void take_name();
  bool take_place_of(const std::string& old) const;

  std::string path_;    ///< as the user names it
  std::string target_;  ///< where links lead to
  std::string beside_;
  std::vector<Companion> companions_;
  What what_;
  bool done_ = false;
};

/// Replaces the text of a file. Where this fails or the process is killed the file holds what it held before.
/// durable: syncs the new file. Local.
void replace_whole_file(const std::string& path, const std::string& text, bool durable);

}  // namespace shoal
