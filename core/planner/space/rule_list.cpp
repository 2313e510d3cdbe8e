// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/rule_list_internal.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/plan/job_schedulers.h"
#include "core/iteration/placement/place.h"
#include "core/iteration/placement/resolve_model.h"
#include "core/iteration/placement/stage_source.h"
#include "core/planner/space/key_axis.h"
#include "core/planner/space/layer_partition.h"

#include <algorithm>
#include <memory>
#include <set>

namespace trainyard::detail {

namespace {

/// The number of a plan that an axis sets, or that all candidates share.
struct AxisValues {
    int axis = -1;
    std::vector<int> at; // [value]

    int operator()(const Candidate &candidate) const { return axis < 0 ? at[0] : at[candidate[std::size_t(axis)]]; }
};

/// Whether an axis has its base value.
struct BaseValue {
    int axis = -1;
    std::uint16_t base = 0;

    bool operator()(const Candidate &candidate) const { return axis < 0 || candidate[std::size_t(axis)] == base; }
};

class RuleBuilder {
public:
    RuleBuilder(const SearchSpace &space, const Catalogue &catalogue)
        : m_space(space)
        , m_base(*space.base())
    {
        if (!hasJobs(m_base))
            if (auto model = resolveModel(m_base.workload, m_base.baseDir, catalogue))
                m_model = std::move(*model);
        if (const StackSpec *stack = catalogue.stack(m_base.stack.name))
            m_stack = withOverrides(*stack, m_base.stack.overrides).value_or(*stack);
    }

    std::vector<SpaceRule> make()
    {
        if (hasJobs(m_base)) {
            jobs();
            return std::move(m_rules);
        }
        degrees();
        schedules();
        if (stageFacts(m_base).hasLayers)
            layers();
        groups();
        placements();
        wan();
        mixed();
        return std::move(m_rules);
    }

private:
    template <class Read> AxisValues field(const KeyRow &row, Read read) const
    {
        AxisValues made;
        made.axis = m_space.axis(row.axisId());
        if (made.axis < 0) {
            made.at = { int(read(m_base)) };
            return made;
        }
        for (const AxisValue &value : m_space.axes()[std::size_t(made.axis)].values) {
            Plan with = m_base;
            value.set(with);
            made.at.push_back(int(read(with)));
        }
        return made;
    }
    /// As the key's own number; missing: 0.
    template <class Owner, class T> AxisValues field(T Owner::*member) const
    {
        const KeyRow &row = rowOf(member);
        return field(row, [&](const Plan &plan) { return row.value(plan).value_or(0); });
    }
    BaseValue own(const KeyRow &row) const
    {
        const int axis = m_space.axis(row.axisId());
        return { axis, axis < 0 ? std::uint16_t(0) : m_space.axes()[std::size_t(axis)].base };
    }
    AxisValues tensor() const { return field(&Parallelism::tensor); }
    AxisValues pipeline() const { return field(&Parallelism::pipeline); }
    AxisValues context() const { return field(&Parallelism::context); }
    AxisValues data() const { return field(&Parallelism::data); }
    AxisValues schedule() const { return field(&Plan::schedule); }
    AxisValues virtualStages() const { return field(&Parallelism::virtualPipeline); }
    static const ScheduleTraits &traits(int schedule) { return traitsOf(static_cast<ScheduleKind>(schedule)); }

    /// Of no use where none of the axes exists: what all candidates share is the plan's own affair.
    template <class Breaks> void add(const char *text, std::initializer_list<int> axes, Breaks breaks)
    {
        const int last = std::max(axes);
        if (last < 0)
            return;
        m_rules.push_back({ text, std::size_t(last), std::move(breaks) });
    }
    /// The axis has no effect where `rests`.
    template <class Rests> void rest(const char *text, const KeyRow &row, std::initializer_list<int> axes, Rests rests)
    {
        const BaseValue keeps = own(row);
        if (keeps.axis < 0)
            return;
        add(text, { keeps.axis, std::max(axes) }, [=](const Candidate &c) { return !keeps(c) && rests(c); });
    }

