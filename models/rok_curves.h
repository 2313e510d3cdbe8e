#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Recompute, offload and keep over micro-batch sizes, live: the plans of the three curves are evaluated in the
// background, and the curves arrive as they grow. Each curve ends one size after it no longer fits. Lives on the GUI
// thread.

#include "core/evaluation/advice/rok.h"
#include "models/watched_worker.h"

#include <QString>

#include <memory>
#include <vector>

namespace trainyard {

struct RokCurves {
    /// what the curves are of
    PlanPtr plan;
    /// those evaluated so far; of one way by micro-batch
    std::vector<RokPoint> points;
    bool isComplete = false;
    /// why there are none, one sentence; empty where there are some or may come
    QString nothing;
};
using RokCurvesPtr = std::shared_ptr<const RokCurves>;

class RokSearch : public QObject {
    Q_OBJECT
public:
    explicit RokSearch(const Catalogue &catalogue, QObject *parent = nullptr);

    void setPlan(const PlanPtr &plan) { m_worker.setPlan(plan); }
    void setWatched(bool watched) { m_worker.setWatched(watched); }
    void setRest(std::chrono::milliseconds rest) { m_worker.setRest(rest); }

Q_SIGNALS:
    void curvesChanged(trainyard::RokCurvesPtr curves);

private:
    void search(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
        const WatchedWorker::Deliver &deliver);

    const Catalogue &m_catalogue;
    /// last: its thread uses everything above
    WatchedWorker m_worker;
};

} // namespace trainyard
