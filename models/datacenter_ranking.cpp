// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/datacenter_ranking.h"

#include <QMetaObject>

#include <exception>
#include <utility>

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace trainyard {

namespace {

/// The evaluation of an edit comes first; a ranking may take what it leaves of the processor.
void lowerPriority()
{
#ifdef __linux__
    setpriority(PRIO_PROCESS, 0, 10);   // of the calling thread
#endif
}

} // namespace

DatacenterRanking::DatacenterRanking(const Catalogue &catalogue, QObject *parent)
    : QObject(parent), m_catalogue(catalogue), m_thread([this](const std::stop_token &stop) { run(stop); })
{
}

DatacenterRanking::~DatacenterRanking()
{
    m_thread.request_stop();
    const std::lock_guard lock(m_mutex);
    m_running.request_stop();
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
        m_firstWanted = m_generation;      // what is on its way is of a plan that nobody has any more
    m_isOwed = !m_watched;
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.reset();
        if (m_watched)
            m_waiting = Request{m_generation, m_plan, m_objective};
        if (urgency == Urgency::Settle)
            m_running.request_stop();
    }
    m_wake.notify_one();
}

void DatacenterRanking::run(const std::stop_token &stop)
{
    lowerPriority();
    EvaluationWorkspace workspace;
    while (!stop.stop_requested()) {
        Request request;
        std::stop_token running;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [this] { return m_waiting.has_value(); }) || stop.stop_requested())
                return;
            request = std::move(*m_waiting);
            m_waiting.reset();
            m_running = std::stop_source{};
            running = m_running.get_token();
        }
        ExpectedAll<Selection> answer = std::unexpected(Errors{});
        try {
            answer = selectDatacenters(request.plan, m_catalogue, workspace, running, {.objective = request.objective});
        } catch (const std::exception &failure) {   // out of memory, or a fault of ours: the window must live on
            workspace = EvaluationWorkspace();
            answer = std::unexpected(Errors{{ErrorCode::Internal, {}, failure.what(), {}}});
        }
        if (!running.stop_requested() && !stop.stop_requested())
            publish(request, std::move(answer));
    }
}

void DatacenterRanking::publish(const Request &request, ExpectedAll<Selection> answer)
{
    SelectionPtr selection;
    QString reason;
    if (answer)
        selection = std::make_shared<const Selection>(std::move(*answer));
    else if (!answer.error().empty())
        reason = QString::fromStdString(answer.error().front().what);
    QMetaObject::invokeMethod(this, [this, generation = request.generation, plan = request.plan, selection, reason] {
        if (generation < m_firstWanted)
            return;
        if (selection)
            Q_EMIT rankingChanged(selection);
        else
            Q_EMIT rankingFailed(plan, reason);
    }, Qt::QueuedConnection);
}

} // namespace trainyard
