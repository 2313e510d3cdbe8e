// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/process.h"

#include "core/live/net/loop_internal.h"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainyard::live::net {

/// What a program reads, as a file in memory that is gone with it: nobody has to write while it reads, or not.
struct StandardInput {
    int file = -1; // -1: nothing
    StandardInput() = default;
    ~StandardInput()
    {
        if (file >= 0)
            ::close(file);
    }
    StandardInput(const StandardInput &) = delete;
    StandardInput &operator=(const StandardInput &) = delete;
    /// False: errno says why.
    bool hold(const std::string &text)
    {
        file = ::memfd_create("standard-input", MFD_CLOEXEC);
        return file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size())
            && ::lseek(file, 0, SEEK_SET) == 0;
    }
};

namespace {

constexpr std::size_t kAtOnce = std::size_t(64) << 10;
constexpr std::size_t kKeptOfErrors = 2'000; // bytes of standard error, the last ones
constexpr double kBetweenLooks = 0.05; // s, for the end of a command that closed its output
constexpr auto kGrace = std::chrono::seconds(2); // between TERM and KILL
constexpr auto kBetweenLooksAtEnd = std::chrono::milliseconds(20);

struct ChildPipe {
    int ends[2] = { -1, -1 }; // to read, to write
    bool open() { return ::pipe2(ends, O_CLOEXEC) == 0; }
    ~ChildPipe()
    {
        for (const int end : ends)
            if (end >= 0)
                ::close(end);
    }
    int takeReader() { return std::exchange(ends[0], -1); }
};

/// The program in a group of its own; its process id, or the negative error.
pid_t spawned(
    const std::vector<std::string> &words, const StandardInput &input, const ChildPipe &output, const ChildPipe &errors)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (const int fault = ::posix_spawn_file_actions_init(&files))
        return -fault;
    if (const int fault = ::posix_spawnattr_init(&attributes)) {
        ::posix_spawn_file_actions_destroy(&files);
        return -fault;
    }
    sigset_t all, none;
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    sigemptyset(&none);
    if (input.file < 0)
        ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    else
        ::posix_spawn_file_actions_adddup2(&files, input.file, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, output.ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, errors.ends[1], STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1); // no socket of ours stays open in it
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    // A session of its own is a group of its own, and has no terminal that ssh could ask a password on
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    std::vector<char *> arguments;
    for (const std::string &word : words)
        arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int fault = ::posix_spawnp(&child, arguments[0], &files, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return fault != 0 ? -fault : child;
}

int exitCodeOf(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : -1;
}

/// Groups that were asked to end and have not yet: where the program ends before them, they are killed.
class EndingGroups {
public:
    static EndingGroups &all()
    {
        static EndingGroups *const groups = [] { // lives for ever, since threads that end groups may outlive statics
            std::atexit([] { all().killAll(); });
            return new EndingGroups;
        }();
        return *groups;
    }
    void add(pid_t leader)
    {
        const std::lock_guard lock(m_mutex);
        m_leaders.insert(leader);
    }
    /// The leader is reaped last: until then nobody else gets its number.
    void killAndReap(pid_t leader)
    {
        const std::lock_guard lock(m_mutex);
        ::kill(-leader, SIGKILL);
        while (::waitpid(leader, nullptr, 0) < 0 && errno == EINTR) { }
        m_leaders.erase(leader);
    }

private:
    void killAll()
    {
        const std::lock_guard lock(m_mutex);
        for (const pid_t leader : m_leaders)
            ::kill(-leader, SIGKILL);
    }
    std::mutex m_mutex;
    std::set<pid_t> m_leaders;
};

/// Ends a group on a thread of its own, so that nobody waits.
void endGroup(pid_t leader)
{
    EndingGroups::all().add(leader);
    ::kill(-leader, SIGTERM);
    std::thread([leader] {
        const auto until = Clock::now() + kGrace;
        siginfo_t ended {};
        while (Clock::now() < until) {
            ended.si_pid = 0;
            if (::waitid(P_PID, static_cast<id_t>(leader), &ended, WEXITED | WNOHANG | WNOWAIT) != 0
                || ended.si_pid == leader)
                break;
            std::this_thread::sleep_for(kBetweenLooksAtEnd);
        }
        std::this_thread::sleep_for(kBetweenLooksAtEnd); // for its children, which had TERM at the same time
        EndingGroups::all().killAndReap(leader);
    }).detach();
}

} // namespace

