#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The ranking of datacenters for the plan that is shown, live: one background thread of low priority, a mailbox that
// holds only the newest plan, rankings that arrive on this object's thread and never an older one after a newer. A step
// of a drag does not stop a running ranking, because stopping at every move would starve the screen; a committed plan
// does. Works only while someone looks. Lives on the GUI thread.

#include "core/base/newest_worker.h"
#include "core/evaluation/advice/evaluator.h"
#include "core/evaluation/selection/selection.h"

#include <QObject>

#include <memory>

namespace trainyard {

using SelectionPtr = std::shared_ptr<const Selection>;

class DatacenterRanking : public QObject {
    Q_OBJECT
public:
    explicit DatacenterRanking(const Catalogue &catalogue, QObject *parent = nullptr);

    void setPlan(const PlanPtr &plan, Urgency urgency);
    void setObjective(SelectionObjective objective);
    /// Whether anyone looks. What was asked in between is ranked when someone does again.
    void setWatched(bool watched);
    [[nodiscard]] SelectionObjective objective() const { return m_objective; }

Q_SIGNALS:
    void rankingChanged(trainyard::SelectionPtr selection);
    /// The plan cannot be evaluated; no ranking of it will come.
    void rankingFailed(trainyard::PlanPtr plan, QString reason);

private:
    struct Request {
        std::uint64_t generation = 0;
        PlanPtr plan;
        SelectionObjective objective = SelectionObjective::Throughput;
    };

    void ask(Urgency urgency);
    void rank(const Request &request, const std::stop_token &stop);
    void publish(const Request &request, ExpectedAll<Selection> answer);

    const Catalogue &m_catalogue;
    /// these five: GUI thread only
    PlanPtr m_plan;
    SelectionObjective m_objective = SelectionObjective::Throughput;
    bool m_watched = false, m_isOwed = false;
    std::uint64_t m_generation = 0, m_firstWanted = 0;
    /// last: it uses everything above
    NewestWorker<Request> m_worker;
};

} // namespace trainyard
