// SPDX-License-Identifier: GPL-3.0-or-later
// The wires between the panels, the document and those who search in the background.
#include "views/window/workbench.h"

#include "models/baseline_comparison.h"
#include "models/datacenter_ranking.h"
#include "models/edit_history.h"
#include "models/job_advice.h"
#include "models/memory_advice.h"
#include "models/rok_curves.h"
#include "views/cluster/cluster_map.h"
#include "views/details/details_panel.h"
#include "views/details/expert_table.h"
#include "views/live/live_strip.h"
#include "views/panels/card.h"
#include "views/panels/datacenter_panel.h"
#include "views/panels/edits_panel.h"
#include "views/panels/gpu_shares_panel.h"
#include "views/panels/jobs_panel.h"
#include "views/panels/memory_details.h"
#include "views/panels/number_strip.h"
#include "views/panels/problems_panel.h"
#include "views/panels/sharing_comparison.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/why_panel.h"
#include "views/panels/workload_editor.h"
#include "views/plots/curves_panel.h"
#include "views/plots/rok_plot.h"
#include "views/run/run_badge.h"
#include "views/timeline/area_table.h"
#include "views/timeline/timeline_view.h"
#include "views/window/experts_on_map.h"
#include "views/window/status_line.h"

#include <QApplication>
#include <QSplitter>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kStaleDelayMs = 80, kPaintDelayMs = 30;

} // namespace

template <class Panel> void Workbench::takeEdits(Panel *panel)
{
    PlanDocument &document = m_models.document;
    connect(panel, &Panel::editCommitted, this,
        [&document](const PlanPtr &next, const QString &text) { document.edit(next, text); });
    if constexpr (requires { &Panel::editStepped; })
        connect(panel, &Panel::editStepped, this,
            [&document](const PlanPtr &next, const QString &key) { document.edit(next, {}, key); });
    if constexpr (requires { &Panel::editPreviewed; }) {
        connect(panel, &Panel::editPreviewed, this, [this, panel](const PlanPtr &next, const QString &text) {
            m_previewedBy = panel;
            m_models.document.preview(next, text);
        });
        connect(panel, &Panel::editCancelled, this, [&document] { document.endPreview(); });
    }
}

void Workbench::connectEdits()
{
    takeEdits(map);
    takeEdits(strategies);
    takeEdits(workload);
    takeEdits(datacenters);
    takeEdits(why);
    takeEdits(problems);
    EvaluationBridge &bridge = m_models.bridge;
    connect(&m_models.document, &PlanDocument::shownPlanChanged, this, &Workbench::showPlan);
    connect(&bridge, &EvaluationBridge::evaluationFinished, this, &Workbench::showEvaluation);
    connect(&bridge, &EvaluationBridge::baselineChanged, this, [this] {
        showBaseline();
        timeline->setBaseline(ghost());
    });
    connect(&bridge, &EvaluationBridge::evaluationFailed, this, &Workbench::showFailure);
    m_paintDelay.setSingleShot(true);
    m_paintDelay.setInterval(kPaintDelayMs);
    connect(&m_paintDelay, &QTimer::timeout, this, [this] { map->setUpdatesEnabled(true); });
    m_staleDelay.setSingleShot(true);
    m_staleDelay.setInterval(kStaleDelayMs);
    connect(&m_staleDelay, &QTimer::timeout, this, [this] { showStale(true); });
    connect(&bridge, &EvaluationBridge::staleChanged, this, [this](bool isStale) {
        if (isStale) {
            m_staleDelay.start();
            return;
        }
        m_staleDelay.stop();
        showStale(false);
    });
    connect(&m_models.document, &PlanDocument::replaced, &bridge,
        [this, &bridge] { bridge.pinOpening(m_models.document.opening()); });
    connect(&bridge, &EvaluationBridge::evaluationFinished, m_history, &EditHistory::note);
    connect(&m_models.effects, &StrategyEffects::effectsChanged, this, [this](const EffectTablePtr &effects) {
        strategies->setEffects(effects);
        jobs->setEffects(effects);
        why->setEffects(effects);
        problems->setEffects(effects);
    });
    connect(strip, &NumberStrip::baselinePinRequested, &bridge, &EvaluationBridge::pinBaseline);
    connect(strip, &NumberStrip::baselineUnpinRequested, &bridge, &EvaluationBridge::clearBaseline);
    connect(status, &StatusLine::problemsRequested, this, [this] { reveal(problems); });
}

void Workbench::connectRanking()
{
    connect(m_ranking, &DatacenterRanking::rankingChanged, datacenters, &DatacenterPanel::setSelection);
    connect(m_ranking, &DatacenterRanking::rankingFailed, datacenters,
        [this](const PlanPtr &, const QString &reason) { datacenters->setFailure(reason); });
    connect(datacenters, &DatacenterPanel::objectiveChosen, m_ranking, &DatacenterRanking::setObjective);
    connect(datacenters, &DatacenterPanel::watched, m_ranking, &DatacenterRanking::setWatched);
}

void Workbench::connectRok()
{
    RokPlot *plot = curves->rok();
    takeEdits(plot);
    connect(m_rok, &RokSearch::curvesChanged, plot, &RokPlot::setCurves);
    connect(plot, &RokPlot::watched, m_rok, &RokSearch::setWatched);
}

