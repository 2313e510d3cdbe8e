// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/simd_batch.h"

#include <algorithm>

// The same source for processors with wider vectors, chosen when the program starts.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)                              \
    && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TRAINYARD_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TRAINYARD_WIDEST
#endif

namespace trainyard {

namespace {

using SimdValues = Nanoseconds __attribute__((vector_size(sizeof(LaneValues)), may_alias));

/// Plain pointers, so that the loops below are one function each for every kind of processor.
struct Run {
    const LaneSteps::Step *steps;
    SimdValues *slots;
    const SimdValues *times;
    const SimdValues *lags;
};

TRAINYARD_WIDEST void runSteps(const Run &run, std::size_t first, std::size_t last)
{
    SimdValues *const slots = run.slots;
    const SimdValues *const times = run.times, *const lags = run.lags;
    for (const LaneSteps::Step *step = run.steps + first, *const end = run.steps + last; step != end; ++step) {
        const SimdValues free = slots[step->a], ready = slots[step->b] + lags[step->lag];
        slots[step->out] = (free > ready ? free : ready) + times[step->time];
    }
}

/// Whether what is carried is the snapshot plus one constant a lane; `by` is that constant.
TRAINYARD_WIDEST bool isShifted(
    const Run &run, const std::vector<LaneSteps::Carried> &carried, const SimdValues *snapshot, LaneValues &by)
{
    const SimdValues shift = run.slots[carried.front().home] - snapshot[0];
    for (std::size_t i = 1; i < carried.size(); ++i) {
        const SimdValues other = (run.slots[carried[i].home] - snapshot[i]) ^ shift;
        Nanoseconds some = 0;
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            some |= other[lane];
        if (some != 0)
            return false;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        by.of[lane] = shift[lane];
    return true;
}

void carry(const Run &run, const std::vector<LaneSteps::Carried> &carried)
{
    for (const LaneSteps::Carried &value : carried)
        run.slots[value.home] = run.slots[value.made];
}

/// Looks for two equal states (Brent): the snapshot is moved to the present after 1, 2, 4 … repetitions.
std::int64_t runRepeated(const Run &run, const LaneSteps::Stretch &stretch, SimdValues *snapshot)
{
    const std::vector<LaneSteps::Carried> &carried = stretch.carried;
    carry(run, stretch.entry);
    std::int64_t ran = 0;
    std::uint32_t done = 0, since = 0, until = 0; // the snapshot's repetition, and when it is moved
    bool looks = true;
    while (done < stretch.times) {
        runSteps(run, stretch.first, stretch.last);
        carry(run, carried);
        ran += stretch.last - stretch.first;
        ++done;
        if (!looks || carried.empty() || done < stretch.depth)
            continue;
        LaneValues by;
        if (until > 0 && isShifted(run, carried, snapshot, by)) {
            const std::uint32_t period = done - since, skipped = (stretch.times - done) / period;
            const SimdValues &shift = reinterpret_cast<const SimdValues &>(by);
            for (const LaneSteps::Carried &value : carried)
                run.slots[value.home] += shift * Nanoseconds(skipped);
            done += skipped * period;
            looks = false;
            continue;
        }
        if (done >= until) {
            for (std::size_t i = 0; i < carried.size(); ++i)
                snapshot[i] = run.slots[carried[i].home];
            since = done;
            until = 2 * done - stretch.depth + 1;
        }
    }
    return ran;
}

} // namespace

void LaneTable::fit(const LaneSteps &steps)
{
    times.assign(steps.times.size(), {});
    lags.assign(steps.lags.size(), {});
}

void LaneTable::set(std::size_t lane, const LaneSteps &steps, std::span<const Nanoseconds> durations,
    std::span<const Nanoseconds> lagsOf)
{
    for (std::size_t i = 0; i < times.size(); ++i) {
        Nanoseconds sum = 0;
        for (const std::uint32_t part : steps.times[i]) {
            if (part == LaneSteps::kZero)
                break;
            const bool isTaken = (part & LaneSteps::kNegative) != 0;
            sum += isTaken ? -durations[part & ~LaneSteps::kNegative] : durations[part];
        }
        times[i].of[lane] = sum;
    }
    for (std::size_t i = 0; i < lags.size(); ++i)
        lags[i].of[lane] = lagsOf[steps.lags[i]];
}

LaneValues endsOfLanes(const LaneSteps &steps, const LaneTable &table, LaneWorkspace &workspace)
{
    workspace.values.resize(std::max(workspace.values.size(), steps.slotCount));
    workspace.snapshot.resize(workspace.values.size());
    workspace.values[0] = {};
    const Run run { steps.steps.data(), reinterpret_cast<SimdValues *>(workspace.values.data()),
        reinterpret_cast<const SimdValues *>(table.times.data()),
        reinterpret_cast<const SimdValues *>(table.lags.data()) };
    for (const LaneSteps::Stretch &stretch : steps.stretches) {
        if (stretch.times > 1) {
            workspace.stepsRun += runRepeated(run, stretch, reinterpret_cast<SimdValues *>(workspace.snapshot.data()));
            continue;
        }
        runSteps(run, stretch.first, stretch.last);
        workspace.stepsRun += stretch.last - stretch.first;
    }
    LaneValues last;
    for (const std::uint16_t slot : steps.ends)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            last.of[lane] = std::max(last.of[lane], workspace.values[slot].of[lane]);
    return last;
}

} // namespace trainyard
