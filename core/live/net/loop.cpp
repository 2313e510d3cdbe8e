// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/loop_internal.h"

#include <boost/asio/impl/src.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <exception>
#include <future>

namespace trainyard::live::net {

void LoopGate::post(std::function<void()> work)
{
    const std::lock_guard lock(mutex);
    if (io)
        asio::post(*io, std::move(work));
}

Loop::Loop()
    : d(std::make_unique<Private>())
{
    d->gate->io = &d->io;
    d->thread = std::thread([io = &d->io] {
        for (;;) {
            try {
                io->run();
                return;
            } catch (const std::exception &) {
                // Memory that was asked for in the name of one peer is not there: its connection ends, others go on.
            }
        }
    });
}

Loop::~Loop()
{
    {
        const std::lock_guard lock(d->gate->mutex);
        d->gate->io = nullptr;
    }
    d->io.stop();
    d->thread.join();
}

void Loop::post(std::function<void()> work)
{
    asio::post(d->io, std::move(work));
}

void Loop::call(const std::function<void()> &work)
{
    std::promise<void> done;
    asio::post(d->io, [&] {
        work();
        done.set_value();
    });
    done.get_future().wait();
}

bool Loop::isOnThread() const
{
    return std::this_thread::get_id() == d->thread.get_id();
}

std::function<void(std::function<void()>)> Loop::poster() const
{
    return [gate = d->gate](std::function<void()> work) { gate->post(std::move(work)); };
}

struct Timer::Private {
    explicit Private(Loop &loop)
        : timer(loop.inside().io)
    {
    }
    asio::steady_timer timer;
    std::function<void()> work; // empty: not active
    std::uint64_t turn = 0; // of the latest start; what waits for an earlier one does nothing
};

Timer::Timer(Loop &loop)
    : d(std::make_shared<Private>(loop))
{
}

Timer::~Timer()
{
    cancel();
}

void Timer::start(double seconds, std::function<void()> work)
{
    d->work = std::move(work);
    d->timer.expires_after(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
    d->timer.async_wait([weak = std::weak_ptr(d), turn = ++d->turn](const ErrorCodeOfSystem &fault) {
        const auto inside = weak.lock();
        if (fault || !inside || inside->turn != turn || !inside->work)
            return;
        std::exchange(inside->work, nullptr)(); // which may start it anew, or destroy it
    });
}

void Timer::cancel()
{
    ++d->turn;
    d->work = nullptr;
    d->timer.cancel();
}

bool Timer::isActive() const
{
    return bool(d->work);
}

} // namespace trainyard::live::net
