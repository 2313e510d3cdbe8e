#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Commands of the planner: its page, a search, the plan that is tried, pins. GUI thread.

namespace trainyard {

class CommandRegistry;
class MainWindow;

void addPlannerCommands(CommandRegistry &registry, MainWindow &window);

} // namespace trainyard
