// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/netcdf4_catalog.hpp"

#include <array>

#include "format/format_traits.hpp"
#include "format/netcdf4/attributes.hpp"
#include "format/netcdf4/object_header.hpp"
#include "format/netcdf4/virtual_file.hpp"
#include "format/stored_filters.hpp"

namespace shoal::netcdf4 {

namespace {

constexpr std::size_t k_head_of_header = 34;  // bytes, at most, up to the messages
constexpr std::uint64_t k_most_of_header = 1 << 20;

// Space that HDF5 gives up during a run must not be given out again before the commit, since the last
// commit's file still refers to it. Without any book-keeping of free space it never is.
Id creation_list(bool for_hdf5_1_8) {
  Id creation(check(H5Pcreate(H5P_FILE_CREATE), "make a creation list"));
  check(H5Pset_obj_track_times(creation, 0), "make a creation list");
  check(H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "make a creation list");
  check(H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "make a creation list");
  if (!for_hdf5_1_8)
    check(H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_NONE, false, 1), "make a creation list");
  return creation;
}

// HDF5 puts what it extends the superblock by into an object that it makes by its default creation list, with
// the time of day; files of equal contents are to have equal bytes. The list is restored afterwards.
class NoTimeInSuperblock {
 public:
  NoTimeInSuperblock() {
    check(H5Pget_obj_track_times(H5P_GROUP_CREATE_DEFAULT, &before_), "read the default creation list");
    check(H5Pset_obj_track_times(H5P_GROUP_CREATE_DEFAULT, false), "change the default creation list");
  }
  ~NoTimeInSuperblock() { H5Pset_obj_track_times(H5P_GROUP_CREATE_DEFAULT, before_); }
  NoTimeInSuperblock(const NoTimeInSuperblock&) = delete;
  NoTimeInSuperblock& operator=(const NoTimeInSuperblock&) = delete;

 private:
  hbool_t before_ = true;
};

// Where HDF5 keeps its free space in the file, or deals it out in pages, it must do so alone. Returns whether
// it gives out space again.
bool check_space_strategy(hid_t file) {
  const Id creation(check(H5Fget_create_plist(file), "read the properties of the file"));
  H5F_fspace_strategy_t strategy = H5F_FSPACE_STRATEGY_FSM_AGGR;
  hbool_t persist = false;
  hsize_t threshold = 0;
  check(H5Pget_file_space_strategy(creation, &strategy, &persist, &threshold),
        "read the properties of the file");
  if (strategy == H5F_FSPACE_STRATEGY_PAGE || persist)
    throw Error(Code::not_supported,
                "the file was made with HDF5's paged or persistent free space and can be read only; "
                "'h5repack -S FSM_AGGR -P 0 OLD NEW' makes a copy that can be written");
  return strategy != H5F_FSPACE_STRATEGY_NONE;
}

}  // namespace

Netcdf4Catalog::Netcdf4Catalog(Format format, std::unique_ptr<Store> store, const CatalogOptions& options)
    : path_(store->path()), options_(options), others_(path_, options.external_files) {
  guarded(-1, [&] {
    if (format != Format::netcdf4 && format != Format::netcdf4_classic)
      throw Error(Code::internal, std::string("not a netCDF-4 format: ") + name_of(format));
    provide_filters();
    image_ = std::make_unique<FileImage>(std::move(store), true, options.alignment);
    driver_ = register_driver();
    reuses_space_ = options.for_hdf5_1_8;
    const NoTimeInSuperblock no_time;
    file_ =
        Id(check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation_list(options.for_hdf5_1_8), access_list()),
                 "create the file"));
    mark_as_netcdf4(file_, format);
    contents_.schema.format = format;
    note_change();
  });
}

Netcdf4Catalog::Netcdf4Catalog(std::unique_ptr<Store> store, bool writable, const CatalogOptions& options)
    : path_(store->path()), options_(options), others_(path_, options.external_files), writable_(writable) {
  guarded(-1, [&] {
    provide_filters();
    image_ = std::make_unique<FileImage>(std::move(store), writable, options.alignment);
    image_->checks().superblock(image_->store());
    driver_ = register_driver();
    try {
      open();
    } catch (...) {
      abandon();
      throw;
    }
  });
}

