// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/job_classes.h"

#include <algorithm>

namespace trainyard {

JobClasses::JobClasses(const JobSet &set, ClassTable &table)
    : m_set(set)
    , m_table(table)
    , m_routes(std::max<std::size_t>(1, set.routes.size()))
{
    for (const JobGpu &gpu : set.gpus)
        m_kinds = std::max(m_kinds, static_cast<std::size_t>(std::max(0, gpu.kind)) + 1);
    for (const JobSpec &job : set.jobs) {
        m_first.push_back(static_cast<std::uint32_t>(m_facts.size() / 2));
        for (std::size_t u = 0; u < job.units.size(); ++u) {
            const JobUnit &unit = job.units[u];
            const auto first = std::ranges::find(job.units, unit.shard, &JobUnit::shard) - job.units.begin();
            for (const bool isContinued : { false, true })
                m_facts.push_back(
                    { bytesOf(job, u, isContinued), unit.hostAfter, m_first.back() + static_cast<std::uint32_t>(first),
                        static_cast<std::uint16_t>(unit.shard), mayContinue(job, u, isContinued) });
        }
    }
    for (const JobRoute &route : set.routes)
        m_sameRoute.push_back(static_cast<int>(std::ranges::find(set.routes, route) - set.routes.begin()));
    m_computeOf.resize(set.jobs.size() * m_kinds, kNoSpan);
    m_transferOf.resize(set.jobs.size() * m_routes, kNoSpan);
    if (set.links.empty())
        return;
    table.linkCapacity = set.links;
    for (const JobRoute &route : set.routes) {
        table.flows.push_back({ .rateCap = route.toGpu, .links = route.linksToGpu, .takes = {} });
        table.flows.push_back({ .rateCap = route.toHost, .links = route.linksToHost, .takes = {} });
    }
}

std::uint32_t JobClasses::add(WorkKind kind, double seconds, double bytes, std::uint32_t flow, std::uint32_t job)
{
    // Nothing takes no time at all: what ends at an instant comes before what begins.
    const Nanoseconds lasts = std::max<Nanoseconds>(1, toNanoseconds(Seconds { seconds }));
    const std::uint32_t made = m_table.add(kind, lasts, bytes, flow);
    m_table.about[made].job = job;
    return made;
}

std::uint32_t JobClasses::makeCompute(std::uint32_t job, std::uint32_t unit, int kind, bool isContinued, Keeps keeps)
{
    const JobSpec &spec = m_set.jobs[job];
    const UnitBytes &there = bytes(job, unit, isContinued);
    const std::uint32_t made =
        add(spec.units[unit].kind, spec.seconds[static_cast<std::size_t>(kind)][unit], 0, kNoSpan, job);
    m_table.about[made].memory.running = there.need - there.present();
    m_table.about[made].memory.atEnd.gpu = there.left(keeps) - there.present();
    return made;
}

std::uint32_t JobClasses::makeStore(std::uint32_t job, std::uint32_t unit, int route, bool isContinued, Keeps keeps)
{
    const auto way = static_cast<std::size_t>(route);
    const UnitBytes &there = bytes(job, unit, isContinued);
    const double stored = there.stored(keeps) * m_set.jobs[job].minibatchesPerUnit;
    const std::uint32_t flow = m_set.links.empty() ? kNoSpan : 2 * static_cast<std::uint32_t>(route) + 1;
    const std::uint32_t made = add(WorkKind::StatesToHost, stored / m_set.routes[way].toHost, stored, flow, job);
    m_table.about[made].memory.atEnd.gpu = -there.freed(keeps);
    return made;
}

std::uint32_t JobClasses::makeLoad(std::uint32_t job, std::uint32_t unit, int route, bool hasInput)
{
    const auto way = static_cast<std::size_t>(route);
    const UnitBytes &there = bytes(job, unit, false);
    const double held = hasInput ? there.held : there.present();
    const double loaded = held * m_set.jobs[job].minibatchesPerUnit;
    const std::uint32_t flow = m_set.links.empty() ? kNoSpan : 2 * static_cast<std::uint32_t>(route);
    const std::uint32_t made = add(WorkKind::WeightsToGpu, loaded / m_set.routes[way].toGpu, loaded, flow, job);
    m_table.about[made].memory.atStart.gpu = held;
    return made;
}

} // namespace trainyard
