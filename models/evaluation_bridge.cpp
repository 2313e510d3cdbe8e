// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/evaluation_bridge.h"

#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/advice/run_pool.h"

namespace trainyard {

EvaluationBridge::EvaluationBridge(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_evaluator(catalogue, [this](EvaluationResult result) { arrived(std::move(result)); })
    , m_aside(RunPool::shared().threads(), WorkPool::Rank::Search,
          [this](const Aside &aside, const std::stop_token &stop) { workAside(aside, stop); })
{
}

EvaluationBridge::~EvaluationBridge() = default;

void EvaluationBridge::request(const PlanPtr &plan, Urgency urgency)
{
    const bool isSettled = urgency == Urgency::Settle;
    if (isSettled)
        m_settledPlan = plan;
    // A drop of what was just previewed, or a drag that was given up, is known already. What is under way is not
    // wanted.
    const EvaluationPtr known = m_shown && m_shown->plan == plan ? m_shown
        : isSettled && m_settled && m_settled->plan == plan      ? m_settled
                                                                 : nullptr;
    if (known) {
        m_firstWanted = m_asked + 1;
        finish(m_asked, known, known != m_shown || m_wasKnown);
        return;
    }
    m_asked = m_evaluator.request(plan, urgency);
    if (isSettled)
        m_firstWanted = m_asked;
    setStale(true);
}

void EvaluationBridge::arrived(EvaluationResult result)
{
    if (!result.evaluation && !result.evaluation.error().empty()
        && result.evaluation.error().front().code == ErrorCode::Cancelled)
        return;
    std::optional<EvaluationResult> newest(std::move(result)); // takes the older one out, to be freed on this thread
    bool isFirst = false;
    {
        const std::lock_guard lock(m_mutex);
        isFirst = !m_newest;
        std::swap(m_newest, newest);
    }
    if (isFirst)
        QMetaObject::invokeMethod(this, &EvaluationBridge::takeNewest, Qt::QueuedConnection);
}

void EvaluationBridge::takeNewest()
{
    std::optional<EvaluationResult> result;
    {
        const std::lock_guard lock(m_mutex);
        std::swap(result, m_newest);
    }
    if (!result)
        return;
    if (result->generation < m_firstWanted) {
        if (result->evaluation)
            m_disposal.dispose(*std::move(result->evaluation));
    } else if (result->evaluation) {
        finish(result->generation, *result->evaluation, result->wasKnown);
    } else {
        fail(*result);
    }
}

void EvaluationBridge::fail(const EvaluationResult &result)
{
    if (result.plan == m_settledPlan) {
        m_awaitsOpening = false; // there is nothing to compare with
        m_disposal.dispose(std::exchange(m_settled, nullptr));
    }
    setStale(result.generation < m_asked);
    emit evaluationFailed(result.plan, result.evaluation.error());
}

void EvaluationBridge::finish(std::uint64_t generation, const EvaluationPtr &evaluation, bool wasKnown)
{
    m_wasKnown = wasKnown;
    EvaluationPtr old = std::exchange(m_shown, evaluation);
    EvaluationPtr oldSettled;
    if (evaluation->plan == m_settledPlan)
        oldSettled = std::exchange(m_settled, evaluation);
    setStale(generation < m_asked);
    emit evaluationFinished(evaluation);
    if (m_settled && m_settled->plan == m_settledPlan)
        takeOpening();
    // The views have let go of the old one by now: its last owner is here.
    m_disposal.dispose(std::move(old));
    m_disposal.dispose(std::move(oldSettled));
}

void EvaluationBridge::setStale(bool isStale)
{
    if (std::exchange(m_isStale, isStale) != isStale)
        emit staleChanged(isStale);
}

void EvaluationBridge::pinBaseline()
{
    if (!m_settled)
        return;
    m_awaitsOpening = m_isOpening = false;
    evaluateAside(nullptr, false);
    m_baseline = m_settled;
    emit baselineChanged(m_baseline);
}

void EvaluationBridge::pinOpening(const PlanPtr &opening)
{
    const bool isAside = opening && m_settledPlan && opening != m_settledPlan && *opening != *m_settledPlan;
    m_awaitsOpening = !isAside;
    m_isOpening = false;
    evaluateAside(isAside ? opening : nullptr, true);
    if (m_baseline) {
        m_disposal.dispose(std::exchange(m_baseline, nullptr));
        emit baselineChanged(m_baseline);
    }
    if (m_settled && m_settled->plan == m_settledPlan)
        takeOpening();
}

void EvaluationBridge::pinPlan(const PlanPtr &plan)
{
    const bool wasOpening = std::exchange(m_isOpening, false);
    m_awaitsOpening = false;
    if (m_asidePlan == plan)
        return; // it is on its way, or cannot be evaluated
    if (m_baseline && m_baseline->plan == plan) {
        evaluateAside(nullptr, false);
        if (wasOpening)
            emit baselineChanged(m_baseline); // it is somebody's now
        return;
    }
    const EvaluationPtr known = m_settled && m_settled->plan == plan ? m_settled
        : m_shown && m_shown->plan == plan                           ? m_shown
                                                                     : nullptr;
    evaluateAside(known ? nullptr : plan, false);
    if (!known)
        return;
    m_baseline = known;
    emit baselineChanged(m_baseline);
}

void EvaluationBridge::evaluateAside(const PlanPtr &plan, bool isOpening)
{
    m_asidePlan = plan;
    m_aside.post(plan ? std::optional(Aside { plan, isOpening }) : std::nullopt, true);
}

void EvaluationBridge::workAside(const Aside &aside, const std::stop_token &stop)
{
    const auto answer = evaluate(aside.plan, m_catalogue, RunPool::shared().workspace(), stop);
    if (stop.stop_requested())
        return;
    QMetaObject::invokeMethod(
        this,
        [this, stop, isOpening = aside.isOpening, evaluation = answer ? *answer : nullptr] {
            if (stop.stop_requested() || (isOpening && m_baseline)) // somebody has pinned another
                return;
            if (evaluation) // else it is not asked for again
                m_asidePlan.reset();
            m_isOpening = isOpening;
            m_baseline = evaluation;
            emit baselineChanged(m_baseline);
        },
        Qt::QueuedConnection);
}

void EvaluationBridge::takeOpening()
{
    if (!std::exchange(m_awaitsOpening, false))
        return;
    m_isOpening = true;
    m_baseline = m_settled;
    emit baselineChanged(m_baseline);
}

void EvaluationBridge::clearBaseline()
{
    m_awaitsOpening = m_isOpening = false;
    evaluateAside(nullptr, false);
    m_baseline.reset();
    emit baselineChanged(m_baseline);
}

} // namespace trainyard
