// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/solver/child_internal.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h> // NOLINT(modernize-deprecated-headers): mkdtemp
#include <sys/wait.h>
#include <unistd.h>

namespace trainyard::detail {

namespace {

std::string reason(int error)
{
    return std::generic_category().message(error);
}

/// What the child begins with: its files, and no signal held back as it may be in our threads.
class Beginning {
public:
    explicit Beginning(const std::filesystem::path &log)
    {
        ::posix_spawn_file_actions_init(&m_files);
        ::posix_spawn_file_actions_addopen(&m_files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(
            &m_files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
        ::posix_spawn_file_actions_adddup2(&m_files, STDOUT_FILENO, STDERR_FILENO);
        ::posix_spawn_file_actions_addclosefrom_np(&m_files, STDERR_FILENO + 1);
        ::posix_spawnattr_init(&m_attributes);
        sigset_t none;
        ::sigemptyset(&none);
        ::posix_spawnattr_setsigmask(&m_attributes, &none);
        ::posix_spawnattr_setflags(&m_attributes, POSIX_SPAWN_SETSIGMASK);
    }
    ~Beginning()
    {
        ::posix_spawnattr_destroy(&m_attributes);
        ::posix_spawn_file_actions_destroy(&m_files);
    }
    Beginning(const Beginning &) = delete;
    Beginning &operator=(const Beginning &) = delete;

    /// An error number, or 0.
    int spawn(pid_t &child, const std::vector<std::string> &command) const
    {
        std::vector<char *> arguments;
        for (const std::string &argument : command)
            arguments.push_back(const_cast<char *>(argument.c_str())); // it reads them
        arguments.push_back(nullptr);
        return ::posix_spawnp(&child, arguments.front(), &m_files, &m_attributes, arguments.data(), ::environ);
    }

private:
    posix_spawn_file_actions_t m_files {};
    posix_spawnattr_t m_attributes {};
};

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
    if (const int error = Beginning(log).spawn(child, command); error != 0)
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
