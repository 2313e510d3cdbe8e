// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/datacenter_ranking.h"

#include "core/planner/search/given_back.h"

#include <QMetaObject>

#include <exception>
#include <utility>

namespace trainyard {

DatacenterRanking::DatacenterRanking(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker(RunPool::shared().threads(), WorkPool::Rank::Search,
          [this](const Request &request, const std::stop_token &stop) { rank(request, stop); })
{
}

void DatacenterRanking::setPlan(const PlanPtr &plan, Urgency urgency)
{
    if (plan == m_plan)
        return;
    m_plan = plan;
    ask(urgency);
}

void DatacenterRanking::setObjective(SelectionObjective objective)
{
    if (std::exchange(m_objective, objective) != objective)
        ask(Urgency::Settle);
}

void DatacenterRanking::setWatched(bool watched)
{
    m_watched = watched;
    if (watched && m_isOwed)
        ask(Urgency::Settle);
}

void DatacenterRanking::ask(Urgency urgency)
{
    if (!m_plan)
        return;
    ++m_generation;
    if (urgency == Urgency::Settle)
        m_firstWanted = m_generation; // what is on its way is of a plan that nobody has any more
    m_isOwed = !m_watched;
    m_worker.post(m_watched ? std::optional(Request { m_generation, m_plan, m_objective }) : std::nullopt,
        urgency == Urgency::Settle);
}

void DatacenterRanking::rank(const Request &request, const std::stop_token &stop)
{
    ExpectedAll<Selection> answer = std::unexpected(Errors {});
    try {
        answer = selectDatacenters(
            request.plan, m_catalogue, RunPool::shared().workspace(), stop, { .objective = request.objective });
        if (answer)
            giveBackIdle(*answer, { m_catalogue, RunPool::shared().workspace(), stop });
    } catch (const std::exception &failure) { // out of memory, or a fault of ours: the window must live on
        RunPool::shared().renewWorkspace();
        answer = std::unexpected(Errors { { ErrorCode::Internal, {}, failure.what(), {} } });
    }
    if (!stop.stop_requested())
        publish(request, std::move(answer));
}

void DatacenterRanking::publish(const Request &request, ExpectedAll<Selection> answer)
{
    SelectionPtr selection;
    QString reason;
    if (answer)
        selection = std::make_shared<const Selection>(std::move(*answer));
    else if (!answer.error().empty())
        reason = QString::fromStdString(answer.error().front().what);
    QMetaObject::invokeMethod(
        this,
        [this, generation = request.generation, plan = request.plan, selection, reason] {
            if (generation < m_firstWanted)
                return;
            if (selection)
                Q_EMIT rankingChanged(selection);
            else
                Q_EMIT rankingFailed(plan, reason);
        },
        Qt::QueuedConnection);
}

} // namespace trainyard
