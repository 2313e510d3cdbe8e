#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A recording as a plan's run would leave it, with the truth beside it: the plan's own task graph run step by step on
// every rank of every replica, with noise, outliers, a rank that is slow and others that wait for it, clocks that are
// wrong, ranks that nobody recorded. It shares the graph with the simulator and nothing with what reads recordings.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/rank_map.h"
#include "core/runs/telemetry/recording.h"

#include <optional>
#include <set>
#include <vector>

namespace trainyard::test {

struct RecordedRunOptions {
    int steps = 8;
    unsigned seed = 1;
    double noise = 0.05; // of the logarithm of each duration
    double outlierShare = 0.01, outlierFactor = 5; // of durations
    double endJitter = 1000; // ns, by which ends of a collective differ between its ranks
    double clockOffset = 5e7, clockDrift = 2e-5; // ns and ns a ns, at most, either way
    int straggler = -1; // rank of the job; -1: none
    double stragglerFactor = 1.2; // of its computing
    std::set<int> missing; // ranks without a recording
    // What the real machine takes, over what the plan says
    double computeFactor = 1, tensorFactor = 1, dataFactor = 1, pipelineFactor = 1, hostFactor = 1;
    // Transfers between this stage and the next one of a replica, both ways, and gradients of a stage: slower so often
    struct SlowBoundary {
        int replica = 0, stage = 0;
        double factor = 1;
    };
    std::optional<SlowBoundary> slowBoundary;
    struct SlowGroup {
        int stage = 0;
        double factor = 1;
    };
    std::optional<SlowGroup> slowGroup; // of data parallel ranks
    struct Change { // that holds from one step to another, by index
        int first = 0, behind = 1'000'000'000;
        int rank = -1; // whose computing takes `computing` times as long; -1: of all
        double computing = 1;
        int datacenter = -1, otherDatacenter = -1; // transfers of the link between them, both ways
        double transfers = 1; // take so many times as long
    };
    std::vector<Change> changes;
    bool sendsTrueBytes = false; // between datacenters; else as many as would take that long at 100 GB/s
    bool numbersCollectives = true; // else the order of their starts is all that there is
    RankOrder order = RankOrder::DataBeforePipeline;
};

struct TrueRank {
    double clockOffset = 0, clockDrift = 0; // it shows t + offset + drift × (t - RecordedRun::middle) at the time t
    std::vector<double> stepStart, stepEnd; // ns, true time
    std::vector<double> compute; // seconds a step in which it computes, the optimizer too
    [[nodiscard]] double shown(double t, double middle) const { return t + clockOffset + clockDrift * (t - middle); }
};

struct RecordedRun {
    Recording recording;
    Recording onTrueClock; // the same, had all clocks been right
    RankMap map;
    std::vector<TrueRank> ranks; // of the job, those without a recording too
    double middle = 0; // ns
    std::vector<double> stepSeconds; // from the first start to the last end of all ranks
};

/// Of a plan that has an iteration. Fails the test where its graph cannot be made.
[[nodiscard]] RecordedRun recordRun(const EvaluationPtr &evaluation, const RecordedRunOptions &options);

} // namespace trainyard::test
