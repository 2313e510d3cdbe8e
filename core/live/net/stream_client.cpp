// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/stream_client.h"

#include "core/live/net/channel_internal.h"
#include "core/live/net/websocket_internal.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/write.hpp>

#include <deque>

namespace trainyard::live::net {

namespace {

constexpr double kConnectSeconds = 10;
constexpr double kFinishSeconds = 10;
constexpr std::size_t kMostMessage = std::size_t(64) << 20; // bytes of one WebSocket message
constexpr std::size_t kReadBlock = std::size_t(64) << 10;

} // namespace

struct StreamClient::Private : std::enable_shared_from_this<StreamClient::Private> {
    Loop *loop = nullptr;
    Address address;
    SourceSettings settings;
    StreamEvents events;
    ChannelPtr channel; // there from opened() on
    std::unique_ptr<WebSocket> socket; // of one
    std::deque<std::string> outgoing;
    std::size_t waiting = 0;
    bool isOpen = false, isWriting = false;
    bool isFinishing = false;
    bool isClosed = false; // nothing is told any more

    asio::awaitable<void> talk();
    asio::awaitable<Expected<void>> open();
    asio::awaitable<void> writeAll();
    void startWriting();
    void end(const Error &why);
};

StreamClient::StreamClient(Loop &loop, const Address &address, const SourceSettings &settings, StreamEvents events)
    : d(std::make_shared<Private>())
{
    d->loop = &loop;
    d->address = address;
    d->settings = settings;
    d->events = std::move(events);
    asio::co_spawn(loop.inside().io, d->talk(), [held = d](const std::exception_ptr &) {});
}

StreamClient::~StreamClient()
{
    d->isClosed = true;
    if (d->channel)
        d->channel->close();
}

bool StreamClient::send(std::string bytes)
{
    if (d->isClosed || d->isFinishing || d->waiting + bytes.size() > queueBytes)
        return false;
    d->waiting += bytes.size();
    d->outgoing.push_back(std::move(bytes));
    d->startWriting();
    return true;
}

std::size_t StreamClient::waiting() const
{
    return d->waiting;
}

void StreamClient::finish()
{
    if (d->isClosed || d->isFinishing)
        return;
    d->isFinishing = true;
    if (d->isOpen)
        d->channel->expireIn(kFinishSeconds);
    d->startWriting();
}

void StreamClient::Private::startWriting()
{
    if (!isOpen || isWriting || (outgoing.empty() && !isFinishing))
        return;
    isWriting = true;
    asio::co_spawn(loop->inside().io, writeAll(), [held = shared_from_this()](const std::exception_ptr &) {});
}

void StreamClient::Private::end(const Error &why)
{
    if (isClosed)
        return;
    isClosed = true;
    if (channel)
        channel->close();
    outgoing.clear();
    waiting = 0;
    if (events.closed)
        events.closed(why);
}

asio::awaitable<Expected<void>> StreamClient::Private::open()
{
    Expected<ChannelPtr> connected = co_await connectChannel(*loop, address, settings, kConnectSeconds);
    if (!connected)
        co_return std::unexpected(connected.error());
    channel = std::move(*connected);
    if (isClosed || address.type != SourceType::WebSocket)
        co_return Expected<void> {};
    channel->expireIn(kConnectSeconds);
    socket = std::make_unique<WebSocket>(*channel, kConnectSeconds, kMostMessage);
    const std::string where = hostAndPort(address.host, address.port);
    const std::string target = address.path.empty() ? std::string("/") : address.path;
    Expected<void> asked = co_await socket->ask(where, target, settings.secrets.token);
    if (!asked) {
        Error error = asked.error();
        error.where = where;
        if (channel->isExpired())
            error.what = "timed out";
        co_return std::unexpected(error);
    }
    channel->expireNever();
    co_return Expected<void> {};
}

asio::awaitable<void> StreamClient::Private::talk()
{
    const Expected<void> opened = co_await open();
    if (isClosed) {
        if (channel)
            channel->close();
        co_return;
    }
    if (!opened) {
        end(opened.error());
        co_return;
    }
    isOpen = true;
    if (isFinishing)
        channel->expireIn(kFinishSeconds);
    if (events.opened)
        events.opened();
    startWriting();
    std::string block(kReadBlock, '\0');
    ErrorCodeOfSystem fault;
    while (!isClosed) {
        std::size_t bytes = 0;
        if (socket)
            bytes = co_await socket->read(asio::buffer(block), fault);
        else
            bytes = co_await channel->async_read_some(asio::buffer(block), into(fault));
        if (isClosed)
            co_return;
        if (fault)
            break;
        if (events.bytes && bytes > 0)
            events.bytes(std::string_view(block).substr(0, bytes));
        if (socket && socket->isMessageDone() && !isClosed && events.bytes)
            events.bytes("\n");
    }
    const std::string why = socket ? socket->reasonOf(fault) : reasonOf(fault);
    end({ ErrorCode::CannotRead, hostAndPort(address.host, address.port), why, {} });
}

asio::awaitable<void> StreamClient::Private::writeAll()
{
    while (!isClosed && !outgoing.empty()) {
        std::string next = std::move(outgoing.front());
        outgoing.pop_front();
        const std::size_t bytes = next.size();
        ErrorCodeOfSystem fault;
        if (socket) {
            if (next.ends_with('\n'))
                next.pop_back();
            fault = co_await socket->write(std::move(next));
        } else {
            co_await asio::async_write(*channel, asio::buffer(next), into(fault));
        }
        if (!isClosed)
            waiting -= bytes;
        if (fault)
            break; // the reader finds out, and tells what the peer said last
    }
    const std::string why; // none: as it should be
    if (isFinishing && !isClosed) {
        if (socket)
            co_await socket->close(why);
        else
            channel->shutDown();
    }
    isWriting = isFinishing;
}

} // namespace trainyard::live::net
