// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/difference/places_internal.h"

#include "core/evaluation/evaluate/track_names.h"

namespace trainyard::difference {

Place Places::of(const Evaluation &evaluation, const Lane &lane)
{
    const Track stage { .stream = Stream::Compute, .pipelineClass = lane.pipelineClass, .stage = lane.stage };
    if (!m_byDatacenter)
        return { lane.stage, lane.stage, trackName(evaluation, stage) };
    const int datacenter = datacenterOf(evaluation, stage);
    const auto &all = evaluation.plan->cluster.datacenters;
    const std::string id =
        datacenter >= 0 && std::size_t(datacenter) < all.size() ? all[std::size_t(datacenter)].id : std::string();
    const int order = m_datacenters.try_emplace(id, int(m_datacenters.size())).first->second;
    return { order, -1, datacenterName(evaluation, stage) };
}

} // namespace trainyard::difference
