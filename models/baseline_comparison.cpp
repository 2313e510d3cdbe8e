// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/baseline_comparison.h"

namespace trainyard {

BaselineComparison::BaselineComparison(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker([this](const PlanPtr &plan, EvaluationWorkspace &, const std::stop_token &stop,
                   const WatchedWorker::Deliver &deliver) { compare(plan, stop, deliver); })
{
}

void BaselineComparison::compare(
    const PlanPtr &plan, const std::stop_token &stop, const WatchedWorker::Deliver &deliver)
{
    BaselineTable table;
    table.plan = plan;
    table.results.resize(kSharingBaselines.size());
    const auto publish = [&] {
        if (!stop.stop_requested())
            deliver([this, shared = std::make_shared<const BaselineTable>(table)] { Q_EMIT tableChanged(shared); });
    };
    eachSharingResult(
        kSharingBaselines, plan, m_catalogue, RunPool::shared(), stop, [&](std::size_t index, SharingResult result) {
            table.results[index] = std::move(result);
            publish();
        });
    table.isComplete = true;
    publish();
}

} // namespace trainyard
