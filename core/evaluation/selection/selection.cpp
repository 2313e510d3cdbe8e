// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/selection/selection.h"

#include "core/evaluation/evaluate/estimate.h"
#include "core/evaluation/selection/candidates_internal.h"
#include "core/facts/cluster/wan.h"
#include "core/iteration/cost/wan/wan_codec.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/as_placed.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>

namespace trainyard {

namespace {

using namespace selecting;

const Error kCancelled { ErrorCode::Cancelled, {}, "cancelled", {} };

double tokensOf(const Plan &plan)
{
    return double(plan.workload.globalBatch) * plan.workload.sequenceLength;
}

bool isAnswer(const SelectionOption &option)
{
    return option.isSimulated && option.isFeasible;
}

/// Forwards and backwards of one pipeline.
std::int64_t tasksOf(const Plan &plan)
{
    const Degrees degrees = degreesOf(plan);
    return std::int64_t(2) * degrees.pipeline * degrees.chunks
        * (totalMicroBatches(plan) / std::max(1, degrees.data.value_or(1)) + 1);
}

class Selecting {
public:
    Selecting(Requested asked, const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop,
        const SelectionOptions &options)
        : m_asked(std::move(asked))
        , m_catalogue(catalogue)
        , m_workspace(workspace)
        , m_stop(std::move(stop))
        , m_options(options)
    {
    }

    ExpectedAll<Selection> run()
    {
        m_result.plan = m_asked.plan;
        m_result.objective = m_options.objective;
        m_cell = askedCell(m_asked, m_options).value_or(1);
        m_result.askedCell = m_cell > 1 ? m_cell : 0;
        if (auto done = addCurrent(); !done)
            return std::unexpected(done.error());
        Candidates found = candidates(m_asked, m_catalogue, m_options, m_stop);
        std::vector<SelectionOption> &screened = found.options;
        m_result.screened = int(screened.size());
        m_result.looked = std::max(found.looked, m_result.screened);
        for (SelectionOption &option : screened) {
            if (m_stop.stop_requested())
                return std::unexpected(Errors { kCancelled });
            screen(option);
        }
        std::int64_t tasks = 0;
        while (m_result.simulated < m_options.mostSimulated || !std::ranges::any_of(screened, isAnswer)) {
            const auto next = nextToSimulate(screened, m_result.plan->cluster.datacenters.size(), m_options.objective);
            if (!next || (tasks > m_options.mostTasks && std::ranges::any_of(screened, isAnswer))
                || m_result.simulated >= 2 * m_options.mostSimulated)
                break;
            ++m_result.simulated;
            tasks += tasksOf(*screened[*next].plan);
            if (auto done = simulate(screened[*next]); !done)
                return std::unexpected(done.error());
        }
        m_result.isProven = isProven(screened, found.rest);
        std::erase_if(screened, [](const SelectionOption &option) { return !option.isSimulated; });
        m_result.options = std::move(screened);
        if (auto done = addDataAcross(); !done)
            return std::unexpected(done.error());
        markCurrent();
        m_result.looked = std::max(m_result.looked, m_result.screened);
        rank(m_result, m_asked, m_cell);
        return std::move(m_result);
    }

private:
    /// Without prefill in the bubbles, which leaves training as it is.
    [[nodiscard]] ExpectedAll<EvaluationPtr> evaluateTraining(
        PlanPtr plan, OpenReplicas replicas = OpenReplicas::Fastest)
    {
        if (plan->bubbleFill.enabled) {
            Plan alone = *plan;
            alone.bubbleFill.enabled = false;
            plan = std::make_shared<const Plan>(std::move(alone));
        }
        return trainyard::run(std::move(plan), Depth::Score,
            { .catalogue = m_catalogue, .workspace = m_workspace, .stop = m_stop, .replicas = replicas });
    }

    ExpectedAll<void> addCurrent()
    {
        SelectionOption current;
        current.plan = m_asked.plan;
        current.isCurrent = true;
        auto answer = evaluateTraining(current.plan);
        if (!answer)
            return std::unexpected(std::move(answer.error()));
        const Layout &layout = (*answer)->layout;
        if (layout.data == 0)
            return {}; // nothing is placed now; there may be options all the same
        if (layout.mode != PlacementMode::DataAcross && !layout.classes.empty())
            current.blocks = blocksOf(layout.classes.front());
        fillPlaced(current, **answer);
        m_current = std::move(current);
        return {};
    }

