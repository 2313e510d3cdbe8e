// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/window_commands.h"

#include "views/cluster/cluster_map.h"
#include "views/commands/command_palette.h"
#include "views/commands/command_registry.h"
#include "views/commands/shortcut_overlay.h"
#include "views/details/details_panel.h"
#include "views/export/export_actions.h"
#include "views/layer/layer_page.h"
#include "views/panels/datacenter_panel.h"
#include "views/panels/edits_panel.h"
#include "views/panels/gpu_shares_panel.h"
#include "views/panels/memory_details.h"
#include "views/panels/number_strip.h"
#include "views/panels/problems_panel.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/why_panel.h"
#include "views/panels/workload_editor.h"
#include "views/parts/prompts.h"
#include "views/plots/curves_panel.h"
#include "views/plots/rok_plot.h"
#include "views/timeline/timeline_view.h"
#include "views/window/arrangement_actions.h"
#include "views/window/command_text.h"
#include "views/window/experts_on_map.h"
#include "views/window/file_actions.h"
#include "views/window/job_commands.h"
#include "views/window/live_commands.h"
#include "views/window/main_window.h"
#include "views/window/planner_commands.h"
#include "views/window/run_commands.h"
#include "views/window/session_commands.h"
#include "views/window/timeline_commands.h"
#include "views/window/tour_strip.h"

#include <QApplication>
#include <QClipboard>

namespace trainyard {

namespace {

void addFileCommands(CommandRegistry &registry, MainWindow &window)
{
    FileActions &files = window.files();
    const QString group = commandText("File");
    const auto hasPath = [&window] { return !window.document().path().isEmpty(); };
    registry.add({ .id = "file.new",
        .group = group,
        .text = commandText("&New plan…"),
        .shortcuts = { QKeySequence::New },
        .icon = "new",
        .run = [&window] { window.showNewPlan(); } });
    registry.add({ .id = "file.open",
        .group = group,
        .text = commandText("&Open…"),
        .shortcuts = { QKeySequence::Open },
        .icon = "open",
        .run = [&files] { files.open(); } });
    registry.add({ .id = "file.save",
        .group = group,
        .text = commandText("&Save"),
        .shortcuts = { QKeySequence::Save },
        .icon = "save",
        .run = [&files] { files.save(); } });
    registry.add({ .id = "file.saveAs",
        .group = group,
        .text = commandText("Save &as…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S) },
        .run = [&files] { files.saveAs(); } });
    registry.add({ .id = "file.reload",
        .group = group,
        .text = commandText("&Reload from disk"),
        .icon = "reload",
        .run = [&files] { files.reload(); },
        .isEnabled = hasPath });
    ExportActions &exports = window.exports();
    const struct {
        const char *id, *label;
        void (ExportActions::*run)();
    } formats[] = {
        { "export.html", "Export the report as a &page (HTML)…", &ExportActions::exportHtml },
        { "export.pdf", "Export the report as P&DF…", &ExportActions::exportPdf },
        { "export.trace", "Export the timeline as a Chrome &trace (JSON)…", &ExportActions::exportTrace },
        { "export.timeline", "Export the timeline as &CSV…", &ExportActions::exportTimeline },
        { "export.numbers", "Export the &numbers as CSV…", &ExportActions::exportNumbers },
        { "export.plan", "Export a copy of the p&lan…", &ExportActions::exportPlan },
        { "export.megatron", "Export a &Megatron-LM launch script…", &ExportActions::exportMegatron },
        { "export.torchtitan", "Export a t&orchtitan launch script…", &ExportActions::exportTorchtitan },
        { "export.megatronBridge", "Export a Megatron-&Bridge launch script…", &ExportActions::exportMegatronBridge },
        { "export.deepspeed", "Export a D&eepSpeed configuration (JSON)…", &ExportActions::exportDeepSpeed },
        { "export.slurm", "Export a &Slurm job…", &ExportActions::exportSlurm },
        { "export.trainjob", "Export a TrainJob of &Kubeflow…", &ExportActions::exportTrainJob },
        { "export.jobset", "Export a &JobSet of Kubernetes…", &ExportActions::exportJobSet },
        { "export.skypilot", "Export a Sk&yPilot task…", &ExportActions::exportSkyPilot },
        { "export.dot", "Export the tasks as a &Graphviz graph…", &ExportActions::exportDot },
    };
    for (const auto &format : formats)
        registry.add({ .id = format.id,
            .group = group,
            .text = commandText(format.label),
            .run = [&exports, &files, run = format.run] {
                files.commitTyped(); // what is typed is of the plan, and of its report
                (exports.*run)();
            } });
    registry.add({ .id = "file.screenshot",
        .group = group,
        .text = commandText("Save a &picture of the window…"),
        .run = [&window] { window.savePicture(); } });
    registry.add({ .id = "file.quit",
        .group = group,
        .text = commandText("&Quit"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_Q) },
        .run = [&window] { window.close(); } });
}

void addEditCommands(CommandRegistry &registry, MainWindow &window)
{
    QUndoGroup &stack = window.document().undoGroup();
    const QString group = commandText("Edit");
    registry.add({ .id = "edit.undo",
        .group = group,
        .text = commandText("&Undo"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_Z) },
        .icon = "undo",
        .run = [&stack] { stack.undo(); },
        .isEnabled = [&stack] { return stack.canUndo(); },
        .describe =
            [&stack] {
                return stack.canUndo() ? commandText("Undo: %1").arg(stack.undoText()) : commandText("Undo");
            } });
    registry.add({ .id = "edit.redo",
        .group = group,
        .text = commandText("&Redo"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y) },
        .icon = "redo",
        .run = [&stack] { stack.redo(); },
        .isEnabled = [&stack] { return stack.canRedo(); },
        .describe =
            [&stack] {
                return stack.canRedo() ? commandText("Redo: %1").arg(stack.redoText()) : commandText("Redo");
            } });
    registry.add({ .id = "edit.copyNumbers",
        .group = group,
        .text = commandText("&Copy the numbers as a table"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C) },
        .run = [&window] { QApplication::clipboard()->setText(window.workbench().strip->toTsv()); } });
}

