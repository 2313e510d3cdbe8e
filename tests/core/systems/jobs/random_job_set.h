#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Random sets of jobs of every kind that the rules speak of: unequal GPUs, several nodes and datacenters, transfers
// over shared links, tight memory, arrivals, priorities, pins. Whole bytes.

#include "core/systems/jobs/run_jobs.h"

#include <algorithm>
#include <random>

namespace trainyard::test {

class RandomJobSet {
public:
    explicit RandomJobSet(std::uint64_t seed)
        : m_random(seed)
    {
    }

    JobSet operator()()
    {
        JobSet set;
        const int nodes = among(1, 3), kinds = among(1, 3);
        const bool isTight = among(0, 1) == 1, moves = among(0, 4) > 0;
        for (int n = 0; n < nodes; ++n)
            set.nodes.push_back({ .site = among(0, n) });
        for (int g = among(1, 6); g > 0; --g)
            set.gpus.push_back({ .kind = among(0, kinds - 1), .node = among(0, nodes - 1) });
        const int jobs = among(1, 9);
        for (int j = 0; j < jobs; ++j)
            set.jobs.push_back(job(set, kinds, moves));
        if (moves)
            connect(set);
        set.isFullDuplex = among(0, 2) > 0;
        if (isTight)
            tighten(set);
        dealJobs(set);
        return set;
    }
    JobRules rules()
    {
        static constexpr JobScheduler kSchedulers[] = { JobScheduler::ShardedLrtf, JobScheduler::ShardedLrtf,
            JobScheduler::Fifo, JobScheduler::Random };
        JobRules rules;
        rules.scheduler = kSchedulers[among(0, 3)];
        rules.doubleBuffer = among(0, 1) == 1;
        rules.lookAhead = among(0, 1) == 1;
        rules.remaining = among(0, 1) == 1 ? RemainingWork::Units : RemainingWork::Minibatches;
        rules.spill = among(0, 3) > 0;
        rules.seed = among(0, 1000);
        return rules;
    }

    int among(int low, int high) { return low + static_cast<int>(m_random() % std::uint64_t(high - low + 1)); }

private:
    JobSpec job(const JobSet &set, int kinds, bool moves)
    {
        const int shards = among(1, 4);
        const std::size_t units = 2 * std::size_t(shards) - 1;
        JobSpec spec;
        spec.name = "job " + std::to_string(set.jobs.size());
        spec.minibatches = among(1, 6);
        spec.arrival = among(0, 2) == 0 ? among(0, 3000) * 1e-3 : 0;
        spec.priority = among(0, 3) == 0 ? among(-1, 2) : 0;
        std::vector<double> states;
        for (int s = 0; s < shards; ++s)
            states.push_back(moves ? among(1, 400) : 0);
        for (std::size_t u = 0; u < units; ++u) {
            const std::size_t shard = std::min(u, units - 1 - u);
            JobUnit unit { .shard = int(shard) };
            unit.kind = 2 * u + 1 < units ? WorkKind::Forward
                : 2 * u + 1 == units      ? WorkKind::ForwardBackward
                                          : WorkKind::Backward;
            const bool updates = unit.kind != WorkKind::Forward;
            unit.weights = updates ? 4 * states[shard] : states[shard];
            unit.writeBack = updates ? unit.weights : 0;
            unit.input = moves ? among(0, 60) : 0;
            unit.output = moves ? among(0, 60) : 0;
            unit.running = unit.weights + unit.input + unit.output + among(0, 100);
            unit.hostAfter = 2 * u + 1 < units ? 10 : 2 * u + 1 > units ? -10 : 0;
            spec.units.push_back(unit);
        }
        for (int k = 0; k < kinds; ++k) {
            spec.seconds.emplace_back();
            for (std::size_t u = 0; u < units && (kinds == 1 || among(0, 5) > 0); ++u)
                spec.seconds.back().push_back(among(1, 400) * 1e-3);
            if (spec.seconds.back().size() != units)
                spec.seconds.back().clear();
        }
        for (int g = 0; g < int(set.gpus.size()) && among(0, 9) == 0; ++g)
            if (among(0, 1) == 1)
                spec.gpus.push_back(g);
        for (const double bytes : states)
            spec.hostBytes += 4 * bytes;
        spec.hostBoundaries = 10 * (shards - 1);
        return spec;
    }

    void connect(JobSet &set)
    {
        const bool shares = among(0, 1) == 1;
        for (int l = among(1, 3); shares && l > 0; --l)
            set.links.push_back(among(500, 4000));
        for (int r = among(1, 4); r > 0; --r) {
            JobRoute route { .toGpu = double(among(500, 5000)), .toHost = double(among(500, 5000)) };
            for (std::uint32_t link = 0; link < set.links.size(); ++link) {
                if (among(0, 1) == 1)
                    route.linksToGpu.push_back(link);
                if (among(0, 1) == 1)
                    route.linksToHost.push_back(link);
            }
            set.routes.push_back(route);
        }
        for (std::size_t n = 0; n < set.nodes.size(); ++n) {
            set.routeOf.emplace_back();
            for (std::size_t g = 0; g < set.gpus.size(); ++g)
                set.routeOf.back().push_back(among(0, 11) == 0 ? -1 : among(0, int(set.routes.size()) - 1));
        }
    }

    /// Memory about as large as the largest unit needs, or twice that; hosts that hold a few jobs.
    void tighten(JobSet &set)
    {
        double unit = 0, host = 0;
        for (const JobSpec &job : set.jobs) {
            host = std::max(host, job.hostPeak());
            for (const JobUnit &is : job.units)
                unit = std::max(unit, is.running);
        }
        for (JobGpu &gpu : set.gpus)
            gpu.memory = std::round(unit * among(80, 250) / 100);
        for (JobNode &node : set.nodes)
            node.memory = std::round(host * among(90, 300) / 100);
    }

    std::mt19937_64 m_random;
};

} // namespace trainyard::test
