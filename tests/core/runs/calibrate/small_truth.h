#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Two nodes of two GPUs whose truth is known, and what calibration says of them.

#include "core/runs/calibrate/calibrate.h"
#include "tests/core/runs/calibrate/kernel_run.h"
#include "tests/core/runs/overlay/small_runs.h"
#include "tests/support/plans.h"

#include <QString>

#include <algorithm>

namespace trainyard::test {

inline constexpr const char *kGpu = "h100-sxm-80gb";

/// Two nodes of two GPUs: tensor parallel inside a node, data parallel between them.
inline Plan smallPlan(int batch = 8, int tensor = 2, int data = 2, int sequence = 2048)
{
    Plan plan;
    plan.cluster.datacenters = { site("a", tensor * data / 2, kGpu, 2) };
    ModelSpec model = *builtinCatalogue().model("gpt-3-6.7b");
    model.layers = 3;
    plan.workload.model.clear();
    plan.workload.inlineModel = model;
    plan.workload.sequenceLength = sequence;
    plan.workload.globalBatch = batch * data;
    plan.parallelism.tensor = tensor;
    plan.parallelism.data = data;
    plan.stack.overrides = { { "host_us_per_kernel", 0 }, { "tensor_overlap", 0.5 }, { "overlap_slowdown", 0 },
        { "gradient_overlap", 0 }, { "parameter_overlap", 0 }, { "gradient_bucket", 2e7 },
        { "micro_batch_overhead_us", 300 }, { "iteration_overhead_ms", 0.5 } };
    return plan;
}

struct Truth {
    std::string id;
    CalibratedPart what;
    double value; // factor, or GB/s
    double latencyUs = 0;
};

inline const std::vector<Truth> &truths()
{
    static const std::vector<Truth> kTruths { { "products-h100-sxm-80gb", CalibratedPart::Products, 1.17 },
        { "attention-h100-sxm-80gb", CalibratedPart::Attention, 0.9 },
        { "memory-h100-sxm-80gb", CalibratedPart::Memory, 1.3 }, { "host", CalibratedPart::Host, 1.4 },
        { "overlap", CalibratedPart::Overlap, 0.7 }, { "nvlink-h100-sxm-80gb", CalibratedPart::Nvlink, 210, 13 },
        { "fabric-a", CalibratedPart::Fabric, 33, 30 } };
    return kTruths;
}

inline Plan withTruth(Plan plan)
{
    for (const Truth &truth : truths()) {
        CalibrationFactor factor { .what = truth.what };
        if (truth.latencyUs > 0) {
            factor.latencyUs = truth.latencyUs;
            factor.gbytesPerS = truth.value;
        } else {
            factor.factor = truth.value;
        }
        plan.calibration[truth.id] = formatCalibrationFactor(factor);
    }
    return plan;
}

inline KernelRun recorded(const Plan &plan, const KernelRunOptions &options)
{
    return recordKernels(*evaluated(withTruth(plan)), options);
}

inline KernelRunOptions plain()
{
    return { .steps = 11, .noise = 0, .outlierShare = 0, .clockOffset = 0, .clockDrift = 0 };
}

inline const FittedFactor *factorOf(const CalibrationProposal &proposal, const std::string &id)
{
    const auto found = std::ranges::find(proposal.factors, id, &FittedFactor::id);
    return found == proposal.factors.end() ? nullptr : &*found;
}

inline double valueOf(const CalibrationFactor &factor)
{
    return factor.factor ? *factor.factor : factor.gbytesPerS.value_or(0);
}

inline QString told(const CalibrationProposal &proposal)
{
    QString all;
    for (const FittedFactor &fitted : proposal.factors)
        all += QString::fromStdString(fitted.id + ": " + fitted.sentence + " " + fitted.refused + "\n");
    for (const std::string &note : proposal.notes)
        all += QString::fromStdString(note + "\n");
    return all;
}

inline CalibrationProposal proposalOf(
    const Plan &plan, const Recording &recording, const CalibrateOptions &options = {})
{
    const auto proposal = calibrate(*evaluated(plan), *makeRun(recording), builtinCatalogue(), options);
    if (!proposal)
        qFatal("%s", toString(proposal.error()).c_str());
    return *proposal;
}

inline std::vector<std::string> idsOf(const CalibrationProposal &proposal)
{
    std::vector<std::string> ids;
    for (const FittedFactor &fitted : proposal.factors)
        ids.push_back(fitted.id);
    return ids;
}

} // namespace trainyard::test
