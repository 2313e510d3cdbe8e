// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/expert_notes.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/placement/expert_spread.h"

#include <algorithm>

namespace trainyard {

namespace {

class ExpertNotes {
public:
    ExpertNotes(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
        : m_problems(problems)
        , m_metrics(evaluation.metrics)
        , m_work(workload)
        , m_moe(workload.plan->moe)
    {
    }

    void add()
    {
        if (!m_work.model.isMoe()) {
            addForNothing();
            return;
        }
        if (!addCut())
            addAcross();
        addCrowdedGroups();
        addOverlaps();
        addPairsOfOneStage();
        addPieces();
        addLoads();
        addSplitTokens();
    }

private:
    void note(const char *where, std::string sentence, Severity severity = Severity::Note)
    {
        m_problems.push_back({ severity, std::move(sentence), where, {} });
    }

    /// Of a model without experts.
    void addForNothing()
    {
        if (m_moe == MoeStrategy { .extra = m_moe.extra })
            return;
        note("moe",
            m_work.source.hasLayers
                ? m_work.model.name + " has no experts: what the plan says of them changes nothing"
                : "Measured stage times contain whatever experts there are: what the plan says of them changes "
                  "nothing");
    }

    [[nodiscard]] std::string label(int datacenter) const
    {
        return m_work.plan->cluster.datacenters[std::size_t(datacenter)].label();
    }

    /// Ranks of one expert in two datacenters.
    bool addCut()
    {
        const auto cut = cutExperts(m_work);
        if (cut)
            m_problems.push_back({ Severity::Blocking,
                "The " + std::to_string(m_work.degrees.expertTensor) + " ranks that compute one expert together lie in "
                    + label(cut->from) + " and " + label(cut->to)
                    + ": what each made of a token would be added up over the WAN. A pipeline across datacenters "
                      "(placement.mode) or a smaller expert_tensor keeps them in one",
                "parallelism.expert_tensor", {}, FixSearchKind::Experts });
        return cut.has_value();
    }

    /// Groups with ranks in several datacenters.
    void addAcross()
    {
        const auto across = expertsAcross(m_work);
        if (!across)
            return;
        const Degrees &p = m_work.degrees;
        const std::string groups =
            "Groups of " + std::to_string(p.expertRanks()) + " ranks that share the experts span ";
        const std::string inside = across->expert > 0 && across->expert < p.expert
            ? "experts over " + counted(across->expert, "rank") + " stay in one datacenter"
            : "a pipeline across datacenters (placement.mode) keeps each in one";
        if (const auto unlinked = unlinkedExperts(m_work)) {
            m_problems.push_back({ Severity::Blocking,
                groups + label(unlinked->from) + " and " + label(unlinked->to)
                    + ", and no WAN link joins them: tokens have no way; " + inside,
                "parallelism.expert", {}, FixSearchKind::Experts });
            return;
        }
        const WanLinkUse *slowest = nullptr;
        double seconds = 0;
        for (const WanLinkUse &use : m_metrics.wanLinks)
            if (const double own = std::max(use.expertSeconds[0], use.expertSeconds[1]); own > seconds) {
                seconds = own;
                slowest = &use;
            }
        std::string takes;
        if (slowest)
            takes = ": their tokens cross the WAN for " + secondsText(seconds)
                + (m_metrics.iterationTime ? " of an iteration of " + secondsText(*m_metrics.iterationTime) : "")
                + ", bound by the " + toString(slowest->limit);
        m_problems.push_back(
            { Severity::Warning, groups + label(across->from) + " and " + label(across->to) + takes + "; " + inside,
                "parallelism.expert", {}, FixSearchKind::Experts });
    }

    /// Ranks of a tensor group that hold the same tokens ask the experts each on its own where that divides.
    void addCrowdedGroups()
    {
        const Degrees &p = m_work.degrees;
        const int ranks = p.gpusOfStage() * m_work.layout.data;
        const bool holdsSame = p.tensor > 1 && !p.isSequenceParallel && p.expertTensor == 1 && p.expert > 1;
        if (holdsSame && ranks > 0 && expertGrid(p, ranks).stride == 1)
            note("parallelism.expert",
                "Experts over " + counted(p.expert, "rank") + " for each rank of a tensor group of "
                    + std::to_string(p.tensor) + " do not divide the " + std::to_string(ranks)
                    + " ranks of a stage: ranks that hold the same tokens share the experts and send each other those");
    }

    void addOverlaps()
    {
        const Plan &plan = *m_work.plan;
        const bool isPaired = m_moe.expertOverlap == ExpertOverlap::OneFOneB;
        if (isPaired && plan.memory.recompute == Recompute::Full)
            note("moe.expert_overlap",
                "Full recomputation runs a forward inside each backward: no other micro-batch is beside it, and "
                "expert_overlap changes nothing");
        else if (isPaired && !traitsOf(plan).pairs)
            note("moe.expert_overlap",
                std::string("No forward of schedule ") + toString(plan.schedule)
                    + " runs with a backward: expert_overlap changes nothing. 1f1b without a pipeline and interleaved "
                      "do that");
        else if (isPaired && traitsOf(plan.schedule).pairs)
            note("moe.expert_overlap",
                std::string("Schedule ") + toString(plan.schedule)
                    + " runs forwards with backwards already: expert_overlap adds nothing");
        if (!m_moe.sharedExpertOverlap)
            return;
        if (m_work.model.sharedExpertFfn <= 0)
            note(
                "moe.shared_expert_overlap", m_work.model.name + " has no shared experts: there is nothing to overlap");
        else if (isPaired)
            note("moe.shared_expert_overlap",
                "Another micro-batch computes while tokens travel (expert_overlap): shared experts do not");
        else if (m_work.degrees.expertRanks() == 1)
            note("moe.shared_expert_overlap", "No token travels: shared experts have nothing to compute beside");
    }

    /// One operation of a device waits for the other of its pair, and so does every stage behind it.
    void addPairsOfOneStage()
    {
        const Plan &plan = *m_work.plan;
        if (m_moe.expertOverlap == ExpertOverlap::OneFOneB && m_work.degrees.pipeline > 1 && m_work.degrees.chunks < 2
            && traitsOf(plan).pairs && traitsOf(plan).isLoop())
            note("moe.expert_overlap",
                "Without virtual stages each forward of the pipeline waits for the backward that it runs with, and the "
                "stages for each other: expert_overlap needs parallelism.virtual_pipeline of 2 or more to gain",
                Severity::Warning);
    }

    void addPieces()
    {
        const bool asks = m_moe.overlapChunks || m_moe.forwardChunks || m_moe.backwardChunks;
        if (m_work.degrees.expertRanks() == 1) {
            if (asks || m_moe.dispatch != MoeDispatch::Flat || m_moe.communicationSms || m_moe.pipelineBackward)
                note(asks                                     ? "moe.overlap_chunks"
                        : m_moe.communicationSms              ? "moe.communication_sms"
                        : m_moe.dispatch != MoeDispatch::Flat ? "moe.dispatch"
                                                              : "moe.pipeline_backward",
                    "Every rank has all experts: no token travels, and how it would changes nothing");
            return;
        }
        const bool isWhole = m_moe.dispatch != MoeDispatch::TrafficAware && m_moe.chunks(true).value_or(1) == 1
            && m_moe.chunks(false).value_or(1) == 1;
        const bool isAlone = isWhole && !m_moe.sharedExpertOverlap && m_moe.expertOverlap == ExpertOverlap::None
            && !traitsOf(*m_work.plan).pairs && m_moe.imbalance == 1 && m_moe.expertLoads.empty();
        if (m_moe.communicationSms && isAlone)
            note("moe.communication_sms",
                "Nothing computes while tokens travel in one piece: how many multiprocessors that takes changes "
                "nothing");
        if (m_moe.overlapChunks && m_moe.forwardChunks && m_moe.backwardChunks)
            note("moe.overlap_chunks", "Both directions state their own pieces: overlap_chunks changes nothing");
        const bool isSlicing =
            m_moe.dispatch == MoeDispatch::TensorSliced || m_moe.dispatch == MoeDispatch::TrafficAware;
        if (m_moe.pipelineBackward && !isSlicing)
            note("moe.pipeline_backward",
                std::string("Pieces of a ") + toString(m_moe.dispatch)
                    + " dispatch follow each other in both directions: pipeline_backward changes nothing");
    }

    void addLoads()
    {
        if (m_moe.expertLoads.empty() && m_moe.imbalance > m_work.degrees.expert)
            note("moe.imbalance",
                "Experts lie over " + counted(m_work.degrees.expert, "rank") + ": the fullest has at most "
                    + std::to_string(m_work.degrees.expert) + " times the mean, which is all there is");
        if (!m_moe.expertLoads.empty() && m_moe.imbalance != 1)
            note("moe.imbalance", "The loads of single experts say how uneven they are: imbalance changes nothing");
        if (m_moe.dropless && m_moe.capacityFactor)
            note("moe.dropless",
                formatted("Experts with room for %.4g times the mean drop what is more: they are not dropless",
                    *m_moe.capacityFactor));
    }

    /// What spares a tensor group its copies, where it has none.
    void addSplitTokens()
    {
        const bool spares = m_moe.dispatch == MoeDispatch::TensorSliced || m_moe.dispatch == MoeDispatch::TrafficAware;
        if (!spares || m_work.degrees.expertRanks() == 1)
            return;
        const Degrees &p = m_work.degrees;
        if (p.tensor == 1)
            note("moe.dispatch",
                std::string("No tensor group holds the same tokens twice: ") + toString(m_moe.dispatch)
                    + " has nothing to spare");
        else if (p.isSequenceParallel)
            note("moe.dispatch",
                std::string("Sequence parallelism splits the tokens of a tensor group already: ")
                    + toString(m_moe.dispatch) + " has nothing to gain");
    }

    std::vector<Problem> &m_problems;
    const Metrics &m_metrics;
    const Workload &m_work;
    const MoeStrategy &m_moe;
};

} // namespace

void addExpertNotes(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    ExpertNotes(problems, evaluation, workload).add();
}

} // namespace trainyard