struct Process::Private : std::enable_shared_from_this<Process::Private> {
    using Stream = asio::posix::stream_descriptor;

    Private(Loop &loop, ProcessEvents own)
        : events(std::move(own))
        , output(loop.inside().io)
        , errors(loop.inside().io)
        , looks(loop)
    {
    }

    void readOutput()
    {
        isUnderWay = true;
        output.async_read_some(asio::buffer(block), [self = shared_from_this()](auto fault, std::size_t size) {
            self->isUnderWay = false;
            if (self->isOver)
                return;
            if (size > 0)
                self->events.output({ self->block.data(), size });
            if (self->isOver)
                return;
            if (fault)
                self->look();
            else if (self->reads)
                self->readOutput();
        });
    }

    void readErrors()
    {
        errors.async_read_some(asio::buffer(errorBlock), [self = shared_from_this()](auto fault, std::size_t size) {
            self->said.append(self->errorBlock.data(), size);
            if (self->said.size() > kKeptOfErrors)
                self->said.erase(0, self->said.size() - kKeptOfErrors);
            if (!fault && !self->isOver)
                self->readErrors();
        });
    }

    /// Its output is over: it ends now, or soon.
    void look()
    {
        int status = 0;
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno == EINTR)) {
            looks.start(kBetweenLooks, [this] { look(); });
            return;
        }
        child = 0;
        // what it said last may stand in the pipe still
        looks.start(kBetweenLooks, [this, code = ended < 0 ? -1 : exitCodeOf(status)] {
            isOver = true;
            const auto self = shared_from_this();
            self->events.ended(code, self->said);
        });
    }

    ProcessEvents events;
    Stream output, errors;
    Timer looks;
    std::array<char, kAtOnce> block {};
    std::array<char, 4'096> errorBlock {};
    std::string said;
    pid_t child = 0; // 0: ended and reaped
    bool isOver = false;
    bool reads = true, isUnderWay = false;
};

Process::Process(std::shared_ptr<Private> inside)
    : d(std::move(inside))
{
}

Expected<std::unique_ptr<Process>> Process::start(Loop &loop, const std::string &command, ProcessEvents events)
{
    auto process = begin(loop, { "/bin/sh", "-c", command }, StandardInput(), std::move(events));
    if (!process)
        return std::unexpected(Error { ErrorCode::CannotRead, command, process.error().what, "" });
    return process;
}

Expected<std::unique_ptr<Process>> Process::start(Loop &loop, const ProgramCall &call, ProcessEvents events)
{
    StandardInput input;
    if (!input.hold(call.input))
        return std::unexpected(Error { ErrorCode::CannotRead, call.arguments.front(),
            std::string("there is no room for its input: ") + std::strerror(errno), "" });
    return begin(loop, call.arguments, input, std::move(events));
}

Expected<std::unique_ptr<Process>> Process::begin(
    Loop &loop, const std::vector<std::string> &arguments, const StandardInput &input, ProcessEvents events)
{
    const auto cannot = [&](int fault) {
        return std::unexpected(Error { ErrorCode::CannotRead, arguments.front(),
            std::string("it cannot be started: ") + std::strerror(fault), "" });
    };
    ChildPipe output, errors;
    if (!output.open() || !errors.open())
        return cannot(errno);
    const pid_t child = spawned(arguments, input, output, errors);
    if (child < 0)
        return cannot(-child);
    const auto inside = std::make_shared<Private>(loop, std::move(events));
    inside->child = child;
    inside->output.assign(output.takeReader());
    inside->errors.assign(errors.takeReader());
    inside->readOutput();
    inside->readErrors();
    return std::unique_ptr<Process>(new Process(inside));
}

void Process::setReading(bool reads)
{
    d->reads = reads;
    if (reads && !d->isUnderWay && !d->isOver && d->output.is_open() && !d->looks.isActive())
        d->readOutput();
}

Process::~Process()
{
    d->isOver = true;
    d->looks.cancel();
    ErrorCodeOfSystem ignored;
    d->output.close(ignored);
    d->errors.close(ignored);
    if (d->child > 0)
        endGroup(d->child);
}

} // namespace trainyard::live::net
