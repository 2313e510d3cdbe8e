// SPDX-License-Identifier: GPL-3.0-or-later
// HTTP/1.1: requests of one peer, one after the other.
#include "core/base/ascii_text.h"
#include "core/live/net/credentials.h"
#include "core/live/net/growing_body_internal.h"
#include "core/live/net/server_internal.h"
#include "core/live/net/unpack.h"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include <algorithm>
#include <optional>
#include <sstream>

namespace trainyard::live::net {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using RequestParser = http::request_parser<GrowingBody>;

constexpr std::uint32_t kMostRequestHead = 32'768; // bytes
constexpr std::size_t kAllBodies = std::size_t(256) << 20; // bytes that bodies of all peers take together
constexpr std::size_t kSmallBody = std::size_t(64) << 10; // bytes that each may take, however many others take

} // namespace

/// What a conversation needs from one request to the next.
struct Conversation {
    ServerPtr server;
    ConnectionPtr connection;
    beast::flat_buffer buffer;
    std::size_t held = 0; // bytes that its body takes, counted in server->bodyBytes
    bool isFirst = true; // which has the deadline of its connection

    Conversation(ServerPtr ownServer, ConnectionPtr ownConnection)
        : server(std::move(ownServer))
        , connection(std::move(ownConnection))
    {
    }
    ~Conversation() { hold(0); }
    Conversation(const Conversation &) = delete;
    Conversation &operator=(const Conversation &) = delete;
    void hold(std::size_t bytes)
    {
        server->bodyBytes += bytes - held;
        held = bytes;
    }
    /// Each takes half of what others leave at most: no few keep all of it from the rest.
    [[nodiscard]] bool isTooMuch(std::size_t bytes) const
    {
        const std::size_t others = server->bodyBytes - held;
        return bytes > std::max(kSmallBody, (kAllBodies - std::min(others, kAllBodies)) / 2);
    }
};

