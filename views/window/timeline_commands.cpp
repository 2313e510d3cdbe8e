// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/timeline_commands.h"

#include "views/commands/command_registry.h"
#include "views/timeline/timeline_view.h"
#include "views/window/command_text.h"
#include "views/window/main_window.h"

namespace trainyard {

void addTimelineCommands(CommandRegistry &registry, MainWindow &window)
{
    TimelineView *timeline = window.workbench().timeline;
    const QString group = commandText("Timeline");
    const auto isShown = [&window] { return window.isWorkbenchShown(); };
    registry.add({ .id = "timeline.fit",
        .group = group,
        .text = commandText("&Fit the whole iteration"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_0) },
        .icon = "fit",
        .run = [timeline] { timeline->fit(); } });
    registry.add({ .id = "timeline.zoomIn",
        .group = group,
        .text = commandText("Zoom &in"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_Equal), QKeySequence(Qt::CTRL | Qt::Key_Plus), Qt::Key_W },
        .icon = "zoom-in",
        .run = [timeline] { timeline->zoomIn(); },
        .isEnabled = isShown });
    registry.add({ .id = "timeline.zoomOut",
        .group = group,
        .text = commandText("Zoom &out"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_Minus), Qt::Key_S },
        .icon = "zoom-out",
        .run = [timeline] { timeline->zoomOut(); },
        .isEnabled = isShown });
    // Keys without a modifier: they are the window's wherever no text is typed, since a list that had the focus last
    // would take a letter for a choice. Fields take what is typed into them before any shortcut.
    using Slot = void (TimelineView::*)();
    const struct {
        const char *id, *label;
        QList<QKeySequence> keys;
        Slot slot;
    } views[] = {
        { "timeline.panLeft", "Pan to the &left", { Qt::Key_A }, &TimelineView::panLeft },
        { "timeline.panRight", "Pan to the &right", { Qt::Key_D }, &TimelineView::panRight },
        { "timeline.zoomToSelection", "Zoom to the &selection; again: fit", { Qt::Key_F },
            &TimelineView::zoomToSelection },
        { "timeline.find", "&Search the spans", { QKeySequence::Find, Qt::Key_Slash }, &TimelineView::openSearch },
        { "timeline.criticalPath", "&Critical path", { Qt::Key_C }, &TimelineView::toggleCriticalPath },
        { "timeline.streams", "Show s&treams below their stage", { Qt::Key_U }, &TimelineView::toggleStreams },
        { "timeline.others", "&Fold pipelines that differ", { Qt::Key_G }, &TimelineView::toggleOthers },
        { "timeline.pin", "&Pin the row", { Qt::Key_P }, &TimelineView::togglePin },
        { "timeline.mark", "Set a &mark", { Qt::Key_M }, &TimelineView::addMark },
        { "timeline.next", "&Next on the track", { Qt::Key_Period }, &TimelineView::nextSpan },
        { "timeline.previous", "&Previous on the track", { Qt::Key_Comma }, &TimelineView::previousSpan },
    };
    for (const auto &view : views)
        registry.add({ .id = QLatin1String(view.id),
            .group = group,
            .text = commandText(view.label),
            .shortcuts = view.keys,
            .run = [timeline, slot = view.slot] { (timeline->*slot)(); },
            .isEnabled = isShown });
    registry.add({ .id = "timeline.inside",
        .group = group,
        .text = commandText("Show communication inside op&erations"),
        .shortcuts = { Qt::Key_I },
        .run = [timeline] { timeline->toggleInside(); },
        .isEnabled = isShown,
        .isChecked = [timeline] { return timeline->state().showsInside; } });
    registry.add({ .id = "timeline.measured",
        .group = group,
        .text = commandText("Measured &rows of the run"),
        .shortcuts = { Qt::Key_R },
        .run = [timeline] { timeline->toggleMeasured(); },
        .isEnabled = [timeline, isShown] { return isShown() && timeline->state().overlay != nullptr; },
        .isChecked = [timeline] { return timeline->state().showsMeasured; } });
    QObject::connect(timeline, &TimelineView::measuredShownChanged, &registry, &CommandRegistry::refresh);
    registry.add({ .id = "timeline.cause",
        .group = group,
        .text = commandText("To what it &waited for"),
        .shortcuts = { Qt::Key_BracketLeft },
        .run = [timeline] { timeline->followDependency(false); },
        .isEnabled = isShown });
    registry.add({ .id = "timeline.effect",
        .group = group,
        .text = commandText("To what &waited for it"),
        .shortcuts = { Qt::Key_BracketRight },
        .run = [timeline] { timeline->followDependency(true); },
        .isEnabled = isShown });
    registry.add({ .id = "timeline.clear",
        .group = group,
        .text = commandText("Clear area, marks and selection"),
        .keyHint = "Esc",
        .run = [timeline] { timeline->clearSelection(); } });
    registry.add({ .id = "timeline.openLayer",
        .group = group,
        .text = commandText("Open an expert layer of the selected operation"),
        .keyHint = "L",
        .run = [timeline] { timeline->openLayer(); } });
    registry.add({ .id = "timeline.copyArea",
        .group = group,
        .text = commandText("C&opy the selected area's table"),
        .run = [timeline] { timeline->copyArea(); } });
    const struct {
        const char *keys, *what;
    } gestures[] = {
        { "←, →", "Pan" },
        { "↑, ↓", "Scroll the tracks" },
        { "Ctrl+wheel", "Zoom at the pointer" },
        { "Drag", "Select an area" },
        { "Shift+drag", "Pan" },
    };
    for (const auto &gesture : gestures)
        registry.add({ .id = QLatin1String("timeline.keys.") + QString::fromUtf8(gesture.keys),
            .group = group,
            .text = commandText(gesture.what),
            .keyHint = QString::fromUtf8(gesture.keys) });
}

} // namespace trainyard
