// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/signals.h"

#include "core/base/output_file.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace trainyard::cli {

namespace {

constexpr int kEnding[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGXCPU };

std::atomic<int> interruptionPipe { -1 }; // -1: those that stop end the program
static_assert(std::atomic<int>::is_always_lock_free, "a handler of signals reads it");

/// Asks for an orderly end: by Ctrl-C, by kill, or by a terminal that was closed.
bool isStop(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

void onSignal(int number)
{
    const int error = errno;
    if (const int pipe = isStop(number) ? interruptionPipe.exchange(-1) : -1; pipe >= 0) {
        const char stop = 's';
        if (::write(pipe, &stop, 1) == 1) {
            errno = error;
            return;
        }
    }
    removeUnfinishedOutputs();
    std::signal(number, SIG_DFL);
    ::raise(number); // blocked until the handler returns; then the program ends by it
}

} // namespace

void cleanUpOnSignals()
{
    for (const int number : kEnding) {
        struct sigaction action { };
        action.sa_handler = &onSignal;
        action.sa_flags = SA_RESTART;
        struct sigaction old { };
        if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
            ::sigaction(number, &action, nullptr);
    }
}

Interruption::Interruption()
{
    if (::pipe2(m_wake, O_CLOEXEC) != 0)
        return; // no descriptors left: Ctrl-C ends the program
    interruptionPipe = m_wake[1];
    m_listener = std::thread([this] {
        char what = 0;
        while (::read(m_wake[0], &what, 1) < 0 && errno == EINTR) { }
        if (what == 's')
            m_stop.request_stop();
    });
}

Interruption::~Interruption()
{
    interruptionPipe = -1;
    if (!m_listener.joinable())
        return;
    const char end = 'e';
    while (::write(m_wake[1], &end, 1) < 0 && errno == EINTR) { }
    m_listener.join();
    ::close(m_wake[0]);
    ::close(m_wake[1]);
}

} // namespace trainyard::cli
