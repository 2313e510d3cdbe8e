// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/planner_commands.h"

#include "views/commands/command_registry.h"
#include "views/window/command_text.h"
#include "views/window/main_window.h"
#include "views/window/planner_actions.h"

namespace trainyard {

void addPlannerCommands(CommandRegistry &registry, MainWindow &window)
{
    PlannerActions &actions = window.plannerActions();
    PlanSearch &search = actions.search();
    PlanDocument &document = window.document();
    const QString group = commandText("Planner");
    const auto isSearching = [&search] { return search.state() == PlanSearch::State::Searching; };
    const auto isTrying = [&document] { return document.trial() != nullptr; };
    registry.add({ .id = "view.planner",
        .group = commandText("Panels"),
        .text = commandText("Pl&anner"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_P) },
        .run = [&window] { window.showPlanner(); } });
    registry.add({ .id = "view.sweep",
        .group = commandText("Panels"),
        .text = commandText("S&weep"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_V) },
        .run = [&window] { window.showSweep(); } });
    registry.add({ .id = "planner.search",
        .group = group,
        .text = commandText("Let it &search"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_G) },
        .icon = "search",
        .run =
            [&window, &search] {
                window.showPlanner(); // what is typed is of the plan that is searched around
                search.start();
            },
        .isEnabled = [&search, isSearching] { return search.plan() && !isSearching(); } });
    registry.add({ .id = "planner.stop",
        .group = group,
        .text = commandText("Stop the search and keep its best"),
        .run = [&search] { search.stop(); },
        .isEnabled = isSearching });
    registry.add({ .id = "planner.adopt",
        .group = group,
        .text = commandText("Adopt the plan that is tried"),
        .run = [&document] { document.adoptTrial(); },
        .isEnabled = isTrying });
    registry.add({ .id = "planner.back",
        .group = group,
        .text = commandText("Back from the plan that is tried"),
        .keyHint = "Esc",
        .run = [&actions] { actions.leaveTrial(); },
        .isEnabled = isTrying });
    registry.add({ .id = "planner.pin",
        .group = group,
        .text = commandText("&Fix the focused strategy for the planner"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_B) },
        .icon = "pin",
        .run = [&actions, &search] {
            if (const std::string key = actions.focusedKey(); !key.empty())
                search.setPinned(key, !search.isPinned(key));
        } });
    const struct {
        const char *keys, *what;
    } gestures[] = {
        { "Double-click, Enter", "Try the candidate" },
        { "←, →", "Along the front, from cheap to fast" },
        { "Wheel, drag, F", "Zoom, pan, fit the candidates" },
    };
    for (const auto &gesture : gestures)
        registry.add({ .id = QLatin1String("planner.keys.") + QString::fromUtf8(gesture.keys),
            .group = group,
            .text = commandText(gesture.what),
            .keyHint = QString::fromUtf8(gesture.keys) });
}

} // namespace trainyard
