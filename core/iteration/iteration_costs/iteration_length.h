#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Refuses an iteration that is longer than a timeline can hold, before its schedule is made and its ticks are added up,
// and says which key of the plan makes it so. What is counted is all work in a row: no simulated iteration takes
// longer.

#include "core/iteration/cost/stage_costs.h"

namespace trainyard {

class IterationLength {
public:
    explicit IterationLength(const Workload &workload)
        : m_work(workload)
    {
    }

    /// Operations, boundaries and gradient sync and step of one class of pipelines.
    void addPipelines(const PipelineCosts &pipelines, const PipelineClass &locations);
    /// What all pipelines together send over each link at its capacity: they may have to share it.
    void addLinks(const std::vector<WanLinkUse> &links);
    /// What leaves the GPU, as slowly as links that are asked for by all at once carry it, and the steps of states off
    /// it.
    void addMoves(const IterationCosts &costs);
    void addRest(const Costs &costs);

    /// OutOfRange, with the key that takes the largest share of the time.
    [[nodiscard]] Expected<void> check() const;

private:
    template <class Where> void add(double ticks, Where where, const char *right);
    [[nodiscard]] std::string operationKey(const OpTimes &op) const;
    [[nodiscard]] std::string transferKey(const BoundaryTimes &boundary) const;
    [[nodiscard]] std::string reductionKey() const;

    const Workload &m_work;
    double m_ticks = 0, m_longest = 0;
    std::string m_where, m_right;
};

} // namespace trainyard
