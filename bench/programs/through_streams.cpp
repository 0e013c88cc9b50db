// SPDX-License-Identifier: BSD-3-Clause
// The model's fields go to Shoal's streams as they are, and a configuration says what becomes of them.
#include <shoal/streams.h>

#include <map>
#include <vector>

#include "methods/shoal_calls.hpp"
#include "programs/stream_files.hpp"
#include "programs/stream_outputs.hpp"

namespace shoal::bench {

namespace {

// Text of TOML without escapes, as paths of bench have no quotes.
std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

// Names of files are patterns of dates.
std::string without_pattern(std::string path) {
  for (auto at = path.find('%'); at != std::string::npos; at = path.find('%', at + 2))
    path.insert(at, "%");
  return path;
}

std::string joined_dims(const Field& field, std::size_t from, std::size_t to) {
  std::string names;
  for (std::size_t d = from; d < to; ++d)
    names += (names.empty() ? "" : " ") + field.dims[d];
  return names;
}

class ThroughStreams : public StreamOutput {
 public:
  explicit ThroughStreams(const StreamRun& run) : run_(run), setup_(run.session.setup()) {}
  ~ThroughStreams() override { shoal_streams_abandon(&streams_); }

  void prepare() override {
    for (const auto& array : run_.state) {
      const auto& field = array.field();
      const auto dims = joined_dims(field, field.dims.size() - 2, field.dims.size());
      if (auto& grid = grids_[dims]; grid == nullptr) grid = make_decomposition(run_.session.comm(), array);
    }
  }

  void create() override {
    auto& phases = run_.whole.phases;
    phases.time(Phase::open, [&] {
      check_shoal(shoal_streams_open(run_.session.comm(), configuration().c_str(), "noleap", "2000-01-01",
                                     nullptr, &streams_),
                  "opening of streams");
    });
    phases.time(Phase::write_meta, [&] { describe(); });
  }

  void step(std::int64_t number) override {
    auto& phases = run_.whole.phases;
    const double seconds =
        k_day_seconds * static_cast<double>(number * setup_.records) / static_cast<double>(setup_.steps);
    phases.time(Phase::write, [&] { check_shoal(shoal_streams_advance(streams_, seconds), "advance"); });
    phases.time(Phase::accumulate, [&] {
      for (std::size_t f = 0; f < fields_.size(); ++f) {
        auto& array = run_.state[f];
        const auto extents = array.extents_with_halo();
        const shoal_array view = shoal_array_of(array.record(0), static_cast<int>(array.field().type),
                                                static_cast<int>(extents.size()), extents.data());
        check_shoal(shoal_streams_send(streams_, fields_[f], &view), "sending of " + array.field().name);
      }
    });
  }

  void finish() override {
    run_.whole.at_peak();
    run_.whole.phases.time(Phase::close, [&] { check_shoal(shoal_streams_close(&streams_), "close"); });
  }

 private:
  std::string configuration() const {
    std::string text = "[defaults]\ntime_units = 'seconds'\n";
    text += std::string("commit = ") + (setup_.sync_every == 1 ? "'record'\n" : "'close'\n");
    for (const auto& [key, value] : settings_to_create(run_.whole, *run_.choice.method.entry))
      text += key + " = " + quoted(value) + "\n";
    if (run_.whole.flush) text += "durable = true\n";
    const auto& files = run_.session.files();
    const auto every_step = std::to_string(k_minutes_of_day * setup_.records / setup_.steps) + " min";
    text += file_table(files[k_means], "1 day", "mean");
    for (const auto& field : files[k_means].content.fields)
      if (field.distributed) text += quoted(field.name) + ", ";
    text += "]\n" + file_table(files[k_instants], every_step, "instant");
    for (const auto& field : files[k_instants].content.fields)
      if (field.distributed) text += quoted(field.name) + ", ";
    text += "]\n" + file_table(files[k_extremes], "1 day", "maximum");
    for (const auto& extreme : extremes())
      text += "{ field = " + quoted(extreme.of) + ", name = " + quoted(extreme.name) +
              ", operation = " + (extreme.highest ? "'maximum'" : "'minimum'") + " }, ";
    return text + "]\n";
  }

  // Up to the list of its fields.
  std::string file_table(const RunFile& file, const std::string& every, const std::string& operation) const {
    return "[[file]]\nname = " + quoted(without_pattern(run_.session.path_of(run_.choice, file.which))) +
           "\nevery = " + quoted(every) + "\noperation = " + quoted(operation) + "\nfields = [";
  }

  void describe() {
    const auto& content = run_.session.content();
    for (const auto& dimension : content.dimensions) {
      if (dimension.length == 0 || dimension.name == "bnds") continue;
      const shoal_array none = shoal_array_of(nullptr, SHOAL_DOUBLE, 1, &dimension.length);
      check_shoal(shoal_streams_axis(streams_, dimension.name.c_str(), &none, nullptr),
                  "axis " + dimension.name);
    }
    for (const auto& [dims, decomposition] : grids_)
      check_shoal(shoal_streams_grid(streams_, dims.c_str(), dims.c_str(), decomposition.get()),
                  "grid " + dims);
    for (const auto& array : run_.state) {
      const auto& field = array.field();
      const auto size = field.dims.size();
      const auto dims = joined_dims(field, 1, size), grid = joined_dims(field, size - 2, size);
      check_shoal(
          shoal_streams_field(streams_, field.name.c_str(), static_cast<int>(field.type), dims.c_str(),
                              grid.c_str(), nullptr, SHOAL_AT_INSTANT, &fields_.emplace_back()),
          "field " + field.name);
      for (const auto& [key, value] : field.attributes)
        check_shoal(shoal_streams_put_att(streams_, field.name.c_str(), key.c_str(), SHOAL_CHAR,
                                          static_cast<std::int64_t>(value.size()), value.data()),
                    "attribute " + key);
    }
  }

  const StreamRun run_;
  const Setup& setup_;
  std::map<std::string, ShoalDecomposition> grids_;  ///< by their dimensions
  std::vector<int> fields_;                          ///< numbers, in the order of the state
  shoal_streams* streams_ = nullptr;
};

}  // namespace

std::unique_ptr<StreamOutput> make_through_streams(const StreamRun& run) {
  return std::make_unique<ThroughStreams>(run);
}

}  // namespace shoal::bench
