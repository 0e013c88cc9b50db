// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/store.hpp"

namespace shoal {

/// A named place that holds objects: a file, which is one object called "", or a folder, whose files are
/// objects called by their paths below it ("temp/0"). All is Local; errors name the object's path.
class Container {
 public:
  virtual ~Container() = default;
  Container() = default;
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  virtual const std::string& path() const = 0;
  /// Opens an object; one that is made gets the folders of its name.
  virtual std::unique_ptr<Store> open(const std::string& object, StoreMode mode) = 0;
  /// Are objects stored as a whole, by one rank each, and is what is stored there for readers at once? Then
  /// `put` is the way to store one: a Store keeps its bytes in memory, and puts them when it is closed.
  virtual bool stores_whole() const { return false; }
  /// The object has these bytes, and no others. Readers find it as it was before, or so, where the container
  /// stores_whole.
  virtual void put(const std::string& object, std::span<const std::byte> bytes);
  /// The objects whose names begin so, in any order.
  virtual std::vector<std::string> list(const std::string& beginning) = 0;
  /// The names right below a folder ("temp/"; "": the container), in any order; folders end with '/'.
  /// None where there is no such folder.
  virtual std::vector<std::string> children(const std::string& folder) = 0;
  /// Removes all objects whose names begin with that of the folder ("temp/"), and the folder.
  virtual void remove_below(const std::string& folder) = 0;
  /// An object gets another name as well, and keeps its own; or it is copied. Who changes the one does not
  /// count on what the other has then. The name must be free.
  virtual void copy(const std::string& object, const std::string& to) = 0;
  /// Removes an object; does nothing where there is none.
  virtual void remove(const std::string& object) = 0;
  /// An object takes the name of another, which goes; readers find the one or the other. durable: also after
  /// a loss of power.
  virtual void publish(const std::string& made, const std::string& object, bool durable) = 0;
  /// The name of an object that was made outlives a loss of power, once its bytes are synced.
  virtual void sync_name(const std::string& object) = 0;
};

/// Opens the folder of a path; one whose name changes while it is open is followed.
using ContainerOpener = std::function<std::shared_ptr<Container>(const std::string& path)>;

/// The file of this path.
std::shared_ptr<Container> file_container(const std::string& path, StoreOpener open);
/// The folder of this path. It is made with its first object.
std::shared_ptr<Container> folder_container(const std::string& path, StoreOpener open);
/// From now on folders are what this makes of them: for tests, before the first dataset. Not safe for
/// threads.
void replace_folders(std::function<std::shared_ptr<Container>(std::shared_ptr<Container> folder)> by);
/// A container of one object that is open already.
std::shared_ptr<Container> container_of(std::unique_ptr<Store> store);

}  // namespace shoal
