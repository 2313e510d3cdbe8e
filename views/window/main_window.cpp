// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/main_window.h"

#include "models/dropped_file.h"
#include "models/sample_plans.h"
#include "models/text/foreign_text.h"
#include "views/cluster/cluster_map.h"
#include "views/commands/command_palette.h"
#include "views/commands/control_manners.h"
#include "views/commands/shortcut_overlay.h"
#include "views/experts/experts_page.h"
#include "views/export/export_actions.h"
#include "views/export/file_target.h"
#include "views/jobs/jobs_page.h"
#include "views/layer/layer_page.h"
#include "views/panels/jobs_panel.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/workload_editor.h"
#include "views/parts/message_bar.h"
#include "views/parts/plain_texts.h"
#include "views/parts/prompts.h"
#include "views/planner/planner_page.h"
#include "views/planner/trial_strip.h"
#include "views/run/reading_strip.h"
#include "views/run/run_page.h"
#include "views/session/board_page.h"
#include "views/session/compare_page.h"
#include "views/sweep/sweep_page.h"
#include "views/timeline/timeline_view.h"
#include "views/validation/validation_page.h"
#include "views/window/arrangement_actions.h"
#include "views/window/file_actions.h"
#include "views/window/go_to.h"
#include "views/window/live_actions.h"
#include "views/window/page_place.h"
#include "views/window/panel_tables.h"
#include "views/window/planner_actions.h"
#include "views/window/run_actions.h"
#include "views/window/run_lessons.h"
#include "views/window/session_actions.h"
#include "views/window/status_line.h"
#include "views/window/sweep_actions.h"
#include "views/window/top_bar.h"
#include "views/window/tour_strip.h"
#include "views/window/window_commands.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QMenu>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

// Logical pixels. A screen of 1920 × 1080 at scale 2 has 960 × 540 of them; the desktop draws a title above the window.
constexpr QSize kLeast(960, 500), kFirst(1440, 900), kFrame(0, 36);
constexpr std::array kThemeNames { "system", "light", "dark", "high-contrast" };

} // namespace

MainWindow::MainWindow(const WindowModels &models, RecentFiles &recent, Prompts &prompts, QWidget *parent)
    : QMainWindow(parent)
    , m_models(models)
    , m_recent(recent)
    , m_prompts(prompts)
    , m_theme(rememberedTheme())
    , m_commands(this)
    , m_runner(models.catalogue)
    , m_opener(
          [&catalogue = models.catalogue](const Evaluation &evaluation) { return expertLayer(evaluation, catalogue); })
    , m_loaded(m_runs)
    , m_session(models.document)
    , m_live(m_runs, models.catalogue)
    , m_workbench(new Workbench(models))
    , m_layer(new LayerPage(m_opener))
    , m_run(new RunPage(m_runs))
    , m_reading(new ReadingStrip(m_runs))
    , m_pages(new QStackedWidget)
    , m_messages(new MessageBar)
    , m_tour(new TourStrip)
    , m_files(new FileActions(models.document, m_session, recent, prompts, *m_messages, this))
    , m_target(new FileTarget(prompts, *m_messages, this))
    , m_exports(new ExportActions(models.document, models.bridge, *m_target, this))
    , m_runActions(new RunActions(m_runs, *m_files, prompts, *m_messages, this))
    , m_lessons(new RunLessons(models, m_runs, *m_run, *m_files, *m_messages, this))
    , m_liveActions(new LiveActions(models, m_live, m_runs, *m_files, prompts, *m_messages, this))
    , m_planner(new PlannerActions(models, *m_workbench, this))
    , m_sweep(new SweepActions(models.document, *m_files, *m_messages, this))
    , m_sessionActions(new SessionActions(m_models, m_session, m_loaded, *m_workbench, *m_messages, this))
    , m_palette(new CommandPalette(m_commands, this))
    , m_overlay(new ShortcutOverlay(m_commands, this))
    , m_arrangements(new ArrangementActions(*this))
    , m_goTo(new GoTo(*this))
{
    makePlaces();
    addCommands(m_commands, *this, prompts);
    m_top = new TopBar(m_commands);
    setMenuWidget(m_top);
    auto *central = new QWidget(this);
    auto *layout = new QVBoxLayout(central);
    layout->setContentsMargins(0, 4, 0, 0);
    layout->setSpacing(Theme::kGap);
    auto *notices = new QWidget(central);
    auto *noticeLayout = new QVBoxLayout(notices);
    noticeLayout->setContentsMargins(Theme::kGap, 0, Theme::kGap, 0);
    noticeLayout->setSpacing(4);
    noticeLayout->addWidget(m_messages);
    noticeLayout->addWidget(m_reading);
    noticeLayout->addWidget(&m_planner->strip());
    noticeLayout->addWidget(m_tour);
    layout->addWidget(notices);
    m_pages->addWidget(m_workbench);
    m_pages->addWidget(m_validation);
    m_pages->addWidget(m_experts);
    m_pages->addWidget(m_jobs);
    m_pages->addWidget(m_layer);
    m_pages->addWidget(m_run);
    m_pages->addWidget(&m_planner->page());
    m_pages->addWidget(&m_sweep->page());
    m_pages->addWidget(&m_sessionActions->board());
    m_pages->addWidget(&m_sessionActions->comparisonPlace());
    m_liveActions->addTo(*m_pages, *m_workbench);
    layout->addWidget(m_pages, 1);
    setCentralWidget(central);
    m_top->addBeforeButtons(makeSwitcher());
    resize(kFirst);
    keepWithin(screen()->availableGeometry());
    new ControlManners(this);
    new PlainTexts(this);
    setAcceptDrops(true);
    givePanelsTheirTables(*m_workbench);
    m_target->setFolder([this] { return m_files->folder(); });
    m_files->setFormCommitter([this] { m_workbench->map->commitEditor(); });
    m_exports->setCommitter([this] { m_files->commitTyped(); });
    m_session.setCommitter([this] { m_files->commitTyped(); });
    connectModels();
    connectRun();
    connectLive();
    connectPlanner();
    connectSession();
    connectPalette();
    updateTitle();
    fillRecentMenu();
    m_commands.refresh();
    if (qApp->styleSheet().isEmpty())
        applyStyleSheet();
}

