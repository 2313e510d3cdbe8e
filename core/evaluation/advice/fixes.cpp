// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/fixes.h"

#include "core/evaluation/advice/fixes_internal.h"
#include "core/evaluation/evaluate/problems/idle_gpus.h"

namespace trainyard {

namespace {

class Finding {
public:
    Finding(Evaluation &evaluation, const Workload *workload, const RunContext &context, bool isQuick)
        : m_evaluation(evaluation)
        , m_workload(workload)
        , m_search(context.catalogue, context.stop)
        , m_isQuick(isQuick)
    {
    }

    void run()
    {
        for (Problem &problem : m_evaluation.problems)
            if (m_workload || problem.toFind == FixSearchKind::Stages)
                find(problem);
        if (!m_workload || (m_isQuick && isSlowToTry(m_evaluation)))
            return;
        if (auto slow = slowGpusProblem(m_evaluation, *m_workload, m_search))
            m_evaluation.problems.push_back(std::move(*slow));
        if (auto vain = vainOffloadProblem(m_evaluation, m_search))
            m_evaluation.problems.push_back(std::move(*vain));
    }

private:
    void find(Problem &problem)
    {
        Footprints &footprints = m_search.footprints();
        switch (problem.toFind) {
        case FixSearchKind::None:
            return;
        case FixSearchKind::IdleGpus:
            return findUse(problem);
        case FixSearchKind::UnequalGpus:
            if (!m_isQuick || !isSlowToTry(m_evaluation))
                problem.fixes = unequalFixes(m_evaluation, m_search);
            return;
        case FixSearchKind::TensorGroups:
            return keep(problem, smallerTensorGroups(*m_workload), 1);
        case FixSearchKind::Pins:
            return keep(problem, fewerPins(*m_workload), 1);
        case FixSearchKind::Experts:
            if (!m_isQuick || !isSlowToTry(m_evaluation))
                problem.fixes = expertFixes(m_evaluation, *m_workload, m_search);
            return;
        case FixSearchKind::Stages:
            keep(problem, fewerStages(*m_evaluation.plan, m_evaluation.model), 2);
            break;
        case FixSearchKind::Placement:
            keep(problem, otherPlacements(*m_workload, m_evaluation.layout, footprints.catalogue()), 3);
            break;
        case FixSearchKind::Schedule:
            keep(problem, otherSchedules(*m_workload, m_workload->layout.data), 2);
            break;
        case FixSearchKind::GpuMemory:
            problem.fixes = gpuMemoryFixes(*m_workload, footprints);
            break;
        case FixSearchKind::HostMemory:
            problem.fixes = hostMemoryFixes(*m_workload, footprints);
            break;
        }
        const std::string leftOut = m_search.whatWasLeftOut();
        problem.text += leftOut;
        problem.saysWhatWasLeftOut = !leftOut.empty();
    }

    /// The first of the candidates that can run.
    void keep(Problem &problem, std::vector<Fix> candidates, std::size_t most)
    {
        for (Fix &fix : candidates)
            if (problem.fixes.size() < most && m_search.footprints().of(fix.plan).fits)
                problem.fixes.push_back(std::move(fix));
    }

    /// One search: its plans leave little idle anywhere.
    void findUse(Problem &problem)
    {
        constexpr std::size_t kMostGroups = 8; // of hundreds of reasons the rest is small
        const std::size_t at = m_idle++;
        if (m_isUsed || at >= kMostGroups || (m_isQuick && isSlowToTry(m_evaluation)))
            return;
        if (at == 0) {
            m_groups = idleGroups(m_evaluation.layout, m_evaluation.plan->cluster);
            std::erase_if(m_groups, [](const IdleGroup &group) { return !group.isMuch; }); // of the others nobody asks
        }
        if (at >= m_groups.size())
            return;
        problem.fixes = idleFixes(m_evaluation, *m_workload, m_groups[at], m_search);
        m_isUsed = !problem.fixes.empty();
    }

    Evaluation &m_evaluation;
    const Workload *m_workload;
    FixSearch m_search;
    bool m_isQuick;
    std::size_t m_idle = 0; // problems of idle GPUs so far
    std::vector<IdleGroup> m_groups; // whose GPUs are many
    bool m_isUsed = false;
};

class LadderFixes : public FixFinder {
public:
    explicit LadderFixes(bool isQuick)
        : m_isQuick(isQuick)
    {
    }
    void addFixes(Evaluation &evaluation, const Workload *workload, const RunContext &context) const override
    {
        Finding(evaluation, workload, context, m_isQuick).run();
    }

private:
    bool m_isQuick;
};

} // namespace

const FixFinder &allFixes()
{
    static const LadderFixes kAll(false);
    return kAll;
}

const FixFinder &quickFixes()
{
    static const LadderFixes kQuick(true);
    return kQuick;
}

} // namespace trainyard
