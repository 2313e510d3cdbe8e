#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluates plans for the window, on the thread of the pool that takes what is awaited: a mailbox that holds only the
// newest request. A running job goes on while a drag is under way (cancelling at each mouse move starves the screen)
// and is stopped on `settle`; a solver of orders of jobs is asked for no step of a drag. Results come through the
// callback, on that thread, with the generation of their request.

#include "core/base/newest_worker.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/advice/run_pool.h"

#include <atomic>
#include <functional>

namespace trainyard {

struct EvaluationResult {
    std::uint64_t generation = 0;
    PlanPtr plan;
    ExpectedAll<EvaluationPtr> evaluation;
    /// the pool's cache had it: its times are those of then
    bool wasKnown = false;
};

/// Hover: a drag step; Settle: what the user has decided
enum class Urgency : std::uint8_t { Hover, Settle };

class Evaluator {
public:
    using Callback = std::function<void(EvaluationResult)>;
    Evaluator(const Catalogue &catalogue, Callback callback);

    /// Replaces the waiting request, if any. Returns its generation: larger is newer. A step of a drag gets its
    /// problems without fixes, whose search takes longer than a frame, and where a solver orders jobs the evaluation is
    /// of the plan with sharded-LRTF in its place, and a note says so.
    std::uint64_t request(PlanPtr plan, Urgency urgency);

private:
    struct Request {
        std::uint64_t generation;
        PlanPtr plan;
        Urgency urgency;
    };
    void work(Request request, const std::stop_token &stop);

    const Catalogue &m_catalogue;
    Callback m_callback;
    RunPool &m_pool = RunPool::shared();
    std::atomic<std::uint64_t> m_generation = 0;
    /// last: it uses everything above
    NewestWorker<Request> m_worker;
};

} // namespace trainyard
