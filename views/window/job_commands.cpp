// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/job_commands.h"

#include "views/commands/command_registry.h"
#include "views/panels/jobs_panel.h"
#include "views/window/command_text.h"
#include "views/window/main_window.h"

namespace trainyard {

void addJobCommands(CommandRegistry &registry, MainWindow &window)
{
    Workbench &bench = window.workbench();
    const auto reveal = [&window, &bench] {
        window.showWorkbench();
        bench.reveal(bench.jobs);
    };
    registry.add({ .id = "view.jobs",
        .group = commandText("Panels"),
        .text = commandText("&Jobs: many models"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_J) },
        .run = reveal });
    const QString group = commandText("Jobs");
    registry.add({ .id = "jobs.add", .group = group, .text = commandText("Add a &job…"), .run = [reveal, &bench] {
                      reveal();
                      bench.jobs->add();
                  } });
    registry.add({ .id = "jobs.grid",
        .group = group,
        .text = commandText("Add a &grid of jobs…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_J) },
        .run = [reveal, &bench] {
            reveal();
            bench.jobs->addGrid();
        } });
    const struct {
        const char *keys, *what;
    } gestures[] = {
        { "Space", "Pause or resume the selected jobs" },
        { "F2, Enter", "Type into a cell: name, batch, steps, deadline" },
        { "Alt+↑, Alt+↓", "Move a job in the list" },
        { "Del", "Remove the selected jobs" },
        { "Drag", "To another place in the list, or to a GPU's track to pin it" },
    };
    for (const auto &gesture : gestures)
        registry.add({ .id = QLatin1String("jobs.keys.") + QString::fromUtf8(gesture.keys),
            .group = group,
            .text = commandText(gesture.what),
            .keyHint = QString::fromUtf8(gesture.keys) });
}

} // namespace trainyard
