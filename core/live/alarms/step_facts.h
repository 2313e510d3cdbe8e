#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one step of a run shows that is worth watching: where its time went, how long each rank computed beside those
// like it, what its links carried and who waited for them. Made once a step; pure functions.

#include "core/live/alarms/watchman.h"

namespace trainyard::watch {

/// What steps are held against, the same for all steps of a look.
struct WatchedPlan {
    const RunOverlay *overlay = nullptr;
    /// of no rank without a plan
    RankMap map;
    /// null without a plan
    const LinkRates *links = nullptr;
    /// of the recorded ranks, by number of those that do the same work
    std::vector<int> likes;
    /// of the job; 0: not told
    double tokensPerSequence = 0, batch = 0;
    [[nodiscard]] const Run &run() const { return *overlay->run; }
    [[nodiscard]] const Evaluation *plan() const { return overlay->evaluation.get(); }
};
/// `hasNew`: some step is looked at; else only what sentences need is found.
[[nodiscard]] WatchedPlan watchedPlan(const RunOverlay &overlay, const LinkRates *links, bool hasNew = true);

struct RankFacts {
    int rank = -1;
    /// ranks that do the same work
    int others = 0;
    /// seconds; usual: median of the others
    double compute = 0, usualCompute = 0;
    double host = 0, usualHost = 0;
};

/// Receives of a stage from another datacenter: mean over its ranks of what no computing hides.
struct LinkWait {
    /// datacenters, receiving stage
    int from = -1, to = -1, stage = -1;
    double seconds = 0;
    bool operator==(const LinkWait &) const = default;
};

struct StepFacts {
    std::int64_t number = 0;
    /// Unix ns at which it began; 0: not told
    Moment at = 0;
    bool isWarmUp = false;
    Watchman::StepFigures figures;
    std::vector<RankFacts> ranks;
    std::vector<LinkRate> links;
    std::vector<LinkWait> linkWaits;
    /// by stage: stragglers and bubble, mean over its ranks; empty without a plan
    std::vector<double> stageWaits;
};
[[nodiscard]] StepFacts factsOf(const WatchedPlan &watched, const RunStep &step);

/// The plan's own, under the same names. NaN: it does not tell.
[[nodiscard]] Watchman::StepFigures figuresOf(const Evaluation &plan);

/// Unix ns of a step's start, or of its end where only a log tells it; 0: not told.
[[nodiscard]] Moment momentOf(const Run &run, const RunStep &step);

} // namespace trainyard::watch