void Workbench::connectMemory()
{
    takeEdits(memory);
    connect(m_adviser, &MemoryAdviser::adviceChanged, memory, &MemoryDetails::setAdvice);
    connect(memory, &MemoryDetails::watched, m_adviser, &MemoryAdviser::setWatched);
}

void Workbench::connectShares()
{
    takeEdits(shares);
    connect(shares, &GpuSharesPanel::editNudged, this,
        [this](
            const PlanPtr &next, const QString &text, const QString &key) { m_models.document.edit(next, text, key); });
    connect(m_baselines, &BaselineComparison::tableChanged, shares->comparison(), &SharingComparison::setTable);
    connect(shares->comparison(), &SharingComparison::watched, m_baselines, &BaselineComparison::setWatched);
}

void Workbench::connectJobs()
{
    takeEdits(jobs);
    connect(m_jobAdviser, &JobAdviser::adviceChanged, jobs, &JobsPanel::setAdvice);
    connect(jobs, &JobsPanel::watched, m_jobAdviser, &JobAdviser::setWatched);
    connect(workload, &WorkloadEditor::jobsRequested, this, [this] { reveal(jobs); });
    connect(jobs, &JobsPanel::jobPicked, timeline, &TimelineView::selectJob);
    connect(timeline, &TimelineView::jobSelected, jobs, &JobsPanel::showJob);
    connect(&m_models.document, &PlanDocument::replaced, this, [this](const PlanPtr &plan) {
        if (plan && hasJobs(*plan)) // what it is about
            m_upper->setCurrent(jobs->parentWidget()->parentWidget());
    });
}

void Workbench::connectRange()
{
    connect(timeline, &TimelineView::rangeChanged, curves, &CurvesPanel::setVisibleRange);
    connect(curves, &CurvesPanel::rangeChanged, timeline, &TimelineView::setVisibleRange);
    connect(timeline, &TimelineView::cursorMoved, curves, &CurvesPanel::showCursor);
    connect(curves, &CurvesPanel::cursorMoved, timeline, &TimelineView::showCursor);
    connect(curves, &CurvesPanel::enlargeRequested, this, [this](bool enlarged) {
        m_left->widget(0)->setVisible(!enlarged && !m_isHidden[0]);
        m_left->widget(1)->setVisible(!enlarged && !m_isHidden[1]);
    });
    connect(&m_models.document, &PlanDocument::replaced, timeline, &TimelineView::startPlan);
    timeline->canvas()->installEventFilter(this);
}

void Workbench::connectDetails()
{
    connect(timeline, &TimelineView::spanSelected, details, [this](quint32 span) {
        details->showSpan(span);
        if (span != kNoSpan && !m_isTelling)
            showDetails();
    });
    connect(timeline, &TimelineView::measuredSelected, details, [this](const QString &title, const NamedFacts &facts) {
        details->showMeasured(title, facts);
        if (!title.isEmpty() && !m_isTelling)
            showDetails();
    });
    connect(timeline, &TimelineView::stageClicked, details, [this](int stage) {
        timeline->selectSpan(kNoSpan);
        details->showStage(stage);
        showDetails();
    });
    connect(map, &ClusterMap::selectionChanged, details, [this] {
        const MapSelection &selection = map->selection();
        const MapItem item = selection.empty() ? MapItem {} : selection.back();
        details->showItem(item);
        if (!m_isTelling && (item.kind == MapItem::Kind::Link || item.kind == MapItem::Kind::Gpus))
            showDetails();
    });
    details->dock(timeline->areaTable());
    details->dockBelow(experts->table());
    connect(timeline->areaTable(), &AreaTable::contentChanged, details, [this](bool has) {
        timeline->areaTable()->setVisible(has);
        if (has && !m_isTelling)
            showDetails();
    });
    connect(details, &DetailsPanel::spanRequested, timeline, [this](quint32 span) {
        timeline->selectSpan(span);
        timeline->revealSpan(span);
    });
    connect(why, &WhyPanel::partsChosen, timeline, [this](const std::vector<BreakdownPart> &parts) {
        const bool was = std::exchange(m_isTelling, true); // Why stays in front
        timeline->focusOn(parts);
        m_isTelling = was;
        if (!why->isAncestorOf(QApplication::focusWidget())) // Esc and F go to the timeline
            timeline->setFocus(Qt::OtherFocusReason);
    });
    connect(timeline, &TimelineView::focusChanged, why, [this] { why->setChosen(timeline->focusedParts()); });
    connect(details, &DetailsPanel::causeRequested, timeline, [this] { timeline->followDependency(false); });
    connect(details, &DetailsPanel::effectRequested, timeline, [this] { timeline->followDependency(true); });
}

void Workbench::addRunBadge(RunBadge *badge)
{
    static_cast<QVBoxLayout *>(layout())->insertWidget(1, badge); // below the numbers
}

void Workbench::addVariants(QWidget *variants)
{
    static_cast<QVBoxLayout *>(layout())->insertWidget(0, variants);
}

void Workbench::addLiveStrip(LiveStrip *line)
{
    static_cast<QVBoxLayout *>(layout())->insertWidget(1, line);
}

void Workbench::showDetails()
{
    m_lower->setCurrent(details->parentWidget()->parentWidget());
}

} // namespace trainyard
