// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/lone_job.h"

#include "core/iteration/job_shards/job_places.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace trainyard {

namespace {

constexpr int kBufferSteps = 32, kMostBufferSteps = 20; // as chooseCuts() tries them
constexpr std::int64_t kUnitsTried = 400;
constexpr double kNever = std::numeric_limits<double>::infinity();

double endOf(const JobSet &set, const JobRules &run, SimulationWorkspace &workspace)
{
    const auto ran = runJobs(set, run, workspace);
    return !ran || ran->jobs.front().end == JobTimes::kNever ? kNever : toSeconds(ran->jobs.front().end).value;
}

/// A cluster of that GPU and that host alone.
JobSet clusterOf(const LonePlace &place, const JobSet &set)
{
    JobSet alone;
    JobGpu gpu = set.gpus[std::size_t(place.gpu)];
    gpu.node = 0;
    alone.gpus = { gpu };
    alone.nodes = { { 0, set.nodes[std::size_t(place.node)].memory } };
    alone.routes = { { place.rate, place.rate, {}, {} } };
    alone.routeOf = { { place.rate > 0 ? 0 : -1 } };
    alone.isFullDuplex = set.isFullDuplex;
    return alone;
}

/// So many even shards, for numbers that depend on the model alone: more memory only adds to those that fit.
void addEvenCuts(std::vector<ModelCut> &cuts, const CutGroup &group, std::size_t kind, double memory)
{
    ShardModel &model = *group.model;
    std::vector<double> weights;
    for (int piece = 0; piece < model.pieces(); ++piece)
        weights.push_back(model.bytes({ piece, piece + 1 }).parameters);
    for (int shards = 1; shards <= model.pieces(); shards += std::max(1, shards / 8)) {
        ModelCut cut;
        cut.shards = evenPartition(weights, shards);
        const bool fits = std::ranges::all_of(cut.shards, [&](Pieces of) {
            const ShardBytes &bytes = model.bytes(of);
            return std::max(bytes.forward, bytes.backward) <= memory;
        });
        const auto isSame = [&](const ModelCut &known) { return known.shards == cut.shards; };
        if (!fits || std::ranges::any_of(cuts, isSame))
            continue;
        cut.kinds.assign(group.gpus.size(), 0);
        cut.leftOut = cut.kinds;
        cut.kinds[kind] = 1;
        cuts.push_back(std::move(cut));
    }
}

/// Those that differ, of all shares of a buffer, and even ones.
std::vector<ModelCut> cutsFor(
    CutGroup group, std::size_t kind, const std::vector<CutKind> &kinds, const CutRules &rules)
{
    std::vector<ModelCut> cuts;
    const int gpus = std::max(1, group.gpus[kind]);
    group.gpus.assign(kinds.size(), 0);
    group.gpus[kind] = gpus;
    for (int step = 0; step <= (rules.doubleBuffer ? kMostBufferSteps : 0); ++step) {
        ModelCut cut = cutFor(group, kinds, rules, double(step) / kBufferSteps);
        const auto isSame = [&](const ModelCut &known) { return known.shards == cut.shards; };
        if (!cut.shards.empty() && std::ranges::none_of(cuts, isSame))
            cuts.push_back(std::move(cut));
    }
    if (rules.spill && group.measuredUnits == 0)
        addEvenCuts(cuts, group, kind, kinds[kind].memory);
    return cuts;
}

/// No run of it is shorter: all units one after the other, without a transfer.
double leastSeconds(const JobSpec &job, std::size_t kind)
{
    const std::vector<double> &units = job.seconds[kind];
    constexpr double kRounding = 1 - 1e-6; // units take whole nanoseconds
    return kRounding * double(job.minibatches) * std::accumulate(units.begin(), units.end(), 0.0);
}

} // namespace

