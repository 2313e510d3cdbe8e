// SPDX-License-Identifier: GPL-3.0-or-later
// Whoever connects to us: OTLP over HTTP, lines of JSON over TCP or WebSocket. Senders are never held up: what the
// session cannot take in time is dropped and counted, and OTLP, which can come again, is asked to come later.
#include "core/live/net/server.h"
#include "core/live/sources/line_gate.h"
#include "core/live/sources/otlp_answers.h"
#include "core/live/sources/reported_status.h"
#include "core/live/sources/sources.h"

#include <map>
#include <memory>
#include <tuple>

namespace trainyard::live {

namespace {

constexpr double kCountSeconds = 1; // between looks at how many are connected

/// "10.0.0.7" of "10.0.0.7:51724"
std::string hostOf(const std::string &peer)
{
    return peer.substr(0, peer.rfind(':'));
}

class Listener final : public Source, public std::enable_shared_from_this<Listener> {
public:
    Listener(net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings)
        : m_loop(loop)
        , m_sink(sink)
        , m_address(address)
        , m_settings(settings)
        , m_status(loop, sink, address)
        , m_count(loop)
    {
    }

    void start() override
    {
        if (m_server)
            return;
        net::ServerEvents events;
        events.request = [this](net::ServerRequest &&request, OtlpAnswer answer) {
            take(std::move(request), std::move(answer));
        };
        events.opened = [this](std::uint64_t connection, const std::string &peer, bool) {
            m_streams[connection];
            m_sink.opened(connection, makeLinesDecoder(peer));
            count();
        };
        events.bytes = [this](std::uint64_t connection, std::string_view bytes) { take(connection, bytes); };
        events.closed = [this](std::uint64_t connection, const std::string &) {
            if (m_streams.erase(connection) > 0) {
                m_sink.closed(connection);
                if (m_streams.empty() && !m_hasRequests) // requests come and go on connections of their own
                    m_status.set(SourceState::Connecting, "nobody is connected any more");
            }
            count();
        };
        events.refused = [this](const std::string &peer, const std::string &why) {
            m_status.refuseClient(peer.empty() ? why : hostOf(peer) + ": " + why);
        };
        net::ServerLimits limits;
        limits.connections = m_settings.mostConnections;
        limits.bytesPerSecond = m_settings.mostBytesPerSecond;
        m_status.countTry();
        auto server = net::Server::listen(m_loop, m_address, m_settings, std::move(events), limits);
        if (!server)
            return m_status.set(SourceState::Refused, toString(server.error()));
        m_server = std::move(*server);
        Address got = m_address;
        got.port = m_server->port();
        m_status.setAddress(got);
        const bool isTls = m_address.isTls || !m_settings.certificateFile.empty();
        if (!isTls && !m_settings.secrets.token.empty() && !isLoopback(m_address.host))
            m_status.note("without TLS, the token and what is sent can be read on their way");
        m_status.set(SourceState::Connecting, "nobody is connected yet");
        count();
    }

    void stop() override
    {
        m_server.reset();
        m_count.cancel();
        for (const auto &[connection, gate] : m_streams)
            m_sink.closed(connection);
        m_streams.clear();
        m_status.setClients(0);
        m_status.set(SourceState::Idle);
        m_status.stop();
    }

    void setPaused(bool isPaused) override { m_status.setPaused(isPaused); }
    void retryNow() override { start(); }
    void refuse(std::uint64_t connection, const Error &why) override
    {
        if (!m_server)
            return;
        m_status.refuseClient(toString(why));
        m_server->close(connection, toString(why));
    }

private:
    void take(std::uint64_t connection, std::string_view bytes)
    {
        const auto gate = m_streams.find(connection);
        if (gate == m_streams.end())
            return;
        m_status.hear(bytes.size());
        const std::string_view passed = gate->second.passed(bytes, m_status.isPaused());
        if (passed.size() < bytes.size())
            m_status.drop(bytes.size() - passed.size());
        // What a full queue does not take is counted there: a sender is not held up.
        if (!passed.empty())
            std::ignore = m_sink.bytes(connection, passed, unixNow());
    }

    void take(net::ServerRequest &&request, OtlpAnswer answer)
    {
        const OtlpRequest asked = readOtlpRequest(request);
        if (asked.refusal)
            return answer(*asked.refusal);
        const std::size_t bytes = request.body.size();
        m_status.hear(bytes, 1);
        m_hasRequests = true;
        if (m_status.isPaused()) {
            m_status.drop(bytes);
            return answer(otlpTaken(asked.isJson));
        }
        // The decoder's thread answers, by way of the loop, which may have ended by then.
        const auto body = std::make_shared<const std::string>(std::move(request.body));
        const auto reply = [post = m_loop.poster(), answer](
                               net::ServerAnswer told) { post([answer, told = std::move(told)] { answer(told); }); };
        const auto decode = [body, reply, isJson = asked.isJson, name = hostOf(request.peer), history = m_otlp](
                                Moment received) {
            Expected<Batch> batch = decodeOtlp(*body, isJson, name, received, {}, history.get());
            reply(batch ? otlpTaken(isJson) : otlpRefused(400, toString(batch.error()), isJson));
            return batch;
        };
        const auto failed = [weak = weak_from_this(), post = m_loop.poster(), host = hostOf(request.peer)](
                                const Error &why) {
            post([weak, text = host + ": " + toString(why)] {
                if (const auto self = weak.lock(); self && self->m_server)
                    self->m_status.refuseClient(text);
            });
        };
        if (m_sink.whole(bytes, decode, failed))
            return;
        m_status.note("more came at once than could be read: senders of OTLP were asked to come again later");
        net::ServerAnswer later = otlpRefused(429, "more comes at once than can be read", asked.isJson);
        later.headers["retry-after"] = "2";
        answer(later);
    }

    void count()
    {
        if (!m_server)
            return;
        m_status.setClients(int(m_server->connections()));
        m_count.start(kCountSeconds, [this] { count(); });
    }

    net::Loop &m_loop;
    SourceSink &m_sink;
    const Address m_address;
    const SourceSettings m_settings;
    ReportedStatus m_status;
    const OtlpHistoryPtr m_otlp = makeOtlpHistory(); // of the decoder's thread
    net::Timer m_count;
    std::map<std::uint64_t, LineGate> m_streams;
    bool m_hasRequests = false; // OTLP was told
    std::unique_ptr<net::Server> m_server;
};

/// Owns a listener that its unfinished answers may outlive.
class SharedListener final : public Source {
public:
    explicit SharedListener(std::shared_ptr<Listener> inside)
        : m_inside(std::move(inside))
    {
    }
    ~SharedListener() override { m_inside->stop(); }
    void start() override { m_inside->start(); }
    void stop() override { m_inside->stop(); }
    void setPaused(bool isPaused) override { m_inside->setPaused(isPaused); }
    void retryNow() override { m_inside->retryNow(); }
    void refuse(std::uint64_t connection, const Error &why) override { m_inside->refuse(connection, why); }

private:
    std::shared_ptr<Listener> m_inside;
};

} // namespace

SourcePtr makeListener(net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings)
{
    return std::make_unique<SharedListener>(std::make_shared<Listener>(loop, sink, address, settings));
}

} // namespace trainyard::live
