// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/iteration/layouts/dealt_groups_internal.h"
#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/state_share.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace trainyard {

namespace {

std::vector<ReplicaRun> runsOfClasses(const Layout &layout)
{
    std::vector<ReplicaRun> runs;
    for (const PipelineClass &c : layout.classes)
        runs.push_back({ c.firstPipeline, c.pipelines, c.locations, nullptr });
    return runs;
}

bool isLike(const Workload &workload, const ReplicaRun &a, const ReplicaRun &b)
{
    if (a.pin != b.pin
        && (!a.pin || !b.pin
            || std::tie(a.pin->microBatch, a.pin->microBatches, a.pin->stateShare)
                != std::tie(b.pin->microBatch, b.pin->microBatches, b.pin->stateShare)))
        return false;
    return std::ranges::equal(a.locations, b.locations,
        [&](StageLocation x, StageLocation y) { return x.datacenter == y.datacenter && areAlike(workload, x, y); });
}

std::string missing(std::int64_t taken, int batch)
{
    const std::int64_t off = taken - batch;
    return "the pinned replicas take " + counted(taken, "sample") + " of an iteration, " + std::to_string(std::abs(off))
        + (off > 0 ? " more" : " less") + " than the global batch of " + std::to_string(batch);
}

} // namespace

std::vector<ReplicaRun> runsToDeal(const Workload &workload)
{
    return workload.plan->heterogeneity.assign.empty() ? runsOfClasses(workload.layout) : replicaRuns(workload);
}

std::vector<PipelineGroup> groupsOf(const Workload &workload, const std::vector<ReplicaRun> &runs)
{
    std::vector<PipelineGroup> groups;
    for (const ReplicaRun &run : runs) {
        auto group =
            std::ranges::find_if(groups, [&](const PipelineGroup &g) { return isLike(workload, g.like(), run); });
        if (group == groups.end()) {
            group = groups.insert(groups.end(), PipelineGroup {});
            group->microBatch = workload.plan->workload.microBatch;
            if (run.pin)
                group->microBatch = run.pin->microBatch.value_or(group->microBatch);
        }
        group->parts.push_back(run);
        group->pipelines += run.pipelines;
    }
    return groups;
}

PipelineClass classOf(const PipelineGroup &group, const Workload &workload)
{
    PipelineClass made { group.number(0), group.pipelines, 1, group.like().locations };
    made.microBatch = group.microBatch == workload.plan->workload.microBatch ? 0 : group.microBatch;
    if (group.pin() && group.pin()->stateShare)
        made.stateShare = std::max(*group.pin()->stateShare, kNoStates);
    return made;
}

GroupPaces::GroupPaces(const Workload &workload)
    : m_work(workload)
    , m_views(workload)
{
}

const PipelinePace &GroupPaces::of(std::size_t number, const PipelineGroup &group)
{
    const auto [known, isNew] = m_known.try_emplace({ number, group.microBatch });
    if (isNew) {
        const PipelineClass like = classOf(group, m_work);
        const Workload &view = m_views.of(like);
        known->second = paceOf(view, like, m_costers.try_emplace(&view, view).first->second);
    }
    return known->second;
}

const GroupPaces::Reduction &GroupPaces::reduction(std::size_t number, const PipelineGroup &group)
{
    const auto [known, isNew] = m_reductions.try_emplace({ number, group.microBatch });
    if (!isNew)
        return known->second;
    const PipelineClass like = classOf(group, m_work);
    const Workload &view = m_views.of(like);
    StageCoster &coster = m_costers.try_emplace(&view, view).first->second;
    for (int stage = 0; stage < view.degrees.pipeline; ++stage) {
        if (isLikeStageBefore(view, stage))
            continue;
        const SyncAndStepTimes times = syncAndStepTimes(view, coster.stage(like, stage));
        if (const double whole = toSeconds(times.reduce).value; whole > known->second.whole)
            known->second = { whole, toSeconds(times.reduceEarly).value };
    }
    return known->second;
}

GroupDeal::GroupDeal(const Workload &workload, std::vector<PipelineGroup> groups, GroupPaces &paces)
    : m_work(workload)
    , m_groups(std::move(groups))
    , m_paces(paces)
    , m_runs(m_groups.size())
{
}

std::string GroupDeal::run()
{
    std::int64_t left = m_work.plan->workload.globalBatch;
    std::vector<EqualPipelines> open;
    std::vector<std::size_t> numbers;
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        const PipelineGroup &group = m_groups[g];
        if (group.pin() && group.pin()->microBatches) {
            const int count = *group.pin()->microBatches;
            if (count < 1)
                return "a pinned replica needs a micro-batch at least";
            left -= std::int64_t(group.pipelines) * count * group.microBatch;
            m_runs[g] = { { group.pipelines, count } };
        } else {
            open.push_back(equal(g));
            numbers.push_back(g);
        }
    }
    const int batch = m_work.plan->workload.globalBatch;
    if (left < 0 || (open.empty() && left != 0))
        return missing(batch - left, batch);
    if (open.empty())
        return {};
    // Of two that would end alike the faster one gets more, so that the order of pools decides nothing.
    std::vector<std::size_t> order(open.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(
        order, {}, [&](std::size_t i) { return std::pair(open[i].each / std::max(1, open[i].samples), open[i].fill); });
    std::vector<EqualPipelines> bySpeed;
    for (const std::size_t i : order)
        bySpeed.push_back(open[i]);
    const auto dealt = dealMicroBatches(bySpeed, left);
    if (dealt.empty())
        return counted(std::accumulate(open.begin(), open.end(), 0,
                           [](int sum, const EqualPipelines &e) { return sum + e.pipelines; }),
                   "replica")
            + " would share " + counted(left, "sample") + ", less than a micro-batch each";
    for (std::size_t i = 0; i < dealt.size(); ++i)
        m_runs[numbers[order[i]]] = dealt[i];
    return {};
}

double GroupDeal::end()
{
    double begins = 0, longest = 0;
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        const GroupPaces::Reduction &reduction = m_paces.reduction(g, m_groups[g]);
        longest = std::max(longest, reduction.whole);
        for (const DealtRun &run : m_runs[g])
            begins = std::max(begins, m_paces.of(g, m_groups[g]).end(run.microBatches) - reduction.early);
    }
    return begins + longest;
}

std::vector<PipelineClass> GroupDeal::classes() const
{
    std::vector<PipelineClass> classes;
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        int done = 0;
        for (const DealtRun &run : m_runs[g]) {
            PipelineClass made = classOf(m_groups[g], m_work);
            made.firstPipeline = m_groups[g].number(done);
            made.pipelines = run.pipelines;
            made.microBatches = run.microBatches;
            classes.push_back(std::move(made));
            done += run.pipelines;
        }
    }
    return classes;
}

EqualPipelines GroupDeal::equal(std::size_t number)
{
    const PipelineGroup &group = m_groups[number];
    const CountRule &rule = traitsOf(*m_work.plan).microBatches;
    const int stages = m_work.degrees.pipeline;
    EqualPipelines equal { group.pipelines, 0, double(group.microBatch), group.microBatch, rule.leastOf(stages),
        rule.stepOf(stages), rule.most };
    if (m_work.plan->heterogeneity.compute == ComputeSharing::Balanced) {
        const PipelinePace &pace = m_paces.of(number, group);
        equal.fill = pace.fill;
        equal.each = pace.each;
    }
    return equal;
}

} // namespace trainyard
