#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// MoNTA's comparison of exchanges with experts, live: points are worked out in the background, by the searchers that
// all evaluations share, and arrive as they are done. Works only while someone looks. Lives on the GUI thread.

#include "core/evaluation/advice/expert_comparison.h"
#include "models/watched_worker.h"

#include <memory>

namespace trainyard {

using ExpertComparisonPtr = std::shared_ptr<const ExpertComparison>;

class ExpertStudy : public QObject {
    Q_OBJECT
public:
    explicit ExpertStudy(const Catalogue &catalogue, QObject *parent = nullptr);

    void setPlan(const PlanPtr &plan) { m_worker.setPlan(plan); }
    void setWatched(bool watched) { m_worker.setWatched(watched); }
    void setRest(std::chrono::milliseconds rest) { m_worker.setRest(rest); }

Q_SIGNALS:
    void comparisonChanged(trainyard::ExpertComparisonPtr comparison);

private:
    void compare(const PlanPtr &plan, const std::stop_token &stop, const WatchedWorker::Deliver &deliver);

    const Catalogue &m_catalogue;
    /// last: its thread uses everything above
    WatchedWorker m_worker;
};

} // namespace trainyard