MainWindow::~MainWindow()
{
    hide(); // what leaves the screen commits what is typed in it, to models that are still there
}

void MainWindow::connectModels()
{
    PlanDocument &document = m_models.document;
    connect(&m_session, &SessionDocument::changed, this, &MainWindow::updateTitle); // with every edit of its plans
    connect(&document, &PlanDocument::pathChanged, this, &MainWindow::updateTitle);
    connect(&document.undoGroup(), &QUndoGroup::indexChanged, &m_commands, &CommandRegistry::refresh);
    connect(&m_models.bridge, &EvaluationBridge::baselineChanged, &m_commands, &CommandRegistry::refresh);
    connect(&m_models.bridge, &EvaluationBridge::evaluationFinished, this, [this](const EvaluationPtr &evaluation) {
        if (evaluation->plan == m_models.document.plan())
            showErrors({});
    });
    connect(
        &m_models.bridge, &EvaluationBridge::evaluationFailed, this, [this](const PlanPtr &plan, const Errors &errors) {
            if (plan == m_models.document.plan())
                showErrors(errors);
        });
    connect(&document, &PlanDocument::replaced, this, &MainWindow::showWorkbench);
    connect(m_files, &FileActions::rowsDropped, this, [this](const QString &path) {
        validation().run(path);
        showValidation();
    });
    connect(m_workbench->workload, &WorkloadEditor::configRequested, m_files, &FileActions::chooseModelConfig);
    connect(m_workbench->jobs, &JobsPanel::comparisonRequested, this, &MainWindow::showJobs);
    connect(m_layer, &LayerPage::closed, this, &MainWindow::showWorkbench);
    connect(&m_models.bridge, &EvaluationBridge::evaluationFinished, this, [this](const EvaluationPtr &evaluation) {
        m_opener.setEvaluation(evaluation);
        const bool has = hasExpertLayers(evaluation);
        if (std::exchange(m_hasLayers, has) != has)
            m_commands.refresh(); // one of them opens a layer
    });
    connect(&m_models.bridge, &EvaluationBridge::evaluationFailed, &m_opener, [this] { m_opener.setEvaluation({}); });
    connect(m_workbench->timeline, &TimelineView::layerRequested, this, [this](WorkKind kind) {
        showLayer(kind == WorkKind::ForwardBackward ? LayerPass::Pair
                : kind == WorkKind::Forward         ? LayerPass::Forward
                                                    : LayerPass::Backward);
    });
    connect(m_workbench->status, &StatusLine::validationRequested, this, &MainWindow::showValidation);
    connect(&m_recent, &RecentFiles::pathsChanged, this, &MainWindow::fillRecentMenu);
    connect(m_top->samplesMenu(), &QMenu::aboutToShow, this, &MainWindow::fillSamplesMenu);
    connect(m_tour, &TourStrip::stepShown, this, [this](int step) {
        const std::array<QWidget *, 3> panels { m_workbench->map, m_workbench->strategies, m_workbench->timeline };
        m_workbench->reveal(panels[std::size_t(step)]);
    });
}

void MainWindow::updateTitle()
{
    const PlanDocument &document = m_models.document;
    const bool isModified = m_session.isModified();
    const QString name = !m_session.isMeeting() ? document.displayName()
        : m_session.path().isEmpty()            ? foreignText(QString::fromStdString(m_session.currentVariant().name))
                                                : tr("%1 · %2").arg(m_session.displayName(),
                                                    foreignText(QString::fromStdString(m_session.currentVariant().name)));
    setWindowModified(isModified);
    setWindowTitle(tr("%1[*] — Trainyard").arg(name));
    setWindowFilePath(m_session.path().isEmpty() ? document.path() : m_session.path());
    m_top->setTitle(name, isModified);
    m_commands.refresh();
}

