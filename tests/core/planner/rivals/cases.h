#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sailor's published cases and small random mixed clusters, as plans.

#include "core/facts/plan/plan_io.h"
#include "core/planner/rivals/rivals.h"

#include <QFile>
#include <QTest>

#include <random>

namespace trainyard::test {

/// A file of tests/data/rivals.
inline PlanPtr rivalCase(const char *name)
{
    QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/data/rivals/%1.trainyard.json").arg(QLatin1String(name)));
    if (!file.open(QIODevice::ReadOnly))
        return nullptr;
    auto plan = parsePlan(file.readAll().toStdString(), name);
    return plan ? std::make_shared<const Plan>(std::move(*plan)) : nullptr;
}

/// One to three datacenters of one or two pools, GPUs of two kinds, some 4 to 100 GPUs.
inline PlanPtr randomMixed(unsigned seed)
{
    std::mt19937 random(seed);
    const auto pick = [&](int below) { return int(random() % unsigned(below)); };
    static const char *const kGpus[] = { "a100-sxm-40gb", "v100-sxm-16gb", "a100-sxm-80gb", "h100-sxm-80gb",
        "t4-16gb" };
    Plan plan;
    plan.name = "random " + std::to_string(seed);
    const int datacenters = 1 + pick(3), perNode = 2 << pick(2);
    const int first = pick(5), second = (first + 1 + pick(4)) % 5;
    for (int d = 0; d < datacenters; ++d) {
        Datacenter datacenter;
        datacenter.id = "dc" + std::to_string(d);
        datacenter.fabricGbpsPerGpu = 25;
        for (int p = 0; p < 1 + (datacenters == 1 ? 1 : pick(2)); ++p) {
            Pool pool;
            pool.id = datacenter.id + "-" + std::to_string(p);
            pool.gpu = kGpus[(d + p) % 2 == 0 ? first : second];
            pool.nodes = 1 + pick(4);
            pool.gpusPerNode = perNode;
            datacenter.pools.push_back(std::move(pool));
        }
        for (int other = 0; other < d; ++other) {
            WanLink link;
            link.between = { "dc" + std::to_string(other), datacenter.id };
            link.rttMs = 2 + 10 * pick(5);
            link.nodePairGbps = 5 + 5 * pick(5);
            link.capacityGbps = 200;
            plan.cluster.wanLinks.push_back(std::move(link));
        }
        plan.cluster.datacenters.push_back(std::move(datacenter));
    }
    static const char *const kModels[] = { "opt-125m", "opt-350m", "opt-1.3b", "gpt-3-1.3b" };
    plan.workload.model = kModels[pick(4)];
    plan.workload.sequenceLength = 1024;
    plan.workload.globalBatch = 64 << pick(3);
    plan.workload.precision = Precision::Fp16;
    plan.parallelism.pipeline = 1 + pick(2);
    plan.parallelism.zeroStage = pick(2);
    return std::make_shared<const Plan>(std::move(plan));
}

inline std::string shapeOf(const Plan &plan)
{
    std::string text = "tensor " + std::to_string(plan.parallelism.tensor) + ", pipeline "
        + std::to_string(plan.parallelism.pipeline) + ", data "
        + (plan.parallelism.data ? std::to_string(*plan.parallelism.data) : "auto") + ", micro-batch "
        + std::to_string(plan.workload.microBatch);
    return text;
}

} // namespace trainyard::test
