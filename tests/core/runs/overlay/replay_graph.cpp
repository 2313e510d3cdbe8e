// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/overlay/replay_graph.h"

#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/graph/pipeline_graph.h"
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "tests/support/workloads.h"

#include <QtGlobal>

#include <map>
#include <tuple>

namespace trainyard::test {

namespace {

TaskGraph graphOf(const Evaluation &evaluation, bool &joinsClasses)
{
    const Workload workload = test::workloadOf(evaluation);
    auto costs = cost(workload);
    if (!costs)
        qFatal("%s", toString(costs.error()).c_str());
    joinsClasses = costs->iteration.reduceJoinsClasses;
    auto graph = buildPipelineGraph(costs->iteration);
    if (!graph)
        qFatal("%s", toString(graph.error()).c_str());
    return std::move(*graph);
}

class Spreader {
public:
    Spreader(const Evaluation &evaluation, ReplayGraph &made)
        : m_layout(evaluation.layout)
        , m_made(made)
    {
        m_made.graph = graphOf(evaluation, m_joinsClasses);
    }

    void spread()
    {
        const auto tasks = static_cast<std::uint32_t>(graph().taskCount());
        m_unitOf.resize(tasks);
        for (std::uint32_t task = 0; task < tasks; ++task)
            addUnits(task);
        for (std::uint32_t task = 0; task < tasks; ++task)
            addWaits(task);
        for (std::uint32_t unit = 0; unit < m_made.units.size(); ++unit)
            for (const ReplayMember &member : m_made.units[unit].members)
                for (const ReplayWait &wait : member.waits) {
                    m_made.units[wait.unit].followers.push_back(unit);
                    ++m_made.units[unit].waitsFor;
                }
    }

private:
    struct Place {
        std::uint32_t unit = 0, member = 0;
    };

    [[nodiscard]] const TaskGraph &graph() const { return m_made.graph; }
    [[nodiscard]] const Track &trackOf(std::uint32_t task) const
    {
        return graph().resources[graph().resource[task]].track;
    }
    /// Members of a cell share the channels of the first: what is sent tells whose it is.
    [[nodiscard]] int classOf(std::uint32_t task) const
    {
        const bool isSent = graph().kind[task] == WorkKind::WanTransfer && task < graph().origin.size()
            && graph().origin[task] != kNoSpan;
        return trackOf(isSent ? graph().origin[task] : task).pipelineClass;
    }
    [[nodiscard]] bool isBarrier(std::uint32_t task) const { return graph().kind[task] == WorkKind::Collective; }
    [[nodiscard]] bool isJoint(std::uint32_t task) const
    {
        return graph().kind[task] == WorkKind::GradientReduce || graph().kind[task] == WorkKind::ParameterGather;
    }
    [[nodiscard]] const PipelineClass &pipelinesOf(std::uint32_t task) const
    {
        return m_layout.classes[std::size_t(classOf(task))];
    }

    void addUnits(std::uint32_t task)
    {
        const WorkKind kind = graph().kind[task];
        const int stage = trackOf(task).stage;
        const Resource &resource = graph().resources[graph().resource[task]];
        std::vector<Place> &places = m_unitOf[task];
        std::uint32_t joint = kNoSpan;
        if (isBarrier(task)) { // everybody
            joint = newUnit(task, kind);
            for (const PipelineClass &c : m_layout.classes)
                for (int i = 0; i < c.pipelines; ++i)
                    for (int s = 0; s < int(c.locations.size()); ++s)
                        m_made.units[joint].members.push_back({ c.firstPipeline + i, s, {} });
            places.assign(1, { joint, 0 });
            return;
        }
        if (isJoint(task)) {
            const int of = classOf(task), ordinal = m_count[{ kind, of, stage }]++;
            auto &known = m_joint.try_emplace({ kind, stage, ordinal, m_joinsClasses ? 0 : of }, kNoSpan).first->second;
            joint = known = known == kNoSpan ? newUnit(task, kind) : known;
        }
        for (int i = 0; i < pipelinesOf(task).pipelines; ++i) {
            const std::uint32_t unit = joint != kNoSpan ? joint : newUnit(task, kind);
            std::vector<ReplayMember> &members = m_made.units[unit].members;
            places.push_back({ unit, static_cast<std::uint32_t>(members.size()) });
            members.push_back({ pipelinesOf(task).firstPipeline + i, stage, {} });
            if (resource.discipline != Discipline::FixedOrder) {
                const auto key = std::pair(graph().resource[task], i);
                m_made.units[unit].resource = m_resource.try_emplace(key, m_made.resources).first->second;
                m_made.resources = std::uint32_t(m_resource.size());
            }
        }
    }

