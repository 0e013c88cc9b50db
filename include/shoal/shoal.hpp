// SPDX-License-Identifier: BSD-3-Clause
//
// Shoal for C++17 and later: a thin layer over shoal.h, in headers alone.
//
// Conventions, besides those of shoal.h:
//  1. Failures throw shoal::Error, with the code and the message of shoal.h.
//  2. Indices start at 0, the last dimension varies fastest, strides are in bytes.
//  3. Handles are move-only. Destructors never communicate: a Dataset that was not closed is
//     dropped with what was not committed yet, on this rank alone, so an exception on one rank
//     hangs nobody. Call close().
//  4. Every function is Collective (all ranks of the communicator call it, in the same order) or
//     Local.
//  5. Link with libshoal (CMake: shoal::shoal). MPI is initialised and finalised by the caller.
#ifndef SHOAL_HPP
#define SHOAL_HPP

#include <shoal/bindings.h>
#include <shoal/packing.h>
#include <shoal/arrays.hpp>
#include <shoal/boxes.hpp>
#include <shoal/decomposition.hpp>
#include <shoal/groups.hpp>
#include <shoal/library.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace shoal {
inline namespace api {

// ---- Settings -------------------------------------------------------------------------------

/// Settings of a dataset: Settings{}.format("netcdf4").compression("zstd:1").set("io_ranks", 8), or as text,
/// "format=netcdf4, io_ranks=8", which converts by itself. docs/settings.md has the list.
class Settings {
 public:
  Settings() = default;
  Settings(std::string text) : text_(std::move(text)) {}
  Settings(const char* text) : text_(text) {}

  /// Any setting: text, a number, or true and false. Throws for a value that cannot be written as text, with
  /// a double quote or a zero byte inside; whether key and value exist the call says that is given them.
  /// Local.
  template <class T>
  Settings& set(const std::string& key, const T& value) {
    if constexpr (std::is_same_v<T, bool>)
      return add(key, value ? "true" : "false");
    else if constexpr (std::is_integral_v<T>)
      return add(key, std::to_string(value));
    else if constexpr (std::is_floating_point_v<T>)
      return add(key, detail::text_of_number(static_cast<double>(value)));
    else
      return add(key, std::string(value));
  }
  // The usual ones. Local.
  Settings& format(const std::string& value) { return add("format", value); }
  Settings& layout(const std::string& value) { return add("layout", value); }
  Settings& exists(const std::string& value) { return add("exists", value); }
  Settings& compression(const std::string& value) { return add("compression", value); }
  Settings& driver(const std::string& value) { return add("driver", value); }
  Settings& background(const std::string& value) { return add("background", value); }
  Settings& stage_bytes(std::int64_t value) { return set("stage_bytes", value); }
  Settings& report(const std::string& value) { return add("report", value); }

  /// "key=value, key=value". Local.
  const std::string& text() const noexcept { return text_; }

 private:
  Settings& add(const std::string& key, const std::string& value) {
    if (value.find('"') != std::string::npos || value.find('\0') != std::string::npos)
      detail::refuse("setting " + key + ": a value cannot have double quotes or zero bytes inside");
    const bool plain = value.find_first_of(",\n #") == std::string::npos;
    if (!text_.empty()) text_ += ", ";
    text_ += key + '=' + (plain ? value : '"' + value + '"');
    return *this;
  }
  std::string text_;
};

// ---- Parts of variables ---------------------------------------------------------------------

/// Which part of a variable: the record, and a section of each record.
/// start, count: one number for each dimension but the record dimension; empty is 0 and up to the end.
/// records: put and get: so many records, from record on; the array has one more dimension in front, of that
/// length. 0: one record, without that dimension.
struct Section {
  Section(std::int64_t record_index = SHOAL_NO_RECORD, std::vector<std::int64_t> first = {},
          std::vector<std::int64_t> cells = {}, std::int64_t number_of_records = 0)
      : record(record_index), start(std::move(first)), count(std::move(cells)), records(number_of_records) {}
  std::int64_t record;
  std::vector<std::int64_t> start, count;
  std::int64_t records;

  /// What shoal.h takes; lives as long as this object. start and count are of one length, or empty.
  shoal_section c_section() const noexcept {
    return {sizeof(shoal_section),
            record,
            static_cast<int>(start.empty() ? count.size() : start.size()),
            start.empty() ? nullptr : start.data(),
            count.empty() ? nullptr : count.data(),
            records};
  }
};

/// Dimensions of a variable, slowest first: names with blanks between (in double quotes where a name has
/// blanks or commas itself; see shoal_def_var), a list of names, {"time", "sea level"}, or, for def_var alone, a
/// list of numbers (Dataset::find_dim).
class Dimensions {
 public:
  Dimensions() : value_(std::string()) {}
  Dimensions(std::string text) : value_(std::move(text)) {}
  Dimensions(const char* text) : value_(std::string(text)) {}
  Dimensions(std::vector<std::string> names) : value_(std::move(names)) {}
  Dimensions(std::initializer_list<std::string> names) : value_(std::vector<std::string>(names)) {}
  Dimensions(std::vector<int> numbers) : value_(std::move(numbers)) {}
  Dimensions(std::initializer_list<int> numbers) : value_(std::vector<int>(numbers)) {}

 private:
  friend class Dataset;
  friend class Streams;
  std::string text() const {
    if (std::holds_alternative<std::vector<int>>(value_))
      throw Error(Code::invalid_argument, "numbers of dimensions are for def_var alone; give their names");
    const auto* const names = std::get_if<std::vector<std::string>>(&value_);
    return names != nullptr ? detail::text_of_names(*names) : std::get<std::string>(value_);
  }
  std::variant<std::string, std::vector<std::string>, std::vector<int>> value_;
};

// ---- What is in a file ----------------------------------------------------------------------

struct FileInfo {
  std::string path, format, driver;
  bool writable = false;
  int dimensions = 0, variables = 0, attributes = 0;
};
struct DimInfo {
  std::string name;
  std::int64_t length = 0;  ///< records so far, if unlimited
  bool unlimited = false;
};
struct VarInfo {
  std::string name;
  Type type{};
  std::vector<int> dims;  ///< indices of dimensions
  bool has_record = false, logical = false;
  int attributes = 0;
  std::vector<std::int64_t> chunks;  ///< empty if not chunked
  std::string storage;
  std::string filters;  ///< "none", "shuffle+deflate:1", ...
  bool packed = false;  ///< arrays of float and double hold its values (packing.h)
};
struct AttInfo {
  std::string name;
  Type type{};
  std::int64_t count = 0;
};

// ---- Dataset --------------------------------------------------------------------------------

/// A file that all ranks of a communicator have open.
class Dataset : public Groups<Dataset> {
 public:
  /// Make a file, or replace one. settings: Settings{}.format("netcdf4"), or "key=value, key=value".
  /// Collective.
  static Dataset create(MPI_Comm comm, const std::string& path, const Settings& settings = {}) {
    Dataset result;
    detail::check(shoal_create(comm, detail::text(path), detail::text(settings.text()), &result.handle_));
    result.path_ = path;
    return result;
  }
  /// Open a file, to read it, to change and append to it (Mode::write), or to make it where there is none and
  /// append (Mode::append). Collective; see shoal_open.
  static Dataset open(MPI_Comm comm, const std::string& path, Mode mode = Mode::read,
                      const Settings& settings = {}) {
    Dataset result;
    detail::check(shoal_open(comm, detail::text(path), static_cast<int>(mode), detail::text(settings.text()),
                             &result.handle_));
    result.path_ = path;
    return result;
  }

  Dataset(Dataset&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), path_(std::exchange(other.path_, {})) {}
  Dataset& operator=(Dataset&& other) noexcept {
    if (this != &other) {
      abandon();
      handle_ = std::exchange(other.handle_, nullptr);
      path_ = std::exchange(other.path_, {});
    }
    return *this;
  }
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  ~Dataset() { abandon(); }

  /// Store what was written, agree on errors, commit, close. durable: wait for the device. Collective.
  void close(bool durable = false) {
    opened();
    detail::check(shoal_close(&handle_, durable ? 1 : 0));
  }
  /// Store what was written, agree on errors, commit. durable: wait for the device. Collective.
  void sync(bool durable = false) { detail::check(shoal_sync(opened(), durable ? 1 : 0)); }
  /// Other names for what is there, and attributes that go; the file may have data. Local, as definitions;
  /// see shoal_rename_dim. variable "" is the file.
  void rename_dim(const std::string& name, const std::string& new_name) {
    detail::check(shoal_rename_dim(opened(), detail::text(name), detail::text(new_name)));
  }
  void rename_var(const std::string& name, const std::string& new_name) {
    detail::check(shoal_rename_var(opened(), detail::text(name), detail::text(new_name)));
  }
  void rename_att(const std::string& variable, const std::string& name, const std::string& new_name) {
    detail::check(shoal_rename_att(opened(), variable.empty() ? nullptr : detail::text(variable),
                                   detail::text(name), detail::text(new_name)));
  }
  void delete_att(const std::string& variable, const std::string& name) {
    detail::check(
        shoal_delete_att(opened(), variable.empty() ? nullptr : detail::text(variable), detail::text(name)));
  }
  /// Finish the define phase; implicit at the first write, put or sync after a definition. Collective.
  void end_define() { detail::check(shoal_end_define(opened())); }
  /// Drop the handle without storing what was not committed; what the destructor does. Local.
  void abandon() noexcept { shoal_abandon(&handle_); }
  /// Whether neither close nor abandon was called. Local.
  bool is_open() const noexcept { return handle_ != nullptr; }

  // Definitions. Local; every rank makes the same ones in the same order.

  /// length SHOAL_UNLIMITED: a dimension that grows. Local.
  void def_dim(const std::string& name, std::int64_t length) {
    detail::check(shoal_def_dim(opened(), detail::text(name), length));
  }
  /// A replicated variable. Local.
  void def_var(const std::string& name, Type type, const Dimensions& dims) {
    define(name, type, dims, nullptr);
  }
  /// A distributed variable: its last dimensions are those of the decomposition. Local.
  void def_var(const std::string& name, Type type, const Dimensions& dims,
               const Decomposition& decomposition) {
    define(name, type, dims, decomposition.c_handle());
  }
  /// A dimension for the water points of the dimensions `dims` alone, as the mask of the decomposition says,
  /// and the list that says which they are; see shoal_def_gathered. Local.
  void def_gathered(const std::string& name, const Dimensions& dims, const Decomposition& decomposition) {
    begin_definition();
    detail::check(shoal_def_gathered(opened(), detail::text(name), detail::text(dims.text()),
                                     decomposition.c_handle()));
  }
  /// The variable, defined without a decomposition, will be written with one; see shoal_def_cut. Local.
  void def_cut(const std::string& variable) {
    detail::check(shoal_def_cut(opened(), detail::text(variable)));
  }
  /// Ranks will write the variable alone, as soon as it is defined; see shoal_def_independent. Local.
  void def_independent(const std::string& variable) {
    detail::check(shoal_def_independent(opened(), detail::text(variable)));
  }
  /// The fill value, converted to the variable's type; one that does not fit, or would lose a fraction, is an
  /// error. Local.
  template <class T>
  void def_fill(const std::string& variable, T value) {
    static_assert(std::is_arithmetic_v<T>, "a fill value is a number, a char or a string");
    detail::check(shoal_def_fill(opened(), detail::text(variable), static_cast<int>(type_of<T>), &value));
  }
  /// Of a variable of strings. Local.
  void def_fill(const std::string& variable, const std::string& value) {
    const char* const pointer = detail::text(value);
    detail::check(shoal_def_fill(opened(), detail::text(variable), SHOAL_STRING, &pointer));
  }
  void def_fill(const std::string& variable, const char* value) { def_fill(variable, std::string(value)); }
  /// Cells that nobody writes stay undefined, and keep what was written there; see shoal_def_fill. Local.
  void def_no_fill(const std::string& variable) {
    detail::check(shoal_def_fill(opened(), detail::text(variable), 0, nullptr));
  }
  /// Chunk shape, one number a dimension; netcdf4 and zarr. Local.
  void def_chunks(const std::string& variable, const std::vector<std::int64_t>& chunks) {
    begin_definition();
    const auto ndims = var(variable).dims.size();
    if (chunks.size() != ndims)
      detail::refuse("Variable '" + variable + "' has " + std::to_string(ndims) +
                     " dimensions, the chunk shape " + std::to_string(chunks.size()) +
                     "; give one number a dimension.");
    detail::check(shoal_def_chunks(opened(), detail::text(variable), chunks.data()));
  }

  /// Compression: "none", or filters such as "shuffle+zstd:1" (see shoal_def_compression); netcdf4, zarr.
  /// Local.
  void def_compression(const std::string& variable, const std::string& filters) {
    detail::check(shoal_def_compression(opened(), detail::text(variable), detail::text(filters)));
  }

  /// Lossy: "none", "bitround:7" or "granular_bitround:3" (see shoal_def_quantize). Local.
  void def_quantize(const std::string& variable, const std::string& how) {
    detail::check(shoal_def_quantize(opened(), detail::text(variable), detail::text(how)));
  }

  /// How values are whole numbers in the file: "short(-2, 35)", "attributes", "none" (packing.h). Local.
  void def_pack(const std::string& variable, const std::string& how) {
    detail::check(shoal_def_pack(opened(), detail::text(variable), detail::text(how)));
  }

  /// Attributes; variable "" is the file. An attribute of the name is replaced. Local.
  void put_att(const std::string& variable, const std::string& name, std::string_view text) {
    put_att_raw(variable, name, Type::char_, text.size(), text.data());
  }
  void put_att(const std::string& variable, const std::string& name, const char* text) {
    put_att(variable, name, std::string_view(text));
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  void put_att(const std::string& variable, const std::string& name, T value) {
    put_att_raw(variable, name, type_of<T>, 1, &value);
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>>
  void put_att(const std::string& variable, const std::string& name, const std::vector<T>& values) {
    put_att_raw(variable, name, type_of<T>, values.size(), values.data());
  }
  /// Several strings; netcdf4 and zarr.
  void put_att(const std::string& variable, const std::string& name, const std::vector<std::string>& values) {
    std::vector<const char*> pointers;
    pointers.reserve(values.size());
    bool whole = true;
    for (const auto& value : values) {
      whole = whole && value.find('\0') == std::string::npos;
      pointers.push_back(value.c_str());
    }
    if (!whole) {
      try {
        put_att_raw(variable, std::string(1, '\0'), Type::string, 0, nullptr);  // this rank's part of it
      } catch (const Error&) {
      }
      throw Error(Code::invalid_argument,
                  "attribute '" + name + "': a string has a zero byte inside, where it would end");
    }
    put_att_raw(variable, name, Type::string, pointers.size(), pointers.data());
  }

  /// The values of an attribute, converted to T: a number, std::vector of numbers, std::string, or
  /// std::vector<std::string>. Local.
  template <class T>
  T get_att(const std::string& variable, const std::string& name) const {
    const char* owner = variable.empty() ? nullptr : detail::text(variable);
    int index = 0;
    detail::check(shoal_find_att(opened(), owner, detail::text(name), &index));
    shoal_att_info info = SHOAL_ATT_INFO_INIT;
    detail::check(shoal_inq_att(opened(), owner, index, &info));
    const auto count = static_cast<std::size_t>(info.count);
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      return get_att_strings(owner, name, static_cast<Type>(info.type), count);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (info.type == SHOAL_STRING) {
        auto strings = get_att_strings(owner, name, static_cast<Type>(info.type), count);
        if (strings.size() == 1) return std::move(strings.front());
        throw not_one(name, count);
      }
      std::string text(count, '\0');
      detail::check(shoal_get_att(opened(), owner, detail::text(name), SHOAL_CHAR, text.data()));
      return text;
    } else if constexpr (std::is_arithmetic_v<T>) {
      if (count != 1) throw not_one(name, count);
      T value{};
      detail::check(shoal_get_att(opened(), owner, detail::text(name), static_cast<int>(type_of<T>), &value));
      return value;
    } else {
      T values(count);
      detail::check(shoal_get_att(opened(), owner, detail::text(name),
                                  static_cast<int>(type_of<typename T::value_type>), values.data()));
      return values;
    }
  }

  /// What cells hold that were never written: nothing where the variable has no fill. T: a number, char, or
  /// std::string for strings. Local; see shoal_inq_fill.
  template <class T>
  std::optional<T> inq_fill(const std::string& variable) const {
    int fill = 0;
    T value{};
    if constexpr (std::is_same_v<T, std::string>) {
      char* text = nullptr;
      detail::check(shoal_inq_fill(opened(), detail::text(variable), &fill, SHOAL_STRING, &text));
      value = text;
      shoal_free_strings(1, &text);
    } else {
      detail::check(
          shoal_inq_fill(opened(), detail::text(variable), &fill, static_cast<int>(type_of<T>), &value));
    }
    if (fill == 0) return std::nullopt;
    return value;
  }

  /// A time step begins: the index of its record, the one after the last, which SHOAL_NEXT is for all
  /// variables until the next step begins. Local, the same on all ranks; see shoal_begin_step.
  std::int64_t begin_step() {
    std::int64_t record = 0;
    detail::check(shoal_begin_step(opened(), &record));
    return record;
  }

  // Data. A variable without a record dimension takes the default Section; a record is Section(r),
  // or simply r.

  /// Write this rank's cells; returns as soon as the array may be used again. Collective in order,
  /// without waiting; errors come out at sync or close.
  void write(const VariableArgument& variable, const ConstArray& array, const Section& section = {}) {
    transfer(shoal_write, shoal_write_variable, SHOAL_CALL_WRITE, variable, nullptr, array, section);
  }
  void write(const VariableArgument& variable, const Decomposition& decomposition, const ConstArray& array,
             const Section& section = {}) {
    transfer(shoal_write, shoal_write_variable, SHOAL_CALL_WRITE, variable, decomposition.c_handle(), array,
             section);
  }
  /// An attribute as another dataset has it; "" for attributes of the file. Local; see shoal_copy_att.
  void copy_att(const std::string& variable, const std::string& name, const Dataset& from,
                const std::string& from_variable) {
    detail::check(shoal_copy_att(opened(), variable.empty() ? nullptr : detail::text(variable),
                                 detail::text(name), from.handle_,
                                 from_variable.empty() ? nullptr : detail::text(from_variable)));
  }
  /// write, with the cells at the same place of a variable of a set of files (from.copies()), part by
  /// part, with no array of them all; errors come out at sync or close of this one. Collective as write.
  void copy(const std::string& variable, const Decomposition& decomposition, Dataset& from,
            const std::string& from_variable, const Section& section = {}) {
    const shoal_section part = c_section(SHOAL_CALL_WRITE, variable, decomposition.c_handle(), section);
    detail::check(shoal_copy(opened(), detail::text(variable), decomposition.c_handle(), from.handle_,
                             detail::text(from_variable), &part));
  }
  void copy(shoal_variable variable, const Decomposition& decomposition, Dataset& from,
            shoal_variable from_variable, const Section& section = {}) {
    const shoal_section part = c_section(SHOAL_CALL_WRITE, variable, decomposition.c_handle(), section);
    detail::check(shoal_copy_variable(opened(), variable, decomposition.c_handle(), from.handle_,
                                      from_variable, &part));
  }
  /// Can others copy from this one? Local.
  bool copies() const {
    int possible = 0;
    detail::check(shoal_copies(opened(), &possible));
    return possible != 0;
  }
  /// Read this rank's cells, and the halo cells that lie inside of the global shape. Collective.
  void read(const VariableArgument& variable, const Array& array, const Section& section = {}) {
    transfer(shoal_read, shoal_read_variable, SHOAL_CALL_READ, variable, nullptr, array, section);
  }
  void read(const VariableArgument& variable, const Decomposition& decomposition, const Array& array,
            const Section& section = {}) {
    transfer(shoal_read, shoal_read_variable, SHOAL_CALL_READ, variable, decomposition.c_handle(), array,
             section);
  }
  /// Put a replicated variable: rank 0's values go to the file. Collective.
  void put(const VariableArgument& variable, const ConstArray& array, const Section& section = {}) {
    transfer(shoal_put, shoal_put_variable, SHOAL_CALL_PUT, variable, array, section);
  }
  /// Get the same values on every rank. Strings: give the pointers back with shoal_free_strings. Collective.
  void get(const VariableArgument& variable, const Array& array, const Section& section = {}) {
    transfer(shoal_get, shoal_get_variable, SHOAL_CALL_GET, variable, array, section);
  }

  /// Write boxes of variables; each rank brings its own, any number of them. Cells that several ranks write get
  /// the values of the first one, and cells in no box stay; see shoal_write_boxes. Collective.
  void write_boxes(const std::vector<ConstBox>& boxes) {
    move_together(SHOAL_CALL_WRITE_BOXES, shoal_write_boxes, boxes);
  }
  /// Read boxes in the same way; any ranks may read the same cells. Collective.
  void read_boxes(const std::vector<Box>& boxes) {
    move_together(SHOAL_CALL_READ_BOXES, shoal_read_boxes, boxes);
  }

  /// Write boxes of variables on this rank alone, without the others, who see them after the next sync;
  /// shoal_write_independent says what can be written so, and where cells wait. Local.
  void write_independent(const std::vector<ConstBox>& boxes) { move_boxes(shoal_write_independent, boxes); }
  /// The same with one box.
  void write_independent(const ConstBox& box) { move_boxes(shoal_write_independent, std::vector{box}); }
  /// Read boxes of variables on this rank alone; see shoal_read_independent. Local.
  void read_independent(const std::vector<Box>& boxes) { move_boxes(shoal_read_independent, boxes); }
  void read_independent(const Box& box) { move_boxes(shoal_read_independent, std::vector{box}); }

  // What is in the file. Local.

  FileInfo file() const {
    shoal_file_info c = SHOAL_FILE_INFO_INIT;
    detail::check(shoal_inq_file(opened(), &c));
    return {c.path, c.format, c.driver, c.writable != 0, c.dimensions, c.variables, c.attributes};
  }
  DimInfo dim(int index) const {
    shoal_dim_info c = SHOAL_DIM_INFO_INIT;
    detail::check(shoal_inq_dim(opened(), index, &c));
    return {c.name, c.length, c.unlimited != 0};
  }
  DimInfo dim(const std::string& name) const { return dim(find_dim(name)); }
  VarInfo var(shoal_variable index) const {
    shoal_var_info c = SHOAL_VAR_INFO_INIT;
    detail::check(shoal_inq_var(opened(), index, &c));
    VarInfo info{c.name,
                 static_cast<Type>(c.type),
                 std::vector<int>(c.dims, c.dims + c.ndims),
                 c.has_record != 0,
                 c.logical != 0,
                 c.attributes,
                 {},
                 c.storage != nullptr ? c.storage : "",
                 c.filters != nullptr ? c.filters : "",
                 c.packed != 0};
    if (c.chunks != nullptr) info.chunks.assign(c.chunks, c.chunks + c.ndims);
    return info;
  }
  VarInfo var(const std::string& name) const { return var(find_var(name)); }
  /// variable "" is the file.
  AttInfo att(const std::string& variable, int index) const {
    shoal_att_info c = SHOAL_ATT_INFO_INIT;
    detail::check(shoal_inq_att(opened(), variable.empty() ? nullptr : detail::text(variable), index, &c));
    return {c.name, static_cast<Type>(c.type), c.count};
  }
  AttInfo att(const std::string& variable, const std::string& name) const {
    return att(variable, find_att(variable, name));
  }
  /// Records so far, of the file's record dimension or a variable's; index of the record after the last.
  std::int64_t num_records() const {
    std::int64_t records = 0;
    detail::check(shoal_num_records(opened(), nullptr, &records));
    return records;
  }
  std::int64_t num_records(const std::string& variable) const {
    std::int64_t records = 0;
    detail::check(shoal_num_records(opened(), detail::text(variable), &records));
    return records;
  }
  int find_dim(const std::string& name) const {
    int index = 0;
    detail::check(shoal_find_dim(opened(), detail::text(name), &index));
    return index;
  }
  shoal_variable find_var(const std::string& name) const {
    shoal_variable index = 0;
    detail::check(shoal_find_var(opened(), detail::text(name), &index));
    return index;
  }
  int find_att(const std::string& variable, const std::string& name) const {
    int index = 0;
    detail::check(shoal_find_att(opened(), variable.empty() ? nullptr : detail::text(variable),
                                 detail::text(name), &index));
    return index;
  }

  /// Every setting, its value and where it came from, one a line. Local.
  std::string settings() const { return text_or_throw(shoal_settings(opened())); }
  /// The report so far of this rank as JSON. Local.
  std::string report() const { return text_or_throw(shoal_report(opened())); }

  /// The handle of shoal.h, still owned by this object. Local.
  shoal_dataset* c_handle() const noexcept { return handle_; }

 private:
  // Ranks where a definition fails before the library sees it finish definitions with those where it does
  // not.
  void begin_definition() { shoal_def_dim(handle_, nullptr, 0); }

  Dataset() = default;

  // The call of shoal.h by a name, or the one by a number.
  template <class ByName, class ByNumber, class A>
  void transfer(ByName by_name, ByNumber by_number, int call, const VariableArgument& variable,
                const shoal_decomposition* decomposition, const A& array, const Section& section) {
    const shoal_section part = c_section(call, variable, decomposition, section);
    const shoal_array c = array.c_array();
    const auto* const name = std::get_if<std::string>(&variable);
    detail::check(name != nullptr
                      ? by_name(opened(), detail::text(*name), decomposition, &c, &part)
                      : by_number(opened(), std::get<shoal_variable>(variable), decomposition, &c, &part));
  }
  template <class ByName, class ByNumber, class A>
  void transfer(ByName by_name, ByNumber by_number, int call, const VariableArgument& variable,
                const A& array, const Section& section) {
    const shoal_section part = c_section(call, variable, nullptr, section);
    const shoal_array c = array.c_array();
    const auto* const name = std::get_if<std::string>(&variable);
    detail::check(name != nullptr ? by_name(opened(), detail::text(*name), &c, &part)
                                  : by_number(opened(), std::get<shoal_variable>(variable), &c, &part));
  }
  template <class BoxKind>
  std::vector<shoal_box> c_boxes(const std::vector<BoxKind>& boxes) const {
    std::vector<shoal_box> all;
    all.reserve(boxes.size());
    for (const auto& box : boxes) {
      const auto* const name = std::get_if<std::string>(&box.variable);
      all.push_back(box.c_box(name != nullptr ? find_var(*name) : std::get<shoal_variable>(box.variable)));
    }
    return all;
  }
  template <class Move, class BoxKind>
  void move_boxes(Move move, const std::vector<BoxKind>& boxes) {
    const std::vector<shoal_box> all = c_boxes(boxes);
    detail::check(move(opened(), static_cast<int>(all.size()), all.data()));
  }
  // Others are in the same call: what is wrong with a name they learn in it.
  template <class Move, class BoxKind>
  void move_together(int call, Move move, const std::vector<BoxKind>& boxes) {
    std::vector<shoal_box> all;
    try {
      all = c_boxes(boxes);
    } catch (const Error& e) {
      return detail::check(
          shoal_refuse_data(opened(), call, -1, nullptr, nullptr, static_cast<int>(e.code()), e.what()));
    }
    detail::check(move(opened(), static_cast<int>(all.size()), all.data()));
  }
  // C has one length for both lists. Two are refused on all ranks, which are in the same call.
  shoal_section c_section(int call, const VariableArgument& argument,
                          const shoal_decomposition* decomposition, const Section& section) {
    const std::size_t starts = section.start.size(), counts = section.count.size();
    if (starts != 0 && counts != 0 && starts != counts) {
      const auto* const name = std::get_if<std::string>(&argument);
      shoal_variable number = -1;
      if (name == nullptr)
        number = std::get<shoal_variable>(argument);
      else
        shoal_find_var(opened(), detail::text(*name), &number);  // -1: nobody knows it
      const std::string variable = name != nullptr ? *name : var(number).name;
      const std::string message = "start has " + std::to_string(starts) + " numbers, count has " +
                                  std::to_string(counts) +
                                  "; each has one for each dimension but the record dimension";
      detail::check(shoal_refuse_data(opened(), call, number, decomposition, nullptr, SHOAL_INVALID_ARGUMENT,
                                      detail::text(message)));
      // Of write and put, the others get it at sync or close.
      throw Error(Code::invalid_argument, "variable '" + variable + "': " + message, -1, {}, variable);
    }
    return section.c_section();
  }

  void define(const std::string& name, Type type, const Dimensions& dims,
              const shoal_decomposition* decomposition) {
    const int number = static_cast<int>(type);
    if (const auto* const names = std::get_if<std::vector<std::string>>(&dims.value_)) {
      std::vector<const char*> pointers;
      for (const std::string& dim : *names)
        pointers.push_back(detail::text(dim));
      detail::check(shoal_def_var_names(opened(), detail::text(name), number,
                                        static_cast<int>(pointers.size()), pointers.data(), decomposition));
    } else if (const auto* const numbers = std::get_if<std::vector<int>>(&dims.value_)) {
      detail::check(shoal_def_var_dims(opened(), detail::text(name), number,
                                       static_cast<int>(numbers->size()), numbers->data(), decomposition));
    } else {
      detail::check(
          shoal_def_var(opened(), detail::text(name), number, detail::text(dims.text()), decomposition));
    }
  }
  void put_att_raw(const std::string& variable, const std::string& name, Type type, std::size_t count,
                   const void* values) {
    detail::check(shoal_put_att(opened(), variable.empty() ? nullptr : detail::text(variable),
                                detail::text(name), static_cast<int>(type), static_cast<std::int64_t>(count),
                                values));
  }
  std::vector<std::string> get_att_strings(const char* owner, const std::string& name, Type type,
                                           std::size_t count) const {
    if (type == Type::char_) {
      std::string text(count, '\0');
      detail::check(shoal_get_att(opened(), owner, detail::text(name), SHOAL_CHAR, text.data()));
      return {std::move(text)};
    }
    std::vector<char*> pointers(count, nullptr);
    detail::check(shoal_get_att(opened(), owner, detail::text(name), SHOAL_STRING, pointers.data()));
    std::vector<std::string> strings;
    strings.reserve(count);
    for (const char* pointer : pointers)
      strings.emplace_back(pointer != nullptr ? pointer : "");
    shoal_free_strings(static_cast<std::int64_t>(count), pointers.data());
    return strings;
  }
  static Error not_one(const std::string& name, std::size_t count) {
    return Error(Code::invalid_argument, "Attribute '" + name + "' has " + std::to_string(count) +
                                             " values, not one; read it as a std::vector.");
  }
  static std::string text_or_throw(const char* text) {
    if (text == nullptr) throw detail::last_error(Code::state);
    return text;
  }

  friend class Groups<Dataset>;
  // The handle, which others can use.
  shoal_dataset* opened() const {
    if (handle_ == nullptr)
      throw Error(Code::state,
                  path_.empty() ? "the dataset is not open: it was moved to another object"
                                : "the dataset '" + path_ + "' is closed",
                  -1, path_);
    return handle_;
  }

  shoal_dataset* handle_ = nullptr;
  std::string path_;
};

}  // namespace api
}  // namespace shoal
#endif
