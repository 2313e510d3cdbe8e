#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The spans of a schedule of jobs, GPU by GPU, for what checks it.

#include "core/systems/jobs/run_jobs.h"

#include <algorithm>
#include <string>
#include <vector>

namespace trainyard::test {

struct JobSpan {
    Nanoseconds start = 0, end = 0;
    std::uint32_t job = 0, span = 0;
    std::int32_t minibatch = 0;
    int shard = 0;
    double bytes = 0;
    std::size_t gpu = 0;
    // of a unit
    std::size_t unit = 0; // over all mini-batches
    bool goesOn = false; // with the weights of the unit before, which was there right before it
    double held = 0, owed = 0;
    int load = -1, store = -1; // of its GPU
};

struct GpuSpans {
    std::vector<JobSpan> units, loads, stores;
};

/// [GPU]. A span that belongs to no GPU or no job stands behind them all.
inline std::vector<GpuSpans> spansOf(const JobSet &set, const Timeline &timeline)
{
    std::vector<GpuSpans> gpus(set.gpus.size() + 1);
    for (const Track &track : timeline.tracks)
        for (std::uint32_t s = track.first; s < track.last; ++s) {
            const TaskClass &is = timeline.classOf(s);
            const bool isKnown =
                track.stage >= 0 && std::size_t(track.stage) < set.gpus.size() && is.job < set.jobs.size();
            GpuSpans &gpu = isKnown ? gpus[std::size_t(track.stage)] : gpus.back();
            const JobSpan span { timeline.start[s], timeline.end[s], is.job, s, timeline.microBatch[s],
                timeline.chunk[s], timeline.bytesMoved(s), std::size_t(track.stage) };
            if (track.stream == Stream::Compute)
                gpu.units.push_back(span);
            else
                (track.stream == Stream::Load ? gpu.loads : gpu.stores).push_back(span);
        }
    if (gpus.back().units.empty() && gpus.back().loads.empty() && gpus.back().stores.empty())
        gpus.pop_back();
    return gpus;
}

inline std::vector<JobSpan> merged(std::vector<JobSpan> a, const std::vector<JobSpan> &b)
{
    a.insert(a.end(), b.begin(), b.end());
    std::ranges::stable_sort(a, {}, &JobSpan::start);
    return a;
}

/// Without spilling a job is on one GPU from its first unit to its last, and the states of one shard come there once
/// and go once. What is wrong; empty: nothing.
inline std::string leavesItsGpu(const JobSet &set, const std::vector<GpuSpans> &gpus)
{
    std::vector<bool> hasHome(set.jobs.size(), false);
    for (std::size_t g = 0; g < gpus.size(); ++g) {
        for (std::size_t i = 0; i < gpus[g].units.size(); ++i) {
            const std::uint32_t job = gpus[g].units[i].job;
            if (i > 0 && gpus[g].units[i - 1].job == job)
                continue;
            if (hasHome[job])
                return "job " + std::to_string(job) + " has left its GPU before it has ended";
            hasHome[job] = true;
        }
        for (const std::vector<JobSpan> *moves : { &gpus[g].loads, &gpus[g].stores }) {
            std::vector<int> moved(set.jobs.size(), 0);
            for (const JobSpan &move : *moves) {
                const std::vector<JobUnit> &units = set.jobs[move.job].units;
                if (units.size() == 1 && units[0].output == 0 && ++moved[move.job] > 1)
                    return "states of job " + std::to_string(move.job) + " move again";
            }
        }
    }
    return {};
}

} // namespace trainyard::test
