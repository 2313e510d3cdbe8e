#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What frames, times and verdicts of uniform plans (uniform_plan.h) depend on, as one number each, so that candidates
// share them. Of simple plans (workbench.h) by the axes that the parts of a score go by (score_axes.h); of others a
// frame is shared by candidates that differ in the axes alone that no frame looks at, and nothing else is.

#include "core/engine/schedule/traits.h"
#include "core/engine/timeline/graph_builder.h"
#include "core/iteration/placement/location_book.h"
#include "core/planner/score/part_table.h"
#include "core/planner/score/score_axes.h"
#include "core/planner/score/uniform_topology.h"
#include "core/planner/score/workbench.h"

namespace trainyard {

/// One candidate after the other.
class UniformKeys {
public:
    explicit UniformKeys(const SearchSpace &space)
        : m_axes(space)
        , m_frameAxes(space, UniformFrame::ignoredKeys())
        , m_isSimple(m_axes.isNumbered() && isSimple(*space.base()))
        , m_mayShareTimes(m_axes.mayShare({ Part::Places, Part::Order, Part::Work, Part::Ends }))
        , m_mayShareFills(m_axes.mayShare({ Part::Places, Part::Order, Part::Held, Part::Kept }))
    {
    }

    /// `inRuns`: as uniformFrame() has it.
    void begin(const Candidate &candidate, const Workload &workload, bool inRuns)
    {
        m_candidate = &candidate;
        m_workload = &workload;
        m_isOfParts = m_isSimple && isSimple(*workload.plan);
        m_inRuns = inRuns;
    }
    [[nodiscard]] bool sharesTimes() const { return m_isOfParts && m_mayShareTimes; }
    [[nodiscard]] bool sharesFills() const { return m_isOfParts && m_mayShareFills; }
    [[nodiscard]] bool sharesFrames() const { return m_isOfParts || m_frameAxes.isWhole(); }

    [[nodiscard]] std::uint64_t frame() const
    {
        Fingerprint print;
        // Whether operations are paired may go by recomputation.
        print.add((m_isOfParts ? 1u : 0u) | (m_inRuns ? 2u : 0u) | (traitsOf(*m_workload->plan).pairs ? 4u : 0u));
        if (!m_isOfParts) {
            print.add(m_frameAxes.numberOf(*m_candidate));
            return print.value();
        }
        for (const Part part : { Part::Shape, Part::Places, Part::Order })
            print.add(m_axes.key(part, *m_candidate));
        print.add(std::uint64_t(totalMicroBatches(*m_workload->plan)));
        return print.value();
    }
    /// Of operations, boundaries and what follows; the workload has the frame's layout.
    [[nodiscard]] std::uint64_t times(const UniformFrame &frame) const
    {
        Fingerprint print = ground();
        for (const Part part : { Part::Work, Part::Ends })
            print.add(m_axes.key(part, *m_candidate));
        print.add(m_inRuns ? std::uint64_t(frame.microBatches.front()) : 0); // classes differ in nothing else
        return print.value();
    }
    /// Of how full GPUs are with that order of work.
    [[nodiscard]] std::uint64_t memory(const PlainWork &work) const
    {
        Fingerprint print = ground();
        for (const Part part : { Part::Held, Part::Kept })
            print.add(m_axes.key(part, *m_candidate));
        print.add(work.number);
        return print.value();
    }

private:
    /// Where everything lies and what it works on, but for the number of micro-batches.
    [[nodiscard]] Fingerprint ground() const
    {
        Fingerprint print;
        for (const Part part : { Part::Places, Part::Order })
            print.add(m_axes.key(part, *m_candidate));
        print.add(std::uint64_t(m_workload->layout.data) << 32 | std::uint64_t(m_workload->layout.classes.size()));
        return print;
    }

    ScoreAxes m_axes;
    PartAxes m_frameAxes;
    bool m_isSimple, m_mayShareTimes, m_mayShareFills;
    const Candidate *m_candidate = nullptr;
    const Workload *m_workload = nullptr;
    bool m_isOfParts = false, m_inRuns = false;
};

} // namespace trainyard
