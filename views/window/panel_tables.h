#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which panels have a table of their own to copy, with numbers in full rather than as shown. GUI thread.

namespace trainyard {

class Workbench;

void givePanelsTheirTables(Workbench &bench);

} // namespace trainyard
