// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/dealt_pipelines.h"

#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/cost/wan/wan_traffic.h"
#include "core/iteration/layouts/dealt_states.h"
#include "core/iteration/layouts/replica_runs.h"
#include "core/iteration/memory/bounded_memory.h"
#include "core/iteration/placement/class_workload.h"
#include "core/iteration/placement/ranks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace trainyard {

namespace {

/// A group while it is dealt to: `more` of its pipelines have `step` micro-batches more than the others, one of the
/// others has `odd` more.
struct Filling {
    const EqualPipelines *group;
    int microBatches = 0, more = 0, odd = 0;

    [[nodiscard]] std::int64_t stepSamples() const { return std::int64_t(group->step) * group->samples; }
    [[nodiscard]] bool isFull() const { return microBatches > group->most - group->step; }
    [[nodiscard]] double nextEnd() const { return group->fill + (microBatches + group->step) * group->each; }

    void give(int pipelines)
    {
        more += pipelines;
        if (more == group->pipelines) {
            microBatches += group->step;
            more = 0;
        }
    }
    [[nodiscard]] std::vector<DealtRun> runs() const
    {
        std::vector<DealtRun> runs;
        const auto add = [&](int pipelines, int count) {
            if (pipelines > 0)
                runs.push_back({ pipelines, count });
        };
        add(more, microBatches + group->step);
        add(odd > 0 ? 1 : 0, microBatches + odd);
        add(group->pipelines - more - (odd > 0 ? 1 : 0), microBatches);
        return runs;
    }
};

/// The group that would end first with the next micro-batch, of those that have room for it.
Filling *firstToEnd(std::vector<Filling> &all, std::int64_t left)
{
    Filling *first = nullptr;
    for (Filling &filling : all)
        if (!filling.isFull() && filling.stepSamples() <= left && (!first || filling.nextEnd() < first->nextEnd()))
            first = &filling;
    return first;
}

/// To a group whose steps have so many samples.
void giveRest(std::vector<Filling> &all, std::int64_t left, std::int64_t stepSamples)
{
    Filling *first = nullptr;
    double soonest = 0;
    for (Filling &filling : all) {
        if (filling.stepSamples() != stepSamples)
            continue;
        const auto odd = int((left + filling.group->samples - 1) / filling.group->samples);
        const double end = filling.group->fill + (filling.microBatches + odd) * filling.group->each;
        if (first && end >= soonest)
            continue;
        if (first)
            first->odd = 0;
        first = &filling;
        first->odd = odd;
        soonest = end;
    }
}

} // namespace

std::vector<std::vector<DealtRun>> dealMicroBatches(const std::vector<EqualPipelines> &groups, std::int64_t samples)
{
    std::vector<Filling> all;
    std::int64_t left = samples;
    for (const EqualPipelines &group : groups) {
        all.push_back({ &group, group.least });
        left -= std::int64_t(group.pipelines) * group.least * group.samples;
    }
    // The last micro-batch of all may not be full; the least of everybody has to be there.
    const auto smallest = std::ranges::min_element(all, {}, &Filling::stepSamples);
    if (all.empty() || left <= -std::int64_t(smallest->group->samples))
        return {};
    while (left > 0) {
        Filling *next = firstToEnd(all, left);
        if (!next)
            break;
        const auto many = std::min<std::int64_t>(next->group->pipelines - next->more, left / next->stepSamples());
        next->give(int(many));
        left -= many * next->stepSamples();
    }
    if (left > 0) // less than a step of the smallest: to whoever of those ends first with it
        giveRest(all, left, smallest->stepSamples());
    std::vector<std::vector<DealtRun>> dealt;
    for (const Filling &filling : all)
        dealt.push_back(filling.runs());
    return dealt;
}

