// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/planner_actions.h"

#include "views/panels/strategy_panel.h"
#include "views/planner/planner_page.h"
#include "views/planner/trial_strip.h"
#include "views/window/workbench.h"

#include <QShortcut>

namespace trainyard {

PlannerActions::PlannerActions(const WindowModels &models, Workbench &workbench, QObject *parent)
    : QObject(parent)
    , m_document(models.document)
    , m_workbench(workbench)
    , m_page(nullptr)
    , m_strip(new TrialStrip(models.document))
    , m_escape(
          new QShortcut(QKeySequence(Qt::Key_Escape), &workbench, nullptr, nullptr, Qt::WidgetWithChildrenShortcut))
    , m_search(models.catalogue)
{
    m_page = new PlannerPage(m_search);
    connect(&m_document, &PlanDocument::planChanged, &m_search, &PlanSearch::setPlan);
    const auto startAnew = [this](const PlanPtr &plan) {
        m_search.clear(); // of a plan that is not shown any more
        m_search.setPlan(plan);
        m_search.setSettings(withoutLimits(m_search.settings())); // a budget is of one plan
        m_page->setPlanName(m_document.displayName());
    };
    for (const auto signal : { &PlanDocument::replaced, &PlanDocument::exchanged })
        connect(&m_document, signal, this, startAnew);
    connect(m_page, &PlannerPage::editCommitted, this,
        [this](const PlanPtr &next, const QString &text) { m_document.apply(next, text); });
    connect(m_page, &PlannerPage::closed, this, &PlannerActions::workbenchRequested);
    for (const auto signal : { &PlanSearch::started, &PlanSearch::ended, &PlanSearch::cleared })
        connect(&m_search, signal, this, &PlannerActions::changed);
    wireTrial();
    wirePins();
}

void PlannerActions::wireTrial()
{
    connect(m_page, &PlannerPage::tryRequested, this, [this](const PlanPtr &plan, const QString &text) {
        m_document.tryPlan(plan, tr("Planner: %1").arg(text));
        Q_EMIT workbenchRequested();
    });
    connect(m_strip, &TrialStrip::backRequested, this, &PlannerActions::leaveTrial);
    connect(m_escape, &QShortcut::activated, this, &PlannerActions::leaveTrial);
    // A gesture that previews something lies on top, and Esc ends that first.
    const auto follow = [this] {
        m_escape->setEnabled(m_document.trial() && m_document.shownPlan() == m_document.trial());
    };
    connect(&m_document, &PlanDocument::shownPlanChanged, this, follow);
    connect(&m_document, &PlanDocument::trialChanged, this, &PlannerActions::changed);
    follow();
}

void PlannerActions::wirePins()
{
    connect(m_workbench.strategies, &StrategyPanel::pinToggled, &m_search, &PlanSearch::setPinned);
    const auto show = [this] { m_workbench.strategies->setPins(m_search.settings().pins); };
    connect(&m_search, &PlanSearch::settingsChanged, this, show);
    show();
}

void PlannerActions::leaveTrial()
{
    if (!m_document.trial())
        return;
    m_document.leaveTrial();
    Q_EMIT pageRequested();
}

std::string PlannerActions::focusedKey() const
{
    return m_workbench.strategies->focusedKey();
}

} // namespace trainyard
