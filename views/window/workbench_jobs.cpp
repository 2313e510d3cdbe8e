// SPDX-License-Identifier: GPL-3.0-or-later
// The wires of a plan with jobs: one that is dropped on a GPU is pinned to it, one that is chosen stands out wherever
// jobs are drawn.
#include "models/job_edits.h"
#include "models/job_spans.h"
#include "models/text/format.h"
#include "views/cluster/cluster_map.h"
#include "views/plots/curves_panel.h"
#include "views/timeline/timeline_view.h"
#include "views/window/workbench.h"

namespace trainyard {

void Workbench::connectPins()
{
    const auto pin = [this](const QString &job, const std::vector<int> &gpus) {
        PlanDocument &document = m_models.document;
        if (const int at = jobNamed(*document.plan(), job); at >= 0)
            if (const JobEdit edit = withPins(*document.plan(), { at }, gpus))
                document.apply(edit.plan, edit.text);
    };
    connect(timeline, &TimelineView::pinRequested, this, pin);
    connect(map, &ClusterMap::pinRequested, this, pin);
    connect(timeline, &TimelineView::jobSelected, curves, &CurvesPanel::setJob);
    connect(timeline, &TimelineView::jobSelected, this, &Workbench::showJobOnMap);
    connect(&m_models.bridge, &EvaluationBridge::evaluationFinished, this, [this] {
        if (timeline->selectedJob() != JobSpans::kNone)
            showJobOnMap(timeline->selectedJob());
    });
}

/// The GPUs that it ran on.
void Workbench::showJobOnMap(int job)
{
    const EvaluationPtr &evaluation = m_models.bridge.evaluation();
    if (job == JobSpans::kNone || !evaluation || !evaluation->metrics.jobs
        || job >= int(evaluation->metrics.jobs->perJob.size()))
        return map->setTraffic({});
    const JobResult &result = evaluation->metrics.jobs->perJob[std::size_t(job)];
    MapTraffic on;
    on.title = tr("%1: ran on %2").arg(QString::fromStdString(result.name), gpusText(qint64(result.ranOn.size())));
    for (const int gpu : result.ranOn)
        if (const auto at = gpuOfNumber(evaluation->plan->cluster, gpu)) {
            MapItem item;
            item.kind = MapItem::Kind::Gpus;
            item.island = at->datacenter;
            item.pool = at->pool;
            item.firstGpu = at->firstGpu;
            item.gpus = 1;
            on.ends.push_back(item);
        }
    map->setTraffic(std::move(on));
}

} // namespace trainyard
