// SPDX-License-Identifier: GPL-3.0-or-later
// A WebSocket at any path: parts of messages are passed on as they come, a line feed behind each message.
#include "core/live/net/credentials.h"
#include "core/live/net/server_internal.h"
#include "core/live/net/websocket_internal.h"

namespace trainyard::live::net {

class WebSocketWriter final : public StreamWriter {
public:
    WebSocketWriter(Channel &channel, const ServerLimits &limits)
        : socket(channel, limits.headSeconds, limits.bodyBytes)
    {
    }
    asio::awaitable<ErrorCodeOfSystem> write(std::string bytes) override
    {
        if (bytes.ends_with('\n'))
            bytes.pop_back();
        return socket.write(std::move(bytes));
    }
    asio::awaitable<void> end(std::string why) override { return socket.close(std::move(why)); }

    WebSocket socket;
};

namespace {

/// Why the first message does not show the token; empty: it does. `seen` becomes that message.
asio::awaitable<std::string> refusalOfHello(
    ServerPtr server, std::shared_ptr<WebSocketWriter> writer, std::string &seen)
{
    std::string part(4'096, '\0');
    do {
        ErrorCodeOfSystem fault;
        const std::size_t bytes = co_await writer->socket.read(asio::buffer(part), fault);
        if (fault)
            co_return "it ended before its hello was whole";
        seen.append(part, 0, bytes);
        if (seen.size() > kMostHello)
            co_return "its first message is longer than a hello";
    } while (!writer->socket.isMessageDone());
    const Expected<void> shown = checkHello(seen.substr(0, seen.find('\n')), server->token);
    if (shown)
        co_return std::string();
    co_return shown.error().code == ErrorCode::BadSyntax
        ? "the first message has to be a hello with the token of this listener"
        : "the token of its hello is missing or wrong";
}

} // namespace

asio::awaitable<void> talkWebSocket(ServerPtr server, ConnectionPtr connection, std::string head)
{
    const auto writer = std::make_shared<WebSocketWriter>(connection->channel, server->limits);
    WebSocket &socket = writer->socket;
    ErrorCodeOfSystem fault = co_await socket.accept(std::move(head));
    if (fault) {
        server->refused(*connection, "no WebSocket came about: " + socket.reasonOf(fault));
        co_return;
    }
    std::string seen;
    if (!connection->hasToken) {
        const std::string refusal = co_await refusalOfHello(server, writer, seen);
        if (!refusal.empty()) {
            const bool isExpired = connection->channel.isExpired();
            server->refused(*connection,
                isExpired ? "no hello within " + std::to_string(int(server->limits.headSeconds)) + " s" : refusal);
            if (socket.isOpen() && !isExpired)
                co_await socket.close(refusal);
            co_return;
        }
        connection->hasToken = true;
        seen += '\n';
    }
    connection->writer = writer;
    server->opened(*connection, true);
    server->took(*connection, seen);
    seen = {};
    GrowingBuffer buffer;
    for (;;) {
        co_await server->readingAllowed(connection);
        const asio::mutable_buffer space = buffer.space();
        const std::size_t bytes = co_await socket.read(space, fault);
        if (fault) {
            if (connection->why.empty())
                connection->why = server->whyEnded(*connection, socket.reasonOf(fault));
            co_return;
        }
        server->took(*connection, buffer.taken(bytes));
        if (socket.isMessageDone())
            server->took(*connection, "\n");
    }
}

} // namespace trainyard::live::net