void MainWindow::showErrors(const Errors &errors)
{
    if (std::exchange(m_isEvaluated, errors.empty()) != errors.empty())
        m_commands.refresh();
    const QString kind = QStringLiteral("evaluation");
    QStringList lines;
    for (const Error &error : errors)
        lines << QString::fromStdString(toString(error));
    if (lines.isEmpty())
        m_messages->dismiss(kind);
    else
        m_messages->show({ kind, Message::Tone::Error, tr("This plan cannot be evaluated."), lines.join(u'\n'), {} });
}

void MainWindow::fillRecentMenu()
{
    QMenu *menu = m_top->recentMenu();
    menu->clear();
    menu->setEnabled(!m_recent.paths().isEmpty());
    for (const QString &path : m_recent.paths()) {
        QAction *action = menu->addAction(fileLabel(path));
        action->setToolTip(plainTip(pathText(path)));
        connect(action, &QAction::triggered, this, [this, path] { m_files->open(path); });
    }
    menu->setToolTipsVisible(true);
    menu->addSeparator();
    connect(menu->addAction(tr("Clear this list")), &QAction::triggered, &m_recent, &RecentFiles::clear);
}

void MainWindow::fillSamplesMenu()
{
    QMenu *menu = m_top->samplesMenu();
    if (!menu->isEmpty())
        return;
    for (const SamplePlan &sample : samplePlans())
        connect(menu->addAction(sample.title), &QAction::triggered, this,
            [this, path = sample.path] { m_files->openSample(path); });
}

ThemeKind MainWindow::rememberedTheme()
{
    const QByteArray name = QSettings().value(QStringLiteral("theme")).toByteArray();
    for (std::size_t i = 0; i < kThemeNames.size(); ++i) {
        if (name == kThemeNames[i])
            return ThemeKind(i);
    }
    return ThemeKind::System;
}

void MainWindow::setThemeKind(ThemeKind kind)
{
    m_theme = kind;
    QSettings().setValue(QStringLiteral("theme"), QString::fromLatin1(kThemeNames[std::size_t(kind)]));
    applyTheme(*qApp, kind);
    m_commands.refreshIcons();
    m_commands.refresh();
}

void MainWindow::savePicture()
{
    const QImage image = grab().toImage();
    const QString path = m_prompts.pictureToSave(this, QDir::home().filePath(QStringLiteral("trainyard.png")));
    if (!path.isEmpty() && !image.save(path))
        m_messages->show({ QStringLiteral("save"), Message::Tone::Error,
            tr("“%1” could not be written.").arg(fileText(path)), {}, {} });
}

void MainWindow::keepWithin(const QRect &available)
{
    const QSize room = available.size() - kFrame;
    setMinimumSize(kLeast.boundedTo(room));
    if (isMaximized() || isFullScreen())
        return;
    resize(size().boundedTo(room));
    const QPoint most = available.bottomRight() - QPoint(width(), height());
    move(std::clamp(x(), available.left(), std::max(available.left(), most.x())),
        std::clamp(y(), available.top(), std::max(available.top(), most.y())));
}

void MainWindow::restorePlaces()
{
    const QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    keepWithin(screen()->availableGeometry());
    m_workbench->restoreLayout(settings.value(QStringLiteral("window/layout")).toByteArray());
    m_workbench->timeline->restoreRows(settings.value(QStringLiteral("window/rows")).toByteArray());
}

void MainWindow::askBeforeClosing()
{
    const auto close = [this] {
        m_mayClose = true;
        QTimer::singleShot(0, this, &QWidget::close); // not from within the event of the first attempt
    };
    const auto afterPlan = [this, close] {
        if (m_live.hasUnsaved())
            m_liveActions->afterUnsavedHandled(close);
        else
            close();
    };
    if (m_session.isModified())
        m_files->afterUnsavedHandled(afterPlan);
    else
        afterPlan();
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    m_files->commitTyped();
    if (!m_mayClose && (m_session.isModified() || m_live.hasUnsaved())) {
        event->ignore();
        askBeforeClosing();
        return;
    }
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/layout"), m_workbench->layoutState());
    settings.setValue(QStringLiteral("window/rows"), m_workbench->timeline->rowsState());
    m_models.document.forgetUnsavedWork(); // saved, or given up knowingly
    m_models.effects.setPlan(nullptr); // nobody waits for them any more
    QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent *event)
{
    if (!droppedFiles(event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent *event)
{
    const QStringList paths = droppedFiles(event->mimeData());
    if (paths.isEmpty())
        return;
    event->acceptProposedAction();
    m_files->openAllDropped(paths);
}

void MainWindow::changeEvent(QEvent *event)
{
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_top)
        m_commands.refreshIcons();
}

} // namespace trainyard
