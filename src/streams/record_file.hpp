// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset/dataset.hpp"
#include "streams/plan.hpp"

namespace shoal::streams {

/// A line on standard error, by rank 0. Local.
void tell(const Comm& comm, const std::string& message);

/// What streams need of the layer above, and tests replace. Collective, both.
struct FileMaker {
  std::function<DatasetOptions(const std::string& settings)> options;
  std::function<void(std::unique_ptr<Dataset> dataset)> close;  ///< now, or begun in the background
  FileMaker();  ///< datasets without settings from elsewhere, closed at once
};

/// Where a record lies in time.
struct RecordTime {
  Window window;    ///< that it is of
  Window bounds;    ///< what its values hold for
  Instant instant;  ///< of a step, where all of the file's values are of instants
};

/// What FMS has beside bounds: start, end and length.
inline constexpr std::array<const char*, 3> k_averages = {"average_T1", "average_T2", "average_DT"};

/// Values of an output that are to be written.
struct Values {
  const Output* output = nullptr;
  Collector* collector = nullptr;
  Collector* levels = nullptr;  ///< of values that are to be interpolated
  int state = 0;                ///< of the accumulator
  bool filled = false;          ///< with the fill value: a step is missing
};

/// The files of one table [[file]], one after another.
///
/// States, as docs/design/streams.md has them: none (no file is open), open (records of its period are
/// written to it), continued (a checkpoint says that it has records already: they stay, those after them are
/// written again).
///
/// All ranks make the same calls, in the same order: Collective, but where said.
class RecordFile {
 public:
  /// References outlive the file.
  RecordFile(const Comm& comm, const Plan& plan, FilePlan file, const Descriptions& model,
             const RunTime& time, const FileMaker& maker);

  const FilePlan& plan() const { return file_; }
  /// Can the state at the start be a record: are all values instants, and none of what holds for a step?
  bool takes_start() const { return takes_start_; }
  /// Write values of one window: opens the file, and adds the record, where that is to be done.
  void write(const RecordTime& time, const std::vector<Values>& values);
  /// A step is complete: a file that gets no more records is closed, another one commits those that it has.
  void end_step();
  void commit();
  void close();

  // For checkpoints and the report. Local.
  bool is_open() const { return dataset_ != nullptr; }
  const std::string& path() const { return path_; }
  std::int64_t records() const { return records_; }
  /// A file that is not finished. Its name and period follow from where its first window begins.
  struct Unclosed {
    Instant first;
    std::int64_t records = 0;
  };
  /// That which is open, or goes on with the next record.
  std::optional<Unclosed> unclosed() const {
    return is_open() ? std::optional(Unclosed{first_, records_}) : continued_;
  }
  void continue_with(const Unclosed& file) { continued_ = file; }
  /// An output gets its values from another collector. Local.
  void use_collector(std::size_t output, int collector) { file_.outputs[output].collector = collector; }
  void use_levels(std::size_t output, int collector) { file_.outputs[output].levels = collector; }
  /// A checkpoint was loaded: it knows of every file that has records.
  void trust_checkpoint() { knows_records_ = true; }
  /// It could not be loaded.
  void forget_checkpoint() {
    continued_.reset();
    knows_records_ = false;
  }
  /// Was a record of this job due?
  bool had_record() const { return had_record_; }
  /// Files that have fewer records than those of the same name which they replaced: "a.nc (2 records, before
  /// 30)". Known on rank 0.
  const std::vector<std::string>& shorter() const { return shorter_; }
  /// Every file that was written, and its records.
  const std::vector<std::pair<std::string, std::int64_t>>& written() const { return written_; }