    void degrees()
    {
        const AxisValues t = tensor(), p = pipeline(), cp = context(), d = data();
        const int gpus = m_base.cluster.gpus();
        add("one replica needs more GPUs than there are", { t.axis, p.axis, cp.axis },
            [=](const Candidate &c) { return std::int64_t(t(c)) * p(c) * cp(c) > gpus; });
        add("the replicas need more GPUs than there are", { t.axis, p.axis, cp.axis, d.axis },
            [=](const Candidate &c) { return d(c) > 0 && std::int64_t(t(c)) * p(c) * cp(c) * d(c) > gpus; });
        rest("sequence parallel splits a tensor group, and there is none", rowOf(&Parallelism::sequenceParallel),
            { t.axis }, [=](const Candidate &c) { return t(c) == 1; });
        const AxisValues b = field(&WorkloadSpec::microBatch);
        const int batch = m_base.workload.globalBatch;
        add("there are more replicas than micro-batches", { b.axis, d.axis },
            [=](const Candidate &c) { return d(c) > 0 && std::int64_t(d(c)) * b(c) > batch; });
        const AxisValues zero = field(&Parallelism::zeroStage);
        if (m_stack.refusesShardedPipelines || m_stack.shardsOptimizerOnly)
            add("in a pipeline the stack shards optimizer states alone", { zero.axis, p.axis },
                [=, keeps = own(rowOf(&Parallelism::zeroStage))](
                    const Candidate &c) { return p(c) > 1 && zero(c) >= 2 && !keeps(c); });
    }

    void schedules()
    {
        const AxisValues s = schedule(), v = virtualStages(), p = pipeline();
        int plain = int(kPlainSchedule);
        if (s.axis < 0 || std::ranges::find(s.at, plain) == s.at.end())
            plain = int(m_base.schedule);
        add("one stage leaves a schedule nothing to order", { s.axis, p.axis },
            [=](const Candidate &c) { return p(c) == 1 && s(c) != plain; });
        add("one stage is not cut into virtual ones", { v.axis, p.axis },
            [=](const Candidate &c) { return p(c) == 1 && v(c) != 1; });
        // Schedules made for two chunks take them where a plan asks for one; another number is theirs alone.
        add("the schedule has another number of chunks per stage", { s.axis, v.axis, p.axis }, [=](const Candidate &c) {
            const ScheduleTraits &own = traits(s(c));
            if (p(c) == 1)
                return false;
            return !own.chunks.accepts(own.chunksPerStage(v(c)))
                || (!own.isLoop() && v(c) > 1 && own.chunksPerStage(1) == v(c));
        });
        add("the schedule takes another number of stages", { s.axis, p.axis },
            [=](const Candidate &c) { return p(c) > 1 && !traits(s(c)).stages.accepts(p(c), p(c)); });
    }

    void layers()
    {
        const AxisValues s = schedule(), v = virtualStages(), p = pipeline();
        const int layers = m_model.layers;
        add("the model has fewer layers than stages with their chunks", { s.axis, v.axis, p.axis },
            [=](const Candidate &c) {
                const ScheduleTraits &own = traits(s(c));
                return std::int64_t(p(c)) * own.chunksPerStage(v(c)) / own.copies() > layers;
            });
        const int axis = axisOf(m_space, &MemoryStrategy::recompute);
        if (axis >= 0) {
            // Quarters of a stage that come to no layer, or to as many as another does.
            const Axis &recompute = m_space.axes()[std::size_t(axis)];
            auto same = std::make_shared<std::set<std::pair<int, int>>>(); // pipeline, value
            for (const int stages : std::set<int>(p.at.begin(), p.at.end())) {
                std::set<std::pair<Recompute, int>> seen;
                const int whole = (layers + stages - 1) / stages;
                for (std::size_t i = recompute.values.size(); i-- > 0;) {
                    Plan with = m_base;
                    with.parallelism.pipeline = stages;
                    recompute.values[i].set(with);
                    const int of = std::min(whole, with.memory.recomputeLayers.value_or(whole));
                    if (!seen.emplace(with.memory.recompute, of).second && i != recompute.base)
                        same->emplace(stages, int(i));
                }
            }
            add("as many layers are recomputed as by another value", { axis, p.axis }, [=](const Candidate &c) {
                return same->contains({ p(c), int(c[std::size_t(axis)]) });
            });
        }
        partition(s, v, p);
    }

