#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// An evaluation of a plan with jobs, put together by hand: two GPUs of one host, two jobs that run (of two and of one
// mini-batch, in two shards), one that is paused and one that cannot run.

#include "tests/core/evaluation/report/sample_evaluation.h"

namespace trainyard::test {

inline Plan jobPlan()
{
    Plan plan;
    plan.name = "Two jobs";
    Datacenter &lab = plan.cluster.datacenters.emplace_back();
    lab.id = "lab";
    lab.name = "Lab";
    Pool &pool = lab.pools.emplace_back();
    pool.id = "lab-v100";
    pool.gpu = "v100-sxm-16gb";
    pool.nodes = 1;
    pool.gpusPerNode = 2;
    plan.jobs = { { "first <&", "gpt-3-1.3b", 8, 2 }, { "second", "gpt-3-1.3b", 8, 1 }, { "waits", "gpt-3-1.3b" },
        { "too large", "gpt-3-175b" } };
    plan.jobs[1].deadlineS = 4;
    plan.jobs[2].paused = true;
    return plan;
}

/// GPU 0: a load of job 0 (0..1 s), its unit (1..4 s), its store (4..5 s); GPU 1: units of job 1 (0..3 s and 3..5 s).
inline Timeline jobTimeline()
{
    constexpr Nanoseconds kSecond = 1'000'000'000;
    Timeline t;
    t.classes = { { .kind = WorkKind::Forward, .job = 0 }, { .kind = WorkKind::WeightsToGpu, .bytes = 2e9, .job = 0 },
        { .kind = WorkKind::StatesToHost, .bytes = 3e9, .job = 0 }, { .kind = WorkKind::ForwardBackward, .job = 1 },
        { .kind = WorkKind::Backward, .job = 1 } };
    const auto add = [&](std::uint32_t track, std::uint32_t of, int shard, int begin, int end) {
        const std::uint32_t span = addSpan(t, track, t.classes[of].kind, 0, begin * kSecond, end * kSecond);
        t.chunk[span] = std::uint16_t(shard);
        t.taskClass.push_back(of);
    };
    add(0, 0, 0, 1, 4);
    add(1, 3, 1, 0, 3);
    add(1, 4, 0, 3, 5);
    add(2, 1, 0, 0, 1);
    add(3, 2, 0, 4, 5);
    t.tracks = { { Stream::Compute, 0, 0, -1, -1, 0, 1 }, { Stream::Compute, 0, 1, -1, -1, 1, 3 },
        { Stream::Load, 0, 0, -1, -1, 3, 4 }, { Stream::Store, 0, 0, -1, -1, 4, 5 } };
    return t;
}

inline std::shared_ptr<Evaluation> jobSample()
{
    auto e = std::make_shared<Evaluation>();
    e->plan = std::make_shared<const Plan>(jobPlan());
    e->timeline = jobTimeline();
    PipelineClass all;
    all.locations = { { 0, 0 }, { 0, 0 } };
    e->layout.classes = { all };
    e->layout.data = 1;
    Metrics &m = e->metrics;
    m.gpusUsed = m.gpusTotal = 2;
    m.spans = 5;
    JobMetrics jobs;
    jobs.makespan = 5;
    jobs.boundShared = 4;
    jobs.boundLongest = 3.5;
    jobs.bound = 4;
    jobs.gpuUtilization = 0.8;
    jobs.usd = 0.5;
    jobs.hostPeak = 90'000'000'000;
    JobResult first { .name = "first <&", .start = 1.0, .end = 4.0, .gpus = 1, .ranOn = { 0 }, .shards = 2, .work = 3 };
    first.slowdown = 1.25, first.gpuSeconds = 3, first.bytesLoaded = 2e9, first.bytesStored = 3e9;
    first.hostBytes = 40e9, first.usd = 0.2;
    JobResult second = first;
    second.name = "second", second.start = 0.0, second.end = 5.0, second.ranOn = { 0, 1 }, second.deadline = 4.0;
    second.usd = 0.3, second.isMeasured = true;
    JobResult waits { .name = "waits", .state = JobState::Paused };
    JobResult tooLarge { .name = "too large", .state = JobState::CannotRun };
    tooLarge.why = "a layer needs 20 GB, a GPU has 16 GB";
    jobs.perJob = { first, second, waits, tooLarge };
    jobs.hosts = { { 0, 0, 0, 100e9, 90'000'000'000, { { 0, 90'000'000'000 }, { 4'000'000'000, 50'000'000'000 } } } };
    m.jobs = jobs;
    MemoryMetrics memory;
    for (int gpu = 0; gpu < 2; ++gpu) {
        StageMemory &of = memory.perStage.emplace_back();
        of.stage = gpu, of.peak = of.reserved = 12'000'000'000, of.device = 13'000'000'000,
        of.capacity = 16'000'000'000;
    }
    memory.peak = 12'000'000'000, memory.capacity = 16'000'000'000;
    m.memory = memory;
    e->problems = { { Severity::Blocking, "Job too large cannot run: a layer needs 20 GB.", "jobs[3].model", {} } };
    return e;
}

} // namespace trainyard::test
