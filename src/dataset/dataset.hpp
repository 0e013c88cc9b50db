// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "comm/comm.hpp"
#include "comm/program_call.hpp"
#include "dataset/arguments.hpp"
#include "dataset/boxes/box_calls.hpp"
#include "dataset/definitions/definitions.hpp"
#include "dataset/gathered/gathered_field.hpp"
#include "dataset/next_records.hpp"
#include "dataset/settings/settings.hpp"
#include "driver/driver.hpp"
#include "machine/machine_file.hpp"

namespace shoal {

struct DatasetReport;

/// A dataset whose close was begun in the background and is not finished: do all of its ranks open the path?
enum class PendingClose { none, here, elsewhere };

/// What a dataset is opened with. The same on all ranks, but for problem.
struct DatasetOptions {
  std::string settings;                                            ///< argument text "key=value, key=value"
  SettingSources sources;                                          ///< read by rank 0 alone
  StoreOpener open_store = open_posix_store;                       ///< tests put a faulty one in between
  FileSystemFinder find_file_system = file_system_of;              ///< and simulate file systems
  std::vector<std::string> lustre_libraries = k_lustre_libraries;  ///< and have one of their own
  Status problem;           ///< this rank's arguments are bad (a NULL path); it still takes part
  bool may_create = false;  ///< open: a new file is made if there is none; settings of new files count then
  /// What this rank knows of such a dataset of the path, which comm is to open. Local.
  std::function<PendingClose(const Comm& comm, const std::string& path)> pending_close;
  /// Called on all ranks if one of them knows one, before the file is touched. Collective.
  std::function<void(const std::string& path)> await_pending_close;
};

/// One file, or later several, that all ranks of a communicator write and read as one.
///
/// The facade: it checks arguments, collects definitions, keeps decompositions of variables, and hands boxes
/// to a driver. Calls are Collective unless marked Local: all ranks make them in the same order. Bad
/// arguments of one rank do not stop the others:
/// - write and put: the rank takes part with nothing, and sync or close throws on all ranks alike. On a
///   single rank bad arguments are thrown at once.
/// - read and get: the call throws on all ranks alike.
/// - definitions: throw where they are made; ranks that differ are found when the definitions are finished.
/// Nobody waits for ever: where a rank does not come, those that did get Error(timeout), and so does every
/// later call. After an Error the dataset can be used on. Destroying it never communicates; what was not
/// synced may be lost.
class Dataset {
 public:
  /// A new file, replaced if it exists (setting exists).
  static std::unique_ptr<Dataset> create(MPI_Comm comm, const std::string& path,
                                         const DatasetOptions& options);
  /// A file that exists, of any format.
  static std::unique_ptr<Dataset> open(MPI_Comm comm, const std::string& path, bool writable,
                                       const DatasetOptions& options);
  /// open to write, or create where there is no such file.
  static std::unique_ptr<Dataset> append(MPI_Comm comm, const std::string& path, DatasetOptions options);
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  /// Without close before: other ranks may go on to wait for this one. Local.
  ~Dataset();

  // ---- Definitions. Local. Error(state) if the file was opened for reading only.
  /// All ranks that define, or fail to, finish definitions together; those that follow do this first.
  void begin_definition();
  void def_group(const std::string& name);
  void def_dim(const std::string& name, std::int64_t length);
  /// dims: names, slowest first; in a text with blanks or commas between (names_in).
  void def_var(const std::string& name, Type type, const std::vector<std::string>& dims,
               std::shared_ptr<const Decomposition> decomposition);
  void def_var(const std::string& name, Type type, const std::string& dims,
               std::shared_ptr<const Decomposition> decomposition);
  /// The variable will be written with a decomposition (Definitions::def_cut).
  void def_cut(const std::string& variable);
  /// Ranks will write the variable alone (Definitions::def_independent).
  void def_independent(const std::string& variable);
  /// A dimension for the water cells of a masked decomposition alone (Definitions::def_gathered). Variables
  /// with it are written and read with decompositions of the grid.
  void def_gathered(const std::string& name, const std::string& dims,
                    std::shared_ptr<const Decomposition> decomposition);
  void def_fill(const std::string& variable, Type type, const void* value);
  void def_chunks(const std::string& variable, const std::int64_t* chunks);
  void def_compression(const std::string& variable, const std::string& text);
  void def_quantize(const std::string& variable, const std::string& text);
  void def_pack(const std::string& variable, const std::string& text);
  void put_att(const char* variable, const std::string& name, Type type, std::int64_t count,
               const void* values);
  /// An attribute of another dataset as it is, also a _FillValue that is of no use.
  void copy_att(const char* variable, const Attribute& attribute);
  void rename_dim(const std::string& name, const std::string& to);
  void rename_var(const std::string& name, const std::string& to);
  void rename_group(const std::string& name, const std::string& to);
  void rename_att(const char* variable, const std::string& name, const std::string& to);
  void delete_att(const char* variable, const std::string& name);
  /// Compare what ranks defined and bring the file to it. When ranks differ, or the file cannot hold it,
  /// definitions since the last time are dropped on all ranks.
  void end_define();

