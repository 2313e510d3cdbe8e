#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sockets of the system on loopback, for tests that play a server or need a port.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace trainyard::test {

/// A socket that listens on `port`, for the caller to close; 0: on one that the kernel chooses, which `port` then is.
/// -1 where that cannot be.
inline int listenOnLoopback(std::uint16_t &port)
{
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in at {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    socklen_t length = sizeof at;
    if (::bind(made, reinterpret_cast<sockaddr *>(&at), length) != 0 || ::listen(made, 8) != 0
        || ::getsockname(made, reinterpret_cast<sockaddr *>(&at), &length) != 0) {
        ::close(made);
        return -1;
    }
    port = ntohs(at.sin_port);
    return made;
}

/// That nobody listens on now.
inline std::uint16_t freePort()
{
    std::uint16_t port = 0;
    ::close(listenOnLoopback(port));
    return port;
}

} // namespace trainyard::test
