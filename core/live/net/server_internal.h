#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A server's inside: its connections, each talked to by one coroutine, which holds both. After the server's end
// (isClosed) no event is told; coroutines end as their sockets are closed.

#include "core/live/net/body_unpacker_internal.h"
#include "core/live/net/channel_internal.h"
#include "core/live/net/server.h"

#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace trainyard::live::net {

/// bytes
inline constexpr std::size_t kMostHello = std::size_t(64) << 10;
/// for what a peer still sends or reads
inline constexpr double kFarewellSeconds = 2;

/// How a stream is written and ended: lines or WebSocket.
class StreamWriter {
public:
    virtual ~StreamWriter() = default;
    virtual asio::awaitable<ErrorCodeOfSystem> write(std::string bytes) = 0;
    /// tells the peer, then the reader finds the end
    virtual asio::awaitable<void> end(std::string why) = 0;
};

/// Whom a connection waits for.
enum class Turn {
    /// the peer: the rest of its TLS handshake, head, hello or first line
    Head,
    /// the peer: the rest of its body, or that it reads its answer
    Exchange,
    /// the peer: another request, if it likes
    Idle,
    /// us, or a stream, which may be silent
    Ours
};

struct ServerConnection {
    ServerConnection(asio::io_context &io, Tcp::socket socket)
        : channel(io, std::move(socket))
    {
    }
    std::uint64_t number = 0;
    Channel channel;
    /// "10.0.0.7:51724"
    std::string peer;
    asio::ip::address address;
    /// shown, or none is needed
    bool hasToken = false;
    /// a stream that was told to be open
    bool isOpen = false;
    /// where TLS is expected: to be turned away
    bool isInTheClear = false;
    /// what still comes is forgotten
    bool isEnding = false;
    bool isWriting = false;
    /// closed for others: what its conversation says of its end is not told
    bool isTurnedAway = false;
    Turn turn = Turn::Head;
    /// when its turn began
    Clock::time_point since = Clock::now();
    /// of its end
    std::string why;
    /// of a stream
    std::shared_ptr<StreamWriter> writer;
    std::deque<std::string> outgoing;
    /// bytes of outgoing
    std::size_t waiting = 0;
};
using ConnectionPtr = std::shared_ptr<ServerConnection>;

struct ServerInside : std::enable_shared_from_this<ServerInside> {
    ServerInside(Loop &ownLoop, ServerEvents ownEvents, const ServerLimits &ownLimits);

    Loop &loop;
    ServerEvents events;
    ServerLimits limits;
    /// empty: none is needed
    std::string token;
    /// none: TLS is not spoken
    TlsContextPtr tls;
    Tcp::acceptor acceptor;
    /// expires never; cancelled when reading goes on
    asio::steady_timer readGate;
    bool reads = true;
    bool isClosed = false;
    std::map<std::uint64_t, ConnectionPtr> connections;
    std::map<asio::ip::address, std::size_t> ofHost;
    std::uint64_t begun = 0;
    /// connections whose turn is Head
    std::size_t unfinished = 0;
    /// of all bodies that are being read or answered
    std::size_t bodyBytes = 0;
    /// of all peers
    BodyUnpacker unpacker;
    /// bytes of outgoing of all streams
    std::size_t waiting = 0;

    asio::awaitable<void> acceptAll();
    asio::awaitable<void> serve(ConnectionPtr connection);
    void remove(const ConnectionPtr &connection);
    void setTurn(ServerConnection &connection, Turn turn);
    /// For one more from `host`: where a limit is reached, closes the connection that has kept us waiting longest.
    void makeRoom(const asio::ip::address &host);

    // Told only while the server is there.
    void refused(const ServerConnection &connection, const std::string &why);
    void opened(ServerConnection &connection, bool isWebSocket);
    void took(ServerConnection &connection, std::string_view bytes);

    /// Waits while reading is off.
    asio::awaitable<void> readingAllowed(ConnectionPtr connection);
    /// Writes what waits, one after the other, then ends the stream where that was asked for.
    asio::awaitable<void> writeAll(ConnectionPtr connection);
    void startWriting(const ConnectionPtr &connection);
    /// Why a stream's reading ended: `reason`, or that it took nothing of what waited for it.
    [[nodiscard]] std::string whyEnded(const ServerConnection &connection, std::string reason) const;
    /// So many bytes do not wait for it any more.
    void forgetWaiting(ServerConnection &connection, std::size_t bytes);
};
using ServerPtr = std::shared_ptr<ServerInside>;

/// Reads of streams: small buffers that grow with what comes at once, and shrink again.
class GrowingBuffer {
public:
    /// larger where it was filled before, smaller where little came
    [[nodiscard]] asio::mutable_buffer space();
    [[nodiscard]] std::string_view taken(std::size_t bytes);

private:
    std::string m_bytes = std::string(4'096, '\0');
    bool m_isFilled = false, m_isIdle = false;
};

// The conversations; each ends with its connection.
asio::awaitable<void> talkLines(ServerPtr server, ConnectionPtr connection, std::string seen);
asio::awaitable<void> talkHttp(ServerPtr server, ConnectionPtr connection, std::string seen);
/// Takes over where HTTP was asked for a WebSocket. `head`: the request as it came, with its blank line.
asio::awaitable<void> talkWebSocket(ServerPtr server, ConnectionPtr connection, std::string head);

} // namespace trainyard::live::net