void Netcdf4Catalog::open() {
  options_.for_hdf5_1_8 = !image_->has_superblock_of_1_10();
  image_->may_open = [this](const std::string& name) { return others_.may_open(name); };
  file_ = Id(check(H5Fopen(path_.c_str(), writable_ ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access_list()),
                   "open the file"));
  image_->opened();
  if (writable_) reuses_space_ = check_space_strategy(file_);
  contents_ = read_contents(file_, others_);
  note_committed();
  if (writable_ && can_append_by_copy()) reopen(Mode::append);
}

// The indices of chunks of HDF5 1.10 only add entries where they are changed in place; those of 1.8 split.
// What others wrote in newer ways stays so.
Id Netcdf4Catalog::access_list() const {
  auto access = access_through(driver_, *image_);
  check(H5Pset_libver_bounds(access, options_.for_hdf5_1_8 ? H5F_LIBVER_V18 : H5F_LIBVER_V110,
                             H5F_LIBVER_LATEST),
        "set the file format");
  check(H5Pset_cache(access, 0, 1, 0, 0.75), "set the chunk cache");
  return access;
}

Netcdf4Catalog::~Netcdf4Catalog() {
  if (image_ != nullptr && file_.valid()) abandon();
}

// HDF5 closes what may still be open in the file. False: not even the file.
bool Netcdf4Catalog::drop() {
  const QuietErrors quiet;
  contents_.variables.clear();
  contents_.dims.clear();
  const hid_t file = file_.release();
  return file < 0 || H5Fclose(file) >= 0;
}

void Netcdf4Catalog::abandon() {
  image_->abandon();
  // A damaged file may stay open in HDF5 until the program ends, which then asks for it again.
  if (!drop()) static_cast<void>(image_.release());
}

void Netcdf4Catalog::rethrow(int variable) const {
  // A callback of the file driver could tell HDF5 only that it failed.
  const auto failure = image_ ? image_->take_failure() : nullptr;
  const std::string name = variable >= 0 && variable < static_cast<int>(contents_.schema.variables.size())
                               ? def(variable).name
                               : "";
  try {
    if (failure) std::rethrow_exception(failure);
    throw;
  } catch (const Error& error) {
    throw name.empty() ? error.in_file(path_) : error.of_variable(name).in_file(path_);
  }
}

void Netcdf4Catalog::require_open() const {
  if (!lost_.ok()) throw Error(lost_);
  if (!file_.valid()) throw Error(Code::state, "the file is closed");
}

void Netcdf4Catalog::require_writable() const {
  require_open();
  if (!writable_) throw Error(Code::permission, "the file was opened for reading only; open it for writing");
}

void Netcdf4Catalog::require_variable(int variable) const {
  require_open();
  const auto& variables = contents_.schema.variables;
  if (!variables.has(variable))
    throw Error(Code::not_found, "there is no variable number {}; there are {}", variable, variables.size());
}

void Netcdf4Catalog::define(const Schema& wanted) {
  guarded(-1, [&] {
    require_writable();
    check_extension(contents_.schema, wanted, LateFill::as_used);
    check_late_fill(wanted);
    leave_append_mode();
    note_change();
    defined_ = true;
    extend_contents(file_, contents_, wanted, options_);
    for (std::size_t d = 0; d < wanted.dims.size(); ++d) {
      auto& dim = contents_.schema.dims[d];
      if (dim.unlimited) dim.length = std::max(dim.length, wanted.dims[d].length);
    }
  });
}