PipelinePace paceOf(const Workload &view, const PipelineClass &pipelines, StageCoster &coster)
{
    std::vector<WanLinkUse> ignored(view.plan->cluster.wanLinks.size());
    PipelinePace pace;
    const int stages = view.degrees.pipeline;
    double time = 0; // of a micro-batch on a stage
    for (int stage = 0; stage < stages; ++stage) {
        if (!isLikeStageBefore(view, stage)) {
            time = 0;
            for (const ChunkCost &chunk : coster.wholeStage(pipelines, stage).chunks)
                time += (chunk.forward + chunk.recompute + chunk.inputGrad + chunk.weightGrad).total().value;
        }
        pace.fill += time;
        if (time > pace.each) {
            pace.each = time;
            pace.slowestStage = stage;
        }
    }
    for (int stage = 0; stage + 1 < stages; ++stage) {
        const BoundaryTimes hop =
            boundaryTimes(view, pipelines, stage, stage + 1, coster.site(pipelines, stage), ignored);
        for (int way = 0; way < 2; ++way) {
            pace.fill += toSeconds(hop.serialization[std::size_t(way)] + hop.latency[std::size_t(way)]).value;
            if (hop.isWan)
                pace.each = std::max(pace.each, toSeconds(hop.serialization[std::size_t(way)]).value);
        }
    }
    pace.fill -= pace.each;
    return pace;
}

namespace {

std::vector<ReplicaRun> runsOfClasses(const Layout &layout)
{
    std::vector<ReplicaRun> runs;
    for (const PipelineClass &c : layout.classes)
        runs.push_back({ c.firstPipeline, c.pipelines, c.locations, nullptr });
    return runs;
}

/// Equal pipelines, pinned alike.
struct Group {
    std::vector<ReplicaRun> parts;
    int pipelines = 0;
    int microBatch = 1;

    [[nodiscard]] const ReplicaRun &like() const { return parts.front(); }
    [[nodiscard]] const RankPin *pin() const { return like().pin; }
    /// Number of the i-th of them.
    [[nodiscard]] int number(int i) const
    {
        for (const ReplicaRun &part : parts) {
            if (i < part.pipelines)
                return part.firstPipeline + i;
            i -= part.pipelines;
        }
        return like().firstPipeline;
    }
};

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

std::vector<Group> groupsOf(const Workload &workload, const std::vector<ReplicaRun> &runs)
{
    std::vector<Group> groups;
    for (const ReplicaRun &run : runs) {
        auto group = std::ranges::find_if(groups, [&](const Group &g) { return isLike(workload, g.like(), run); });
        if (group == groups.end()) {
            group = groups.insert(groups.end(), Group {});
            group->microBatch = workload.plan->workload.microBatch;
            if (run.pin)
                group->microBatch = run.pin->microBatch.value_or(group->microBatch);
        }
        group->parts.push_back(run);
        group->pipelines += run.pipelines;
    }
    return groups;
}

PipelineClass classOf(const Group &group, const Workload &workload)
{
    PipelineClass made { group.number(0), group.pipelines, 1, group.like().locations };
    made.microBatch = group.microBatch == workload.plan->workload.microBatch ? 0 : group.microBatch;
    if (group.pin() && group.pin()->stateShare)
        made.stateShare = std::max(*group.pin()->stateShare, kNoStates);
    return made;
}

/// How fast the pipelines of each group are with micro-batches of each size, counted once.
class Paces {
public:
    explicit Paces(const Workload &workload)
        : m_work(workload)
        , m_views(workload)
    {
    }

    /// `number`: that of the group.
    const PipelinePace &of(std::size_t number, const Group &group)
    {
        const auto [known, isNew] = m_known.try_emplace({ number, group.microBatch });
        if (isNew) {
            const PipelineClass like = classOf(group, m_work);
            const Workload &view = m_views.of(like);
            known->second = paceOf(view, like, m_costers.try_emplace(&view, view).first->second);
        }
        return known->second;
    }

