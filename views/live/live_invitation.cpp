// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/live_invitation.h"

#include "views/live/connect_kinds.h"

#include <QCoreApplication>

namespace trainyard {

Invitation::Words liveInvitation()
{
    const auto tr = [](const char *text) { return QCoreApplication::translate("LiveInvitation", text); };
    Invitation::Words words { .accessibleName = tr("Nothing is connected"),
        .title = tr("Watch a run against this plan"),
        .about = tr("Connect to a training run while it goes on. Its steps are laid under the plan as they come, and "
                    "what somebody should know is said in words."),
        .kinds = {},
        .nameWidth = 170,
        .begin = tr("Connect to a run…"),
        .other = tr("Replay a recording…") };
    for (const ConnectKind &kind : connectKinds())
        words.kinds.push_back({ kind.title, kind.line + QStringLiteral("  ·  ") + kind.examples.front() });
    return words;
}

} // namespace trainyard