namespace {

ServerAnswer plain(int status, std::string text)
{
    return { status, { { "content-type", "text/plain; charset=utf-8" } }, std::move(text) + '\n' };
}

std::string headerOf(const RequestParser &parser, http::field field)
{
    return std::string(parser.get()[field]);
}

/// What is wrong with a request before its body is read.
std::optional<ServerAnswer> refusalOf(const Conversation &talk, const RequestParser &parser)
{
    const ServerConnection &connection = *talk.connection;
    if (connection.isInTheClear)
        return plain(400, "This port takes HTTPS only.");
    if (hasTokenInTarget({ parser.get().target().data(), parser.get().target().size() }))
        return plain(400,
            "A token in an address is written to logs on its way: send it as a header, \"Authorization: Bearer …\".");
    const std::string authorization = headerOf(parser, http::field::authorization);
    const std::string &token = talk.server->token;
    const bool isShown = !token.empty() && isSameToken(bearerOf(authorization), token);
    // Browsers cannot add a header to a WebSocket: they show the token in its hello.
    const bool willShow = !token.empty() && authorization.empty() && beast::websocket::is_upgrade(parser.get());
    if (!isShown && !willShow && isForeignPage(headerOf(parser, http::field::origin)))
        return plain(403, "A page of another machine may not send telemetry here without the token.");
    // Without a token it listens on loopback alone. A name of somebody else's that leads here (DNS rebinding) makes a
    // page of theirs one of this machine for the browser.
    if (const std::string host = headerOf(parser, http::field::host);
        token.empty() && !host.empty() && !isOfLoopback(host))
        return plain(403, "Without a token this listener is localhost, 127.0.0.1 or [::1], and nothing else.");
    if (token.empty() || isShown || willShow)
        return std::nullopt;
    ServerAnswer answer = plain(401,
        authorization.empty() ? "This listener wants its token: \"Authorization: Bearer …\"."
                              : "The token is not that of this listener.");
    answer.headers["www-authenticate"] = "Bearer realm=\"trainyard\"";
    return answer;
}

asio::awaitable<ErrorCodeOfSystem> reply(
    Conversation &talk, const ServerAnswer &answer, unsigned version, bool isKept, bool isHead)
{
    http::response<http::string_body> response(static_cast<http::status>(answer.status), version);
    response.set(http::field::server, "trainyard");
    for (const auto &[name, value] : answer.headers)
        response.set(name, value);
    response.keep_alive(isKept);
    response.body() = answer.body;
    response.prepare_payload();
    if (isHead)
        response.body().clear();
    ErrorCodeOfSystem fault;
    talk.server->setTurn(*talk.connection, Turn::Exchange);
    talk.connection->channel.expireIn(talk.server->limits.bodySeconds);
    co_await http::async_write(talk.connection->channel, response, into(fault));
    co_return fault;
}

/// Answers, and ends the connection so that the answer is read even where the peer still sends.
asio::awaitable<void> refuse(Conversation &talk, ServerAnswer answer, unsigned version)
{
    std::string why = answer.body.substr(0, answer.body.find('\n'));
    talk.server->refused(*talk.connection, why);
    const ErrorCodeOfSystem fault = co_await reply(talk, answer, version, false, false);
    if (!fault)
        co_await talk.connection->channel.finish(kFarewellSeconds);
}

/// What to say to a head that cannot be read; nothing where the peer just ended.
std::optional<ServerAnswer> faultOfHead(const Conversation &talk, const ErrorCodeOfSystem &fault)
{
    if (talk.connection->channel.isExpired()) {
        talk.server->refused(
            *talk.connection, "no whole request within " + std::to_string(int(talk.server->limits.headSeconds)) + " s");
        return std::nullopt;
    }
    if (fault == http::error::body_limit)
        return plain(413, "A body may have " + std::to_string(talk.server->limits.bodyBytes) + " bytes.");
    if (fault == http::error::header_limit || fault == http::error::buffer_overflow)
        return plain(431, "A head may have " + std::to_string(kMostRequestHead) + " bytes.");
    if (fault == http::error::bad_version)
        return plain(505, "This is HTTP/1.1: of OTLP, choose http/protobuf rather than gRPC.");
    if (fault.category() == make_error_code(http::error::bad_target).category() && fault != http::error::end_of_stream
        && fault != http::error::partial_message)
        return plain(400, "That is no HTTP/1.1: " + fault.message() + '.');
    return std::nullopt;
}

ServerAnswer full()
{
    ServerAnswer answer = plain(503, "Too much is being received at once.");
    answer.headers["retry-after"] = "5";
    return answer;
}

/// Reads the rest of a request. An answer: what is wrong with it; sets `fault` where the peer is gone.
asio::awaitable<std::optional<ServerAnswer>> readBody(
    Conversation &talk, RequestParser &parser, ErrorCodeOfSystem &fault)
{
    Channel &channel = talk.connection->channel;
    if (talk.isTooMuch(static_cast<std::size_t>(parser.content_length().value_or(0))))
        co_return full();
    talk.server->setTurn(*talk.connection, Turn::Exchange);
    channel.expireIn(talk.server->limits.bodySeconds);
    if (const std::string expect = headerOf(parser, http::field::expect); expect.size() == 12 && !parser.is_done()) {
        http::response<http::empty_body> goOn(http::status::continue_, parser.get().version());
        co_await http::async_write(channel, goOn, into(fault));
        if (fault)
            co_return std::nullopt;
    }
    while (!parser.is_done()) {
        co_await http::async_read_some(channel, talk.buffer, parser, into(fault));
        if (fault == http::error::body_limit)
            co_return plain(413, "A body may have " + std::to_string(talk.server->limits.bodyBytes) + " bytes.");
        if (fault && fault.category() == make_error_code(http::error::bad_target).category()
            && fault != http::error::partial_message)
            co_return plain(400, "That is no HTTP/1.1: " + fault.message() + '.');
        if (fault) {
            if (channel.isExpired())
                talk.server->refused(*talk.connection,
                    "no whole body within " + std::to_string(int(talk.server->limits.bodySeconds)) + " s");
            co_return std::nullopt;
        }
        // What has arrived counts, not what was announced: who announces much and sends nothing is in nobody's way.
        talk.hold(parser.get().body().capacity());
        if (talk.isTooMuch(talk.held))
            co_return full();
    }
    co_return std::nullopt;
}

/// Asks whoever listens, who may answer later.
asio::awaitable<ServerAnswer> asked(Conversation &talk, ServerRequest request)
{
    struct Waiting {
        explicit Waiting(asio::io_context &io)
            : answered(io)
        {
        }
        asio::steady_timer answered;
        std::optional<ServerAnswer> answer;
    };
    if (talk.server->isClosed || !talk.server->events.request)
        co_return plain(503, "Nobody takes requests here.");
    const auto waiting = std::make_shared<Waiting>(talk.server->loop.inside().io);
    waiting->answered.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(talk.server->limits.bodySeconds)));
    talk.connection->channel.expireNever();
    talk.server->events.request(std::move(request), [weak = std::weak_ptr(waiting)](ServerAnswer answer) {
        const auto there = weak.lock();
        if (!there || there->answer)
            return;
        there->answer = std::move(answer);
        there->answered.cancel();
    });
    ErrorCodeOfSystem ignored;
    if (!waiting->answer)
        co_await waiting->answered.async_wait(into(ignored));
    if (waiting->answer)
        co_return *waiting->answer;
    ServerAnswer answer = plain(503, "Nobody answered in time.");
    answer.headers["retry-after"] = "5";
    co_return answer;
}

