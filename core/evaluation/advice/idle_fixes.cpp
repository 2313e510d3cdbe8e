// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/words.h"
#include "core/evaluation/advice/fixes_internal.h"
#include "core/evaluation/evaluate/problems/fix_of.h"
#include "core/evaluation/evaluate/problems/idle_gpus.h"
#include "core/facts/cluster/edits.h"
#include "core/facts/cluster/likely_link.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr std::size_t kMostIdleFixes = 3, kMostIdleTries = 8;
/// Placing stages among so many datacenters takes longer than simulating them: fewer plans are tried.
constexpr std::size_t kManyDatacenters = 12, kFewTries = 4;
constexpr std::size_t kMostAddedLinks = 64; // more are no answer, and each takes a copy of the plan

/// "Use the 32 idle GPUs", where the plan lets as many stages be held as there is room for.
std::string useLabel(int more)
{
    return "Use " + std::string(more == 1 ? "the idle GPU" : "the " + std::to_string(more) + " idle GPUs");
}

bool isMuchIdle(const Evaluation &evaluation)
{
    return std::ranges::any_of(idleGroups(evaluation.layout, evaluation.plan->cluster), &IdleGroup::isMuch);
}

/// Plans that might use what is idle, likeliest first.
class IdleFixes {
public:
    IdleFixes(const Evaluation &evaluation, const Workload &workload, const IdleGroup &group, FixSearch &search)
        : m_evaluation(evaluation)
        , m_plan(*workload.plan)
        , m_model(workload.model)
        , m_group(group)
        , m_search(search)
    {
    }

    std::vector<Fix> find()
    {
        addLink();
        addReplicas();
        addPlacement();
        const bool mayReshape = stageFacts(m_plan).hasLayers;
        if (mayReshape) {
            addTensor();
            addMicroBatch();
        }
        m_direct = m_candidates.size();
        if (mayReshape)
            addPipelines();
        std::vector<Fix> fixes = thoseThatHelp();
        if (fixes.size() < kMostIdleFixes)
            addRemoval(fixes);
        return fixes;
    }

private:
    template <class Change> void add(std::string label, Change change)
    {
        m_candidates.push_back(fixOf(m_plan, std::move(label), change));
    }

    /// Named by how many of the idle GPUs it uses, once that is known (useLabel).
    template <class Change> void addUse(Change change) { add({}, change); }

    void addLink()
    {
        if (!m_group.isUnlinked || m_group.datacenters.size() > kMostAddedLinks)
            return;
        Fix linked { {}, m_evaluation.plan };
        for (const int datacenter : m_group.datacenters) {
            auto fix = linkFix(*linked.plan, datacenter, m_evaluation.layout, m_search.footprints().catalogue());
            if (!fix)
                return;
            linked = std::move(*fix);
        }
        if (m_group.datacenters.size() > 1)
            linked.label = "Add " + std::to_string(m_group.datacenters.size()) + " links";
        m_candidates.push_back(linked);
        if (degreesOf(m_plan).data)
            m_candidates.push_back(fixOf(
                *linked.plan, linked.label + ", data parallel auto", [](Plan &p) { p.parallelism.data.reset(); }));
    }

    void addReplicas()
    {
        if (degreesOf(m_plan).data)
            addUse([](Plan &p) { p.parallelism.data.reset(); });
    }

    void addPlacement()
    {
        if (!m_plan.placement.stages.empty()) {
            add("Place the stages anew", [](Plan &p) { p.placement.stages.clear(); });
            if (degreesOf(m_plan).data)
                addUse([](Plan &p) {
                    p.placement.stages.clear();
                    p.parallelism.data.reset();
                });
        } else if (m_plan.placement.mode != PlacementMode::Auto) {
            add("Placement auto", [](Plan &p) { p.placement.mode = PlacementMode::Auto; });
        }
    }