    struct Reduction { // seconds, of the stage that takes longest; `early`: of it that a last backward hides
        double whole = 0, early = 0;
    };
    const Reduction &reduction(std::size_t number, const Group &group)
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

private:
    const Workload &m_work;
    ClassWorkloads m_views;
    std::map<const Workload *, StageCoster> m_costers; // of views
    std::map<std::pair<std::size_t, int>, PipelinePace> m_known; // by group and size
    std::map<std::pair<std::size_t, int>, Reduction> m_reductions;
};

std::string missing(std::int64_t taken, int batch)
{
    const std::int64_t off = taken - batch;
    return "the pinned replicas take " + counted(taken, "sample") + " of an iteration, " + std::to_string(std::abs(off))
        + (off > 0 ? " more" : " less") + " than the global batch of " + std::to_string(batch);
}

class Deal {
public:
    Deal(const Workload &workload, std::vector<Group> groups, Paces &paces)
        : m_work(workload)
        , m_groups(std::move(groups))
        , m_paces(paces)
        , m_runs(m_groups.size())
    {
    }

    /// Empty, or why it cannot be.
    std::string run()
    {
        std::int64_t left = m_work.plan->workload.globalBatch;
        std::vector<EqualPipelines> open;
        std::vector<std::size_t> numbers;
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            const Group &group = m_groups[g];
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
        std::ranges::stable_sort(order, {},
            [&](std::size_t i) { return std::pair(open[i].each / std::max(1, open[i].samples), open[i].fill); });
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

    /// Seconds until the slowest has computed and all have reduced together, where compute is balanced.
    [[nodiscard]] double end()
    {
        double begins = 0, longest = 0;
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            const Paces::Reduction &reduction = m_paces.reduction(g, m_groups[g]);
            longest = std::max(longest, reduction.whole);
            for (const DealtRun &run : m_runs[g])
                begins = std::max(begins, m_paces.of(g, m_groups[g]).end(run.microBatches) - reduction.early);
        }
        return begins + longest;
    }

    [[nodiscard]] std::vector<PipelineClass> classes() const
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

private:
    EqualPipelines equal(std::size_t number)
    {
        const Group &group = m_groups[number];
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

    const Workload &m_work;
    std::vector<Group> m_groups;
    Paces &m_paces;
    std::vector<std::vector<DealtRun>> m_runs;
};

std::vector<ReplicaRun> runsToDeal(const Workload &workload)
{
    return workload.plan->heterogeneity.assign.empty() ? runsOfClasses(workload.layout) : replicaRuns(workload);
}

/// Whether a GPU of each stage holds as many micro-batches of the group's size as the schedule has in flight. Of states
/// what is there even where others take the rest.
bool mayFit(const Workload &workload, const Group &group)
{
    PipelineClass like = classOf(group, workload);
    const std::int64_t all = std::int64_t(group.microBatch) * workload.layout.data;
    like.microBatches = int(std::max<std::int64_t>(1, workload.plan->workload.globalBatch / all));
    if (like.stateShare == 0 && workload.plan->heterogeneity.state != StateSharing::Even)
        like.stateShare = kNoStates;
    return std::ranges::all_of(
        boundedMemory(workload, like), [](const StageMemory &m) { return m.device <= m.capacity; });
}

/// Of each group the sizes to try: those that may fit, the plan's first; the plan's alone where none does.
std::vector<std::vector<int>> sizesToTry(const Workload &workload, std::vector<Group> groups)
{
    const int now = workload.plan->workload.microBatch, batch = workload.plan->workload.globalBatch;
    std::vector<std::vector<int>> sizes;
    for (Group &group : groups) {
        std::vector<int> &own = sizes.emplace_back();
        const int plans = group.microBatch;
        const bool isPinned = group.pin() && (group.pin()->microBatch || group.pin()->microBatches);
        for (const int size : { now, now / 4, now / 2, 2 * now, 4 * now, 8 * now }) {
            group.microBatch = size;
            if (!isPinned && size > 0 && std::int64_t(size) * workload.layout.data <= batch && mayFit(workload, group))
                own.push_back(size);
        }
        if (own.empty())
            own.push_back(plans);
    }
    return sizes;
}

/// Sizes of each group in turn, and with them all that were looked at.
class SizeSearch {
public:
    SizeSearch(const Workload &workload, std::vector<Group> groups)
        : m_work(workload)
        , m_groups(std::move(groups))
        , m_paces(workload)
        , m_sizes(sizesToTry(workload, m_groups))
    {
    }

