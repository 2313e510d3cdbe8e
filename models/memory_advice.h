#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What to do about the memory of the plan that is shown, live: where it does not fit, the steps that make it fit; where
// it does, what its headroom is good for. Searched in the background while someone looks. Lives on the GUI thread.

#include "core/evaluation/memory_fit/fit.h"
#include "core/evaluation/memory_fit/headroom_uses.h"
#include "models/effects.h"
#include "models/watched_worker.h"

#include <memory>

namespace trainyard {

struct MemoryAdvice {
    /// what the advice is for
    PlanPtr plan;
    /// steps as they are found; none where the plan fits
    Fitting fitting;
    /// headroom suggestions, largest gain first
    std::vector<RankedPart> offers;
    bool isComplete = false;
};
using MemoryAdvicePtr = std::shared_ptr<const MemoryAdvice>;

class MemoryAdviser : public QObject {
    Q_OBJECT
public:
    explicit MemoryAdviser(const Catalogue &catalogue, QObject *parent = nullptr);

    void setPlan(const PlanPtr &plan) { m_worker.setPlan(plan); }
    void setWatched(bool watched) { m_worker.setWatched(watched); }
    void setRest(std::chrono::milliseconds rest) { m_worker.setRest(rest); }

Q_SIGNALS:
    void adviceChanged(trainyard::MemoryAdvicePtr advice);

private:
    void advise(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
        const WatchedWorker::Deliver &deliver);

    const Catalogue &m_catalogue;
    /// last: its thread uses everything above
    WatchedWorker m_worker;
};

} // namespace trainyard
