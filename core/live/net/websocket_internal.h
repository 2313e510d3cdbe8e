#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Beast's WebSocket over a channel, of either end: compiled once. The channel outlives it. One read and one write may
// be under way at a time.

#include "core/live/net/channel_internal.h"

#include <memory>
#include <string>

namespace trainyard::live::net {

class WebSocket {
public:
    /// `seconds`: for the handshake and for the farewell. `messageBytes`: longer messages end it, with close code 1009.
    WebSocket(Channel &channel, double seconds, std::size_t messageBytes);
    ~WebSocket();
    WebSocket(const WebSocket &) = delete;
    WebSocket &operator=(const WebSocket &) = delete;

    /// `head`: the request as it came, with its blank line.
    asio::awaitable<ErrorCodeOfSystem> accept(std::string head);
    /// Errors: CannotRead with what the server answered instead; `where` of them is empty.
    asio::awaitable<Expected<void>> ask(std::string host, std::string target, std::string token);

    /// of one message, or less
    asio::awaitable<std::size_t> read(asio::mutable_buffer buffer, ErrorCodeOfSystem &fault);
    [[nodiscard]] bool isMessageDone() const;
    /// as text
    asio::awaitable<ErrorCodeOfSystem> write(std::string message);
    /// empty: as it should be; else "policy violation" with why
    asio::awaitable<void> close(std::string why);
    [[nodiscard]] bool isOpen() const;
    /// Why a read or a write failed, with what the peer said.
    [[nodiscard]] std::string reasonOf(const ErrorCodeOfSystem &fault) const;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace trainyard::live::net
