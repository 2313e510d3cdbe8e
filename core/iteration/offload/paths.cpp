// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/paths.h"

#include "core/iteration/offload/settings.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

/// GPUs of a run between two GPU numbers of its pool.
int overlap(const GpuRun &run, int from, int to)
{
    return std::max(0, std::min(run.firstGpu + run.gpus, to) - std::max(run.firstGpu, from));
}

struct Shared { // a part of a node
    int first = 0, last = 0; // GPU numbers in the pool
    int own = 0, all = 0; // of the stage; of any
};

class PathFinder {
public:
    explicit PathFinder(const Workload &workload)
        : m_work(workload)
        , m_settings(offloadSettings(workload))
    {
    }

    OffloadPaths find()
    {
        for (const PipelineClass &pipelines : m_work.layout.classes) {
            auto &stages = m_paths.of.emplace_back();
            for (std::size_t stage = 0; stage < pipelines.locations.size(); ++stage)
                stages.push_back(pathOf(pipelines, int(stage)));
        }
        return std::move(m_paths);
    }

private:
    using LinkKey = std::tuple<int, int, int, int>; // datacenter, pool, first GPU, what

    [[nodiscard]] const GpuRun *runOf(const PipelineClass &pipelines, int stage) const
    {
        const StageLocation location = pipelines.locations[std::size_t(stage)];
        for (const GpuRun &run : m_work.layout.runs)
            if (run.stage == stage && run.location() == location
                && run.firstPipeline < pipelines.firstPipeline + pipelines.pipelines
                && pipelines.firstPipeline < run.firstPipeline + run.pipelines)
                return &run;
        return nullptr;
    }

    /// The piece of `size` GPUs in which the run has most of its own.
    [[nodiscard]] Shared fullest(const GpuRun &run, int from, int to, int size) const
    {
        Shared best;
        for (int first = from / size * size; first < to; first += size) {
            const int own = overlap(run, first, first + size);
            if (own > best.own)
                best = { first, first + size, own, 0 };
        }
        for (const GpuRun &other : m_work.layout.runs)
            if (other.datacenter == run.datacenter && other.pool == run.pool)
                best.all += overlap(other, best.first, best.last);
        return best;
    }

    std::uint32_t link(LinkKey key, double capacity)
    {
        const auto [at, isNew] = m_links.try_emplace(key, std::uint32_t(m_paths.linkCapacity.size()));
        if (isNew)
            m_paths.linkCapacity.push_back(capacity);
        return at->second;
    }

    OffloadPath pathOf(const PipelineClass &pipelines, int stage)
    {
        const StageLocation location = pipelines.locations[std::size_t(stage)];
        const Pool &pool = m_work.pool(location);
        const PoolRates rates = poolRates(m_work, location, m_settings);
        OffloadPath path { rates.gpu, rates.gpu, 1, {}, {} };
        const GpuRun *run = runOf(pipelines, stage);
        if (!run)
            return path;
        const Shared node = fullest(*run, run->firstGpu, run->firstGpu + run->gpus, pool.gpusPerNode);
        path.weight = node.own;
        const auto share = [&](const Shared &piece, double rate, double &cap, std::vector<std::uint32_t> &links,
                               int what) {
            cap = std::min(cap, rate / piece.own);
            if (piece.all > piece.own) // stages beside it; as if its other pieces of the node were as full
                links.push_back(
                    link({ location.datacenter, location.pool, piece.first, what }, rate * node.own / piece.own));
        };
        if (rates.nodeWrite) {
            share(node, *rates.nodeWrite, path.storeCap, path.storeLinks, 0);
            share(node, *rates.nodeRead, path.loadCap, path.loadLinks, 1);
        }
        if (rates.gpusPerSwitch > 1) {
            const Shared piece = fullest(*run, std::max(run->firstGpu, node.first),
                std::min(run->firstGpu + run->gpus, node.last), rates.gpusPerSwitch);
            share(piece, rates.gpu, path.storeCap, path.storeLinks, 2);
            share(piece, rates.gpu, path.loadCap, path.loadLinks, 3);
        }
        return path;
    }

    const Workload &m_work;
    OffloadSettings m_settings;
    OffloadPaths m_paths;
    std::map<LinkKey, std::uint32_t> m_links;
};

} // namespace

OffloadPaths offloadPaths(const Workload &workload)
{
    return PathFinder(workload).find();
}

std::vector<std::vector<FairRates>> fairRates(const OffloadPaths &paths)
{
    std::vector<double> users(paths.linkCapacity.size());
    for (const auto &stages : paths.of)
        for (const OffloadPath &path : stages)
            for (const auto *links : { &path.storeLinks, &path.loadLinks })
                for (const std::uint32_t link : *links)
                    users[link] += path.weight;
    const auto fair = [&](double rate, const std::vector<std::uint32_t> &links) {
        for (const std::uint32_t link : links)
            rate = std::min(rate, paths.linkCapacity[link] / users[link]);
        return rate;
    };
    std::vector<std::vector<FairRates>> rates;
    for (const auto &stages : paths.of) {
        auto &row = rates.emplace_back();
        for (const OffloadPath &path : stages)
            row.push_back({ fair(path.storeCap, path.storeLinks), fair(path.loadCap, path.loadLinks) });
    }
    return rates;
}

} // namespace trainyard
