// SPDX-License-Identifier: GPL-3.0-or-later
// A job that is dragged from the list of jobs over the map: the GPUs under it are marked, and it is pinned to them
// where it is let go.
#include "views/cluster/cluster_map.h"
#include "views/cluster/map_grab.h"
#include "views/cluster/map_jobs.h"

#include "models/job_spans.h"

#include <QDragEnterEvent>
#include <QMimeData>

namespace trainyard {

bool ClusterMap::markDropped(const QDropEvent &event)
{
    const QString job = draggedJob(*event.mimeData());
    const MapHit hit = hitAt(event.position());
    m_hover.reset();
    if (!job.isEmpty() && m_plan && !gpusUnder(m_plan->cluster, hit).empty()) {
        const GrabUnit unit = hit.kind == MapHit::Kind::Gpu ? GrabUnit::Gpu
            : hit.kind == MapHit::Kind::Node                ? GrabUnit::Node
                                                            : GrabUnit::Pool;
        const MapSelection items = itemsAt(m_scene, hit, unit);
        m_hover = hit.kind == MapHit::Kind::Island || hit.kind == MapHit::Kind::Title || items.empty()
            ? MapItem { MapItem::Kind::Island, hit.island }
            : items.front();
    }
    update();
    return !job.isEmpty();
}

void ClusterMap::dragEnterEvent(QDragEnterEvent *event)
{
    if (markDropped(*event))
        event->acceptProposedAction();
}

void ClusterMap::dragMoveEvent(QDragMoveEvent *event)
{
    if (markDropped(*event))
        event->acceptProposedAction();
}

void ClusterMap::dragLeaveEvent(QDragLeaveEvent *)
{
    m_hover.reset();
    update();
}

void ClusterMap::dropEvent(QDropEvent *event)
{
    const QString job = draggedJob(*event->mimeData());
    m_hover.reset();
    update();
    if (job.isEmpty() || !m_plan)
        return;
    event->acceptProposedAction();
    const std::vector<int> gpus = gpusUnder(m_plan->cluster, hitAt(event->position()));
    if (!gpus.empty())
        emit pinRequested(job, gpus);
}

} // namespace trainyard