    /// Whole pipelines in several datacenters: the other way across, for comparison. Measurements that say nothing of
    /// parameters have no gradients to exchange, so that there is nothing to compare with.
    ExpectedAll<void> addDataAcross()
    {
        Plan plan = *m_result.plan;
        if (!stageSource(plan).hasGradients())
            return {};
        plan.placement.mode = PlacementMode::DataAcross;
        plan.placement.stages.clear();
        plan.parallelism.data.reset();
        SelectionOption option;
        option.sentence = "Select " + blocksText({}, m_result.plan->cluster);
        const auto answer = evaluateTraining(std::make_shared<const Plan>(plan), OpenReplicas::Most);
        if (!answer && answer.error().front().code == ErrorCode::Cancelled)
            return std::unexpected(answer.error());
        if (!answer || (*answer)->layout.data == 0)
            return {};
        const auto &classes = (*answer)->layout.classes;
        const auto siteOf = [](const PipelineClass &c) { return c.locations.front().datacenter; };
        if (std::ranges::all_of(classes, [&](const PipelineClass &c) { return siteOf(c) == siteOf(classes.front()); }))
            return {}; // all in one: an option like any other
        plan.parallelism.data = (*answer)->layout.data; // of fewer, all may lie in one
        option.plan = std::make_shared<const Plan>(std::move(plan));
        fillPlaced(option, **answer);
        m_result.options.push_back(std::move(option));
        ++m_result.screened;
        return {};
    }

    /// Of a plan that was placed by its own rules: cells and what binds, from the layout that came of it.
    void fillPlaced(SelectionOption &option, const Evaluation &evaluation)
    {
        option.cell = evaluation.layout.data % m_cell == 0 ? m_cell : 1;
        option.cells = evaluation.layout.data / option.cell;
        const Workload workload(m_asked.askedBy(option.plan), evaluation.layout);
        takeCell(option, workload.layout.cell);
        const Estimate guess = estimate(workload);
        option.screenedSeconds = guess.iteration.value;
        option.bound = guess.bound;
        fill(option, evaluation);
    }

    /// Closed form: seconds, what binds, and what it costs.
    void screen(SelectionOption &option)
    {
        const Workload workload = place(m_asked.askedBy(option.plan), PlacementMode::PipelineAcross); // pinned
        if (workload.layout.data == 0) {
            option.isFeasible = false;
            option.infeasibleBecause = workload.layout.unplaced;
        } else {
            takeCell(option, workload.layout.cell);
            const Estimate guess = estimate(workload);
            option.screenedSeconds = option.seconds = guess.iteration.value;
            option.bound = guess.bound;
            option.gpusUsed = workload.layout.gpusUsed;
            option.sequencesPerSecond = option.plan->workload.globalBatch / option.seconds;
            option.usdPerIteration =
                usdPerHour(workload, workload.layout, 1) * option.seconds / 3600 + screenedEgress(option, workload);
            option.usdPerMillionTokens = option.usdPerIteration / tokensOf(*option.plan) * 1e6;
        }
    }

    /// Cells as they come about: a faster link needs smaller ones, and their members sit on different nodes.
    static void takeCell(SelectionOption &option, const CellSize &cell)
    {
        if (cell.ratio <= 0 || option.data() % cell.reached != 0)
            return;
        const int data = option.data();
        option.cell = cell.reached;
        option.cells = data / cell.reached;
    }

    /// 2·M·A·|X|·D bytes, each half at the price of its direction.
    [[nodiscard]] double screenedEgress(SelectionOption &option, const Requested &asked) const
    {
        const Plan &plan = *option.plan;
        double usd = 0;
        for (std::size_t i = 1; i < option.blocks.size(); ++i) {
            const std::string &from = plan.cluster.datacenters[std::size_t(option.blocks[i - 1].datacenter)].id;
            const int link =
                plan.cluster.linkBetween(from, plan.cluster.datacenters[std::size_t(option.blocks[i].datacenter)].id);
            const std::array<double, 2> price = egressUsdPerGb(plan, m_catalogue, link);
            const int out = plan.cluster.wanLinks[std::size_t(link)].between[0] == from ? 0 : 1;
            const double sent = totalMicroBatches(plan) * asked.boundaryParts() * activationBits(plan).share();
            const double forth = sent * asked.boundaryBytes(false), back = sent * asked.boundaryBytes(true);
            option.wanBytes += forth + back;
            usd += (forth * price[std::size_t(out)] + back * price[std::size_t(1 - out)]) / 1e9;
        }
        return option.egressUsdPerIteration = usd;
    }

