// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/model_states/optimizer_step.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace trainyard {

namespace {

Seconds over(double parameters, double perSecond)
{
    return Seconds { parameters <= 0 ? 0
            : perSecond > 0          ? parameters / perSecond
                                     : std::numeric_limits<double>::infinity() };
}

Seconds over(Bytes bytes, BytesPerSecond rate)
{
    return over(bytes.value, rate.value);
}

double groupCount(const StepGroups &groups)
{
    return std::max(1.0, std::ceil(groups.parameters / std::max(1.0, groups.group)));
}

int groupsInARow(const StepGroups &groups)
{
    return groups.isPipelined ? static_cast<int>(std::min(groupCount(groups), 1e9)) : 1;
}

Seconds inTurns(const StepGroups &groups, std::initializer_list<Seconds> streams)
{
    Seconds longest, sum;
    for (const Seconds t : streams) {
        longest = std::max(longest, t);
        sum += t;
    }
    if (!std::isfinite(longest.value))
        return longest;
    return groups.isPipelined ? longest + (sum - longest) / groupCount(groups) : sum;
}

} // namespace

OffloadedStep hostStep(const StepGroups &groups, const StateBytes &bytes, const StateRates &rates)
{
    OffloadedStep step;
    step.sent = Bytes { groups.parameters * bytes.gradient };
    step.fetched = Bytes { groups.parameters * bytes.weight };
    step.toHost = over(step.sent, rates.toHost);
    step.toGpu = over(step.fetched, rates.toGpu);
    step.cpu = over(groups.parameters, rates.cpuAdam) + over(groups.parameters, rates.cpuCast);
    step.time = inTurns(groups, { step.toHost, step.cpu, step.toGpu });
    step.groups = groupsInARow(groups);
    return step;
}

OffloadedStep driveStep(const StepGroups &groups, const StateBytes &bytes, const StateRates &rates)
{
    OffloadedStep step = hostStep(groups, bytes, rates); // with the host between the GPU and the drives
    step.readBack = Bytes { groups.parameters * (bytes.states + bytes.storedGradient) };
    step.written = Bytes { groups.parameters * bytes.states };
    step.read = over(step.readBack, rates.read);
    step.write = over(step.written, rates.write);
    step.time = inTurns(groups, { step.read + step.write, step.cpu, step.toHost, step.toGpu });
    step.written += Bytes { groups.parameters * bytes.storedGradient }; // during backward
    return step;
}

Seconds gradientWrites(const StepGroups &groups, const StateBytes &bytes, const StateRates &rates)
{
    return over(Bytes { groups.parameters * bytes.storedGradient }, rates.write);
}

OffloadedStep interleavedStep(const StepGroups &groups, const StateBytes &bytes, const StateRates &rates, int stride)
{
    constexpr int kMostGroups = 64; // beyond, the GPU's share is too small to matter
    const auto stepAt = [&](int k) {
        const double onGpu = groups.parameters * (groups.gpuShare > 0 ? groups.gpuShare : 1.0 / k),
                     onHost = groups.parameters - onGpu;
        OffloadedStep step;
        step.stride = k;
        step.groups = groupsInARow(groups);
        step.sent = Bytes { onGpu * bytes.states + onHost * bytes.gradient };
        step.fetched = Bytes { onGpu * bytes.states + onHost * bytes.weight };
        step.cpu = over(onHost, rates.cpuAdam) + over(onHost, rates.cpuCast);
        step.gpu = over(onGpu, rates.gpuAdam);
        step.toHost = over(step.sent, rates.toHost);
        step.toGpu = over(step.fetched, rates.toGpu);
        step.statesToGpu = over(step.sent, rates.toGpu);
        const Seconds link = groups.copiesTakeTurns ? step.toHost + step.toGpu : std::max(step.toHost, step.toGpu);
        step.time = std::max({ step.cpu, step.gpu, link });
        return step;
    };
    OffloadedStep best = stepAt(stride > 0 ? stride : 1);
    for (int k = 2; stride <= 0 && k <= kMostGroups && k <= groupCount(groups); ++k)
        if (const OffloadedStep step = stepAt(k); step.time < best.time)
            best = step;
    return best;
}

Seconds delayedStep(Seconds step, Seconds computeOfIteration)
{
    return std::max(Seconds {}, step - computeOfIteration);
}

} // namespace trainyard