    /// Tensor groups that fill nodes.
    void addTensor()
    {
        const int now = degreesOf(m_plan).tensor;
        for (int tensor = now / 2; tensor >= 1; tensor /= 2) {
            const auto fills = [tensor](const Pool &pool) { return pool.gpusPerNode % tensor == 0; };
            const auto &datacenters = m_plan.cluster.datacenters;
            if (std::ranges::all_of(m_group.datacenters,
                    [&](int d) { return std::ranges::all_of(datacenters[std::size_t(d)].pools, fills); })) {
                if (!std::ranges::all_of(m_group.datacenters, [&](int d) {
                        return std::ranges::all_of(datacenters[std::size_t(d)].pools,
                            [now](const Pool &p) { return p.gpusPerNode % now == 0; });
                    }))
                    add("Tensor parallel " + std::to_string(tensor),
                        [tensor](Plan &p) { p.parallelism.tensor = tensor; });
                return;
            }
        }
    }

    /// Numbers of stages that share the layers evenly, nearest to the present one first.
    void addPipelines()
    {
        if (!m_plan.placement.stages.empty())
            return;
        const int now = degreesOf(m_plan).pipeline;
        std::vector<int> stages;
        for (int p = 1; p <= m_model.layers; ++p) {
            if (m_model.layers % p == 0 && p != now)
                stages.push_back(p);
        }
        std::ranges::stable_sort(stages, {}, [now](int p) { return std::abs(std::log(double(p) / now)); });
        for (const int p : stages)
            add("Pipeline " + std::to_string(p), [p](Plan &next) {
                next.parallelism.pipeline = p;
                next.parallelism.data.reset();
                if (p == 1)
                    next.parallelism.virtualPipeline = 1;
            });
    }

    void addMicroBatch()
    {
        if (m_plan.workload.microBatch > 1 && m_evaluation.layout.data >= totalMicroBatches(m_plan))
            add("Micro-batch " + std::to_string(m_plan.workload.microBatch / 2),
                [](Plan &p) { p.workload.microBatch /= 2; });
    }

    /// Evaluated: what leaves much idle or cannot run is no fix. What answers the reason itself comes first, then the
    /// fastest of the others; none that takes longer than the plan does now where there is a better one.
    std::vector<Fix> thoseThatHelp()
    {
        struct Tried {
            Fix fix;
            bool isDirect;
            double seconds;
        };
        std::vector<Tried> found;
        const std::size_t spans = std::max<std::size_t>(1, m_evaluation.metrics.spans);
        std::size_t tries = m_plan.cluster.datacenters.size() > kManyDatacenters ? kFewTries : kMostIdleTries;
        tries = std::min<std::size_t>(tries, std::size_t(kMostFixTasks) / spans);
        EvaluationWorkspace workspace;
        for (Fix &fix : m_candidates) {
            if (tries-- == 0 || m_search.footprints().stop().stop_requested())
                break;
            const bool isDirect = std::size_t(&fix - m_candidates.data()) < m_direct;
            const auto known = [&](const Tried &other) {
                return *other.fix.plan == *fix.plan || (isDirect && other.isDirect);
            }; // one answer is enough
            if (std::ranges::any_of(found, known))
                continue;
            const auto tried = run(fix.plan, Depth::Score,
                { .catalogue = m_search.footprints().catalogue(),
                    .workspace = workspace,
                    .stop = m_search.footprints().stop() });
            if (!tried || !(*tried)->metrics.iterationTime || isMuchIdle(**tried) || !(*tried)->feasible())
                continue;
            if (fix.label.empty())
                fix.label = useLabel((*tried)->metrics.gpusUsed - m_evaluation.layout.gpusUsed);
            found.push_back({ std::move(fix), isDirect, *(*tried)->metrics.iterationTime });
        }
        std::ranges::stable_sort(found, {}, [](const Tried &t) { return std::pair(!t.isDirect, t.seconds); });
        std::vector<Fix> fixes;
        for (Tried &tried : found) {
            const bool isSlower = tried.seconds > m_evaluation.metrics.iterationTime.value_or(0);
            if (fixes.size() < kMostIdleFixes && (tried.isDirect || fixes.empty() || !isSlower))
                fixes.push_back(std::move(tried.fix));
        }
        return fixes;
    }

