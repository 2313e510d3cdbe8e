#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What other systems would make of the same unequal GPUs, live: their plans are made and evaluated in the background,
// by the searchers that all evaluations share, and arrive as they are done. Works only while someone looks. Lives on
// the GUI thread.

#include "core/evaluation/advice/sharing_results.h"
#include "models/watched_worker.h"

#include <memory>
#include <optional>
#include <vector>

namespace trainyard {

struct BaselineTable {
    /// whose GPUs, model and batch they have
    PlanPtr plan;
    /// in the order of kSharingBaselines; empty: under way
    std::vector<std::optional<SharingResult>> results;
    bool isComplete = false;
};
using BaselineTablePtr = std::shared_ptr<const BaselineTable>;

class BaselineComparison : public QObject {
    Q_OBJECT
public:
    explicit BaselineComparison(const Catalogue &catalogue, QObject *parent = nullptr);

    void setPlan(const PlanPtr &plan) { m_worker.setPlan(plan); }
    void setWatched(bool watched) { m_worker.setWatched(watched); }
    void setRest(std::chrono::milliseconds rest) { m_worker.setRest(rest); }

Q_SIGNALS:
    void tableChanged(trainyard::BaselineTablePtr table);

private:
    void compare(const PlanPtr &plan, const std::stop_token &stop, const WatchedWorker::Deliver &deliver);

    const Catalogue &m_catalogue;
    /// last: its thread uses everything above
    WatchedWorker m_worker;
};

} // namespace trainyard
