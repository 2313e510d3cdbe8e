#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A server on a port that the kernel chose, with all that it told written down, for a test to wait for.

#include "core/live/net/server.h"
#include "tests/core/live/net/peer.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace trainyard::live::testing {

inline constexpr const char *kToken = "s3cret-of-this-run";

inline SourceSettings withToken()
{
    SourceSettings settings;
    settings.secrets.token = kToken;
    return settings;
}

struct Told {
    std::map<std::uint64_t, std::string> bytes; // of each stream, all of them
    std::vector<std::uint64_t> opened;
    std::vector<bool> isWebSocket; // of each opened
    std::map<std::uint64_t, std::string> closed; // why
    std::vector<std::string> refused; // why
    std::vector<net::ServerRequest> requests;
    std::size_t largestPiece = 0, allBytes = 0;
    bool keepsBytes = true; // false: counted only
};

class Listening {
public:
    using Request = std::function<void(net::ServerRequest &&, std::function<void(net::ServerAnswer)>)>;

    explicit Listening(net::ServerLimits limits = {}, SourceSettings settings = {}, Address address = {})
        : loop(std::make_unique<net::Loop>())
    {
        address.type = SourceType::Listener;
        loop->call([&] {
            auto made = net::Server::listen(*loop, address, settings, events(), limits);
            if (made)
                server = std::move(*made);
            else
                error = made.error();
            port = server ? server->port() : std::uint16_t(0);
        });
    }
    ~Listening() { stop(); }
    Listening(const Listening &) = delete;
    Listening &operator=(const Listening &) = delete;

    void stop()
    {
        if (loop)
            loop->call([this] { server.reset(); });
        loop.reset();
    }
    /// Waits until `isSo` holds of what was told; false: it never did.
    template <class Condition> bool waitFor(Condition isSo)
    {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::milliseconds(kWaitMilliseconds), [&] { return isSo(told); });
    }
    Told now()
    {
        const std::lock_guard lock(mutex);
        return told;
    }
    std::size_t connections()
    {
        std::size_t count = 0;
        loop->call([&] { count = server->connections(); });
        return count;
    }
    bool waitForConnections(std::size_t wanted)
    {
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kWaitMilliseconds);
        while (std::chrono::steady_clock::now() < until)
            if (connections() == wanted)
                return true;
            else
                std::this_thread::yield(); // each look is a turn of the loop
        return false;
    }

    std::unique_ptr<net::Loop> loop;
    std::unique_ptr<net::Server> server;
    Error error;
    std::uint16_t port = 0;
    std::mutex mutex;
    std::condition_variable changed;
    Told told;
    Request onRequest; // none: 200 with the length of the body

private:
    template <class Work> void write(Work work)
    {
        {
            const std::lock_guard lock(mutex);
            work(told);
        }
        changed.notify_all();
    }
    net::ServerEvents events()
    {
        net::ServerEvents all;
        all.request = [this](net::ServerRequest &&request, std::function<void(net::ServerAnswer)> answer) {
            write([&](Told &to) { to.requests.push_back(request); });
            if (onRequest)
                return onRequest(std::move(request), std::move(answer));
            answer({ 200, { { "content-type", "text/plain" } }, std::to_string(request.body.size()) });
        };
        all.opened = [this](std::uint64_t connection, const std::string &, bool isWebSocket) {
            write([&](Told &to) {
                to.opened.push_back(connection);
                to.isWebSocket.push_back(isWebSocket);
            });
        };
        all.bytes = [this](std::uint64_t connection, std::string_view bytes) {
            write([&](Told &to) {
                if (to.keepsBytes)
                    to.bytes[connection] += bytes;
                to.allBytes += bytes.size();
                to.largestPiece = std::max(to.largestPiece, bytes.size());
            });
        };
        all.closed = [this](std::uint64_t connection, const std::string &why) {
            write([&](Told &to) { to.closed[connection] = why; });
        };
        all.refused = [this](const std::string &, const std::string &why) {
            write([&](Told &to) { to.refused.push_back(why); });
        };
        return all;
    }
};

} // namespace trainyard::live::testing
