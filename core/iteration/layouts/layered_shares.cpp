// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/layered_shares.h"

#include "core/base/words.h"
#include "core/iteration/layouts/dealt_states.h"
#include "core/iteration/layouts/layered_problem.h"
#include "core/iteration/placement/ranks.h"
#include "core/systems/unequal_gpus/baselines.h"
#include "core/systems/unequal_gpus/layer_shards.h"
#include "core/systems/unequal_gpus/layer_time.h"
#include "core/systems/unequal_gpus/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard {

namespace {

constexpr int kQuickBatch = 2048; // samples that are shared out while somebody drags

/// "5 of 64 samples, 26 % of the states: slow, but its memory is free".
std::string whyOf(const ShareProblem &problem, const Shares &shares, const RankShare &share, int batch)
{
    const RankKind &kind = problem.kinds[std::size_t(share.kind)];
    const auto speed = [](const RankKind &k) { return 1 / (2 * k.forward.front() + k.backward.front()); };
    double fastest = 0, slowest = 1e300, most = 0, least = 1;
    for (const RankKind &other : problem.kinds) {
        fastest = std::max(fastest, speed(other));
        slowest = std::min(slowest, speed(other));
    }
    for (const RankShare &other : shares.ranks) {
        most = std::max(most, other.stateShare);
        least = std::min(least, other.stateShare);
    }
    const bool isFast = speed(kind) > fastest * 0.99, isSlow = speed(kind) < slowest * 1.01 && !isFast;
    const bool hasMore = share.stateShare > most * 0.999 && most > least * 1.001,
               hasLess = share.stateShare < least * 1.001 && most > least * 1.001;
    const std::string pace = fastest < slowest * 1.01 ? "as fast as the others"
        : isFast                                      ? "fast"
        : isSlow                                      ? "slow"
                                                      : "of middling speed";
    const std::string memory = share.samples() == 0 ? ", so it only holds states"
        : hasMore                                   ? isSlow ? ", but its memory is free" : ", with memory to spare"
        : hasLess                                   ? ", and its memory is full of work"
                                                    : "";
    return kind.name
        + formatted(": %d of %d samples, %.3g %% of the states: ", share.samples(), batch, 100 * share.stateShare)
        + pace + memory;
}

/// Of a batch that has no equal parts: how many times a part of it is dealt.
int extrapolation(const ShareProblem &problem)
{
    int ranks = 0;
    for (const RankKind &kind : problem.kinds)
        ranks += kind.ranks;
    for (int times = 1; times <= problem.batch / std::max(1, ranks); ++times)
        if (problem.batch % times == 0 && problem.batch / times <= 2 * kQuickBatch)
            return times;
    return 1;
}

/// Whether any rank holds more or less of the states than another.
bool areUneven(const Shares &shares)
{
    const double first = shares.ranks.front().stateShare;
    return std::ranges::any_of(
        shares.ranks, [&](const RankShare &rank) { return std::abs(rank.stateShare - first) > 1e-12; });
}

void setClasses(Layout &layout, const std::vector<ReplicaRun> &runs, const Shares &shares, const Workload &workload)
{
    const bool isUneven = areUneven(shares) && replicaSites(workload, 0).size() < 2;
    std::vector<PipelineClass> classes;
    std::vector<int> taken(runs.size(), 0);
    for (const RankShare &share : shares.ranks) {
        const ReplicaRun &run = runs[std::size_t(share.kind)];
        PipelineClass made;
        made.locations = { run.at() };
        made.microBatches = share.microBatches;
        made.firstPipeline = run.firstPipeline + taken[std::size_t(share.kind)];
        made.pipelines = share.ranks;
        made.microBatch = share.microBatch;
        made.stateShare = isUneven ? std::max(share.stateShare / workload.degrees.context, kNoStates) : 0;
        taken[std::size_t(share.kind)] += share.ranks;
        const auto like = std::ranges::find_if(classes, [&](const PipelineClass &other) {
            return other.microBatches == made.microBatches && areAlike(workload, other, made, 0);
        });
        if (like == classes.end())
            classes.push_back(std::move(made));
        else
            like->pipelines += made.pipelines;
    }
    layout.classes = std::move(classes);
}

/// A batch that takes long to share out is cut, with its ranks and states, into equal parts, as few as make it short
/// enough; says how many. One part is left in the problem.
int equalParts(ShareProblem &problem)
{
    int most = problem.batch;
    for (const RankKind &kind : problem.kinds)
        most = std::gcd(most, kind.ranks);
    int parts = 1;
    for (int next = 2; next <= most && problem.batch / parts > kQuickBatch; ++next)
        if (most % next == 0)
            parts = next;
    problem.batch /= parts;
    problem.stateBytes /= parts;
    for (RankKind &kind : problem.kinds) {
        kind.ranks /= parts;
        if (kind.stateShare)
            *kind.stateShare *= parts;
    }
    return parts;
}

} // namespace

void shareOutLayered(Workload &workload, CountedAway away)
{
    Layout &layout = workload.layout;
    const std::vector<ReplicaRun> runs = replicaRuns(workload);
    if (layout.data == 0 || runs.empty())
        return;
    if (std::string unanswered = unansweredPin(workload, runs); !unanswered.empty()) {
        layout.shares.why = "Work and states stay even: " + unanswered;
        return;
    }
    ShareProblem problem = shareProblem(workload, runs, away);
    const int copies = equalParts(problem);
    auto shares = fastShares(problem, extrapolation(problem));
    if (shares)
        for (RankShare &share : shares->ranks) {
            share.ranks *= copies;
            share.stateShare /= copies;
        }
    if (!shares) {
        const Error &error = shares.error();
        layout.shares.why = copies > 1 // whose numbers are of a part
            ? "Work and states stay even: no deal of the batch fits the memory of the GPUs"
            : "Work and states stay even: the " + error.where + " " + error.what
                + (error.right.empty() ? "" : "; expected " + error.right);
        return;
    }
    SharedOut &out = layout.shares;
    if (workload.plan->heterogeneity.state != StateSharing::Even && !problem.balancesState)
        out.why = "States stay even: the replicas of each datacenter hold all of them";
    out.layerTime = shares->layerTime;
    if (auto even = sharesBy(ShareWay::EvenAccumulated, problem))
        out.evenLayerTime = even->layerTime;
    out.slowest = int(std::ranges::max_element(shares->ranks, {}, &RankShare::time) - shares->ranks.begin());
    std::vector<int> taken(runs.size(), 0);
    for (const RankShare &share : shares->ranks) {
        const auto kind = std::size_t(share.kind);
        out.ranks.push_back(
            { runs[kind].at(), runs[kind].firstPipeline + taken[kind], share.ranks, share.samples(), share.stateShare,
                whyOf(problem, *shares, share, workload.plan->workload.globalBatch)
                    + tensorGroupsOf(runs[kind].locations) });
        taken[kind] += share.ranks;
        out.evenMicroBatch.push_back(evenMicroBatch(problem, problem.kinds[kind]));
        out.largestMicroBatch.push_back(largestMicroBatch(problem, problem.kinds[kind]));
    }
    if (problem.balancesState && areUneven(*shares))
        for (const LayerShards &some : layerShards(*shares, workload.degrees.chunks))
            out.layersUneven.insert(out.layersUneven.end(), std::size_t(some.layers), !some.isEven);
    setClasses(layout, runs, *shares, workload);
}

} // namespace trainyard
