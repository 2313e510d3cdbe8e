#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The client of a stream on a loop of its own, with all that it told written down, for a test to wait for.

#include "core/live/net/stream_client.h"
#include "tests/core/live/net/peer.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace trainyard::live::testing {

inline Address streamAt(std::uint16_t port, bool isTls = false, SourceType type = SourceType::Stream)
{
    Address address;
    address.type = type;
    address.host = "127.0.0.1";
    address.port = port;
    address.isTls = isTls;
    return address;
}

class Calling {
public:
    explicit Calling(const Address &address, const SourceSettings &settings = {})
    {
        net::StreamEvents events;
        events.opened = [this] { write([this] { ++opened; }); };
        events.bytes = [this](std::string_view came) { write([&] { bytes += came; }); };
        events.closed = [this](const Error &why) {
            write([&] {
                ++closed;
                error = why;
            });
        };
        loop.call([&] { client = std::make_unique<net::StreamClient>(loop, address, settings, std::move(events)); });
    }
    ~Calling()
    {
        loop.call([this] { client.reset(); });
    }
    Calling(const Calling &) = delete;
    Calling &operator=(const Calling &) = delete;

    template <class Condition> bool waitFor(Condition isSo)
    {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::milliseconds(kWaitMilliseconds), isSo);
    }
    bool waitOpen()
    {
        return waitFor([this] { return opened == 1 || closed == 1; }) && opened == 1;
    }
    /// Why it was closed.
    Error waitClosed()
    {
        waitFor([this] { return closed > 0; });
        const std::lock_guard lock(mutex);
        return closed == 1 ? error
                           : Error { ErrorCode::Internal, {}, "closed " + std::to_string(closed) + " times", {} };
    }
    bool send(const std::string &text)
    {
        bool isTaken = false;
        loop.call([&] { isTaken = client->send(text); });
        return isTaken;
    }

    net::Loop loop;
    std::unique_ptr<net::StreamClient> client;
    std::mutex mutex;
    std::condition_variable changed;
    int opened = 0, closed = 0;
    std::string bytes;
    Error error;

private:
    template <class Work> void write(Work work)
    {
        {
            const std::lock_guard lock(mutex);
            work();
        }
        changed.notify_all();
    }
};

} // namespace trainyard::live::testing
