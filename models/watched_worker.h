#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Searches around the plan that is shown, live: the pool's searchers, a mailbox that holds only the newest
// plan, answers that arrive on the owner's thread and never of a plan that nobody has any more. Works only while
// someone looks, and starts when edits have rested. Lives on the GUI thread; make it the last member of its owner.

#include "core/base/newest_worker.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/advice/run_pool.h"

#include <QObject>
#include <QTimer>

#include <chrono>
#include <functional>

namespace trainyard {

class WatchedWorker : public QObject {
    Q_OBJECT
public:
    /// Runs its argument on the owner's thread, unless another plan has come by then.
    using Deliver = std::function<void(std::function<void()>)>;
    /// On the background thread. Returns early where the token says so.
    using Work = std::function<void(
        const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop, const Deliver &deliver)>;

    explicit WatchedWorker(Work work, QObject *parent = nullptr);

    /// Stops what is under way for another plan.
    void setPlan(const PlanPtr &plan);
    /// What was set in between is worked on when someone looks again.
    void setWatched(bool watched);
    void setRest(std::chrono::milliseconds rest) { m_rest.setInterval(rest); }
    [[nodiscard]] const PlanPtr &plan() const { return m_plan; }

private:
    void start();
    void serve(const PlanPtr &plan, const std::stop_token &stop);

    Work m_work;
    RunPool &m_pool = RunPool::shared();
    QTimer m_rest;
    /// these three: GUI thread only
    PlanPtr m_plan;
    bool m_isWatched = false, m_isOwed = false;
    /// last: it uses everything above
    NewestWorker<PlanPtr> m_worker;
};

} // namespace trainyard