  /// A time step begins: the index of its record, the one after the last, which SHOAL_NEXT is for all
  /// variables until the next step begins. Error(invalid_argument): the file has no record dimension, or
  /// several; Error(state): rank 0 alone knows their number until sync, or the file is read only. Local.
  std::int64_t begin_step();

  // ---- Data. Each finishes the define phase first.
  void write(const DataCall& call);
  /// write, with the cells of the same place in a variable of another dataset, which is open for reading and
  /// whose ranks are the same: those of a part at a time, so that no array of them all is needed.
  /// Error(not_supported), on all ranks: the other is one that ranks cannot read each for itself (copies()).
  /// from nullptr: call.problem says why.
  void copy(const DataCall& call, Dataset* from, const VariableArgument& from_variable);
  bool copies() const;  ///< can others copy from this one? Local.
  void read(const DataCall& call);
  void put(const DataCall& call);
  void get(const DataCall& call);
  /// Each rank writes, or reads, any number of boxes of any variables. Of cells that several ranks write, the
  /// first rank's values count, and of several boxes of a rank the last one's; cells in no box keep what the
  /// file has.
  void write_boxes(const BoxesCall& call);
  void read_boxes(const BoxesCall& call);

  // Data calls of this rank alone. Local; what is wrong with them is thrown at once, before any cell moves.
  // Values that do not fit are reported when all others were moved: Error(range). Error(state): definitions
  // are not finished, or records are not there yet; Error(not_supported): the driver cannot, or not with the
  // variable.
  void write_independent(const std::vector<BoxArgument>& boxes);
  void read_independent(const std::vector<BoxArgument>& boxes);

  /// Match a call of the program's own with those of all ranks (shoal::match_program_call).
  ProgramOutcome match_program_call(const ProgramCall& mine);
  /// Store, agree on errors, commit. durable: also wait for the device.
  void sync(bool durable);
  /// Is a close to be begun (begin_close) and finished later (close)? Setting background_close. Local.
  bool closes_later() const;
  /// Threads get all that is left to store. Only close may follow. Local.
  void begin_close();
  /// sync, report, close. The dataset is closed even if it throws. Further calls: Error(state).
  void close(bool durable);

  // ---- What is known. Local.
  const std::string& path() const { return path_; }
  bool writable() const { return writable_; }
  const Schema& schema() const;
  /// Numbers by name; Error(not_found) with the nearest one.
  int variable(const std::string& name) const { return definitions_.variable(name); }
  int dimension(const std::string& name) const { return definitions_.dimension(name); }
  int owner(const char* variable) const { return definitions_.owner(variable); }  ///< Definitions::owner
  /// Those of the variable or group; nullptr, "/": of the file.
  const std::vector<Attribute>& attributes_of(const char* variable) const;
  /// Records of the variable's record dimension, nullptr: of the file's; 0 where there is none.
  /// Error(invalid_argument): the file has several; Error(state): rank 0 alone knows them until sync.
  std::int64_t num_records(const char* variable) const;
  /// Do cells of the variable that were never written hold its fill value?
  bool fills(int variable) const;
  /// Do arrays of floating point hold its values, which are whole numbers in the file?
  bool is_packed(const std::string& variable) const { return definitions_.packings().contains(variable); }
  /// How a variable is stored; nothing while its definition is not finished.
  std::optional<Placement> placement(int variable) const;
  const Settings& settings() const { return settings_; }
  /// Who moves the bytes: the setting driver, or "tiles" for a set of files that is read.
  const std::string& driver_name() const { return driver_name_; }
  const Comm& comm() const { return comm_; }
  /// Counts of this rank so far, as JSON.
  std::string report_text() const;

