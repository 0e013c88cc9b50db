// SPDX-License-Identifier: BSD-3-Clause
//
// Streams for C++17 and later: a model sends fields, a file in TOML says what becomes of them
// (docs/guide/streams_programs.md). A thin layer over streams.h, which says more of each call; the
// conventions are those of shoal.hpp.
#ifndef SHOAL_STREAMS_HPP
#define SHOAL_STREAMS_HPP

#include <shoal/streams.h>
#include <shoal/shoal.hpp>

namespace shoal {
inline namespace api {

/// For what a value that is sent holds. at_instant: for the end of the step, a state; for_step: for the whole
/// step that ended, a flux or rain.
enum class Holds : int { at_instant = SHOAL_AT_INSTANT, for_step = SHOAL_FOR_STEP };

/// What put_att of Streams takes: text, a number, or a vector of numbers. Never owns: made in the call.
class AttributeValue {
 public:
  AttributeValue(std::string_view text) : type_(Type::char_), count_(text.size()), data_(text.data()) {}
  AttributeValue(const std::string& text) : AttributeValue(std::string_view(text)) {}
  AttributeValue(const char* text) : AttributeValue(std::string_view(text)) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  AttributeValue(const T& value) : type_(type_of<T>), count_(1), data_(&value) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>>
  AttributeValue(const std::vector<T>& values)
      : type_(type_of<T>), count_(values.size()), data_(values.data()) {}

 private:
  friend class Streams;
  Type type_;
  std::size_t count_;
  const void* data_;
};

/// The fields of a run, and the files that a configuration makes of them.
///
/// Descriptions (axis, grid, coordinate, area, field, put_att) are Local, the same on all ranks, and come
/// before the first advance. What is wrong with the arguments of send, and descriptions that differ between
/// ranks, come out of the next call in which ranks meet (advance where a window ends, checkpoint, close), on
/// all ranks alike; on a single rank at once.
class Streams {
 public:
  /// Begin a run.
  /// configuration: path of a TOML file, or its text if there is a newline in it; SHOAL_STREAMS of the
  /// environment, a path, replaces it. calendar: standard, proleptic_gregorian, julian, noleap, all_leap or
  /// 360_day. start: "YYYY-MM-DD hh:mm:ss", where seconds count from. now: time of this job, which goes on
  /// with the run, a date or how long after the start ("36 h"); empty: start. Throws Code::not_found,
  /// Code::setting with file, line and key, ... Collective.
  static Streams open(MPI_Comm comm, const std::string& configuration, const std::string& calendar,
                      const std::string& start, const std::string& now = {}) {
    Streams result;
    detail::check(shoal_streams_open(comm, detail::text(configuration), detail::text(calendar),
                                     detail::text(start), now.empty() ? nullptr : detail::text(now),
                                     &result.handle_));
    return result;
  }

  Streams(Streams&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Streams& operator=(Streams&& other) noexcept {
    if (this != &other) {
      abandon();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() { abandon(); }

  // Descriptions. Local; every rank makes the same ones in the same order.

  /// A dimension, and the variable of its coordinate: values has one value a cell. Local.
  void axis(const std::string& name, const ConstArray& values) { describe_axis(name, values, nullptr); }
  /// With bounds of shape [cells, 2], which also give the thickness of cells for weighted means. Local.
  void axis(const std::string& name, const ConstArray& values, const ConstArray& bounds) {
    const shoal_array ends = bounds.c_array();
    describe_axis(name, values, &ends);
  }
  /// A dimension alone, of so many cells. Local.
  void axis(const std::string& name, std::int64_t length) {
    describe_axis(name, ConstArray(static_cast<const double*>(nullptr), {length}), nullptr);
  }
  /// A horizontal grid, or one of all dimensions. dims: the names of the decomposition's dimensions, slowest
  /// first. The decomposition may go afterwards. Local.
  void grid(const std::string& name, const Dimensions& dims, const Decomposition& decomposition) {
    detail::check(shoal_streams_grid(opened(), detail::text(name), detail::text(dims.text()),
                                     decomposition.c_handle()));
  }
  /// A coordinate that is cut as the grid is, or another field that does not change; values as for
  /// Dataset::write. Fields of the grid name it in `coordinates`. Local.
  void coordinate(const std::string& grid, const std::string& name, const ConstArray& values) {
    const shoal_array array = values.c_array();
    detail::check(shoal_streams_coordinate(opened(), detail::text(grid), detail::text(name), &array));
  }
  /// The area of the grid's cells, all >= 0, for weighted means. Fields of the grid name it in
  /// `cell_measures`. Local.
  void area(const std::string& grid, const std::string& name, const ConstArray& values) {
    const shoal_array array = values.c_array();
    detail::check(shoal_streams_area(opened(), detail::text(grid), detail::text(name), &array));
  }
  /// A field that may be sent; returns its number (0, 1, ...), for wants and send. type: of numbers. dims:
  /// slowest first, the last are those of the grid; "" is a scalar. grid empty: the same on every rank, of
  /// which rank 0's values count. group: a name by which the configuration may choose many fields. Local.
  int field(const std::string& name, Type type, const Dimensions& dims, const std::string& grid = {},
            const std::string& group = {}, Holds holds = Holds::at_instant) {
    int number = -1;
    detail::check(shoal_streams_field(opened(), detail::text(name), static_cast<int>(type),
                                      detail::text(dims.text()), grid.empty() ? nullptr : detail::text(grid),
                                      group.empty() ? nullptr : detail::text(group), static_cast<int>(holds),
                                      &number));
    return number;
  }
  /// An attribute of an axis, coordinate, area or field; of "": of all files. The value is text, a number, or
  /// a vector of numbers. _FillValue or missing_value of a field: cells with it count in no operation. Local.
  void put_att(const std::string& of, const std::string& name, const AttributeValue& value) {
    detail::check(shoal_streams_put_att(opened(), of.empty() ? nullptr : detail::text(of), detail::text(name),
                                        static_cast<int>(value.type_),
                                        static_cast<std::int64_t>(value.count_), value.data_));
  }

  // The run.

  /// Does some file need the field in this step? If not, sending it does nothing. < 100 ns. Local.
  bool wants(int field) const {
    int wanted = 0;
    detail::check(shoal_streams_wants(opened(), field, &wanted));
    return wanted != 0;
  }
  /// A field at the end of the step (Holds::for_step: during it). Extents are those of the field's
  /// dimensions, with the tile's own, with or without halo, in those of the grid; of a map, the length of the
  /// list stands for these. Not looked at on a rank without cells. The array may be used again afterwards.
  /// Local.
  void send(int field, const ConstArray& array) {
    const shoal_array c = array.c_array();
    detail::check(shoal_streams_send(opened(), field, &c));
  }
  /// The clock: a step begins that ends at this time, seconds since the start, and the step before is
  /// complete. The first one may be to `now`: the state at the start. Waits for other ranks where windows
  /// end. Collective.
  void advance(double seconds) { detail::check(shoal_streams_advance(opened(), seconds)); }
  /// The same by date, "YYYY-MM-DD hh:mm:ss". Collective.
  void advance_to(const std::string& date) {
    detail::check(shoal_streams_advance_to(opened(), detail::text(date)));
  }
  /// Complete the step, and save the windows that are not finished in a NetCDF file, which is replaced if it
  /// exists. Collective.
  void checkpoint(const std::string& path) {
    detail::check(shoal_streams_checkpoint(opened(), detail::text(path)));
  }
  /// Take the windows of a checkpoint, of the same configuration and time, on any number of ranks. After the
  /// descriptions, before the first advance. Collective.
  void resume(const std::string& path) { detail::check(shoal_streams_resume(opened(), detail::text(path))); }
  /// What was described, which files, records and accumulators there are, as JSON. Local.
  std::string report() const { return shoal_streams_report(opened()); }
  /// Complete the step and close all files, also on error. Collective.
  void close() {
    opened();
    detail::check(shoal_streams_close(&handle_));
  }
  /// Drop the handle without waiting for other ranks; what the destructor does. Local.
  void abandon() noexcept { shoal_streams_abandon(&handle_); }
  /// Whether neither close nor abandon was called. Local.
  bool is_open() const noexcept { return handle_ != nullptr; }

  /// The handle of streams.h, still owned by this object. Local.
  shoal_streams* c_handle() const noexcept { return handle_; }

 private:
  Streams() = default;

  void describe_axis(const std::string& name, const ConstArray& values, const shoal_array* bounds) {
    const shoal_array array = values.c_array();
    detail::check(shoal_streams_axis(opened(), detail::text(name), &array, bounds));
  }
  // The handle, which others can use.
  shoal_streams* opened() const {
    if (handle_ == nullptr) throw Error(Code::state, "the streams are closed");
    return handle_;
  }

  shoal_streams* handle_ = nullptr;
};

}  // namespace api
}  // namespace shoal
#endif
