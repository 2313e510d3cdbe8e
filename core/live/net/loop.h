#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The network thread: an event loop on a thread of its own, for sockets, pipes and timers of all sources. This folder
// is the one gateway to Boost.Asio, Beast and OpenSSL; their headers are seen by its .cpp and *_internal.h files alone.

#include <functional>
#include <memory>

namespace trainyard::live::net {

class Loop {
public:
    Loop();
    /// ends what is under way, without waiting for a peer, and joins the thread
    ~Loop();
    Loop(const Loop &) = delete;
    Loop &operator=(const Loop &) = delete;

    /// any thread; runs on the loop's
    void post(std::function<void()> work);
    /// Posts and waits until it ran; not from the loop's thread.
    void call(const std::function<void()> &work);
    [[nodiscard]] bool isOnThread() const;
    /// post() for those who may outlive the loop (a decoder's thread, a look-up of a name): after its end it does
    /// nothing.
    [[nodiscard]] std::function<void(std::function<void()>)> poster() const;

    /// io_context: loop_internal.h
    struct Private;
    [[nodiscard]] Private &inside() { return *d; }

private:
    std::unique_ptr<Private> d;
};

/// Runs its work once, later, unless it is set anew, cancelled or destroyed before. Loop's thread alone.
class Timer {
public:
    explicit Timer(Loop &loop);
    ~Timer();
    void start(double seconds, std::function<void()> work);
    void cancel();
    [[nodiscard]] bool isActive() const;

private:
    struct Private;
    std::shared_ptr<Private> d;
};

} // namespace trainyard::live::net