// What the data set itself has where nothing was written must be what the new attribute says; without fill
// that is undefined.
void Netcdf4Catalog::check_late_fill(const Schema& wanted) {
  for (std::size_t v = 0; v < contents_.variables.size(); ++v) {
    const VariableDef& variable = wanted.variables[v];
    const Attribute* fill = find_attribute(variable.attributes, "_FillValue");
    if (fill == nullptr || find_attribute(contents_.schema.variables[v].attributes, fill->name) != nullptr)
      continue;
    const Id creation(check(H5Dget_create_plist(contents_.open_variable(file_, static_cast<int>(v))),
                            "read the properties of a data set"));
    H5D_fill_time_t when = H5D_FILL_TIME_IFSET;
    check(H5Pget_fill_time(creation, &when), "read when a data set is filled");
    if (when == H5D_FILL_TIME_NEVER) continue;
    Bytes own(fill->data.size());
    check(H5Pget_fill_value(creation, memory_type(variable.type), own.data()), "read the fill value");
    if (own != fill->data)
      throw Error(Code::not_supported,
                  "the HDF5 data set has another fill value of its own, which cannot change any more")
          .of_variable(variable.name);
  }
}

Dimension& Netcdf4Catalog::unlimited(int dim) {
  auto& dims = contents_.schema.dims;
  if (!dims.has(dim)) throw Error(Code::not_found, "there is no dimension number {}", dim);
  auto& dimension = dims[dim];
  if (!dimension.unlimited)
    throw Error(Code::invalid_argument, "the dimension '{}' has a fixed length and cannot change it",
                dimension.name);
  return dimension;
}

void Netcdf4Catalog::grow(int dim, std::int64_t length) {
  guarded(-1, [&] {
    require_writable();
    auto& dimension = unlimited(dim);
    if (length > dimension.length) note_change();
    dimension.length = std::max(dimension.length, length);
    for (std::size_t v = 0; v < contents_.variables.size(); ++v) {
      auto& variable = contents_.variables[v];
      const auto& numbers = contents_.schema.variables[v].dims;
      for (int d = 0; d < variable.needed.size(); ++d) {
        if (numbers[d] != dim) continue;
        // Only as far as somebody has asked for space: others may have no record there.
        const auto needed = std::min(length, variable.asked[d]);
        if (needed <= variable.needed[d]) continue;
        variable.needed[d] = needed;
        note_change();
      }
    }
  });
}

void Netcdf4Catalog::note_change() {
  changes_ = Changes::in_hdf5;
  image_->set_changing(true);
}

void Netcdf4Catalog::note_committed() {
  for (std::size_t i = 0; i < contents_.dims.size(); ++i)
    contents_.dims[i].committed = contents_.schema.dims[i].length;
  for (auto& variable : contents_.variables)
    variable.committed = variable.extent;
}

void Netcdf4Catalog::take_back(int dim, std::int64_t length) {
  guarded(-1, [&] {
    require_writable();
    auto& dimension = unlimited(dim);
    auto& scale = contents_.dims[dim];
    const auto left = std::max(length, scale.committed);
    for (int v = 0; v < contents_.variables.count(); ++v)
      unplace_records(v, dim, left);
    if (left >= dimension.length) return;
    leave_append_mode();
    note_change();
    dimension.length = left;
    bool freed = false;
    image_->keep_released(true);
    try {
      for (std::size_t v = 0; v < contents_.variables.size(); ++v)
        freed = shrink(static_cast<int>(v), dim, left) || freed;
      if (scale.variable < 0 && !scale.link.empty() && scale.extent > left) {
        const auto extent = static_cast<hsize_t>(left);
        check(H5Dset_extent(contents_.open_scale(file_, dim), &extent), "shorten a dimension");
        scale.extent = left;
      }
      if (freed) reopen(Mode::all);
    } catch (...) {
      image_->keep_released(false);
      throw;
    }
    image_->keep_released(false);
  });
}

// HDF5 changes the index of chunks along several unlimited dimensions (a B-tree) in place, and no order of
// these writes is valid; in the mode for a writer beside readers it copies what changes. It then can neither
// define anything nor write text of any length.
bool Netcdf4Catalog::can_append_by_copy() const {
  bool needed = false;
  for (std::size_t v = 0; v < contents_.variables.size(); ++v) {
    const auto& variable = contents_.schema.variables[v];
    if (variable.type == Type::string || !variable.fits_plainly) return false;
    const auto unlimited = std::count_if(variable.dims.begin(), variable.dims.end(),
                                         [&](int d) { return contents_.schema.dim(d).unlimited; });
    needed = needed || unlimited > 1;
  }
  return needed && !options_.for_hdf5_1_8 && !reuses_space_;
}