 private:
  struct Record {
    Window window;
    std::int64_t index;
  };
  Window period_of(Instant first) const;
  void open(const Window& window);
  void open_again(std::int64_t records);
  void create();
  void define();
  void define_attributes();
  void define_dims();
  void define_time(const std::string& group);
  void define_hours(int bins);
  void define_axis(const DimChoice& dim);
  void define_scalar(const DimChoice& dim);
  void define_grids();
  // Of cells one by one: define_sites.cpp.
  const char* feature_type() const;
  void define_site_dims();
  void define_sites();
  static std::string dims_of(const Output& output);
  void define_output(const Output& output);
  struct Coordinate;
  // Of levels of a pyramid: record_pyramid.cpp.
  void define_coarse_variables();
  void add_coarse_variables(std::vector<Coordinate>& out) const;
  void compare_levels() const;
  void write_coarser(const Values& values, std::int64_t record);
  /// All values that write_output has, not packed yet: [parts of a day, dimensions before the grid's] times
  /// this rank's cells.
  std::vector<double> all_values(const Values& values) const;
  template <class Visit>
  void for_each_output(Visit&& visit) const {
    for (const Output& output : file_.outputs) {
      visit(output);
      for (const Output& coarser : output.coarser)
        visit(coarser);
    }
  }
  /// A variable with values that all records share, of this rank's cells.
  struct Coordinate {
    std::string name;
    std::vector<double> values;
    Dims extents;
    std::shared_ptr<const Decomposition> decomposition;  ///< nullptr: the same on all ranks
    std::string text = {};                               ///< in place of values, of letters
  };
  static ArrayView view_of(Coordinate& coordinate);
  std::vector<Coordinate> coordinates() const;
  void add_sites(std::vector<Coordinate>& out) const;
  /// Of a file that goes on. Error(state): new records would mean something else, or lie elsewhere. A line on
  /// standard error: the file keeps encoding or attributes of a variable, and the description has others.
  void compare_with_file();
  void compare_output(const Output& output);
  void keep_encoding(const Output& output, const VariableDef& there);
  void compare_time() const;
  void compare_coordinates();
  const VariableDef& variable(const std::string& name) const;
  /// That of the open file.
  const Encoding& encoding_of(const Output& output) const;
  std::int64_t record_of(const RecordTime& time);
  void put_time(const RecordTime& time, std::int64_t record);
  OutOfRange write_output(const Values& values, std::int64_t record);
  bool is_written_whole(const Values& values) const;
  void write_whole(const Values& values, std::int64_t record);
  /// n of the values that the record gets, from part cell `first` of a bin on, not packed yet.
  void values_of(const Values& values, int bin, std::int64_t first, std::int64_t n, double* out) const;
  /// The same of any collector and operation, with a fill value.
  void cells_of(const Collector& collector, Operation operation, int state, double fill, std::int64_t first,
                std::int64_t n, double* out) const;
  /// The cells at other levels.
  std::vector<double> interpolated(const Values& values) const;
  /// The cells of the reduced field, of one state after another.
  std::vector<double> reduced(const Values& values) const;
  /// Error(range) where values of outputs that were packed did not fit.
  void check_packed(const std::vector<Values>& values, const std::vector<OutOfRange>& found) const;
  void put_att(const char* variable, const Attribute& attribute);
  void put_text(const char* variable, const char* name, const std::string& text);
  /// Variables that records have, by their numbers in the open file.
  struct Numbers {
    std::vector<int> time, bounds;  // of the file, and of each level
    std::vector<int> averages;      // average_T1, _T2, _DT
    std::vector<int> outputs;       // as in the plan
    std::vector<std::vector<int>> coarser;
  };
  Numbers find_numbers() const;
  int number_of(const Output& output) const { return nth(numbers_.outputs, &output - file_.outputs.data()); }
  void put_doubles(int variable, std::vector<double> values, const Dims& extents, std::int64_t record);
  static DataCall call_of(int variable, const std::shared_ptr<const Decomposition>& decomposition,
                          const CellArray& cells, std::int64_t record);
  void write_array(int variable, const std::shared_ptr<const Decomposition>& decomposition,
                   const CellArray& cells, std::int64_t record);
  bool has(const std::string& variable) const;
  const char* bounds_name() const { return file_.choice.climatology ? "climatology_bounds" : "time_bounds"; }
  double time_value(Instant instant) const;
  bool exists_there() const;
  std::int64_t records_there() const;

  const Comm& comm_;
  const Plan& plan_;
  FilePlan file_;
  const Descriptions& model_;
  const RunTime& time_;
  const FileMaker& maker_;
  std::optional<Windows> periods_;  // nothing: the run
  bool has_bounds_ = false, takes_start_ = true;
  std::vector<DimChoice> dims_;     // of all outputs
  std::vector<DimChoice> scalars_;  // joined dimensions that have a coordinate
  std::vector<int> bins_;           // parts of a day of outputs

  std::unique_ptr<Dataset> dataset_;
  Numbers numbers_;
  std::string path_;
  Instant first_;  // where its first window begins
  Window period_;
  std::int64_t records_ = 0;
  bool changed_ = false;                            // since the last commit
  std::vector<Record> recent_;                      // the last records
  std::map<std::string, Encoding> kept_encodings_;  // of variables of the open file that goes on otherwise
  std::optional<Unclosed> continued_;
  bool knows_records_ = false;
  bool had_record_ = false;
  std::int64_t replaced_ = 0;  // records of the file that is replaced; rank 0
  std::vector<std::string> shorter_;
  std::vector<std::pair<std::string, std::int64_t>> written_;
};

}  // namespace shoal::streams
