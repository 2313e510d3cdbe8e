// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/fill_metrics_internal.h"

#include "core/engine/timeline/analysis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard {

namespace {

Metric quantileMs(const std::vector<Nanoseconds> &sorted, double q)
{
    return sorted.empty() ? Metric() : Metric(double(quantile(sorted, q)) * 1e-6);
}

bool isDrawn(Arrivals arrivals)
{
    return arrivals == Arrivals::Poisson || arrivals == Arrivals::Bursty;
}

double idleGpuSeconds(const FreeWindows &free)
{
    double idle = 0;
    for (const AdmissionWindows &location : free.locations)
        idle += toSeconds(location.idle).value * location.gpus;
    return idle;
}

/// What the same GPU time costs at the pools' prices, dollars for one iteration.
double rentalUsd(const Workload &workload, const ServingSetup &setup, const AdmittedRequests &admission)
{
    std::vector<double> perSecond;
    for (const AdmissionWindows &location : setup.free.locations)
        perSecond.push_back(
            workload.pool(location.location).usdPerGpuHour.value_or(workload.gpu(location.location).usdPerHour) / 3600);
    double usd = 0;
    forEachSlice(setup, admission, [&](const GroupMember &member, Nanoseconds from, Nanoseconds to) {
        usd += toSeconds(to - from).value * perSecond[std::size_t(member.location)];
    });
    return usd;
}

/// With those that were not placed because there are too many: bubbles are full by then, or none of them can be served.
std::array<std::int64_t, kRefusals> allRefusals(const ServingSetup &setup, const AdmittedRequests &admission)
{
    std::array<std::int64_t, kRefusals> refused = admission.refused;
    const auto mostOften = std::size_t(std::ranges::max_element(refused) - refused.begin());
    refused[admission.accepted.empty() ? mostOften : std::size_t(Refusal::Full)] +=
        std::accumulate(setup.arrived.begin(), setup.arrived.end(), std::int64_t(0))
        - std::int64_t(setup.requests.size());
    return refused;
}

/// Calls visit(request, accepted) for every accepted prompt.
template <class Visit> void forEachPrompt(const ServingSetup &setup, const AdmittedRequests &admission, Visit visit)
{
    for (const AdmittedRequests::Accepted &accepted : admission.accepted) {
        const PromptBatch &batch = setup.batches.batches[accepted.request];
        for (std::uint32_t i = batch.first; i < batch.first + batch.count; ++i)
            visit(setup.requests[setup.batches.prompts[i]], accepted);
    }
}

/// Of a prompt what its batch waited for others beside what it waited itself.
Nanoseconds waitForBatch(
    const ServingSetup &setup, const PrefillRequest &request, const AdmittedRequests::Accepted &accepted)
{
    return setup.batches.batches[accepted.request].arrival - request.arrival;
}

/// Of all accepted prompts, one by one: the slices of one add up to its prefill on one GPU.
double aloneSeconds(const ServingSetup &setup, const AdmittedRequests &admission)
{
    Nanoseconds sum = 0;
    for (const AdmittedRequests::Accepted &accepted : admission.accepted) {
        const auto size = std::size_t(setup.sized[accepted.request].size);
        for (const ServingGroup::Member &member : setup.plan.groups[accepted.group].members)
            sum += setup.alone[size][std::size_t(member.kind)] * setup.plan.sizes[size].prompts;
    }
    return toSeconds(sum).value;
}

void addTimes(BubbleFillMetrics &filled, const ServingSetup &setup, const AdmittedRequests &admission)
{
    std::vector<Nanoseconds> ttfts;
    double waits = 0;
    forEachPrompt(setup, admission, [&](const PrefillRequest &request, const AdmittedRequests::Accepted &accepted) {
        const Nanoseconds wait = waitForBatch(setup, request, accepted);
        ttfts.push_back(accepted.ttft + wait);
        waits += toSeconds(accepted.wait + wait).value;
    });
    std::ranges::sort(ttfts);
    filled.waiting = waits / toSeconds(setup.free.period).value; // Little's law
    filled.ttftP50Ms = quantileMs(ttfts, 0.5);
    filled.ttftP95Ms = quantileMs(ttfts, 0.95);
    filled.ttftP99Ms = quantileMs(ttfts, 0.99);
    if (ttfts.empty())
        return;
    filled.dedicatedTtftMs = aloneSeconds(setup, admission) * 1e3 / double(ttfts.size());
    filled.ttftInflation = *filled.ttftP50Ms / *filled.dedicatedTtftMs;
}

void addModels(
    BubbleFillMetrics &filled, const BubbleFill &fill, const ServingSetup &setup, const AdmittedRequests &admission)
{
    if (fill.served.empty())
        return;
    std::vector<std::vector<Nanoseconds>> ttfts(setup.arrived.size());
    forEachPrompt(setup, admission, [&](const PrefillRequest &request, const AdmittedRequests::Accepted &accepted) {
        ttfts[std::size_t(request.model)].push_back(accepted.ttft + waitForBatch(setup, request, accepted));
    });
    for (std::size_t model = 0; model < ttfts.size(); ++model) {
        std::ranges::sort(ttfts[model]);
        const auto accepted = std::int64_t(ttfts[model].size());
        filled.served.push_back({ model == 0 ? fill.model : fill.served[model - 1].model, accepted,
            setup.arrived[model] - accepted, quantileMs(ttfts[model], 0.5), quantileMs(ttfts[model], 0.99) });
    }
}

/// What bubbles and decode pool take in a second of what arrives.
void addLimits(BubbleFillMetrics &filled, const ServingSetup &setup)
{
    const double iteration = toSeconds(setup.free.period).value;
    Metric decoded;
    if (const std::optional<DecodeCapacity> &decode = setup.plan.decode) {
        filled.decodeRequests = double(decode->requests);
        decoded = decode->stay > 0 ? double(decode->requests) / toSeconds(decode->stay).value : 0;
        filled.decodeRequestsPerSecond = decoded;
    }
    const FillLoad load = fillLoad(setup.plan, setup.sized);
    if (load.arrive > 0 && setup.plan.repeats)
        filled.saturationRequestsPerSecond = std::min(load.held / iteration, decoded.value_or(INFINITY));
}

} // namespace

