// SPDX-License-Identifier: GPL-3.0-or-later
// What TimelineView does for a plan with jobs: one of them stands out, another hangs over a GPU that it may be pinned
// to.
#include "models/text/job_names.h"
#include "views/theme/job_colors.h"
#include "views/timeline/canvas_gestures.h"
#include "views/timeline/job_text.h"
#include "views/timeline/legend.h"
#include "views/timeline/timeline_view.h"

#include <QMenu>

#include <utility>

namespace trainyard {

void TimelineView::takeJobs()
{
    m_state.jobs = m_state.isEmpty() ? JobSpans {} : jobSpans(*m_state.evaluation);
    const QStringList shortNames = shortJobNames({ m_state.jobs.names.begin(), m_state.jobs.names.end() });
    std::vector<JobEntry> entries;
    for (std::size_t job = 0; job < m_state.jobs.names.size(); ++job)
        if (m_state.jobs.runs[job])
            entries.push_back({ int(job), m_state.jobs.names[job], shortNames[qsizetype(job)] });
    m_legend->setJobs(std::move(entries));
    m_state.dropGpu = -1;
    const int job = m_jobName.isEmpty() ? JobSpans::kNone : m_state.jobs.indexOf(m_jobName);
    m_state.job = m_state.jobs.isRun(job) ? job : JobSpans::kNone;
    m_legend->setJob(m_state.job);
    SpanFilter search = m_search;
    search.job = -1; // it was of the plan before
    setFilter(search);
    applyFilters();
}

void TimelineView::selectJob(int job)
{
    if (!m_state.jobs.isRun(job))
        job = JobSpans::kNone;
    m_jobName = m_state.jobs.name(job);
    if (std::exchange(m_state.job, job) == job)
        return;
    m_legend->setJob(job);
    applyFilters();
    emit jobSelected(job);
}

void TimelineView::fillJobMenu(QMenu &menu)
{
    const auto add = [&](const QString &text, auto act) {
        connect(menu.addAction(text), &QAction::triggered, this, act);
    };
    const std::uint32_t span = m_state.selected;
    const int job = span == kNoSpan ? m_state.job : m_state.jobs.of(*m_state.timeline(), span);
    if (job < 0)
        return;
    const QString name = m_state.jobs.name(job);
    if (span != kNoSpan) {
        const int gpu = m_state.timeline()->tracks[m_state.timeline()->trackOf[span]].stage;
        add(tr("Pin this job to GPU %1").arg(gpu), [this, name, gpu] { emit pinRequested(name, { gpu }); });
    }
    const std::vector<Job> jobs = allJobs(*m_state.evaluation->plan);
    if (job < int(jobs.size()) && !jobs[std::size_t(job)].pinnedGpus.empty())
        add(tr("Unpin %1").arg(name), [this, name] { emit pinRequested(name, {}); });
    if (m_state.job != JobSpans::kNone)
        add(tr("Show every job"), [this] {
            selectSpan(kNoSpan);
            selectJob(JobSpans::kNone);
        });
}

int TimelineView::gpuAt(QPoint point) const
{
    if (m_state.jobs.isEmpty())
        return -1;
    const int row = rowAt(m_state.layout, point.y() - m_canvas->geometry().tracks.top(), m_state.scroll);
    if (row < 0 || m_state.layout.rows[std::size_t(row)].kind == TrackRow::Kind::Summary)
        return -1;
    return m_state.layout.rows[std::size_t(row)].stage;
}

void TimelineView::dragJob(const QString &job, QPoint point)
{
    const int gpu = job.isEmpty() ? -1 : gpuAt(point);
    if (std::exchange(m_state.dropGpu, gpu) != gpu)
        m_canvas->update();
}

void TimelineView::dropJob(const QString &job, QPoint point)
{
    const int gpu = gpuAt(point);
    dragJob({}, {});
    if (gpu >= 0)
        emit pinRequested(job, { gpu });
}

} // namespace trainyard
