// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/score_axes.h"

#include "core/facts/plan/key_list.h"

#include <algorithm>
#include <string>
#include <vector>

namespace trainyard {

namespace {

constexpr unsigned bits(std::initializer_list<Part> parts)
{
    unsigned all = 0;
    for (const Part part : parts)
        all |= 1u << unsigned(part);
    return all;
}

constexpr unsigned kEvery = (1u << kParts) - 1;

struct KnownKey {
    std::string key;
    unsigned parts;
};
using enum Part;

template <class Owner, class T> KnownKey of(T Owner::*member, std::initializer_list<Part> parts)
{
    return { rowOf(member).path, bits(parts) };
}

unsigned partsOf(const std::string &key, bool pairs)
{
    static const std::vector<KnownKey> kKnown {
        of(&Parallelism::tensor, { Shape, Places, Held, Kept, Ends, Work }),
        of(&Parallelism::context, { Shape, Places, Held, Kept, Ends, Work }),
        of(&Parallelism::expert, { Shape, Places, Held, Kept, Ends, Work }),
        of(&Parallelism::expertTensor, { Shape, Places, Held, Kept, Ends, Work }),
        of(&Parallelism::pipeline, { Shape, Places, Order, Held, Kept, Ends, Work }),
        of(&Parallelism::data, { Shape, Batch, Places }), // the others go by the places
        of(&Parallelism::virtualPipeline, { Shape, Order, Held, Kept, Ends, Work }),
        of(&Plan::schedule, { Shape, Order, Held, Kept, Ends, Work }),
        of(&WorkloadSpec::microBatch, { Batch, Held, Kept, Work }), // Places go by how many there are
        of(&WorkloadSpec::globalBatch, { Batch }),
        of(&MemoryStrategy::recompute, { Kept, Work }),
        of(&MemoryStrategy::recomputeLayers, { Order, Kept, Work }),
        of(&Placement::layers, { Shape, Order }), // the others go by the order
        of(&MoeStrategy::dispatch, { Held, Kept, Ends, Work }),
        of(&MoeStrategy::sharedExpertOverlap, { Held, Kept, Ends, Work }),
        of(&Parallelism::zeroStage, { Held, Kept, Ends }), // Work goes by what is exchanged in it
        of(&Parallelism::sequenceParallel, { Held, Kept, Work }),
    };
    if (pairs && key == rowOf(&MemoryStrategy::recompute).path)
        return kEvery;
    const auto known = std::ranges::find(kKnown, key, &KnownKey::key);
    return known == kKnown.end() ? kEvery : known->parts;
}

/// Which of two orders is taken then goes by recomputation too.
bool mayPair(const SearchSpace &space)
{
    return space.base()->moe.expertOverlap != ExpertOverlap::None
        || std::ranges::any_of(space.axes(), [path = rowOf(&MoeStrategy::expertOverlap).path](const Axis &axis) {
               return std::ranges::find(axis.keys, path) != axis.keys.end();
           });
}

/// What a part sees of an axis that it hardly looks at.
using Seen = int (*)(const Plan &);
struct Hardly {
    Part part;
    std::vector<std::string> keys; // all that the axis sets
    Seen seen;
};

const std::vector<Hardly> &hardlySeen()
{
    static const std::vector<Hardly> kAll {
        // Micro-batches see of ZeRO only that weights are gathered for them.
        { Kept, pathsOf(&Parallelism::zeroStage),
            [](const Plan &plan) { return plan.parallelism.zeroStage < 3 ? 0 : 1; } },
        // Where only some layers of a stage are recomputed, stages that are alike else may not be.
        { Order, pathsOf(&MemoryStrategy::recompute, &MemoryStrategy::recomputeLayers),
            [](const Plan &plan) { return plan.memory.recomputeLayers ? 1 : 0; } },
    };
    return kAll;
}

/// For each value the first one that cannot be told from it.
std::vector<std::uint16_t> alikeIn(const Plan &base, const Axis &axis, Seen seen)
{
    std::vector<int> all;
    for (const AxisValue &value : axis.values) {
        Plan plan = base;
        if (&value != &axis.values[axis.base])
            value.set(plan);
        all.push_back(seen(plan));
    }
    std::vector<std::uint16_t> alike;
    for (const int one : all)
        alike.push_back(std::uint16_t(std::ranges::find(all, one) - all.begin()));
    return alike;
}

} // namespace

ScoreAxes::ScoreAxes(const SearchSpace &space)
    : m_space(space)
{
    m_steps.fill(1);
    const bool pairs = mayPair(space);
    for (std::size_t i = 0; i < space.axes().size(); ++i) {
        const Axis &axis = space.axes()[i];
        unsigned parts = axis.keys.empty() ? kEvery : 0;
        for (const std::string &key : axis.keys)
            parts |= partsOf(key, pairs);
        for (std::size_t part = 0; part < kParts; ++part)
            if ((parts & (1u << part)) != 0)
                add(Part(part), i, pairs && Part(part) == Order ? nullptr : alikeOf(Part(part), axis, *space.base()));
    }
}

const std::uint16_t *ScoreAxes::alikeOf(Part part, const Axis &axis, const Plan &base)
{
    for (const Hardly &known : hardlySeen())
        if (known.part == part && known.keys == axis.keys)
            return m_alike.emplace_back(alikeIn(base, axis, known.seen)).data();
    return nullptr;
}

void ScoreAxes::add(Part part, std::size_t axis, const std::uint16_t *alike)
{
    const std::size_t values = m_space.axes()[axis].values.size();
    std::uint64_t &step = m_steps[std::size_t(part)];
    m_terms[std::size_t(part)].push_back({ axis, step, alike });
    m_isNumbered &= step <= SearchSpace::kTooMany / std::max<std::size_t>(1, values);
    step *= values;
}

bool ScoreAxes::mayShare(std::initializer_list<Part> parts) const
{
    std::vector<bool> isTold(m_space.axes().size(), false);
    for (const Part part : parts)
        for (const Term &term : m_terms[std::size_t(part)])
            isTold[term.axis] = isTold[term.axis] || !term.alike;
    for (std::size_t axis = 0; axis < isTold.size(); ++axis)
        if (!isTold[axis] && m_space.axes()[axis].values.size() > 1)
            return true;
    return false;
}

Candidate ScoreAxes::representative(Part part, const Candidate &candidate) const
{
    Candidate result = m_space.baseCandidate();
    for (const Term &term : m_terms[std::size_t(part)])
        result[term.axis] = candidate[term.axis];
    return result;
}

} // namespace trainyard
