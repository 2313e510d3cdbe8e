// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/panel_tables.h"

#include "views/details/details_panel.h"
#include "views/export/panel_menu.h"
#include "views/panels/datacenter_panel.h"
#include "views/panels/edits_panel.h"
#include "views/panels/gpu_shares_panel.h"
#include "views/panels/jobs_panel.h"
#include "views/panels/memory_parts.h"
#include "views/panels/number_strip.h"
#include "views/panels/problems_panel.h"
#include "views/panels/why_panel.h"
#include "views/window/workbench.h"

namespace trainyard {

namespace {

template <class Panel> void give(Panel *panel)
{
    setPanelTable(panel, [panel] { return panel->toTsv(); });
}

} // namespace

void givePanelsTheirTables(Workbench &bench)
{
    give(bench.strip);
    give(bench.datacenters);
    give(bench.details);
    give(bench.edits);
    give(bench.why);
    give(bench.problems);
    give(bench.shares);
    give(bench.jobs);
    for (MemoryParts *parts : bench.findChildren<MemoryParts *>())
        give(parts);
}

} // namespace trainyard
