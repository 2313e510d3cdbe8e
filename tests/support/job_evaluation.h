#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluations of plans with jobs, made by hand in a few lines, so that views can be tested without scheduler and cost
// model: every GPU takes the unit of the job that has waited longest, each unit after a load of its weights.

#include "core/evaluation/evaluate/evaluation.h"

#include <algorithm>
#include <memory>
#include <string>

namespace trainyard::test {

struct JobShape {
    int jobs = 6;
    int gpus = 4, datacenters = 1; // as many in each
    int minibatches = 3, shards = 2;
    Nanoseconds unit = 100'000'000, load = 20'000'000;
    int pausedJob = -1;
};

inline Plan jobPlan(const JobShape &shape)
{
    Plan plan;
    for (int d = 0; d < shape.datacenters; ++d) {
        Datacenter place;
        place.id = "dc" + std::to_string(d);
        place.name = d == 0 ? "Oregon" : "Iowa";
        Pool pool;
        pool.id = "p";
        pool.gpu = "v100-sxm-32gb";
        pool.nodes = 1;
        pool.gpusPerNode = shape.gpus;
        place.pools.push_back(pool);
        plan.cluster.datacenters.push_back(place);
    }
    for (int j = 0; j < shape.jobs; ++j) {
        Job job;
        job.name = "model " + std::to_string(j + 1);
        job.model = "gpt-3-1.3b";
        job.minibatches = shape.minibatches;
        job.paused = j == shape.pausedJob;
        plan.jobs.push_back(job);
    }
    return plan;
}

inline EvaluationPtr jobEvaluation(const JobShape &shape = {}, PlanPtr plan = nullptr)
{
    auto made = std::make_shared<Evaluation>();
    Evaluation &e = *made;
    e.plan = plan ? plan : std::make_shared<const Plan>(jobPlan(shape));
    const int gpus = shape.gpus * shape.datacenters, units = 2 * shape.shards - 1;
    PipelineClass all;
    for (int g = 0; g < gpus; ++g)
        all.locations.push_back({ g / shape.gpus, 0 });
    e.layout.classes = { all };
    e.layout.gpusTotal = e.layout.gpusUsed = gpus;
    e.layout.data = 1;
    e.layout.chunks.resize(std::size_t(gpus));

    JobMetrics metrics;
    std::vector<int> running;
    for (int j = 0; j < shape.jobs; ++j) {
        JobResult result;
        result.name = e.plan->jobs.size() > std::size_t(j) ? e.plan->jobs[std::size_t(j)].name : "job";
        result.state = j == shape.pausedJob ? JobState::Paused : JobState::Runs;
        result.shards = shape.shards;
        metrics.perJob.push_back(result);
        if (result.state == JobState::Runs)
            running.push_back(j);
    }
    Timeline &t = e.timeline;
    // Classes: of each job its units, then its load and its store.
    const auto perJob = std::uint32_t(units + 2);
    const auto kindOf = [&](int unit) {
        return unit < shape.shards - 1 ? WorkKind::Forward
            : unit == shape.shards - 1 ? WorkKind::ForwardBackward
                                       : WorkKind::Backward;
    };
    for (std::size_t j = 0; j < running.size(); ++j)
        for (std::uint32_t c = 0; c < perJob; ++c) {
            TaskClass of;
            of.job = std::uint32_t(running[j]);
            of.kind = int(c) < units ? kindOf(int(c))
                : int(c) == units    ? WorkKind::WeightsToGpu
                                     : WorkKind::StatesToHost;
            of.bytes = int(c) < units ? 0 : 1e9;
            t.classes.push_back(of);
        }
    struct Span {
        Nanoseconds start, end;
        std::uint32_t taskClass;
        int minibatch, shard;
    };
    using Rows = std::vector<std::vector<Span>>;
    const auto rows = static_cast<std::size_t>(gpus);
    Rows compute(rows), load(rows), store(rows);
    std::vector<Nanoseconds> freeAt(rows, 0), readyAt(running.size(), 0);
    std::vector<int> done(running.size(), 0);
    std::vector<std::vector<int>> ranOn(running.size());
    const int allUnits = units * shape.minibatches;
    for (std::size_t left = running.size() * std::size_t(allUnits); left > 0; --left) {
        std::size_t job = running.size();
        for (std::size_t j = 0; j < running.size(); ++j)
            if (done[j] < allUnits && (job == running.size() || readyAt[j] < readyAt[job]))
                job = j;
        const auto g = std::size_t(std::ranges::min_element(freeAt) - freeAt.begin());
        const int unit = done[job] % units, batch = done[job] / units,
                  shard = unit < shape.shards ? unit : units - 1 - unit;
        const Nanoseconds from = std::max(freeAt[g], readyAt[job]), begin = from + shape.load, end = begin + shape.unit;
        const auto first = std::uint32_t(job) * perJob;
        load[g].push_back({ from, begin, first + std::uint32_t(units), batch, shard });
        compute[g].push_back({ begin, end, first + std::uint32_t(unit), batch, shard });
        store[g].push_back({ end, end + shape.load / 2, first + std::uint32_t(units) + 1, batch, shard });
        freeAt[g] = readyAt[job] = end;
        ++done[job];
        ranOn[job].push_back(int(g));
        JobResult &result = metrics.perJob[std::size_t(running[job])];
        result.start = std::min(result.start.value_or(1e9), double(begin) * 1e-9);
        result.end = double(end) * 1e-9;
        result.work += double(shape.unit) * 1e-9;
        t.duration = std::max(t.duration, end + shape.load / 2);
    }
    const auto addTrack = [&](Stream stream, int g, const std::vector<Span> &spans) {
        Track track;
        track.stream = stream;
        track.stage = g;
        track.first = std::uint32_t(t.start.size());
        for (const Span &span : spans) {
            t.start.push_back(span.start);
            t.end.push_back(span.end);
            t.taskClass.push_back(span.taskClass);
            t.kind.push_back(t.classes[span.taskClass].kind);
            t.microBatch.push_back(span.minibatch);
            t.chunk.push_back(std::uint16_t(span.shard));
            t.cause.push_back(kNoSpan);
            t.trackOf.push_back(std::uint32_t(t.tracks.size()));
        }
        track.last = std::uint32_t(t.start.size());
        t.tracks.push_back(track);
    };
    for (int g = 0; g < gpus; ++g) {
        addTrack(Stream::Compute, g, compute[std::size_t(g)]);
        addTrack(Stream::Store, g, store[std::size_t(g)]);
        addTrack(Stream::Load, g, load[std::size_t(g)]);
        std::vector<MemoryStep> &curve = e.memoryCurves.emplace_back(std::vector<MemoryStep> { { 0, 0 } });
        for (const Span &span : compute[std::size_t(g)]) {
            curve.push_back({ span.start, 8'000'000'000 });
            curve.push_back({ span.end, 1'000'000'000 });
        }
    }
    for (std::size_t j = 0; j < running.size(); ++j) {
        std::ranges::sort(ranOn[j]);
        ranOn[j].erase(std::ranges::unique(ranOn[j]).begin(), ranOn[j].end());
        metrics.perJob[std::size_t(running[j])].ranOn = ranOn[j];
        metrics.perJob[std::size_t(running[j])].gpus = 1;
        metrics.boundLongest = std::max(metrics.boundLongest.value_or(0), metrics.perJob[std::size_t(running[j])].work);
        metrics.boundShared = metrics.boundShared.value_or(0) + metrics.perJob[std::size_t(running[j])].work / gpus;
    }
    metrics.makespan = double(t.duration) * 1e-9;
    metrics.bound = std::max(metrics.boundLongest.value_or(0), metrics.boundShared.value_or(0));
    metrics.gpuUtilization = 0.8;
    for (int d = 0; d < shape.datacenters; ++d) {
        HostUse host;
        host.datacenter = d;
        host.capacity = 500e9;
        host.peak = 300'000'000'000;
        host.curve = { { 0, 200'000'000'000 }, { t.duration / 2, 300'000'000'000 }, { t.duration, 100'000'000'000 } };
        metrics.hosts.push_back(host);
    }
    metrics.hostPeak = 300'000'000'000;
    e.metrics.jobs = metrics;
    e.metrics.gpusUsed = e.metrics.gpusTotal = gpus;
    e.metrics.spans = t.start.size();
    return made;
}

} // namespace trainyard::test
