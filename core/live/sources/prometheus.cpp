// SPDX-License-Identifier: GPL-3.0-or-later
// A Prometheus server, asked every few seconds for what came since the last answer. One request is under way at a time;
// what could not be asked (the server away, the queue full, a pause) is asked for later, so that nothing is missing
// that the server has.
#include "core/base/units.h"
#include "core/base/words.h"
#include "core/live/net/http_client.h"
#include "core/live/sources/prometheus_answers.h"
#include "core/live/sources/prometheus_asks.h"
#include "core/live/sources/prometheus_reading.h"
#include "core/live/sources/reported_status.h"
#include "core/live/sources/sources.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace trainyard::live {

namespace {

using namespace prometheus;
using net::HttpAnswer;

constexpr double kOverlap = 15; // s: a scrape may be stored so long after the time that it bears
constexpr double kLongestBackfill = 86'400; // s, after an outage
constexpr double kSlow = 2, kLongestInterval = 60; // s: answers that take longer are asked for less often
constexpr int kRoundsBetweenLooks = 12; // for metrics that are new
constexpr double kQuick = 0.5; // s: asked more often again
constexpr double kBackfillIntervals = 4; // a round over more than these is no usual one
constexpr double kClockApart = 2; // s
constexpr double kFullQueue = 0.25; // s until a full queue is tried again
constexpr double kStaleIntervals = 3, kLeastStale = 30;

class PrometheusSource final : public Source {
public:
    PrometheusSource(net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings)
        : m_sink(sink)
        , m_settings(settings)
        , m_name(address.text())
        , m_client(loop, address, settings)
        , m_timer(loop)
        , m_status(loop, sink, address)
        , m_post(loop.poster())
        , m_interval(settings.intervalSeconds)
        , m_random(std::random_device {}())
    {
    }
    ~PrometheusSource() override { stop(); }

    void start() override
    {
        const SourceSecrets &secrets = m_settings.secrets;
        if ((!secrets.token.empty() || !secrets.password.empty()) && !m_status.now().address.isTls
            && !isLoopback(m_status.now().address.host))
            m_status.note("Its password or token goes over the network without TLS: https:// would hide it");
        m_from = unixNow() - Moment(std::min(m_settings.backfillSeconds, kLongestBackfill) * kNanosecondsPerSecond);
        begin(true);
    }
    void stop() override
    {
        m_timer.cancel();
        m_status.stop();
        *m_alive = false;
    }
    void setPaused(bool isPaused) override
    {
        m_status.setPaused(isPaused, "what comes meanwhile is asked for later");
        if (isPaused)
            m_timer.cancel();
        else if (!m_client.isBusy())
            begin(m_asks.empty());
    }
    void retryNow() override
    {
        if (!m_status.isPaused() && !m_client.isBusy())
            begin(true);
    }
    void refuse(std::uint64_t, const Error &) override { } // answers are decoded whole

private:
    struct Ask {
        std::string query;
        bool isSelector = true, isRefused = false;
    };

    /// A round: everything since the last one. `isNew`: the server's metrics are looked at first.
    void begin(bool isNew)
    {
        m_timer.cancel();
        m_now = unixNow() + m_offset;
        // Its clock, or ours, may have been set back.
        m_from = std::clamp(m_from, m_now - Moment(kLongestBackfill * kNanosecondsPerSecond), m_now);
        m_isBackfill = double(m_now - m_from) > kBackfillIntervals * m_interval * kNanosecondsPerSecond;
        m_slowest = 0;
        m_next = 0;
        m_at = m_from;
        if (isNew) {
            m_status.countTry();
            for (Ask &ask : m_asks)
                ask.isRefused = false;
        }
        if (isNew && m_status.state() != SourceState::Live && m_status.state() != SourceState::Stale)
            m_status.set(SourceState::Connecting);
        const bool looks = m_settings.queries.empty() && (isNew || ++m_rounds % kRoundsBetweenLooks == 0);
        if (looks)
            return lookForMetrics();
        if (m_asks.empty())
            for (const std::string &query : m_settings.queries)
                m_asks.push_back({ query, isSelector(query) });
        askNext();
    }

    void request(std::string target, void (PrometheusSource::*then)(HttpAnswer &&))
    {
        net::HttpRequest request;
        request.target = std::move(target);
        m_client.ask(std::move(request), [this, then](Expected<HttpAnswer> answer) {
            if (m_status.isPaused())
                return;
            if (!answer)
                return backOff(answer.error().where + ": " + answer.error().what);
            learnClock(*answer);
            if (answer->status != 200)
                return refused(*answer);
            (this->*then)(std::move(*answer));
        });
    }