    ExpectedAll<void> simulate(SelectionOption &option)
    {
        auto answer = evaluateTraining(option.plan);
        if (!answer && (m_stop.stop_requested() || answer.error().front().code == ErrorCode::Cancelled))
            return std::unexpected(std::move(answer.error()));
        option.isSimulated = true;
        option.seconds = option.sequencesPerSecond = option.usdPerIteration = option.usdPerMillionTokens =
            0; // the closed form's
        option.leftOut = leftOut(m_asked, option);
        if (answer) {
            fill(option, **answer);
        } else { // a shape that this number of replicas does not allow
            option.isFeasible = false;
            option.infeasibleBecause = answer.error().front().what;
        }
        return {};
    }

    void fill(SelectionOption &option, const Evaluation &evaluation)
    {
        const Metrics &metrics = evaluation.metrics;
        option.isSimulated = true;
        option.isFeasible = evaluation.feasible();
        for (const Problem &problem : evaluation.problems)
            if (problem.severity == Severity::Blocking && option.infeasibleBecause.empty())
                option.infeasibleBecause = problem.text;
        if (!evaluation.layout.classes.empty())
            option.microBatches =
                std::ranges::max(evaluation.layout.classes, {}, &PipelineClass::microBatches).microBatches;
        option.gpusUsed = evaluation.layout.gpusUsed;
        if (const CellSize &cell = evaluation.layout.cell; cell.smallest > 0 && option.data() % cell.reached == 0) {
            option.cells = option.data() / cell.reached; // by simulation, where the plan leaves it open
            option.cell = cell.reached;
        }
        if (!metrics.iterationTime)
            return;
        option.seconds = *metrics.iterationTime;
        option.breakdown = metrics.breakdown;
        option.usdWritten = metrics.cost.usdPerMillionTokens.value_or(0);
        option.sequencesPerSecond = option.plan->workload.globalBatch / option.seconds;
        option.wanBytes = metrics.wanBytesPerIteration;
        double egress = 0;
        for (const WanLinkUse &use : metrics.wanLinks) {
            const std::array<double, 2> price = egressUsdPerGb(*option.plan, m_catalogue, use.link);
            egress += (use.bytes[0] * price[0] + use.bytes[1] * price[1]) / 1e9;
        }
        option.egressUsdPerIteration = egress;
        option.usdPerIteration =
            usdPerHour(m_asked, evaluation.layout, metrics.gpuUtilization.value_or(0)) * option.seconds / 3600 + egress;
        option.usdPerMillionTokens = option.usdPerIteration / tokensOf(*option.plan) * 1e6;
    }

    /// The present plan is one of the options where it is placed like one, else one more.
    void markCurrent()
    {
        if (!m_current)
            return;
        const auto same = std::ranges::find_if(m_result.options, [&](const SelectionOption &option) {
            return option.blocks == m_current->blocks && option.data() == m_current->data()
                && option.plan->workload.globalBatch == m_current->plan->workload.globalBatch;
        });
        m_current->leftOut = leftOut(m_asked, *m_current);
        if (same != m_result.options.end())
            *same = std::move(*m_current);
        else {
            m_result.options.push_back(std::move(*m_current));
            ++m_result.screened;
        }
    }

    Requested m_asked;
    const Catalogue &m_catalogue;
    EvaluationWorkspace &m_workspace;
    std::stop_token m_stop;
    SelectionOptions m_options;
    Selection m_result;
    std::optional<SelectionOption> m_current;
    int m_cell = 1;
};

std::string nothingToSelect(const Plan &plan)
{
    if (plan.cluster.datacenters.size() < 2)
        return "The cluster has one datacenter: there is nothing to select.";
    if (plan.workload.globalBatch <= 0)
        return "The plan trains no single model: there are no stages to place.";
    return {};
}

} // namespace

ExpectedAll<Selection> selectDatacenters(const PlanPtr &plan, const Catalogue &catalogue,
    EvaluationWorkspace &workspace, std::stop_token stop, SelectionOptions options)
{
    if (std::string why = nothingToSelect(*plan); !why.empty()) {
        Selection none;
        none.plan = plan;
        none.objective = options.objective;
        none.nothingToSelect = std::move(why);
        return none;
    }
    auto workload = resolve(plan, catalogue);
    if (!workload)
        return std::unexpected(std::move(workload.error()));
    if (auto unranked = whyUnranked(workload->model.doubts))
        return std::unexpected(Errors { *std::move(unranked) });
    return Selecting(std::move(*workload), catalogue, workspace, std::move(stop), options).run();
}

std::string blocksText(const std::vector<DatacenterBlock> &blocks, const Cluster &cluster)
{
    if (blocks.empty())
        return "whole pipelines in each datacenter";
    std::string text;
    for (const DatacenterBlock &block : blocks)
        text += (text.empty() ? "" : " → ") + cluster.datacenters[std::size_t(block.datacenter)].label() + " ×"
            + std::to_string(block.stages);
    return text;
}

} // namespace trainyard