    void partition(const AxisValues &s, const AxisValues &v, const AxisValues &p)
    {
        const int axis = axisOf(m_space, &Placement::layers);
        const int listed = int(m_base.placement.layers.size());
        const BaseValue keeps = own(rowOf(&Placement::layers));
        add("the plan states the layers of another number of stages", { axis, p.axis },
            [=](const Candidate &c) { return keeps(c) && listed > 1 && listed != p(c); });
        if (axis < 0)
            return;
        auto gains = std::make_shared<std::set<std::pair<int, int>>>(); // stages, value that differs from even layers
        const Axis &layers = m_space.axes()[std::size_t(axis)];
        const double tokens = m_base.workload.attendedLength();
        for (const int stages : std::set<int>(p.at.begin(), p.at.end())) {
            for (std::size_t i = 0; i < layers.values.size() && stages <= m_model.layers; ++i) {
                Plan with = m_base;
                with.parallelism.pipeline = stages;
                layers.values[i].set(with);
                std::vector<int> even;
                for (const auto &chunks : splitLayers(m_model, stages, 1, ChunkPlacement::Loop, {}))
                    even.push_back(chunks.front().layers);
                if (with.placement.layers.empty()
                    || longestStage(m_model, with.placement.layers, tokens)
                        < longestStage(m_model, even, tokens) * (1 - 1e-9))
                    gains->emplace(stages, int(i));
            }
        }
        add("even layers are balanced already", { axis, p.axis }, [=](const Candidate &c) {
            return !keeps(c) && !gains->contains({ p(c), int(c[std::size_t(axis)]) });
        });
        std::vector<bool> isEven;
        for (const AxisValue &value : layers.values) {
            Plan with = m_base;
            with.parallelism.pipeline = 2;
            value.set(with);
            isEven.push_back(with.placement.layers.empty());
        }
        add("layers are balanced for stages of one chunk in a chain", { axis, s.axis, v.axis },
            [=](const Candidate &c) {
                const ScheduleTraits &own = traits(s(c));
                return !keeps(c) && !isEven[c[std::size_t(axis)]] && (!own.isLoop() || own.chunksPerStage(v(c)) > 1);
            });
    }

    void groups()
    {
        if (!m_model.isMoe())
            return;
        const AxisValues e = field(&Parallelism::expert);
        const AxisValues et = field(&Parallelism::expertTensor);
        const AxisValues t = tensor(), p = pipeline(), cp = context(), d = data();
        const int gpus = m_base.cluster.gpus();
        add("a stage has fewer GPUs than the experts' ranks", { e.axis, et.axis, p.axis },
            [=](const Candidate &c) { return std::int64_t(e(c)) * et(c) * p(c) > gpus; });
        add("the experts' ranks do not divide the ranks of a stage", { e.axis, et.axis, t.axis, cp.axis, d.axis },
            [=](const Candidate &c) {
                return d(c) > 0 && std::int64_t(t(c)) * cp(c) * d(c) % (std::int64_t(e(c)) * et(c)) != 0;
            });
        for (const KeyRow *row : { &rowOf(&MoeStrategy::dispatch), &rowOf(&MoeStrategy::expertOverlap) })
            rest("experts are not spread over GPUs: no token travels", *row, { e.axis, et.axis },
                [=](const Candidate &c) { return e(c) * et(c) == 1; });
    }

