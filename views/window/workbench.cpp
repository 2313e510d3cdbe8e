// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/workbench.h"

#include "core/evaluation/evaluate/metrics/confidence.h"
#include "models/baseline_comparison.h"
#include "models/edit_history.h"
#include "models/job_advice.h"
#include "models/rok_curves.h"
#include "views/cluster/cluster_map.h"
#include "views/details/details_panel.h"
#include "views/export/panel_menu.h"
#include "views/panels/card.h"
#include "views/panels/datacenter_panel.h"
#include "views/panels/edits_panel.h"
#include "views/panels/gpu_shares_panel.h"
#include "views/panels/jobs_panel.h"
#include "views/panels/memory_details.h"
#include "views/panels/number_strip.h"
#include "views/panels/problems_panel.h"
#include "views/panels/scroll_anchor.h"
#include "views/panels/sharing_comparison.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/why_panel.h"
#include "views/panels/workload_editor.h"
#include "views/parts/page_head.h"
#include "views/parts/scrolled.h"
#include "views/plots/curves_panel.h"
#include "views/plots/rok_plot.h"
#include "views/theme/theme.h"
#include "views/timeline/area_table.h"
#include "views/timeline/timeline_view.h"
#include "views/window/experts_on_map.h"
#include "views/window/status_line.h"

#include <QEvent>
#include <QScrollArea>
#include <QSplitter>
#include <QTabBar>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

Workbench::Workbench(const WindowModels &models, QWidget *parent)
    : QWidget(parent)
    , m_models(models)
    , m_history(new EditHistory(models.document, models.catalogue, this))
    , strip(new NumberStrip)
    , map(new ClusterMap)
    , timeline(new TimelineView)
    , curves(new CurvesPanel)
    , strategies(new StrategyPanel(models.catalogue))
    , workload(new WorkloadEditor(models.catalogue))
    , jobs(new JobsPanel(models.catalogue))
    , datacenters(new DatacenterPanel)
    , why(new WhyPanel)
    , problems(new ProblemsPanel)
    , memory(new MemoryDetails)
    , shares(new GpuSharesPanel)
    , edits(new EditsPanel(*m_history))
    , details(new DetailsPanel)
    , status(new StatusLine)
    , experts(new ExpertsOnMap(*map, models.catalogue, this))
    , m_ranking(new DatacenterRanking(models.catalogue, this))
    , m_rok(new RokSearch(models.catalogue, this))
    , m_adviser(new MemoryAdviser(models.catalogue, this))
    , m_baselines(new BaselineComparison(models.catalogue, this))
    , m_jobAdviser(new JobAdviser(models.catalogue, this))
    , m_columns(splitter(Qt::Horizontal, tr("Columns"), this))
    , m_left(splitter(Qt::Vertical, tr("Left column"), this))
    , m_right(splitter(Qt::Vertical, tr("Right column"), this))
    , m_upper(new TabbedCard(tr("How to train")))
    , m_lower(new TabbedCard(tr("What comes of it")))
{
    arrange();
    connectEdits();
    connectRanking();
    connectRok();
    connectMemory();
    connectShares();
    connectJobs();
    connectRange();
    connectDetails();
    connectPins();
}

void Workbench::arrange()
{
    timeline->setAutoFillBackground(false); // the card is its background
    m_left->addWidget(new Card(map));
    m_left->addWidget(new Card(timeline));
    m_left->addWidget(new Card(curves));
    m_upper->addTab(scrolled(strategies), tr("Strategies"));
    m_upper->addTab(scrolled(workload), tr("Workload"));
    m_upper->addTab(scrolled(jobs), tr("Jobs"));
    m_upper->addTab(scrolled(datacenters), tr("Datacenters"));
    QScrollArea *sharesArea = scrolled(shares);
    m_sharesAnchor = new ScrollAnchor(sharesArea);
    m_upper->addTab(sharesArea, tr("GPU shares"));
    m_lower->addTab(scrolled(why), tr("Why"));
    m_lower->addTab(scrolled(problems), tr("Problems"));
    QScrollArea *memoryArea = scrolled(memory);
    m_memoryAnchor = new ScrollAnchor(memoryArea);
    m_lower->addTab(memoryArea, tr("Memory"));
    m_lower->addTab(scrolled(details), tr("Details"));
    m_lower->addTab(edits, tr("Edits"));
    m_right->addWidget(m_upper);
    m_right->addWidget(m_lower);
    m_columns->addWidget(m_left);
    m_columns->addWidget(m_right);
    m_columns->setStretchFactor(0, 1);
    m_columns->setStretchFactor(1, 0);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(Theme::kGap, 0, Theme::kGap, 0);
    layout->setSpacing(Theme::kGap);
    layout->addWidget(strip);
    layout->addWidget(m_columns, 1);
    layout->addWidget(status);
}

