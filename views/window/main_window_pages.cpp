// SPDX-License-Identifier: GPL-3.0-or-later
// Which page the window shows, and the page and the line of the run.
#include "views/window/main_window.h"

#include "models/job_edits.h"
#include "views/cluster/cluster_map.h"
#include "views/commands/command_palette.h"
#include "views/experts/experts_page.h"
#include "views/export/export_actions.h"
#include "views/jobs/jobs_page.h"
#include "views/layer/layer_page.h"
#include "views/live/connect_sheet.h"
#include "views/live/live_page.h"
#include "views/parts/invitation.h"
#include "views/parts/message_bar.h"
#include "views/parts/prompts.h"
#include "views/planner/planner_page.h"
#include "views/run/run_badge.h"
#include "views/run/run_page.h"
#include "views/session/board_page.h"
#include "views/session/compare_page.h"
#include "views/start/new_plan_sheet.h"
#include "views/sweep/sweep_page.h"
#include "views/timeline/timeline_view.h"
#include "views/validation/validation_page.h"
#include "views/window/file_actions.h"
#include "views/window/go_to.h"
#include "views/window/live_actions.h"
#include "views/window/page_place.h"
#include "views/window/page_switcher.h"
#include "views/window/planner_actions.h"
#include "views/window/run_actions.h"
#include "views/window/run_lessons.h"
#include "views/window/session_actions.h"
#include "views/window/sweep_actions.h"
#include "views/window/tour_strip.h"
#include "views/window/validation_actions.h"

#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>

