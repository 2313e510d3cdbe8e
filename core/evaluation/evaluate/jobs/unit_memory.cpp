// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/unit_memory.h"

#include "core/facts/workload/model_math.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Collects named parts in whole bytes, so that they add up.
class Parts {
public:
    explicit Parts(StageMemory &memory)
        : m_memory(memory)
    {
    }
    void add(std::int64_t &field, const char *name, double bytes)
    {
        const std::int64_t whole = wholeBytes(std::max(0.0, bytes));
        field += whole;
        if (whole > 0)
            m_memory.parts.emplace_back(name, whole);
    }

private:
    StageMemory &m_memory;
};

/// Bytes of the unit, taken from `left`.
void addUnit(StageMemory &memory, Parts &parts, const UnitOfJob &of, const StackSpec &stack, double &left)
{
    const double parameters = of.job->shards[std::size_t(of.unit->shard)].parameters;
    const auto take = [&](std::int64_t &field, const char *name, double bytes) {
        const double taken = std::clamp(bytes, 0.0, left);
        parts.add(field, name, taken);
        left -= double(wholeBytes(taken));
    };
    const bool isForward = of.unit->kind == WorkKind::Forward;
    const double weight = stack.weightsKeptInFp32 && !isForward ? 4 : weightBytes(of.job->job.precision);
    const double weights = std::min(of.unit->weights, weight * parameters);
    const double moments = isForward ? 0 : of.unit->writeBack - weights;
    const double gradients = isForward ? 0 : stack.gradientBytes * parameters;
    const double boundaries = of.unit->input + of.unit->output;
    take(memory.weights, "weights of the largest unit", weights);
    take(memory.optimizer, "optimizer states of the largest unit", moments);
    take(memory.gradients, "gradients of the largest unit", gradients);
    take(memory.buffers, "tensors between shards", boundaries);
    take(memory.activations, "activations of the largest unit",
        of.unit->running - weights - moments - gradients - boundaries);
}

int unitOf(std::size_t units, WorkKind kind, int shard)
{
    return kind == WorkKind::Forward ? shard : int(units) - 1 - shard;
}

} // namespace

StageMemory memoryOfUnits(const JobWorkloads &jobs, int gpu, double bytes, const UnitOfJob &largest)
{
    const Requested &cluster = *jobs.cluster;
    const StackSpec &stack = cluster.stack;
    StageMemory memory;
    memory.stage = gpu;
    memory.capacity = std::int64_t(
        double(cluster.gpu(jobs.gpus[std::size_t(gpu)]).memoryBytes) * cluster.plan->heterogeneity.memoryFraction);
    if (bytes <= 0) // nobody starts anything there
        return memory;
    Parts parts(memory);
    double left = double(wholeBytes(bytes));
    if (largest.unit)
        addUnit(memory, parts, largest, stack, left);
    parts.add(memory.buffers, "shards on their way", left);
    parts.add(memory.buffers, "workspace", stack.workspaceBytes);
    memory.peak = memory.weights + memory.gradients + memory.optimizer + memory.activations + memory.buffers;
    memory.reserved = memory.peak;
    parts.add(memory.reserved, "allocator reserve", double(memory.peak) * (stack.fragmentation - 1));
    memory.device = memory.reserved;
    parts.add(memory.device, "CUDA context", stack.contextBytes);
    std::ranges::stable_sort(memory.parts, std::greater {}, [](const auto &part) { return part.second; });
    return memory;
}

std::vector<UnitOfJob> largestUnits(const JobWorkloads &jobs, const Timeline &timeline)
{
    std::vector<UnitOfJob> largest(jobs.gpus.size());
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Compute || track.stage < 0 || std::size_t(track.stage) >= largest.size())
            continue;
        UnitOfJob &most = largest[std::size_t(track.stage)];
        for (std::uint32_t span = track.first; span < track.last; ++span) {
            const std::uint32_t number = timeline.classOf(span).job;
            if (number >= jobs.jobs.size() || jobs.jobs[number].specIndex < 0)
                continue;
            const JobWorkload &job = jobs.jobs[number];
            const std::vector<JobUnit> &units = jobs.set.jobs[std::size_t(job.specIndex)].units;
            const int index = unitOf(units.size(), timeline.kind[span], timeline.chunk[span]);
            if (index < 0 || std::size_t(index) >= units.size())
                continue;
            const JobUnit &unit = units[std::size_t(index)];
            if (!most.unit || unit.running > most.unit->running)
                most = { &job, &unit };
        }
    }
    return largest;
}

MostUnits mostUnitsOn(const JobWorkloads &jobs, std::size_t gpu)
{
    const JobGpu &of = jobs.set.gpus[gpu];
    MostUnits most;
    double ahead = 0, behind = 0;
    for (const JobWorkload &job : jobs.jobs) {
        if (job.specIndex < 0 || !job.why.empty())
            continue;
        const JobSpec &spec = jobs.set.jobs[std::size_t(job.specIndex)];
        if (spec.seconds[std::size_t(of.kind)].empty()
            || (!spec.gpus.empty() && !std::ranges::binary_search(spec.gpus, int(gpu))))
            continue;
        for (const JobUnit &unit : spec.units) {
            ahead = std::max(ahead, unit.weights + unit.input);
            behind = std::max(behind, unit.writeBack + unit.output);
            if (!most.largest.unit || unit.running > most.largest.unit->running)
                most.largest = { &job, &unit };
        }
    }
    if (most.largest.unit)
        most.bytes =
            std::min(of.memory, most.largest.unit->running + (jobs.plan->jobOptions.doubleBuffer ? ahead + behind : 0));
    return most;
}

} // namespace trainyard