    /// Ends by sizes, until no group alone would end sooner with another. Each of a few groups, all together.
    const std::map<OwnSizes, double> &run()
    {
        OwnSizes best;
        std::size_t all = 1;
        for (const std::vector<int> &own : m_sizes) {
            best.push_back(own.front());
            all = std::min(all * own.size(), kMostTogether + 1);
        }
        if (all <= kMostTogether)
            tryAll(best, 0);
        else
            while (improves(best)) { }
        return m_ends;
    }
    /// With the plan's sizes.
    [[nodiscard]] double endOfPlan()
    {
        OwnSizes plans;
        for (const Group &group : m_groups)
            plans.push_back(group.microBatch);
        return endWith(plans);
    }

private:
    static constexpr std::size_t kMostTogether = 256;

    void tryAll(OwnSizes &sizes, std::size_t group)
    {
        if (group == sizes.size()) {
            endWith(sizes);
            return;
        }
        for (const int size : m_sizes[group]) {
            sizes[group] = size;
            tryAll(sizes, group + 1);
        }
    }

    bool improves(OwnSizes &best)
    {
        const double before = endWith(best);
        for (std::size_t group = 0; group < best.size(); ++group)
            for (const int size : m_sizes[group]) {
                OwnSizes other = best;
                other[group] = size;
                if (endWith(other) < endWith(best))
                    best = std::move(other);
            }
        return endWith(best) < before;
    }

    double endWith(const OwnSizes &sizes)
    {
        const auto [known, isNew] = m_ends.try_emplace(sizes, std::numeric_limits<double>::infinity());
        if (!isNew)
            return known->second;
        std::vector<Group> groups = m_groups;
        for (std::size_t g = 0; g < groups.size(); ++g)
            groups[g].microBatch = sizes[g];
        Deal deal(m_work, std::move(groups), m_paces);
        if (deal.run().empty())
            known->second = deal.end();
        return known->second;
    }

    const Workload &m_work;
    std::vector<Group> m_groups;
    Paces m_paces;
    std::vector<std::vector<int>> m_sizes; // of each group
    std::map<OwnSizes, double> m_ends;
};

} // namespace

std::vector<OwnSizes> ownSizes(const Workload &workload, bool areSooner)
{
    const Heterogeneity &h = workload.plan->heterogeneity;
    const bool sharesExperts = workload.model.isMoe() && workload.degrees.expert > 1;
    if (h.compute != ComputeSharing::Balanced || h.isLayered() || sharesExperts || !workload.source.hasLayers
        || !workload.layout.shares.why.empty())
        return {};
    std::vector<Group> groups = groupsOf(workload, runsToDeal(workload));
    if (groups.size() < 2)
        return {};
    SizeSearch search(workload, std::move(groups));
    constexpr double kWorthwhile = 0.999;
    const double before = areSooner ? kWorthwhile * search.endOfPlan() : std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, OwnSizes>> byEnd;
    for (const auto &[sizes, end] : search.run())
        if (end < before)
            byEnd.emplace_back(end, sizes);
    std::ranges::stable_sort(byEnd, {}, &std::pair<double, OwnSizes>::first);
    std::vector<OwnSizes> found;
    for (auto &[end, sizes] : byEnd)
        found.push_back(std::move(sizes));
    return found;
}

void dealPipelines(Workload &workload, const OwnSizes &sizes)
{
    const Heterogeneity &h = workload.plan->heterogeneity;
    if (h.compute == ComputeSharing::Even && h.assign.empty())
        return;
    Layout &layout = workload.layout;
    const std::vector<ReplicaRun> runs = runsToDeal(workload);
    layout.shares.why = unansweredPin(workload, runs);
    if (!layout.shares.why.empty())
        return;
    std::vector<Group> groups = groupsOf(workload, runs);
    for (std::size_t g = 0; g < std::min(groups.size(), sizes.size()); ++g)
        groups[g].microBatch = sizes[g];
    Paces paces(workload);
    Deal deal(workload, std::move(groups), paces);
    layout.shares.why = deal.run();
    if (layout.shares.why.empty())
        layout.classes = deal.classes();
}

} // namespace trainyard