    /// The server's clock is what windows are of. Its Date header is whole seconds: less is no difference.
    void learnClock(const HttpAnswer &answer)
    {
        const auto header = answer.headers.find("date");
        const auto told = header != answer.headers.end() ? httpDate(header->second) : std::nullopt;
        if (!told)
            return;
        const Moment offset = *told + Moment(kNanosecondsPerSecond / 2) - unixNow();
        const bool isOff = std::abs(double(offset)) > kClockApart * kNanosecondsPerSecond;
        const Moment before = std::exchange(m_offset, isOff ? offset : 0);
        if (std::abs(double(m_offset - before)) <= kClockApart * kNanosecondsPerSecond)
            return;
        m_status.note(formatted("Its clock is %.0f s %s this machine's",
            std::abs(double(offset)) / kNanosecondsPerSecond, offset > 0 ? "ahead of" : "behind"));
        m_from = std::max(Moment(0), m_from + m_offset - before);
    }

    void lookForMetrics()
    {
        request("/api/v1/label/__name__/values?start=" + std::to_string(m_from / 1'000'000'000),
            &PrometheusSource::foundMetrics);
    }

    void foundMetrics(HttpAnswer &&answer)
    {
        const auto names = listIn(answer.body);
        if (!names)
            return noApi(answer);
        const std::string selector = selectorOf(*names);
        m_asks.clear();
        if (!selector.empty()) {
            m_asks.push_back({ selector, true });
            return askNext();
        }
        m_status.note("It has no metric of DCGM, nvidia-smi, NCCL or of a host's network: "
            + std::to_string(names->size()) + " others. Name what to ask for (--query)");
        m_status.forgetTries();
        m_status.set(SourceState::Stale, "it has none of the metrics that are looked for");
        m_timer.start(m_interval, [this] { begin(true); });
    }

    void askNext()
    {
        while (m_next < m_asks.size() && m_asks[m_next].isRefused)
            ++m_next;
        if (m_next >= m_asks.size())
            return endRound();
        const Ask &ask = m_asks[m_next];
        const Moment overlap = Moment(kOverlap * kNanosecondsPerSecond);
        m_piece = firstPiece({ m_at, m_now }, longestPiece(ask.isSelector, m_interval));
        const Window window { m_at == m_from && ask.isSelector ? m_at - overlap : m_at, m_piece.to };
        request(targetOf(ask.query, window, m_interval), &PrometheusSource::answered);
    }

    void answered(HttpAnswer &&answer)
    {
        m_slowest = std::max(m_slowest, answer.seconds);
        give(std::make_shared<const std::string>(std::move(answer.body)));
    }

    /// To the reader; again later where its queue is full.
    void give(const std::shared_ptr<const std::string> &body)
    {
        const auto alive = m_alive;
        ++m_unread;
        const bool isTaken = m_sink.whole(
            body->size(),
            [this, alive, body, reading = m_reading, name = m_name, post = m_post](Moment received) {
                auto batch = decodePrometheus(*body, name, received);
                if (batch)
                    post([this, alive, seen = reading->look(*batch)] {
                        if (*alive)
                            saw(seen);
                    });
                return batch;
            },
            [this, alive](const Error &why) {
                if (!*alive)
                    return;
                m_status.note("What it answered cannot be read: " + why.what);
                readOne();
            });
        if (!isTaken) {
            --m_unread;
            m_timer.start(kFullQueue, [this, body] { give(body); });
            return;
        }
        m_status.forgetTries();
        if (m_status.state() != SourceState::Stale) // then samples make it live again, not answers
            m_status.hear(body->size(), 1);
        m_at = m_piece.to;
        if (m_at >= m_now) {
            m_at = m_from;
            ++m_next;
        }
        askNext();
    }

    void saw(const PrometheusReading::Seen &seen)
    {
        for (const std::string &change : seen.changes)
            m_status.note(change);
        m_down = seen.down;
        m_newest = seen.newest;
        readOne();
    }

    /// Of an answer. Once all of a round are read, its age is known.
    void readOne()
    {
        --m_unread;
        judgeAge();
    }

    /// Slow answers are asked for less often, and again as often as before once they are quick.
    void setPace()
    {
        if (m_isBackfill)
            return;
        const double wanted = m_slowest > kSlow ? std::min(kLongestInterval, 2 * m_interval)
            : m_slowest < kQuick                ? std::max(m_settings.intervalSeconds, m_interval / 2)
                                                : m_interval;
        if (wanted > m_interval)
            m_status.note(formatted("An answer took %.1f s: it is asked every %.0f s", m_slowest, wanted));
        m_interval = std::max(wanted, std::min(m_interval, m_settings.intervalSeconds));
    }

    void endRound()
    {
        m_from = m_now;
        setPace();
        if (m_asks.empty() || std::ranges::all_of(m_asks, &Ask::isRefused))
            return m_status.set(SourceState::Refused, "it refuses every query");
        ++m_completed;
        m_isRoundOver = true;
        judgeAge();
        m_timer.start(m_interval, [this] { begin(false); });
    }

    /// Stale or live, by its newest sample, where answers have come and all of them are read.
    void judgeAge()
    {
        const bool isTold = m_status.state() == SourceState::Live || m_status.state() == SourceState::Stale;
        if (m_unread > 0 || !m_isRoundOver || !isTold)
            return;
        m_isRoundOver = false;
        const double silent = double(m_now - m_newest) / kNanosecondsPerSecond;
        const std::string down = m_down == 0 ? ""
            : m_down == 1                    ? "; a target is down"
                                             : "; " + std::to_string(m_down) + " targets are down";
        if (m_newest == 0 && m_completed > 1)
            m_status.set(SourceState::Stale, "it answers, but has no samples of what is asked" + down);
        else if (m_newest > 0 && silent > std::max(kLeastStale, kStaleIntervals * m_interval))
            m_status.set(
                SourceState::Stale, formatted("it answers, but its newest sample is %.0f s old", silent) + down);
        else if (m_newest > 0 && m_status.state() == SourceState::Stale)
            m_status.hear(0);
    }

    void backOff(std::string why)
    {
        const double seconds = backOffSeconds(int(m_status.now().tries), std::uniform_real_distribution<>()(m_random));
        m_status.set(SourceState::BackingOff, std::move(why), seconds);
        m_timer.start(seconds, [this] { begin(true); });
    }

    void noApi(const HttpAnswer &answer)
    {
        backOff(isWebPage(answer.body)
                ? "a web page answers, not Prometheus' API: a login in between, or another prefix"
                : "what answers is not Prometheus' API");
    }

    /// Statuses other than 200.
    void refused(const HttpAnswer &answer)
    {
        const std::string why = errorIn(answer.body);
        const std::string status = std::to_string(answer.status);
        if (answer.status == 401 || answer.status == 403) {
            const SourceSecrets &secrets = m_settings.secrets;
            m_status.set(SourceState::Refused,
                secrets.token.empty() && secrets.user.empty()
                    ? "it wants to know who asks (" + status + "): a token, or a user and password"
                    : std::string("it refused the ") + (secrets.token.empty() ? "user or password" : "token") + " ("
                        + status + ")");
            return;
        }
        if (answer.status >= 300 && answer.status < 400) {
            const auto to = answer.headers.find("location");
            m_status.set(SourceState::Refused,
                "it sends to "
                    + (to != answer.headers.end()
                            ? to->second.substr(0, std::min<std::size_t>(200, to->second.find('?')))
                            : "another place")
                    + ": name that address, if you trust it");
            return;
        }
        if (answer.status == 404 && why.empty())
            return backOff("it has no API there (404): is the prefix right?");
        const bool isOfQuery = (answer.status == 400 || answer.status == 422) && m_next < m_asks.size();
        if (!isOfQuery)
            return backOff("it answered " + status + (why.empty() ? "" : ": " + why));
        // What cannot be read never will be; what cannot be computed now may be next time.
        m_asks[m_next].isRefused = why.find("parse error") != std::string::npos;
        m_status.note("It refuses \"" + m_asks[m_next].query + "\": " + why);
        m_at = m_from;
        ++m_next;
        askNext();
    }

    SourceSink &m_sink;
    const SourceSettings m_settings;
    const std::string m_name;
    net::HttpClient m_client;
    net::Timer m_timer;
    ReportedStatus m_status;
    const std::function<void(std::function<void()>)> m_post;
    const std::shared_ptr<bool> m_alive = std::make_shared<bool>(true); // loop's thread alone reads and writes it
    const std::shared_ptr<PrometheusReading> m_reading = std::make_shared<PrometheusReading>(); // reader's thread alone
    double m_interval; // s
    std::mt19937 m_random;
    std::vector<Ask> m_asks;
    std::size_t m_next = 0; // of m_asks
    int m_rounds = 0, m_completed = 0, m_down = 0;
    Moment m_from = 0; // of the round: what came since
    Moment m_now = 0; // of the round: up to here
    Moment m_at = 0; // of the ask: up to where it is answered
    Moment m_newest = 0; // sample
    Moment m_offset = 0; // its clock less ours
    bool m_isBackfill = false; // of the round
    bool m_isRoundOver = false; // and its age is not judged yet
    int m_unread = 0; // answers that the reader has not read yet
    double m_slowest = 0; // s, of its answers
    Window m_piece;
};

} // namespace

SourcePtr makePrometheus(net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings)
{
    return std::make_unique<PrometheusSource>(loop, sink, address, settings);
}

} // namespace trainyard::live
