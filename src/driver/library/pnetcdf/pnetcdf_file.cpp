// SPDX-License-Identifier: BSD-3-Clause
#ifdef SHOAL_HAVE_PNETCDF

#include "driver/library/pnetcdf/pnetcdf_file.hpp"

#include <fmt/core.h>
#include <pnetcdf.h>

#include <algorithm>
#include <bit>

#include "driver/file/mpi_info.hpp"
#include "driver/library/definition_visitor.hpp"
#include "driver/library/library_driver.hpp"
#include "driver/library/library_section.hpp"
#include "driver/registry.hpp"
#include "format/classic/header.hpp"
#include "format/classic/layout.hpp"
#include "pack/pieces.hpp"

namespace shoal {

namespace {

constexpr std::int64_t k_most_queued_calls = 1000;
// Unless stage_bytes is set: larger queues move no faster, and memory that is touched first costs time (with
// 8 MiB nonblocking calls had 0.83 to 0.97 of the speed of PnetCDF alone, with 2 MiB 0.97).
constexpr std::int64_t k_queue_of_rank = std::int64_t{2} << 20;

MPI_Datatype mpi_type(Type type) {
  switch (type) {
    case Type::byte_:
      return MPI_SIGNED_CHAR;
    case Type::char_:
      return MPI_CHAR;
    case Type::short_:
      return MPI_SHORT;
    case Type::int_:
      return MPI_INT;
    case Type::float_:
      return MPI_FLOAT;
    case Type::double_:
      return MPI_DOUBLE;
    case Type::ubyte:
      return MPI_UNSIGNED_CHAR;
    case Type::ushort:
      return MPI_UNSIGNED_SHORT;
    case Type::uint:
      return MPI_UNSIGNED;
    case Type::int64:
      return MPI_LONG_LONG_INT;
    case Type::uint64:
      return MPI_UNSIGNED_LONG_LONG;
    default:
      throw Error(Code::internal, std::string("PnetCDF has no type ") + name_of(type));
  }
}

Code code_of(int status) {
  switch (status) {
    case NC_EEXIST:
      return Code::exists;
    case NC_ENOENT:
      return Code::not_found;
    case NC_EACCESS:
    case NC_EPERM:
      return Code::permission;
    case NC_ENO_SPACE:
    case NC_EQUOTA:
      return Code::no_space;
    case NC_ENOMEM:
      return Code::no_memory;
    case NC_ENOTNC:
      return Code::format;
    case NC_ERANGE:
      return Code::range;
    case NC_EVARSIZE:
    case NC_EDIMSIZE:
    case NC_ENOTSUPPORT:
      return Code::not_supported;
    default:
      return Code::io;
  }
}

int creation_flags(Format format, OpenMode mode) {
  const int replace = mode == OpenMode::create_exclusive ? NC_NOCLOBBER : NC_CLOBBER;
  if (format == Format::cdf5) return replace | NC_64BIT_DATA;
  return format == Format::cdf2 ? replace | NC_64BIT_OFFSET : replace;
}

constexpr const char* k_fill = "_FillValue";

using PnetcdfSection = LibrarySection<MPI_Offset>;

// What the format cannot hold is found before the library is asked, so that nothing is changed then.
void check_schema(const Schema& wanted, const Schema& have, const CatalogOptions& options) {
  check_classic(wanted, have);
  check_offsets(wanted, new_layout(wanted, header_bytes_of(wanted), options));
  for (std::size_t v = 0; v < have.variables.size(); ++v)
    if (find_attribute(have.variables[v].attributes, k_fill) == nullptr &&
        find_attribute(wanted.variables[v].attributes, k_fill) != nullptr)
      throw Error(Code::not_supported, "PnetCDF takes no _FillValue of a variable that is there already")
          .of_variable(have.variables[v].name);
}

}  // namespace

PnetcdfFile::PnetcdfFile(const LibraryContext& context) : context_(context) {
  const Timer timer(context_.counters.open);
  context.require_format("pnetcdf", {Format::cdf1, Format::cdf2, Format::cdf5});
  refuse_lossy_hints(context.path, context.options.library.hints);
  context.comm.agree_or_throw(caught([&] { open_file(); }));
}

LibraryTraits PnetcdfFile::traits() const {
  LibraryTraits traits;
  traits.changes_cells = true;  // it swaps bytes in place, and back
  traits.may_hide_no_space = is_ompio(context_.path);
  traits.most_bytes = k_most_bytes;
  return traits;
}

void PnetcdfFile::open_file() {
  const auto hints = context_.hints_with_stripes();
  const MpiInfo info(hints);
  if (context_.fresh()) {
    check(ncmpi_create(context_.comm.handle(), context_.path.c_str(),
                       creation_flags(context_.schema.format, context_.mode), info.get(), &file_),
          "create the file");
    defining_ = true;
  } else {
    check(ncmpi_open(context_.comm.handle(), context_.path.c_str(),
                     context_.writable() ? NC_WRITE : NC_NOWRITE, info.get(), &file_),
          "open the file");
  }
  MpiInfo used;
  check(ncmpi_inq_file_info(file_, used.out()), "report the hints it uses");
  note_hints(hints, used, context_.counters);
  overlaps_alone_ = context_.comm.size() > 1 && is_ompio(context_.path);
}

void PnetcdfFile::check(int status, const std::string& what) const {
  if (status == NC_NOERR) return;
  throw Error(code_of(status), "PnetCDF could not {}: {}", what, ncmpi_strerror(status))
      .in_file(context_.path);
}

// ---- Definitions

bool PnetcdfFile::has_place(const Schema& wanted) {
  std::vector<std::int64_t> begins;
  for (const auto& placement : context_.placements)
    begins.push_back(static_cast<std::int64_t>(placement.begin));
  return context_.stays_in_place(wanted, begins);
}

void PnetcdfFile::extend(const Schema& wanted, std::vector<Placement>& placements) {
  check_usable();
  check_schema(wanted, context_.schema, context_.options.catalog);
  flush();
  enter_collective();
  const bool first = defining_;
  const Status status = caught([&] {
    if (!defining_) check(ncmpi_redef(file_), "enter define mode");
    defining_ = true;
    define(wanted);
    end_define(first);
    note_placements(wanted, placements);
  });
  const Status agreed = context_.comm.agree(status);
  if (agreed.ok()) return;
  unusable_ = agreed;
  throw Error(agreed);
}

void PnetcdfFile::define(const Schema& wanted) {
  struct Definer final : DefinitionVisitor {
    explicit Definer(const PnetcdfFile& the_driver) : driver(the_driver) {}
    void change(const SchemaChange& c) override {
      const int v = c.index < 0 ? NC_GLOBAL : c.index;
      const char* name = c.name.c_str();
      int status = NC_NOERR;
      switch (c.kind) {
        case SchemaChange::Kind::rename_dim:
          status = ncmpi_rename_dim(driver.file_, c.index, c.to.c_str());
          break;
        case SchemaChange::Kind::rename_variable:
          status = ncmpi_rename_var(driver.file_, c.index, c.to.c_str());
          break;
        case SchemaChange::Kind::rename_attribute:
          status = ncmpi_rename_att(driver.file_, v, name, c.to.c_str());
          break;
        case SchemaChange::Kind::delete_attribute:
          status = ncmpi_del_att(driver.file_, v, name);
          break;
        case SchemaChange::Kind::rename_group:  // its formats have none
          status = NC_ENOTSUPPORT;
          break;
      }
      driver.check(status, text_of(c));
    }
    void dimension(int, const Dimension& dim) override {
      int id = -1;
      driver.check(
          ncmpi_def_dim(driver.file_, dim.name.c_str(), dim.unlimited ? NC_UNLIMITED : dim.length, &id),
          fmt::format("define dimension '{}'", dim.name));
    }
    void variable(int, const VariableDef& def) override {
      int id = -1;
      driver.check(ncmpi_def_var(driver.file_, def.name.c_str(), static_cast<nc_type>(def.type),
                                 static_cast<int>(def.dims.size()), def.dims.data(), &id),
                   fmt::format("define variable '{}'", def.name));
    }
    void attribute(int v, const Attribute& a) override {
      driver.check(ncmpi_put_att(driver.file_, v < 0 ? NC_GLOBAL : v, a.name.c_str(),
                                 static_cast<nc_type>(a.type), a.count(), a.data.data()),
                   fmt::format("set attribute '{}'", a.name));
    }
    const PnetcdfFile& driver;
  };
  Definer definer(*this);
  for_each_new(context_.schema, wanted, definer);
}

// The free space is asked for once: later definitions use it up.
void PnetcdfFile::end_define(bool first) {
  const CatalogOptions& o = context_.options.catalog;
  check(first ? ncmpi__enddef(file_, o.header_reserve, o.alignment, o.header_reserve, o.alignment)
              : ncmpi_enddef(file_),
        "write the header");
  defining_ = false;
}

void PnetcdfFile::note_placements(const Schema& wanted, std::vector<Placement>& placements) const {
  MPI_Offset record_bytes = 0;
  check(ncmpi_inq_recsize(file_, &record_bytes), "report the size of a record");
  placements.clear();
  for (int v = 0; v < static_cast<int>(wanted.variables.size()); ++v) {
    MPI_Offset begin = 0;
    check(ncmpi_inq_varoffset(file_, v, &begin), "say where a variable is");
    Placement placement;
    placement.swapped = std::endian::native == std::endian::little;
    placement.begin = static_cast<std::uint64_t>(begin);
    placement.chunk = wanted.shape(v);
    if (wanted.has_record(v)) {
      placement.chunk[0] = 1;
      placement.stride = static_cast<std::uint64_t>(record_bytes);
    }
    placements.push_back(placement);
  }
}

void PnetcdfFile::check_usable() const {
  if (unusable_.ok()) return;
  throw Error(Code::state,
              "the file cannot be used since its definitions failed ({}); close it, and create it again",
              unusable_.message);
}

// ---- Modes and the queue

void PnetcdfFile::enter_collective() {
  if (!independent_) return;
  check(ncmpi_end_indep_data(file_), "leave independent access");
  independent_ = false;
}

void PnetcdfFile::enter_independent() {
  if (independent_) return;
  check(ncmpi_begin_indep_data(file_), "enter independent access");
  independent_ = true;
}

// In independent access ranks go their own ways, once the library is in that mode and nothing is queued.
bool PnetcdfFile::stores_together() const {
  return context_.options.library.access != Access::independent || !independent_ || !queued_regions_.empty();
}

// Cells that are queued twice would be moved in any order.
void PnetcdfFile::about_to_store(const StoreRegion& next) {
  const auto& [v, region, replicated, keeps_unowned] = next;
  check_usable();
  const auto bytes = region.cells() * static_cast<std::int64_t>(size_of(context_.variable(v).type));
  const auto most =
      std::min({context_.options.stage.bytes, k_most_bytes,
                context_.options.stage.whole ? k_most_bytes : k_queue_of_rank * context_.comm.size()});
  queueing_ = bytes <= most && (replicated ? context_.options.library.replicated_access == Access::collective
                                           : context_.options.library.access == Access::nonblocking);
  const auto queued = queued_regions_.find(v);
  const bool again = queued != queued_regions_.end() &&
                     std::any_of(queued->second.begin(), queued->second.end(),
                                 [&](const Box& other) { return !intersection(other, region).empty(); });
  const bool full = queued_bytes_ + bytes > most || queued_calls_ >= k_most_queued_calls;
  const bool alone = !replicated && context_.options.library.access == Access::independent;
  if (queueing_) {
    if (again || full) flush();
    queued_regions_[v].push_back(region);
    queued_bytes_ += bytes;
    ++queued_calls_;
  } else if (again || alone) {
    flush();
  }
}

// One that was used before and fits well; otherwise a new one in place of the oldest, so that there are never
// more than were needed at once.
std::byte* PnetcdfFile::new_buffer(std::size_t bytes) {
  auto fitting = std::find_if(spare_.begin(), spare_.end(), [&](const ScratchBuffer& buffer) {
    return buffer.bytes() >= bytes && buffer.bytes() / 2 <= bytes;
  });
  if (fitting == spare_.end()) {
    if (!spare_.empty()) spare_.pop_front();
    fitting = spare_.emplace(spare_.end());
  }
  queued_values_.splice(queued_values_.end(), spare_, fitting);
  return queued_values_.back().of(bytes);
}

std::byte* PnetcdfFile::buffer_for_cells(std::size_t bytes) {
  return queueing_ ? new_buffer(bytes) : nullptr;
}

// (Cells that were packed to the queue's room are there already.)
void PnetcdfFile::queue(int v, const Box& box, const std::byte* values) {
  const std::size_t bytes = bytes_of(box, size_of(context_.variable(v).type));
  std::byte* kept = queued_values_.empty() ? nullptr : queued_values_.back().of(0);
  if (kept != values) {
    kept = new_buffer(bytes);
    std::copy_n(values, bytes, kept);
  }
  const PnetcdfSection s(box);
  check(ncmpi_iput_vara(file_, v, s.start.data(), s.count.data(), kept, box.cells(),
                        mpi_type(context_.variable(v).type), nullptr),
        "queue values");
}

void PnetcdfFile::flush() {
  if (queued_regions_.empty()) return;
  queued_regions_.clear();
  queued_bytes_ = queued_calls_ = 0;
  enter_collective();
  const int status = ncmpi_wait_all(file_, NC_REQ_ALL, nullptr, nullptr);
  // Ranks may leave it before others have stored its bytes, and write the same cells next.
  context_.comm.barrier();
  spare_.splice(spare_.end(), queued_values_);
  ++context_.counters.writes;
  check(status, "write what was queued");
}

// Ranks may leave a collective write before others have stored its bytes.
void PnetcdfFile::make_visible() {
  if (context_.must_flush() && context_.writable() && !defining_)
    check(ncmpi_sync(file_), "synchronise");
  else
    context_.comm.barrier();
}

// ---- Data

void PnetcdfFile::store(int v, const Box& box, const std::byte* cells) {
  check_usable();
  if (queueing_) {
    if (!box.empty()) queue(v, box, cells);
    return;
  }
  const PnetcdfSection s(box);
  const auto type = mpi_type(context_.variable(v).type);
  if (context_.options.library.access == Access::independent) {
    enter_independent();
    if (box.empty()) return;
    check(ncmpi_put_vara(file_, v, s.start.data(), s.count.data(), cells, box.cells(), type), "write");
  } else {
    enter_collective();
    check(ncmpi_put_vara_all(file_, v, s.start.data(), s.count.data(), cells, box.cells(), type), "write");
  }
  ++context_.counters.writes;
}

void PnetcdfFile::load(int v, const Box& box, std::byte* cells, bool overlapping) {
  check_usable();
  const PnetcdfSection s(box);
  const auto type = mpi_type(context_.variable(v).type);
  ++context_.counters.reads;
  if (context_.options.library.access == Access::independent || (overlapping && overlaps_alone_)) {
    enter_independent();
    if (box.empty()) return;
    check(ncmpi_get_vara(file_, v, s.start.data(), s.count.data(), cells, box.cells(), type), "read");
  } else {
    enter_collective();
    check(ncmpi_get_vara_all(file_, v, s.start.data(), s.count.data(), cells, box.cells(), type), "read");
  }
}

void PnetcdfFile::store_replicated(int v, const Box& box, const std::byte* values) {
  check_usable();
  const bool mine = context_.comm.rank() == 0 && !box.empty();
  if (queueing_) {
    if (mine) queue(v, box, values);
    return;
  }
  enter_independent();
  if (!mine) return;
  // The library may swap the bytes of what it is given.
  const auto size = static_cast<std::int64_t>(size_of(context_.variable(v).type));
  for_each_part(box, k_most_bytes / size, [&](const Box& part) {
    const auto bytes = part.cells() * size;
    Bytes copy(values, values + bytes);
    values += bytes;
    const PnetcdfSection s(part);
    ++context_.counters.writes;
    check(ncmpi_put_vara(file_, v, s.start.data(), s.count.data(), copy.data(), part.cells(),
                         mpi_type(context_.variable(v).type)),
          "write");
  });
}

// Collective reads are queued too, since a rank cannot take part in reading a scalar with nothing.
void PnetcdfFile::load_replicated(int v, const Box& box, std::byte* values, bool all) {
  check_usable();
  const bool mine = (all || context_.comm.rank() == 0) && !box.empty();
  const PnetcdfSection s(box);
  const auto type = mpi_type(context_.variable(v).type);
  if (mine) ++context_.counters.reads;
  if (context_.options.library.replicated_access == Access::collective && !(all && overlaps_alone_)) {
    enter_collective();
    const int posted =
        mine ? ncmpi_iget_vara(file_, v, s.start.data(), s.count.data(), values, box.cells(), type, nullptr)
             : NC_NOERR;
    const int moved = ncmpi_wait_all(file_, NC_REQ_ALL, nullptr, nullptr);
    check(posted, "read");
    check(moved, "read");
    return;
  }
  enter_independent();
  if (mine)
    check(ncmpi_get_vara(file_, v, s.start.data(), s.count.data(), values, box.cells(), type), "read");
}

void PnetcdfFile::complete_pending() {
  if (!context_.writable() || defining_ || !unusable_.ok()) return;
  flush();
  make_visible();
}

// The library leaves out the padding of what lies last, and some readers take the file for a truncated one.
void PnetcdfFile::pad_end() const {
  const Schema& schema = context_.schema;
  int last = -1;
  for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v)
    if (Box::whole(schema.shape(v)).cells() > 0 &&
        (last < 0 || context_.placement(v).begin > context_.placement(last).begin))
      last = v;
  if (last < 0) return;
  const bool of_records = schema.has_record(last);
  const std::int64_t slab = slab_bytes(schema, last);
  const auto stride = static_cast<std::int64_t>(context_.placement(last).stride);
  if (padded(slab) == slab || (of_records && stride == slab)) return;
  const std::int64_t records = of_records ? schema.shape(last)[0] : 1;
  const auto end = context_.placement(last).begin + static_cast<std::uint64_t>((records - 1) * stride + slab);
  context_.comm.on_root([&] {
    const auto store = context_.options.system.open_store(context_.path, StoreMode::write);
    const Bytes padding(static_cast<std::size_t>(padded(slab) - slab));
    if (store->size() < end + padding.size()) store->write(end, padding);
    store->close();
  });
}

void PnetcdfFile::commit(bool durable, bool closing) {
  check_usable();
  if (defining_) end_define(true);
  flush();
  // The library opens the file by its name when ranks first go their own ways, and the name is about to go.
  if (context_.options.file.renamed_later && !opened_by_all_ && !closing) enter_independent();
  opened_by_all_ = true;
  enter_collective();
  pad_end();
  if (durable) check(ncmpi_sync(file_), "synchronise");
}

void PnetcdfFile::close(bool /*durable*/) {
  check(ncmpi_close(file_), "close the file");
  file_ = -1;
}

namespace {

std::unique_ptr<LibraryFile> open_pnetcdf_file(const LibraryContext& context) {
  return std::make_unique<PnetcdfFile>(context);
}

}  // namespace

std::unique_ptr<Driver> make_pnetcdf_driver(const Comm& comm, const std::string& path, OpenMode mode,
                                            Format format, const DriverOptions& options) {
  return std::make_unique<LibraryDriver>(comm, path, mode, format, options, open_pnetcdf_file);
}

}  // namespace shoal

#endif
