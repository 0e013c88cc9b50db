// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/numbered.hpp"
#include "codec/quantize.hpp"
#include "dataset/definitions/packed.hpp"
#include "dataset/settings/choices.hpp"
#include "decomp/decomposition.hpp"
#include "format/catalog.hpp"
#include "format/schema.hpp"

namespace shoal {

/// The define phase of one dataset on one rank: what the file is to become, each step checked when it is
/// made. The schema of the file is the driver's; there is another only while definitions wait. All calls
/// Local. On Error nothing was changed.
class Definitions {
 public:
  /// What new variables get that are given nothing else.
  struct Defaults {
    FillMode fill = FillMode::all;
    Choices compression;   ///< of distributed variables; values as for def_compression
    Choices quantization;  ///< the same, as for def_quantize
    Choices packing;       ///< the same, as for def_pack; "attributes" also of others, and of the file's
    Choices chunks;        ///< of distributed variables, as for chunk_request_of
    std::int64_t chunk_bytes = 0;
    bool late_fill = false;  ///< a variable of the file without fill may get a fill value: driver native can
  };
  Definitions() = default;
  explicit Definitions(Defaults defaults) : defaults_(std::move(defaults)) {}

  /// Starts from what is in the file, the driver's schema, which outlives this or the next reset; drops what
  /// was pending. To be called when the driver has changed it, lengths aside.
  void reset(const Schema& in_file);
  void reset(Schema&& in_file) = delete;
  /// With the definitions that wait.
  const Schema& schema() const { return wanted_ ? *wanted_ : *in_file_; }
  /// The schema that the file is to be brought to.
  Schema& wanted();
  /// The decomposition of each variable of the schema; nullptr: none yet.
  const Numbered<std::shared_ptr<const Decomposition>>& decompositions() const { return decompositions_; }
  const std::shared_ptr<const Decomposition>& decomposition(int variable) const {
    return decompositions_[variable];
  }
  void attach(int variable, std::shared_ptr<const Decomposition> decomposition);

  // Names may be paths in groups (group_paths.hpp), from the root; groups of the path that are not there are
  // made. Dimensions are looked for from the variable's group outwards.
  /// Nothing to do where it is there.
  void def_group(const std::string& name);
  /// length 0: unlimited.
  void def_dim(const std::string& name, std::int64_t length);
  void def_var(const std::string& name, Type type, const std::vector<std::string>& dims,
               std::shared_ptr<const Decomposition> decomposition);
  /// The variable, which has no decomposition yet, is going to be written with one: it gets what such
  /// variables have by default. Nothing to do where it has one.
  void def_cut(const std::string& variable);
  /// Ranks are going to write the variable alone: it gets its place, and fill values, when its definition is
  /// finished. Error(not_supported): it is compressed, or text of any length.
  void def_independent(const std::string& variable);
  /// A dimension that has only the water cells of the dimensions `dims` (names), in order, and the list that
  /// says which they are (gathering.hpp). decomposition: has a mask of these dimensions.
  void def_gathered(const std::string& name, const std::string& dims,
                    std::shared_ptr<const Decomposition> decomposition);
  /// Those that were defined since reset: dimension and decomposition.
  const std::vector<std::pair<int, std::shared_ptr<const Decomposition>>>& gathered() const {
    return gathered_;
  }
  /// Was it defined here, and not found in the file that was opened?
  bool defined_here(const std::string& variable) const { return defined_.contains(variable); }
  bool any_defined_here() const { return !defined_.empty(); }
  /// Was a choice of a setting that may differ between variables used for one?
  bool took(const std::string& setting, const Choices::Choice& choice) const {
    return taken_.contains({setting, choice.pattern});
  }
  /// value: one of the type, which is converted to the variable's; nullptr: no fill. Of a variable of the
  /// file only as Defaults say, and once. Error(range, type, state).
  void def_fill(const std::string& variable, Type type, const void* value);
  void def_chunks(const std::string& variable, const std::int64_t* chunks);
  /// text: as for the setting compression.
  void def_compression(const std::string& variable, const std::string& text);
  /// text: as for the setting quantize.
  void def_quantize(const std::string& variable, const std::string& text);
  /// Which variables are quantized when they are written, by name.
  const std::map<std::string, Quantization>& quantized() const { return quantized_; }
  /// Those of a file that exists go on as its attributes say.
  void find_quantized();
  /// text: as for the setting pack.
  void def_pack(const std::string& variable, const std::string& text);
  /// Which variables are packed when they are written, and unpacked when they are read, by name. New ones
  /// from describe_packed on.
  const std::map<std::string, VariablePacking>& packings() const { return packings_; }
  /// Those of a file that exists, as far as the setting says so. What it gives: of which variables that a
  /// pattern means this cannot be done, and why. Error(setting, type, not_found, not_supported): of one that
  /// is named.
  std::vector<std::string> find_packed(bool writable);
  /// Ends the define phase: variables that are to be packed are defined so. What it gives, and Errors: the
  /// same.
  std::vector<std::string> describe_packed();
  /// Ends the define phase: what the file says of quantization is added to the definitions.
  void describe_quantized();
  /// The same of cells that are left out: _FillValue, of new variables whose decomposition leaves some.
  void describe_left_cells();
  /// A variable of the file was written with a decomposition that leaves cells out.
  void note_left_cells(int variable);
  /// Of variables of the file that have no _FillValue, and could: was one written so, and nobody dealt with
  /// it? In order; as many on all ranks.
  std::vector<std::int64_t> left_cells() const;
  bool any_left_cells() const { return !left_.empty(); }
  /// The schema with _FillValue at those of them that are marked, and which variables these are.
  std::pair<Schema, std::vector<int>> with_fill_values(const std::vector<std::int64_t>& marked) const;
  /// It was added, or cannot be: not to be tried again.
  void finish_left_cells(const std::vector<int>& variables, bool added);
  /// Variables that got _FillValue without being asked.
  const std::vector<std::string>& added_fill_values() const { return added_fill_; }
  /// Of another dataset, as it is. odd_fill: may it be a _FillValue that netCDF's rules make none?
  void copy_att(const char* variable, Attribute attribute, bool odd_fill);
  /// variable: a group, too; nullptr, "/": the file. _FillValue: the value, and not whether it is used.
  void put_att(const char* variable, const std::string& name, Type type, std::int64_t count,
               const void* values);

