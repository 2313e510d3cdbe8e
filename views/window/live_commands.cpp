// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/live_commands.h"

#include "views/commands/command_registry.h"
#include "views/window/live_actions.h"
#include "views/window/main_window.h"

#include <QCoreApplication>

namespace trainyard {

namespace {

QString text(const char *source)
{
    return QCoreApplication::translate("WindowCommands", source);
}

} // namespace

void addLiveCommands(CommandRegistry &registry, MainWindow &window)
{
    LiveActions &actions = window.liveActions();
    LiveDocument &live = window.live();
    const QString group = text("Live");
    const auto isLive = [&live] { return live.isLive(); };
    registry.add({ .id = "view.live",
        .group = text("Panels"),
        .text = text("&Live"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_W) },
        .run = [&window] { window.showLive(); } });
    registry.add({ .id = "live.connect",
        .group = group,
        .text = text("Con&nect to a run…"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L) },
        .run = [&window] { window.showConnect(); } });
    registry.add(
        { .id = "live.replay", .group = group, .text = text("Repla&y a recording as live…"), .run = [&actions] {
             actions.replay();
         } });
    registry.add({ .id = "live.replayThis",
        .group = group,
        .text = text("Replay &this recording as live"),
        .run = [&actions] { actions.replayThis(); },
        .isEnabled = [&actions] { return actions.canReplayThis(); } });
    registry.add({ .id = "live.pause",
        .group = group,
        .text = text("Pause"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Space) },
        .run = [&live] { live.setAllPaused(!live.areAllPaused()); },
        .isEnabled = isLive,
        .describe =
            [&live] { return live.areAllPaused() ? text("Resume live sources") : text("Pause live sources"); } });
    registry.add({ .id = "live.follow",
        .group = group,
        .text = text("&Follow the newest step"),
        .shortcuts = { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F) },
        .run = [&live] { live.setFollowing(!live.isFollowing()); },
        .isEnabled = isLive,
        .isChecked = [&live] { return live.isLive() && live.isFollowing(); } });
    registry.add({ .id = "live.whatIf",
        .group = group,
        .text = text("&What if the run stays like this"),
        .run =
            [&window, &live] {
                window.showLive();
                live.askWhatIf();
            },
        .isEnabled = [&live] { return live.canAskWhatIf(); } });
    registry.add({ .id = "live.save",
        .group = group,
        .text = text("Save what was to&ld so far…"),
        .run = [&actions] { actions.save(); },
        .isEnabled = [&live] { return live.isLive() && live.newestStep() >= 0; } });
    registry.add({ .id = "live.disconnect",
        .group = group,
        .text = text("&Disconnect from the run"),
        .run = [&live] { live.disconnectAll(); },
        .isEnabled = isLive });
}

} // namespace trainyard
