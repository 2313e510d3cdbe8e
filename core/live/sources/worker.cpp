// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/sources/worker.h"

#include <system_error>
#include <thread>
#include <utility>

namespace trainyard::live {

Worker::Worker(SourceSink &sink, Address address)
    : m_sink(sink)
    , m_path(address.path)
{
    m_status.address = std::move(address);
}

void Worker::start()
{
    try {
        std::thread([self = shared_from_this()] {
            try {
                self->run();
            } catch (const std::exception &error) {
                self->become(SourceState::Refused, std::string("it could not be read: ") + error.what());
            }
        }).detach();
    } catch (const std::system_error &error) {
        become(SourceState::Refused, std::string("no thread can be started: ") + error.what());
    }
}

void Worker::stop()
{
    const std::lock_guard lock(m_mutex);
    m_stop.request_stop();
    m_wake.notify_all();
}

void Worker::setPaused(bool isPaused)
{
    const std::lock_guard lock(m_mutex);
    if (std::exchange(m_isPaused, isPaused) == isPaused)
        return;
    if (isPaused)
        tell(SourceState::Paused, pauseMeans());
    else
        tell(m_state, m_reason);
    m_wake.notify_all();
}

void Worker::retryNow()
{
    const std::lock_guard lock(m_mutex);
    m_isAsked = true;
    m_wake.notify_all();
}

void Worker::refuse(const Error &why)
{
    become(SourceState::Refused, why.what + (why.right.empty() ? "" : "; expected " + why.right));
}

bool Worker::wait(Milliseconds time, bool heedsRetry)
{
    std::unique_lock lock(m_mutex);
    const auto isStopped = [&] { return m_stop.stop_requested(); };
    if (m_isPaused)
        m_wake.wait(lock, [&] { return isStopped() || !m_isPaused; });
    else
        m_wake.wait_for(lock, time, [&] { return isStopped() || m_isPaused || (m_isAsked && heedsRetry); });
    return !isStopped();
}

void Worker::tell(SourceState state, const std::string &reason)
{
    if (m_stop.stop_requested())
        return;
    if (m_status.state != state)
        m_status.since = unixNow();
    m_status.state = state;
    m_status.reason = reason;
    m_sink.status(m_status);
}

void Worker::become(SourceState state, const std::string &reason)
{
    const std::lock_guard lock(m_mutex);
    becomeLocked(state, reason);
}

void Worker::becomeLocked(SourceState state, const std::string &reason)
{
    const bool isNew = m_state != state || m_reason != reason;
    m_state = state;
    m_reason = reason;
    if (isNew && !m_isPaused)
        tell(state, reason);
}

void Worker::note(std::size_t place, const std::string &text)
{
    const std::lock_guard lock(m_mutex);
    if (m_status.notes.size() <= place)
        m_status.notes.resize(place + 1);
    m_status.notes[place] = text;
    tell(m_status.state, m_status.reason);
}

bool Worker::isPaused() const
{
    const std::lock_guard lock(m_mutex);
    return m_isPaused;
}

SourceState Worker::state() const
{
    const std::lock_guard lock(m_mutex);
    return m_state;
}

bool Worker::takeRetry()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_isAsked, false);
}

namespace {

class WorkerSource final : public Source {
public:
    explicit WorkerSource(std::shared_ptr<Worker> worker)
        : m_worker(std::move(worker))
    {
    }
    ~WorkerSource() override { m_worker->stop(); }
    void start() override { m_worker->start(); }
    void stop() override { m_worker->stop(); }
    void setPaused(bool isPaused) override { m_worker->setPaused(isPaused); }
    void retryNow() override { m_worker->retryNow(); }
    void refuse(std::uint64_t, const Error &why) override { m_worker->refuse(why); }

private:
    std::shared_ptr<Worker> m_worker;
};

} // namespace

std::unique_ptr<Source> sourceOf(std::shared_ptr<Worker> worker)
{
    return std::make_unique<WorkerSource>(std::move(worker));
}

} // namespace trainyard::live
