// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/serve.h"

#include "core/live/net/server.h"
#include "core/live/stream_sender.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace trainyard::live {

namespace {

constexpr std::size_t kMostClients = 64; // each is told by a thread of its own

/// One who listens: what is told to it, and whether it is there still.
struct Client {
    std::thread thread;
    bool isGone = false, hasAll = false;
};

class Serving {
public:
    Serving(const Recording &recording, const SourceSettings &settings, const ServeOptions &options, bool isOnce)
        : m_recording(recording)
        , m_parts(recording, kEventsOfLine)
        , m_settings(settings)
        , m_options(options)
        , m_isOnce(isOnce)
    {
    }

    Expected<void> run(const Address &at, const std::function<void(const Address &)> &began)
    {
        m_status.address = at;
        std::optional<Error> fault;
        m_loop.call([&] {
            auto server = net::Server::listen(m_loop, at, m_settings, events(), limits());
            if (!server) {
                fault = server.error();
                return;
            }
            m_server = std::move(*server);
            m_status.address.port = m_server->port();
        });
        if (fault)
            return std::unexpected(*fault);
        if (began)
            began(m_status.address);
        tell();
        std::unique_lock lock(m_mutex);
        while (!m_options.stop.stop_requested() && !m_isDone) {
            m_changed.wait_for(lock, m_options.stop, std::chrono::duration<double>(kBetweenStatuses),
                [&] { return m_isDone || !m_over.empty(); });
            join(lock);
            lock.unlock();
            tell();
            lock.lock();
        }
        m_isStopped = true;
        m_changed.notify_all();
        lock.unlock();
        for (auto &[connection, client] : m_clients)
            if (client->thread.joinable())
                client->thread.join();
        m_loop.call([&] { m_server.reset(); });
        tell();
        return {};
    }

private:
    static net::ServerLimits limits()
    {
        net::ServerLimits limits;
        limits.connections = 4 * kMostClients;
        return limits;
    }

    // On the loop's thread
    net::ServerEvents events()
    {
        net::ServerEvents events;
        events.opened = [this](std::uint64_t connection, const std::string &, bool) { open(connection); };
        events.bytes = [](std::uint64_t, std::string_view) {}; // what clients say beside their hello is of no use here
        events.closed = [this](std::uint64_t connection, const std::string &why) {
            const std::lock_guard lock(m_mutex);
            const auto known = m_clients.find(connection);
            if (known == m_clients.end())
                return;
            if (why.starts_with("it took nothing"))
                m_status.notes = { "a client was cut: " + why };
            known->second->isGone = true;
            m_over.push_back(connection);
            m_isDone = m_isDone || (m_isOnce && known->second->hasAll);
            m_changed.notify_all();
        };
        events.refused = [this](const std::string &peer, const std::string &why) {
            const std::lock_guard lock(m_mutex);
            ++m_status.refusedClients;
            m_status.notes = { peer + ": " + why };
        };
        events.request = [](net::ServerRequest &&, const std::function<void(net::ServerAnswer)> &answer) {
            answer({ 404, { { "content-type", "text/plain" } },
                "A recording is served here as a stream: over TCP (tcp://) or WebSocket (ws://).\n" });
        };
        return events;
    }

    void open(std::uint64_t connection)
    {
        const std::lock_guard lock(m_mutex);
        if (m_isStopped || m_clients.size() >= kMostClients) {
            m_server->close(connection, "this recording is told to 64 already");
            return;
        }
        const auto client = std::make_shared<Client>();
        m_clients[connection] = client;
        client->thread = std::thread([this, connection, client] { tellTo(connection, *client); });
        m_changed.notify_all();
    }

    // On a client's thread
    void tellTo(std::uint64_t connection, Client &client)
    {
        TellOptions options;
        options.speed = m_options.speed;
        options.isRepeated = m_options.isRepeated;
        options.isNow = m_options.isNow;
        Telling telling;
        telling.wait = [&](double seconds) {
            std::unique_lock lock(m_mutex);
            const auto isOver = [&] { return m_isStopped || client.isGone; };
            if (seconds > 0)
                m_changed.wait_for(lock, std::chrono::duration<double>(seconds), isOver);
            return !isOver();
        };
        telling.send = [&](const std::string &block) {
            bool isTaken = false;
            m_loop.call([&] { isTaken = m_server->send(connection, block); });
            const std::lock_guard lock(m_mutex);
            if (isTaken) {
                m_status.bytes += std::ssize(block);
                m_status.batches += std::ranges::count(block, '\n');
            }
            return client.isGone ? Sent::Gone : isTaken ? Sent::Taken : Sent::Full;
        };
        if (!tellLines(m_recording, m_parts, options, telling))
            return;
        {
            const std::lock_guard lock(m_mutex);
            client.hasAll = true;
        }
        m_loop.call([&] { m_server->close(connection, ""); }); // behind what it has not read yet
    }

    // On the caller's thread
    void join(std::unique_lock<std::mutex> &lock)
    {
        for (const std::uint64_t connection : std::exchange(m_over, {})) {
            const auto known = m_clients.find(connection);
            const auto client = known->second;
            m_clients.erase(known);
            lock.unlock();
            client->thread.join();
            lock.lock();
        }
    }

    void tell()
    {
        if (!m_options.status)
            return;
        SourceStatus status;
        {
            const std::lock_guard lock(m_mutex);
            status = m_status;
            status.clients = static_cast<int>(m_clients.size());
        }
        status.state = status.clients > 0 ? SourceState::Live : SourceState::Connecting;
        status.reason = status.clients > 0 ? "" : "nobody is connected yet";
        m_options.status(status);
    }

    const Recording &m_recording;
    const StreamParts m_parts; // of all clients
    const SourceSettings &m_settings;
    const ServeOptions &m_options;
    const bool m_isOnce;
    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    SourceStatus m_status;
    std::map<std::uint64_t, std::shared_ptr<Client>> m_clients;
    std::vector<std::uint64_t> m_over; // clients that are gone, to be joined
    bool m_isStopped = false, m_isDone = false;
    std::unique_ptr<net::Server> m_server; // the loop's
    net::Loop m_loop;
};

} // namespace

Expected<void> serveRecording(const Recording &recording, const Address &at, const SourceSettings &settings,
    const ServeOptions &options, bool isOnce, const std::function<void(const Address &)> &began)
{
    if (auto checked = checkSettings(at, settings); !checked)
        return checked;
    return Serving(recording, settings, options, isOnce).run(at, began);
}

} // namespace trainyard::live
