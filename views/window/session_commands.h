#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Commands of a meeting: variants, their board, their comparison. GUI thread.

namespace trainyard {

class CommandRegistry;
class MainWindow;

void addSessionCommands(CommandRegistry &registry, MainWindow &window);
/// What cards, board and comparison offer to the mouse, by key and by name.
void addMeetingCommands(CommandRegistry &registry, MainWindow &window);

} // namespace trainyard
