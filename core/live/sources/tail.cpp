// SPDX-License-Identifier: GPL-3.0-or-later
// A log that grows, by its inode and an offset: looked at four times a second and read in pieces. When it is renamed or
// removed, what is left of it is read before the file that stands at its place; when it gets shorter, it is read from
// its beginning.
#include "core/live/sources/sources.h"
#include "core/live/sources/worker.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace trainyard::live {

namespace {

constexpr std::size_t kAtOnce = std::size_t(256) << 10;
constexpr std::chrono::milliseconds kBetweenLooks(250);
constexpr std::uint64_t kConnection = 1;

class OpenLog { // closes itself
public:
    explicit OpenLog(int number = -1)
        : m_number(number)
    {
    }
    ~OpenLog() { close(); }
    OpenLog(const OpenLog &) = delete;
    OpenLog &operator=(const OpenLog &) = delete;
    void close(int next = -1) // and takes another one
    {
        if (m_number >= 0)
            ::close(m_number);
        m_number = next;
    }
    [[nodiscard]] int number() const { return m_number; }

private:
    int m_number;
};

struct LogPlace { // of a file: which it is, whatever its name
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const LogPlace &) const = default;
};

LogPlace placeOf(const struct stat &facts)
{
    return { facts.st_dev, facts.st_ino };
}

class Tail final : public Worker {
public:
    Tail(SourceSink &sink, const Address &address, const SourceSettings &settings)
        : Worker(sink, address)
        , m_isFromEnd(settings.fromEnd)
    {
    }

private:
    void run() override;
    [[nodiscard]] const char *pauseMeans() const override { return "it goes on where it was"; }

    void open();
    void readOn();
    bool put(std::string_view bytes);
    void followName();
    void beginAnew(const char *what);
    void fail(int fault);

    const bool m_isFromEnd;
    OpenLog m_file;
    LogPlace m_place;
    std::int64_t m_offset = 0;
    std::int64_t m_replaced = 0, m_shortened = 0; // times
    char m_last = '\n'; // byte that was given
    bool m_isFirst = true;
    bool m_isGone = false; // nothing stands at its name now
    std::string m_block = std::string(kAtOnce, '\0');
};

void Tail::fail(int fault)
{
    m_file.close();
    if (fault == ENOENT || fault == ENOTDIR)
        become(SourceState::Connecting, path() + " is not there yet");
    else if (fault == EISDIR)
        become(SourceState::Refused, path() + " is a folder; expected a log in it");
    else if (fault == ESPIPE)
        become(SourceState::Refused, path() + " is no file; expected command:cat " + path());
    else if (fault == ESTALE)
        become(SourceState::Connecting, path() + " was taken away; waiting for the next one");
    else
        become(SourceState::Refused, path() + " cannot be read: " + std::strerror(fault));
}

void Tail::open()
{
    m_file.close(::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    struct stat facts { };
    if (m_file.number() < 0 || ::fstat(m_file.number(), &facts) != 0)
        return fail(errno);
    if (!S_ISREG(facts.st_mode))
        return fail(S_ISDIR(facts.st_mode) ? EISDIR : ESPIPE);
    m_place = placeOf(facts);
    m_offset = 0;
    m_isGone = false;
    if (std::exchange(m_isFirst, false) && m_isFromEnd && facts.st_size > 0) {
        m_offset = facts.st_size;
        if (::pread(m_file.number(), &m_last, 1, m_offset - 1) != 1)
            m_last = '\n';
        if (m_last != '\n') // the rest of a line whose beginning is left out
            withSink([](SourceSink &sink) { sink.skipped(kConnection, 0); });
    }
    if (facts.st_size == m_offset)
        become(SourceState::Connecting, "nothing was written to it yet");
}

/// Gives bytes, later where the queue is full. False: stopped or paused.
bool Tail::put(std::string_view bytes)
{
    for (;;) {
        if (isPaused())
            return false;
        bool isTaken = false;
        if (!withSink([&](SourceSink &sink) { isTaken = sink.tryBytes(kConnection, bytes, unixNow()); }))
            return false;
        if (isTaken) {
            become(SourceState::Live, "");
            m_last = bytes.back();
            return true;
        }
        if (!wait(kUntilRoom, false))
            return false;
    }
}

/// What is in the file now.
void Tail::readOn()
{
    for (;;) {
        struct stat facts { };
        if (::fstat(m_file.number(), &facts) != 0)
            return fail(errno);
        if (facts.st_size < m_offset) {
            ++m_shortened;
            beginAnew("It was made shorter and read from its beginning");
        }
        const ssize_t size = ::pread(m_file.number(), m_block.data(), m_block.size(), m_offset);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return fail(errno);
        if (size == 0 || !put({ m_block.data(), static_cast<std::size_t>(size) }))
            return;
        m_offset += size;
    }
}

/// The next bytes are of a file's beginning: half a line that was left before it is no line of it.
void Tail::beginAnew(const char *what)
{
    m_offset = 0;
    const std::int64_t times = m_shortened + m_replaced;
    note(0, times == 1 ? std::string(what) : std::string(what) + ", or replaced, " + std::to_string(times) + " times");
    if (std::exchange(m_last, '\n') == '\n')
        return;
    withSink([](SourceSink &sink) {
        sink.skipped(kConnection, 0);
        static_cast<void>(sink.bytes(kConnection, "\n", unixNow()));
    });
}

/// Whether another file stands at its name now.
void Tail::followName()
{
    struct stat facts { };
    if (::stat(path().c_str(), &facts) != 0) {
        if (errno == ENOENT && !std::exchange(m_isGone, true))
            become(SourceState::Connecting, path() + " was taken away; waiting for the next one");
        return;
    }
    m_isGone = false;
    if (placeOf(facts) == m_place)
        return;
    readOn(); // what came since
    if (isPaused() || m_file.number() < 0)
        return;
    ++m_replaced;
    beginAnew("It was replaced, as logs are rotated");
    open();
    if (m_file.number() >= 0)
        readOn();
}

void Tail::run()
{
    const auto begin = [this](SourceSink &sink) { sink.opened(kConnection, makeTextDecoder(path())); };
    withSink(begin);
    become(SourceState::Connecting, "it is looked for");
    do {
        const bool isAsked = takeRetry();
        if (isPaused() || (state() == SourceState::Refused && !isAsked))
            continue;
        if (state() == SourceState::Refused) {
            withSink([](SourceSink &sink) { sink.closed(kConnection); });
            withSink(begin);
            become(SourceState::Connecting, "it is looked for");
        }
        if (m_file.number() < 0)
            open();
        if (m_file.number() >= 0)
            readOn();
        if (m_file.number() >= 0)
            followName();
    } while (wait(kBetweenLooks));
}

} // namespace

SourcePtr makeTail(net::Loop &, SourceSink &sink, const Address &address, const SourceSettings &settings)
{
    return sourceOf(std::make_shared<Tail>(sink, address, settings));
}

} // namespace trainyard::live
