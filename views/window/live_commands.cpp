// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/live_commands.h"

#include "views/commands/command_registry.h"
#include "views/window/command_text.h"
#include "views/window/live_actions.h"
#include "views/window/main_window.h"

namespace trainyard {

void addLiveCommands(CommandRegistry &registry, MainWindow &window)
{
    LiveActions &actions = window.liveActions();
    LiveDocument &live = window.live();
    const QString group = commandText("Live");
    const auto isLive = [&live] { return live.isLive(); };
    registry.add({ .id = "view.live",
        .group = commandText("Panels"),
        .text = commandText("&Live"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_W) },
        .run = [&window] { window.showLive(); } });
    registry.add({ .id = "live.connect",
        .group = group,
        .text = commandText("Con&nect to a run…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L) },
        .run = [&window] { window.showConnect(); } });
    registry.add(
        { .id = "live.replay", .group = group, .text = commandText("Repla&y a recording as live…"), .run = [&actions] {
             actions.replay();
         } });
    registry.add({ .id = "live.replayThis",
        .group = group,
        .text = commandText("Replay &this recording as live"),
        .run = [&actions] { actions.replayThis(); },
        .isEnabled = [&actions] { return actions.canReplayThis(); } });
    registry.add({ .id = "live.pause",
        .group = group,
        .text = commandText("Pause"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Space) },
        .run = [&live] { live.setHeld(!live.isHeld()); },
        .isEnabled = isLive,
        .describe =
            [&live] { return live.isHeld() ? commandText("Resume the picture") : commandText("Hold the picture"); } });
    registry.add({ .id = "live.follow",
        .group = group,
        .text = commandText("&Follow the newest step"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F) },
        .run = [&live] { live.setFollowing(!live.isFollowing()); },
        .isEnabled = isLive,
        .isChecked = [&live] { return live.isLive() && live.isFollowing(); } });
    registry.add({ .id = "live.whatIf",
        .group = group,
        .text = commandText("&What if the run stays like this"),
        .run =
            [&window, &live] {
                window.showLive();
                live.askWhatIf();
            },
        .isEnabled = [&live] { return live.canAskWhatIf(); } });
    registry.add({ .id = "live.save",
        .group = group,
        .text = commandText("Save what was to&ld so far…"),
        .run = [&actions] { actions.save(); },
        .isEnabled = [&live] { return live.isLive() && live.newestStep() >= 0; } });
    registry.add({ .id = "live.disconnect",
        .group = group,
        .text = commandText("&Disconnect from the run"),
        .run = [&live] { live.disconnectAll(); },
        .isEnabled = isLive });
}

} // namespace trainyard
