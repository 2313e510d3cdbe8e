// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/watched_worker.h"

#include <QMetaObject>

#include <exception>
#include <utility>

namespace trainyard {

namespace {

constexpr std::chrono::milliseconds kDefaultRest { 200 };

} // namespace

WatchedWorker::WatchedWorker(Work work, QObject *parent)
    : QObject(parent)
    , m_work(std::move(work))
    , m_worker(m_pool.threads(), WorkPool::Rank::Search,
          [this](const PlanPtr &plan, const std::stop_token &stop) { serve(plan, stop); })
{
    m_rest.setSingleShot(true);
    m_rest.setInterval(kDefaultRest);
    connect(&m_rest, &QTimer::timeout, this, &WatchedWorker::start);
}

void WatchedWorker::setPlan(const PlanPtr &plan)
{
    if (plan == m_plan)
        return;
    m_plan = plan;
    m_worker.post(std::nullopt, true);
    m_isOwed = plan != nullptr;
    if (m_isWatched && m_isOwed)
        m_rest.start();
    else
        m_rest.stop();
}

void WatchedWorker::setWatched(bool watched)
{
    m_isWatched = watched;
    if (watched && m_isOwed)
        m_rest.start();
}

void WatchedWorker::start()
{
    if (!m_isWatched || !m_isOwed)
        return;
    m_isOwed = false;
    m_worker.post(m_plan, false);
}

void WatchedWorker::serve(const PlanPtr &plan, const std::stop_token &stop)
{
    const Deliver deliver = [this, plan](std::function<void()> answer) {
        QMetaObject::invokeMethod(
            this,
            [this, plan, answer = std::move(answer)] {
                if (plan == m_plan)
                    answer();
            },
            Qt::QueuedConnection);
    };
    try {
        m_work(plan, m_pool.workspace(), stop, deliver);
    } catch (const std::exception &) { // out of memory: the window lives on without this answer
        m_pool.renewWorkspace();
    }
}

} // namespace trainyard