    /// What holds no stage costs money all the same.
    void addRemoval(std::vector<Fix> &fixes)
    {
        Cluster cluster = m_plan.cluster;
        int removed = 0;
        std::map<int, std::set<int>> gone; // pools by datacenter: all at once, a cluster may have thousands
        for (const auto &idle : m_evaluation.layout.idle) {
            const Pool &pool = cluster.datacenters[std::size_t(idle.datacenter)].pools[std::size_t(idle.pool)];
            if (pool.gpus() == idle.gpus && gone[idle.datacenter].insert(idle.pool).second)
                removed += idle.gpus;
        }
        std::set<std::string> emptied; // datacenters
        for (const auto &[datacenter, numbers] : gone) {
            Datacenter &home = cluster.datacenters[std::size_t(datacenter)];
            if (numbers.size() == home.pools.size())
                emptied.insert(home.id);
            std::vector<Pool> kept;
            for (std::size_t i = 0; i < home.pools.size(); ++i)
                if (!numbers.contains(int(i)))
                    kept.push_back(std::move(home.pools[i]));
            home.pools = std::move(kept);
        }
        std::erase_if(cluster.datacenters, [&](const Datacenter &one) { return emptied.contains(one.id); });
        std::erase_if(cluster.wanLinks, [&](const WanLink &link) {
            return emptied.contains(link.between[0]) || emptied.contains(link.between[1]);
        });
        if (removed == 0 || removed == m_plan.cluster.gpus())
            return;
        m_direct = 1;
        m_candidates = { fixOf(m_plan,
            "Remove " + counted(removed, "GPU") + " that " + (removed == 1 ? "is" : "are") + " idle",
            [&](Plan &p) { p.cluster = cluster; }) };
        std::ranges::move(thoseThatHelp(), std::back_inserter(fixes));
    }

    const Evaluation &m_evaluation;
    const Plan &m_plan;
    const ModelSpec &m_model;
    const IdleGroup &m_group;
    FixSearch &m_search;
    std::vector<Fix> m_candidates;
    std::size_t m_direct = 0; // of these, the first, answer the reason itself
};

} // namespace

bool isSlowToTry(const Evaluation &evaluation)
{
    constexpr std::size_t kManySpans = 20'000;
    return evaluation.plan->cluster.datacenters.size() > kManyDatacenters || evaluation.metrics.spans > kManySpans;
}

std::vector<Fix> idleFixes(
    const Evaluation &evaluation, const Workload &workload, const IdleGroup &group, FixSearch &search)
{
    return IdleFixes(evaluation, workload, group, search).find();
}

std::optional<Fix> linkFix(const Plan &plan, int datacenter, const Layout &layout, const Catalogue &catalogue)
{
    std::set<int> targets;
    for (const GpuRun &run : layout.runs)
        targets.insert(run.datacenter);
    const auto &datacenters = plan.cluster.datacenters;
    if (targets.empty()) {
        int largest = -1;
        for (int d = 0; d < int(datacenters.size()); ++d) {
            if (d != datacenter
                && (largest < 0 || datacenters[std::size_t(d)].gpus() > datacenters[std::size_t(largest)].gpus()))
                largest = d;
        }
        targets.insert(largest);
    }
    std::optional<WanLink> nearest;
    int other = -1;
    for (const int d : targets) {
        if (d < 0 || d == datacenter
            || plan.cluster.linkBetween(datacenters[std::size_t(d)].id, datacenters[std::size_t(datacenter)].id) >= 0)
            continue;
        const LikelyLink likely = likelyLink(plan.cluster, d, datacenter, catalogue);
        if (!nearest || likely.link.rttMs < nearest->rttMs) {
            nearest = likely.link;
            other = d;
        }
    }
    if (!nearest)
        return std::nullopt;
    return fixOf(plan,
        "Add a link " + datacenters[std::size_t(other)].label() + "\u2013"
            + datacenters[std::size_t(datacenter)].label(),
        [&](Plan &p) { p.cluster.wanLinks.push_back(*nearest); });
}

} // namespace trainyard
