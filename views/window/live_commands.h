#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Commands about a run that goes on. GUI thread.

namespace trainyard {

class CommandRegistry;
class MainWindow;

void addLiveCommands(CommandRegistry &registry, MainWindow &window);

} // namespace trainyard
