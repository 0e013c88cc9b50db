// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/type.hpp"
#include "codec/packing.hpp"
#include "format/format_traits.hpp"
#include "streams/time/window.hpp"

namespace shoal::streams {

/// What becomes of the values of a window.
enum class Operation {
  instant,  ///< the value at the end of the window
  first,    ///< of the window
  last,     ///< the last that counts (is not missing)
  mean,
  sum,  ///< of the values, not weighted
  minimum,
  maximum,
  range,  ///< maximum - minimum
  variance,
  standard_deviation,
  rms,      ///< root of the mean of the squares
  count,    ///< how many values counted
  diurnal,  ///< means of the parts of a day
};
/// "standard_deviation"; diurnal without its bins.
const char* name_of(Operation operation);

/// An operation over time, as the configuration names it.
struct TimeOperation {
  Operation operation = Operation::instant;
  int bins = 0;  ///< of diurnal: 2 to 1440 parts of a day
  friend bool operator==(const TimeOperation&, const TimeOperation&) = default;
};
/// "mean", "diurnal(24)".
std::string text_of(const TimeOperation& operation);
/// Error(setting): an unknown one, with the nearest.
TimeOperation parse_operation(const std::string& text);

/// What becomes of the cells of dimensions that a file does not have.
enum class SpaceOperation { mean, sum, minimum, maximum };
enum class CellWeights {
  automatic,  ///< area of the grid's cells, thickness of those of axes with bounds, where reduced over
  none,
};

/// `reduce`: dimensions that go, over which cells are joined.
struct Reduction {
  std::vector<std::string> dims;
  SpaceOperation operation = SpaceOperation::mean;
  CellWeights weights = CellWeights::automatic;
  int line = 0, dims_line = 0;
};

/// `region`: cells whose coordinate lies in [low, high]; with low > high of a longitude, around 360.
struct CoordinateRange {
  std::string coordinate;
  double low = 0, high = 0;
  int line = 0;
  std::string of = "region";
  std::string key() const { return of + "." + coordinate; }
};
using Region = std::vector<CoordinateRange>;

/// `regions`: one of several in a file.
struct NamedRegion {
  std::string name;  ///< what the names of variables and dimensions in the file end with
  Region region;
  int line = 0;
};

/// `at`: places whose nearest cells a file has; `section`: a line along which it has them.
struct SiteChoice {
  struct Place {
    std::string name;
    std::vector<double> at;  ///< of each coordinate
  };
  bool is_section = false;
  std::vector<std::string> coordinates;  ///< of the model
  std::vector<Place> places;             ///< of a section, where the line begins, turns and ends
  std::string path;                      ///< of a table with the places
  std::optional<double> spacing;         ///< along the line
  int line = 0;
  std::string key() const { return is_section ? "section" : "at"; }
};

/// `indices`: cells first, first + stride, ... before end of a dimension, from 0.
struct IndexRange {
  std::string dim;
  std::int64_t first = 0;
  std::int64_t end = -1;  ///< -1: that of the dimension
  std::int64_t stride = 1;
  int line = 0;
  std::string key() const { return "indices." + dim; }
};

/// `levels`: chosen cells of a dimension that is not cut, ascending, from 0.
struct Levels {
  std::string dim;  ///< "": the one of a field that is no dimension of its grid
  std::vector<std::int64_t> indices;
  int line = 0;
  std::string key() const { return dim.empty() ? "levels" : "levels." + dim; }
};

/// `interpolate`: to other levels.
struct InterpolationChoice {
  std::vector<double> to;  ///< ascending or descending
  std::string dim;         ///< "": the one of a field that is no dimension of its grid
  std::string levels;      ///< the field whose values they are; "": the axis's own
  std::string name;        ///< of the dimension in the file; "": that of the axis, or of the field
  bool logarithmic = false;
  bool after = false;  ///< operations over time, not before them
  int line = 0;
};

/// `pyramid`: coarser copies of the fields, each made of the one before it, in groups of the file.
struct PyramidChoice {
  int levels = 1;                          ///< with the one of the fields themselves
  std::vector<std::int64_t> factor = {2};  ///< cells that become one: of the last dimensions of a field, or
  bool is_for_all = true;                  ///< of each dimension of a grid
  int line = 0, factor_line = 0;
};

/// `attributes`: a line of the table.
struct AttributeChoice {
  std::string name;
  std::variant<std::string, std::vector<double>, std::vector<std::int64_t>> value;
  int line = 0;
};

/// An entry of `fields`.
struct FieldChoice {
  enum class By { name, pattern, group, expression };
  By by = By::name;
  std::string text;                        ///< the name, pattern, group or expression
  std::string name;                        ///< in the file; "": that of the field. Needed of an expression
  std::optional<TimeOperation> operation;  ///< nothing: the file's, as all that follows
  std::optional<Type> type;
  std::optional<double> scale_factor, add_offset;
  std::optional<PackRequest> pack;      ///< in place of type, scale_factor and add_offset
  std::optional<double> missing_value;  ///< of the file, in cells without a value; may be NaN
  std::optional<Duration> sample_every;
  std::vector<AttributeChoice> attributes;  ///< also long_name, standard_name, units
  int line = 0;
};

/// What is done where a field was not sent in a step of a window.
enum class MissingSteps {
  error,  ///< the record is not written, and all ranks get an error
  warn,   ///< a warning, and the record has the fill value in all cells of the field
};
/// Where a record lies in time.
enum class TimePosition { automatic /* instant: end; others: middle */, start, middle, end };
/// When records count, whatever becomes of the job: a file that is stored in the background waits for it.
enum class Commit {
  record,  ///< with each
  close,   ///< with the file, and at checkpoints
};
/// What becomes of a window that is not finished when the streams are closed.
enum class Unfinished { drop, write };

/// A table [[file]], with what it has from [defaults].
struct FileChoice {
  std::string name;  ///< with dates of its first window and of its end; see file_name()
  Duration every;
  std::optional<Duration> offset;        ///< of the windows: "6 h": from 06:00 to 06:00
  std::optional<Duration> new_file;      ///< nothing: one file for the run
  std::optional<Duration> sample_every;  ///< operations take one value so often; nothing: each step
  bool climatology = false;              ///< windows of the same part of the year are one, over all years
  std::optional<TimeOperation> operation;
  std::vector<FieldChoice> fields;
  Region region;
  std::vector<NamedRegion> regions;
  std::optional<SiteChoice> sites;
  std::vector<IndexRange> indices;
  std::vector<Levels> levels;
  std::optional<InterpolationChoice> interpolate;
  std::optional<Reduction> reduce;
  std::optional<PyramidChoice> pyramid;
  std::string from, until;  ///< dates between which the file is written; "": the run's
  MissingSteps missing = MissingSteps::error;
  Unfinished unfinished = Unfinished::drop;
  Commit commit = Commit::record;
  TimePosition time = TimePosition::automatic;
  TimeUnit time_units = TimeUnit::seconds;         ///< since time_origin
  std::string time_origin;                         ///< a date; "": the start of the run
  bool fms_attributes = false;                     ///< also time_avg_info, average_T1, average_T2, average_DT
  std::optional<Type> type;                        ///< of its fields
  std::optional<double> scale_factor, add_offset;  ///< values are packed: packed * scale_factor + add_offset
  std::optional<PackRequest> pack;                 ///< in place of the three
  bool strict = false;                             ///< a step that goes past the end of a window is an error
  std::vector<AttributeChoice> attributes;
  std::vector<std::pair<std::string, std::string>> settings;  ///< of the dataset (docs/settings.md), checked
  int line = 0;
  /// Lines of keys: line_of("every"); that of the table where the key is not in it.
  std::vector<std::pair<std::string, int>> lines;
  int line_of(const std::string& key) const;
  /// Of its settings; otherwise the usual one. Error(setting). Local.
  Format format() const;
  /// As the argument of Dataset::create: "format=netcdf4, compression=...".
  std::string settings_text() const;
  /// Names of variables may be paths in groups, if the file says a format that has them, and no group has a
  /// name that is one of others. Error(invalid_argument, exists). Local.
  void check_variable(const std::string& variable, const std::set<std::string>& others) const;
};
/// Where the file of a period (nothing: that of the run) ends, for its name; nothing: where the run does.
std::optional<Instant> end_of_file(const FileChoice& choice, const Calendar& calendar,
                                   const std::optional<Window>& period);

/// Something wrong in a configuration.
struct Problem {
  int line = 0;     ///< from 1; 0: of no line
  std::string key;  ///< "every", "fields"; "": of none
  std::string message;
};

/// A configuration, as its text says it: plain data, which knows nothing of the model's fields.
struct Configuration {
  std::string path;  ///< "text" of one that came as text
  std::string text;
  std::vector<FileChoice> files;
  std::string report;  ///< where rank 0 writes the report of the streams at close; "": nowhere
};

/// Names of fields, dimensions and attributes, which are looked for in the model's descriptions, in the form
/// in which these have them (base/names.hpp).
void compose_names(Configuration& configuration);

/// Reads a configuration. problems: what is wrong, in order of lines; files with problems are left out.
/// Local.
Configuration read_configuration(const std::string& text, const std::string& path,
                                 std::vector<Problem>& problems);
/// The same; Error(setting) with the first problem, "output.toml: line 3: every: ..." and how many more.
Configuration read_configuration(const std::string& text, const std::string& path);
/// The text of a problem: "line 3: every: ...".
std::string text_of(const Problem& problem);
/// The problem as an error, with the configuration as its file.
Error error_of(const Problem& problem, Code code, const std::string& path);

}  // namespace shoal::streams
