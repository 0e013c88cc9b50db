// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <string>

#include "streams/configuration.hpp"
#include "streams/descriptions.hpp"
#include "streams/interpolation.hpp"

namespace shoal::streams {

/// Brings the levels that a file asks for together with the fields of the model. Errors have line and key:
/// Error(setting, not_found). Local.
class LevelPlanner {
 public:
  /// path: of the configuration, for messages.
  LevelPlanner(const Descriptions& model, const InterpolationChoice& wanted, const std::string& path)
      : model_(model), wanted_(wanted), path_(path) {}

  /// Which of the dimensions before those of the grid is the vertical one; -1: none.
  int vertical_of(const Field& field);
  /// The field with the levels; -1: the axis has them.
  int field_of(const Field& field) const;
  std::shared_ptr<const Interpolation> interpolation(const Field& field, int dim) const;
  /// What the file has in place of the dimension; levels: field_of(). One for all fields of the file.
  std::shared_ptr<const Axis> axis(const std::string& dim, int levels);
  /// Error(not_found): no field had a vertical dimension.
  void check_used() const;

 private:
  [[noreturn]] void fail(const std::string& key, Code code, std::string message) const;

  const Descriptions& model_;
  const InterpolationChoice& wanted_;
  const std::string& path_;
  std::map<std::string, std::shared_ptr<const Axis>> axes_;  // by name
  bool is_used_ = false;
};

}  // namespace shoal::streams