void addViewCommands(CommandRegistry &registry, MainWindow &window)
{
    Workbench &bench = window.workbench();
    const QString group = commandText("Panels");
    const struct {
        const char *id, *label;
        QWidget *panel;
        Qt::Key key;
    } panels[] = {
        { "view.map", "&Cluster map", bench.map, Qt::Key_1 },
        { "view.timeline", "&Timeline", bench.timeline, Qt::Key_2 },
        { "view.curves", "C&harts", bench.curves, Qt::Key_3 },
        { "view.strategies", "&Strategies", bench.strategies, Qt::Key_4 },
        { "view.workload", "&Workload", bench.workload, Qt::Key_5 },
        { "view.why", "Wh&y", bench.why, Qt::Key_6 },
        { "view.problems", "&Problems", bench.problems, Qt::Key_7 },
        { "view.memory", "M&emory breakdown", bench.memory, Qt::Key_8 },
        { "view.datacenters", "&Datacenter selection", bench.datacenters, Qt::Key_0 },
    };
    for (const auto &entry : panels)
        registry.add({ .id = QLatin1String(entry.id),
            .group = group,
            .text = commandText(entry.label),
            .shortcuts = { QKeySequence(Qt::ALT | entry.key) },
            .run = [&window, &bench, panel = entry.panel] {
                window.showWorkbench();
                bench.reveal(panel);
            } });
    registry.add({ .id = "view.details",
        .group = group,
        .text = commandText("Deta&ils of the selection"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_I) },
        .run = [&window, &bench] {
            window.showWorkbench();
            bench.reveal(bench.details);
        } });
    registry.add({ .id = "view.shares",
        .group = group,
        .text = commandText("&GPU shares"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_G) },
        .run = [&window, &bench] {
            window.showWorkbench();
            bench.reveal(bench.shares);
        } });
    registry.add({ .id = "view.baselines",
        .group = group,
        .text = commandText("Compare &baselines of mixed GPUs"),
        .run = [&window, &bench] {
            window.showWorkbench();
            bench.showBaselines();
        } });
    registry.add({ .id = "view.edits",
        .group = group,
        .text = commandText("E&dits since opening"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_H) },
        .run = [&window, &bench] {
            window.showWorkbench();
            bench.reveal(bench.edits);
        } });
    registry.add({ .id = "view.validation",
        .group = group,
        .text = commandText("&Validation"),
        .shortcuts = { QKeySequence(Qt::ALT | Qt::Key_9) },
        .icon = "info",
        .run = [&window] { window.showValidation(); } });
    registry.add({ .id = "view.experts",
        .group = group,
        .text = commandText("Compare &exchanges with experts"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_E) },
        .run = [&window] { window.showExperts(); } });
    registry.add({ .id = "jobs.compare",
        .group = group,
        .text = commandText("Compare &schedulers of jobs"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_K) },
        .run = [&window] { window.showJobs(); } });
    registry.add({ .id = "view.layer",
        .group = group,
        .text = commandText("Open an e&xpert layer"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_L) },
        .run = [&window] { window.showLayer(LayerPass::Pair); }, // as it runs; where nothing does at once, its forward
        .isEnabled = [&window] { return hasExpertLayers(window.bridge().evaluation()); } });
    registry.add({ .id = "view.fullScreen",
        .group = group,
        .text = commandText("&Full screen"),
        .shortcuts = { QKeySequence(Qt::Key_F11) },
        .run = [&window] { window.setWindowState(window.windowState() ^ Qt::WindowFullScreen); },
        .isChecked = [&window] { return window.isFullScreen(); } });
    const struct {
        const char *id, *label;
        ThemeKind kind;
    } themes[] = {
        { "theme.system", "S&ystem theme", ThemeKind::System },
        { "theme.light", "&Light theme", ThemeKind::Light },
        { "theme.dark", "&Dark theme", ThemeKind::Dark },
        { "theme.highContrast", "&High-contrast theme", ThemeKind::HighContrast },
    };
    for (const auto &entry : themes)
        registry.add({ .id = QLatin1String(entry.id),
            .group = commandText("View"),
            .text = commandText(entry.label),
            .run = [&window, kind = entry.kind] { window.setThemeKind(kind); },
            .isChecked = [&window, kind = entry.kind] { return window.themeKind() == kind; } });
}

