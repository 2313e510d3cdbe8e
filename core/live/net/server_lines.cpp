// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of JSON over TCP or TLS: passed on as they come. Nothing is held but a hello that has to show a token.
#include "core/live/net/credentials.h"
#include "core/live/net/server_internal.h"

#include <boost/asio/write.hpp>

namespace trainyard::live::net {

class LinesWriter final : public StreamWriter {
public:
    explicit LinesWriter(Channel &channel)
        : m_channel(channel)
    {
    }
    asio::awaitable<ErrorCodeOfSystem> write(std::string bytes) override
    {
        ErrorCodeOfSystem fault;
        co_await asio::async_write(m_channel, asio::buffer(bytes), into(fault));
        co_return fault;
    }
    asio::awaitable<void> end(std::string why) override
    {
        const std::string line = why.empty() ? std::string() : refusedLine(why);
        if (!line.empty())
            co_await write(line);
        // The reader goes on until the peer has read all and closes too.
        m_channel.expireIn(kFarewellSeconds);
        m_channel.shutDown();
    }

private:
    Channel &m_channel;
};

namespace {

/// The first line, whole; empty: it did not come. Sets what is wrong.
asio::awaitable<std::string> helloOf(ServerPtr server, ConnectionPtr connection, std::string &seen)
{
    std::string part(4'096, '\0');
    while (seen.find('\n') == std::string::npos) {
        if (seen.size() > kMostHello) {
            connection->why = "its first line is longer than a hello";
            co_return std::string();
        }
        ErrorCodeOfSystem fault;
        const std::size_t bytes = co_await connection->channel.async_read_some(asio::buffer(part), into(fault));
        if (fault) {
            connection->why = connection->channel.isExpired()
                ? "no hello within " + std::to_string(int(server->limits.headSeconds)) + " s"
                : "it ended before its hello was whole";
            co_return std::string();
        }
        seen.append(part, 0, bytes);
    }
    co_return seen.substr(0, seen.find('\n'));
}

} // namespace

asio::awaitable<void> talkLines(ServerPtr server, ConnectionPtr connection, std::string seen)
{
    Channel &channel = connection->channel;
    const auto writer = std::make_shared<LinesWriter>(channel);
    std::string refusal;
    if (connection->isInTheClear) {
        refusal = "this port takes TLS only";
    } else if (!connection->hasToken) {
        const std::string hello = co_await helloOf(server, connection, seen);
        if (hello.empty()) {
            refusal = connection->why;
        } else if (const Expected<void> shown = checkHello(hello, server->token); !shown) {
            refusal = shown.error().code == ErrorCode::BadSyntax
                ? "the first line has to be a hello with the token of this listener"
                : "the token of its hello is missing or wrong";
        }
    }
    if (!refusal.empty()) {
        server->refused(*connection, refusal);
        if (channel.isExpired())
            co_return;
        channel.expireIn(kFarewellSeconds);
        const std::string line = refusedLine(refusal);
        co_await writer->write(line);
        co_await channel.finish(kFarewellSeconds);
        co_return;
    }
    connection->hasToken = true;
    connection->writer = writer;
    server->opened(*connection, false);
    server->took(*connection, seen);
    seen = {};
    GrowingBuffer buffer;
    for (;;) {
        co_await server->readingAllowed(connection);
        ErrorCodeOfSystem fault;
        const asio::mutable_buffer space = buffer.space();
        const std::size_t bytes = co_await channel.async_read_some(space, into(fault));
        if (fault) {
            if (connection->why.empty())
                connection->why = server->whyEnded(*connection, reasonOf(fault));
            co_return;
        }
        server->took(*connection, buffer.taken(bytes));
    }
}

} // namespace trainyard::live::net