    void placements()
    {
        const int axis = axisOf(m_space, &Placement::mode);
        const BaseValue keeps = own(rowOf(&Placement::mode));
        const AxisValues p = pipeline();
        int pinned = 0;
        for (const StagePin &pin : m_base.placement.stages)
            pinned += pin.stages;
        add("the plan pins another number of stages", { axis, p.axis },
            [=](const Candidate &c) { return keeps(c) && pinned > 0 && pinned != p(c); });
        if (axis < 0)
            return;
        AxisValues sites; // of an order of datacenters
        sites.axis = axis;
        for (const AxisValue &value : m_space.axes()[std::size_t(axis)].values) {
            Plan with = m_base;
            with.parallelism.pipeline = 1 << 20;
            value.set(with);
            sites.at.push_back(int(with.placement.stages.size()));
        }
        add("there are fewer stages than datacenters", { axis, p.axis },
            [=](const Candidate &c) { return !keeps(c) && sites(c) > p(c); });
    }

    void wan()
    {
        const AxisValues p = pipeline();
        const AxisValues sharing = field(&WanStrategy::sharing);
        rest("with one stage nothing crosses the WAN in turns", rowOf(&WanStrategy::sharing), { p.axis },
            [=](const Candidate &c) { return p(c) == 1; });
        rest("pipelines take no turns on the WAN", rowOf(&WanStrategy::cell), { sharing.axis, p.axis },
            [=](const Candidate &c) { return sharing(c) != int(WanSharing::Temporal) || p(c) == 1; });
        const AxisValues s = schedule();
        const AxisValues across =
            field(rowOf(&Placement::mode), [](const Plan &plan) { // 1: pipelines, 2: replicas, 0: either
                return plan.placement.mode == PlacementMode::DataAcross                                      ? 2
                    : plan.placement.mode == PlacementMode::PipelineAcross || !plan.placement.stages.empty() ? 1
                                                                                                             : 0;
            });
        rest("no gradients cross the WAN", rowOf(&WanStrategy::allReduce), { across.axis, s.axis },
            [=](const Candidate &c) { return across(c) == 1 && traits(s(c)).copies() == 1; });
        for (const KeyRow *row : { &rowOf(&WanStrategy::sharing), &rowOf(&WanStrategy::cell) })
            rest("no stage boundary crosses the WAN", *row, { across.axis, s.axis },
                [=](const Candidate &c) { return across(c) == 2 && traits(s(c)).copies() == 1; });
    }

    void mixed()
    {
        const AxisValues p = pipeline();
        const AxisValues order = field(&Heterogeneity::accumulation);
        add("layer by layer goes through whole models, not through stages", { order.axis, p.axis },
            [=](const Candidate &c) { return p(c) > 1 && order(c) == int(Accumulation::Layered); });
        rest("one stage has all layers", rowOf(&Heterogeneity::layers), { p.axis },
            [=](const Candidate &c) { return p(c) == 1; });
        const AxisValues zero = field(&Parallelism::zeroStage);
        rest("ZeRO divides no states at stage 0", rowOf(&Heterogeneity::state), { zero.axis },
            [=](const Candidate &c) { return zero(c) == 0; });
    }

    void jobs()
    {
        const AxisValues s = field(&Plan::jobScheduler);
        for (const KeyRow *row : { &rowOf(&JobOptions::spill), &rowOf(&JobOptions::doubleBuffer),
                 &rowOf(&JobOptions::lookAhead), &rowOf(&JobOptions::remaining) })
            rest("the scheduler gives whole GPUs to whole jobs", *row, { s.axis },
                [=](const Candidate &c) { return !isByShards(static_cast<JobScheduler>(s(c))); });
        rest("only the longest remaining time counts what remains", rowOf(&JobOptions::remaining), { s.axis },
            [=](const Candidate &c) { return static_cast<JobScheduler>(s(c)) != JobScheduler::ShardedLrtf; });
        const AxisValues buffers = field(&JobOptions::doubleBuffer);
        rest("a buffer is filled ahead, so double buffering looks ahead", rowOf(&JobOptions::lookAhead),
            { buffers.axis }, [=](const Candidate &c) { return buffers(c) != 0; });
    }

    std::vector<SpaceRule> m_rules;
    const SearchSpace &m_space;
    const Plan &m_base;
    ModelSpec m_model;
    StackSpec m_stack;
};

} // namespace

std::vector<SpaceRule> spaceRules(const SearchSpace &space, const Catalogue &catalogue)
{
    return RuleBuilder(space, catalogue).make();
}

} // namespace trainyard::detail
