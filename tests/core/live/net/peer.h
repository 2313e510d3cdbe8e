#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A peer of a server as the network sees it: a blocking socket of the system, which knows nothing of the code under
// test. Waits are generous and end as soon as there is something.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard::live::testing {

inline constexpr int kWaitMilliseconds = 30'000;

class Peer {
public:
    explicit Peer(std::uint16_t port, const char *host = "127.0.0.1")
        : m_socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in to {};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        inet_pton(AF_INET, host, &to.sin_addr);
        m_isConnected = connect(m_socket, reinterpret_cast<const sockaddr *>(&to), sizeof to) == 0;
    }
    ~Peer() { close(); }
    Peer(Peer &&other) noexcept
        : m_socket(std::exchange(other.m_socket, -1))
        , m_isConnected(other.m_isConnected)
        , m_read(std::move(other.m_read))
    {
    }
    Peer &operator=(Peer &&) = delete;
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;

    [[nodiscard]] bool isConnected() const { return m_isConnected; }
    /// False: the other end closed it.
    bool send(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0)
                return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    /// Up to and with `mark`; all that came where the other end closed before.
    std::string readUntil(std::string_view mark)
    {
        for (;;) {
            if (const std::size_t at = m_read.find(mark); at != std::string::npos)
                return take(at + mark.size());
            if (!more())
                return take(m_read.size());
        }
    }
    std::string readBytes(std::size_t bytes)
    {
        while (m_read.size() < bytes && more()) { }
        return take(std::min(bytes, m_read.size()));
    }
    /// Until the other end closes.
    std::string readAll()
    {
        while (more()) { }
        return take(m_read.size());
    }
    [[nodiscard]] bool hasBytes(int milliseconds) const
    {
        pollfd wait { m_socket, POLLIN, 0 };
        return !m_read.empty() || poll(&wait, 1, milliseconds) > 0;
    }
    void close()
    {
        if (m_socket >= 0)
            ::close(std::exchange(m_socket, -1));
    }
    /// With RST instead of a farewell.
    void cut()
    {
        const linger now { 1, 0 };
        setsockopt(m_socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close();
    }
    void shutDownWriting() { shutdown(m_socket, SHUT_WR); }
    [[nodiscard]] int handle() const { return m_socket; }

private:
    bool more()
    {
        pollfd wait { m_socket, POLLIN, 0 };
        if (poll(&wait, 1, kWaitMilliseconds) <= 0)
            throw std::runtime_error("the other end neither spoke nor closed");
        std::array<char, 65'536> part {};
        const ssize_t got = recv(m_socket, part.data(), part.size(), 0);
        if (got <= 0)
            return false;
        m_read.append(part.data(), static_cast<std::size_t>(got));
        return true;
    }
    std::string take(std::size_t bytes)
    {
        std::string taken = m_read.substr(0, bytes);
        m_read.erase(0, bytes);
        return taken;
    }

    int m_socket = -1;
    bool m_isConnected = false;
    std::string m_read;
};

struct HttpAnswer {
    int status = 0;
    std::string head, body;
};

/// One answer with a Content-Length; status 0: there was none.
inline HttpAnswer answerOf(Peer &peer, bool hasBody = true)
{
    HttpAnswer answer;
    answer.head = peer.readUntil("\r\n\r\n");
    if (answer.head.starts_with("HTTP/1.1 "))
        answer.status = std::stoi(answer.head.substr(9, 3));
    const std::size_t length = answer.head.find("Content-Length: ");
    if (hasBody && length != std::string::npos)
        answer.body = peer.readBytes(std::stoul(answer.head.substr(length + 16)));
    return answer;
}

} // namespace trainyard::live::testing
