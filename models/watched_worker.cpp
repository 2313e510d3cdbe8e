// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/watched_worker.h"

#include <QMetaObject>

#include <exception>
#include <utility>

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace trainyard {

namespace {

constexpr std::chrono::milliseconds kRest{200};

/// The evaluation of an edit comes first; a search may take what it leaves of the processor.
void lowerPriority()
{
#ifdef __linux__
    setpriority(PRIO_PROCESS, 0, 12);   // of the calling thread
#endif
}

} // namespace

WatchedWorker::WatchedWorker(Work work, QObject *parent)
    : QObject(parent), m_work(std::move(work)), m_thread([this](const std::stop_token &stop) { run(stop); })
{
    m_rest.setSingleShot(true);
    m_rest.setInterval(kRest);
    connect(&m_rest, &QTimer::timeout, this, &WatchedWorker::start);
}

WatchedWorker::~WatchedWorker()
{
    m_thread.request_stop();
    stopRunning();
}

void WatchedWorker::stopRunning()
{
    const std::lock_guard lock(m_mutex);
    m_waiting.reset();
    m_running.request_stop();
}

void WatchedWorker::setPlan(const PlanPtr &plan)
{
    if (plan == m_plan)
        return;
    m_plan = plan;
    stopRunning();
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
    {
        const std::lock_guard lock(m_mutex);
        m_waiting = m_plan;
    }
    m_wake.notify_one();
}

void WatchedWorker::run(const std::stop_token &stop)
{
    lowerPriority();
    EvaluationWorkspace workspace;
    while (!stop.stop_requested()) {
        PlanPtr plan;
        std::stop_token running;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [this] { return m_waiting != nullptr; }) || stop.stop_requested())
                return;
            plan = std::exchange(m_waiting, nullptr);
            m_running = std::stop_source{};
            running = m_running.get_token();
        }
        const Deliver deliver = [this, plan](std::function<void()> answer) {
            QMetaObject::invokeMethod(this, [this, plan, answer = std::move(answer)] {
                if (plan == m_plan)
                    answer();
            }, Qt::QueuedConnection);
        };
        try {
            m_work(plan, workspace, running, deliver);
        } catch (const std::exception &) {   // out of memory: the window lives on without this answer
            workspace = EvaluationWorkspace();
        }
    }
}

} // namespace trainyard
