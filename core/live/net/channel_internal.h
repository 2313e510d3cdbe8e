#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One connection as Beast reads and writes it, whether TLS is in between or not: one type, so that HTTP and WebSocket
// are compiled once. A channel has a deadline for whatever is under way and a limit on the bytes it reads in a second.
// Owned by the coroutines that talk through it; loop's thread alone.

#include "core/live/net/tls_internal.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/role.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <type_traits>

namespace trainyard::live::net {

using IoDone = std::function<void(const ErrorCodeOfSystem &fault, std::size_t bytes)>;
/// co_await f(…, into(fault)): no exception. What else is given to an awaited call has a name, or is moved from one:
/// g++ 12 destroys temporaries of such calls twice. A coroutine that is spawned begins later: its object is held by the
/// handler of its end.
[[nodiscard]] inline auto into(ErrorCodeOfSystem &fault)
{
    return asio::redirect_error(asio::use_awaitable, fault);
}

/// Handlers that can only be moved, as functions.
template <class Handler> IoDone asIoDone(Handler &&handler)
{
    auto held = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler));
    return [held](const ErrorCodeOfSystem &fault, std::size_t bytes) mutable {
        auto own = std::move(*held);
        held.reset();
        own(fault, bytes);
    };
}
template <class Buffer, class Buffers> Buffer firstFilled(const Buffers &buffers)
{
    for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers); ++at)
        if (const Buffer one(*at); one.size() > 0)
            return one;
    return {};
}

/// What Asio and Beast ask of a stream, of a type that has read() and write() of one buffer.
template <class Derived> class ErasedStream {
public:
    template <class Buffers, class Token> auto async_read_some(const Buffers &buffers, Token &&token)
    {
        return asio::async_initiate<Token, void(ErrorCodeOfSystem, std::size_t)>(
            [this](auto &&handler, asio::mutable_buffer first) {
                static_cast<Derived *>(this)->read(first, asIoDone(std::forward<decltype(handler)>(handler)));
            },
            token, firstFilled<asio::mutable_buffer>(buffers));
    }
    template <class Buffers, class Token> auto async_write_some(const Buffers &buffers, Token &&token)
    {
        // Heads come as many small buffers: one segment of TCP is enough for them.
        constexpr std::size_t kSmall = 4'096, kGathered = 16'384;
        auto next = firstFilled<asio::const_buffer>(buffers);
        if (const std::size_t all = asio::buffer_size(buffers); next.size() < std::min(all, kSmall)) {
            m_gathered.resize(std::min(all, kGathered));
            next = asio::buffer(m_gathered, asio::buffer_copy(asio::buffer(m_gathered), buffers));
        }
        return asio::async_initiate<Token, void(ErrorCodeOfSystem, std::size_t)>(
            [this](auto &&handler, asio::const_buffer first) {
                static_cast<Derived *>(this)->write(first, asIoDone(std::forward<decltype(handler)>(handler)));
            },
            token, next);
    }

private:
    /// of the write that is under way
    std::string m_gathered;
};

/// TCP below TLS.
class Pipe : public ErasedStream<Pipe> {
public:
    using executor_type = asio::io_context::executor_type;
    using lowest_layer_type = Tcp::socket::lowest_layer_type;

    Pipe(asio::io_context &io, Tcp::socket socket);
    [[nodiscard]] executor_type get_executor() const { return m_executor; }
    [[nodiscard]] lowest_layer_type &lowest_layer() { return m_socket.lowest_layer(); }
    [[nodiscard]] Tcp::socket &socket() { return m_socket; }

    void read(asio::mutable_buffer buffer, IoDone done);
    void write(asio::const_buffer buffer, IoDone done);
    /// 0: as fast as they come
    void setBytesPerSecond(std::int64_t bytes);
    void close();

private:
    /// until it may read again
    [[nodiscard]] std::chrono::nanoseconds pause();

    executor_type m_executor;
    Tcp::socket m_socket;
    asio::steady_timer m_pause;
    std::int64_t m_bytesPerSecond = 0;
    /// bytes that it may read now
    double m_budget = 0;
    std::chrono::steady_clock::time_point m_counted {};
};

class Channel : public ErasedStream<Channel> {
public:
    using executor_type = Pipe::executor_type;

    Channel(asio::io_context &io, Tcp::socket socket);
    ~Channel();
    Channel(const Channel &) = delete;
    Channel &operator=(const Channel &) = delete;
    [[nodiscard]] executor_type get_executor() const { return m_pipe.get_executor(); }
    [[nodiscard]] Pipe &pipe() { return m_pipe; }

    void read(asio::mutable_buffer buffer, IoDone done);
    void write(asio::const_buffer buffer, IoDone done);

    /// What is not done in so many seconds from now fails with error::timed_out, and the connection is closed.
    void expireIn(double seconds);
    void expireNever();
    [[nodiscard]] bool isExpired() const { return m_isExpired; }
    [[nodiscard]] bool isTls() const { return bool(m_tls); }

    /// TLS from here on, of the end that answered: `seen` are bytes of its hello that were read already.
    asio::awaitable<Expected<void>> acceptTls(TlsContextPtr context, std::string seen);
    /// … of the end that asks. Errors: CannotRead with what of the certificate is wrong; `where` of them is empty.
    asio::awaitable<Expected<void>> connectTls(TlsContextPtr context, std::string host, bool isVerified);
    /// Nothing more will be written; the peer is told, and what it still sends is read and forgotten, so that what was
    /// written reaches it. Until it closes too, at most `seconds`.
    asio::awaitable<void> finish(double seconds);
    /// Nothing more will be written; reading goes on. With TLS, whose farewell goes both ways, it is closed.
    void shutDown();
    /// now
    void close();

private:
    /// with the deadline's fault in place of that of a closed socket
    [[nodiscard]] IoDone named(IoDone done);

    Pipe m_pipe;
    TlsContextPtr m_context;
    std::unique_ptr<asio::ssl::stream<Pipe &>> m_tls;
    std::shared_ptr<int> m_alive = std::make_shared<int>(0);
    asio::steady_timer m_deadline;
    bool m_isExpired = false;
};
using ChannelPtr = std::shared_ptr<Channel>;

/// Connected and, where the address says so, with TLS. Errors: CannotRead with host, port and why.
asio::awaitable<Expected<ChannelPtr>> connectChannel(
    Loop &loop, Address address, SourceSettings settings, double secondsAtMost);

/// Beast's hooks: how a WebSocket ends below its own farewell.
void beast_close_socket(Channel &channel);
void tearDown(Channel &channel, std::function<void(const ErrorCodeOfSystem &fault)> done);
template <class Handler> void async_teardown(boost::beast::role_type /*role*/, Channel &channel, Handler &&handler)
{
    auto done = asIoDone([handler = std::forward<Handler>(handler)](
                             const ErrorCodeOfSystem &fault, std::size_t) mutable { handler(fault); });
    tearDown(channel, [done = std::move(done)](const ErrorCodeOfSystem &fault) { done(fault, 0); });
}

} // namespace trainyard::live::net
