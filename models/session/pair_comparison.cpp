// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/pair_comparison.h"

#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/advice/run_pool.h"
#include "models/session/variant_words.h"

#include <limits>
#include <utility>

namespace trainyard {

namespace {

constexpr std::size_t kMostRows = 200; // of a table of differences

} // namespace

PairComparison::PairComparison(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker(RunPool::shared().threads(), WorkPool::Rank::Search,
          [this](const Request &request, const std::stop_token &stop) { work(request, stop); })
{
}

void PairComparison::setPlans(const PlanPtr &before, const PlanPtr &after)
{
    if (before == m_before && after == m_after)
        return;
    m_before = before;
    m_after = after;
    m_window = {};
    ask();
}

void PairComparison::setWindow(const TimeWindow &window)
{
    if (window == m_window)
        return;
    m_window = window;
    ask();
}

void PairComparison::setWatched(bool watched)
{
    m_isWatched = watched;
    if (watched && std::exchange(m_isOwed, false))
        ask();
}

void PairComparison::ask()
{
    m_isOwed = !m_isWatched;
    if (m_isOwed)
        return;
    const bool isAsked = m_before && m_after;
    m_worker.post(isAsked ? std::optional(Request { m_before, m_after, m_window, m_pair }) : std::nullopt, true);
    if (std::exchange(m_isUnderWay, isAsked) != isAsked)
        emit underWayChanged();
}

/// What is known of the same plans is not evaluated again.
void PairComparison::work(const Request &request, const std::stop_token &stop)
{
    auto pair = std::make_shared<ComparedPair>();
    pair->window = request.window;
    const auto evaluated = [&](const PlanPtr &plan) -> EvaluationPtr {
        for (const EvaluationPtr &known :
            request.known ? std::vector { request.known->before, request.known->after } : std::vector<EvaluationPtr> {})
            if (known && known->plan == plan)
                return known;
        auto answer = evaluate(plan, m_catalogue, RunPool::shared().workspace(), stop);
        if (answer)
            return *answer;
        pair->errors.insert(pair->errors.end(), answer.error().begin(), answer.error().end());
        return nullptr;
    };
    pair->before = evaluated(request.before);
    pair->after = evaluated(request.after);
    if (stop.stop_requested())
        return;
    pair->words = differencesInWords(*request.before, *request.after, std::numeric_limits<int>::max());
    if (pair->before && pair->after) {
        pair->difference = timelineDifference(*pair->before, *pair->after, request.window);
        pair->largest = largestSpans(pair->difference, kMostRows);
        pair->gpuTimes = largestGpuTimes(pair->difference, kMostRows);
    }
    if (stop.stop_requested())
        return;
    QMetaObject::invokeMethod(
        this, [this, request, pair] { take(request, pair); }, Qt::QueuedConnection);
}

void PairComparison::take(const Request &request, const ComparedPairPtr &pair)
{
    if (request.before != m_before || request.after != m_after || request.window != m_window)
        return; // another one is on its way
    m_pair = pair;
    m_isUnderWay = false;
    emit pairChanged();
    emit underWayChanged();
}

} // namespace trainyard
