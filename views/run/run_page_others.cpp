// SPDX-License-Identifier: GPL-3.0-or-later
// All runs that were read, on the page of the one that is shown.
#include "views/run/run_page.h"

#include "models/loaded_runs.h"
#include "views/run/run_chips.h"
#include "views/run/run_colors.h"
#include "views/run/run_plot.h"
#include "views/theme/theme.h"

#include <QBoxLayout>

#include <algorithm>

namespace trainyard {

void RunPage::setLoadedRuns(LoadedRuns &loaded)
{
    m_loaded = &loaded;
    m_chips = new RunChips(loaded);
    static_cast<QBoxLayout *>(layout())->insertWidget(1, m_chips); // below the head: also without a run that is shown
    connect(&loaded, &LoadedRuns::changed, this, [this] {
        if (m_runs.overlay() && m_runs.overlay()->run == m_runs.run())
            showOthers();
    });
}

/// One axis for all of them, and for the chart below.
void RunPage::showOthers()
{
    auto [from, to] = m_steps;
    std::vector<PlottedRun> others;
    const LoadedRun *own = m_loaded ? m_loaded->find(m_loaded->current()) : nullptr;
    for (const LoadedRun &one : m_loaded ? m_loaded->all() : std::vector<LoadedRun>()) {
        if (!one.run() || one.run() == m_runs.run() || one.run()->steps.empty())
            continue;
        others.push_back({ one.name, runColor(one.color), stepTimesOf(*one.run()) });
        from = std::min(from, others.back().curve.step.front());
        to = std::max(to, others.back().curve.step.back());
    }
    for (RunPlot *plot : { stepPlot, otherPlot })
        plot->setRange(from, to);
    stepPlot->setOthers(std::move(others), own ? own->name : tr("run"), own ? runColor(own->color) : theme().accent);
}

} // namespace trainyard
