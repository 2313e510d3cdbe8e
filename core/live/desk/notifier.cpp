// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/desk/notifier.h"

#include "core/base/printable.h"
#include "core/base/text_file.h"
#include "core/base/words.h"
#include "core/live/net/http_client.h"
#include "core/live/net/process.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace trainyard::desk {

namespace {

constexpr std::size_t kMostTokenBytes = 64 << 10, kMostAnswer = 64 << 10, kMostSaid = 200;
constexpr int kFirstSignal = 129, kLastSignal = 192; // exit codes of what ended by a signal

/// The last line that says something.
std::string lastLineOf(std::string text)
{
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    text.resize(end == text.npos ? 0 : end + 1);
    const std::size_t start = text.find_last_of("\r\n");
    return printable(shortened(start == text.npos ? text : text.substr(start + 1), kMostSaid));
}

Expected<std::string> tokenIn(const std::string &path)
{
    if (path.empty())
        return std::string();
    auto text = readTextFile(path, "a file with the token, one line", { kMostTokenBytes, FileKinds::RegularOnly });
    while (text && (text->ends_with('\n') || text->ends_with('\r')))
        text->pop_back();
    if (text && (text->empty() || text->find_first_of("\r\n") != text->npos))
        return std::unexpected(Error { ErrorCode::BadValue, path, "is no token", "one line" });
    return text;
}

} // namespace

/// What all couriers count.
struct NoticeTally {
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    NotifierCounts counts;
    template <class Work> void change(Work work)
    {
        {
            const std::lock_guard lock(mutex);
            work(counts);
        }
        changed.notify_all();
    }
};

/// Of one target: what it has to be told, one after the other. Notifier's thread.
class Courier {
public:
    Courier(live::net::Loop &loop, NotifyTarget target, const std::string &token, const NotifierOptions &options,
        NoticeTally &tally)
        : m_loop(loop)
        , m_target(std::move(target))
        , m_options(options)
        , m_tally(tally)
        , m_timer(loop)
    {
        live::SourceSettings settings;
        settings.secrets.token = token;
        if (m_target.command.empty())
            m_client = std::make_unique<live::net::HttpClient>(loop, m_target.webhook, settings);
    }

    void send(const Notice &notice)
    {
        if (notice.act == AlarmAct::Cleared && !m_target.tellsCleared)
            return settle(&NotifierCounts::delivered);
        if (m_waiting.size() >= m_options.mostWaiting) {
            report(notice, "too many notices wait");
            return settle(&NotifierCounts::undelivered);
        }
        m_waiting.push_back(notice);
        if (m_waiting.size() == 1)
            tryNow();
    }

private:
    void tryNow()
    {
        ++m_tries;
        m_tally.change([](NotifierCounts &counts) { ++counts.tries; });
        const std::string message = messageOf(m_waiting.front());
        if (m_client)
            post(message);
        else
            run(message);
    }

    void post(const std::string &message)
    {
        live::net::HttpRequest request { .method = "POST", .target = m_target.webhook.path.empty() ? "/" : "" };
        request.headers["content-type"] = "application/json";
        request.body = message;
        request.secondsAtMost = m_target.timeoutSeconds;
        request.bytesAtMost = kMostAnswer;
        m_client->ask(std::move(request), [this](const Expected<live::net::HttpAnswer> &answer) {
            if (!answer)
                return failed(answer.error().what, true);
            const bool mayTakeItLater = answer->status >= 500 || answer->status == 429 || answer->status == 408;
            if (answer->status >= 200 && answer->status < 300)
                return done();
            failed("it answers with status " + std::to_string(answer->status), mayTakeItLater);
        });
    }

    void run(const std::string &message)
    {
        live::net::ProcessEvents events;
        events.output = [](std::string_view) {};
        events.ended = [this](int exitCode, const std::string &said) { ended(exitCode, said); };
        auto process = live::net::Process::start(m_loop, { m_target.command, message }, std::move(events));
        if (!process)
            return failed(process.error().what, true);
        m_process = std::move(*process);
        m_timer.start(m_target.timeoutSeconds, [this] {
            m_process.reset();
            failed("it takes longer than " + plainNumber(m_target.timeoutSeconds) + " s", true);
        });
    }

