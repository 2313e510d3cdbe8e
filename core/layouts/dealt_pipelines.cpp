// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layouts/dealt_pipelines.h"

#include "core/base/words.h"
#include "core/cost/stage_coster.h"
#include "core/cost/wan/wan_traffic.h"
#include "core/layouts/dealt_states.h"
#include "core/placement/class_workload.h"
#include "core/placement/ranks.h"
#include "core/schedule/traits.h"

#include <algorithm>
#include <numeric>
#include <set>
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
    if (left > 0)
        smallest->odd = int((left + smallest->group->samples - 1) / smallest->group->samples);
    std::vector<std::vector<DealtRun>> dealt;
    for (const Filling &filling : all)
        dealt.push_back(filling.runs());
    return dealt;
}

PipelinePace paceOf(const Workload &view, const PipelineClass &pipelines)
{
    StageCoster coster(view);
    std::vector<WanLinkUse> ignored(view.plan->cluster.wanLinks.size());
    PipelinePace pace;
    const int stages = view.degrees.pipeline;
    for (int stage = 0; stage < stages; ++stage) {
        double time = 0;
        for (const ChunkCost &chunk : coster.wholeStage(pipelines, stage).chunks)
            time += (chunk.forward + chunk.recompute + chunk.inputGrad + chunk.weightGrad).total().value;
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

/// Consecutive pipelines with their locations, and the pin that holds for them.
struct Segment {
    int first = 0, pipelines = 0;
    std::vector<StageLocation> locations;
    const RankPin *pin = nullptr;
};

std::vector<Segment> segmentsOfClasses(const Layout &layout)
{
    std::vector<Segment> segments;
    for (const PipelineClass &c : layout.classes)
        segments.push_back({ c.firstPipeline, c.pipelines, c.locations, nullptr });
    return segments;
}

/// Where each pipeline lies to the pool: classes put pools together that nothing but a pin tells apart.
std::vector<Segment> segmentsOfRuns(const Workload &workload)
{
    const Layout &layout = workload.layout;
    std::set<int> cuts { 0 };
    for (const GpuRun &run : layout.runs)
        cuts.insert({ run.firstPipeline, run.firstPipeline + run.pipelines });
    cuts.erase(cuts.lower_bound(layout.data), cuts.end());
    std::vector<Segment> segments;
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
        const int next = std::next(cut) == cuts.end() ? layout.data : *std::next(cut);
        Segment segment { *cut, next - *cut, layout.classes.front().locations, nullptr };
        for (const GpuRun &run : layout.runs)
            if (*cut >= run.firstPipeline && *cut < run.firstPipeline + run.pipelines)
                segment.locations[std::size_t(run.stage)] = { run.datacenter, run.pool };
        segments.push_back(std::move(segment));
    }
    return segments;
}

bool isAbout(const RankPin &pin, const Workload &workload, const Segment &segment)
{
    return std::ranges::all_of(segment.locations, [&](StageLocation at) {
        return workload.plan->cluster.datacenters[std::size_t(at.datacenter)].id == pin.datacenter
            && pin.isAbout(workload.pool(at));
    });
}

/// Gives each pin the next pipelines that it is about. Returns what is wrong with one that finds none.
std::string pinSegments(std::vector<Segment> &segments, const Workload &workload)
{
    const int gpus = workload.degrees.gpusOfStage() * workload.degrees.pipeline;
    for (const RankPin &pin : workload.plan->heterogeneity.assign) {
        int left = pin.gpus ? *pin.gpus / gpus : std::numeric_limits<int>::max();
        const bool isEnough = left > 0;
        bool isUsed = false;
        for (std::size_t i = 0; i < segments.size() && left > 0; ++i) {
            if (segments[i].pin || !isAbout(pin, workload, segments[i]))
                continue;
            if (segments[i].pipelines > left) {
                Segment rest = segments[i];
                rest.first += left;
                rest.pipelines -= left;
                segments[i].pipelines = left;
                segments.insert(segments.begin() + std::ptrdiff_t(i) + 1, std::move(rest));
            }
            segments[i].pin = &pin;
            left -= segments[i].pipelines;
            isUsed = true;
        }
        const std::string where = pin.pool.empty() ? pin.datacenter : pin.pool + " in " + pin.datacenter;
        if (!isEnough)
            return "a replica has " + counted(gpus, "GPU") + ", more than the " + std::to_string(*pin.gpus)
                + " that are pinned of " + where;
        if (!isUsed)
            return "no replica lies with all its stages on GPUs of " + where + " that are not pinned yet";
    }
    return {};
}

/// Equal pipelines, pinned alike.
struct Group {
    std::vector<Segment> parts;
    int pipelines = 0;
    int microBatch = 1;

    [[nodiscard]] const Segment &like() const { return parts.front(); }
    [[nodiscard]] const RankPin *pin() const { return like().pin; }
    /// Number of the i-th of them.
    [[nodiscard]] int number(int i) const
    {
        for (const Segment &part : parts) {
            if (i < part.pipelines)
                return part.first + i;
            i -= part.pipelines;
        }
        return like().first;
    }
};

bool isLike(const Workload &workload, const Segment &a, const Segment &b)
{
    if (a.pin != b.pin
        && (!a.pin || !b.pin
            || std::tie(a.pin->microBatch, a.pin->microBatches, a.pin->stateShare)
                != std::tie(b.pin->microBatch, b.pin->microBatches, b.pin->stateShare)))
        return false;
    return std::ranges::equal(a.locations, b.locations,
        [&](StageLocation x, StageLocation y) { return x.datacenter == y.datacenter && areAlike(workload, x, y); });
}

std::vector<Group> groupsOf(const Workload &workload, const std::vector<Segment> &segments)
{
    std::vector<Group> groups;
    for (const Segment &segment : segments) {
        auto group = std::ranges::find_if(groups, [&](const Group &g) { return isLike(workload, g.like(), segment); });
        if (group == groups.end()) {
            group = groups.insert(groups.end(), Group {});
            group->microBatch = workload.plan->workload.microBatch;
            if (segment.pin)
                group->microBatch = segment.pin->microBatch.value_or(group->microBatch);
        }
        group->parts.push_back(segment);
        group->pipelines += segment.pipelines;
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

std::string missing(std::int64_t taken, int batch)
{
    const std::int64_t off = taken - batch;
    return "the pinned replicas take " + counted(taken, "sample") + " of an iteration, " + std::to_string(std::abs(off))
        + (off > 0 ? " more" : " less") + " than the global batch of " + std::to_string(batch);
}

class Deal {
public:
    Deal(const Workload &workload, std::vector<Group> groups)
        : m_work(workload)
        , m_groups(std::move(groups))
        , m_views(workload)
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
                open.push_back(equal(group));
                numbers.push_back(g);
            }
        }
        const int batch = m_work.plan->workload.globalBatch;
        if (left < 0 || (open.empty() && left != 0))
            return missing(batch - left, batch);
        if (open.empty())
            return {};
        const auto dealt = dealMicroBatches(open, left);
        if (dealt.empty())
            return counted(std::accumulate(open.begin(), open.end(), 0,
                               [](int sum, const EqualPipelines &e) { return sum + e.pipelines; }),
                       "replica")
                + " would share " + counted(left, "sample") + ", less than a micro-batch each";
        for (std::size_t i = 0; i < dealt.size(); ++i)
            m_runs[numbers[i]] = dealt[i];
        return {};
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
    EqualPipelines equal(const Group &group)
    {
        const CountRule &rule = traitsOf(*m_work.plan).microBatches;
        const int stages = m_work.degrees.pipeline;
        EqualPipelines equal { group.pipelines, 0, double(group.microBatch), group.microBatch, rule.leastOf(stages),
            rule.stepOf(stages), rule.most };
        if (m_work.plan->heterogeneity.compute == ComputeSharing::Balanced) {
            const PipelineClass like = classOf(group, m_work);
            const PipelinePace pace = paceOf(m_views.of(like), like);
            equal.fill = pace.fill;
            equal.each = pace.each;
        }
        return equal;
    }

    const Workload &m_work;
    std::vector<Group> m_groups;
    ClassWorkloads m_views;
    std::vector<std::vector<DealtRun>> m_runs;
};

} // namespace

void dealPipelines(Workload &workload)
{
    const Heterogeneity &h = workload.plan->heterogeneity;
    if (h.compute == ComputeSharing::Even && h.assign.empty())
        return;
    Layout &layout = workload.layout;
    std::vector<Segment> segments = h.assign.empty() ? segmentsOfClasses(layout) : segmentsOfRuns(workload);
    layout.shares.why = pinSegments(segments, workload);
    if (!layout.shares.why.empty())
        return;
    Deal deal(workload, groupsOf(workload, segments));
    layout.shares.why = deal.run();
    if (layout.shares.why.empty())
        layout.classes = deal.classes();
}

} // namespace trainyard
