// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "format/netcdf4/attributes.hpp"
#include "format/netcdf4/contents.hpp"
#include "format/netcdf4/other_files.hpp"

namespace shoal::netcdf4 {

namespace {

struct Extent {
  std::vector<std::int64_t> length;
  std::vector<bool> unlimited;
  bool null = false;  // no value at all, not even one
};

// A data set as found, before it is known which dimensions it has.
struct Found {
  std::string link;   // path from the root
  std::string group;  // "" or "group/.../"
  std::string name;   // without group
  Id dataset;
  Extent extent;
  bool scale = false;
  bool only_dimension = false;
  std::optional<int> id;
  int dim = -1;  // the dimension that it is the scale of
};

Extent extent_of(hid_t dataset) {
  const Id space(check(H5Dget_space(dataset), "read the shape of a data set"));
  Extent extent;
  extent.null = H5Sget_simple_extent_type(space) == H5S_NULL;
  const int rank = check(H5Sget_simple_extent_ndims(space), "read the shape of a data set");
  std::vector<hsize_t> now(static_cast<std::size_t>(rank)), most(static_cast<std::size_t>(rank));
  if (rank > 0)
    check(H5Sget_simple_extent_dims(space, now.data(), most.data()), "read the shape of a data set");
  for (std::size_t d = 0; d < now.size(); ++d) {
    extent.length.push_back(static_cast<std::int64_t>(now[d]));
    extent.unlimited.push_back(most[d] == H5S_UNLIMITED);
  }
  return extent;
}

void examine_scale(Found& found) {
  const Id attribute(check(H5Aopen(found.dataset, k_class, H5P_DEFAULT), "open an attribute"));
  found.scale = !found.extent.length.empty() && read_text(found.dataset, k_class) == k_scale_class;
  if (!found.scale) return;
  if (has_attribute(found.dataset, k_name))
    found.only_dimension = read_text(found.dataset, k_name).rfind(k_only_dimension, 0) == 0;
  if (has_attribute(found.dataset, k_dimid)) {
    const auto id = read_ints(found.dataset, k_dimid);
    if (id.size() == 1) found.id = id[0];
  }
}

// Groups may be linked in circles; each is visited once, known by its address.
void find_data_sets(hid_t group, const std::string& path, std::unordered_set<std::string>& seen,
                    std::vector<Found>& result, Numbered<GroupDef>& all_groups) {
  std::vector<std::string> groups;
  for (const auto& name : links_of(group)) {
    Id object(H5Oopen(group, name.c_str(), H5P_DEFAULT));
    if (!object.valid()) throw hdf5_error(fmt::format("open '{}{}'", path, name));
    const auto kind = H5Iget_type(object);
    if (kind == H5I_GROUP) groups.push_back(name);
    if (kind != H5I_DATASET) continue;
    Found found;
    found.group = path;
    found.link = path + name;
    found.name = name;
    found.extent = extent_of(object);
    found.dataset = std::move(object);
    if (has_attribute(found.dataset, k_class)) examine_scale(found);
    result.push_back(std::move(found));
  }
  for (const auto& name : groups) {
    hobj_ref_t reference{};
    check(H5Rcreate(&reference, group, name.c_str(), H5R_OBJECT, -1), "refer to a group");
    if (!seen.insert(std::string(reinterpret_cast<const char*>(&reference), sizeof reference)).second)
      continue;
    const Id child(check(H5Gopen2(group, name.c_str(), H5P_DEFAULT), "open a group"));
    GroupDef made{path + name, {}};
    made.attributes = read_attributes(child, made.unread);
    all_groups.push_back(std::move(made));
    find_data_sets(child, fmt::format("{}{}/", path, name), seen, result, all_groups);
  }
}

void read_fill(hid_t properties, VariableDef& def, StoredVariable& stored) {
  H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  if (H5Pget_fill_time(properties, &time) < 0 || H5Pfill_value_defined(properties, &defined) < 0) return;
  def.no_fill = time == H5D_FILL_TIME_NEVER || defined != H5D_FILL_VALUE_USER_DEFINED;
  if (def.no_fill || !def.fits_plainly || def.type == Type::string || stored.type.fixed_text) return;
  Bytes fill(size_of(def.type));
  if (H5Pget_fill_value(properties, memory_type(def.type), fill.data()) < 0) return;
  stored.odd_fill = fill != fill_of(def);
}

void read_layout(hid_t properties, VariableDef& def, StoredVariable& stored, int rank) {
  const auto layout = H5Pget_layout(properties);
  stored.layout = StoredVariable::Layout::other;
  if (layout == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(static_cast<std::size_t>(rank));
    check(H5Pget_chunk(properties, rank, chunk.data()), "read a chunk shape");
    for (const auto n : chunk) {
      def.chunks.push_back(static_cast<std::int64_t>(n));
      if (rank <= k_max_dims) stored.chunk.push_back(static_cast<std::int64_t>(n));
    }
    def.filters = filters_of(properties);
    stored.filtered = !def.filters.empty();
    stored.layout = StoredVariable::Layout::chunked;
    H5D_alloc_time_t time = H5D_ALLOC_TIME_EARLY;
    stored.late = H5Pget_alloc_time(properties, &time) >= 0 && time != H5D_ALLOC_TIME_EARLY;
  } else if (layout == H5D_CONTIGUOUS && H5Pget_external_count(properties) == 0) {
    stored.layout = StoredVariable::Layout::contiguous;
  }
}

// The variable of a data set, but for its dimensions.
void add_variable(Found& found, const OtherFiles& others, Contents& contents) {
  VariableDef def;
  StoredVariable stored;
  const std::string prefix = k_non_coordinate;
  def.name = found.group + (found.name.rfind(prefix, 0) == 0 ? found.name.substr(prefix.size()) : found.name);
  const Id type(check(H5Dget_type(found.dataset), "read the type of a data set"));
  stored.type = file_type(type);
  const int rank = static_cast<int>(found.extent.length.size());
  def.fits_plainly = stored.type.fits && rank <= k_max_dims;
  def.type = stored.type.type;
  def.attributes = read_attributes(found.dataset, def.unread);
  const Id properties(check(H5Dget_create_plist(found.dataset), "read the properties of a data set"));
  read_layout(properties, def, stored, rank);
  def.in_other_files = OtherFiles::has(properties);
  if (found.extent.null)
    def.refusal = "it has no value (HDF5's null dataspace)";
  else if (def.in_other_files)
    def.refusal = others.refusal(properties);
  def.fits_plainly = def.fits_plainly && def.refusal.empty();
  read_fill(properties, def, stored);
  stored.link = found.link;
  stored.scale = found.scale;
  if (rank <= k_max_dims) {
    stored.extent = Dims(found.extent.length);
    stored.needed = stored.extent;
    stored.asked = Dims(rank);
    if (stored.layout != StoredVariable::Layout::chunked) stored.chunk = stored.extent;
  }
  // Open data sets were opened without knowing their filters; those that need a cache are opened anew.
  if (!stored.filtered) stored.dataset = std::move(found.dataset);
  contents.schema.variables.push_back(std::move(def));
  contents.variables.push_back(std::move(stored));
}

using References = std::unordered_map<std::string, int>;  // object reference -> dimension

std::string key_of(const hobj_ref_t& reference) {
  return {reinterpret_cast<const char*>(&reference), sizeof reference};
}

// Dimensions by DIMENSION_LIST; -1 where none is attached.
std::vector<int> listed_dims(hid_t dataset, std::size_t rank, const References& references) {
  std::vector<int> dims(rank, -1);
  const Id attribute(check(H5Aopen(dataset, k_dimension_list, H5P_DEFAULT), "open an attribute"));
  const Id type(check(H5Aget_type(attribute), "read the type of an attribute"));
  const Id space(check(H5Aget_space(attribute), "read the shape of an attribute"));
  if (H5Tget_class(type) != H5T_VLEN || H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(rank))
    return dims;
  const Id base(check(H5Tget_super(type), "read the type of an attribute"));
  if (H5Tequal(base, H5T_STD_REF_OBJ) <= 0) return dims;
  std::vector<hvl_t> lists(rank, hvl_t{});
  check(H5Aread(attribute, type, lists.data()), "read the list of dimensions");
  for (std::size_t d = 0; d < rank; ++d) {
    // Of several scales netCDF-C takes the last.
    for (std::size_t i = 0; i < lists[d].len; ++i) {
      const auto found = references.find(key_of(static_cast<const hobj_ref_t*>(lists[d].p)[i]));
      if (found != references.end()) dims[d] = found->second;
    }
  }
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, lists.data());
  return dims;
}

struct Reader {
  hid_t file;
  Contents contents;
  std::vector<Found> found;
  std::unordered_map<int, int> by_id;
  References references;

