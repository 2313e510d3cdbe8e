// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/idle_reasons_internal.h"

#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/key_list.h"
#include "core/facts/plan/keys/plan_keys.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>

namespace trainyard::detail {

namespace {

/// What holds instead of the condition of a key.
std::string insteadOf(bool (*condition)(const Plan &), const Plan &plan)
{
    if (condition == keys::hasSeveralSites)
        return "the cluster has one datacenter";
    if (condition == keys::takesTurns)
        return "pipelines share a link side by side, not in turns (wan.sharing is spatial)";
    if (condition == keys::trainsApart || (condition == keys::streams && plan.wan.localSgd == LocalSgd::None))
        return "all replicas train together (wan.local_sgd is none)";
    if (condition == keys::streams)
        return "only streaming local SGD exchanges the model in fragments";
    if (condition == keys::projectsGradients)
        return "only GaLore projects gradients, and the optimizer is " + std::string(labelOf(plan.workload.optimizer));
    if (condition == keys::isLayered)
        return "work goes micro-batch by micro-batch, not layer by layer (heterogeneity.accumulation is standard)";
    if (condition == keys::isSharedOut)
        return "work and states are shared out evenly";
    if (condition == keys::hasPipeline)
        return "the pipeline has one stage";
    if (condition == keys::fills
        || ((condition == keys::drawsArrivals || condition == keys::bursts) && !keys::fills(plan)))
        return "no prefill is served in the bubbles (bubble_fill.enabled is false)";
    if (condition == keys::drawsArrivals)
        return "a trace says when requests arrive and how long their prompts are";
    if (condition == keys::bursts)
        return "requests do not arrive in bursts (bubble_fill.arrivals is "
            + std::string(toString(plan.bubbleFill.arrivals)) + ")";
    if (condition == hasJobs)
        return "the plan trains no jobs";
    return {};
}

/// Sections about one model's iteration, which a plan with jobs does not have.
bool isOfAnIteration(const IdleCase &idle)
{
    static constexpr const char *kSections[] = { "workload", "parallelism", "schedule", "placement", "memory", "wan",
        "moe", "heterogeneity", "profile", "layer_profiles", "calibration" };
    return std::ranges::any_of(kSections, [&](const char *section) { return idle.isIn(section); });
}

/// "auto" beside the number that it comes to: the key left the layout's degree as it is.
std::string replicasAlike(const IdleCase &idle)
{
    const int data = idle.after.layout.data;
    return (idle.to().parallelism.data && idle.from().parallelism.data ? "" : "auto comes to ")
        + counted(data, "replica") + " as well";
}

/// Every GPU at work multiplies both formats alike, and elements have as many bytes.
bool areAlikeFormats(const Workload &workload, Precision a, Precision b)
{
    return weightBytes(a) == weightBytes(b) && std::ranges::all_of(workload.layout.runs, [&](const GpuRun &run) {
        const GpuSpec &gpu = workload.gpu(run.location());
        return gpu.peakFlops(a) == gpu.peakFlops(b);
    });
}

std::string whyPrecisionIdles(const IdleCase &idle)
{
    const Precision a = idle.from().workload.precision, b = idle.to().workload.precision;
    if (!idle.workload || !areAlikeFormats(*idle.workload, a, b))
        return {};
    for (const Precision narrow : { a, b })
        if (narrow > Precision::Bf16)
            return std::string("the GPUs at work have no ") + toString(narrow) + " units, and compute it as "
                + toString(narrow == a ? b : a);
    return std::string(toString(a)) + " and " + toString(b) + formatted(" have elements of %.0f bytes", weightBytes(b))
        + ", and the GPUs at work multiply them at the same rate";
}

std::string whyScheduleIdles(const IdleCase &idle)
{
    const Degrees degrees = degreesOf(idle.to());
    if (idle.to().heterogeneity.isLayered())
        return "work goes layer by layer (heterogeneity.accumulation), not by a schedule of micro-batches";
    if (degrees.pipeline == 1)
        return "there is one pipeline stage, so that there is nothing to schedule";
    const auto &classes = idle.after.layout.classes;
    if (classes.empty())
        return {};
    const int microBatches = classes.front().microBatches;
    if (microBatches == 1)
        return "a pipeline has one micro-batch, which any order takes through the stages alike";
    return std::string(toString(idle.from().schedule)) + " and " + toString(idle.to().schedule)
        + " come to the same with " + std::to_string(microBatches) + " micro-batches on "
        + counted(degrees.pipeline, "stage");
}

std::string whyPlacementIdles(const IdleCase &idle)
{
    const Placement &from = idle.from().placement, &to = idle.to().placement;
    if (idle.isAbout("placement.mode") && !to.stages.empty())
        return "placement.stages pins where the stages lie";
    if (idle.isAbout("placement.layers"))
        return "the stages have as many layers each without it";
    if (idle.isAbout("placement.stages"))
        return "the stages lie there anyway";
    if (from.mode == PlacementMode::Auto || to.mode == PlacementMode::Auto)
        return std::string("auto finds nothing better than ") + labelOf(idle.after.layout.mode);
    return "both place the stages alike";
}

std::string whyReleaseIdles(const IdleCase &idle)
{
    if (idle.from().stack.name != idle.to().stack.name || idle.from().stack.overrides != idle.to().stack.overrides)
        return {};
    const StackSpec *stack = idle.catalogue.stack(idle.to().stack.name);
    const bool isMoe = idle.after.model.isMoe();
    const auto time = [&](const std::string &id) {
        const StackRelease *release = stack ? stack->release(id) : nullptr;
        return release ? release->time(isMoe) : 1.0;
    };
    return time(idle.from().stack.release) == time(idle.to().stack.release)
        ? "the two take equally long by the runs that they were fitted to"
        : std::string();
}

std::string whyDegreesIdle(const IdleCase &idle)
{
    const Degrees from = degreesOf(idle.from()), to = degreesOf(idle.to());
    const int ranks = idle.after.layout.data * to.context;
    if (idle.isAbout("parallelism.data"))
        return replicasAlike(idle);
    if (idle.isAbout("parallelism.sequence_parallel"))
        return to.tensor == 1 ? "it splits along the tensor-parallel group, and tensor parallelism is 1"
            : from == to
            ? std::string("with tensor parallelism it is ") + (to.isSequenceParallel ? "on" : "off") + " anyway"
            : std::string();
    if (idle.isAbout("parallelism.zero_stage") && ranks == 1)
        return "there is one replica, so that no states are repeated that could be divided";
    if (idle.isAbout("parallelism.virtual_pipeline") && to.pipeline == 1)
        return "the pipeline has one stage, so that there is nothing to interleave";
    if (idle.isAbout("parallelism.virtual_pipeline") && from.chunks == to.chunks)
        return std::string("schedule ") + toString(idle.to().schedule) + " has " + counted(to.chunks, "chunk")
            + " of layers per stage either way";
    if (idle.isAbout("parallelism.token_slices") && !traitsOf(idle.to().schedule).isSliced())
        return std::string("schedule ") + toString(idle.to().schedule) + " sends sequences whole; terapipe cuts them";
    return {};
}

} // namespace

std::string whyItDoesNotApply(const IdleCase &idle)
{
    const bool isOfJobsToo = idle.isAbout("workload.galore_rank") || idle.isAbout("heterogeneity.memory_fraction");
    if (hasJobs(idle.to()) && isOfJobsToo)
        return {};
    if (hasJobs(idle.to()) && isOfAnIteration(idle))
        return "it is about one model's iteration, and the plan trains jobs";
    const auto row = std::ranges::find(planKeys(), idle.key.row, &KeyRow::path);
    if (row == planKeys().end())
        return {};
    for (const auto condition : row->conditions)
        if (!condition(idle.to()) && !condition(idle.from()))
            return insteadOf(condition, idle.to());
    return {};
}

std::string whyMeasured(const IdleCase &idle)
{
    if (hasJobs(idle.to()) || stageFacts(idle.to()).hasLayers || stageFacts(idle.from()).hasLayers)
        return {};
    if (idle.isAbout("memory.recompute"))
        return idle.workload && !idle.workload->source.measured.empty()
                && std::ranges::all_of(idle.workload->source.measured,
                    [](const MeasuredStage &stage) { return stage.recompute.value == 0; })
            ? "the measured stage times state no recomputation (profile.recompute_ms)"
            : "profile.recompute_ms counts whatever is recomputed";
    if (idle.isIn("memory.") || idle.isAbout("workload.optimizer") || idle.isAbout("parallelism.zero_stage")
        || idle.isAbout("workload.galore_rank"))
        return "stage times were measured and count no memory";
    if (idle.isIn("moe") || idle.isIn("parallelism.expert"))
        return "measured stage times contain whatever experts there are";
    if (idle.isIn("stack"))
        return "measured stage times contain what the framework adds";
    if (idle.isIn("heterogeneity"))
        return "measured stage times are those of the stages as they are, whatever GPUs could share";
    if (idle.isAbout("workload.precision") || idle.isAbout("workload.document_length")
        || idle.isAbout("parallelism.tensor") || idle.isAbout("parallelism.sequence_parallel"))
        return "stage times were measured and stay as they are";
    return {};
}

std::string whyShapeIdles(const IdleCase &idle)
{
    if (idle.isAbout("workload.precision"))
        return whyPrecisionIdles(idle);
    if (idle.isAbout("workload.document_length")
        && idle.from().workload.attendedLength() == idle.to().workload.attendedLength())
        return "a mask keeps attention inside documents, and none is shorter than a sequence of "
            + counted(idle.to().workload.sequenceLength, "token");
    if (idle.isAbout("workload.galore_rank") && idle.workload
        && std::min(idle.from().workload.galoreRank, idle.to().workload.galoreRank) >= idle.workload->model.hidden)
        return "a rank of the hidden size or more projects nothing";
    if (idle.isAbout("workload.micro_batch") && !idle.after.layout.classes.empty()
        && std::ranges::all_of(idle.after.layout.classes, [](const PipelineClass &c) { return c.microBatch > 0; }))
        return "every GPU is dealt a micro-batch of its own (heterogeneity)";
    if (idle.isAbout("schedule"))
        return whyScheduleIdles(idle);
    if (idle.isIn("placement."))
        return whyPlacementIdles(idle);
    if (idle.isIn("stack"))
        return whyReleaseIdles(idle);
    return whyDegreesIdle(idle);
}

} // namespace trainyard::detail
