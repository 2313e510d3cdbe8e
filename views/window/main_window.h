#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The window: top bar, messages, tour, and the workbench or another page, with its title, its geometry, its theme, what
// is dropped on it and what happens on closing. Commands live in window_commands, files in file_actions. GUI thread.

#include "models/layer_opening.h"
#include "models/live_document.h"
#include "models/loaded_runs.h"
#include "models/recent_files.h"
#include "models/run_document.h"
#include "models/session/session_document.h"
#include "models/validation/validation_runner.h"
#include "views/commands/command_registry.h"
#include "views/theme/theme.h"
#include "views/window/workbench.h"

#include <QMainWindow>

class QStackedWidget;

namespace trainyard {

class ArrangementActions;
class CommandPalette;
class ExpertsPage;
class ExportActions;
class FileActions;
class FileTarget;
class GoTo;
class JobsPage;
class LayerPage;
class LiveActions;
class MessageBar;
class NewPlanSheet;
template <class Page> class PagePlace;
class PageSwitcher;
class PlannerActions;
class Prompts;
class ReadingStrip;
class RunActions;
class RunLessons;
class RunPage;
class SessionActions;
class ShortcutOverlay;
class TopBar;
class TourStrip;
class SweepActions;
class ValidationActions;
class ValidationPage;
enum class LayerPass;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    MainWindow(const WindowModels &models, RecentFiles &recent, Prompts &prompts, QWidget *parent = nullptr);
    ~MainWindow() override;

    [[nodiscard]] PlanDocument &document() { return m_models.document; }
    [[nodiscard]] EvaluationBridge &bridge() { return m_models.bridge; }
    [[nodiscard]] StrategyEffects &effects() { return m_models.effects; }
    [[nodiscard]] Workbench &workbench() { return *m_workbench; }
    [[nodiscard]] FileActions &files() { return *m_files; }
    [[nodiscard]] ExportActions &exports() { return *m_exports; }
    [[nodiscard]] CommandRegistry &commands() { return m_commands; }
    [[nodiscard]] CommandPalette &palettePopup() { return *m_palette; }
    [[nodiscard]] GoTo &goTo() { return *m_goTo; }
    [[nodiscard]] ArrangementActions &arrangements() { return *m_arrangements; }
    [[nodiscard]] RecentFiles &recent() { return m_recent; }
    [[nodiscard]] ShortcutOverlay &overlay() { return *m_overlay; }
    [[nodiscard]] MessageBar &messages() { return *m_messages; }
    [[nodiscard]] TourStrip &tour() { return *m_tour; }
    /// Made when they are first asked for.
    [[nodiscard]] ValidationPage &validation();
    [[nodiscard]] ExpertsPage &experts();
    [[nodiscard]] JobsPage &jobs();
    [[nodiscard]] LayerPage &layer() { return *m_layer; }
    [[nodiscard]] RunDocument &runs() { return m_runs; }
    [[nodiscard]] LoadedRuns &loadedRuns() { return m_loaded; }
    [[nodiscard]] RunPage &run() { return *m_run; }
    [[nodiscard]] LiveDocument &live() { return m_live; }
    [[nodiscard]] LiveActions &liveActions() { return *m_liveActions; }
    [[nodiscard]] RunActions &runActions() { return *m_runActions; }
    [[nodiscard]] PlannerActions &plannerActions() { return *m_planner; }
    [[nodiscard]] SweepActions &sweepActions() { return *m_sweep; }
    [[nodiscard]] SessionDocument &session() { return m_session; }
    [[nodiscard]] SessionActions &sessionActions() { return *m_sessionActions; }
    [[nodiscard]] RunLessons &lessons() { return *m_lessons; }
    [[nodiscard]] ReadingStrip &reading() { return *m_reading; }
    [[nodiscard]] LayerOpener &layerOpener() { return m_opener; }
    [[nodiscard]] NewPlanSheet *newPlan() { return m_newPlan; } // null until it is first asked for
    [[nodiscard]] ValidationRunner &validationRunner() { return m_runner; }

