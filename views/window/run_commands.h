#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Commands about the run that lies under the plan, and about its steps. GUI thread.

namespace trainyard {

class CommandRegistry;
class MainWindow;

void addRunCommands(CommandRegistry &registry, MainWindow &window);

} // namespace trainyard
