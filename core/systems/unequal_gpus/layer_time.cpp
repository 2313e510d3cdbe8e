// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/layer_time.h"

#include "core/base/number_text.h"
#include "core/base/words.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>

namespace trainyard {

namespace {

bool areTimesOrBytes(const std::vector<double> &table)
{
    return std::ranges::all_of(table, [](double x) { return std::isfinite(x) && x >= 0; });
}

/// Largest m whose compute leaves room for `states` bytes.
int largestBeside(const RankKind &kind, double states)
{
    int largest = 0;
    for (int m = 1; m <= tableSize(kind) && computeBytes(kind, m, 1) + states <= kind.room + kByteOfRounding; ++m)
        largest = m;
    return largest;
}

Expected<void> wrong(const std::string &where, std::string what, std::string right)
{
    return std::unexpected(Error { ErrorCode::BadValue, where, std::move(what), std::move(right) });
}

Expected<void> checkedKind(const RankKind &kind, const std::string &name)
{
    if (kind.ranks < 0 || kind.ranks > kMostRanks)
        return wrong(name, formatted("has %d ranks", kind.ranks), formatted("from 0 to %d", kMostRanks));
    if (kind.ranks > 0 && tableSize(kind) == 0)
        return wrong(
            name, "has no times or memory of a layer", "forward, backward and memory for micro-batch 1 at least");
    if (!areTimesOrBytes(kind.forward) || !areTimesOrBytes(kind.backward) || !areTimesOrBytes(kind.compute))
        return wrong(name, "has times or bytes that are below 0 or not finite", "0 or more");
    if (!std::isfinite(kind.room) || !std::isfinite(kind.perSample) || kind.perSample < 0)
        return wrong(name, "has bytes that are not finite", "0 or more");
    if (kind.microBatch.value_or(0) < 0 || kind.microBatches.value_or(0) < 0)
        return wrong(name, "is pinned to a micro-batch or a count of them below 0", "0 or more");
    if (kind.microBatch.value_or(0) > tableSize(kind))
        return wrong(name, formatted("is pinned to micro-batch %d", *kind.microBatch),
            formatted("at most %d, the largest that is known of it", tableSize(kind)));
    if (const double share = kind.stateShare.value_or(0); !(share >= 0 && share <= 1))
        return wrong(name, "is pinned to " + percentText(share) + " of the states", "from 0 to 1");
    return {};
}

} // namespace

std::string nameOf(const ShareProblem &problem, int kind)
{
    const std::string &name = problem.kinds[std::size_t(kind)].name;
    return name.empty() ? "GPUs of kind " + std::to_string(kind + 1) : name;
}

int tableSize(const RankKind &kind)
{
    return int(std::min({ kind.forward.size(), kind.backward.size(), kind.compute.size() }));
}

int rankCount(const ShareProblem &problem)
{
    int ranks = 0;
    for (const RankKind &kind : problem.kinds)
        ranks += kind.ranks;
    return ranks;
}

double computeBytes(const RankKind &kind, int microBatch, int microBatches)
{
    if (microBatch == 0 || microBatches == 0)
        return 0;
    return *std::max_element(kind.compute.begin(), kind.compute.begin() + microBatch)
        + kind.perSample * microBatch * microBatches;
}

double evenShare(const ShareProblem &problem)
{
    double pinned = 0;
    int rest = 0;
    for (const RankKind &kind : problem.kinds) {
        if (kind.stateShare)
            pinned += kind.ranks * *kind.stateShare;
        else
            rest += kind.ranks;
    }
    return rest > 0 ? std::max(0.0, 1 - pinned) / rest : 0;
}

double evenBytes(const ShareProblem &problem, const RankKind &kind)
{
    constexpr double kSame = 1e-9; // shares that people type: 0.3333333333
    if (kind.stateShare && std::abs(*kind.stateShare - 1.0 / rankCount(problem)) > kSame)
        return std::numeric_limits<double>::infinity();
    return kind.stateShare.value_or(evenShare(problem)) * problem.stateBytes;
}

bool holdsEvenShare(const ShareProblem &problem, const RankKind &kind, int microBatch, int microBatches)
{
    return computeBytes(kind, microBatch, microBatches) + evenBytes(problem, kind) <= kind.room + kByteOfRounding;
}

double layerTime(const ShareProblem &problem, const RankKind &kind, int microBatch, int microBatches)
{
    const bool isEven = holdsEvenShare(problem, kind, microBatch, microBatches);
    return layerTimeAt(problem, kind, microBatch, microBatches, isEven ? 1 : problem.unevenPenalty);
}

double layerTimeAt(const ShareProblem &problem, const RankKind &kind, int microBatch, int microBatches, double penalty)
{
    const bool works = microBatch > 0 && microBatches > 0;
    const int count = works ? microBatches : 0;
    const double f = works ? kind.forward[std::size_t(microBatch) - 1] : 0;
    const double b = works ? kind.backward[std::size_t(microBatch) - 1] : 0;
    const double waits = std::max(0, count - 1) * problem.overhead;
    const double gather = penalty * problem.gather, both = penalty * (problem.gather + problem.reduceScatter);
    const auto pass = [&problem](double collective, double compute) {
        return problem.overlaps ? std::max(collective, compute) : collective + compute;
    };
    const double again = problem.recomputes ? 1 : 0;
    if (!problem.layered)
        return std::max(1, count) * (pass(gather, f) + pass(both, again * f + b)) + waits;
    const double forward = count * f, backward = waits + count * (again * f + b);
    return pass(gather, forward) + pass(both, backward);
}

int evenMicroBatch(const ShareProblem &problem, const RankKind &kind)
{
    return largestBeside(kind, evenShare(problem) * problem.stateBytes);
}

int largestMicroBatch(const ShareProblem &problem, const RankKind &kind)
{
    return largestBeside(kind, kind.stateShare.value_or(0) * problem.stateBytes);
}

Expected<void> checked(const ShareProblem &problem)
{
    for (std::size_t k = 0; k < problem.kinds.size(); ++k)
        if (auto kind = checkedKind(problem.kinds[k], nameOf(problem, int(k))); !kind)
            return kind;
    if (rankCount(problem) == 0)
        return wrong("GPUs", "there are none", "at least one");
    if (problem.batch < 1 || problem.batch > kMostSamples)
        return wrong("batch", formatted("is %d samples", problem.batch), formatted("from 1 to %d", kMostSamples));
    for (const double seconds : { problem.gather, problem.reduceScatter, problem.overhead, problem.stateBytes })
        if (!std::isfinite(seconds) || seconds < 0)
            return wrong("collectives and states", "take what is below 0 or not finite", "0 or more");
    if (!(problem.unevenPenalty >= 1) || !std::isfinite(problem.unevenPenalty))
        return wrong("penalty of uneven collectives", "is " + plainText(problem.unevenPenalty), "1 or more");
    double pinned = 0;
    int rest = 0;
    std::int64_t samples = 0;
    for (const RankKind &kind : problem.kinds) {
        pinned += kind.ranks * kind.stateShare.value_or(0);
        rest += kind.stateShare ? 0 : kind.ranks;
        const std::int64_t each = std::int64_t(kind.microBatch.value_or(0)) * kind.microBatches.value_or(0);
        samples += kind.ranks * std::min<std::int64_t>(each, problem.batch + 1);
    }
    if (samples > problem.batch)
        return wrong("pinned shares of the batch", "add up to more than its " + counted(problem.batch, "sample"),
            "fewer pinned samples, or a larger batch");
    constexpr double kTyped = 1e-6;
    if (pinned > 1 + kTyped || (rest == 0 && pinned < 1 - kTyped))
        return wrong("pinned shares of the states", "add up to " + percentText(pinned),
            rest == 0 ? "100 %, since all ranks are pinned" : "100 % at most");
    return {};
}

ShareProblem without(ShareProblem problem, int kind, int ranks)
{
    RankKind &left = problem.kinds[std::size_t(kind)];
    left.ranks = std::max(0, left.ranks - ranks);
    return problem;
}

} // namespace trainyard
