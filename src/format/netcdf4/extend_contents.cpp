// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <tuple>

#include "base/build_info.hpp"
#include "base/text.hpp"
#include "format/checks.hpp"
#include "format/chunk_shape.hpp"
#include "format/group_paths.hpp"
#include "format/netcdf4/attributes.hpp"
#include "format/netcdf4/contents.hpp"

namespace shoal::netcdf4 {

namespace {

// ---- making things ----

/// The link of a variable that has the name of a dimension and is not its coordinate.
std::string non_coordinate(const std::string& path) {
  return path_in(group_of(path), k_non_coordinate + name_in_group(path));
}

struct Reference {  // as HDF5's dimension scales keep who uses them
  hobj_ref_t data_set;
  int dimension;
};

/// HDF5 1.10 keeps the one chunk of a data set of fixed shape in the object header, and takes what was
/// written there as it is (H5Dwrite_chunk) for a chunk without filters until the file is opened again. While
/// this lives, data sets get the tree of chunks of HDF5 1.8.
class OldIndex {
 public:
  OldIndex(hid_t file, bool wanted) : file_(file), wanted_(wanted) {
    if (wanted_) check(H5Fset_libver_bounds(file_, H5F_LIBVER_V18, H5F_LIBVER_LATEST), "set the file format");
  }
  OldIndex(const OldIndex&) = delete;
  OldIndex& operator=(const OldIndex&) = delete;
  ~OldIndex() {
    if (wanted_) H5Fset_libver_bounds(file_, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
  }

 private:
  hid_t file_;
  bool wanted_;
};

bool is_one_chunk(const StoredVariable& stored, const hsize_t* most) {
  bool one = stored.layout == StoredVariable::Layout::chunked;
  for (int d = 0; d < stored.chunk.size(); ++d)
    one = one && most[d] != H5S_UNLIMITED && most[d] <= static_cast<hsize_t>(stored.chunk[d]);
  return one;
}

class Extension {
 public:
  Extension(hid_t file, Contents& contents, const Schema& wanted, const CatalogOptions& options,
            const StorageOf& storage)
      : root_(check(H5Gopen2(file, "/", H5P_DEFAULT), "open the root group")),
        file_(file),
        contents_(contents),
        wanted_(wanted),
        options_(options),
        storage_(storage),
        old_groups_(contents.schema.groups.size()),
        old_dims_(contents.schema.dims.size()),
        old_variables_(contents.schema.variables.size()) {}

  void run();

 private:
  void make_changes();
  void move_groups();
  void find_scales();
  void move_links();
  void leave_scale(std::size_t dim);
  void become_scale(std::size_t dim, int variable);
  void relink_users(std::size_t dim);
  int coordinate_variable(std::size_t dim) const;
  std::string link_of(std::size_t variable) const;
  void add_groups();
  hid_t group_at(const std::string& path);
  void move_links_in(const std::string& group, const std::map<std::string, std::string>& wanted);
  void make_room_for(const std::string& dim);
  void add_dims();
  void add_dimension_scale(std::size_t dim);
  void mark_as_scale(hid_t dataset, const std::string& name, int id);
  void replace_scale(std::size_t dim, int variable);
  void add_variable(std::size_t v);
  hid_t creation_of(const VariableDef& def, StoredVariable& stored, const Id& type);
  void update_attributes(hid_t object, const std::vector<Attribute>& have,
                         const std::vector<Attribute>& wanted);
  void write_missing_ids();
  void link_scales();
  hobj_ref_t reference_to(std::size_t dim);

  // What makes creation lists differ.
  struct Recipe {
    Type type = Type::none;
    bool no_fill = false;
    StoredVariable::Layout layout = StoredVariable::Layout::contiguous;
    Dims chunk;
    Bytes fill;
    std::optional<std::string> text;
    std::string filters;
    bool operator<(const Recipe& other) const {
      const auto rest = [](const Recipe& r) {
        return std::tie(r.type, r.no_fill, r.layout, r.fill, r.text, r.filters);
      };
      return IndexLess{}(chunk, other.chunk) || (chunk == other.chunk && rest(*this) < rest(other));
    }
  };

