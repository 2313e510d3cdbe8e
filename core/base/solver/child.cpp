// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/solver/child_internal.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <stdlib.h> // NOLINT(modernize-deprecated-headers): mkdtemp
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainyard::detail {

namespace {

std::string reason(int error)
{
    return std::generic_category().message(error);
}

/// The child's side of a fork, where nothing but system calls may be made: it dies with the thread that waits for it,
/// has no file but its own and no signal held back as it may be in our threads. Does not return; what failed goes to
/// `fault`.
[[noreturn]] void become(char *const *arguments, const char *log, pid_t parent, int fault)
{
    sigset_t none;
    ::sigemptyset(&none);
    const auto isMoved = [](int descriptor, int to) { return descriptor >= 0 && ::dup2(descriptor, to) >= 0; };
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent // else the parent is gone by now
        && isMoved(fault, STDERR_FILENO + 1) && ::fcntl(STDERR_FILENO + 1, F_SETFD, FD_CLOEXEC) == 0
        && isMoved(::open("/dev/null", O_RDONLY), STDIN_FILENO)
        && isMoved(::open(log, O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR), STDOUT_FILENO)
        && isMoved(STDOUT_FILENO, STDERR_FILENO)) {
        ::closefrom(STDERR_FILENO + 2);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::execvp(arguments[0], arguments);
    }
    const int error = errno;
    [[maybe_unused]] const ssize_t told = ::write(STDERR_FILENO + 1, &error, sizeof error);
    ::_exit(127);
}

/// An error number, or 0 once the program runs.
int start(pid_t &child, const std::vector<std::string> &command, const std::filesystem::path &log)
{
    std::vector<char *> arguments;
    for (const std::string &argument : command)
        arguments.push_back(const_cast<char *>(argument.c_str())); // it reads them
    arguments.push_back(nullptr);
    int fault[2] = { -1, -1 }; // closed by a program that begins
    if (::pipe2(fault, O_CLOEXEC) != 0)
        return errno;
    const pid_t parent = ::getpid();
    child = ::fork();
    if (child == 0)
        become(arguments.data(), log.c_str(), parent, fault[1]);
    int error = child < 0 ? errno : 0;
    ::close(fault[1]);
    ssize_t got = 0;
    while (child > 0 && (got = ::read(fault[0], &error, sizeof error)) < 0 && errno == EINTR) { }
    ::close(fault[0]);
    if (got > 0)
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) { }
    return error;
}

} // namespace

PrivateDirectory::PrivateDirectory()
{
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    std::string name = (parent / "trainyard-solver-XXXXXX").string();
    if (!error && ::mkdtemp(name.data()) != nullptr)
        m_path = name;
}

PrivateDirectory::~PrivateDirectory()
{
    std::error_code ignored;
    if (!m_path.empty())
        std::filesystem::remove_all(m_path, ignored);
}

Expected<ChildEnd> runChild(const std::vector<std::string> &command, const std::filesystem::path &log, double seconds,
    const std::stop_token &stop)
{
    using Clock = std::chrono::steady_clock;
    using namespace std::chrono_literals;
    if (stop.stop_requested())
        return std::unexpected(Error { ErrorCode::Cancelled, command.front(), "stopped", {} });
    pid_t child = -1;
    if (const int error = start(child, command, log); error != 0)
        return std::unexpected(Error { ErrorCode::CannotRead, command.front(), reason(error), {} });
    const auto last = Clock::now() + std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e6));
    ChildEnd end;
    int status = 0;
    for (auto pause = Clock::duration(200us);; pause = std::min<Clock::duration>(pause * 3 / 2, 10ms)) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child)
            break;
        if (ended < 0 && errno != EINTR) // somebody else waited for it: how it ended is not known
            return std::unexpected(Error { ErrorCode::CannotRead, command.front(), reason(errno), {} });
        end.isLate = Clock::now() > last;
        if (end.isLate || stop.stop_requested()) {
            ::kill(child, SIGKILL);
            while (::waitpid(child, &status, 0) < 0 && errno == EINTR) { }
            break;
        }
        std::this_thread::sleep_for(pause);
    }
    if (stop.stop_requested())
        return std::unexpected(Error { ErrorCode::Cancelled, command.front(), "stopped", {} });
    end.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return end;
}

} // namespace trainyard::detail
