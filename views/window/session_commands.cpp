// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/session_commands.h"

#include "models/text/foreign_text.h"
#include "views/commands/command_registry.h"
#include "views/window/command_text.h"
#include "views/window/main_window.h"
#include "views/window/session_actions.h"

namespace trainyard {

namespace {

void addBaselineCommands(CommandRegistry &registry, MainWindow &window)
{
    EvaluationBridge &bridge = window.bridge();
    PlanDocument &document = window.document();
    SessionDocument &session = window.session();
    const QString group = commandText("Plan");
    registry.add({ .id = "plan.pinBaseline",
        .group = group,
        .text = commandText("&Pin as baseline"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_B) },
        .icon = "pin",
        .run =
            [&bridge, &session] {
                if (session.isMeeting())
                    session.setBaseline(std::string(session.current()));
                bridge.pinBaseline(); // as it is now
            },
        .isEnabled = [&bridge] { return bridge.settled() != nullptr; } });
    registry.add({ .id = "plan.clearBaseline",
        .group = group,
        .text = commandText("&Remove the baseline"),
        .icon = "unpin",
        .run =
            [&bridge, &session] {
                bridge.clearBaseline();
                session.setBaseline({});
            },
        .isEnabled = [&bridge] { return bridge.baseline() != nullptr; } });
    registry.add({ .id = "plan.restoreBaseline",
        .group = group,
        .text = commandText("Go &back to the baseline"),
        .run = [&bridge, &document] { document.apply(bridge.baseline()->plan, commandText("Back to the baseline")); },
        .isEnabled = [&bridge] { return bridge.baseline() != nullptr; } });
}

} // namespace

void addSessionCommands(CommandRegistry &registry, MainWindow &window)
{
    SessionActions &actions = window.sessionActions();
    SessionDocument &session = actions.session();
    addBaselineCommands(registry, window);
    const QString group = commandText("Variants");
    const auto hasOthers = [&session] { return session.variants().size() > 1; };
    registry.add({ .id = "variant.branch",
        .group = group,
        .text = commandText("New &variant of what is shown"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::Key_D) },
        .icon = "new",
        .run = [&actions] { actions.branch(); } });
    registry.add({ .id = "view.board",
        .group = group,
        .text = commandText("&Board of variants and decisions"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_D) },
        .run = [&window] { window.showBoard(); } });
    registry.add({ .id = "view.comparison",
        .group = group,
        .text = commandText("&Compare with another variant or run"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E) },
        .run = [&actions] { actions.compare(); },
        .isEnabled = [&actions] { return actions.canCompare(); } });
    registry.add({ .id = "variant.next",
        .group = group,
        .text = commandText("&Next variant"),
        .shortcuts = { QKeySequence(Qt::ALT | Qt::Key_PageDown) },
        .run = [&session] { session.showNext(1); },
        .isEnabled = hasOthers });
    registry.add({ .id = "variant.previous",
        .group = group,
        .text = commandText("&Previous variant"),
        .shortcuts = { QKeySequence(Qt::ALT | Qt::Key_PageUp) },
        .run = [&session] { session.showNext(-1); },
        .isEnabled = hasOthers });
    registry.add({ .id = "variant.decide",
        .group = group,
        .text = commandText("&Decide…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Return) },
        .run = [&window] { window.showBoard(true); } });
    registry.add({ .id = "variant.baseline",
        .group = group,
        .text = commandText("Make it the b&aseline of the others"),
        .run = [&session] { session.setBaseline(std::string(session.current())); },
        .isEnabled = [&session] { return session.value().baseline != session.current(); } });
    registry.add({ .id = "variant.remove",
        .group = group,
        .text = commandText("&Remove this variant"),
        .run = [&actions] { actions.remove(); },
        .isEnabled = hasOthers });
    registry.add({ .id = "variant.restore",
        .group = group,
        .text = commandText("Bring back the variant that was removed"),
        .run = [&session] { session.restoreRemoved(); },
        .isEnabled = [&session] { return session.canRestore(); } });
}

} // namespace trainyard
