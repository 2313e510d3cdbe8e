// SPDX-License-Identifier: GPL-3.0-or-later
// A stream that somebody serves, read over TCP or WebSocket: connected, read, and connected again after a pause where
// it is cut. Over when its last line said so.
#include "core/live/net/credentials.h"
#include "core/live/net/stream_client.h"
#include "core/live/sources/line_gate.h"
#include "core/live/sources/reported_status.h"
#include "core/live/sources/sources.h"
#include "core/live/stream_lines.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <random>
#include <string>
#include <tuple>

namespace trainyard::live {

namespace {

constexpr Moment kProven = 10'000'000'000; // ns: a connection that lasted so long was one
constexpr std::size_t kMostLastLine = 1'024; // bytes of the last line that are looked at

/// The end of what came, to know how it ended.
class LastLine {
public:
    void take(std::string_view bytes)
    {
        for (std::size_t end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
            append(bytes.substr(0, end));
            bytes.remove_prefix(end + 1);
            if (!m_open.empty())
                m_whole = std::move(m_open);
            m_open.clear();
            // Only the last one counts: what lies before the last two line feeds is passed over at once.
            if (const std::size_t last = bytes.rfind('\n'); last != bytes.npos && last > 0) {
                const std::size_t before = bytes.rfind('\n', last - 1);
                if (before != bytes.npos)
                    bytes.remove_prefix(before + 1);
            }
        }
        append(bytes);
    }
    [[nodiscard]] const std::string &whole() const { return m_whole; }
    [[nodiscard]] bool isEnd() const
    {
        if (m_whole.find("\"end\"") == std::string::npos || m_whole.size() > kMostLastLine)
            return false;
        const auto line = nlohmann::json::parse(m_whole, nullptr, false);
        return line.is_object() && line.contains("event") && line["event"] == "end";
    }

private:
    void append(std::string_view bytes)
    {
        if (m_open.size() <= kMostLastLine)
            m_open.append(bytes.substr(0, kMostLastLine + 1 - m_open.size()));
    }
    std::string m_open, m_whole;
};

class StreamReader final : public Source {
public:
    StreamReader(net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings)
        : m_loop(loop)
        , m_sink(sink)
        , m_address(address)
        , m_settings(settings)
        , m_status(loop, sink, address)
        , m_again(loop)
    {
    }
    ~StreamReader() override { stop(); }

    void start() override
    {
        if (m_client || m_again.isActive())
            return;
        connect();
    }
    void stop() override
    {
        m_again.cancel();
        m_client.reset();
        leave();
        m_status.set(SourceState::Idle);
        m_status.stop();
    }
    void setPaused(bool isPaused) override { m_status.setPaused(isPaused); }
    void retryNow() override
    {
        if (m_client)
            return;
        m_again.cancel();
        connect();
    }
    void refuse(std::uint64_t connection, const Error &why) override
    {
        if (connection == m_connection && m_client)
            lose(why);
    }

private:
    void connect()
    {
        m_status.countTry();
        m_status.set(SourceState::Connecting);
        net::StreamEvents events;
        events.opened = [this] {
            m_sink.opened(++m_connection, makeLinesDecoder(m_address.text()));
            m_isOpen = true;
            m_openedAt = unixNow();
            m_gate = {};
            m_last = {};
            // A server learns by the first byte that lines are spoken, and by the hello who asks.
            if (m_address.type == SourceType::Stream && !m_client->send(hello()))
                m_status.note("the hello could not be sent");
        };
        events.bytes = [this](std::string_view bytes) { take(bytes); };
        events.closed = [this](const Error &why) { lose(why); };
        m_client = std::make_unique<net::StreamClient>(m_loop, m_address, m_settings, std::move(events));
    }

    [[nodiscard]] std::string hello() const
    {
        nlohmann::ordered_json line { { "event", "hello" }, { "format", kStreamFormat },
            { "version", kStreamVersion } };
        if (!m_settings.secrets.token.empty())
            line["token"] = m_settings.secrets.token;
        return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
    }

    void take(std::string_view bytes)
    {
        m_last.take(bytes);
        m_status.hear(bytes.size());
        const std::string_view passed = m_gate.passed(bytes, m_status.isPaused());
        if (passed.size() < bytes.size())
            m_status.drop(bytes.size() - passed.size());
        if (!passed.empty()) // what a full queue does not take is counted there
            std::ignore = m_sink.bytes(m_connection, passed, unixNow());
    }

    void leave()
    {
        if (m_isOpen)
            m_sink.closed(m_connection);
        m_isOpen = false;
    }

    void lose(const Error &why)
    {
        m_client.reset();
        if (m_isOpen && unixNow() - m_openedAt > kProven)
            m_status.forgetTries(); // a server that turns us away at once is asked less and less often
        leave();
        if (m_last.isEnd())
            return m_status.set(SourceState::Ended, "the stream has ended");
        const std::string refused = net::refusedReason(m_last.whole());
        const std::string reason = refused.empty() ? toString(why) : "the server refused: " + refused;
        m_last = {};
        const double wait = backOffSeconds(int(std::min<std::int64_t>(m_status.tries(), 1'000)), m_random(m_engine));
        m_again.start(wait, [this] { connect(); });
        m_status.set(SourceState::BackingOff, reason, wait);
    }

    net::Loop &m_loop;
    SourceSink &m_sink;
    const Address m_address;
    const SourceSettings m_settings;
    ReportedStatus m_status;
    net::Timer m_again;
    std::unique_ptr<net::StreamClient> m_client;
    std::uint64_t m_connection = 0;
    bool m_isOpen = false;
    Moment m_openedAt = 0;
    LineGate m_gate;
    LastLine m_last;
    std::mt19937 m_engine { std::random_device {}() };
    std::uniform_real_distribution<double> m_random { 0, 1 };
};

} // namespace

SourcePtr makeStreamReader(net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings)
{
    return std::make_unique<StreamReader>(loop, sink, address, settings);
}

} // namespace trainyard::live
