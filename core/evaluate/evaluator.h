#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one worker thread that evaluates plans for the window: a mailbox that holds only the newest request. A running job
// goes on while a drag is under way (cancelling at each mouse move starves the screen) and is stopped on `settle`.
// Results come through the callback, on the worker thread, with the generation of their request.

#include "core/evaluate/evaluate.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace trainyard {

struct EvaluationResult {
    std::uint64_t generation = 0;
    PlanPtr plan;
    ExpectedAll<EvaluationPtr> evaluation;
};

enum class Urgency : std::uint8_t { Hover, Settle };   // Hover: a drag step; Settle: what the user has decided

class Evaluator {
public:
    using Callback = std::function<void(EvaluationResult)>;
    Evaluator(const Catalogue &catalogue, Callback callback);
    ~Evaluator();
    Evaluator(const Evaluator &) = delete;
    Evaluator &operator=(const Evaluator &) = delete;

    /// Replaces the waiting request, if any. Returns its generation: larger is newer.
    std::uint64_t request(PlanPtr plan, Urgency urgency);

private:
    struct Request { std::uint64_t generation; PlanPtr plan; };
    void run(const std::stop_token &stop);

    const Catalogue &m_catalogue;
    Callback m_callback;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::optional<Request> m_waiting;
    std::stop_source m_running;
    std::uint64_t m_generation = 0;
    std::jthread m_thread;         // last: it uses everything above
};

} // namespace trainyard
