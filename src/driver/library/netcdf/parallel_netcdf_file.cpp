// SPDX-License-Identifier: BSD-3-Clause
#ifdef SHOAL_HAVE_NETCDF

#include "driver/library/netcdf/parallel_netcdf_file.hpp"

#include <fmt/core.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include <algorithm>

#include "driver/file/mpi_info.hpp"
#include "driver/library/definition_visitor.hpp"
#include "driver/library/library_driver.hpp"
#include "driver/library/library_section.hpp"
#include "driver/library/netcdf_changes.hpp"
#include "driver/library/netcdf_errors.hpp"
#include "driver/library/netcdf_filters.hpp"
#include "driver/registry.hpp"
#include "format/chunk_shape.hpp"
#include "format/netcdf4/contents.hpp"
#include "format/netcdf4/hdf5.hpp"
#include "format/netcdf4/other_files.hpp"

namespace shoal {

namespace {

using NetcdfSection = LibrarySection<std::size_t>;

/// The library keeps the alignment of files to come in one place for the whole process.
class Alignment {
 public:
  explicit Alignment(std::int64_t bytes) {
    nc_get_alignment(&threshold_, &bytes_);
    const int most = 1 << 30;
    const int wanted = static_cast<int>(std::min<std::int64_t>(bytes, most));
    if (wanted > 1) nc_set_alignment(wanted, wanted);
  }
  // Nobody has set it before: 0, which HDF5 refuses when it is given back.
  ~Alignment() { nc_set_alignment(threshold_, std::max(bytes_, 1)); }
  Alignment(const Alignment&) = delete;
  Alignment& operator=(const Alignment&) = delete;

