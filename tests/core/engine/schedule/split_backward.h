#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Verbs for tests of schedules that split the backward: times of equal stages, a program by them, and what the engine
// says of it with the same times.

#include "tests/core/iteration/graph/pipelines.h"

#include "core/engine/schedule/traits.h"

#include <cmath>

namespace split_backward {

using namespace pipelines;

inline constexpr Nanoseconds kUnit = 1'000'000'000;

struct Split {
    double forward = 1, inputGrad = 1, weightGrad = 1, boundary = 0;
};

inline Nanoseconds ticks(double units)
{
    return std::llround(units * kUnit);
}

inline ScheduleTimes timesOf(int virtualStages, Split t)
{
    ScheduleTimes times;
    times.stages.assign(
        static_cast<std::size_t>(virtualStages), { ticks(t.forward), ticks(t.inputGrad), ticks(t.weightGrad), 0 });
    times.boundaries.assign(times.stages.size() - 1, ticks(t.boundary));
    return times;
}

inline Program make(ScheduleKind kind, const ScheduleShape &shape, const ScheduleTimes &times = {})
{
    auto made = makeProgram(kind, shape, times);
    if (!made)
        qFatal("%s", toString(made.error()).c_str());
    return std::move(*made);
}

/// Costs with the times that the schedule knew, stage by stage.
inline IterationCosts costsOf(Program program, const ScheduleTimes &times)
{
    IterationCosts costs = even(std::move(program), {});
    PipelineCosts &pipeline = costs.classes.front();
    for (int q = 0; q < pipeline.program.virtualStages(); ++q) {
        const ScheduleTimes::Stage &t = times.stages[static_cast<std::size_t>(q)];
        const int slot = pipeline.program.deviceOf(q) * pipeline.program.shape.chunks + pipeline.program.chunkOf(q);
        pipeline.ops[static_cast<std::size_t>(slot)] = { t.forward, t.inputGrad + t.weightGrad, t.inputGrad,
            t.weightGrad, t.recompute };
    }
    for (std::size_t q = 0; q + 1 < times.stages.size(); ++q)
        pipeline.boundaries[q].serialization[0] = pipeline.boundaries[q].serialization[1] = times.boundaries[q];
    return costs;
}

struct Outcome {
    Nanoseconds makespan = 0, longestSpan = 0;
    double peak = 0;
};

inline Outcome outcome(const Program &program, const ScheduleTimes &times)
{
    const Timeline timeline = run(costsOf(program, times));
    Outcome result { timeline.duration, 0, std::ranges::max(peakInFlight(program, times.keptForWeightGrad)) };
    for (const Track &track : timeline.tracks)
        result.longestSpan = std::max(result.longestSpan, timeline.end[track.last - 1] - timeline.start[track.first]);
    return result;
}

/// The zero-bubble paper's: of the device that takes longest, without a common end.
inline double bubbleRate(const Outcome &result, Split t, int microBatches, int chunks = 1)
{
    const double busy = microBatches * chunks * (t.forward + t.inputGrad + t.weightGrad) * kUnit;
    return (static_cast<double>(result.longestSpan) - busy) / static_cast<double>(result.longestSpan);
}

} // namespace split_backward
