// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/channel_internal.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace trainyard::live::net {

namespace {

constexpr double kSmallestRead = 4'096; // bytes: a limit makes reads rarer, not tiny
constexpr std::size_t kMostForgotten = std::size_t(4) << 20; // bytes of a peer that was told to end

Clock::duration secondsOf(double seconds)
{
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

} // namespace

Pipe::Pipe(asio::io_context &io, Tcp::socket socket)
    : m_executor(io.get_executor())
    , m_socket(std::move(socket))
    , m_pause(io)
{
}

void Pipe::setBytesPerSecond(std::int64_t bytes)
{
    m_bytesPerSecond = bytes;
    m_budget = double(bytes);
    m_counted = Clock::now();
}

std::chrono::nanoseconds Pipe::pause()
{
    const auto now = Clock::now();
    const double rate = double(m_bytesPerSecond);
    m_budget = std::min(rate, m_budget + std::chrono::duration<double>(now - m_counted).count() * rate);
    m_counted = now;
    const double wanted = std::min(kSmallestRead, rate);
    if (m_budget >= wanted)
        return {};
    return std::chrono::ceil<std::chrono::nanoseconds>(std::chrono::duration<double>((wanted - m_budget) / rate));
}

void Pipe::read(asio::mutable_buffer buffer, IoDone done)
{
    if (m_bytesPerSecond <= 0)
        return m_socket.async_read_some(buffer, std::move(done));
    if (const auto wait = pause(); wait.count() > 0) {
        m_pause.expires_after(wait);
        m_pause.async_wait([this, buffer, done = std::move(done)](const ErrorCodeOfSystem &fault) {
            if (fault)
                return done(fault, 0); // closed meanwhile; `this` may be gone
            read(buffer, done);
        });
        return;
    }
    const auto most = static_cast<std::size_t>(std::max(1.0, m_budget));
    m_socket.async_read_some(
        asio::buffer(buffer, most), [this, done = std::move(done)](const ErrorCodeOfSystem &fault, std::size_t bytes) {
            if (!fault)
                m_budget -= double(bytes);
            done(fault, bytes);
        });
}

void Pipe::write(asio::const_buffer buffer, IoDone done)
{
    m_socket.async_write_some(buffer, std::move(done));
}

void Pipe::close()
{
    ErrorCodeOfSystem ignored;
    m_socket.close(ignored);
    m_pause.cancel();
}

Channel::Channel(asio::io_context &io, Tcp::socket socket)
    : m_pipe(io, std::move(socket))
    , m_deadline(io)
{
    ErrorCodeOfSystem ignored;
    m_pipe.socket().set_option(Tcp::no_delay(true), ignored);
    m_pipe.socket().set_option(asio::socket_base::keep_alive(true), ignored); // streams may be silent for hours
}

Channel::~Channel() = default;

IoDone Channel::named(IoDone done)
{
    return [this, alive = std::weak_ptr(m_alive), done = std::move(done)](
               const ErrorCodeOfSystem &fault, std::size_t bytes) {
        if (!fault)
            return done(fault, bytes);
        if (alive.lock() && m_isExpired)
            return done(asio::error::timed_out, bytes);
        // Peers close TCP without the farewell of TLS all the time: messages have ends of their own.
        const bool isEnd = fault == asio::ssl::error::stream_truncated;
        done(isEnd ? ErrorCodeOfSystem(asio::error::eof) : fault, bytes);
    };
}

void Channel::read(asio::mutable_buffer buffer, IoDone done)
{
    if (m_tls)
        m_tls->async_read_some(buffer, named(std::move(done)));
    else
        m_pipe.read(buffer, named(std::move(done)));
}

void Channel::write(asio::const_buffer buffer, IoDone done)
{
    if (m_tls)
        m_tls->async_write_some(buffer, named(std::move(done)));
    else
        m_pipe.write(buffer, named(std::move(done)));
}

void Channel::expireIn(double seconds)
{
    m_deadline.expires_after(secondsOf(seconds));
    m_deadline.async_wait([this, alive = std::weak_ptr(m_alive)](const ErrorCodeOfSystem &fault) {
        // A deadline that was moved after it had passed is not one.
        if (fault || !alive.lock() || m_deadline.expiry() > Clock::now())
            return;
        m_isExpired = true;
        close();
    });
}

void Channel::expireNever()
{
    m_deadline.expires_at(Clock::time_point::max());
}

void Channel::close()
{
    m_deadline.cancel();
    m_pipe.close();
}

asio::awaitable<Expected<void>> Channel::acceptTls(TlsContextPtr context, std::string seen)
{
    m_context = std::move(context);
    m_tls = std::make_unique<asio::ssl::stream<Pipe &>>(m_pipe, *m_context);
    ErrorCodeOfSystem fault;
    co_await m_tls->async_handshake(asio::ssl::stream_base::server, asio::buffer(seen), into(fault));
    if (!fault)
        co_return Expected<void> {};
    const std::string why = m_isExpired ? "the TLS handshake was not done in time" : reasonOfTls(fault, {});
    co_return std::unexpected(Error { ErrorCode::CannotRead, {}, why, {} });
}

asio::awaitable<Expected<void>> Channel::connectTls(TlsContextPtr context, std::string host, bool isVerified)
{
    m_context = std::move(context);
    m_tls = std::make_unique<asio::ssl::stream<Pipe &>>(m_pipe, *m_context);
    const auto certificateFault = std::make_shared<std::string>();
    ErrorCodeOfSystem fault;
    expectHost(m_tls->native_handle(), host);
    if (isVerified)
        m_tls->set_verify_callback(CertificateCheck(host, certificateFault), fault);
    co_await m_tls->async_handshake(asio::ssl::stream_base::client, into(fault));
    if (!fault)
        co_return Expected<void> {};
    const std::string why = m_isExpired ? "timed out during the TLS handshake" : reasonOfTls(fault, *certificateFault);
    co_return std::unexpected(Error { ErrorCode::CannotRead, {}, why,
        certificateFault->empty() ? std::string() : "a certificate that is trusted; its CA may be named" });
}

asio::awaitable<void> Channel::finish(double seconds)
{
    expireIn(seconds);
    ErrorCodeOfSystem fault;
    if (m_tls)
        co_await m_tls->async_shutdown(into(fault)); // which also waits for the peer's
    m_pipe.socket().shutdown(Tcp::socket::shutdown_send, fault);
    std::array<char, 4'096> forgotten {};
    std::size_t bytes = 0;
    while (!fault && bytes < kMostForgotten)
        bytes += co_await m_pipe.async_read_some(asio::buffer(forgotten), into(fault));
    close();
}

void Channel::shutDown()
{
    ErrorCodeOfSystem ignored;
    if (m_tls)
        close();
    else
        m_pipe.socket().shutdown(Tcp::socket::shutdown_send, ignored);
}

void beast_close_socket(Channel &channel)
{
    channel.close();
}

void tearDown(Channel &channel, std::function<void(const ErrorCodeOfSystem &fault)> done)
{
    constexpr double kFarewellSeconds = 2;
    asio::co_spawn(channel.get_executor(), channel.finish(kFarewellSeconds),
        [done = std::move(done)](const std::exception_ptr &) { done({}); });
}

namespace {

using Endpoints = Expected<std::vector<Tcp::endpoint>>;

asio::awaitable<Endpoints> resolved(Loop &loop, std::string host, std::uint16_t port)
{
    struct Waiting {
        explicit Waiting(asio::io_context &io)
            : isFound(io, asio::steady_timer::time_point::max())
        {
        }
        asio::steady_timer isFound;
        std::optional<Endpoints> found;
    };
    const auto waiting = std::make_shared<Waiting>(loop.inside().io);
    resolve(loop, host, port, [weak = std::weak_ptr(waiting)](Endpoints found) {
        if (const auto there = weak.lock()) {
            there->found = std::move(found);
            there->isFound.cancel();
        }
    });
    ErrorCodeOfSystem ignored;
    while (!waiting->found)
        co_await waiting->isFound.async_wait(into(ignored));
    co_return std::move(*waiting->found);
}

} // namespace

asio::awaitable<Expected<ChannelPtr>> connectChannel(
    Loop &loop, Address address, SourceSettings settings, double secondsAtMost)
{
    const std::string where = hostAndPort(address.host, address.port);
    TlsContextPtr context;
    if (address.isTls) {
        auto made = makeClientTls(settings);
        if (!made)
            co_return std::unexpected(made.error());
        context = *made;
    }
    const Endpoints endpoints = co_await resolved(loop, address.host, address.port);
    if (!endpoints)
        co_return std::unexpected(endpoints.error());
    std::string why = "no address";
    for (const Tcp::endpoint &endpoint : *endpoints) {
        ErrorCodeOfSystem fault;
        Tcp::socket socket(loop.inside().io);
        socket.open(endpoint.protocol(), fault);
        auto channel = std::make_shared<Channel>(loop.inside().io, std::move(socket));
        channel->expireIn(secondsAtMost);
        if (!fault)
            co_await channel->pipe().socket().async_connect(endpoint, into(fault));
        if (fault) {
            why = channel->isExpired() ? "timed out" : reasonOf(fault);
            continue;
        }
        if (context) {
            const Expected<void> secured = co_await channel->connectTls(context, address.host, settings.isVerified);
            if (!secured) {
                Error error = secured.error();
                error.where = where;
                co_return std::unexpected(error);
            }
        }
        channel->expireNever();
        co_return channel;
    }
    co_return std::unexpected(Error { ErrorCode::CannotRead, where, why, {} });
}

} // namespace trainyard::live::net
