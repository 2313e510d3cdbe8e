// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/run_commands.h"

#include "views/commands/command_registry.h"
#include "views/window/live_actions.h"
#include "views/window/main_window.h"
#include "views/window/run_actions.h"
#include "views/window/run_lessons.h"

#include <QCoreApplication>

namespace trainyard {

namespace {

QString text(const char *source)
{
    return QCoreApplication::translate("WindowCommands", source);
}

} // namespace

void addRunCommands(CommandRegistry &registry, MainWindow &window)
{
    RunActions &actions = window.runActions();
    RunDocument &runs = window.runs();
    const QString group = text("Run");
    const auto hasRun = [&runs] { return runs.run() != nullptr; };
    registry.add({ .id = "view.run",
        .group = text("Panels"),
        .text = text("Plan against &run"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_R) },
        .run = [&window] { window.showRun(); } });
    registry.add({ .id = "run.open",
        .group = group,
        .text = text("Open r&un…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O) },
        .run = [&actions] { actions.open(); } });
    registry.add({ .id = "run.openFolder",
        .group = group,
        .text = text("Open run &folder…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R) },
        .run = [&actions] { actions.openFolder(); } });
    registry.add({ .id = "run.compare",
        .group = group,
        .text = text("&Compare with run…"),
        .run = [&actions] { actions.compare(); },
        .isEnabled = hasRun });
    registry.add({ .id = "run.compareFolder",
        .group = group,
        .text = text("Compare with run f&older…"),
        .run = [&actions] { actions.compareFolder(); },
        .isEnabled = hasRun });
    registry.add({ .id = "run.endComparison",
        .group = group,
        .text = text("Compare with the &plan again"),
        .run = [&runs] { runs.closeReference(); },
        .isEnabled = [&runs] { return runs.reference() != nullptr; } });
    RunLessons &lessons = window.lessons();
    registry.add({ .id = "run.learn",
        .group = group,
        .text = text("&Learn from this run"),
        .run = [&lessons] { lessons.learn(); },
        .isEnabled = [&lessons] { return lessons.calibration().canStart(); } });
    registry.add({ .id = "run.makePlan",
        .group = group,
        .text = text("&Make a plan of this run"),
        .run = [&lessons] { lessons.makePlan(); },
        .isEnabled = [&lessons] { return lessons.planOfRun().isOffered(); } });
    registry.add({ .id = "run.watch",
        .group = group,
        .text = text("&Watch folder"),
        .run = [&actions] { actions.toggleWatching(); },
        .isChecked = [&runs] { return runs.isWatching(); } });
    registry.add({ .id = "run.save",
        .group = group,
        .text = text("Save recor&ding…"),
        .run =
            [&actions, &window] {
                if (window.live().isLive() && window.runs().isLive())
                    window.liveActions().save(); // all that was told, not what is shown of it
                else
                    actions.save();
            },
        .isEnabled = hasRun });
    registry.add({ .id = "run.cancel",
        .group = group,
        .text = text("Cancel &reading"),
        .run = [&runs] { runs.cancel(); },
        .isEnabled = [&runs] { return runs.isReading(); } });
    registry.add({ .id = "run.close",
        .group = group,
        .text = text("C&lose run"),
        .run = [&actions] { actions.close(); },
        .isEnabled = hasRun });
    registry.add({ .id = "run.previousStep",
        .group = group,
        .text = text("Previous step of the run"),
        .shortcuts = { Qt::Key_Less },
        .run = [&actions] { actions.stepBy(-1); },
        .isEnabled = hasRun });
    registry.add({ .id = "run.nextStep",
        .group = group,
        .text = text("Next step of the run"),
        .shortcuts = { Qt::Key_Greater },
        .run = [&actions] { actions.stepBy(1); },
        .isEnabled = hasRun });
    registry.add({ .id = "run.typicalStep",
        .group = group,
        .text = text("Typical step of the run"),
        .run = [&runs] { runs.setStep({}); },
        .isEnabled = hasRun });
}

} // namespace trainyard
