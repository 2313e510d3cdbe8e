#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one GPU more would buy to the jobs of a plan, live: evaluated in the background for as long as someone looks.
// Lives on the GUI thread.

#include "models/effects.h"
#include "models/watched_worker.h"

#include <memory>
#include <vector>

namespace trainyard {

struct JobAdvice {
    /// what it is measured against
    PlanPtr plan;
    /// of that plan, by a rule where a solver schedules it
    Metric makespan, usd;
    /// best first
    std::vector<RankedPart> oneMoreGpu;
};
using JobAdvicePtr = std::shared_ptr<const JobAdvice>;

class JobAdviser : public QObject {
    Q_OBJECT
public:
    explicit JobAdviser(const Catalogue &catalogue, QObject *parent = nullptr);

    void setPlan(const PlanPtr &plan) { m_worker.setPlan(plan); }
    void setWatched(bool isWatched) { m_worker.setWatched(isWatched); }
    void setRest(std::chrono::milliseconds rest) { m_worker.setRest(rest); }

signals:
    void adviceChanged(trainyard::JobAdvicePtr advice);

private:
    [[nodiscard]] JobAdvice advise(
        const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop) const;

    const Catalogue &m_catalogue;
    /// last: its thread uses everything above
    WatchedWorker m_worker;
};

} // namespace trainyard
