#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The second tier, in bulk: the iteration time of many candidates by the engine, to the nanosecond what run() says, and
// their memory and verdict. Uniform plans (uniform_plan.h) whose iterations have one topology go through the
// fixed-order pass eight at a time (core/engine/timeline/simd_batch.h); what that pass cannot do (shared links, orders
// made at run time, activations that leave, several placements) goes through run(). What one candidate has in common
// with others is worked out once; an outcome depends neither on the order nor on the number of candidates. One a
// thread.

#include "core/evaluation/evaluate/run.h"
#include "core/planner/space/space.h"

#include <memory>
#include <span>

namespace trainyard {

struct Outcome {
    /// false: run() refuses the plan, cannot place it or build its schedule
    bool isRun = false;
    /// as Evaluation::feasible()
    bool isFeasible = false;
    /// iteration
    double seconds = 0;
    /// of the fullest GPU; 0 where memory is not known
    double fill = 0;
    int gpusUsed = 0;
    /// replicas
    int data = 0;
};

class BatchRunner {
public:
    BatchRunner(const SearchSpace &space, const Catalogue &catalogue);
    ~BatchRunner();
    BatchRunner(const BatchRunner &) = delete;
    BatchRunner &operator=(const BatchRunner &) = delete;

    /// One outcome a candidate, in their order; stopped, those that were not reached are not run.
    void run(std::span<const Candidate> candidates, std::span<Outcome> outcomes, const std::stop_token &stop = {});
    /// Of those so far: how many the lanes took.
    [[nodiscard]] std::int64_t inLanes() const;
    /// What it has learnt and keeps: topologies, placements, orders of memory.
    struct Kept {
        std::size_t topologies = 0, frames = 0;
    };
    [[nodiscard]] Kept kept() const;

private:
    struct Private;
    std::unique_ptr<Private> m_private;
};

} // namespace trainyard