 private:
  Dataset(MPI_Comm comm, const Entry& entry, std::string path, bool writable)
      : comm_(comm, CollectiveMethod::anyhow, entry), path_(std::move(path)), writable_(writable) {}
  void take_settings(const DatasetOptions& options, OpenMode mode);
  void settle_background();
  void limit_shards();
  void warn(const std::vector<std::string>& more);
  DriverOptions driver_options(const DatasetOptions& options) const;
  void started(Seconds start);

  /// What work gives; an Error names the file.
  template <class Work>
  auto in_file(Work&& work) const;
  void check_open() const;
  void check_ranks(const Decomposition* decomposition) const;  ///< as many as the dataset has, in its order
  template <class Work>
  void define(const char* variable, Work&& work);
  void check_writable() const;
  void finish_definitions();
  void drop_definitions();
  void add_fill_values();
  /// Error(not_found, invalid_argument): there is none.
  int variable_number(const VariableArgument& variable) const;
  std::string variable_name(const VariableArgument& variable) const;  ///< "": nobody knows it
  Status in_call(const Status& status, const DataCall& call) const;  ///< with file and variable, if it failed
  template <class Work>
  void in_call(const DataCall& call, Work&& work) const;
  void adopt(const std::shared_ptr<const Decomposition>& decomposition);
  std::shared_ptr<const Decomposition> decomposition_of(int variable, const DataCall& call);
  /// A call of write or read for the driver. A rank that refuses it, but knows its field, has a Transfer.
  std::variant<Transfer, RefusedCall> field_call(const DataCall& call, Direction direction);
  void write_field(Transfer& transfer);
  /// Calls that this object makes itself, with the cells of boxes: prepared decompositions, one record.
  std::variant<Transfer, RefusedCall> cells_call(const DataCall& call, Direction direction) const;
  void write_cells(const DataCall& call);
  void read_cells(const DataCall& call);
  template <class Work>
  void or_restart_records(Work&& work);
  Section section_to_write(const Section& section, int variable);
  void check_section_here(const DataCall& call) const;
  void fill_masked(const Transfer& transfer) const;
  std::shared_ptr<const Rounding> rounding_of_variable(int variable);
  /// An array for the variable: where that is packed, its elements may be values.
  CellArray as_values(int variable, const CellArray& array);

  // Of one rank: dataset_independent.cpp.
  struct OwnBox;
  OwnBox own_box(const BoxArgument& box, Direction direction);
  std::vector<OwnBox> own_boxes(const std::vector<BoxArgument>& boxes, Direction direction);
  Status store_own(const OwnBox& box);
  Status fetch_own(const OwnBox& box);

  // Gathered dimensions: dataset_gathered.cpp.
  void check_layout_of_gathered() const;
  Cuts cuts_in_file() const;
  void write_lists(const std::vector<std::pair<int, std::shared_ptr<const Decomposition>>>& gathered);
  const CellPositions& list_of(const Gathering& gathering);
  void find_gathered_fields();
  void retry_gathered_fields();
  Transfer transfer_on_grid(const OnGrid& how, int variable, const DataCall& call, const Section& section,
                            const std::shared_ptr<const Decomposition>& decomposition, Direction direction);
  const GatheredField* gathered_field_of(const Transfer& transfer);
  void write_gathered(const GatheredField& gathered, const Transfer& transfer);
  void read_gathered(const GatheredField& gathered, const Transfer& transfer);
  CellArray array_of_call(const DataCall& call, int variable, const Box& box);
  void put_values(int variable, const Box& box, const DataCall& call);
  void get_values(int variable, const Box& box, const CellArray& cells);

