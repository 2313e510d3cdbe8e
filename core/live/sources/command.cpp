// SPDX-License-Identifier: GPL-3.0-or-later
// What a command of the user's prints. When it fails it is begun again, later each time; when it ends well it is over.
// It may be the training itself, which must not wait: while it is paused it runs on and what it prints is dropped; what
// there is no room for is dropped too, but for a second in which a command that prints an old log waits.
#include "core/base/words.h"
#include "core/live/net/process.h"
#include "core/live/sources/sources.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

namespace trainyard::live {

namespace {

constexpr double kSteady = 60; // s; one that ran so long before it failed is begun again at once
constexpr std::size_t kMostErrorText = 300;
constexpr double kUntilRoomSeconds = 0.01, kLongestHold = 1; // s

/// The last line that is not empty.
std::string lastLine(std::string_view text)
{
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    if (end == text.npos)
        return {};
    text = text.substr(0, end + 1);
    const std::size_t start = text.find_last_of("\r\n");
    text = start == text.npos ? text : text.substr(start + 1);
    return std::string(text.substr(0, kMostErrorText));
}

std::string reasonOf(int exitCode, const std::string &standardError)
{
    const std::string said = lastLine(standardError);
    const std::string how = exitCode < 0    ? std::string("it ended")
        : exitCode > 128 && exitCode <= 192 ? formatted("it ended by signal %d", exitCode - 128)
                                            : formatted("it ended with exit code %d", exitCode);
    return said.empty() ? how : how + ": " + said;
}

class Command final : public Source {
public:
    Command(net::Loop &loop, SourceSink &sink, Address address)
        : m_loop(loop)
        , m_sink(sink)
        , m_again(loop)
        , m_room(loop)
    {
        m_status.address = std::move(address);
    }
    ~Command() override { Command::stop(); }

    void start() override
    {
        m_isStarted = true;
        run();
    }

    void stop() override
    {
        m_isStarted = false;
        m_again.cancel();
        forget();
        m_process.reset();
    }

    void setPaused(bool isPaused) override
    {
        if (m_isPaused == isPaused)
            return;
        m_isPaused = isPaused;
        if (isPaused)
            tell(SourceState::Paused, "what it prints is dropped");
        else
            tell(m_unpaused, m_reason);
    }

    void retryNow() override
    {
        if (!m_isStarted || m_process)
            return;
        m_status.tries = 0;
        run();
    }

    void refuse(std::uint64_t connection, const Error &why) override
    {
        if (connection != m_connection)
            return;
        forget();
        m_process.reset();
        closeConnection();
        become(SourceState::Refused, why.what + (why.right.empty() ? "" : "; expected " + why.right));
    }

private:
    using Clock = std::chrono::steady_clock;

    void tell(SourceState state, const std::string &reason)
    {
        if (m_status.state != state)
            m_status.since = unixNow();
        m_status.state = state;
        m_status.reason = reason;
        m_sink.status(m_status);
    }

    void become(SourceState state, const std::string &reason)
    {
        const bool isNew = m_unpaused != state || m_reason != reason;
        m_unpaused = state;
        m_reason = reason;
        if (isNew && !m_isPaused)
            tell(state, reason);
    }

    void closeConnection()
    {
        if (std::exchange(m_isOpen, false))
            m_sink.closed(m_connection);
    }

    void run()
    {
        m_again.cancel();
        m_status.nextTry = 0;
        m_begun = Clock::now();
        m_hasPrinted = false;
        const std::string &command = m_status.address.path;
        auto process = net::Process::start(m_loop, command,
            { [this](std::string_view bytes) { take(bytes); },
                [this](int exitCode, const std::string &said) { ended(exitCode, said); } });
        if (!process)
            return tryLater(process.error().what);
        m_process = std::move(*process);
        m_sink.opened(++m_connection, makeTextDecoder(command));
        m_isOpen = true;
        become(SourceState::Connecting, "it has printed nothing yet");
    }

    void take(std::string_view bytes)
    {
        m_hasPrinted = true;
        if (m_isPaused) {
            m_unpaused = SourceState::Live;
            m_reason.clear();
            return m_sink.skipped(m_connection, static_cast<std::int64_t>(bytes.size()));
        }
        become(SourceState::Live, "");
        if (m_sink.tryBytes(m_connection, bytes, unixNow()))
            return;
        m_held = bytes;
        m_heldSince = Clock::now();
        m_process->setReading(false);
        m_room.start(kUntilRoomSeconds, [this] { giveHeld(); });
    }

    void giveHeld()
    {
        const bool isLate = Clock::now() - m_heldSince > std::chrono::duration<double>(kLongestHold);
        if (m_isPaused)
            m_sink.skipped(m_connection, std::ssize(m_held));
        else if (isLate)
            static_cast<void>(m_sink.bytes(m_connection, m_held, unixNow())); // what it has no room for it counts
        else if (!m_sink.tryBytes(m_connection, m_held, unixNow()))
            return m_room.start(kUntilRoomSeconds, [this] { giveHeld(); });
        m_held.clear();
        m_process->setReading(true);
    }

    void forget()
    {
        m_room.cancel();
        m_held.clear();
    }

    void ended(int exitCode, const std::string &said)
    {
        const auto process = std::move(m_process); // which calls this, and ends behind it
        closeConnection();
        if (exitCode == 0)
            return become(SourceState::Ended, "the command is over");
        if (!m_hasPrinted && (exitCode == 126 || exitCode == 127)) // of the shell: no such command
            return become(SourceState::Refused, reasonOf(exitCode, said));
        if (Clock::now() - m_begun > std::chrono::duration<double>(kSteady))
            m_status.tries = 0;
        tryLater(reasonOf(exitCode, said));
    }

    void tryLater(const std::string &why)
    {
        ++m_status.tries;
        const double random = std::uniform_real_distribution<double>(0, 1)(m_random);
        const double seconds = backOffSeconds(static_cast<int>(std::min<std::int64_t>(m_status.tries, 100)), random);
        m_status.nextTry = unixNow() + static_cast<Moment>(seconds * 1e9);
        m_again.start(seconds, [this] { run(); });
        m_unpaused = SourceState::Idle; // each try is told, also where it fails as the one before
        become(SourceState::BackingOff, why);
    }

    net::Loop &m_loop;
    SourceSink &m_sink;
    net::Timer m_again, m_room;
    std::string m_held; // what there was no room for
    SourceStatus m_status;
    SourceState m_unpaused = SourceState::Idle;
    std::string m_reason;
    std::unique_ptr<net::Process> m_process;
    std::uint64_t m_connection = 0;
    bool m_isOpen = false, m_isStarted = false, m_isPaused = false, m_hasPrinted = false;
    Clock::time_point m_begun, m_heldSince;
    std::minstd_rand m_random { std::random_device()() };
};

} // namespace

SourcePtr makeCommand(net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &)
{
    return std::make_unique<Command>(loop, sink, address);
}

} // namespace trainyard::live
