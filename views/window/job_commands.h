#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The commands about jobs. GUI thread.

namespace trainyard {

class CommandRegistry;
class MainWindow;

void addJobCommands(CommandRegistry &registry, MainWindow &window);

} // namespace trainyard