  // Calls with boxes: dataset_boxes.cpp.
  CallBoxes call_boxes(const BoxesCall& call, Direction direction, Status& refused) const;
  BoxPlan box_plan(const BoxesCall& call, Direction direction, Status& refused);
  DataCall call_of_field(const BoxField& field, std::int64_t record) const;
  static DataCall call_of_whole(const BoxField& field);
  static CellArray records_of_box(const BoxField& field, std::int64_t record, const BoxArgument& box);
  std::vector<CellArray> cells_of_boxes(const BoxField& field, std::int64_t record,
                                        const std::vector<FieldBoxes>& mine, const BoxesCall& boxes);
  void write_box_field(const BoxField& field, const std::vector<FieldBoxes>& mine, const BoxesCall& boxes);
  void read_box_field(const BoxField& field, const std::vector<FieldBoxes>& mine, const BoxesCall& boxes);
  void put_box(const BoxField& field, const std::vector<FieldBoxes>& mine, const BoxesCall& boxes);
  void get_box(const BoxField& field, const std::vector<FieldBoxes>& mine, const BoxesCall& boxes);
  void note_box_errors(const BoxField& field, const ConversionErrors& errors, Direction direction,
                       const BoxesCall& boxes, const std::vector<FieldBoxes>& mine);

  /// Ranks match calls (Comm::match_calls) with details that have to be the same; if they are not: rank 0's.
  std::optional<Bytes> match_with_root(const char* does, const Bytes& details);
  /// driver work (sync or close) after a match of calls, together with failures kept here.
  template <class Work>
  Status complete_call(const char* does, bool durable, Work&& work);
  void look_for_unused_choices();
  Counters counters() const;  ///< the driver's, with warnings of settings
  void print_warnings();
  DatasetReport report_without_ranks() const;
  Status warn_of_values_out_of_range();
  Status finish_report();
  std::map<std::string, std::int64_t> fill_cells() const;  ///< of this rank, those above 0
  std::map<std::string, OutOfRange> out_of_range() const;  ///< the same
  void write_overviews();

  Comm comm_;
  std::string path_;
  bool writable_;
  bool closed_ = false;
  std::string driver_name_;
  Settings settings_;
  FoundMachine machine_;  // the same figures on all ranks
  struct PackedVariable {
    Packer packer;
    bool of_floating_point;        // VariablePacking
    OutOfRange out_of_range = {};  // of this rank
  };
  std::map<int, PackedVariable>
      packed_;  // those that were written or read; arrays in the driver point to them
  std::unique_ptr<Driver> driver_;
  Definitions definitions_;
  std::map<int, std::shared_ptr<const Rounding>> roundings_;  // of variables that were written
  std::map<int, std::int64_t>
      fill_cells_;               // of variables that were written with a mask: Transfer::fill_cells
  bool library_rounds_ = false;  // netCDF-C does, what its attributes in the file said when it was opened
  bool defining_ = false;
  std::vector<std::shared_ptr<const Decomposition>> prepared_;  // in the same order on all ranks
  std::map<int, CellPositions> lists_;                          // of gathered dimensions
  // Fields of a decomposition in a gathered dimension, with so many dimensions behind it.
  struct KnownGathered {
    std::shared_ptr<const Decomposition> grid;
    int dim, inner_dims;
    std::unique_ptr<GatheredField> gathered;  // nullptr: problem says why there is none
    Status problem;
  };
  std::vector<KnownGathered> gathered_fields_;
  std::vector<Gathering> gatherings_;  // of the file
  ScratchBuffer gathered_cells_, own_cells_;
  NextRecords next_records_;
  BoxCalls box_calls_;
  Status late_;                        // of put: found after the call had returned on other ranks
  std::vector<std::string> warnings_;  // of settings that are not used
  bool choices_looked_at_ = false;
  std::size_t own_printed_ = 0, warnings_printed_ = 0;
  Seconds opened_at_ = 0;
};

}  // namespace shoal
