// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/problems.h"

#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/evaluation/evaluate/problems/doubt_problems.h"
#include "core/evaluation/evaluate/problems/expert_notes.h"
#include "core/evaluation/evaluate/problems/fill_problems.h"
#include "core/evaluation/evaluate/problems/fix_of.h"
#include "core/evaluation/evaluate/problems/idle_gpus.h"
#include "core/evaluation/evaluate/problems/idle_release.h"
#include "core/evaluation/evaluate/problems/measured_stages.h"
#include "core/evaluation/evaluate/problems/memory_problems_internal.h"
#include "core/evaluation/evaluate/problems/memory_switch_notes.h"
#include "core/evaluation/evaluate/problems/offload_problems.h"
#include "core/evaluation/evaluate/problems/shape_notes.h"
#include "core/evaluation/evaluate/problems/state_problems_internal.h"
#include "core/evaluation/evaluate/problems/unequal_gpus.h"
#include "core/evaluation/evaluate/problems/wan_notes.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/placement/calibrated.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/shard_exchange.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard {

namespace {

/// A format that a chip has no units for is computed in a wider one.
void addStandIns(std::vector<Problem> &problems, const Workload &workload)
{
    const Precision asked = workload.plan->workload.precision;
    std::vector<const GpuSpec *> named;
    for (const GpuRun &run : workload.layout.runs) {
        const GpuSpec &gpu = workload.gpu({ run.datacenter, run.pool });
        const Precision used = gpu.computePrecision(asked);
        const auto &measured = workload.plan->layerProfiles; // which say what it did, whatever its units
        if (used == asked || std::ranges::find(named, &gpu) != named.end()
            || (measured && measured->gpus.contains(gpu.id)))
            continue;
        named.push_back(&gpu);
        problems.push_back({ Severity::Note,
            (gpu.name.empty() ? gpu.id : gpu.name) + " has no " + toString(asked) + " units: the numbers are for "
                + toString(used),
            "workload.precision", {} });
    }
}

/// Cells smaller than wanted: pipelines of one node cannot add node pairs to each other.
void addCells(std::vector<Problem> &problems, const Evaluation &evaluation)
{
    const CellSize &cell = evaluation.layout.cell;
    if (evaluation.plan->wan.sharing != WanSharing::Temporal)
        return;
    const auto note = [&](std::string text, const char *where) {
        problems.push_back({ Severity::Note, std::move(text), where, {} });
    };
    const int data = evaluation.layout.data;
    if (cell.smallest == 0) {
        note("No pipeline crosses the WAN, so there are no turns to take", "wan.sharing");
    } else if (cell.wanted == 1) {
        note(cell.asked ? std::string("Cells of one pipeline take no turns")
                        : "An activation crosses the WAN in " + std::to_string(std::lround(100 * cell.ratio))
                    + " % of a forward: cells have one pipeline and take no turns, and larger ones were no faster",
            cell.asked ? "wan.cell" : "wan.sharing");
        if (const int most = std::min({ 8, cell.nodes, data }); most > 1 && cell.asked)
            problems.back().fixes.push_back(fixOf(*evaluation.plan, "Cells of " + std::to_string(most) + " pipelines",
                [most](Plan &p) { p.wan.cell = most; }));
    } else if (cell.nodes < std::min(cell.wanted, data)) {
        note("Cells of " + std::to_string(cell.wanted)
                + " pipelines are wanted, but a cell takes pipelines on different nodes, and "
                + (cell.nodes > 1 ? "only " + std::to_string(cell.nodes) + " are"
                                  : "none are, so that temporal sharing gains nothing"),
            "wan.cell");
    } else if (cell.wanted > data) {
        note("Cells of " + std::to_string(cell.wanted) + " pipelines are wanted, and there are " + std::to_string(data),
            "wan.cell");
    } else if (cell.smallest < cell.reached) {
        note(std::to_string(data) + " pipelines do not divide into cells of " + std::to_string(cell.wanted)
                + ": some have " + std::to_string(cell.smallest) + ", and the slowest cell decides",
            "wan.cell");
    }
}

/// What the plan asks for and the numbers do not contain. Said, never silently ignored.
void addNotModelled(std::vector<Problem> &problems, const Plan &plan)
{
    const auto note = [&](bool asked, const char *where, const char *text) {
        if (asked)
            problems.push_back({ Severity::Warning, text, where, {} });
    };
    note(plan.placement.mode == PlacementMode::DataAcross && !plan.placement.stages.empty(), "placement.stages",
        "Pinned stages belong to a pipeline across datacenters: with data across they are left out");
}

/// Factors that the plan keeps and nothing reads.
void addIdleFactors(std::vector<Problem> &problems, const Workload &workload)
{
    const auto note = [&](const std::string &id, const char *why) {
        problems.push_back(
            { Severity::Note, "Calibration factor \"" + id + "\" changes nothing: " + why, "calibration", {} });
    };
    if (workload.calibrated)
        for (const std::string &id : workload.calibrated->idle)
            note(id, "the plan does not have what it is about");
    for (const auto &[id, text] : workload.plan->calibration)
        if (!tellsWhatItIsAbout(text))
            note(id, "it does not say what it is about");
}

/// Work of the longest stage over the mean, of the first class.
double imbalance(const Workload &workload)
{
    StageCoster coster(workload);
    double longest = 0, sum = 0;
    const int stages = workload.degrees.pipeline;
    for (int stage = 0; stage < stages; ++stage) {
        const ChunkCost chunk = coster.wholeStage(workload.layout.classes.front(), stage).chunks.front();
        const double time = (chunk.forward + chunk.inputGrad + chunk.weightGrad).total().value;
        longest = std::max(longest, time);
        sum += time;
    }
    return sum > 0 ? longest * stages / sum : 1;
}

/// With stages of equal length P of them wait (P - 1) / (v M + P - 1) of the time under 1F1B (Narayanan et al. 2021);
/// where the longest takes r times the mean, 1 - v M / (r v M + P - 1): our derivation, it paces the others. Where they
/// wait much longer, micro-batches are not what is missing, and what neither explains waits for the WAN.
void addBubble(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    const double bubble = evaluation.metrics.bubbleFraction.value_or(0);
    if (bubble <= 0.3 || evaluation.layout.classes.empty())
        return;
    constexpr double kMuchLonger = 1.5, kUneven = 1.1, kSeen = 1.1; // times as long
    const int microBatches = evaluation.layout.classes.front().microBatches, stages = workload.degrees.pipeline;
    const double work = double(workload.degrees.programChunks()) / workload.degrees.copies * microBatches;
    const double even = double(stages - 1) / (work + stages - 1), longest = imbalance(workload),
                 uneven = 1 - work / (longest * work + stages - 1);
    std::string why = std::to_string(microBatches) + " micro-batches for " + std::to_string(stages) + " stages";
    const bool crosses =
        evaluation.layout.mode == PlacementMode::PipelineAcross && evaluation.metrics.wanBytesPerIteration > 0;
    const auto percent = [](double share) { return std::to_string(std::llround(share * 100)) + " %"; };
    const std::string would = " it would be " + percent(even),
                      across = "; the rest is waiting for what crosses the WAN";
    const bool isUneven = bubble > kMuchLonger * even && longest > kUneven;
    if (isUneven && crosses && bubble > kSeen * uneven)
        why = "with stages of equal length" + would + ", with the slowest of these " + percent(uneven) + across;
    else if (isUneven)
        why = "with stages of equal length" + would + "; the others wait for the slowest stage";
    else if (crosses && bubble > kSeen * even)
        why = "inside one datacenter" + would + across;
    problems.push_back(
        { Severity::Warning, "GPUs wait " + percent(bubble) + " of the time: " + why, "parallelism.pipeline", {} });
}

/// Tensor groups that are apart: what shows of their collectives.
void addTensorGroupsApart(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    const Levels levels = tensorLevels(workload);
    const Metrics &metrics = evaluation.metrics;
    if (levels.together >= levels.ranks || workload.source.includesFabric || !metrics.breakdown)
        return;
    const auto share = std::llround(100 * metrics.breakdown->tensorParallel / *metrics.iterationTime);
    problems.push_back({ Severity::Warning,
        "Tensor groups of " + std::to_string(levels.ranks) + " GPUs span nodes of " + std::to_string(levels.together)
            + ": their collectives cross the fabric and show for " + std::to_string(share) + " % of the iteration",
        levels.ranks == workload.degrees.tensor ? "parallelism.tensor" : "heterogeneity.assign", {},
        FixSearchKind::TensorGroups });
}

/// ZeRO-2 and ZeRO-3 in a pipeline: what some frameworks refuse and others have not.
void addSharding(std::vector<Problem> &problems, const Evaluation &evaluation, const StackSpec &stack)
{
    const Plan &plan = *evaluation.plan;
    const Degrees p = degreesOf(plan);
    if (p.pipeline == 1 || p.zeroStage < 2)
        return;
    const std::string name = stack.name.empty() ? stack.id : stack.name, zero = "ZeRO-" + std::to_string(p.zeroStage);
    const Fix lower = fixOf(plan, "ZeRO-1", [](Plan &next) { next.parallelism.zeroStage = 1; });
    if (refusesSharding(plan, stack))
        problems.push_back(
            { Severity::Blocking, name + " refuses " + zero + " in a pipeline", "parallelism.zero_stage", { lower } });
    else if (stack.shardsOptimizerOnly)
        problems.push_back({ Severity::Note,
            name + " shards only optimizer states in a pipeline (ZeRO-1): " + zero + " is counted as FSDP does it, "
                + (shardExchange(plan, stack) == ShardExchange::InRuns ? "exchanging once a run of micro-batches"
                                                                       : "whole until the end of the iteration"),
            "parallelism.zero_stage", { lower } });
    if (shardExchange(plan, stack) == ShardExchange::Once && !refusesSharding(plan, stack))
        problems.push_back({ Severity::Note,
            std::string(p.zeroStage >= 3 ? "Gathered weights and gradients stay" : "Gradients stay")
                + " whole in this pipeline until the end of the iteration, also under " + zero
                + ". Three chunks per stage or more, " + toString(scheduleForChunks(kPlainSchedule, 3))
                + ", exchange them as they go",
            "parallelism.virtual_pipeline", {} });
}

/// What could not be dealt as the plan asks stays even.
void addUndealt(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    if (!evaluation.layout.shares.why.empty() && isDealt(workload))
        problems.push_back({ Severity::Warning, evaluation.layout.shares.why, "heterogeneity", {} });
}

/// Measured layers that no pool has, and degrees that they know nothing of.
void addMeasuredLayers(std::vector<Problem> &problems, const Workload &workload)
{
    const auto &profiles = workload.plan->layerProfiles;
    if (!profiles)
        return;
    std::string unused;
    bool isUsed = false, hasMemory = false;
    for (const auto &[id, times] : profiles->gpus) {
        const auto hasIt = [&id = id](const auto &pools) {
            return std::ranges::any_of(pools, [&](const GpuSpec *gpu) { return gpu && gpu->id == id; });
        };
        const bool here = std::ranges::any_of(workload.gpus, hasIt);
        isUsed = isUsed || here;
        hasMemory = hasMemory || (here && !times.computeGib.empty());
        if (!here)
            unused += (unused.empty() ? "" : ", ") + id;
    }
    if (!unused.empty())
        problems.push_back(
            { Severity::Note, "No pool has the GPUs of these measured layers: " + unused, "layer_profiles", {} });
    const Heterogeneity &h = workload.plan->heterogeneity;
    if (hasMemory && workload.plan->memory.recompute == Recompute::Full && !(h.isLayered() && h.boundaryOffload))
        problems.push_back({ Severity::Note,
            "Measured memory is taken as it is: inputs of layers, which stay on the GPU here, are counted as far as it "
            "has them",
            "layer_profiles", {} });
    if (isUsed && workload.degrees.gpusOfStage() > 1)
        problems.push_back({ Severity::Warning,
            "Measured layers are taken as they are: tensor and context parallelism neither shorten them nor add "
            "communication",
            "layer_profiles", {} });
}

/// Where a schedule's paper leaves the order open.
void addOwnConstruction(std::vector<Problem> &problems, const Evaluation &evaluation)
{
    const std::string beyond = traitsOf(*evaluation.plan).beyondOneRound;
    if (beyond.empty() || evaluation.layout.classes.empty()
        || evaluation.layout.classes.front().microBatches <= degreesOf(*evaluation.plan).pipeline)
        return;
    problems.push_back({ Severity::Note, "Beyond as many micro-batches as stages " + beyond, "schedule", {} });
}

void addShapeProblems(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    const Plan &plan = *evaluation.plan;
    if (!everyReplicaHasWork(workload)) {
        const int total = totalMicroBatches(plan);
        problems.push_back({ Severity::Blocking,
            std::to_string(evaluation.layout.data) + " data-parallel replicas share only " + std::to_string(total)
                + " micro-batches",
            "parallelism.data",
            { fixOf(plan, std::to_string(total) + " replicas", [total](Plan &p) { p.parallelism.data = total; }) } });
    }
    if (const std::string &why = evaluation.layout.shares.why; !isDealt(workload)) {
        std::string text = why;
        text.front() = char(std::toupper(static_cast<unsigned char>(text.front())));
        problems.push_back({ Severity::Blocking, std::move(text),
            plan.heterogeneity.assign.empty() ? "heterogeneity" : "heterogeneity.assign", {},
            plan.heterogeneity.assign.empty() ? FixSearchKind::None : FixSearchKind::Pins });
    }
    if (!expertsDivideRanks(workload)) {
        const Degrees &p = workload.degrees;
        const int ranks = p.tensor * p.context * evaluation.layout.data;
        const int fitting =
            std::gcd(std::gcd(ranks / std::gcd(ranks, p.expertTensor), p.expert), evaluation.model.experts);
        problems.push_back({ Severity::Blocking,
            "Expert parallelism of " + std::to_string(p.expert * p.expertTensor) + " does not divide the "
                + std::to_string(ranks) + " ranks of a stage",
            "parallelism.expert", { fixOf(plan, "Expert parallel " + std::to_string(fitting), [fitting](Plan &fixed) {
                fixed.parallelism.expert = fitting;
            }) } });
    }
}

} // namespace

