// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/server_internal.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

namespace trainyard::live::net {

struct Server::Private : ServerInside {
    using ServerInside::ServerInside;
};

namespace {

constexpr int kBacklog = 4'096;
constexpr rlim_t kOtherFiles = 512; // open files of the rest of the program
constexpr std::size_t kGathered = std::size_t(64) << 10; // small writes are put together up to so many bytes

/// Systems begin programs with 1,024 open files, which they may raise themselves up to a hard limit.
void allowFiles(std::size_t connections)
{
    rlimit files {};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    const rlim_t wanted = std::min<rlim_t>(files.rlim_max, connections + kOtherFiles);
    if (files.rlim_cur >= wanted)
        return;
    files.rlim_cur = wanted;
    setrlimit(RLIMIT_NOFILE, &files);
}

Expected<Tcp::endpoint> endpointOf(const Address &address)
{
    ErrorCodeOfSystem fault;
    const auto ip = asio::ip::make_address(address.host == "localhost" ? "127.0.0.1" : address.host, fault);
    if (fault)
        return std::unexpected(Error { ErrorCode::BadValue, hostAndPort(address.host, address.port),
            '"' + address.host + "\" is no address", "an address of this machine in figures, or 0.0.0.0 for all" });
    return Tcp::endpoint(ip, address.port);
}

} // namespace

ServerInside::ServerInside(Loop &ownLoop, ServerEvents ownEvents, const ServerLimits &ownLimits)
    : loop(ownLoop)
    , events(std::move(ownEvents))
    , limits(ownLimits)
    , acceptor(ownLoop.inside().io)
    , readGate(ownLoop.inside().io, asio::steady_timer::time_point::max())
    , unpacker(ownLoop)
{
}

Expected<std::unique_ptr<Server>> Server::listen(
    Loop &loop, const Address &address, const SourceSettings &settings, ServerEvents events, ServerLimits limits)
{
    const Expected<Tcp::endpoint> endpoint = endpointOf(address);
    if (!endpoint)
        return std::unexpected(endpoint.error());
    const std::string where = textOf(*endpoint);
    if (!endpoint->address().is_loopback() && settings.secrets.token.empty())
        return std::unexpected(
            Error { ErrorCode::BadValue, where, "whoever reaches this machine could connect, and no token is set",
                "a token that senders show, or an address of loopback: 127.0.0.1" });
    auto inside = std::make_shared<Private>(loop, std::move(events), limits);
    inside->token = settings.secrets.token;
    if (address.isTls || !settings.certificateFile.empty()) {
        auto tls = makeServerTls(settings);
        if (!tls)
            return std::unexpected(tls.error());
        inside->tls = *tls;
    }
    allowFiles(limits.connections);
    ErrorCodeOfSystem fault;
    Tcp::acceptor &acceptor = inside->acceptor;
    acceptor.open(endpoint->protocol(), fault);
    if (!fault)
        acceptor.set_option(Tcp::acceptor::reuse_address(true), fault);
    if (!fault)
        acceptor.bind(*endpoint, fault);
    if (!fault)
        acceptor.listen(kBacklog, fault);
    if (fault) {
        std::string right;
        if (fault == asio::error::address_in_use)
            right = "a port that nobody listens on, or 0 for any that is free";
        else if (fault == asio::error::access_denied)
            right = "a port from 1024 on";
        else if (fault == boost::system::errc::address_not_available)
            right = "an address of this machine";
        return std::unexpected(Error { ErrorCode::CannotWrite, where, reasonOf(fault), right });
    }
    asio::co_spawn(loop.inside().io, inside->acceptAll(), [inside](const std::exception_ptr &) {});
    return std::unique_ptr<Server>(new Server(std::move(inside)));
}

Server::Server(std::shared_ptr<Private> inside)
    : d(std::move(inside))
{
}

Server::~Server()
{
    d->isClosed = true;
    ErrorCodeOfSystem ignored;
    d->acceptor.close(ignored);
    d->readGate.cancel();
    const auto connections = d->connections;
    for (const auto &[number, connection] : connections)
        connection->channel.close();
}

std::uint16_t Server::port() const
{
    ErrorCodeOfSystem ignored;
    return d->acceptor.local_endpoint(ignored).port();
}

std::size_t Server::connections() const
{
    return d->connections.size();
}

bool Server::send(std::uint64_t connection, std::string_view bytes)
{
    const auto at = d->connections.find(connection);
    if (at == d->connections.end() || !at->second->isOpen || at->second->isEnding)
        return false;
    ServerConnection &to = *at->second;
    const std::size_t free = d->limits.waitingBytesOfAll - std::min(d->waiting, d->limits.waitingBytesOfAll);
    if (to.waiting > 0 && (to.waiting + bytes.size() > d->limits.waitingBytes || bytes.size() > free))
        return false;
    to.waiting += bytes.size();
    d->waiting += bytes.size();
    // The front is being written; whole lines may share a message.
    if (to.outgoing.size() > 1 && to.outgoing.back().size() + bytes.size() <= kGathered)
        to.outgoing.back().append(bytes);
    else
        to.outgoing.emplace_back(bytes);
    d->startWriting(at->second);
    return true;
}

void Server::close(std::uint64_t connection, const std::string &why)
{
    const auto at = d->connections.find(connection);
    if (at == d->connections.end() || at->second->isEnding)
        return;
    at->second->isEnding = true;
    at->second->why = why;
    at->second->channel.expireIn(d->limits.bodySeconds); // for what still waits for this peer
    d->startWriting(at->second);
    d->readGate.cancel();
}

void Server::setReading(bool reads)
{
    d->reads = reads;
    if (reads)
        d->readGate.cancel();
}

asio::awaitable<void> ServerInside::acceptAll()
{
    const ServerPtr self = shared_from_this();
    const double rate = double(std::max<std::size_t>(limits.newPerSecond, 1));
    double budget = rate;
    auto counted = Clock::now();
    asio::steady_timer pause(loop.inside().io);
    while (!isClosed) {
        ErrorCodeOfSystem fault;
        // More at once wait where the system keeps them: a cluster that comes back after a cut is not turned away.
        const auto now = Clock::now();
        budget = std::min(rate, budget + std::chrono::duration<double>(now - counted).count() * rate);
        counted = now;
        if (budget < 1) {
            pause.expires_after(std::chrono::ceil<Clock::duration>(std::chrono::duration<double>((1 - budget) / rate)));
            co_await pause.async_wait(into(fault));
            continue;
        }
        Tcp::socket socket(loop.inside().io);
        co_await acceptor.async_accept(socket, into(fault));
        if (isClosed)
            break;
        if (fault) { // no more open files: others have to end first
            if (events.refused)
                events.refused({}, "nobody can be let in: " + reasonOf(fault));
            pause.expires_after(std::chrono::milliseconds(200));
            co_await pause.async_wait(into(fault));
            continue;
        }
        budget -= 1;
        const Tcp::endpoint from = socket.remote_endpoint(fault);
        if (fault)
            continue; // gone already
        auto connection = std::make_shared<ServerConnection>(loop.inside().io, std::move(socket));
        connection->peer = textOf(from);
        connection->address = from.address();
        makeRoom(connection->address);
        if (connections.size() >= limits.connections) {
            refused(*connection, "there are " + std::to_string(limits.connections) + " connections already");
            continue;
        }
        if (const auto same = ofHost.find(from.address());
            same != ofHost.end() && same->second >= limits.connectionsOfOneHost) {
            refused(
                *connection, "its host has " + std::to_string(limits.connectionsOfOneHost) + " connections already");
            continue;
        }
        connection->number = ++begun;
        connection->hasToken = token.empty();
        connection->channel.pipe().setBytesPerSecond(limits.bytesPerSecond);
        connections[connection->number] = connection;
        ++ofHost[connection->address];
        ++unfinished;
        asio::co_spawn(loop.inside().io, serve(connection),
            [self, connection](const std::exception_ptr &) { self->remove(connection); });
    }
}

void ServerInside::remove(const ConnectionPtr &connection)
{
    connection->channel.close();
    if (!connections.contains(connection->number))
        return;
    setTurn(*connection, Turn::Ours);
    connections.erase(connection->number);
    if (const auto same = ofHost.find(connection->address); same != ofHost.end() && --same->second == 0)
        ofHost.erase(same);
    if (connection->isOpen && !isClosed && events.closed)
        events.closed(connection->number, connection->why);
}

asio::awaitable<void> ServerInside::serve(ConnectionPtr connection)
{
    constexpr unsigned char kTlsHandshake = 22;
    const ServerPtr self = shared_from_this();
    Channel &channel = connection->channel;
    // Until it has said something; what follows sets deadlines of its own.
    channel.expireIn(limits.headSeconds);
    std::string seen(4'096, '\0');
    for (;;) {
        ErrorCodeOfSystem fault;
        seen.resize(4'096);
        const std::size_t bytes = co_await channel.async_read_some(asio::buffer(seen), into(fault));
        if (fault) {
            if (channel.isExpired())
                refused(*connection, "it said nothing for " + std::to_string(int(limits.headSeconds)) + " s");
            co_return; // it looked whether somebody is here
        }
        seen.resize(bytes);
        const auto first = static_cast<unsigned char>(seen[0]);
        if (first == kTlsHandshake && tls && !channel.isTls()) {
            const Expected<void> secured = co_await channel.acceptTls(tls, std::move(seen));
            if (!secured) {
                refused(*connection, secured.error().what);
                co_return;
            }
            seen.clear();
            continue;
        }
        if (first == kTlsHandshake) {
            refused(*connection, "it speaks TLS, for which this listener has no certificate");
            co_return;
        }
        connection->isInTheClear = tls && !channel.isTls();
        if (first == '{')
            co_await talkLines(self, connection, std::move(seen));
        else if ((first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z'))
            co_await talkHttp(self, connection, std::move(seen));
        else
            refused(*connection, "it speaks neither HTTP nor lines of JSON nor TLS");
        co_return;
    }
}

void ServerInside::refused(const ServerConnection &connection, const std::string &why)
{
    if (!isClosed && !connection.isTurnedAway && events.refused)
        events.refused(connection.peer, why);
}

void ServerInside::opened(ServerConnection &connection, bool isWebSocket)
{
    if (!connections.contains(connection.number)) // it was turned away while its first bytes were read
        return;
    connection.channel.expireNever();
    connection.isOpen = true;
    if (isWebSocket)
        setTurn(connection, Turn::Ours);
    if (!isClosed && events.opened)
        events.opened(connection.number, connection.peer, isWebSocket);
}

void ServerInside::took(ServerConnection &connection, std::string_view bytes)
{
    if (!connections.contains(connection.number))
        return;
    if (connection.turn == Turn::Head && bytes.find('\n') != std::string_view::npos)
        setTurn(connection, Turn::Ours);
    if (!isClosed && !connection.isEnding && events.bytes && !bytes.empty())
        events.bytes(connection.number, bytes);
}

asio::awaitable<void> ServerInside::readingAllowed(ConnectionPtr connection)
{
    while (!reads && !isClosed && !connection->isEnding) {
        ErrorCodeOfSystem fault;
        co_await readGate.async_wait(into(fault));
    }
}

void ServerInside::startWriting(const ConnectionPtr &connection)
{
    if (connection->isWriting || !connection->writer)
        return;
    connection->isWriting = true;
    asio::co_spawn(loop.inside().io, writeAll(connection), [held = shared_from_this()](const std::exception_ptr &) {});
}

asio::awaitable<void> ServerInside::writeAll(ConnectionPtr connection)
{
    const std::shared_ptr<StreamWriter> writer = connection->writer;
    while (!connection->outgoing.empty()) {
        std::string next = std::move(connection->outgoing.front());
        const std::size_t bytes = next.size();
        if (!connection->isEnding) // whose deadline is set already
            connection->channel.expireIn(limits.writeSeconds * std::max(1.0, double(bytes) / double(kGathered)));
        const ErrorCodeOfSystem fault = co_await writer->write(std::move(next));
        connection->outgoing.pop_front();
        forgetWaiting(*connection, bytes);
        if (fault) {
            connection->outgoing.clear();
            forgetWaiting(*connection, connection->waiting);
        }
    }
    if (connection->isEnding)
        co_await writer->end(connection->why);
    else if (!connection->channel.isExpired())
        connection->channel.expireNever();
    connection->isWriting = false;
}

std::string ServerInside::whyEnded(const ServerConnection &connection, std::string reason) const
{
    // Streams may be silent: none but a write has a deadline, until it is ended.
    return connection.channel.isExpired() && !connection.isEnding
        ? "it took nothing for " + std::to_string(int(limits.writeSeconds)) + " s"
        : reason;
}

void ServerInside::forgetWaiting(ServerConnection &connection, std::size_t bytes)
{
    connection.waiting -= bytes;
    waiting -= bytes;
}

asio::mutable_buffer GrowingBuffer::space()
{
    constexpr std::size_t kMost = std::size_t(128) << 10, kLeast = 4'096;
    if (m_isFilled && m_bytes.size() < kMost)
        m_bytes.resize(2 * m_bytes.size());
    else if (m_isIdle && m_bytes.size() > kLeast)
        m_bytes = std::string(m_bytes.size() / 2, '\0');
    return asio::buffer(m_bytes);
}

std::string_view GrowingBuffer::taken(std::size_t bytes)
{
    m_isFilled = bytes == m_bytes.size();
    m_isIdle = bytes < m_bytes.size() / 4;
    return std::string_view(m_bytes).substr(0, bytes);
}

} // namespace trainyard::live::net
