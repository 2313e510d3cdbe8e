#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What tools/fit_stacks fits: time habits of stacks with their priors and bounds, what relatives lend each other, and
// the rates that GPUs sustain. A new habit or architecture is a line here.

#include "core/facts/hardware/stack_spec.h"
#include "core/facts/hardware/sustained_rates.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fit_stacks {

using trainyard::StackSpec;
using trainyard::SustainedRates;

struct Parameter {
    const char *key;
    double StackSpec::*field;
    double prior, width; // width of the prior, in the parameter's own unit
    double lowest, highest;
};

// Priors that all stacks share, where each fit starts. Of a stack's efficiency little is left beside the GPU's
// sustained rate. A fused minimum of element-wise passes, and of passes that round operands, is 1 by
// definition.
inline const std::vector<Parameter> kParameters {
    { "host_us_per_kernel", &StackSpec::hostUsPerKernel, 45, 5, 1, 50 },
    { "kernel_efficiency", &StackSpec::kernelEfficiency, 0.98, 0.04, 0.6, 1.1 },
    { "narrow_efficiency", &StackSpec::narrowEfficiency, 0.95, 0.05, 0.5, 1.3 },
    { "elementwise_passes", &StackSpec::elementwisePasses, 1.3, 0.5, 1, 6 },
    { "eager_passes", &StackSpec::eagerPasses, 2.5, 1, 0.8, 10 },
    { "accumulation_bytes", &StackSpec::accumulationBytes, 8, 2, 2, 16 },
    { "cast_passes", &StackSpec::castPasses, 1.2, 0.5, 1, 6 },
    { "rowwise_cast_passes", &StackSpec::rowwiseCastPasses, 2, 1, 1, 10 },
    { "tensor_overlap", &StackSpec::tensorOverlap, 0.3, 0.3, 0, 0.95 },
    { "async_tensor_overlap", &StackSpec::asyncTensorOverlap, 0.6, 0.2, 0, 0.98 },
    { "pipeline_overlap", &StackSpec::pipelineOverlap, 0.5, 0.4, 0, 1 },
    { "gradient_overlap", &StackSpec::gradientOverlap, 0.7, 0.3, 0, 1 },
    { "parameter_overlap", &StackSpec::parameterOverlap, 0.8, 0.2, 0, 1 },
    { "overlap_slowdown", &StackSpec::overlapSlowdown, 0.1, 0.1, 0, 0.6 },
    { "micro_batch_overhead_us", &StackSpec::microBatchOverheadUs, 300, 400, 0, 20000 },
    { "iteration_overhead_ms", &StackSpec::iterationOverheadMs, 20, 5, 0, 300 },
    { "graphed_overhead_ms", &StackSpec::graphedOverheadMs, 8, 3, 0, 100 },
    { "pair_loss", &StackSpec::pairLoss, 0.3, 0.2, 0, 0.95 },
};

/// What a stack cannot do stays 0: it is not fitted. Relatives first.
inline const std::vector<std::pair<std::string, std::vector<std::string>>> kFitted {
    { "fsdp",
        { "host_us_per_kernel", "kernel_efficiency", "narrow_efficiency", "elementwise_passes", "eager_passes",
            "cast_passes", "rowwise_cast_passes", "async_tensor_overlap", "overlap_slowdown", "gradient_overlap",
            "parameter_overlap", "iteration_overhead_ms" } },
    { "megatron-core",
        { "host_us_per_kernel", "kernel_efficiency", "narrow_efficiency", "elementwise_passes", "cast_passes",
            "tensor_overlap", "pipeline_overlap", "gradient_overlap", "parameter_overlap", "overlap_slowdown",
            "iteration_overhead_ms", "graphed_overhead_ms", "pair_loss" } },
    { "megatron-lm-2021",
        { "host_us_per_kernel", "kernel_efficiency", "elementwise_passes", "accumulation_bytes",
            "micro_batch_overhead_us", "iteration_overhead_ms" } },
    { "megatron-lm-2022",
        { "host_us_per_kernel", "kernel_efficiency", "elementwise_passes", "accumulation_bytes",
            "micro_batch_overhead_us", "iteration_overhead_ms" } },
    { "megatron-deepspeed",
        { "host_us_per_kernel", "elementwise_passes", "accumulation_bytes", "micro_batch_overhead_us",
            "iteration_overhead_ms" } },
};