// What was committed is whole, whether the file can be opened again or not: that is reported by the next
// call.
void Netcdf4Catalog::enter_append_mode() {
  lost_ = caught([&] { reopen(Mode::append); });
}

void Netcdf4Catalog::leave_append_mode() {
  if (mode_ == Mode::append) reopen(Mode::all);
}

// The file may have another name by now: a new one has its own from its first commit on.
// A file that HDF5 opens has no space that it has given up, and would deal out anew while ranks may know
// addresses in it.
void Netcdf4Catalog::reopen(Mode mode) {
  for (auto& variable : contents_.variables)
    variable.dataset.close();
  for (auto& scale : contents_.dims)
    scale.dataset.close();
  check(H5Fclose(file_.release()), "close the file");
  const FileImage::Reopening reopening(*image_);
  file_ = Id(check(H5Fopen(image_->store().path().c_str(),
                           H5F_ACC_RDWR | (mode == Mode::append ? H5F_ACC_SWMR_WRITE : 0U), access_list()),
                   "open the file again"));
  mode_ = mode;
  if (auto failure = image_->take_failure()) std::rethrow_exception(failure);
}

void Netcdf4Catalog::write_out(int variable) {
  guarded(variable, [&] {
    require_variable(variable);
    // HDF5 itself holds nothing back: chunks without filters are never in its cache (data_set_access), and
    // it buffers contiguous data only for file drivers that ask for that.
    if (!writable_) return;
    if (stored(variable).filtered) check(H5Dflush(contents_.open_variable(file_, variable)), "write values");
    image_->write_raw();
  });
}

// The scale of an unlimited dimension is as long as the dimension.
void Netcdf4Catalog::update_scales() {
  for (std::size_t i = 0; i < contents_.dims.size(); ++i) {
    auto& scale = contents_.dims[i];
    const auto& dim = contents_.schema.dims[i];
    if (!dim.unlimited || scale.link.empty()) continue;
    if (scale.variable >= 0) {
      auto& needed = stored(scale.variable).needed;
      if (needed.size() > 0) needed[0] = std::max(needed[0], dim.length);
    } else if (scale.extent < dim.length) {
      const auto length = static_cast<hsize_t>(dim.length);
      check(H5Dset_extent(contents_.open_scale(file_, static_cast<int>(i)), &length), "extend a dimension");
      scale.extent = dim.length;
    }
  }
}

void Netcdf4Catalog::flush() {
  update_scales();
  for (int v = 0; v < contents_.variables.count(); ++v)
    guarded(v, [&] { realise(v); });
  image_->trim();
}

// Where the headers of the coordinate variables of unlimited dimensions are: "time", along time. They change
// last, so that a reader that finds a time finds the record whole in all variables of the same commit.
std::vector<std::uint64_t> Netcdf4Catalog::record_headers() const {
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < contents_.dims.size(); ++i) {
    const int variable = contents_.dims[i].variable;
    if (!contents_.schema.dims[i].unlimited || variable < 0) continue;
#if H5_VERSION_GE(1, 12, 0)
    H5O_info1_t info{};
#else
    H5O_info_t info{};
#endif
    if (H5Oget_info2(contents_.open_variable(file_, variable), &info, H5O_INFO_BASIC) < 0) continue;
    std::array<std::byte, k_head_of_header> head{};
    const auto read = image_->reader();
    read(info.addr, head);
    Bytes block;
    walk_object_header(info.addr, head, 0, [&](std::uint64_t address, std::uint64_t size) {
      addresses.push_back(address);
      block.resize(static_cast<std::size_t>(size <= k_most_of_header ? size : 0));
      read(address, block);
      return std::span<const std::byte>(block);
    });
  }
  return addresses;
}

void Netcdf4Catalog::pass_changes_to_image() {
  if (changes_ != Changes::in_hdf5) return;
  flush();
  check(H5Fflush(file_, H5F_SCOPE_LOCAL), "write the file's metadata");
  // HDF5 does not pass every failure on.
  if (auto failure = image_->take_failure()) std::rethrow_exception(failure);
  changes_ = Changes::in_image;
}