    [[nodiscard]] ThemeKind themeKind() const { return m_theme; }
    /// remembered
    void setThemeKind(ThemeKind kind);
    void savePicture();
    /// runs it where there is no result yet
    void showValidation();
    /// compares exchanges with experts, for the document's plan
    void showExperts();
    /// compares schedulers of jobs, for the document's plan
    void showJobs();
    /// of the evaluation that is shown
    void showLayer(LayerPass pass);
    /// what was recorded beside the plan
    void showRun();
    /// a run that goes on
    void showLive();
    /// lets the plan be searched around
    void showPlanner();
    /// rows that a sweep wrote
    void showSweep();
    /// variants and decisions; ready to type one
    void showBoard(bool isDeciding = false);
    /// two variants beside each other
    void showComparison();
    /// the sheet that connects to one, from its beginning
    void showConnect(const QString &address = {});
    void showWorkbench();
    /// in another program
    void showDocumentation();
    [[nodiscard]] bool isWorkbenchShown() const;
    [[nodiscard]] PageSwitcher &switcher() { return *m_switcher; }
    /// geometry and splitters as they were left, within the screen of today
    void restorePlaces();
    /// the sheet, from its beginning
    void showNewPlan();

    static ThemeKind rememberedTheme();

protected:
    void closeEvent(QCloseEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    /// of edits and of a run that are not saved; closes unless the user thought better of it
    void askBeforeClosing();
    void connectModels();
    void connectRun();
    void connectLive();
    void connectPlanner();
    void connectSession();
    void connectPalette();
    /// of the pages that have been made
    void makePlaces();
    QWidget *makeSwitcher();
    void updateTitle();
    /// of the document's plan; none: it was evaluated
    void showErrors(const Errors &errors);
    void fillRecentMenu();
    void fillSamplesMenu();
    /// a screen's, in logical pixels
    void keepWithin(const QRect &available);

    WindowModels m_models;
    RecentFiles &m_recent;
    Prompts &m_prompts;
    ThemeKind m_theme;
    /// the document's plan has an evaluation
    bool m_isEvaluated = false;
    /// of experts
    bool m_hasLayers = false;
    /// unsaved changes have been dealt with
    bool m_mayClose = false;
    CommandRegistry m_commands;
    ValidationRunner m_runner;
    LayerOpener m_opener;
    RunDocument m_runs;
    /// that it shows one of
    LoadedRuns m_loaded;
    SessionDocument m_session;
    /// shows in the document of the run
    LiveDocument m_live;
    Workbench *m_workbench;
    PagePlace<ValidationPage> *m_validation = nullptr;
    PagePlace<ExpertsPage> *m_experts = nullptr;
    PagePlace<JobsPage> *m_jobs = nullptr;
    LayerPage *m_layer;
    RunPage *m_run;
    ReadingStrip *m_reading;
    NewPlanSheet *m_newPlan = nullptr;
    QStackedWidget
        *m_pages; // workbench, validation, experts, jobs, layer, run, planner, sweep, live, connect, new plan
    MessageBar *m_messages;
    TourStrip *m_tour;
    FileActions *m_files;
    /// of pictures and exports
    FileTarget *m_target;
    ExportActions *m_exports;
    ValidationActions *m_validationActions = nullptr;
    RunActions *m_runActions;
    RunLessons *m_lessons;
    LiveActions *m_liveActions;
    PlannerActions *m_planner;
    SweepActions *m_sweep;
    SessionActions *m_sessionActions;
    TopBar *m_top = nullptr;
    PageSwitcher *m_switcher = nullptr;
    CommandPalette *m_palette;
    ShortcutOverlay *m_overlay;
    ArrangementActions *m_arrangements;
    GoTo *m_goTo;
};

} // namespace trainyard