void Workbench::alignCurves()
{
    if (!isVisible())
        return;
    const QRect tracks = timeline->trackArea();
    const int left = timeline->mapTo(this, tracks.topLeft()).x() - curves->mapTo(this, QPoint()).x();
    const std::pair insets(left, curves->width() - left - tracks.width());
    if (std::exchange(m_insets, insets) != insets)
        curves->setPlotInsets(insets.first, insets.second);
}

bool Workbench::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize)
        QTimer::singleShot(0, this, &Workbench::alignCurves); // when all of the column has its size
    return QWidget::eventFilter(watched, event);
}

void Workbench::showPlan(const PlanPtr &plan, bool isPreview)
{
    PlanDocument &document = m_models.document;
    status->setPreview(isPreview ? document.previewText() : QString());
    const bool isBase = plan == document.basePlan();
    if (isBase) {
        m_previewedBy = nullptr;
        const Shown::Role role = document.trial() ? Shown::Role::Tried : Shown::Role::Own;
        // What was just previewed is known; else the numbers of the plan before stay until those of this one come.
        const EvaluationPtr known =
            m_shown.isCurrent() && m_shown.plan == plan ? m_shown.evaluation : m_settled.evaluation;
        awaitNumbers();
        tell({ plan, plan, known, {}, role });
        m_rok->setPlan(plan);
        m_jobAdviser->setPlan(plan);
        m_baselines->setPlan(plan);
        m_adviser->setPlan(plan);
        m_models.effects.setPlan(plan);
    }
    m_models.bridge.request(plan, isPreview ? Urgency::Hover : Urgency::Settle);
    if (m_previewedBy != datacenters) // what the pointer rests on must not move away
        m_ranking->setPlan(plan, isBase ? Urgency::Settle : Urgency::Hover);
    showBaseline();
    showOutdated();
}

void Workbench::showEvaluation(const EvaluationPtr &evaluation)
{
    m_paintDelay.stop();
    const PlanDocument &document = m_models.document;
    const PlanPtr &plan = evaluation->plan, &base = document.basePlan();
    const Shown::Role role = plan != base ? Shown::Role::Preview
        : document.trial()                ? Shown::Role::Tried
                                          : Shown::Role::Own;
    m_isTelling = true;
    strip->setEvaluation(evaluation);
    experts->setEvaluation(evaluation);
    details->setEvaluation(evaluation); // before the timeline, which tells the selected span by its new number
    timeline->setEvaluation(evaluation, ghost());
    m_isTelling = false;
    const QWidget *kept = role == Shown::Role::Preview ? m_previewedBy : nullptr;
    tell({ plan, base, evaluation, {}, role }, kept);
    map->setUpdatesEnabled(true);
    status->setEvaluation(evaluation, evidenceRows(*evaluation, m_models.catalogue), m_models.bridge.wasKnown());
    alignCurves(); // the width of the labels may have changed
    showOutdated();
    if (kept == problems)
        return;
    const auto serious =
        std::ranges::count_if(evaluation->problems, [](const Problem &p) { return p.severity != Severity::Note; });
    m_lower->setTitle(
        problems->parentWidget()->parentWidget(), serious > 0 ? tr("Problems (%1)").arg(serious) : tr("Problems"));
}

void Workbench::tell(const Shown &shown, const QWidget *kept)
{
    m_shown = shown;
    if (!shown.isPreview())
        m_settled = shown;
    const auto unlessKept = [&](auto *panel) {
        if (panel != kept)
            panel->setShown(shown);
    };
    m_isTelling = true; // what an edit leaves selected is nobody's choice
    map->setShown(shown); // a drag stays in the hand
    m_isTelling = false;
    unlessKept(strategies);
    unlessKept(workload);
    jobs->setShown(shown);
    unlessKept(datacenters);
    shares->setShown(shown); // a bar in the hand keeps its place by itself
    unlessKept(why);
    unlessKept(problems);
    unlessKept(memory);
    curves->setShown(shown);
}

