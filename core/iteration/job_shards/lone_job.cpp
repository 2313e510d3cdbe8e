// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/lone_job.h"

#include "core/iteration/job_shards/job_places.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

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

/// 1, 2 … 8, 9, 10 … 16, 18 … up to `most`.
std::vector<int> thinned(int most)
{
    std::vector<int> numbers;
    for (int n = 1; n <= most; n += std::max(1, n / 8))
        numbers.push_back(n);
    return numbers;
}

/// Ways to cut a model that depend on it alone, so that more memory only adds to those that fit: Hydra's rule for
/// limits that so many pieces at the beginning, behind the embedding or at the end just keep, of what runs and of what
/// travels ahead; and so many even shards.
class CutFamily {
public:
    explicit CutFamily(ShardModel &model)
        : m_model(model)
    {
    }

    std::vector<std::vector<Pieces>> cuts()
    {
        const int pieces = m_model.pieces();
        std::vector<double> weights;
        for (int piece = 0; piece < pieces; ++piece)
            weights.push_back(m_model.bytes({ piece, piece + 1 }).parameters);
        for (const int n : thinned(pieces)) {
            add(evenPartition(weights, n));
            for (const Pieces like : { Pieces { 0, n }, Pieces { std::min(1, pieces - n), std::min(1 + n, pieces) },
                     Pieces { pieces - n, pieces } }) {
                addGreedy([this](Pieces of) { return running(of); }, like);
                addGreedy([this](Pieces of) { return m_model.bytes(of).states; }, like);
            }
        }
        return { m_cuts.begin(), m_cuts.end() };
    }

    /// Bytes while the largest of the shards runs.
    [[nodiscard]] double most(const std::vector<Pieces> &shards)
    {
        double bytes = 0;
        for (const Pieces of : shards)
            bytes = std::max(bytes, running(of));
        return bytes;
    }

private:
    struct Earlier {
        bool operator()(const std::vector<Pieces> &a, const std::vector<Pieces> &b) const
        {
            return std::ranges::lexicographical_compare(a, b, {}, &Pieces::last, &Pieces::last);
        }
    };

    [[nodiscard]] double running(Pieces of)
    {
        const ShardBytes &bytes = m_model.bytes(of);
        return std::max(bytes.forward, bytes.backward);
    }
    template <class Bytes> void addGreedy(const Bytes &bytes, Pieces like)
    {
        const double limit = bytes(like);
        add(greedyPartition(m_model.pieces(), [&](Pieces of) { return bytes(of) <= limit; }).shards);
    }
    void add(std::vector<Pieces> shards)
    {
        if (!shards.empty())
            m_cuts.insert(std::move(shards));
    }

    ShardModel &m_model;
    std::set<std::vector<Pieces>, Earlier> m_cuts;
};

/// Of a model that is cut by memory all of its family that fit the kind of GPU; else the one way there is.
std::vector<ModelCut> cutsFor(
    CutGroup group, std::size_t kind, const std::vector<CutKind> &kinds, const CutRules &rules)
{
    std::vector<ModelCut> cuts;
    const int gpus = std::max(1, group.gpus[kind]);
    group.gpus.assign(kinds.size(), 0);
    group.gpus[kind] = gpus;
    if (!rules.spill || group.measuredUnits > 0) {
        if (ModelCut cut = cutFor(group, kinds, rules, 0); !cut.shards.empty())
            cuts.push_back(std::move(cut));
        return cuts;
    }
    CutFamily family(*group.model);
    for (std::vector<Pieces> &shards : family.cuts()) {
        if (family.most(shards) > kinds[kind].memory)
            continue;
        ModelCut &cut = cuts.emplace_back();
        cut.shards = std::move(shards);
        cut.kinds.assign(kinds.size(), 0);
        cut.leftOut = cut.kinds;
        cut.kinds[kind] = 1;
    }
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
