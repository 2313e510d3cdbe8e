#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plan space in which llm-cluster-simulator's optimiser (1db1341e) explores GPT-3 175B on 1,024 A100, and a larger
// one around it, for measuring both searches on the same plans: its rules are in its exploration.ts, restated here as
// the degrees, batches and schedules that they leave.

#include "tests/support/search_spaces.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trainyard::test {

struct CandidateList {
    SearchSpace space;
    std::vector<Candidate> candidates; // of the space
};

class OptimizerSpace {
public:
    /// `plan`: GPT-3 175B, whose batch its own are made from.
    explicit OptimizerSpace(Plan plan)
        : m_plan(std::move(plan))
    {
        m_plan.parallelism.data = std::nullopt; // whatever the GPUs hold, as there
    }

    [[nodiscard]] CandidateList list() const
    {
        std::vector<Shape> shapes;
        for (const int tensor : kTensor)
            for (const int pipeline : kPipeline)
                for (const int microBatch : kMicroBatch)
                    for (const int batch : batches())
                        addShapes(shapes, tensor, pipeline, microBatch, batch);
        std::set<int> distinct;
        for (const Shape &shape : shapes)
            distinct.insert(shape.batch);
        const std::vector<int> all(distinct.begin(), distinct.end());
        const SearchSpace space(std::make_shared<const Plan>(m_plan),
            { tensorAxis(m_plan, kTensor), pipelineAxis(m_plan, kPipeline), orderAxis(m_plan, kOrders),
                microBatchAxis(m_plan, kMicroBatch), recomputeAxis(m_plan, kRecompute), batchAxis(m_plan, all),
                sequenceAxis(m_plan), zeroAxis(m_plan, kZero) });
        CandidateList made { space, {} };
        for (const Shape &shape : shapes)
            for (const Recompute recompute : kRecompute)
                for (const int zero : kZero)
                    made.candidates.push_back(candidate(space, shape, recompute, zero));
        std::ranges::sort(made.candidates); // the last axes vary fastest, as in a search
        return made;
    }

    /// Also context parallelism, more schedules, no recomputation, and sequence parallelism as a choice.
    [[nodiscard]] SearchSpace larger() const
    {
        std::vector<std::pair<ScheduleKind, int>> orders = kOrders;
        orders.push_back({ ScheduleKind::GPipe, 1 });
        orders.push_back({ ScheduleKind::ZbH1, 1 });
        return SearchSpace(std::make_shared<const Plan>(m_plan),
            { tensorAxis(m_plan, kTensor), pipelineAxis(m_plan, kPipeline), contextAxis(m_plan, { 1, 2, 4 }),
                orderAxis(m_plan, orders), microBatchAxis(m_plan, kMicroBatch),
                recomputeAxis(m_plan, { Recompute::None, Recompute::Selective, Recompute::Full }), sequenceAxis(m_plan),
                batchAxis(m_plan, { 384, 768, 1536, 3072, 6144 }), zeroAxis(m_plan, kZero) });
    }

private:
    struct Shape {
        int tensor, pipeline, microBatch, batch;
        std::pair<ScheduleKind, int> order;
        bool operator==(const Shape &) const = default;
    };
    static constexpr int kGpus = 1024, kLayers = 96;
    const std::vector<int> kTensor { 1, 2, 4, 8 }, kPipeline { 1, 2, 4, 8, 16 }, kMicroBatch { 1, 2, 4, 8 },
        kZero { 0, 1, 3 };
    const std::vector<Recompute> kRecompute { Recompute::Selective, Recompute::Full };
    const std::vector<std::pair<ScheduleKind, int>> kOrders { { ScheduleKind::OneFOneB, 1 },
        { ScheduleKind::Interleaved, 2 }, { ScheduleKind::Interleaved, 3 }, { ScheduleKind::Interleaved, 4 },
        { ScheduleKind::Interleaved, 6 }, { ScheduleKind::Interleaved, 8 }, { ScheduleKind::DualPipeV, 1 } };

    /// A quarter to four times the plan's, up to its critical batch of 20 tokens a root of parameters.
    [[nodiscard]] std::vector<int> batches() const
    {
        const int own = m_plan.workload.globalBatch, most = std::max(own, int(20 * std::sqrt(175e9) / 2048));
        return { own / 4, own / 2, own, std::min(most, 2 * own), std::min(most, 4 * own) };
    }

    void addShapes(std::vector<Shape> &shapes, int tensor, int pipeline, int microBatch, int wanted) const
    {
        const int data = kGpus / (tensor * pipeline), unit = microBatch * data;
        const int batch = std::max(unit, wanted / unit * unit), microBatches = batch / unit;
        if (data > 512 || microBatches > 256 || (pipeline > 1 && microBatches > 64))
            return;
        for (const auto &order : kOrders) {
            const auto [schedule, chunks] = order;
            const bool isOpen = schedule == ScheduleKind::OneFOneB ? true
                : pipeline == 1                                    ? false
                : schedule == ScheduleKind::DualPipeV
                ? microBatches >= 2 * pipeline
                : kLayers % (pipeline * chunks) == 0 && kLayers / (pipeline * chunks) >= 2;
            const Shape shape { tensor, pipeline, microBatch, batch, order };
            if (isOpen && std::ranges::find(shapes, shape) == shapes.end())
                shapes.push_back(shape);
        }
    }

    [[nodiscard]] Candidate candidate(const SearchSpace &space, const Shape &shape, Recompute recompute, int zero) const
    {
        Plan plan = m_plan;
        plan.parallelism.tensor = shape.tensor;
        plan.parallelism.pipeline = shape.pipeline;
        plan.schedule = shape.order.first;
        plan.parallelism.virtualPipeline = shape.order.second;
        plan.workload.microBatch = shape.microBatch;
        plan.workload.globalBatch = shape.batch;
        plan.memory.recompute = recompute;
        plan.parallelism.zeroStage = zero;
        plan.parallelism.sequenceParallel = shape.tensor > 1;
        Candidate made;
        for (const Axis &axis : space.axes())
            made.push_back(valueOf(axis, plan));
        return made;
    }

    /// The value that leaves the plan as it is.
    [[nodiscard]] std::uint16_t valueOf(const Axis &axis, const Plan &plan) const
    {
        for (std::size_t value = 0; value < axis.values.size(); ++value) {
            Plan with = plan;
            axis.values[value].set(with);
            if (with == plan)
                return std::uint16_t(value);
        }
        return axis.base;
    }

    Plan m_plan;
};

} // namespace trainyard::test
