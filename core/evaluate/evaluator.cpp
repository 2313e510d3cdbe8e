// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/evaluator.h"

#include <utility>

namespace trainyard {

Evaluator::Evaluator(const Catalogue &catalogue, Callback callback)
    : m_catalogue(catalogue), m_callback(std::move(callback)), m_thread([this](const std::stop_token &stop) { run(stop); })
{
}

Evaluator::~Evaluator()
{
    m_thread.request_stop();
    const std::lock_guard lock(m_mutex);
    m_running.request_stop();
}

std::uint64_t Evaluator::request(PlanPtr plan, Urgency urgency)
{
    std::uint64_t generation = 0;
    {
        const std::lock_guard lock(m_mutex);
        generation = ++m_generation;
        m_waiting = Request{generation, std::move(plan)};
        if (urgency == Urgency::Settle)
            m_running.request_stop();
    }
    m_wake.notify_one();
    return generation;
}

void Evaluator::run(const std::stop_token &stop)
{
    EvaluationWorkspace workspace;
    while (true) {
        Request request{};
        std::stop_token running;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [this] { return m_waiting.has_value(); }) || stop.stop_requested())
                return;
            request = std::move(*m_waiting);
            m_waiting.reset();
            m_running = std::stop_source{};
            running = m_running.get_token();
        }
        ExpectedAll<EvaluationPtr> evaluation = std::unexpected(Errors{});
        try {
            evaluation = evaluate(request.plan, m_catalogue, workspace, running);
        } catch (const std::exception &failure) {   // out of memory, or a fault of ours: the window must live on
            workspace = EvaluationWorkspace();
            evaluation = std::unexpected(Errors{{ErrorCode::Internal, {}, failure.what(), {}}});
        }
        m_callback({request.generation, std::move(request.plan), std::move(evaluation)});
    }
}

} // namespace trainyard
