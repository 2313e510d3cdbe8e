// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/serve.h"

#include "core/live/net/credentials.h"
#include "core/live/net/stream_client.h"
#include "core/live/stream_sender.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>

namespace trainyard::live {

namespace {

constexpr double kFarewell = 15; // s
constexpr std::size_t kMostSaid = 4'096; // bytes of what the listener says

/// A connection that comes again; what a connection has to begin with is said on each.
class Replaying {
public:
    Replaying(const Address &to, const SourceSettings &settings, const ServeOptions &options)
        : m_to(to)
        , m_settings(settings)
        , m_options(options)
    {
        m_status.address = to;
    }

    ~Replaying()
    {
        m_loop.call([&] { m_client.reset(); });
    }

    Expected<void> run(const Recording &recording)
    {
        TellOptions options;
        options.token = m_settings.secrets.token;
        options.speed = m_options.speed;
        options.isRepeated = m_options.isRepeated;
        options.isNow = m_options.isNow;
        Telling telling;
        telling.wait = [this](double seconds) { return wait(seconds); };
        telling.beginning = [this](const std::string &line) { m_beginning += line; };
        telling.send = [this](const std::string &block) { return send(block); };
        if (!awaitConnection()) // its clock begins when somebody hears it
            return ended();
        if (tellLines(recording, StreamParts(recording, kEventsOfLine), options, telling))
            finish();
        return ended();
    }

private:
    Expected<void> ended()
    {
        tell(true);
        const std::lock_guard lock(m_mutex);
        if (m_refusal)
            return std::unexpected(*m_refusal);
        return {};
    }

    bool wait(double seconds)
    {
        tell(false);
        std::unique_lock lock(m_mutex);
        if (seconds > 0)
            m_changed.wait_for(lock, m_options.stop,
                std::chrono::duration<double>(std::min(seconds, 2 * kBetweenStatuses)),
                [&] { return m_refusal.has_value(); });
        return !m_options.stop.stop_requested() && !m_refusal;
    }

    void connect()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_isOpen = m_isClosed = false;
            m_said.clear();
            ++m_status.tries;
            set(SourceState::Connecting, "");
        }
        net::StreamEvents events;
        events.opened = [this] {
            const std::lock_guard lock(m_mutex);
            m_isOpen = true;
            m_isFresh = true;
            set(SourceState::Live, "");
            m_changed.notify_all();
        };
        events.bytes = [this](std::string_view bytes) { hear(bytes); };
        events.closed = [this](const Error &why) {
            const std::lock_guard lock(m_mutex);
            m_isOpen = false;
            m_isClosed = true;
            set(SourceState::BackingOff, toString(why));
            m_changed.notify_all();
        };
        m_loop.call([&] {
            m_client.reset();
            m_client = std::make_unique<net::StreamClient>(m_loop, m_to, m_settings, std::move(events));
        });
    }

    /// What the listener says is why it turns us away, if anything.
    void hear(std::string_view bytes)
    {
        const std::lock_guard lock(m_mutex);
        m_said += bytes.substr(0, kMostSaid - std::min(kMostSaid, m_said.size()));
        for (std::size_t end = m_said.find('\n'); end != std::string::npos; end = m_said.find('\n')) {
            const std::string why = net::refusedReason(m_said.substr(0, end));
            m_said.erase(0, end + 1);
            if (why.empty())
                continue;
            m_refusal = Error { ErrorCode::BadValue, m_to.text(), "the listener refuses: " + why,
                why.find("token") != std::string::npos ? "its token, in a file: --token-file" : "" };
            m_changed.notify_all();
        }
    }

    /// False: stopped or refused.
    bool awaitConnection()
    {
        for (int tries = 1;; ++tries) {
            {
                const std::lock_guard lock(m_mutex);
                if (m_isOpen)
                    return true;
            }
            connect();
            for (;;) {
                {
                    const std::lock_guard lock(m_mutex);
                    if (m_isOpen)
                        return true;
                    if (m_isClosed)
                        break;
                }
                if (!wait(kBetweenStatuses))
                    return false;
            }
            const double seconds = backOffSeconds(tries, std::uniform_real_distribution<double>(0, 1)(m_random));
            const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
            while (std::chrono::steady_clock::now() < until)
                if (!wait(kBetweenStatuses))
                    return false;
        }
    }

    Sent send(const std::string &block)
    {
        for (;;) {
            bool isTaken = false, isGone = false;
            const bool isFresh = [&] {
                const std::lock_guard lock(m_mutex);
                isGone = !m_isOpen;
                return m_isFresh;
            }();
            if (isGone) {
                if (!awaitConnection())
                    return Sent::Gone;
                continue;
            }
            // The first block has the beginning in it; a later connection is told it anew
            const std::string again = isFresh && m_hasSent ? m_beginning : std::string();
            m_loop.call([&] { isTaken = m_client->send(again + block); });
            if (!isTaken)
                return Sent::Full;
            const std::lock_guard lock(m_mutex);
            m_isFresh = false;
            m_hasSent = true;
            m_status.bytes += std::ssize(block);
            m_status.batches += std::ranges::count(block, '\n');
            return Sent::Taken;
        }
    }

    /// Waits until all that was sent is there.
    void finish()
    {
        m_loop.call([&] { m_client->finish(); });
        std::unique_lock lock(m_mutex);
        m_changed.wait_for(lock, m_options.stop, std::chrono::duration<double>(kFarewell),
            [&] { return m_isClosed || m_refusal.has_value(); });
        set(SourceState::Ended, "");
    }

    void set(SourceState state, const std::string &reason) // under the lock
    {
        if (m_status.state != state)
            m_status.since = unixNow();
        m_status.state = state;
        m_status.reason = reason;
    }

    void tell(bool isLast)
    {
        const auto now = std::chrono::steady_clock::now();
        if (!m_options.status || (!isLast && now - m_told < std::chrono::duration<double>(kBetweenStatuses)))
            return;
        m_told = now;
        SourceStatus status;
        {
            const std::lock_guard lock(m_mutex);
            status = m_status;
        }
        m_options.status(status);
    }

    const Address m_to;
    const SourceSettings &m_settings;
    const ServeOptions &m_options;
    std::chrono::steady_clock::time_point m_told;
    std::string m_beginning; // of the telling thread, as is the next
    bool m_hasSent = false;
    std::minstd_rand m_random { std::random_device()() };
    std::mutex m_mutex; // of what follows
    std::condition_variable_any m_changed;
    SourceStatus m_status;
    std::string m_said;
    std::optional<Error> m_refusal;
    bool m_isOpen = false, m_isClosed = false, m_isFresh = false;
    std::unique_ptr<net::StreamClient> m_client; // the loop's
    net::Loop m_loop;
};

} // namespace

Expected<void> replayTo(
    const Recording &recording, const Address &to, const SourceSettings &settings, const ServeOptions &options)
{
    if (to.type != SourceType::Stream && to.type != SourceType::WebSocket)
        return std::unexpected(Error { ErrorCode::BadValue, to.text(), "a recording cannot be told there",
            "tcp://HOST:PORT, tls://HOST:PORT or ws://HOST:PORT of somebody who listens" });
    if (auto checked = checkSettings(to, settings); !checked)
        return checked;
    return Replaying(to, settings, options).run(recording);
}

} // namespace trainyard::live