void addMapCommands(CommandRegistry &registry, MainWindow &window)
{
    ClusterMap *map = window.workbench().map;
    const QString group = commandText("Cluster");
    registry.add({ .id = "plan.addDatacenter",
        .group = group,
        .text = commandText("Add a &datacenter…"),
        .icon = "datacenter",
        .run = [map] { map->addDatacenter(); } });
    registry.add({ .id = "plan.addLink", .group = group, .text = commandText("Add a &link…"), .run = [map] {
                      map->addLink();
                  } });
    registry.add({ .id = "map.fit",
        .group = group,
        .text = commandText("&Fit the map"),
        .keyHint = "Home",
        .icon = "fit",
        .run = [map] { map->fit(); } });
    registry.add(
        { .id = "map.zoomIn", .group = group, .text = commandText("Zoom the map in"), .keyHint = "+", .run = [map] {
             map->zoomIn();
         } });
    registry.add(
        { .id = "map.zoomOut", .group = group, .text = commandText("Zoom the map out"), .keyHint = "−", .run = [map] {
             map->zoomOut();
         } });
    registry.add({ .id = "plan.editSelection",
        .group = group,
        .text = commandText("&Edit the selection…"),
        .keyHint = "F2",
        .run = [map] { map->editSelection(); } });
    registry.add({ .id = "plan.removeSelection",
        .group = group,
        .text = commandText("Re&move the selection"),
        .keyHint = "Del",
        .run = [map] { map->removeSelection(); } });
    registry.add(
        { .id = "plan.resetPositions", .group = group, .text = commandText("&Reset layout of the map"), .run = [map] {
             map->resetPositions();
         } });
    const struct {
        const char *keys, *what;
    } gestures[] = {
        { "Drag", "Move a node to another datacenter" },
        { "Shift+drag, Ctrl+drag", "Move a GPU, a whole pool" },
        { "Tab, arrows", "From item to item" },
        { "Space, Enter", "Pick up / drop" },
        { "+, −, 0–9, wheel", "How many, while GPUs are picked up" },
        { "Esc", "Put them back" },
        { "Ctrl+wheel", "Zoom at the pointer" },
        { "Middle-drag", "Pan, zoomed" },
    };
    for (const auto &gesture : gestures)
        registry.add({ .id = QLatin1String("map.keys.") + QString::fromUtf8(gesture.keys),
            .group = group,
            .text = commandText(gesture.what),
            .keyHint = QString::fromUtf8(gesture.keys) });
}

