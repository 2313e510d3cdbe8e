#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The list of everything the window can do: one entry a command, in the order in which the overlay shows them.

namespace trainyard {

class CommandRegistry;
class MainWindow;
class Prompts;

void addCommands(CommandRegistry &registry, MainWindow &window, Prompts &prompts);

} // namespace trainyard
