// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/expert_study.h"

namespace trainyard {

namespace {

constexpr std::chrono::milliseconds kBetweenComparisons { 100 }; // between two comparisons that are not complete

} // namespace

ExpertStudy::ExpertStudy(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker([this](const PlanPtr &plan, EvaluationWorkspace &, const std::stop_token &stop,
                   const WatchedWorker::Deliver &deliver) { compare(plan, stop, deliver); })
{
}

void ExpertStudy::compare(const PlanPtr &plan, const std::stop_token &stop, const WatchedWorker::Deliver &deliver)
{
    std::chrono::steady_clock::time_point last {};
    compareExperts(plan, m_catalogue, RunPool::shared(), stop, [&](const ExpertComparison &comparison) {
        if (!comparison.isComplete && std::chrono::steady_clock::now() - last < kBetweenComparisons)
            return;
        last = std::chrono::steady_clock::now();
        deliver([this, shared = std::make_shared<const ExpertComparison>(comparison)] {
            Q_EMIT comparisonChanged(shared);
        });
    });
}

} // namespace trainyard
