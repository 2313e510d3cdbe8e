// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/what_if.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/cluster/edits.h"
#include "core/iteration/placement/as_placed.h"
#include "core/live/alarms/restart.h"
#include "core/live/alarms/sentences.h"
#include "core/live/alarms/what_if_plans.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trainyard::watch {

namespace {

constexpr double kAsPlanned = 0.98; // a link that carries as much is asked about only where an alarm is

std::shared_ptr<const Plan> shared(Plan plan)
{
    return std::make_shared<const Plan>(std::move(plan));
}

class Asking {
public:
    Asking(const Evaluation &evaluation, const std::vector<LinkRate> &rates, const std::vector<Alarm> &alarms)
        : m_evaluation(evaluation)
        , m_cluster(evaluation.plan->cluster)
        , m_links(measuredLinks(rates))
        , m_alarms(alarms)
        , m_restart(restartCost(evaluation))
    {
        for (const GpuRun &run : evaluation.layout.runs) {
            m_pools.emplace(run.datacenter, run.pool);
            m_datacenters.insert(run.datacenter);
        }
    }

    std::vector<WhatIf> ask()
    {
        addAsItIs();
        for (const bool isAlarmed : { true, false })
            for (const MeasuredLink &link : m_links)
                if (isAlarmed == hasAlarm(link) && (isAlarmed || link.share() < kAsPlanned))
                    addLinkStays(link);
        addMove();
        for (const bool isSilent : { true, false })
            for (const auto &[datacenter, pool] : m_pools)
                if (isSilent == isSilentPool(datacenter, pool))
                    addNodeLost(datacenter, pool);
        for (std::size_t i = 0; i < m_cluster.wanLinks.size(); ++i)
            if (isUsed(static_cast<int>(i)))
                addLinkLost(static_cast<int>(i));
        if (m_cluster.datacenters.size() > 1)
            for (const int datacenter : m_datacenters)
                addDatacenterLost(datacenter);
        return std::move(m_asked);
    }

private:
    [[nodiscard]] const Datacenter &datacenterOf(int index) const
    {
        return m_cluster.datacenters[static_cast<std::size_t>(index)];
    }
    [[nodiscard]] std::string linkText(int a, int b) const
    {
        return datacenterOf(a).label() + "–" + datacenterOf(b).label();
    }
    [[nodiscard]] bool hasAlarm(const MeasuredLink &link) const
    {
        return std::ranges::any_of(m_alarms, [&](const Alarm &alarm) {
            return alarm.kind == AlarmKind::SlowLink && !alarm.isOver() && alarm.datacenter >= 0
                && std::pair<int, int>(std::minmax(alarm.datacenter, alarm.otherDatacenter))
                == std::pair(link.a, link.b);
        });
    }
    [[nodiscard]] bool isUsed(int link) const
    {
        return std::ranges::any_of(m_evaluation.metrics.wanLinks,
            [&](const WanLinkUse &use) { return use.link == link && use.totalBytes() > 0; });
    }
    /// Some of its ranks is not heard any more.
    [[nodiscard]] bool isSilentPool(int datacenter, int pool) const
    {
        const RankMap map(*m_evaluation.plan, m_evaluation.layout);
        return std::ranges::any_of(m_alarms, [&](const Alarm &alarm) {
            return alarm.kind == AlarmKind::Silent && !alarm.isOver()
                && std::ranges::any_of(alarm.ranks, [&](int rank) { return isIn(map, rank, datacenter, pool); });
        });
    }
    [[nodiscard]] bool isIn(const RankMap &map, int rank, int datacenter, int pool) const
    {
        if (rank < 0 || rank >= map.worldSize())
            return false;
        const RankPlace place = map.placeOf(rank);
        for (const PipelineClass &one : m_evaluation.layout.classes)
            if (place.replica >= one.firstPipeline && place.replica < one.firstPipeline + one.pipelines) {
                const StageLocation &at = one.locations[static_cast<std::size_t>(place.stage)];
                return at.datacenter == datacenter && at.pool == pool;
            }
        return false;
    }

    [[nodiscard]] Plan measured() const
    {
        Plan plan = asPlaced(*m_evaluation.plan, m_evaluation.layout);
        for (const MeasuredLink &link : m_links)
            setMeasured(plan, link, m_evaluation);
        return plan;
    }
    /// What a plan has no words for.
    [[nodiscard]] std::string leftOut() const
    {
        std::vector<int> slow;
        for (const Alarm &alarm : m_alarms)
            if (alarm.kind == AlarmKind::Straggler && !alarm.isOver())
                slow.insert(slow.end(), alarm.ranks.begin(), alarm.ranks.end());
        std::ranges::sort(slow);
        slow.erase(std::ranges::unique(slow).begin(), slow.end());
        return slow.empty() ? std::string()
                            : "A plan's GPUs of one kind are equally fast: that " + rankList(slow)
                + (slow.size() == 1 ? " is" : " are") + " slower is left out";
    }
    [[nodiscard]] std::string changeOfAll() const
    {
        std::vector<std::string> texts;
        for (const MeasuredLink &link : m_links)
            texts.push_back(changeOf(link, m_cluster));
        return texts.empty() ? "Nothing was measured of links between datacenters" : joined(texts, "; ");
    }

