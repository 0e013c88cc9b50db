// SPDX-License-Identifier: BSD-3-Clause
// Means and extremes by loops of the model's own, and three files through a method.
#include <vector>

#include "programs/day_sums.hpp"
#include "programs/stream_files.hpp"
#include "programs/stream_outputs.hpp"

namespace shoal::bench {

namespace {

class ByHand : public StreamOutput {
 public:
  explicit ByHand(const StreamRun& run) : run_(run) {}

  void prepare() override {
    const auto& files = run_.session.files();
    sums_ = std::make_unique<DaySums>(run_.session, run_.state);
    const auto& entry = *run_.choice.method.entry;
    for (std::size_t f = 0; f < files.size(); ++f) {
      runs_.push_back(run_.session.make_run(run_.choice, files[f], sums_->arrays(f), run_.whole.phases));
      runs_.back().in_place = true;
      methods_.push_back(entry.make(entry));
      methods_.back()->prepare(runs_.back());
    }
    runs_.front().at_peak = [this] { run_.whole.at_peak(); };
  }

  void create() override {
    for (std::size_t f = 0; f < runs_.size(); ++f)
      methods_[f]->create(runs_[f]);
    for (std::size_t f = 0; f < runs_.size(); ++f)
      put(f, -1);
  }

  void step(std::int64_t number) override {
    run_.whole.phases.time(Phase::accumulate, [&] { sums_->step(number); });
    sums_->for_records(number, [&](std::size_t file, std::int64_t record) { put(file, record); });
  }

  void finish() override {
    for (std::size_t f = 0; f < runs_.size(); ++f) {
      methods_[f]->finish(runs_[f]);
      run_.whole.stage_bytes += runs_[f].stage_bytes;
      run_.whole.shared_stage_bytes += runs_[f].shared_stage_bytes;
    }
  }

 private:
  void put(std::size_t f, std::int64_t record) {
    run_.whole.phases.time(Phase::write, [&] { methods_[f]->put(runs_[f], record); });
    if (record >= 0 && run_.session.setup().sync_every == 1 && run_.choice.method.entry->writes())
      run_.whole.phases.time(Phase::sync, [&] { methods_[f]->sync(runs_[f]); });
  }

  const StreamRun run_;
  std::unique_ptr<DaySums> sums_;
  std::vector<Run> runs_;  ///< of the files
  std::vector<std::unique_ptr<Method>> methods_;
};

}  // namespace

std::unique_ptr<StreamOutput> make_by_hand(const StreamRun& run) {
  return std::make_unique<ByHand>(run);
}

}  // namespace shoal::bench
