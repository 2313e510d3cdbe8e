#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The systems that a plan may turn on together, and how an evaluation shows that one is at work. For the tests of
// their pairs.

#include "core/evaluation/evaluate/evaluation.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace trainyard::test {

/// Atlas: pipelines across datacenters that take turns on the WAN. Prefill: in bubbles. Offload: activations,
/// optimizer states or weights off the GPU; of jobs, shards that wait in host memory. Experts: a model that has them,
/// with tokens that travel. MixedGpus: unequal ones in one iteration or run. Jobs: many models.
enum class System : std::uint8_t { Atlas, Prefill, Offload, Experts, MixedGpus, Jobs };
inline constexpr std::array kSystems { System::Atlas, System::Prefill, System::Offload, System::Experts,
    System::MixedGpus, System::Jobs };

inline const char *toString(System system)
{
    static constexpr const char *kNames[] = { "atlas", "prefill", "offload", "experts", "mixed gpus", "jobs" };
    return kNames[std::size_t(system)];
}

/// Sections of a plan whose keys are about a system: where a reason has to point if it is asked for and idle.
inline std::vector<std::string> sectionsOf(System system)
{
    switch (system) {
    case System::Atlas:
        return { "wan", "placement" };
    case System::Prefill:
        return { "bubble_fill" };
    case System::Offload:
        return { "memory.activation_offload", "memory.offload_policy", "memory.offload_fraction",
            "memory.offload_min_elements", "memory.offload_expert_input", "memory.optimizer_offload",
            "memory.parameter_offload", "job_options" };
    case System::Experts:
        return { "moe", "parallelism.expert", "workload.model", "workload.inline_model", "jobs" };
    case System::MixedGpus:
        return { "heterogeneity", "placement", "jobs" };
    case System::Jobs:
        return { "jobs", "job_grid", "job_scheduler", "job_options" };
    }
    return {};
}

/// "cluster.datacenters[0].pools[1]": of GPUs without work.
inline bool isPool(const std::string &where)
{
    const std::size_t pools = where.find(".pools[");
    return pools != std::string::npos && where.find(']', pools) + 1 == where.size();
}

inline bool isOfSection(const std::string &where, const std::string &section)
{
    return where.starts_with(section)
        && (where.size() == section.size() || where[section.size()] == '.' || where[section.size()] == '[');
}

/// Whether a reason with that key is about the system.
inline bool isAbout(const std::string &where, System system)
{
    return (system == System::MixedGpus && isPool(where))
        || std::ranges::any_of(
            sectionsOf(system), [&](const std::string &section) { return isOfSection(where, section); });
}

inline std::set<std::string> gpusInUse(const Evaluation &evaluation)
{
    std::set<std::string> kinds;
    for (const GpuRun &run : evaluation.layout.runs) {
        const Pool &pool =
            evaluation.plan->cluster.datacenters[std::size_t(run.datacenter)].pools[std::size_t(run.pool)];
        kinds.insert(pool.inlineGpu ? pool.inlineGpu->id : pool.gpu);
    }
    return kinds;
}

/// Whether what was evaluated shows the system at work; of a plan with jobs as jobs have it.
inline bool isAtWork(System system, const Evaluation &e)
{
    const Metrics &m = e.metrics;
    switch (system) {
    case System::Atlas:
        if (m.jobs) { // nothing of theirs takes turns: they are spread over datacenters, and the plan asks for turns
            std::set<int> sites;
            for (const JobResult &job : m.jobs->perJob)
                for (const int gpu : job.ranOn)
                    sites.insert(e.layout.classes.front().locations[std::size_t(gpu)].datacenter);
            return sites.size() > 1;
        }
        return m.wanBytesPerIteration > 0
            && std::ranges::any_of(e.layout.classes, [](const PipelineClass &c) { return c.cellMembers > 1; });
    case System::Prefill:
        return m.bubbleFill && m.bubbleFill->accepted > 0;
    case System::Offload:
        if (m.jobs)
            return std::ranges::any_of(
                m.jobs->perJob, [](const JobResult &job) { return job.bytesLoaded > 0 || job.hostBytes > 0; });
        return (m.offload && m.offload->bytesPerGpu > 0)
            || std::ranges::any_of(e.timeline.tracks,
                [](const Track &track) { return isOfStates(track.stream) && track.first < track.last; });
    case System::Experts:
        if (m.jobs)
            return std::ranges::any_of(e.plan->jobs, [&](const Job &job) {
                const auto result = std::ranges::find(m.jobs->perJob, job.name, &JobResult::name);
                return result != m.jobs->perJob.end() && result->end && job.model.find("moe") != std::string::npos;
            });
        return m.experts && m.experts->wireBytes > 0;
    case System::MixedGpus:
        return gpusInUse(e).size() > 1;
    case System::Jobs:
        return m.jobs && m.jobs->makespan.has_value();
    }
    return false;
}

} // namespace trainyard::test