Problem tooManyStagesProblem(const Plan &plan, const ModelSpec &model)
{
    const int chunks = degreesOf(plan).chunks, stages = degreesOf(plan).pipeline;
    std::string asked = counted(stages, "stage");
    if (chunks > 1)
        asked += " of " + std::to_string(chunks) + " chunks";
    return { Severity::Blocking,
        asked + " for " + std::to_string(model.layers) + " layers: each needs a layer at least", "parallelism.pipeline",
        {}, FixSearchKind::Stages };
}

std::vector<Problem> findProblems(const Evaluation &evaluation, const Workload &workload, const Catalogue &catalogue)
{
    std::vector<Problem> problems;
    std::ranges::move(doubtProblems(workload.model.doubts), std::back_inserter(problems));
    if (auto sources = sourcesProblem(workload.model.doubts, *workload.plan))
        problems.push_back(std::move(*sources));
    addMemoryProblems(problems, evaluation, workload);
    addShapeProblems(problems, evaluation, workload);
    addExpertNotes(problems, evaluation, workload);
    addBubble(problems, evaluation, workload);
    addTensorGroupsApart(problems, evaluation, workload);
    addUnequalGpus(problems, evaluation, workload);
    addOwnConstruction(problems, evaluation);
    addUndealt(problems, evaluation, workload);
    addMeasuredLayers(problems, workload);
    addMeasuredStages(problems, evaluation, workload);
    if (workload.source.hasLayers) {
        addSharding(problems, evaluation, workload.stack);
        addShapeNotes(problems, workload);
        addMemorySwitchNotes(problems, evaluation, workload);
        addStandIns(problems, workload);
    }
    addCells(problems, evaluation);
    addOffloadProblems(problems, evaluation, workload);
    addStateProblems(problems, workload);
    addNotModelled(problems, *evaluation.plan);
    addIdleFactors(problems, workload);
    addIdleRelease(problems, *workload.plan, workload.model.isMoe(), catalogue);
    addWanNotes(problems, evaluation, workload);
    std::ranges::move(bubbleFillProblems(evaluation, workload, catalogue), std::back_inserter(problems));
    addIdleProblems(problems, evaluation);
    std::stable_sort(
        problems.begin(), problems.end(), [](const Problem &a, const Problem &b) { return a.severity > b.severity; });
    return problems;
}

Problem unplacedProblem(const Plan &plan, const Layout &layout)
{
    std::string text = layout.unplaced;
    if (!text.empty())
        text.front() = char(std::toupper(static_cast<unsigned char>(text.front())));
    return { Severity::Blocking, std::move(text), plan.placement.stages.empty() ? "parallelism" : "placement.stages",
        {}, FixSearchKind::Placement };
}

Problem scheduleProblem(const Error &error)
{
    const std::string subject = error.where.substr(error.where.rfind('.') + 1); // what the fault's sentence is about
    return { Severity::Blocking,
        "The schedule cannot be built: " + subject + (subject.empty() ? "" : " ") + error.what
            + (error.right.empty() ? "" : "; " + error.right + " would do"),
        error.where.empty() ? "schedule" : error.where, {}, FixSearchKind::Schedule };
}

} // namespace trainyard