  Id root_;
  hid_t file_;
  Contents& contents_;
  const Schema& wanted_;
  const CatalogOptions& options_;
  const StorageOf& storage_;
  std::size_t old_groups_, old_dims_, old_variables_;
  std::map<std::string, Id> groups_;  // open ones, by path
  std::set<std::size_t> relink_;      // variables whose DIMENSION_LIST is to be written anew
  std::map<std::size_t, hobj_ref_t> references_;
  std::map<Recipe, Id> creations_;
};

int Extension::coordinate_variable(std::size_t dim) const {
  const int v = wanted_.find_variable(wanted_.dims[dim].name);
  if (v < 0) return -1;
  const auto& dims = wanted_.variable(v).dims;
  return !dims.empty() && dims[0] == static_cast<int>(dim) ? v : -1;
}

std::string Extension::link_of(std::size_t variable) const {
  const auto& def = wanted_.variables[variable];
  const int dim = wanted_.find_dim(def.name);
  const bool clash = dim >= 0 && (def.dims.empty() || def.dims[0] != dim);
  return clash ? non_coordinate(def.name) : def.name;
}

hid_t Extension::group_at(const std::string& path) {
  if (path.empty()) return root_;
  Id& group = groups_[path];
  if (!group.valid()) group = Id(check(H5Gopen2(root_, path.c_str(), H5P_DEFAULT), "open a group"));
  return group;
}

// As netCDF-C makes them: what is in a group, and its attributes, keep the order in which they were made.
void Extension::add_groups() {
  if (wanted_.groups.size() == old_groups_) return;
  const Id creation(check(H5Pcreate(H5P_GROUP_CREATE), "make a creation list"));
  check(H5Pset_obj_track_times(creation, 0), "make a creation list");
  check(H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "make a creation list");
  check(H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "make a creation list");
  for (std::size_t g = old_groups_; g < wanted_.groups.size(); ++g) {
    const std::string& path = wanted_.groups[g].name;
    groups_[path] =
        Id(check(H5Gcreate2(root_, path.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT), "create a group"));
    contents_.schema.groups.push_back({path, {}});
  }
}

// A variable had the name first, and does not belong to the dimension.
void Extension::make_room_for(const std::string& dim) {
  for (std::size_t v = 0; v < old_variables_; ++v) {
    auto& stored = contents_.variables[v];
    if (stored.link != dim) continue;
    const auto moved = non_coordinate(dim);
    check(H5Lmove(root_, dim.c_str(), root_, moved.c_str(), H5P_DEFAULT, H5P_DEFAULT), "rename a data set");
    stored.link = moved;
  }
}

void Extension::mark_as_scale(hid_t dataset, const std::string& name, int id) {
  write_text(dataset, k_class, k_scale_class, true);
  write_text(dataset, k_name, name_in_group(name), true);
  write_int(dataset, k_dimid, id);
}

void Extension::add_dims() {
  auto& dims = contents_.schema.dims;
  for (std::size_t i = 0; i < old_dims_; ++i) {
    auto& stored = contents_.dims[i];
    const int variable = stored.link == wanted_.dims[i].name ? coordinate_variable(i) : -1;
    if (stored.variable < 0 && variable >= static_cast<int>(old_variables_)) replace_scale(i, variable);
  }
  for (std::size_t i = old_dims_; i < wanted_.dims.size(); ++i) {
    StoredDim stored;
    stored.link = wanted_.dims[i].name;
    stored.id = contents_.next_dim_id++;
    stored.id_written = true;
    stored.variable = coordinate_variable(i);
    make_room_for(stored.link);
    dims.push_back(wanted_.dims[i]);
    contents_.dims.push_back(std::move(stored));
    if (contents_.dims.back().variable < 0) add_dimension_scale(i);
  }
}

void Extension::add_dimension_scale(std::size_t dim) {
  const auto& wanted = wanted_.dims[dim];
  auto& stored = contents_.dims[dim];
  const Id creation(check(H5Pcreate(H5P_DATASET_CREATE), "make a creation list"));
  check(H5Pset_obj_track_times(creation, 0), "make a creation list");
  check(H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "make a creation list");
  const auto length = static_cast<hsize_t>(wanted.length);
  const hsize_t most = wanted.unlimited ? H5S_UNLIMITED : length, one = 1;
  if (wanted.unlimited) check(H5Pset_chunk(creation, 1, &one), "make a creation list");
  const Id space(check(H5Screate_simple(1, &length, &most), "make a space"));
  stored.dataset = Id(
      check(H5Dcreate2(root_, stored.link.c_str(), H5T_IEEE_F32BE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
            "create the data set of a dimension"));
  stored.extent = wanted.length;
  char number[32];
  std::snprintf(number, sizeof number, "%10lld", static_cast<long long>(wanted.length));
  mark_as_scale(stored.dataset, k_only_dimension + std::string(number), stored.id);
}

// The data set that stood for the dimension makes room for the variable; all users must refer to that.
void Extension::replace_scale(std::size_t dim, int variable) {
  auto& stored = contents_.dims[dim];
  stored.dataset.close();
  check(H5Ldelete(root_, stored.link.c_str(), H5P_DEFAULT), "remove the data set of a dimension");
  stored.variable = variable;
  stored.id_written = true;
  relink_users(dim);
}

void Extension::relink_users(std::size_t dim) {
  for (std::size_t v = 0; v < old_variables_; ++v) {
    const auto& dims = wanted_.variables[v].dims;
    if (!contents_.variables[v].scale &&
        std::find(dims.begin(), dims.end(), static_cast<int>(dim)) != dims.end())
      relink_.insert(v);
  }
}

// ---- changing what is there ----

// A variable with the name of its first dimension is the scale of it, so that names say which are.
void Extension::make_changes() {
  if (wanted_.changes.empty()) return;
  bool of_links = false, of_groups = false;
  for (const SchemaChange& change : wanted_.changes) {
    of_groups = of_groups || change.kind == SchemaChange::Kind::rename_group;
    of_links = of_links || change.kind == SchemaChange::Kind::rename_dim ||
               change.kind == SchemaChange::Kind::rename_variable;
    if (change.kind == SchemaChange::Kind::rename_attribute ||
        change.kind == SchemaChange::Kind::delete_attribute)
      change_attribute(is_group(change.index)
                           ? group_at(contents_.schema.groups[group_number(change.index)].name)
                       : change.index == k_of_file ? root_.get()
                                                   : contents_.open_variable(file_, change.index),
                       change);
  }
  if (of_groups) move_groups();
  contents_.schema = changed(std::move(contents_.schema), wanted_.changes);
  if (of_links) find_scales();
}

// Outer ones first: what is in a group is found by the name that this has by then.
void Extension::move_groups() {
  std::map<std::string, std::string> now{{"", ""}};                  // of each group that there was
  std::map<std::string, std::map<std::string, std::string>> wanted;  // by group, by the link that is there
  for (std::size_t g = 0; g < old_groups_; ++g) {
    const std::string &was = contents_.schema.groups[g].name, &is = wanted_.groups[g].name;
    now[was] = is;
    wanted[group_of(is)].emplace(name_in_group(was), name_in_group(is));
  }
  groups_.clear();
  for (const auto& [group, links] : wanted)
    move_links_in(group, links);
  const auto moved = [&](std::string& link) {
    if (!link.empty()) link = path_in(now.at(group_of(link)), name_in_group(link));
  };
  for (auto& variable : contents_.variables)
    moved(variable.link);
  for (auto& dim : contents_.dims)
    moved(dim.link);
}

void Extension::find_scales() {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < old_dims_; ++i) {
    auto& stored = contents_.dims[i];
    if (stored.link.empty()) continue;
    const int variable = coordinate_variable(i);
    if (stored.variable >= 0 && stored.variable != variable) {
      leave_scale(i);
      left.push_back(i);
    }
    // A new one takes the place later (add_dims).
    if (stored.variable < 0 && variable >= 0 && variable < static_cast<int>(old_variables_)) {
      if (left.empty() || left.back() != i)
        check(H5Ldelete(root_, stored.link.c_str(), H5P_DEFAULT), "remove the data set of a dimension");
      else
        left.pop_back();
      become_scale(i, variable);
    }
  }
  for (const auto i : left)
    contents_.dims[i].link.clear();
  move_links();
  for (const auto i : left) {
    contents_.dims[i].link = wanted_.dims[i].name;
    add_dimension_scale(i);
  }
}

// The variable that was the scale of the dimension is one like others.
void Extension::leave_scale(std::size_t dim) {
  auto& stored = contents_.dims[dim];
  auto& variable = contents_.variables[stored.variable];
  const hid_t dataset = contents_.open_variable(file_, stored.variable);
  for (const char* name : {k_class, k_name, k_reference_list, k_dimid})
    if (has_attribute(dataset, name)) check(H5Adelete(dataset, name), "delete an attribute");
  variable.scale = false;
  stored.variable = -1;
  stored.id_written = true;
  relink_users(dim);
}

// A variable that is there becomes the scale of its only dimension.
void Extension::become_scale(std::size_t dim, int variable) {
  auto& stored = contents_.dims[dim];
  const hid_t dataset = contents_.open_variable(file_, variable);
  for (const char* name : {k_class, k_name, k_dimid, k_dimension_list})
    if (has_attribute(dataset, name)) check(H5Adelete(dataset, name), "delete an attribute");
  contents_.variables[variable].scale = true;
  mark_as_scale(dataset, wanted_.dims[dim].name, stored.id);
  stored.dataset.close();
  stored.variable = variable;
  stored.id_written = true;
  relink_.erase(static_cast<std::size_t>(variable));
  relink_users(dim);
}

void Extension::move_links() {
  std::map<std::string, std::map<std::string, std::string>> wanted;  // by group, by the link that is there
  const auto note = [&](const std::string& link, const std::string& now) {
    if (!link.empty()) wanted[group_of(link)].emplace(name_in_group(link), name_in_group(now));
  };
  for (std::size_t v = 0; v < old_variables_; ++v)
    note(contents_.variables[v].link, link_of(v));
  for (std::size_t i = 0; i < old_dims_; ++i)
    if (contents_.dims[i].variable < 0) note(contents_.dims[i].link, wanted_.dims[i].name);
  for (const auto& [group, links] : wanted)
    move_links_in(group, links);
  const auto moved = [&](std::string& link) {
    const auto group = wanted.find(group_of(link));
    if (link.empty() || group == wanted.end()) return;
    const auto now = group->second.find(name_in_group(link));
    if (now != group->second.end()) link = path_in(group->first, now->second);
  };
  for (auto& variable : contents_.variables)
    moved(variable.link);
  for (std::size_t i = 0; i < old_dims_; ++i) {
    auto& stored = contents_.dims[i];
    moved(stored.link);
    if (stored.variable < 0) continue;
    const hid_t dataset = contents_.open_variable(file_, stored.variable);
    const std::string name = name_in_group(wanted_.dims[i].name);
    if (!has_attribute(dataset, k_name) || read_text(dataset, k_name) == name) continue;
    check(H5Adelete(dataset, k_name), "replace an attribute");
    write_text(dataset, k_name, name, true);
  }
}

// HDF5 gives a link that moves the last place in the order of creation, which is that of the variables: those
// behind it move, too.
void Extension::move_links_in(const std::string& group, const std::map<std::string, std::string>& wanted) {
  const hid_t where = group_at(group);
  std::vector<std::string> moved = links_of(where);
  std::erase_if(moved, [&](const std::string& link) { return !wanted.contains(link); });
  moved.erase(moved.begin(), std::find_if(moved.begin(), moved.end(),
                                          [&](const std::string& link) { return wanted.at(link) != link; }));
  const auto move = [&](const std::string& from, const std::string& to) {
    check(H5Lmove(where, from.c_str(), where, to.c_str(), H5P_DEFAULT, H5P_DEFAULT), "rename a data set");
  };
  const auto between = [](std::size_t i) { return fmt::format("_shoal_moves_{}", i); };
  for (std::size_t i = 0; i < moved.size(); ++i)
    move(moved[i], between(i));
  for (std::size_t i = 0; i < moved.size(); ++i)
    move(between(i), wanted.at(moved[i]));
}

hid_t Extension::creation_of(const VariableDef& def, StoredVariable& stored, const Id& type) {
  Dims shape(static_cast<int>(def.dims.size()));
  std::vector<bool> unlimited;
  bool any = false;
  for (int d = 0; d < shape.size(); ++d) {
    const auto& dim = wanted_.dim(def.dims[d]);
    unlimited.push_back(dim.unlimited);
    any = any || dim.unlimited;
    shape[d] = dim.unlimited ? 0 : dim.length;
  }
  stored.extent = stored.needed = stored.chunk = shape;
  stored.asked = Dims(shape.size());
  stored.filtered = !def.filters.empty();
  if (any || !def.chunks.empty() || stored.filtered) {
    stored.layout = StoredVariable::Layout::chunked;
    const auto element = def.type == Type::string ? sizeof(char*) * 2 : size_of(def.type);
    stored.chunk = def.chunks.empty() ? default_chunk(shape, unlimited, element, options_.chunk_bytes)
                                      : Dims(def.chunks);
  }
  // Files have many variables that are made alike, and a creation list costs as much as a data set.
  const bool is_text = def.type == Type::string;
  const auto* fill = fault_of_fill(def).empty() ? find_attribute(def.attributes, k_fill_name) : nullptr;
  auto fill_bytes = is_text || def.no_fill ? Bytes{} : fill_of(def);
  const bool chunked = stored.layout == StoredVariable::Layout::chunked;
  Recipe recipe{def.type,   def.no_fill, stored.layout,       chunked ? stored.chunk : Dims{},
                fill_bytes, {},          text_of(def.filters)};
  if (is_text && fill != nullptr) recipe.text = fill->strings.at(0);
  const auto known = creations_.find(recipe);
  if (known != creations_.end()) return known->second;
  Id creation(check(H5Pcreate(H5P_DATASET_CREATE), "make a creation list"));
  check(H5Pset_obj_track_times(creation, 0), "make a creation list");
  check(H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "make a creation list");
  if (chunked) {
    std::array<hsize_t, k_max_dims> chunk{};
    std::copy(stored.chunk.begin(), stored.chunk.end(), chunk.begin());
    check(H5Pset_chunk(creation, stored.chunk.size(), chunk.data()), "set a chunk shape");
    set_filters(creation, def.filters);
  }
  if (def.no_fill) {
    check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "switch filling off");
  } else if (!is_text) {
    check(H5Pset_fill_value(creation, type, fill_bytes.data()), "set a fill value");
  } else if (fill != nullptr) {
    const char* text = fill->strings.at(0).c_str();
    check(H5Pset_fill_value(creation, type, &text), "set a fill value");
  }
  return creations_.insert_or_assign(std::move(recipe), std::move(creation)).first->second;
}

void Extension::add_variable(std::size_t v) {
  auto def = wanted_.variables[v];
  if (options_.fill == FillMode::none) def.no_fill = true;
  if (def.type == Type::string) def.no_fill = false;  // HDF5 makes no pointers without a fill value
  StoredVariable stored;
  stored.link = link_of(v);
  const auto type = memory_type(def.type);
  stored.type = file_type(type);
  hid_t creation = creation_of(def, stored, type);
  const Id own = storage_ ? storage_(static_cast<int>(v), creation) : Id();
  if (own.valid()) creation = own;
  std::array<hsize_t, k_max_dims> now{}, most{};
  for (std::size_t d = 0; d < def.dims.size(); ++d) {
    const auto& dim = wanted_.dim(def.dims[d]);
    now[d] = dim.unlimited ? 0 : static_cast<hsize_t>(dim.length);
    most[d] = dim.unlimited ? H5S_UNLIMITED : now[d];
  }
  const Id space(check(def.dims.empty()
                           ? H5Screate(H5S_SCALAR)
                           : H5Screate_simple(static_cast<int>(def.dims.size()), now.data(), most.data()),
                       "make a space"));
  const OldIndex old_index(file_, !options_.for_hdf5_1_8 && is_one_chunk(stored, most.data()));
  stored.dataset =
      Id(check(H5Dcreate2(root_, stored.link.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
               "create a data set"));
  if (!def.dims.empty()) {
    std::vector<int> ids;
    for (const int dim : def.dims)
      ids.push_back(contents_.dims[dim].id);
    const auto& first = contents_.dims[def.dims[0]];
    stored.scale = first.variable == static_cast<int>(v);
    if (ids.size() > 1) write_ints(stored.dataset, k_coordinates, ids);
    if (stored.scale) mark_as_scale(stored.dataset, def.name, first.id);
  }
  for (const auto& attribute : def.attributes)
    write_attribute(stored.dataset, attribute, false);
  if (!stored.scale && !def.dims.empty()) relink_.insert(v);
  def.chunks.clear();
  if (stored.layout == StoredVariable::Layout::chunked)
    def.chunks.assign(stored.chunk.begin(), stored.chunk.end());
  contents_.schema.variables.push_back(std::move(def));
  contents_.variables.push_back(std::move(stored));
}

void Extension::update_attributes(hid_t object, const std::vector<Attribute>& have,
                                  const std::vector<Attribute>& wanted) {
  for (const auto& attribute : wanted) {
    const auto* old = find_attribute(have, attribute.name);
    if (old == nullptr || !have_same_values(*old, attribute)) write_attribute(object, attribute, true);
  }
}

// Files from before netCDF numbered its dimensions: with new ones, the order of creation no longer gives
// the numbers.
void Extension::write_missing_ids() {
  if (wanted_.dims.size() == old_dims_ && wanted_.variables.size() == old_variables_ &&
      wanted_.changes.empty())
    return;
  for (std::size_t i = 0; i < old_dims_; ++i) {
    auto& stored = contents_.dims[i];
    if (stored.id_written || stored.link.empty()) continue;
    write_int(contents_.open_scale(file_, static_cast<int>(i)), k_dimid, stored.id, true);
    stored.id_written = true;
  }
}

hobj_ref_t Extension::reference_to(std::size_t dim) {
  const auto known = references_.find(dim);
  if (known != references_.end()) return known->second;
  hobj_ref_t reference{};
  check(H5Rcreate(&reference, contents_.open_scale(file_, static_cast<int>(dim)), ".", H5R_OBJECT, -1),
        "refer to a dimension scale");
  references_[dim] = reference;
  return reference;
}

// HDF5's own way to attach a scale rewrites the list of its users each time; here each list is written once.
void Extension::link_scales() {
  std::map<std::size_t, std::vector<Reference>> users;
  const Id list_type(check(H5Tvlen_create(H5T_STD_REF_OBJ), "make a type"));
  for (const auto v : relink_) {
    const auto& dims = contents_.schema.variables[v].dims;
    const auto dataset = contents_.open_variable(file_, static_cast<int>(v));
    hobj_ref_t self{};
    check(H5Rcreate(&self, dataset, ".", H5R_OBJECT, -1), "refer to a data set");
    std::array<hobj_ref_t, k_max_dims> scales{};
    std::array<hvl_t, k_max_dims> lists{};
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const auto dim = static_cast<std::size_t>(dims[d]);
      if (contents_.dims[dim].link.empty()) continue;
      scales[d] = reference_to(dim);
      lists[d] = {1, &scales[d]};
      users[dim].push_back({self, static_cast<int>(d)});
    }
    if (v < old_variables_ && has_attribute(dataset, k_dimension_list))
      check(H5Adelete(dataset, k_dimension_list), "replace a list");
    const hsize_t n = dims.size();
    const Id space(check(H5Screate_simple(1, &n, nullptr), "make a space"));
    const Id attribute(
        check(H5Acreate2(dataset, k_dimension_list, list_type, space, H5P_DEFAULT, H5P_DEFAULT),
              "create an attribute"));
    check(H5Awrite(attribute, list_type, lists.data()), "write the list of dimensions");
  }
  const Id user_type(check(H5Tcreate(H5T_COMPOUND, sizeof(Reference)), "make a type"));
  check(H5Tinsert(user_type, "dataset", offsetof(Reference, data_set), H5T_STD_REF_OBJ), "make a type");
  check(H5Tinsert(user_type, "dimension", offsetof(Reference, dimension), H5T_NATIVE_INT), "make a type");
  for (auto& [dim, added] : users) {
    const auto scale = contents_.open_scale(file_, static_cast<int>(dim));
    std::vector<Reference> all;
    if (dim < old_dims_ && has_attribute(scale, k_reference_list)) {
      const Id attribute(check(H5Aopen(scale, k_reference_list, H5P_DEFAULT), "open an attribute"));
      const Id space(check(H5Aget_space(attribute), "read the shape of an attribute"));
      all.resize(static_cast<std::size_t>(check(H5Sget_simple_extent_npoints(space), "read an attribute")));
      if (!all.empty()) check(H5Aread(attribute, user_type, all.data()), "read the users of a dimension");
      check(H5Adelete(scale, k_reference_list), "replace a list");
    }
    const auto is_old = [&](const Reference& r) {
      return std::any_of(all.begin(), all.end(), [&](const Reference& o) {
        return o.data_set == r.data_set && o.dimension == r.dimension;
      });
    };
    const bool check_old = dim < old_dims_ && *relink_.begin() < old_variables_;
    std::erase_if(added, [&](const Reference& r) { return check_old && is_old(r); });
    all.insert(all.end(), added.begin(), added.end());
    const hsize_t n = all.size();
    const Id space(check(H5Screate_simple(1, &n, nullptr), "make a space"));
    const Id attribute(check(H5Acreate2(scale, k_reference_list, user_type, space, H5P_DEFAULT, H5P_DEFAULT),
                             "create an attribute"));
    check(H5Awrite(attribute, user_type, all.data()), "write the users of a dimension");
  }
}

void Extension::run() {
  write_missing_ids();
  make_changes();
  add_groups();
  add_dims();
  update_attributes(root_, contents_.schema.attributes, wanted_.attributes);
  for (std::size_t g = 0; g < wanted_.groups.size(); ++g) {
    auto& group = contents_.schema.groups[g];
    group.unread = wanted_.groups[g].unread;
    if (group.attributes.empty() && wanted_.groups[g].attributes.empty()) continue;
    update_attributes(group_at(group.name), group.attributes, wanted_.groups[g].attributes);
    group.attributes = wanted_.groups[g].attributes;
  }
  for (std::size_t v = 0; v < old_variables_; ++v) {
    const auto& have = contents_.schema.variables[v].attributes;
    const auto& wanted = wanted_.variables[v].attributes;
    if (have.size() != wanted.size() ||
        !std::equal(have.begin(), have.end(), wanted.begin(),
                    [](const auto& a, const auto& b) { return a.name == b.name && have_same_values(a, b); }))
      update_attributes(contents_.open_variable(file_, static_cast<int>(v)), have, wanted);
    contents_.schema.variables[v].attributes = wanted;
    contents_.schema.variables[v].unread = wanted_.variables[v].unread;
    contents_.schema.variables[v].distributed = wanted_.variables[v].distributed;
  }
  contents_.schema.attributes = wanted_.attributes;
  contents_.schema.unread = wanted_.unread;
  for (std::size_t v = old_variables_; v < wanted_.variables.size(); ++v)
    in_context_of_variable(wanted_.variables[v].name, [&] { add_variable(v); });
  link_scales();
}

}  // namespace

void extend_contents(hid_t file, Contents& contents, const Schema& wanted, const CatalogOptions& options,
                     const StorageOf& storage) {
  Extension(file, contents, wanted, options, storage).run();
}

void mark_as_netcdf4(hid_t file, Format format) {
  const Id root(check(H5Gopen2(file, "/", H5P_DEFAULT), "open the root group"));
  unsigned major = 0, minor = 0, release = 0;
  check(H5get_libversion(&major, &minor, &release), "report its version");
  write_text(root, k_properties,
             fmt::format("version=2,shoal={},hdf5={}.{}.{}", k_version, major, minor, release), false);
  if (format == Format::netcdf4_classic) write_int(root, k_strict, 1);
}

}  // namespace shoal::netcdf4