namespace trainyard {

ValidationPage &MainWindow::validation()
{
    return m_validation->page();
}

ExpertsPage &MainWindow::experts()
{
    return m_experts->page();
}

JobsPage &MainWindow::jobs()
{
    return m_jobs->page();
}

void MainWindow::makePlaces()
{
    m_validation = new PagePlace<ValidationPage>([this] {
        auto *page = new ValidationPage(m_runner);
        m_validationActions = new ValidationActions(*page, *m_files, m_prompts, *m_messages, this);
        connect(page, &ValidationPage::closed, this, &MainWindow::showWorkbench);
        return page;
    });
    m_experts = new PagePlace<ExpertsPage>([this] {
        auto *page = new ExpertsPage(m_models.catalogue);
        connect(&m_models.document, &PlanDocument::planChanged, page,
            [this, page] { page->setPlan(m_models.document.plan(), m_models.document.displayName()); });
        connect(page, &ExpertsPage::closed, this, &MainWindow::showWorkbench);
        return page;
    });
    m_jobs = new PagePlace<JobsPage>([this] {
        auto *page = new JobsPage(m_models.catalogue);
        connect(&m_models.document, &PlanDocument::planChanged, page,
            [this, page] { page->setPlan(m_models.document.plan(), m_models.document.displayName()); });
        connect(page, &JobsPage::closed, this, &MainWindow::showWorkbench);
        connect(page, &JobsPage::schedulerChosen, this, [this](JobScheduler scheduler) {
            if (const JobEdit edit = withScheduler(*m_models.document.plan(), scheduler))
                m_models.document.apply(edit.plan, edit.text);
        });
        return page;
    });
}

void MainWindow::showValidation()
{
    m_files->commitTyped();
    m_pages->setCurrentWidget(m_validation);
    validation().open();
    m_commands.refresh();
}

void MainWindow::showExperts()
{
    m_files->commitTyped();
    experts().setPlan(m_models.document.plan(), m_models.document.displayName());
    m_pages->setCurrentWidget(m_experts);
    experts().setFocus(Qt::ShortcutFocusReason);
    m_commands.refresh();
}

void MainWindow::showJobs()
{
    m_files->commitTyped();
    jobs().setPlan(m_models.document.plan(), m_models.document.displayName());
    m_pages->setCurrentWidget(m_jobs);
    jobs().setFocus(Qt::ShortcutFocusReason);
    m_commands.refresh();
}

void MainWindow::showLayer(LayerPass pass)
{
    m_files->commitTyped();
    m_layer->showPass(pass);
    m_pages->setCurrentWidget(m_layer);
    m_commands.refresh();
}

void MainWindow::showRun()
{
    m_files->commitTyped();
    m_run->setPlanName(m_models.document.displayName());
    m_pages->setCurrentWidget(m_run);
    m_run->setFocus(Qt::ShortcutFocusReason);
    m_commands.refresh();
}

/// The run lies under what is shown, also while a drag tries something.
void MainWindow::connectRun()
{
    auto *badge = new RunBadge(m_runs);
    m_workbench->addRunBadge(badge);
    m_run->setLoadedRuns(m_loaded);
    connect(badge, &RunBadge::pageRequested, this, &MainWindow::showRun);
    connect(m_run, &RunPage::closed, this, &MainWindow::showWorkbench);
    connect(m_run->invitation->begin, &QPushButton::clicked, m_runActions, qOverload<>(&RunActions::open));
    connect(m_run->invitation->other, &QPushButton::clicked, m_runActions, &RunActions::openFolder);
    connect(m_runActions, &RunActions::runOpened, this, &MainWindow::showRun);
    connect(m_lessons, &RunLessons::pageRequested, this, &MainWindow::showRun);
    connect(m_lessons, &RunLessons::changed, &m_commands, &CommandRegistry::refresh);
    connect(&m_runs, &RunDocument::overlayChanged, m_workbench->timeline,
        [this](const RunOverlayPtr &overlay) { m_workbench->timeline->setOverlay(overlay, m_runs.lanes()); });
    EvaluationBridge &bridge = m_models.bridge;
    connect(&bridge, &EvaluationBridge::evaluationFinished, &m_runs, &RunDocument::setEvaluation);
    connect(&bridge, &EvaluationBridge::evaluationFailed, &m_runs, [this] { m_runs.setEvaluation({}); });
    for (const auto signal : { &RunDocument::readingChanged, &RunDocument::watchingChanged })
        connect(&m_runs, signal, &m_commands, &CommandRegistry::refresh);
    connect(&m_runs, &RunDocument::runChanged, &m_commands, &CommandRegistry::refresh);
    auto *menu = new QMenu(m_run->run);
    for (const char *id :
        { "run.open", "run.openFolder", "", "run.compare", "run.compareFolder", "run.endComparison", "run.besidePlan",
            "", "run.learn", "run.makePlan", "", "run.watch", "run.save", "live.replayThis", "", "run.close" }) {
        if (QAction *action = m_commands.action(QLatin1String(id)))
            menu->addAction(action);
        else
            menu->addSeparator();
    }
    m_run->run->setMenu(menu);
}

void MainWindow::showLive()
{
    m_files->commitTyped();
    m_pages->setCurrentWidget(&m_liveActions->pagePlace());
    m_liveActions->page().setFocus(Qt::ShortcutFocusReason);
    m_commands.refresh();
}

void MainWindow::showConnect(const QString &address)
{
    m_files->commitTyped();
    m_pages->setCurrentWidget(&m_liveActions->sheetPlace());
    m_liveActions->sheet().start(address);
    m_commands.refresh();
}

void MainWindow::connectLive()
{
    connect(m_liveActions, &LiveActions::sheetRequested, this, [this] { showConnect(); });
    connect(m_liveActions, &LiveActions::pageRequested, this, &MainWindow::showLive);
    connect(m_liveActions, &LiveActions::workbenchRequested, this, &MainWindow::showWorkbench);
    connect(m_liveActions, &LiveActions::comparisonRequested, this, &MainWindow::showRun);
    connect(m_liveActions, &LiveActions::changed, &m_commands, &CommandRegistry::refresh);
}

void MainWindow::showPlanner()
{
    m_files->commitTyped();
    m_planner->page().setPlanName(m_models.document.displayName());
    m_pages->setCurrentWidget(&m_planner->page());
    m_planner->page().setFocus(Qt::ShortcutFocusReason);
    m_commands.refresh();
}

void MainWindow::showSweep()
{
    m_files->commitTyped();
    m_pages->setCurrentWidget(&m_sweep->page());
    m_sweep->page().setFocus(Qt::ShortcutFocusReason);
    m_commands.refresh();
}

void MainWindow::connectPlanner()
{
    connect(m_planner, &PlannerActions::pageRequested, this, [this] {
        if (m_sweep->hasTried()) // back to where the tried plan came from
            showSweep();
        else
            showPlanner();
    });
    connect(m_sweep, &SweepActions::pageRequested, this, &MainWindow::showSweep);
    connect(m_sweep, &SweepActions::workbenchRequested, this, &MainWindow::showWorkbench);
    connect(m_planner, &PlannerActions::workbenchRequested, this, &MainWindow::showWorkbench);
    connect(m_planner, &PlannerActions::changed, &m_commands, &CommandRegistry::refresh);
}

void MainWindow::showBoard(bool isDeciding)
{
    m_files->commitTyped();
    BoardPage &board = m_sessionActions->board();
    m_pages->setCurrentWidget(&board);
    if (isDeciding)
        board.decision->setFocus(Qt::ShortcutFocusReason);
    else
        board.setFocus(Qt::ShortcutFocusReason);
    m_commands.refresh();
}

void MainWindow::showComparison()
{
    m_files->commitTyped();
    m_pages->setCurrentWidget(&m_sessionActions->comparisonPlace());
    m_sessionActions->comparison().setFocus(Qt::ShortcutFocusReason);
    m_commands.refresh();
}

void MainWindow::connectSession()
{
    connect(m_sessionActions, &SessionActions::comparisonRequested, this, &MainWindow::showComparison);
    connect(m_sessionActions, &SessionActions::boardRequested, this, [this] { showBoard(); });
    connect(m_sessionActions, &SessionActions::workbenchRequested, this, &MainWindow::showWorkbench);
    connect(m_sessionActions, &SessionActions::saveRequested, m_files, &FileActions::saveSession);
    connect(m_sessionActions, &SessionActions::exportRequested, m_exports, &ExportActions::exportPlan);
}

void MainWindow::connectPalette()
{
    m_palette->setNames([this](NameIndex &index) { m_goTo->addNames(index); });
    connect(m_palette, &CommandPalette::chosen, m_goTo, [this](const NamedThing &thing) {
        const QString kind = QStringLiteral("goTo");
        if (m_goTo->go(thing))
            m_messages->dismiss(kind);
        else
            m_messages->show({ kind, Message::Tone::Warning,
                tr("“%1” cannot be shown in the plan as it is now.").arg(thing.name), {}, {} });
    });
}

void MainWindow::showWorkbench()
{
    if (isWorkbenchShown())
        return;
    m_pages->setCurrentWidget(m_workbench);
    m_workbench->map->setFocus(Qt::OtherFocusReason);
    m_commands.refresh();
}

QWidget *MainWindow::makeSwitcher()
{
    m_switcher = new PageSwitcher(*m_pages, m_commands);
    m_switcher->add(m_workbench, tr("Plan"), [this] { showWorkbench(); });
    m_switcher->add(&m_sessionActions->board(), tr("Variants"), QStringLiteral("view.board"));
    m_switcher->add(&m_sessionActions->comparisonPlace(), tr("Compare"), QStringLiteral("view.comparison"));
    m_switcher->add(&m_planner->page(), tr("Planner"), QStringLiteral("view.planner"));
    m_switcher->add(&m_sweep->page(), tr("Sweep"), QStringLiteral("view.sweep"));
    m_switcher->add(m_run, tr("Plan against run"), QStringLiteral("view.run"));
    m_switcher->add(&m_liveActions->pagePlace(), tr("Live"), QStringLiteral("view.live"));
    m_switcher->add(m_experts, tr("Experts"), QStringLiteral("view.experts"));
    m_switcher->add(m_layer, tr("Expert layer"), QStringLiteral("view.layer"));
    m_switcher->add(m_jobs, tr("Jobs"), QStringLiteral("jobs.compare"));
    m_switcher->add(m_validation, tr("Validation"), QStringLiteral("view.validation"));
    return m_switcher;
}

bool MainWindow::isWorkbenchShown() const
{
    return m_pages->currentWidget() == m_workbench;
}

void MainWindow::showDocumentation()
{
    if (!m_prompts.showDocumentation(this))
        m_messages->show({ QStringLiteral("help"), Message::Tone::Warning,
            tr("There are no pages of documentation that could be shown."), {}, {} });
}

void MainWindow::showNewPlan()
{
    m_files->commitTyped();
    if (!m_newPlan) {
        m_newPlan = new NewPlanSheet(m_models.catalogue);
        m_newPlan->setConfigChooser([this] { return m_prompts.configToOpen(this, m_files->folder()); });
        connect(m_newPlan, &NewPlanSheet::created, m_files, &FileActions::startWith);
        connect(m_newPlan, &NewPlanSheet::fileDropped, m_files, &FileActions::openDropped);
        connect(m_newPlan, &NewPlanSheet::cancelled, this, &MainWindow::showWorkbench);
        m_pages->addWidget(m_newPlan);
    }
    m_pages->setCurrentWidget(m_newPlan);
    if (m_tour->isVisible())
        m_tour->dismiss(); // it speaks of panels that are not there
    m_newPlan->start();
    m_commands.refresh();
}

} // namespace trainyard