    void ended(int exitCode, const std::string &said)
    {
        const auto process = std::move(m_process); // which calls this, and ends behind it
        m_timer.cancel();
        if (exitCode == 0)
            return done();
        const bool isSignal = exitCode >= kFirstSignal && exitCode <= kLastSignal;
        const std::string how = isSignal ? "it ended by signal " + std::to_string(exitCode - kFirstSignal + 1)
                                         : "it ended with exit code " + std::to_string(exitCode);
        const std::string line = lastLineOf(said);
        failed(line.empty() ? how : how + ": " + line, true);
    }

    void failed(const std::string &why, bool mayTakeItLater)
    {
        if (mayTakeItLater && m_tries < m_options.mostTries) {
            const double seconds = m_options.firstWait * double(1 << std::min(m_tries - 1, 10));
            return m_timer.start(seconds, [this] { tryNow(); });
        }
        report(m_waiting.front(), why + ", after " + std::to_string(m_tries) + (m_tries == 1 ? " try" : " tries"));
        next(&NotifierCounts::undelivered);
    }

    void done() { next(&NotifierCounts::delivered); }

    void next(std::int64_t NotifierCounts::*outcome)
    {
        m_waiting.pop_front();
        m_tries = 0;
        settle(outcome);
        if (!m_waiting.empty())
            m_timer.start(0, [this] { tryNow(); }); // not within what has just ended
    }

    void settle(std::int64_t NotifierCounts::*outcome)
    {
        m_tally.change([&](NotifierCounts &counts) {
            ++(counts.*outcome);
            --counts.waiting;
        });
    }

    void report(const Notice &notice, const std::string &why) const
    {
        if (m_options.undelivered)
            m_options.undelivered(notice.alarm.number, m_target.name() + ": " + why);
    }

    live::net::Loop &m_loop;
    const NotifyTarget m_target;
    const NotifierOptions &m_options;
    NoticeTally &m_tally;
    live::net::Timer m_timer; // until the next try, or the end of this one
    std::unique_ptr<live::net::HttpClient> m_client; // null: a command
    std::unique_ptr<live::net::Process> m_process;
    std::deque<Notice> m_waiting; // the first is under way
    int m_tries = 0; // of the first
};

struct Notifier::Private {
    NotifierOptions options;
    NoticeTally tally;
    std::vector<std::unique_ptr<Courier>> couriers; // of the loop's thread
    live::net::Loop loop; // ends first
};

Notifier::Notifier(std::unique_ptr<Private> inside)
    : d(std::move(inside))
{
}

Expected<std::unique_ptr<Notifier>> Notifier::make(std::vector<NotifyTarget> targets, NotifierOptions options)
{
    std::vector<std::string> tokens;
    for (const NotifyTarget &target : targets) {
        auto token = tokenIn(target.tokenFile);
        if (!token)
            return std::unexpected(token.error());
        tokens.push_back(std::move(*token));
    }
    auto inside = std::make_unique<Private>();
    inside->options = std::move(options);
    inside->loop.call([&] {
        for (std::size_t i = 0; i < targets.size(); ++i)
            inside->couriers.push_back(std::make_unique<Courier>(
                inside->loop, std::move(targets[i]), tokens[i], inside->options, inside->tally));
    });
    return std::unique_ptr<Notifier>(new Notifier(std::move(inside)));
}

Notifier::~Notifier()
{
    d->loop.call([this] { d->couriers.clear(); });
}

void Notifier::send(const Notice &notice)
{
    const auto count = static_cast<std::int64_t>(d->couriers.size()); // which never changes
    d->tally.change([count](NotifierCounts &counts) { counts.waiting += count; });
    d->loop.post([this, notice] {
        for (const auto &courier : d->couriers)
            courier->send(notice);
    });
}

NotifierCounts Notifier::counts() const
{
    const std::lock_guard lock(d->tally.mutex);
    return d->tally.counts;
}

bool Notifier::waitUntilIdle(double seconds) const
{
    std::unique_lock lock(d->tally.mutex);
    return d->tally.changed.wait_for(
        lock, std::chrono::duration<double>(seconds), [this] { return d->tally.counts.waiting == 0; });
}

} // namespace trainyard::desk