void Workbench::showFailure(const PlanPtr &plan, const Errors &errors)
{
    m_paintDelay.stop();
    map->setUpdatesEnabled(true);
    status->setErrors(errors);
    strip->setEvaluation(nullptr);
    if (plan != m_models.document.basePlan())
        return; // only previewed: the rest shows the plan below it again in a moment
    if (plan == m_models.document.plan())
        m_history->noteFailure(plan);
    timeline->setFailure(errors.empty() ? tr("no reason is known") : QString::fromStdString(errors.front().what));
    experts->setEvaluation(nullptr);
    details->setEvaluation(nullptr);
    tell({ plan, plan, nullptr, errors, m_models.document.trial() ? Shown::Role::Tried : Shown::Role::Own });
    m_lower->setTitle(problems->parentWidget()->parentWidget(), tr("Problems (%1)").arg(errors.size()));
}

/// The answer to an edit comes within a frame, as a rule; where it does not, the map shows what is known.
void Workbench::awaitNumbers()
{
    if (!isVisible())
        return;
    map->setUpdatesEnabled(false);
    m_paintDelay.start();
}

void Workbench::showStale(bool isStale)
{
    strip->setStale(isStale);
    map->setStale(isStale);
    timeline->setStale(isStale);
    curves->setStale(isStale);
    shares->setStale(isStale);
    jobs->setStale(isStale);
    status->setStale(isStale);
    m_isStale = isStale;
    showOutdated();
}

void Workbench::showOutdated()
{
    // Effects, better parts and advice are of the plan that edits start from.
    const bool isOther = m_models.document.shownPlan() != m_models.document.basePlan();
    strategies->setOutdated(isOther);
    jobs->setOutdated(isOther);
    why->setOutdated(isOther);
    why->setStale(m_isStale || (isOther && m_previewedBy == why));
    problems->setOutdated(m_isStale || (isOther && m_previewedBy == problems));
    details->setStale(m_isStale);
    memory->setOutdated(isOther);
    memory->setStale(m_isStale || (isOther && m_previewedBy == memory));
}

/// What the timeline draws under its bars: the baseline, unless that is the plan shown.
EvaluationPtr Workbench::ghost() const
{
    const EvaluationPtr &pinned = m_models.bridge.baseline();
    return pinned && pinned->plan != m_models.document.shownPlan() ? pinned : nullptr;
}

void Workbench::showBaseline()
{
    // While something is only tried out, the differences tell what it would change, unless a person pinned another
    // plan.
    const EvaluationPtr &pinned = m_models.bridge.baseline();
    const bool isPinned = pinned && !m_models.bridge.isBaselineOpening();
    if (isPinned)
        strip->setBaseline(pinned, tr("baseline"));
    else if (m_models.document.isPreviewing())
        strip->setBaseline(m_models.bridge.settled(), tr("your plan"));
    else
        strip->setBaseline(pinned, tr("opened plan"));
}

void Workbench::reveal(QWidget *panel)
{
    if (panel != curves)
        curves->setEnlarged(false); // its neighbours are hidden
    bringOut(panel);
    for (TabbedCard *card : { m_upper, m_lower }) {
        for (QWidget *area = panel; area && area != card; area = area->parentWidget())
            card->setCurrent(area);
    }
    panel->setFocus(Qt::ShortcutFocusReason);
    if (!panel->hasFocus()) // it is a group of controls: the first of them
        if (QWidget *next = panel->nextInFocusChain(); next && panel->isAncestorOf(next))
            next->setFocus(Qt::TabFocusReason);
}

void Workbench::showMemory()
{
    curves->setTab(CurvesPanel::Tab::Rok);
    reveal(strategies);
    strategies->scrollTo(rowOf(&MemoryStrategy::recompute).group());
    showFitting();
}

void Workbench::showFitting()
{
    reveal(memory);
    m_memoryAnchor->hold(memory->advice());
}

void Workbench::showBaselines()
{
    curves->setEnlarged(false);
    bringOut(shares);
    m_upper->setCurrent(shares->parentWidget()->parentWidget());
    shares->comparison()->compare();
    m_sharesAnchor->hold(shares->comparison());
}

} // namespace trainyard
