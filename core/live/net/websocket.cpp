// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/websocket_internal.h"

#include <boost/asio/post.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <algorithm>

namespace trainyard::live::net {

namespace {

namespace websocket = boost::beast::websocket;
namespace http = boost::beast::http;
constexpr std::size_t kMostReason = 120; // bytes that a close frame has room for

} // namespace

struct WebSocket::Private {
    explicit Private(Channel &channel)
        : stream(channel)
    {
    }
    websocket::stream<Channel &> stream;
    std::size_t messageBytes = 0;
};

WebSocket::WebSocket(Channel &channel, double seconds, std::size_t messageBytes)
    : d(std::make_unique<Private>(channel))
{
    websocket::stream_base::timeout times {};
    times.handshake_timeout =
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
    times.idle_timeout = websocket::stream_base::none();
    times.keep_alive_pings = false;
    d->stream.set_option(times);
    d->stream.read_message_max(messageBytes);
    d->stream.text(true);
    d->messageBytes = messageBytes;
}

WebSocket::~WebSocket() = default;

asio::awaitable<ErrorCodeOfSystem> WebSocket::accept(std::string head)
{
    ErrorCodeOfSystem fault;
    co_await d->stream.async_accept(asio::buffer(head), into(fault));
    co_return fault;
}

asio::awaitable<Expected<void>> WebSocket::ask(std::string host, std::string target, std::string token)
{
    if (!token.empty())
        d->stream.set_option(websocket::stream_base::decorator(
            [token](websocket::request_type &request) { request.set(http::field::authorization, "Bearer " + token); }));
    ErrorCodeOfSystem fault;
    websocket::response_type answer;
    co_await d->stream.async_handshake(answer, host, target, into(fault));
    if (!fault)
        co_return Expected<void> {};
    std::string why = this->reasonOf(fault);
    if (fault == websocket::error::upgrade_declined) {
        why = "the server answered " + std::to_string(answer.result_int()) + ' '
            + std::string(http::obsolete_reason(answer.result()));
        if (answer.result() == http::status::unauthorized)
            why += ": it wants another token";
    } else if (fault.category() == make_error_code(http::error::bad_target).category()) {
        why = "the server does not speak WebSocket: " + why;
    }
    co_return std::unexpected(Error { ErrorCode::CannotRead, {}, why, {} });
}

asio::awaitable<std::size_t> WebSocket::read(asio::mutable_buffer buffer, ErrorCodeOfSystem &fault)
{
    co_return co_await d->stream.async_read_some(asio::mutable_buffers_1(buffer), into(fault));
}

bool WebSocket::isMessageDone() const
{
    return d->stream.is_message_done();
}

asio::awaitable<ErrorCodeOfSystem> WebSocket::write(std::string message)
{
    ErrorCodeOfSystem fault;
    co_await d->stream.async_write(asio::const_buffers_1(asio::buffer(message)), into(fault));
    co_return fault;
}

asio::awaitable<void> WebSocket::close(std::string why)
{
    ErrorCodeOfSystem ignored;
    websocket::close_reason reason(websocket::close_code::normal);
    if (!why.empty()) {
        why.resize(std::min(why.size(), kMostReason));
        reason = { websocket::close_code::policy_error, why };
    }
    co_await d->stream.async_close(reason, into(ignored));
}

bool WebSocket::isOpen() const
{
    return d->stream.is_open();
}

std::string WebSocket::reasonOf(const ErrorCodeOfSystem &fault) const
{
    if (fault == websocket::error::closed) {
        const websocket::close_reason &reason = d->stream.reason();
        return "the peer closed the connection"
            + (reason.reason.empty() ? std::string() : ": " + std::string(reason.reason.c_str()));
    }
    if (fault == websocket::error::message_too_big)
        return "a message had more than " + std::to_string(d->messageBytes) + " bytes";
    if (fault == boost::beast::error::timeout)
        return "timed out";
    return net::reasonOf(fault);
}

} // namespace trainyard::live::net