std::vector<LonePlace> lonePlaces(
    const JobWorkloads &jobs, const std::vector<int> &pins, const std::vector<CutKind> &kinds)
{
    std::vector<LonePlace> places;
    std::map<std::tuple<int, double, double, double>, std::size_t> known;
    const auto add = [&](int gpu, int node, double rate) {
        const JobGpu &of = jobs.set.gpus[std::size_t(gpu)];
        const double memory = jobs.set.nodes[std::size_t(node)].memory;
        if (known.try_emplace({ of.kind, of.memory, rate, memory }, places.size()).second)
            places.push_back({ gpu, node, rate });
    };
    std::vector<int> first; // a GPU of each pool
    const auto look = [&](int gpu) {
        const StageLocation at = jobs.gpus[std::size_t(gpu)];
        if (std::ranges::none_of(first, [&](int other) { return jobs.gpus[std::size_t(other)] == at; }))
            first.push_back(gpu);
    };
    if (pins.empty()) {
        for (int gpu = 0; gpu < int(jobs.gpus.size()); ++gpu)
            if (gpu == 0 || jobs.gpus[std::size_t(gpu)] != jobs.gpus[std::size_t(gpu) - 1])
                first.push_back(gpu);
    } else {
        std::ranges::for_each(pins, look);
    }
    std::map<std::pair<int, int>, std::vector<int>> nodesOf; // [datacenter, pool]
    for (int node = 0; node < int(jobs.nodes.size()); ++node)
        nodesOf[{ jobs.nodes[std::size_t(node)].datacenter, jobs.nodes[std::size_t(node)].pool }].push_back(node);
    for (const int gpu : first) {
        const JobGpu &of = jobs.set.gpus[std::size_t(gpu)];
        const StageLocation at = jobs.gpus[std::size_t(gpu)];
        add(gpu, of.node, kinds[std::size_t(of.kind)].toGpu > 0 ? hostRates(*jobs.cluster, at).own : 0);
        for (const auto &[pool, nodes] : nodesOf) {
            const StageLocation host { pool.first, pool.second };
            const double rate = pool.first == at.datacenter ? fabricWay(*jobs.cluster, host, at) : 0;
            if (pool.second != at.pool && rate > 0)
                add(gpu, nodes.front(), rate);
        }
    }
    return places;
}

double loneSeconds(JobSet &set, const JobRules &run, SimulationWorkspace &workspace)
{
    JobSpec &job = set.jobs.front();
    const std::int64_t all = job.minibatches, units = std::int64_t(std::max<std::size_t>(1, job.units.size())),
                       tried = std::min(all, std::max<std::int64_t>(4, kUnitsTried / units));
    job.minibatches = tried;
    double seconds = endOf(set, run, workspace);
    if (tried < all) {
        job.minibatches = tried / 2;
        const double half = endOf(set, run, workspace);
        seconds += (seconds - half) / double(tried - tried / 2) * double(all - tried);
        job.minibatches = all;
    }
    return seconds;
}

std::optional<LoneChoice> chooseLone(
    const LoneJob &job, const std::vector<CutKind> &kinds, const CutRules &rules, const JobSet &set, JobRules run)
{
    std::optional<LoneChoice> best;
    SimulationWorkspace workspace;
    run.scheduler = JobScheduler::Fifo; // of one job on one GPU all are the same
    std::map<int, std::vector<ModelCut>> cutsOf; // [kind]
    for (const LonePlace &place : job.places) {
        const int kind = set.gpus[std::size_t(place.gpu)].kind;
        const auto [cuts, isNew] = cutsOf.try_emplace(kind);
        if (isNew)
            cuts->second = cutsFor(job.group, std::size_t(kind), kinds, rules);
        JobSet alone = clusterOf(place, set);
        for (const ModelCut &cut : cuts->second) {
            alone.jobs = { job.specOf(cut) };
            JobSpec &spec = alone.jobs.front();
            spec.arrival = 0;
            spec.gpus.clear();
            spec.node = 0;
            if (best && leastSeconds(spec, std::size_t(kind)) >= best->seconds)
                continue;
            const double seconds = loneSeconds(alone, run, workspace);
            if (seconds < (best ? best->seconds : kNever))
                best = { place, cut, seconds };
        }
    }
    return best;
}

} // namespace trainyard