    std::uint32_t newUnit(std::uint32_t task, WorkKind kind)
    {
        m_made.units.push_back({ task, kind, {}, kNoSpan, {}, 0 });
        return static_cast<std::uint32_t>(m_made.units.size()) - 1;
    }

    /// Where a stage of a replica finds the result of a task of its own pipeline; nothing of another's.
    [[nodiscard]] std::vector<Place> placesOf(std::uint32_t task, const ReplayMember &consumer) const
    {
        if (isBarrier(task)) {
            const std::uint32_t unit = m_unitOf[task].front().unit;
            const std::vector<ReplayMember> &members = m_made.units[unit].members;
            for (std::uint32_t m = 0; m < members.size(); ++m)
                if (members[m].replica == consumer.replica && members[m].stage == consumer.stage)
                    return { { unit, m } };
        }
        const PipelineClass &c = pipelinesOf(task);
        const int i = consumer.replica - c.firstPipeline;
        if (i < 0 || i >= c.pipelines)
            return {};
        return { m_unitOf[task][std::size_t(i)] };
    }

    void addWaits(std::uint32_t task)
    {
        const bool hasOrder = graph().resources[graph().resource[task]].discipline == Discipline::FixedOrder
            || (task < graph().continues.size() && graph().continues[task] != 0);
        std::vector<Place> own = m_unitOf[task];
        if (isBarrier(task)) {
            own.clear();
            for (std::uint32_t m = 0; m < m_made.units[m_unitOf[task].front().unit].members.size(); ++m)
                own.push_back({ m_unitOf[task].front().unit, m });
        }
        for (const Place &place : own) {
            ReplayMember &member = m_made.units[place.unit].members[place.member];
            const auto wait = [&](std::uint32_t before, double lag, bool isFromStart, bool isOrder) {
                if (isBarrier(task) && trackOf(before).stage != member.stage)
                    return;
                const bool isFromAfar = graph().resource[before] != graph().resource[task] && !isJoint(task)
                    && !isBarrier(task) && !isBarrier(before)
                    && (trackOf(before).stage != member.stage || graph().kind[before] == WorkKind::WanTransfer
                        || graph().kind[before] == WorkKind::PipelineTransfer);
                for (const Place &there : placesOf(before, member))
                    if (there.unit != place.unit)
                        member.waits.push_back({ there.unit, there.member, lag, isFromStart, isFromAfar, isOrder });
            };
            if (hasOrder && task > 0 && graph().resource[task - 1] == graph().resource[task] && !isBarrier(task))
                wait(task - 1, 0, false, true);
            for (std::uint32_t k = graph().predBegin[task]; k < graph().predBegin[task + 1]; ++k) {
                const std::uint32_t lag = graph().lag[k];
                wait(graph().pred[k], double(graph().table.lags[lag & ~TaskGraph::kFromStart]),
                    (lag & TaskGraph::kFromStart) != 0, false);
            }
        }
    }

    const Layout &m_layout;
    ReplayGraph &m_made;
    bool m_joinsClasses = true;
    std::vector<std::vector<Place>> m_unitOf; // [task][pipeline of its class]
    std::map<std::tuple<WorkKind, int, int>, int> m_count;
    std::map<std::tuple<WorkKind, int, int, int>, std::uint32_t> m_joint;
    std::map<std::pair<std::uint32_t, int>, std::uint32_t> m_resource;
};

} // namespace

ReplayGraph replayGraph(const Evaluation &evaluation)
{
    ReplayGraph made;
    Spreader(evaluation, made).spread();
    return made;
}

} // namespace trainyard::test