 private:
  int threshold_ = 0;
  int bytes_ = 0;
};

void check_no_strings(const Schema& wanted, std::size_t from) {
  for (std::size_t v = from; v < wanted.variables.size(); ++v)
    if (wanted.variables[v].type == Type::string)
      throw Error(Code::not_supported,
                  "variables of type string cannot be written in parallel by HDF5; define it as char, or "
                  "write the file with driver native or gather")
          .of_variable(wanted.variables[v].name);
}

void check_filters(const Schema& wanted, std::size_t from, Access access) {
  for (std::size_t v = from; v < wanted.variables.size(); ++v) {
    const VariableDef& def = wanted.variables[v];
    if (def.filters.empty()) continue;
    check_levels(def);
    if (access != Access::independent) continue;
    throw Error(Code::not_supported,
                "HDF5 writes compressed variables in collective calls only; use access collective, or driver "
                "native")
        .of_variable(def.name);
  }
}

}  // namespace

ParallelNetcdfFile::ParallelNetcdfFile(const LibraryContext& context) : context_(context) {
  const Timer timer(context_.counters.open);
  context.require_format("netcdf", {Format::netcdf4, Format::netcdf4_classic});
  refuse_lossy_hints(context.path, context.options.library.hints);
  const auto hints = context.hints_with_stripes();
  context.comm.agree_or_throw(caught([&] { open_file(hints); }));
  context.comm.agree_or_throw(caught([&] { find_ids(context.schema); }));
  ask_mpi_for_hints(context.comm, context.path, hints, context.counters);
}

LibraryTraits ParallelNetcdfFile::traits() const {
  LibraryTraits traits;
  traits.fills = true;
  traits.most_bytes = k_most_bytes;
  return traits;
}

void ParallelNetcdfFile::open_file(const Hints& hints) {
  const MpiInfo info(hints);
  const Alignment alignment(context_.options.catalog.alignment);
  if (context_.fresh()) {
    int flags = NC_NETCDF4 | (context_.mode == OpenMode::create_exclusive ? NC_NOCLOBBER : NC_CLOBBER);
    if (context_.schema.format == Format::netcdf4_classic) flags |= NC_CLASSIC_MODEL;
    check(nc_create_par(context_.path.c_str(), flags, context_.comm.handle(), info.get(), &file_),
          "create the file");
    defining_ = true;
    int before = 0;
    check(nc_set_fill(file_, context_.options.catalog.fill == FillMode::all ? NC_FILL : NC_NOFILL, &before),
          "set the fill mode");
  } else {
    check(nc_open_par(context_.path.c_str(), context_.writable() ? NC_WRITE : NC_NOWRITE,
                      context_.comm.handle(), info.get(), &file_),
          "open the file");
  }
}

void ParallelNetcdfFile::check(int status, const std::string& what) const {
  if (status == NC_NOERR) return;
  throw Error(code_of_netcdf(status), "netCDF could not {}: {}", what, nc_strerror(status))
      .in_file(context_.path);
}

void ParallelNetcdfFile::check_written(int status, const std::string& what) {
  const Status checked = caught([&] { check(status, what); });
  if (is_failed_write(status)) damage_.merge(checked);
  if (!checked.ok()) throw Error(checked);
}

void ParallelNetcdfFile::check_usable() const {
  if (unusable_.ok()) return;
  throw Error(Code::state,
              "the file cannot be used since its definitions failed ({}); close it, and create it again",
              unusable_.message);
}

// ---- Definitions

void ParallelNetcdfFile::extend(const Schema& wanted, std::vector<Placement>& /*placements*/) {
  check_usable();
  netcdf4::check_extension(context_.schema, wanted);
  check_changes_by_netcdf(context_.schema, wanted);
  check_no_strings(wanted, context_.schema.variables.size());
  check_filters(wanted, context_.schema.variables.size(), context_.options.library.access);
  const Status status = caught([&] {
    // Only the classic model asks for it, but then attributes reach the file together.
    if (!defining_) check(nc_redef(file_), "enter define mode");
    defining_ = true;
    define(wanted);
    check_written(nc_enddef(file_), "write the header");
    defining_ = false;
    find_ids(wanted);
  });
  const Status agreed = context_.comm.agree(status);
  if (agreed.ok()) return;
  unusable_ = agreed;
  throw Error(agreed);
}

void ParallelNetcdfFile::define(const Schema& wanted) {
  struct Definer final : DefinitionVisitor {
    Definer(ParallelNetcdfFile& the_driver, const Schema& the_wanted)
        : driver(the_driver), wanted(the_wanted) {}
    void change(const SchemaChange& c) override {
      const bool of_dim = c.kind == SchemaChange::Kind::rename_dim;
      driver.check(change_by_netcdf(driver.file_, of_dim ? NetcdfId{} : driver.owner(wanted, c.index), c),
                   text_of(c));
    }
    void group(int, const GroupDef& g) override {
      driver.check(define_group_by_netcdf(driver.file_, g.name), fmt::format("define group '{}'", g.name));
    }
    void dimension(int, const Dimension& dim) override {
      const std::string what = fmt::format("define dimension '{}'", dim.name);
      int group = -1, id = -1;
      const auto length = dim.unlimited ? NC_UNLIMITED : static_cast<std::size_t>(dim.length);
      driver.check(find_group_by_netcdf(driver.file_, group_of(dim.name), &group), what);
      driver.check(nc_def_dim(group, name_in_group(dim.name).c_str(), length, &id), what);
    }
    void variable(int, const VariableDef& def) override { driver.define_variable(wanted, def); }
    void attribute(int owner, const Attribute& a) override {
      NetcdfId id = driver.owner(wanted, owner < 0 ? owner : k_of_file);
      if (owner >= 0)
        driver.check(find_variable_by_netcdf(driver.file_, wanted.variable(owner).name, &id),
                     "find a variable");
      driver.check(put_attribute_by_netcdf(id, a), fmt::format("set attribute '{}'", a.name));
    }
    ParallelNetcdfFile& driver;
    const Schema& wanted;
  };
  Definer definer(*this, wanted);
  for_each_new(context_.schema, wanted, definer);
}

void ParallelNetcdfFile::define_variable(const Schema& wanted, const VariableDef& def) {
  const std::string what = fmt::format("define variable '{}'", def.name);
  std::vector<int> dims;
  Dims shape(static_cast<int>(def.dims.size()));
  std::vector<bool> unlimited;
  for (std::size_t d = 0; d < def.dims.size(); ++d) {
    const Dimension& dim = wanted.dim(def.dims[d]);
    dims.push_back(-1);
    check(find_dim_by_netcdf(file_, dim.name, &dims.back()), what);
    unlimited.push_back(dim.unlimited);
    shape[static_cast<int>(d)] = dim.unlimited ? 0 : dim.length;
  }
  int group = -1, id = -1;
  check(find_group_by_netcdf(file_, group_of(def.name), &group), what);
  check(nc_def_var(group, name_in_group(def.name).c_str(), static_cast<nc_type>(def.type),
                   static_cast<int>(dims.size()), dims.data(), &id),
        what);
  const bool any = std::find(unlimited.begin(), unlimited.end(), true) != unlimited.end();
  // Without a request the library chooses, as it does for programs that call it themselves.
  const bool request =
      !def.chunks.empty() || (any && context_.options.library.chunk_bytes) || !def.filters.empty();
  if (request) {
    const Dims chunk = def.chunks.empty() ? default_chunk(shape, unlimited, size_of(def.type),
                                                          context_.options.library.chunk_bytes.value_or(
                                                              context_.options.catalog.chunk_bytes))
                                          : Dims(def.chunks);
    const std::vector<std::size_t> lengths(chunk.begin(), chunk.end());
    check(nc_def_var_chunking(group, id, NC_CHUNKED, lengths.data()), what + " in chunks");
  } else if (!any && !dims.empty()) {
    check(nc_def_var_chunking(group, id, NC_CONTIGUOUS, nullptr), what);
  }
  check(define_filters(group, id, def.filters),
        fmt::format("{} with compression {}", what, text_of(def.filters)));
  check(nc_def_var_fill(group, id, def.no_fill ? NC_NOFILL : NC_FILL, nullptr), what);
}

NetcdfId ParallelNetcdfFile::owner(const Schema& schema, int owner) const {
  if (owner >= 0) return id_of(owner);
  NetcdfId id{file_, NC_GLOBAL};
  if (is_group(owner))
    check(find_group_by_netcdf(file_, schema.groups[group_number(owner)].name, &id.group), "find a group");
  return id;
}

// (The library numbers what it finds in a file in an order of its own.)
void ParallelNetcdfFile::find_ids(const Schema& known) {
  ids_.clear();
  access_.reset();
  for (const auto& variable : known.variables) {
    ids_.push_back({});
    check(find_variable_by_netcdf(file_, variable.name, &ids_.back()),
          fmt::format("find variable '{}'", variable.name));
  }
}

void ParallelNetcdfFile::describe(Schema& known, std::vector<Placement>& placements) {
  placements.clear();
  for (int v = 0; v < static_cast<int>(known.variables.size()); ++v) {
    VariableDef& def = known.variable(v);
    Placement placement;
    placement.chunk = known.shape(v);
    placement.begin = k_unplaced;  // netCDF does not say
    int storage = NC_CONTIGUOUS;
    std::vector<std::size_t> chunk(def.dims.size() + 1);
    check(nc_inq_var_chunking(id_of(v).group, id_of(v).variable, &storage, chunk.data()),
          "report the chunk shape");
    if (storage == NC_CHUNKED) {
      placement.kind = Placement::Kind::listed;
      def.chunks.assign(chunk.begin(), chunk.end() - 1);
      placement.chunk = Dims(def.chunks);
    }
    placements.push_back(placement);
  }
}

// ---- Data

// All variables together: where it looks for the length of a dimension, the library makes a collective call
// for each variable that is in collective access, even when it reads another one independently. Scalars stay
// independent.
void ParallelNetcdfFile::use(Access how) {
  if (access_ == how) return;
  access_ = how;
  const int mode = how == Access::independent ? NC_INDEPENDENT : NC_COLLECTIVE;
  for (int v = 0; v < static_cast<int>(ids_.size()); ++v)
    if (!filtered(v))
      check(nc_var_par_access(id_of(v).group, id_of(v).variable,
                              context_.variable(v).dims.empty() ? NC_INDEPENDENT : mode),
            "choose the access");
}

// The library writes compressed variables in collective access only, and lets none of them leave it.
void ParallelNetcdfFile::put_filtered(int v, const Box& box, const std::byte* values) {
  if (together_.insert(v).second)
    check(nc_var_par_access(id_of(v).group, id_of(v).variable, NC_COLLECTIVE), "choose the access");
  put(v, box, values);
}

void ParallelNetcdfFile::put(int v, const Box& box, const std::byte* values) {
  const NetcdfSection s(box);
  check_written(nc_put_vara(id_of(v).group, id_of(v).variable, s.start.data(), s.count.data(), values),
                "write");
}

void ParallelNetcdfFile::get(int v, const Box& box, std::byte* values) const {
  const NetcdfSection s(box);
  check(nc_get_vara(id_of(v).group, id_of(v).variable, s.start.data(), s.count.data(), values), "read");
}

// Whatever access the variable is in, all ranks call.
void ParallelNetcdfFile::get_filtered(int v, const Box& box, std::byte* values) {
  if (together_.count(v) != 0 && context_.has_holes(v))
    throw Error(
        Code::not_supported,
        "HDF5 cannot read a compressed variable together that was in the file before and was written to; "
        "close the file and open it to read");
  ++context_.counters.reads;
  get(v, box, values);
}

// Of a file that one process made, or driver native: chunks get their place in the file when they are first
// written. With such variables HDF5 1.10 writes new chunks to no address at all where ranks do it together,
// or waits for ever if they are compressed. Those that it makes in parallel have a place for all chunks at
// once.
void ParallelNetcdfFile::check_space(int v, const Box& region) const {
  const LateSpace space = context_.late_space(v);
  if (!space.late) return;
  bool grows = false;
  for (int d = 0; d < region.rank(); ++d)
    grows = grows || region.end(d) > space.shape[d];
  if (!grows && space.complete) return;
  throw Error(
      Code::not_supported,
      "the variable was made by one process, or by driver native: its chunks take space in the file when "
      "they are written, and HDF5 {}.{}.{} fails or hangs where ranks write such together; append with "
      "driver native or gather",
      H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE)
      .of_variable(context_.variable(v).name);
}

// HDF5 extends variables in collective calls only.
void ParallelNetcdfFile::about_to_store(const StoreRegion& next) {
  const auto& [v, region, replicated, keeps_unowned] = next;
  check_usable();
  barred_ = true;
  check_space(v, region);
  barred_ = false;
  extending_ = false;
  const auto how = replicated ? context_.options.library.replicated_access : context_.options.library.access;
  if (how == Access::collective || filtered(v) || region.empty()) return;
  const auto& dims = context_.variable(v).dims;
  Dims& extents = extents_.try_emplace(v, Dims(region.rank())).first->second;
  for (int d = 0; d < region.rank(); ++d) {
    const Dimension& dim = context_.schema.dim(dims[static_cast<std::size_t>(d)]);
    if (!dim.unlimited || region.end(d) <= extents[d]) continue;
    extents[d] = region.end(d);
    extending_ = true;
  }
}

void ParallelNetcdfFile::store(int v, const Box& box, const std::byte* cells) {
  check_usable();
  if (barred_) return;
  const auto how = context_.options.library.access;
  ++context_.counters.writes;
  if (filtered(v)) return put_filtered(v, box, cells);
  if (how == Access::independent && extending_) {
    // The last cell of each rank goes first, in a collective call.
    extending_ = false;
    Box last = box;
    for (int d = 0; d < box.rank() && !box.empty(); ++d) {
      last.first[d] = box.end(d) - 1;
      last.count[d] = 1;
    }
    use(Access::collective);
    put(v, last,
        box.empty()
            ? cells
            : cells + (box.cells() - 1) * static_cast<std::int64_t>(size_of(context_.variable(v).type)));
  }
  use(how);
  if (how == Access::independent && box.empty()) return;
  put(v, box, cells);
}

bool ParallelNetcdfFile::overlaps_alone() {
  if (!overlaps_alone_) overlaps_alone_ = context_.comm.size() > 1 && is_ompio(context_.path);
  return *overlaps_alone_;
}

void ParallelNetcdfFile::load(int v, const Box& box, std::byte* cells, bool overlapping) {
  check_usable();
  // HDF5 reads chunks that have no place in the file wrongly, or hangs, where ranks read them together.
  if (filtered(v)) return get_filtered(v, box, cells);
  const bool alone = context_.options.library.access == Access::independent || context_.has_holes(v) ||
                     (overlapping && overlaps_alone());
  ++context_.counters.reads;
  use(alone ? Access::independent : Access::collective);
  if (alone && box.empty() && together_.empty()) return;
  get(v, box, cells);
}

// A rank cannot take part in a call for a scalar with nothing; there rank 0 goes alone.
void ParallelNetcdfFile::store_replicated(int v, const Box& box, const std::byte* values) {
  check_usable();
  if (barred_) return;
  const bool root = context_.comm.rank() == 0;
  if (filtered(v)) return put_filtered(v, box, values);
  bool alone = context_.options.library.replicated_access == Access::independent;
  if (alone && extending_) {
    extending_ = false;
    alone = false;
  }
  use(alone ? Access::independent : Access::collective);
  if ((alone || box.rank() == 0) && (!root || box.empty())) return;
  ++context_.counters.writes;
  put(v, box, values);
}

void ParallelNetcdfFile::load_replicated(int v, const Box& box, std::byte* values, bool all) {
  check_usable();
  if (filtered(v)) return get_filtered(v, box, values);
  const bool alone = context_.options.library.replicated_access == Access::independent ||
                     context_.has_holes(v) || (all && overlaps_alone());
  use(alone ? Access::independent : Access::collective);
  const bool takes = !box.empty() && (all || context_.comm.rank() == 0);
  if (!takes && (box.rank() == 0 || (alone && together_.empty()))) return;
  ++context_.counters.reads;
  get(v, alone && !takes ? no_cells(box.rank()) : box, values);
}

// Ranks may leave a collective write before others have stored its bytes.
void ParallelNetcdfFile::complete_pending() {
  if (!context_.writable() || defining_ || !unusable_.ok()) return;
  if (context_.must_flush())
    check(nc_sync(file_), "synchronise");
  else
    context_.comm.barrier();
}

void ParallelNetcdfFile::commit(bool durable, bool closing) {
  check_usable();
  if (defining_) {
    check_written(nc_enddef(file_), "write the header");
    defining_ = false;
  }
  if (durable || !closing) check_written(nc_sync(file_), "synchronise");
  if (!durable) return;
  context_.comm.on_root([&] {
    const auto store = context_.options.system.open_store(context_.path, StoreMode::read);
    store->sync();
    store->close();
  });
}

void ParallelNetcdfFile::close(bool /*durable*/) {
  const int status = nc_close(file_);
  file_ = -1;
  check_written(status, "close the file");
}

namespace {

std::unique_ptr<LibraryFile> open_parallel_netcdf_file(const LibraryContext& context) {
  return std::make_unique<ParallelNetcdfFile>(context);
}

}  // namespace

std::unique_ptr<Driver> make_netcdf_driver(const Comm& comm, const std::string& path, OpenMode mode,
                                           Format format, const DriverOptions& options) {
  return std::make_unique<LibraryDriver>(comm, path, mode, format, options, open_parallel_netcdf_file);
}

}  // namespace shoal

#endif