  void dims_of_scales();
  void dims_of(std::size_t i, int variable);
  bool fits(int dim, const Extent& extent, std::size_t d) const;
  int nameless(const Extent& extent, std::size_t d, const std::vector<int>& taken);
};

void Reader::dims_of_scales() {
  std::vector<Found*> scales;
  bool all_known = true;
  for (auto& f : found) {
    if (!f.scale) continue;
    scales.push_back(&f);
    all_known = all_known && f.id && by_id.emplace(*f.id, 0).second;
  }
  by_id.clear();
  if (all_known)
    std::sort(scales.begin(), scales.end(), [](const Found* a, const Found* b) { return *a->id < *b->id; });
  for (auto* f : scales) {
    f->dim = static_cast<int>(contents.dims.size());
    StoredDim stored;
    stored.link = f->link;
    stored.id = all_known ? *f->id : f->dim;
    stored.id_written = all_known;
    stored.extent = f->extent.length[0];
    contents.next_dim_id = std::max(contents.next_dim_id, stored.id + 1);
    by_id[stored.id] = f->dim;
    contents.schema.dims.push_back({f->group + f->name, f->extent.length[0], f->extent.unlimited[0]});
    contents.dims.push_back(std::move(stored));
    hobj_ref_t reference{};
    check(H5Rcreate(&reference, f->dataset, ".", H5R_OBJECT, -1), "refer to a dimension scale");
    references[key_of(reference)] = f->dim;
  }
}

bool Reader::fits(int dim, const Extent& extent, std::size_t d) const {
  if (dim < 0 || dim >= static_cast<int>(contents.schema.dims.size())) return false;
  const auto& dimension = contents.schema.dim(dim);
  return dimension.unlimited || dimension.length == extent.length[d];
}

// Like netCDF-C: one dimension a length, but different ones within a variable.
int Reader::nameless(const Extent& extent, std::size_t d, const std::vector<int>& taken) {
  auto& dims = contents.schema.dims;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (contents.dims[i].link.empty() && dims[i].length == extent.length[d] &&
        dims[i].unlimited == extent.unlimited[d] &&
        std::find(taken.begin(), taken.end(), static_cast<int>(i)) == taken.end())
      return static_cast<int>(i);
  StoredDim stored;
  stored.id = contents.next_dim_id++;
  dims.push_back({fmt::format("phony_dim_{}", stored.id), extent.length[d], extent.unlimited[d]});
  contents.dims.push_back(std::move(stored));
  return static_cast<int>(dims.size()) - 1;
}

void Reader::dims_of(std::size_t i, int variable) {
  const auto& f = found[i];
  const auto rank = f.extent.length.size();
  std::vector<int> dims(rank, -1);
  const hid_t dataset = f.dataset.valid() ? f.dataset.get() : contents.open_variable(file, variable);
  if (rank > 0 && f.scale) dims[0] = f.dim;
  if (rank > (f.scale ? 1U : 0U)) {
    std::vector<int> ids;
    if (has_attribute(dataset, k_coordinates)) ids = read_ints(dataset, k_coordinates);
    if (ids.size() == rank) {
      for (std::size_t d = f.scale ? 1 : 0; d < rank; ++d) {
        const auto known = by_id.find(ids[d]);
        if (known != by_id.end() && fits(known->second, f.extent, d)) dims[d] = known->second;
      }
    }
    if (!f.scale && std::find(dims.begin(), dims.end(), -1) != dims.end() &&
        has_attribute(dataset, k_dimension_list)) {
      const auto listed = listed_dims(dataset, rank, references);
      for (std::size_t d = 0; d < rank; ++d)
        if (dims[d] < 0 && fits(listed[d], f.extent, d)) dims[d] = listed[d];
    }
  }
  auto& def = contents.schema.variable(variable);
  for (std::size_t d = 0; d < rank; ++d) {
    if (dims[d] < 0) dims[d] = nameless(f.extent, d, dims);
    auto& dimension = contents.schema.dim(dims[d]);
    if (dimension.unlimited) dimension.length = std::max(dimension.length, f.extent.length[d]);
  }
  def.dims = dims;
}

}  // namespace