    void addAsItIs()
    {
        WhatIf &made = m_asked.emplace_back();
        made.kind = WhatIfKind::AsItIs;
        made.question = "What if everything stays as it is?";
        made.change = changeOfAll();
        made.plan = shared(measured());
        made.why = leftOut();
    }

    void addLinkStays(const MeasuredLink &link)
    {
        WhatIf &made = m_asked.emplace_back();
        made.kind = WhatIfKind::LinkStays;
        made.question = "What if the link " + linkText(link.a, link.b) + " stays like this?";
        made.change = changeOf(link, m_cluster);
        Plan plan = asPlaced(*m_evaluation.plan, m_evaluation.layout);
        setMeasured(plan, link, m_evaluation);
        made.plan = shared(std::move(plan));
        made.why = "Both directions at the slower one's rate; placement as it is";
        made.datacenter = link.a;
        made.otherDatacenter = link.b;
    }

    void addMove()
    {
        WhatIf &made = m_asked.emplace_back();
        made.kind = WhatIfKind::MoveNow;
        made.question = "What if we move now?";
        made.change = "The same GPUs placed anew, links as they are measured: " + changeOfAll();
        if (m_datacenters.empty()) {
            made.why = "Nothing is placed: " + m_evaluation.layout.unplaced;
            return;
        }
        made.plan = shared(openPlan(measured()));
        made.switchSeconds = m_restart.ofMove();
        made.why = restartText(m_restart, true);
    }

    /// What is lost is left by force: placed anew, on what is left, with links as they are measured.
    void addLoss(WhatIf made, Expected<Cluster> left)
    {
        if (!left)
            made.why = left.error().what;
        else if (left->gpus() == 0)
            made.why = "Nothing would be left to train on";
        else {
            Plan plan = openPlan(measured());
            for (std::size_t i = 0; i < left->wanLinks.size(); ++i) { // capacities as measured
                const auto &ends = left->wanLinks[i].between;
                if (const int known = plan.cluster.linkBetween(ends[0], ends[1]); known >= 0)
                    left->wanLinks[i] = plan.cluster.wanLinks[static_cast<std::size_t>(known)];
            }
            plan.cluster = *std::move(left);
            made.plan = shared(std::move(plan));
            made.switchSeconds = m_restart.afterLoss();
            made.why = restartText(m_restart, false);
        }
        m_asked.push_back(std::move(made));
    }

    void addNodeLost(int datacenter, int pool)
    {
        const Pool &of = datacenterOf(datacenter).pools[static_cast<std::size_t>(pool)];
        WhatIf made { .kind = WhatIfKind::NodeLost, .datacenter = datacenter };
        made.question = "What if a node of " + datacenterOf(datacenter).label() + " is lost?";
        if (datacenterOf(datacenter).pools.size() > 1)
            made.question = "What if a node of " + of.id + " in " + datacenterOf(datacenter).label() + " is lost?";
        made.change = of.id + ": " + counted(of.nodes - 1, "node") + " instead of " + wholeText(of.nodes);
        addLoss(std::move(made), withoutNode(m_cluster, datacenter, pool));
    }

    void addLinkLost(int index)
    {
        const WanLink &link = m_cluster.wanLinks[static_cast<std::size_t>(index)];
        const int a = m_cluster.indexOf(link.between[0]), b = m_cluster.indexOf(link.between[1]);
        if (a < 0 || b < 0)
            return;
        WhatIf made { .kind = WhatIfKind::LinkLost, .datacenter = std::min(a, b), .otherDatacenter = std::max(a, b) };
        made.question = "What if the link " + linkText(made.datacenter, made.otherDatacenter) + " is lost?";
        made.change = "No link " + linkText(made.datacenter, made.otherDatacenter) + "; placed anew without it";
        addLoss(std::move(made), withoutWanLink(m_cluster, index));
    }

    void addDatacenterLost(int datacenter)
    {
        WhatIf made { .kind = WhatIfKind::DatacenterLost, .datacenter = datacenter };
        made.question = "What if " + datacenterOf(datacenter).label() + " is lost?";
        made.change = "Without " + datacenterOf(datacenter).label() + " and its "
            + counted(datacenterOf(datacenter).gpus(), "GPU") + "; placed anew";
        addLoss(std::move(made), withoutDatacenter(m_cluster, datacenter));
    }

    const Evaluation &m_evaluation;
    const Cluster &m_cluster;
    std::vector<MeasuredLink> m_links;
    const std::vector<Alarm> &m_alarms;
    RestartCost m_restart;
    std::set<std::pair<int, int>> m_pools; // in use
    std::set<int> m_datacenters;
    std::vector<WhatIf> m_asked;
};

} // namespace

std::vector<WhatIf> whatIfs(
    const Evaluation &evaluation, const std::vector<LinkRate> &rates, const std::vector<Alarm> &alarms)
{
    if (!evaluation.plan || evaluation.layout.data <= 0 || evaluation.layout.classes.empty())
        return {};
    return Asking(evaluation, rates, alarms).ask();
}

} // namespace trainyard::watch