struct Inherited {
    const char *stack, *key, *relative;
};

/// Taken from a relative that has been fitted: Megatron-DeepSpeed runs the kernels of the Megatron-LM of 2021; what is
/// not compiled costs the same in every framework of PyTorch.
inline const std::vector<Inherited> kInherited {
    { "megatron-lm-2021", "eager_passes", "fsdp" },
    { "megatron-lm-2021", "narrow_efficiency", "megatron-core" },
    { "megatron-lm-2022", "eager_passes", "fsdp" },
    { "megatron-lm-2022", "narrow_efficiency", "megatron-core" },
    { "megatron-core", "eager_passes", "fsdp" },
    { "fsdp", "graphed_overhead_ms", "megatron-core" },
    { "fsdp", "pair_loss", "megatron-core" },
    { "megatron-core", "rowwise_cast_passes", "fsdp" },
    { "megatron-core", "async_tensor_overlap", "fsdp" },
    { "megatron-deepspeed", "kernel_efficiency", "megatron-lm-2021" },
    { "megatron-deepspeed", "narrow_efficiency", "megatron-core" },
    { "megatron-deepspeed", "eager_passes", "fsdp" },
    { "deepspeed", "kernel_efficiency", "megatron-lm-2021" },
    { "deepspeed", "narrow_efficiency", "megatron-core" },
    { "deepspeed", "host_us_per_kernel", "megatron-deepspeed" },
    { "deepspeed", "elementwise_passes", "megatron-deepspeed" },
    { "deepspeed", "accumulation_bytes", "megatron-deepspeed" },
    { "deepspeed", "micro_batch_overhead_us", "megatron-deepspeed" },
    { "deepspeed", "iteration_overhead_ms", "megatron-deepspeed" },
    { "deepspeed", "eager_passes", "fsdp" },
    { "deepspeed", "overlap_slowdown", "fsdp" },
};

/// A rate is the clock that an architecture sustains times what a kind of kernel deviates from it.
struct Rate {
    const char *key;
    double SustainedRates::*field;
    bool goesWithClock;
    double prior, width, lowest, highest;
};
inline const std::vector<Rate> kRates {
    { "half", &SustainedRates::half, true, 1, 0.04, 0.7, 1.3 },
    { "eight", &SustainedRates::eight, true, 1, 0.04, 0.7, 1.3 },
    { "four", &SustainedRates::four, true, 1, 0.04, 0.7, 1.3 },
    { "attention", &SustainedRates::attention, true, 1, 0.06, 0.6, 1.3 },
    { "grouped", &SustainedRates::grouped, false, 1, 0.05, 0.3, 1.3 },
    { "host", &SustainedRates::host, false, 1, 0.2, 0.4, 2.5 },
};
/// Kernels of expert products were measured on no Blackwell: the dense ones stand in, so that less is known of them.
inline constexpr double kUnmeasuredGrouped = 0.15;
struct Clock {
    const char *key = "clock";
    double prior = 0.9, width = 0.1, lowest = 0.5, highest = 1;
};

/// What runs say something about, beside its clock. Ampere's runs with fused attention are none; the host of a Hopper
/// is the unit.
inline const std::vector<std::pair<std::string, std::vector<std::string>>> kFittedRates {
    { "Ampere", {} },
    { "Hopper", { "half", "eight", "attention", "grouped" } },
    { "Blackwell", { "half", "eight", "four", "attention", "grouped", "host" } },
    { "Blackwell Ultra", { "eight", "attention", "grouped", "host" } },
};

/// Generations without runs of their own and without Hopper's power density: Ampere's.
inline const std::set<std::string> kOlder { "Pascal", "Volta", "Turing", "Ada Lovelace" };

template <class List> const auto &byKey(const List &list, const std::string &key)
{
    return *std::find_if(list.begin(), list.end(), [&](const auto &entry) { return entry.key == key; });
}

} // namespace fit_stacks
