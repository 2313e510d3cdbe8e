#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A server on loopback that tells whoever connects the same lines and then closes, as a sender that ends; it may be
// shut, so that nobody answers, and opened again on its port.

#include "tests/support/loopback.h"

#include <poll.h>

#include <atomic>
#include <string>
#include <thread>

namespace trainyard::test {

class LineServer {
public:
    explicit LineServer(std::string text)
        : m_text(std::move(text))
    {
        open();
    }
    ~LineServer() { shut(); }
    LineServer(const LineServer &) = delete;
    LineServer &operator=(const LineServer &) = delete;

    [[nodiscard]] int port() const { return m_port; }
    [[nodiscard]] int served() const { return m_served; }
    /// What the next ones are told; while it is shut.
    void setText(std::string text) { m_text = std::move(text); }
    void shut()
    {
        m_thread = {};
        if (m_socket >= 0)
            ::close(m_socket);
        m_socket = -1;
    }
    void open()
    {
        m_socket = listenOnLoopback(m_port);
        if (m_socket < 0)
            return;
        m_thread = std::jthread([this](const std::stop_token &stop) { serve(stop); });
    }

private:
    void serve(const std::stop_token &stop)
    {
        while (!stop.stop_requested()) {
            pollfd ready { m_socket, POLLIN, 0 };
            if (::poll(&ready, 1, 20) <= 0)
                continue;
            const int client = ::accept(m_socket, nullptr, nullptr);
            std::string_view rest = m_text;
            while (client >= 0 && !rest.empty()) {
                const auto put = ::send(client, rest.data(), rest.size(), MSG_NOSIGNAL);
                if (put <= 0)
                    break;
                rest.remove_prefix(std::size_t(put));
            }
            if (client >= 0)
                ::close(client);
            ++m_served;
        }
    }

    std::string m_text;
    int m_socket = -1;
    std::uint16_t m_port = 0;
    std::atomic<int> m_served = 0;
    std::jthread m_thread;
};

} // namespace trainyard::test