  /// What ranks must agree on, as bytes: the schema without record counts, which variables share a
  /// decomposition, and how they are quantized.
  Bytes packed() const;
  /// Attributes that rank 0's definitions (packed) have at the same place, of the same name and type, get the
  /// values that they have there.
  void take_attribute_values(const Bytes& of_root);
  /// Other names for what is there, and attributes that go (rename.cpp). variable: as of put_att. What is in
  /// a group stays there: `to` is a name, or a path in that group.
  /// Error(not_found, exists, invalid_argument, not_supported); the same name again is no change.
  void rename_dim(const std::string& name, const std::string& to);
  void rename_var(const std::string& name, const std::string& to);
  void rename_group(const std::string& name, const std::string& to);
  void rename_att(const char* variable, const std::string& name, const std::string& to);
  void delete_att(const char* variable, const std::string& name);

  /// Index of the variable; Error(not_found) with the nearest name.
  int variable(const std::string& name) const;
  int dimension(const std::string& name) const;
  /// Whose attributes they are: a variable's, a group's ("ocean", "ocean/", "/ocean"), the file's (nullptr,
  /// "/"). As of Schema::attributes_of. Error(not_found) with the nearest name.
  int owner(const char* variable) const;

 private:
  void check_group(std::string group) const;
  void check_hides_no_grid(const std::string& path) const;
  std::string stored_path(const std::string& given) const;
  std::string new_path(const std::string& given, const char* what) const;
  std::string renamed_path(const std::string& name, const std::string& given_to, const char* what) const;
  void make_groups(const std::string& path);
  bool is_new(int owner) const;
  int dimension_from(const std::string& group, const std::string& name) const;
  std::vector<int> resolve_dims(const std::string& variable, const std::vector<std::string>& names) const;
  void take_defaults(VariableDef& variable);
  void take_default_chunks(VariableDef& variable);
  void spare_coordinates();
  void pack_new(VariableDef& v, const PackRequest& request);
  bool stays_packed(int variable, const std::string& attribute) const;
  bool may_be_packed(const VariableDef& v, const PackRequest& request,
                     const std::set<std::string>& coordinates) const;
  bool lacks_fill_value(const VariableDef& variable) const;
  bool may_get_fill_value(int variable) const;
  bool may_get_late_fill(int variable) const;
  VariableDef& new_variable(const std::string& name, const char* what);
  void note_change(SchemaChange change);
  void move_notes(const std::string& from, const std::string& to);
  std::vector<Attribute>& changeable_attributes(int owner, const std::string& name);
  bool is_attribute_in_file(int owner, const std::string& name) const;

  const Schema* in_file_ = nullptr;  // the driver's
  std::optional<Schema> wanted_;     // while definitions wait
  // Models define thousands of variables: names are looked up, not searched for.
  std::unordered_map<std::string, int> dim_by_name_;
  std::unordered_map<std::string, int> variable_by_name_;
  std::unordered_map<std::string, int> group_by_name_;
  Numbered<std::shared_ptr<const Decomposition>> decompositions_;
  std::vector<std::pair<int, std::shared_ptr<const Decomposition>>> gathered_;
  int groups_in_file_ = 0, dims_in_file_ = 0, variables_in_file_ = 0;
  std::set<std::pair<int, std::string>> added_attributes_;  // to what is in the file: owner, name
  std::map<std::string, Quantization> quantized_;
  std::map<std::string, std::string> by_pattern_;  ///< those of them that no setting names, by which pattern
  std::map<std::string, PackRequest> pack_requests_;  ///< of def_pack
  std::map<std::string, VariablePacking> packings_;
  Defaults defaults_;
  std::unordered_set<std::string> defined_;
  std::set<std::pair<std::string, std::string>> taken_;  // setting and pattern
  // Setting and new variable, which has a choice of its own.
  std::set<std::pair<std::string, std::string>> given_;
  std::set<int> left_, dealt_with_;  // variables of the file; the second alike on all ranks
  std::vector<std::string> added_fill_;
};

/// Index by name; Error(not_found) with the nearest name.
int find_variable_or_throw(const Schema& schema, const std::string& name);
int find_dim_or_throw(const Schema& schema, const std::string& name);
const Attribute& find_attribute_or_throw(const std::vector<Attribute>& attributes, const std::string& name);

/// Was the variable defined as logical: bytes with flag_values 0, 1 and flag_meanings "false true"?
bool is_logical(const VariableDef& variable);

/// Do the last dimensions of the variable (not its record dimension) have the shape of the decomposition?
/// Otherwise Error(invalid_argument). An unlimited one of them fits any length, and a gathered one stands for
/// those of its grid.
void check_decomposition_fits(const Schema& schema, int variable, const Decomposition& decomposition);

/// The first thing in which mine (Definitions::packed) differs from rank 0's, in words ("variable 'temp' is
/// float here and double on rank 0").
std::string first_difference(const Bytes& mine, const Bytes& of_root);

/// Error(not_supported): ranks cannot write the variable alone, if it has these filters.
void check_can_be_independent(const VariableDef& variable, const Filters& filters);

}  // namespace shoal