double prefillGpuSeconds(const ServingSetup &setup, const AdmittedRequests &admission)
{
    Nanoseconds sum = 0;
    forEachSlice(setup, admission, [&](const GroupMember &, Nanoseconds from, Nanoseconds to) { sum += to - from; });
    return toSeconds(sum).value;
}

BubbleFillMetrics fillMetrics(const Workload &workload, const ServingSetup &setup, const AdmittedRequests &admission)
{
    const BubbleFill &fill = workload.plan->bubbleFill;
    const double iteration = toSeconds(setup.free.period).value;
    BubbleFillMetrics filled;
    const std::array<std::int64_t, kRefusals> refusals = allRefusals(setup, admission);
    filled.rejected = std::accumulate(refusals.begin(), refusals.end(), std::int64_t(0));
    const auto refused = [&](Refusal why) { return refusals[std::size_t(why)]; };
    filled.rejectedForMemory = refused(Refusal::Memory);
    filled.rejectedForWindow = refused(Refusal::Window);
    filled.rejectedAsFull = refused(Refusal::Full);
    filled.rejectedAsLate = refused(Refusal::Late);
    filled.rejectedByDecode = refused(Refusal::Decode);
    filled.groups = int(setup.groups.size());
    filled.gpus = filled.groups * fill.stages;
    const double idle = idleGpuSeconds(setup.free);
    filled.filledFraction = idle > 0 ? prefillGpuSeconds(setup, admission) / idle : 0;
    double tokens = 0;
    std::int64_t largest = 0;
    forEachPrompt(setup, admission, [&](const PrefillRequest &request, const AdmittedRequests::Accepted &accepted) {
        ++filled.accepted;
        tokens += request.tokens;
        largest = std::max(largest, setup.plan.sizes[std::size_t(setup.sized[accepted.request].size)].kvSlice);
    });
    filled.prefillTokensPerSecond = tokens / iteration;
    addTimes(filled, setup, admission);
    addModels(filled, fill, setup, admission);
    addLimits(filled, setup);
    if (std::ranges::any_of(servedFills(fill), [](const BubbleFill &own) { return isDrawn(own.arrivals); }))
        filled.seed = fill.seed;
    filled.iterations = admission.iterations;
    filled.isSettled = admission.isSettled;
    filled.memoryPerGpu = filled.accepted > 0 ? setup.plan.weightSlice + 2 * largest : 0;
    if (fill.usdPerMillionTokens > 0)
        filled.usdPerHour = filled.prefillTokensPerSecond * 3600 / 1e6 * fill.usdPerMillionTokens;
    else if (const double usd = rentalUsd(workload, setup, admission); usd > 0)
        filled.usdPerHour = usd * 3600 / iteration;
    return filled;
}

Nanoseconds trainingDelay(const Timeline &timeline, const ServingSetup &setup, const AdmittedRequests &admission)
{
    std::vector<std::uint32_t> trackOf; // of each location, which follow the compute tracks
    for (std::uint32_t t = 0; t < timeline.tracks.size(); ++t) {
        if (timeline.tracks[t].stream == Stream::Compute)
            trackOf.push_back(t);
    }
    Nanoseconds longest = 0;
    const auto check = [&](std::uint32_t track, Nanoseconds from, Nanoseconds to) {
        const std::uint32_t last = timeline.tracks[track].last;
        for (std::uint32_t span = firstSpanAfter(timeline, track, from); span < last && timeline.start[span] < to;
             ++span) {
            if (timeline.end[span] > from && timeline.end[span] > timeline.start[span])
                longest = std::max(longest, to - timeline.start[span]);
        }
    };
    const Nanoseconds period = setup.free.period;
    forEachSlice(setup, admission, [&](const GroupMember &member, Nanoseconds from, Nanoseconds to) {
        const std::uint32_t track = trackOf[std::size_t(member.location)];
        check(track, from, std::min(period, to));
        if (to > period)
            check(track, 0, to - period);
    });
    return longest;
}

} // namespace trainyard
