// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/pdf_report.h"

#include "core/base/error.h"
#include "core/facts/plan/embedded_plan.h"
#include "core/facts/plan/plan_io.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace trainyard::cli {

namespace {

std::filesystem::path programBesideThis()
{
    std::error_code failed;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
    return failed ? std::filesystem::path() : self.parent_path() / "trainyard";
}

/// The child: the plan comes through the pipe, relative names of files are those of the plan's folder.
[[noreturn]] void become(
    const std::filesystem::path &program, const std::string &folder, const std::string &out, std::array<int, 2> pipe)
{
    ::dup2(pipe[0], STDIN_FILENO);
    ::close(pipe[0]);
    ::close(pipe[1]);
    ::setenv("QT_QPA_PLATFORM", "offscreen", 1);
    if (folder.empty() || ::chdir(folder.c_str()) == 0)
        ::execl(program.c_str(), program.c_str(), "--report", "--out", out.c_str(), "-", static_cast<char *>(nullptr));
    ::_exit(127);
}

bool feed(int descriptor, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR)
            return false;
        text.remove_prefix(std::size_t(std::max<ssize_t>(written, 0)));
    }
    return true;
}

} // namespace

Expected<void> writePdfReport(const Evaluation &evaluation, const std::string &path)
{
    const auto failed = [&](const std::string &what, const std::string &right) {
        return std::unexpected(Error { ErrorCode::CannotWrite, path, what, right });
    };
    const std::filesystem::path program = programBesideThis();
    if (program.empty() || ::access(program.c_str(), X_OK) != 0)
        return failed("a PDF is made by the program trainyard, which is not beside trainyard-cli",
            "an installation with the window, or a name that ends in .html");
    std::error_code ignored;
    const std::string out = std::filesystem::absolute(path, ignored).string();
    const std::string text = formatPlan(withModelInside(*evaluation.plan, evaluation.model));
    std::array<int, 2> pipe {};
    if (::pipe(pipe.data()) != 0)
        return failed("no pipe could be made", {});
    const pid_t child = ::fork();
    if (child == 0)
        become(program, evaluation.plan->baseDir, out, pipe);
    ::close(pipe[0]);
    const auto before = std::signal(SIGPIPE, SIG_IGN); // a child that has ended is told by its exit code
    const bool isFed = child > 0 && feed(pipe[1], text);
    ::close(pipe[1]);
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) { }
    std::signal(SIGPIPE, before);
    if (!isFed || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return failed("the program trainyard could not write this report", {});
    return {};
}

} // namespace trainyard::cli
