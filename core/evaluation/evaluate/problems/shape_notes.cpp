// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/shape_notes.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/cost/layer/layer_cost.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// The next length up that is on the grid.
std::string nextOnGrid(const GpuSpec &gpu, Precision precision, double elements)
{
    double length = std::floor(elements) + 1;
    while (!isOnGrid(gpu, precision, length))
        ++length;
    return std::to_string(std::llround(length));
}

} // namespace

void addShapeNotes(std::vector<Problem> &problems, const Workload &workload)
{
    const Plan &plan = *workload.plan;
    if (workload.layout.runs.empty())
        return;
    if (plan.parallelism.tokenSlices != Parallelism {}.tokenSlices && !traitsOf(plan.schedule).isSliced())
        problems.push_back({ Severity::Note,
            std::string("Schedule ") + toString(plan.schedule)
                + " sends sequences whole: token_slices changes nothing. terapipe cuts them",
            "parallelism.token_slices", {} });
    if (traitsOf(plan).decidesAtRunTime() && workload.degrees.pipeline > 1)
        problems.push_back({ Severity::Note,
            std::string("Under ") + traitsOf(plan).label
                + " devices choose while they run, so that better hardware can lead to another order and a longer "
                  "iteration, by some per cent (Graham's anomalies)",
            "schedule", {} });
    const ModelSpec &model = workload.model;
    const GpuSpec &gpu = workload.gpu({ workload.layout.runs.front().datacenter, workload.layout.runs.front().pool });
    const Precision products = plan.workload.precision, attention = std::min(products, Precision::Bf16);
    const auto note = [&](Precision precision, double elements, const std::string &what, const char *effect,
                          const char *where) {
        if (elements > 0 && !isOnGrid(gpu, precision, elements))
            problems.push_back({ Severity::Note,
                what + " of " + std::to_string(std::llround(elements)) + " do not divide into 16 bytes: " + effect
                    + " (derived, no run was fitted). " + nextOnGrid(gpu, precision, elements) + " would",
                where, {} });
    };
    const bool isLatent = model.attention == AttentionKind::Latent;
    const double head = isLatent ? model.latent.nopeDim + model.latent.ropeDim : model.headDim;
    if (!workload.stack.flashAttention) {
        note(attention, head, "Heads", "both products of attention leave the tensor cores", "workload.model");
        note(attention, plan.workload.sequenceLength, "Rows of scores, as long as the sequence,",
            "both products of attention leave the tensor cores", "workload.sequence_length");
    }
    note(products, model.hidden, "Hidden sizes", "matrices are loaded in smaller pieces", "workload.model");
    if (model.ffn > 0 && model.ffn % workload.degrees.tensor == 0)
        note(products, double(model.ffn) / workload.degrees.tensor, "Shards of the MLP",
            "matrices are loaded in smaller pieces", "parallelism.tensor");
}

} // namespace trainyard