void Netcdf4Catalog::write_ahead(bool sync) {
  guarded(-1, [&] {
    require_open();
    if (!writable_) return;
    pass_changes_to_image();
    // Ranks take space for chunks that they encode.
    const bool others_take_space = std::any_of(contents_.variables.begin(), contents_.variables.end(),
                                               [](const auto& variable) { return variable.filtered; });
    image_->write_ahead(sync, others_take_space);
  });
}

void Netcdf4Catalog::commit(bool durable) {
  commit(durable, false);
}

void Netcdf4Catalog::commit(bool durable, bool closing) {
  guarded(-1, [&] {
    require_open();
    if (!writable_) return;
    pass_changes_to_image();
    const bool changed = changes_ != Changes::none;
    image_->commit(durable, defined_ || reuses_space_ ? ChangeOrder::any : ChangeOrder::each_valid,
                   changed ? record_headers() : std::vector<std::uint64_t>{});
    if (changed) note_committed();
    changes_ = Changes::none;
    image_->set_changing(false);
    defined_ = false;
    if (mode_ == Mode::all && !closing && can_append_by_copy()) enter_append_mode();
  });
}

void Netcdf4Catalog::close(bool durable) {
  guarded(-1, [&] {
    require_open();
    // Committed while HDF5 still has it open, so that a full disk leaves a catalog that can try again.
    commit(durable, true);
    drop();
    if (image_->take_failure()) throw hdf5_error("close the file", Code::io);
    if (writable_) image_->commit(durable, ChangeOrder::any);
    image_->store().close();
  });
}

Catalog::Traffic Netcdf4Catalog::traffic() const {
  return {image_->writes, image_->bytes_written, image_->reads, image_->bytes_read};
}

}  // namespace shoal::netcdf4

namespace shoal {

std::unique_ptr<Catalog> create_netcdf4_catalog(Format format, std::unique_ptr<Store> store,
                                                const CatalogOptions& options) {
  return std::make_unique<netcdf4::Netcdf4Catalog>(format, std::move(store), options);
}

std::unique_ptr<Catalog> open_netcdf4_catalog(std::unique_ptr<Store> store, bool writable,
                                              const CatalogOptions& options) {
  return std::make_unique<netcdf4::Netcdf4Catalog>(std::move(store), writable, options);
}

namespace {

constexpr std::array<unsigned char, 8> k_signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

bool is_hdf5_at(Store& store, std::uint64_t offset) {
  std::array<std::byte, k_signature.size()> bytes{};
  return store.read(offset, bytes) == bytes.size() &&
         std::memcmp(bytes.data(), k_signature.data(), bytes.size()) == 0;
}

// HDF5 allows a block of the user's own in front, whose length is 512 bytes or a power of two times that.
std::optional<Format> recognise_hdf5(Store& store, std::span<const std::byte> /*start*/) {
  const std::uint64_t size = store.size();
  if (is_hdf5_at(store, 0)) return Format::netcdf4;
  for (std::uint64_t at = 512; at < size && at != 0; at *= 2)
    if (is_hdf5_at(store, at)) return Format::netcdf4;
  return std::nullopt;
}

}  // namespace

std::vector<FormatTraits> netcdf4_formats() {
  FormatTraits full{Format::netcdf4, "netcdf4", {"nc4", "netcdf-4", "hdf5"}, number_types()};
  full.types.push_back(Type::string);
  full.is_classic_model = false;
  full.has_chunks = true;
  full.filters = as_netcdf4_has_them;
  full.has_groups = true;
  full.recognise = recognise_hdf5;
  full.drivers = "native netcdf gather";
  full.create = create_in_file<create_netcdf4_catalog>;
  full.open = open_in_file<open_netcdf4_catalog>;
  FormatTraits strict = full;
  strict.format = Format::netcdf4_classic;
  strict.name = "netcdf4-classic";
  strict.other_names = {"nc7", "nc4c", "netcdf4_classic", "netcdf-4 classic model"};
  strict.types = classic_types();
  strict.is_classic_model = true;
  strict.has_groups = false;
  strict.recognise = nullptr;
  return {full, strict};
}

}  // namespace shoal
