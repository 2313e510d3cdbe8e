// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/experts_on_map.h"

#include "views/cluster/cluster_map.h"
#include "views/commands/command_registry.h"
#include "views/details/expert_table.h"
#include "views/window/main_window.h"

#include <QCoreApplication>

#include <utility>

namespace trainyard {

ExpertsOnMap::ExpertsOnMap(ClusterMap &map, const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_map(map)
    , m_finder(catalogue)
    , m_table(new ExpertTable)
{
    connect(&map, &ClusterMap::selectionChanged, this, &ExpertsOnMap::tellSelection);
    connect(&map, &ClusterMap::trafficCleared, this, &ExpertsOnMap::hide);
    connect(m_table, &ExpertTable::expertRequested, this, &ExpertsOnMap::show);
    connect(m_table, &ExpertTable::placeRequested, &map, &ClusterMap::select);
}

void ExpertsOnMap::setEvaluation(EvaluationPtr evaluation)
{
    m_finder.setEvaluation(std::move(evaluation));
    tellSelection();
    draw();
}

int ExpertsOnMap::stageOf(const MapItem &item) const
{
    const EvaluationPtr &evaluation = m_finder.evaluation();
    if (item.kind != MapItem::Kind::Gpus || !evaluation)
        return -1;
    for (const GpuRun &run : evaluation->layout.runs)
        if (run.datacenter == item.island && run.pool == item.pool && run.firstGpu < item.firstGpu + item.gpus
            && item.firstGpu < run.firstGpu + run.gpus)
            return run.stage;
    return -1;
}

void ExpertsOnMap::tellSelection()
{
    const MapItem item = m_map.selection().empty() ? MapItem {} : m_map.selection().back();
    const int stage = stageOf(item);
    const ExpertPlaces *places = stage >= 0 ? m_finder.of(stage) : nullptr;
    if (!places) {
        m_table->setContent({});
        return;
    }
    m_stage = stage;
    m_table->setContent(
        expertsHere(*m_finder.evaluation(), *places, { item.island, item.pool }, item.firstGpu, item.gpus));
    m_table->setChosen(m_expert);
}

const ExpertPlaces *ExpertsOnMap::places()
{
    const ExpertPlaces *asked = m_stage >= 0 ? m_finder.of(m_stage) : nullptr;
    return asked ? asked : m_finder.first();
}

void ExpertsOnMap::show(int expert)
{
    m_expert = expert;
    draw();
}

void ExpertsOnMap::showFullest()
{
    if (const ExpertPlaces *at = places())
        show(at->fullestExpert());
}

void ExpertsOnMap::step(int by)
{
    const ExpertPlaces *at = places();
    if (at && at->experts() > 0)
        show(m_expert < 0 ? 0 : (m_expert + by + at->experts()) % at->experts());
}

void ExpertsOnMap::hide()
{
    m_expert = -1;
    draw();
}

void ExpertsOnMap::draw()
{
    const ExpertPlaces *at = m_expert >= 0 ? places() : nullptr;
    if (m_expert >= 0 && (!at || m_expert >= at->experts()))
        m_expert = -1; // another model, or none
    m_map.setTraffic(m_expert >= 0 ? std::optional(expertTraffic(*m_finder.evaluation(), *at, m_expert))
                                   : std::optional<MapTraffic>());
    m_table->setChosen(m_expert);
}

void addExpertCommands(CommandRegistry &registry, MainWindow &window)
{
    ExpertsOnMap *experts = window.workbench().experts;
    const auto text = [](const char *source) { return QCoreApplication::translate("WindowCommands", source); };
    const QString group = text("Experts");
    const auto add = [&](const char *id, const char *label, auto run, std::function<bool()> isEnabled) {
        registry.add({ .id = QLatin1String(id),
            .group = group,
            .text = text(label),
            .run =
                [&window, run] {
                    window.showWorkbench();
                    run();
                },
            .isEnabled = std::move(isEnabled) });
    };
    const auto has = [experts] { return experts->hasExperts(); };
    const auto isShown = [experts] { return experts->expert() >= 0; };
    add(
        "experts.show", "Show the fullest &expert on the map", [experts] { experts->showFullest(); }, has);
    add(
        "experts.next", "Show the ne&xt expert", [experts] { experts->step(1); }, has);
    add(
        "experts.previous", "Show the pre&vious expert", [experts] { experts->step(-1); }, has);
    add(
        "experts.hide", "&Hide the expert's senders", [experts] { experts->hide(); }, isShown);
}

} // namespace trainyard