std::vector<std::string> links_of(hid_t group) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t* info, void* to) -> herr_t {
    if (info->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(to)->push_back(name);
    return 0;
  };
  hsize_t position = 0;
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, &position, collect, &names) < 0) {
    names.clear();
    position = 0;
    check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &position, collect, &names), "list a group");
  }
  return names;
}

Contents read_contents(hid_t file, const OtherFiles& others) {
  Reader reader{file, {}, {}, {}, {}};
  auto& contents = reader.contents;
  const Id root(check(H5Gopen2(file, "/", H5P_DEFAULT), "open the root group"));
  std::unordered_set<std::string> seen;
  find_data_sets(root, "", seen, reader.found, contents.schema.groups);
  contents.schema.format = has_attribute(root, k_strict) ? Format::netcdf4_classic : Format::netcdf4;
  contents.schema.attributes = read_attributes(root, contents.schema.unread);
  reader.dims_of_scales();
  for (std::size_t i = 0; i < reader.found.size(); ++i) {
    auto& found = reader.found[i];
    if (found.only_dimension) {
      contents.dims[found.dim].dataset = std::move(found.dataset);
      continue;
    }
    const int variable = static_cast<int>(contents.variables.size());
    if (found.scale) contents.dims[found.dim].variable = variable;
    add_variable(found, others, contents);
    reader.dims_of(i, variable);
  }
  return std::move(contents);
}

}  // namespace shoal::netcdf4