void addPlanCommands(CommandRegistry &registry, MainWindow &window)
{
    const QString group = commandText("Plan");
    registry.add(
        { .id = "plan.model", .group = group, .text = commandText("Use a model's &config.json…"), .run = [&window] {
             window.files().chooseModelConfig();
         } });
    registry.add(
        { .id = "plan.fit", .group = group, .text = commandText("&Fit this model into memory"), .run = [&window] {
             window.showWorkbench();
             window.workbench().showFitting();
         } });
    registry.add({ .id = "plan.offloadOrNot",
        .group = group,
        .text = commandText("Compare &recompute, offload and keep"),
        .run = [&window] {
            window.showWorkbench();
            window.workbench().curves->setTab(CurvesPanel::Tab::Rok);
            window.workbench().curves->rok()->setFocus(Qt::ShortcutFocusReason);
        } });
}

void addHelpCommands(CommandRegistry &registry, MainWindow &window, Prompts &prompts)
{
    const QString group = commandText("Help");
    registry.add({ .id = "help.palette",
        .group = group,
        .text = commandText("&Go to anything…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P) },
        .icon = "search",
        .run = [&window] { window.palettePopup().open(); } });
    registry.add({ .id = "help.keys",
        .group = group,
        .text = commandText("&Keyboard shortcuts"),
        .shortcuts = { QKeySequence(Qt::Key_Question), QKeySequence(Qt::Key_F1) },
        .icon = "keyboard",
        .run = [&window] { window.overlay().open(); } });
    registry.add({ .id = "help.tour", .group = group, .text = commandText("&Tour"), .run = [&window] {
                      window.tour().start();
                  } });
    registry.add({ .id = "help.documentation", .group = group, .text = commandText("&Documentation"), .run = [&window] {
                      window.showDocumentation();
                  } });
    registry.add({ .id = "help.about",
        .group = group,
        .text = commandText("&About Trainyard"),
        .icon = "info",
        .run = [&window, &prompts] { prompts.about(&window); } });
}

} // namespace

void addCommands(CommandRegistry &registry, MainWindow &window, Prompts &prompts)
{
    addFileCommands(registry, window);
    addEditCommands(registry, window);
    addPlanCommands(registry, window);
    addSessionCommands(registry, window);
    addMeetingCommands(registry, window);
    addMapCommands(registry, window);
    addViewCommands(registry, window);
    addArrangementCommands(registry, window);
    addTimelineCommands(registry, window);
    addExpertCommands(registry, window);
    addJobCommands(registry, window);
    addRunCommands(registry, window);
    addLiveCommands(registry, window);
    addPlannerCommands(registry, window);
    addHelpCommands(registry, window, prompts);
}

} // namespace trainyard
