#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the timeline can do, as commands of the window, and its gestures for the overlay of shortcuts.

namespace trainyard {

class CommandRegistry;
class MainWindow;

void addTimelineCommands(CommandRegistry &registry, MainWindow &window);

} // namespace trainyard
