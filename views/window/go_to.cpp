// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/go_to.h"

#include "models/edit_history.h"
#include "models/job_edits.h"
#include "models/job_spans.h"
#include "models/names/plan_names.h"
#include "models/text/foreign_text.h"
#include "views/cluster/cluster_map.h"
#include "views/details/details_panel.h"
#include "views/live/alarm_list.h"
#include "views/live/live_page.h"
#include "views/panels/edits_panel.h"
#include "views/panels/jobs_panel.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/workload_editor.h"
#include "views/session/board_page.h"
#include "views/timeline/timeline_view.h"
#include "views/window/arrangement_actions.h"
#include "views/window/file_actions.h"
#include "views/window/live_actions.h"
#include "views/window/main_window.h"
#include "views/window/session_actions.h"

#include <QListWidget>

#include <algorithm>

namespace trainyard {

namespace {

/// Of the workload those that Strategies do not have.
std::vector<std::string> keysWithControls(const Workbench &bench)
{
    std::vector<std::string> keys = bench.strategies->keys();
    for (const std::string &path : WorkloadEditor::keys())
        if (std::ranges::find(keys, path) == keys.end())
            keys.push_back(path);
    return keys;
}

MapItem itemOf(const GpuSelection &gpus)
{
    return { .kind = MapItem::Kind::Gpus,
        .island = gpus.datacenter,
        .pool = gpus.pool,
        .firstGpu = gpus.firstGpu,
        .gpus = gpus.gpus };
}

} // namespace

GoTo::GoTo(MainWindow &window)
    : QObject(&window)
    , m_window(window)
{
}

void GoTo::addNames(NameIndex &index)
{
    const Workbench &bench = m_window.workbench();
    const PlanPtr &plan = m_window.document().basePlan();
    m_named = plan;
    const SessionDocument &session = m_window.session();
    addSessionNames(index, session.value(), session.current());
    addClusterNames(index, plan);
    const EvaluationPtr &evaluation = m_window.bridge().evaluation();
    if (evaluation && evaluation->plan == plan)
        addPlacedNames(index, evaluation);
    addKeyNames(index, *plan, keysWithControls(bench));
    addModelNames(index, bench.catalogue());
    addFileNames(index, m_window.recent().paths());
    const std::vector<HistoryStep> &steps = bench.history().steps();
    for (std::size_t i = 0; steps.size() > 1 && i < steps.size(); ++i)
        index.add(NamedThing { ThingKind::Edit, tr("Edit"), steps[i].text,
            steps[i].isCurrent      ? tr("shown")
                : steps[i].isUndone ? tr("undone")
                                    : QString(),
            {}, {}, int(i) });
    for (const NamedArrangement &one : m_window.arrangements().store().own())
        index.add(NamedThing { ThingKind::Arrangement, tr("Arrangement"), foreignText(one.name), {}, {}, one.name });
    if (m_window.live().isLive())
        addAlarmNames(index, m_window.live().alarms());
}

bool GoTo::go(const NamedThing &thing)
{
    switch (thing.kind) {
    case ThingKind::Command:
        return m_window.commands().trigger(thing.id);
    case ThingKind::Datacenter:
    case ThingKind::Link:
    case ThingKind::Pool:
    case ThingKind::Node:
    case ThingKind::Gpu:
        return goOnMap(thing);
    case ThingKind::Stage:
        m_window.showWorkbench();
        m_window.workbench().reveal(m_window.workbench().timeline);
        return m_window.workbench().timeline->goToStage(thing.number);
    case ThingKind::Rank:
        return goToRank(thing.number);
    case ThingKind::Key:
        return goToKey(thing.id.toStdString());
    case ThingKind::Job:
        m_window.showWorkbench();
        m_window.workbench().reveal(m_window.workbench().jobs);
        m_window.workbench().timeline->selectJob(jobNamed(*m_window.document().basePlan(), thing.id));
        return true;
    case ThingKind::Model:
        m_window.showWorkbench();
        m_window.workbench().reveal(m_window.workbench().workload);
        return m_window.workbench().workload->offerModel(thing.id);
    case ThingKind::Sample:
    case ThingKind::RecentFile:
        return goToFile(thing);
    case ThingKind::Variant:
    case ThingKind::Decision:
    case ThingKind::Edit:
        return goInMeeting(thing);
    case ThingKind::Arrangement:
        return m_window.arrangements().show(thing.id);
    case ThingKind::Alarm:
        return goToAlarm(thing);
    }
    return false;
}

bool GoTo::showOnMap(const MapItem &item)
{
    m_window.showWorkbench();
    Workbench &bench = m_window.workbench();
    bench.reveal(bench.map);
    bench.map->goTo(item);
    bench.bringOut(bench.details);
    bench.showDetails();
    return true;
}

/// What was found is looked for again by its id: an edit may have come since.
bool GoTo::goOnMap(const NamedThing &thing)
{
    const PlanPtr &plan = m_window.document().basePlan();
    const Cluster &cluster = plan->cluster;
    if (thing.kind == ThingKind::Link) {
        const auto &links = m_named->cluster.wanLinks;
        const auto &ends = links[std::size_t(thing.number)].between;
        const int link = cluster.linkBetween(ends[0], ends[1]);
        return link >= 0 && showOnMap({ .kind = MapItem::Kind::Link, .link = link });
    }
    if (thing.kind == ThingKind::Node) {
        const auto gpus = gpusOfNode(*plan, thing);
        return gpus && showOnMap(itemOf(*gpus));
    }
    if (thing.kind == ThingKind::Gpu) {
        const auto gpu = gpuOfNumber(cluster, thing.number);
        return gpu && showOnMap(itemOf(*gpu));
    }
    const int datacenter = cluster.indexOf(thing.id.toStdString());
    if (datacenter < 0)
        return false;
    if (thing.kind == ThingKind::Datacenter)
        return showOnMap({ .kind = MapItem::Kind::Island, .island = datacenter });
    return thing.number < int(cluster.datacenters[std::size_t(datacenter)].pools.size())
        && showOnMap({ .kind = MapItem::Kind::Pool, .island = datacenter, .pool = thing.number });
}

/// The timeline goes to its row, and the map to its GPU, of which Details tell.
bool GoTo::goToRank(int rank)
{
    const EvaluationPtr &evaluation = m_window.bridge().evaluation();
    const auto at =
        evaluation && evaluation->plan == m_window.document().basePlan() ? gpuOfRank(*evaluation, rank) : std::nullopt;
    if (!at)
        return false;
    m_window.showWorkbench();
    m_window.workbench().timeline->goToStage(at->stage, at->pipelineClass);
    return showOnMap(itemOf(at->gpu));
}

bool GoTo::goToKey(const std::string &path)
{
    m_window.showWorkbench();
    Workbench &bench = m_window.workbench();
    const std::vector<std::string> inStrategies = bench.strategies->keys();
    if (std::ranges::find(inStrategies, path) != inStrategies.end()) {
        bench.reveal(bench.strategies);
        return bench.strategies->goToKey(path);
    }
    bench.reveal(bench.workload);
    return bench.workload->goToKey(path);
}

bool GoTo::goToFile(const NamedThing &thing)
{
    if (thing.kind == ThingKind::Sample)
        m_window.files().openSample(thing.id);
    else
        m_window.files().open(thing.id);
    return true;
}

bool GoTo::goInMeeting(const NamedThing &thing)
{
    if (thing.kind == ThingKind::Variant) {
        m_window.session().show(thing.id.toStdString());
        m_window.showWorkbench();
        return true;
    }
    if (thing.kind == ThingKind::Decision) {
        m_window.showBoard();
        QListWidget *log = m_window.sessionActions().board().decisions;
        log->setCurrentRow(thing.number);
        log->setFocus(Qt::ShortcutFocusReason);
        return thing.number < log->count();
    }
    m_window.showWorkbench();
    Workbench &bench = m_window.workbench();
    bench.reveal(bench.edits);
    bench.history().goTo(thing.number);
    return true;
}

/// As a click on it does.
bool GoTo::goToAlarm(const NamedThing &thing)
{
    const std::vector<watch::Alarm> &alarms = m_window.live().alarms();
    const auto of = [&](const watch::Alarm &one) { return QString::fromStdString(one.place) == thing.id; };
    const auto at = std::size_t(thing.number);
    const auto found =
        at < alarms.size() && of(alarms[at]) ? alarms.begin() + thing.number : std::ranges::find_if(alarms, of);
    if (found == alarms.end())
        return false;
    emit m_window.liveActions().page().alarms->alarmChosen(*found);
    return true;
}

} // namespace trainyard
