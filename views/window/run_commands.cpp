// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/run_commands.h"

#include "views/commands/command_registry.h"
#include "views/window/command_text.h"
#include "views/window/live_actions.h"
#include "views/window/main_window.h"
#include "views/window/run_actions.h"
#include "views/window/run_lessons.h"
#include "views/window/session_actions.h"

namespace trainyard {

void addRunCommands(CommandRegistry &registry, MainWindow &window)
{
    RunActions &actions = window.runActions();
    RunDocument &runs = window.runs();
    const QString group = commandText("Run");
    const auto hasRun = [&runs] { return runs.run() != nullptr; };
    registry.add({ .id = "view.run",
        .group = commandText("Panels"),
        .text = commandText("Plan against &run"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_R) },
        .run = [&window] { window.showRun(); } });
    registry.add({ .id = "run.open",
        .group = group,
        .text = commandText("Open r&un…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O) },
        .run = [&actions] { actions.open(); } });
    registry.add({ .id = "run.openFolder",
        .group = group,
        .text = commandText("Open run &folder…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R) },
        .run = [&actions] { actions.openFolder(); } });
    registry.add({ .id = "run.linePattern",
        .group = group,
        .text = commandText("Read a log by a li&ne pattern…"),
        .run = [&actions] { actions.readByLinePattern(); } });
    registry.add({ .id = "run.compare",
        .group = group,
        .text = commandText("&Compare with run…"),
        .run = [&actions] { actions.compare(); },
        .isEnabled = hasRun });
    registry.add({ .id = "run.compareFolder",
        .group = group,
        .text = commandText("Compare with run f&older…"),
        .run = [&actions] { actions.compareFolder(); },
        .isEnabled = hasRun });
    registry.add({ .id = "run.endComparison",
        .group = group,
        .text = commandText("Compare with the &plan again"),
        .run = [&runs] { runs.closeReference(); },
        .isEnabled = [&runs] { return runs.reference() != nullptr; } });
    SessionActions &session = window.sessionActions();
    registry.add({ .id = "run.besidePlan",
        .group = group,
        .text = commandText("Beside the plan, on one a&xis"),
        .run = [&session] { session.compareWithRun(); },
        .isEnabled = hasRun });
    RunLessons &lessons = window.lessons();
    registry.add({ .id = "run.learn",
        .group = group,
        .text = commandText("&Learn from this run"),
        .run = [&lessons] { lessons.learn(); },
        .isEnabled = [&lessons] { return lessons.calibration().canStart(); } });
    registry.add({ .id = "run.makePlan",
        .group = group,
        .text = commandText("&Make a plan of this run"),
        .run = [&lessons] { lessons.makePlan(); },
        .isEnabled = [&lessons] { return lessons.planOfRun().isOffered(); } });
    registry.add({ .id = "run.watch",
        .group = group,
        .text = commandText("&Watch folder"),
        .run = [&actions] { actions.toggleWatching(); },
        .isChecked = [&runs] { return runs.isWatching(); } });
    registry.add({ .id = "run.save",
        .group = group,
        .text = commandText("Save recor&ding…"),
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
        .text = commandText("Cancel &reading"),
        .run = [&runs] { runs.cancel(); },
        .isEnabled = [&runs] { return runs.isReading(); } });
    registry.add({ .id = "run.close",
        .group = group,
        .text = commandText("C&lose run"),
        .run = [&actions] { actions.close(); },
        .isEnabled = hasRun });
    registry.add({ .id = "run.previousStep",
        .group = group,
        .text = commandText("Previous step of the run"),
        .shortcuts = { Qt::Key_Less },
        .run = [&actions] { actions.stepBy(-1); },
        .isEnabled = hasRun });
    registry.add({ .id = "run.nextStep",
        .group = group,
        .text = commandText("Next step of the run"),
        .shortcuts = { Qt::Key_Greater },
        .run = [&actions] { actions.stepBy(1); },
        .isEnabled = hasRun });
    registry.add({ .id = "run.typicalStep",
        .group = group,
        .text = commandText("Typical step of the run"),
        .run = [&runs] { runs.setStep({}); },
        .isEnabled = hasRun });
}

} // namespace trainyard
