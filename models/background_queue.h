#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One background thread for work that the GUI thread must not do: reading and writing files, freeing large objects.
// Jobs run one after the other. Make it the last member of its user: its destructor waits for what is under way.

#include <QObject>
#include <QThreadPool>

#include <memory>
#include <utility>

namespace trainyard {

class BackgroundQueue {
public:
    BackgroundQueue() { m_pool.setMaxThreadCount(1); }
    ~BackgroundQueue() { m_pool.waitForDone(); }
    BackgroundQueue(const BackgroundQueue &) = delete;
    BackgroundQueue &operator=(const BackgroundQueue &) = delete;

    /// Runs `work` in the background, then `done` with its result on the thread of `context`, which must outlive the
    /// queue.
    template <class Work, class Done> void run(QObject *context, Work work, Done done)
    {
        m_pool.start([context, work = std::move(work), done = std::move(done)]() mutable {
            auto result = std::make_shared<decltype(work())>(work());
            QMetaObject::invokeMethod(
                context, [result, done = std::move(done)]() mutable { done(std::move(*result)); },
                Qt::QueuedConnection);
        });
    }
    template <class Work> void run(Work work) { m_pool.start(std::move(work)); }
    /// Drops a reference in the background, so that freeing millions of spans never costs a frame.
    void dispose(std::shared_ptr<const void> object)
    {
        if (object)
            m_pool.start([held = std::move(object)]() mutable { held.reset(); });
    }
    /// Waits until the queue is empty; results may still be on their way to their context.
    void wait() { m_pool.waitForDone(); }

private:
    QThreadPool m_pool;
};

} // namespace trainyard
