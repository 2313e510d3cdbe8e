#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Samples made so small that every rank of them can be recorded in a test.

#include "tests/support/plans.h"
#include "tests/support/samples.h"

#include <functional>
#include <string>
#include <vector>

namespace trainyard::test {

struct SmallSample {
    const char *name;
    std::function<void(Plan &)> shrink;
};

inline const std::vector<SmallSample> &smallSamples()
{
    const auto nodes = [](Plan &plan, int count) {
        for (Datacenter &datacenter : plan.cluster.datacenters)
            for (Pool &pool : datacenter.pools)
                pool.nodes = count;
    };
    const auto degrees = [](Plan &plan, int tensor, int pipeline, int data, int batch) {
        plan.parallelism.tensor = tensor;
        plan.parallelism.pipeline = pipeline;
        plan.parallelism.data = data;
        plan.workload.globalBatch = batch;
    };
    static const std::vector<SmallSample> kSamples {
        { "gpt3-175b-1024-a100",
            [=](Plan &plan) {
                nodes(plan, 2);
                degrees(plan, 2, 4, 2, 16);
            } },
        { "llama-3-70b-three-regions",
            [=](Plan &plan) {
                nodes(plan, 1);
                degrees(plan, 4, 3, 2, 16);
            } },
        { "atlas-headline",
            [=](Plan &plan) {
                nodes(plan, 4);
                degrees(plan, 1, 4, 2, 8);
            } },
        { "atlas-three-datacenters", [](Plan &) {} },
        { "mixed-lab", [](Plan &plan) { plan.workload.globalBatch = 16; } },
        { "moe-2x70b-16-a800", [](Plan &) {} },
    };
    return kSamples;
}

inline EvaluationPtr evaluatedSample(const SmallSample &sample)
{
    Plan plan = samplePlan(sample.name);
    sample.shrink(plan);
    return evaluated(std::move(plan));
}

} // namespace trainyard::test