/// Its body as it was before it was packed, by a thread that unpacks; others are talked to meanwhile.
asio::awaitable<Expected<std::string>> unpackedBody(Conversation &talk, std::string packed, std::string encoding)
{
    if (encoding.empty())
        co_return packed;
    struct Waiting {
        explicit Waiting(asio::io_context &io)
            : there(io, asio::steady_timer::time_point::max())
        {
        }
        asio::steady_timer there;
        std::optional<Expected<std::string>> body;
    };
    const auto waiting = std::make_shared<Waiting>(talk.server->loop.inside().io);
    talk.connection->channel.expireNever();
    const UnpackLimits limits { .bytes = talk.server->limits.bodyBytes };
    talk.server->unpacker.unpack(
        std::move(packed), std::move(encoding), limits, [weak = std::weak_ptr(waiting)](Expected<std::string> body) {
            if (const auto held = weak.lock()) {
                held->body = std::move(body);
                held->there.cancel();
            }
        });
    ErrorCodeOfSystem ignored;
    if (!waiting->body)
        co_await waiting->there.async_wait(into(ignored));
    if (!waiting->body) // the server has ended
        co_return std::unexpected(Error { ErrorCode::Cancelled, "body", "nobody unpacks it any more", {} });
    co_return std::move(*waiting->body);
}

ServerRequest requestOf(const Conversation &talk, RequestParser &parser)
{
    ServerRequest request;
    const auto &message = parser.get();
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    request.peer = talk.connection->peer;
    for (const auto &field : message)
        request.headers[lowered(std::string(field.name_string()))] = std::string(field.value());
    request.headers.erase("authorization"); // checked here, and nobody else's business
    request.body = std::move(parser.get().body());
    return request;
}

/// One request and its answer; false: the connection has ended, or another conversation took it over.
asio::awaitable<bool> oneRequest(Conversation &talk)
{
    Channel &channel = talk.connection->channel;
    RequestParser parser;
    parser.header_limit(kMostRequestHead);
    parser.body_limit(talk.server->limits.bodyBytes);
    ErrorCodeOfSystem fault;
    if (!talk.isFirst) {
        channel.expireIn(talk.server->limits.headSeconds);
        talk.server->setTurn(*talk.connection, Turn::Head);
    }
    talk.isFirst = false;
    co_await http::async_read_header(channel, talk.buffer, parser, into(fault));
    if (fault) {
        std::optional<ServerAnswer> answer = faultOfHead(talk, fault);
        if (answer)
            co_await refuse(talk, std::move(*answer), 11);
        co_return false;
    }
    const unsigned version = parser.get().version();
    std::optional<ServerAnswer> refusal = refusalOf(talk, parser);
    if (refusal) {
        co_await refuse(talk, std::move(*refusal), version);
        co_return false;
    }
    if (beast::websocket::is_upgrade(parser.get())) {
        std::ostringstream head;
        head << parser.get().base();
        talk.connection->hasToken |= !parser.get()[http::field::authorization].empty();
        const std::string text = head.str();
        co_await talkWebSocket(talk.server, talk.connection, text);
        co_return false;
    }
    refusal = co_await readBody(talk, parser, fault);
    if (refusal) {
        co_await refuse(talk, std::move(*refusal), version);
        co_return false;
    }
    if (fault)
        co_return false;
    talk.server->setTurn(*talk.connection, Turn::Ours);
    const bool isKept = parser.get().keep_alive();
    const bool isHead = parser.get().method() == http::verb::head;
    ServerRequest request = requestOf(talk, parser);
    ServerAnswer answer;
    std::string encoding = request.headers["content-encoding"], packed = std::move(request.body);
    Expected<std::string> body = co_await unpackedBody(talk, std::move(packed), std::move(encoding));
    if (body)
        talk.hold(body->capacity());
    if (body && talk.isTooMuch(talk.held)) {
        answer = full();
    } else if (body) {
        request.body = std::move(*body);
        answer = co_await asked(talk, std::move(request));
    } else {
        const ErrorCode code = body.error().code;
        answer = plain(code == ErrorCode::OutOfRange ? 413
                : code == ErrorCode::BadValue        ? 415
                                                     : 400,
            toString(body.error()));
        talk.server->refused(*talk.connection, toString(body.error()));
    }
    talk.hold(0);
    fault = co_await reply(talk, answer, version, isKept, isHead);
    if (fault || isKept)
        co_return !fault;
    co_await channel.finish(kFarewellSeconds);
    co_return false;
}

} // namespace

asio::awaitable<void> talkHttp(ServerPtr server, ConnectionPtr connection, std::string seen)
{
    Conversation talk(server, connection);
    talk.buffer.commit(asio::buffer_copy(talk.buffer.prepare(seen.size()), asio::buffer(seen)));
    seen = {};
    if (talk.buffer.size() >= 4
        && std::string_view(static_cast<const char *>(talk.buffer.data().data()), 4) == "PRI ") {
        server->refused(*connection, "it speaks HTTP/2, as OTLP over gRPC does: choose http/protobuf in the exporter");
        co_return;
    }
    Channel &channel = connection->channel;
    for (;;) {
        const bool goesOn = co_await oneRequest(talk);
        if (!goesOn || server->isClosed)
            co_return;
        if (talk.buffer.size() > 0)
            continue; // the next one came with the last
        ErrorCodeOfSystem fault;
        server->setTurn(*connection, Turn::Idle);
        channel.expireIn(server->limits.idleSeconds);
        const auto space = talk.buffer.prepare(4'096);
        talk.buffer.commit(co_await channel.async_read_some(space, into(fault)));
        if (fault)
            co_return;
    }
}

} // namespace trainyard::live::net
