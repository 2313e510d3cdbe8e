// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/http_client.h"

#include "core/base/ascii_text.h"
#include "core/live/net/channel_internal.h"
#include "core/live/net/unpack.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <openssl/evp.h>

#include <exception>
#include <limits>

namespace trainyard::live::net {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using ResponseParser = http::response_parser<http::string_body>;

constexpr std::uint32_t kMostResponseHead = 65'536; // bytes

std::string base64(const std::string &text)
{
    std::string result(4 * ((text.size() + 2) / 3) + 1, '\0'); // it writes a NUL behind
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char *>(result.data()),
        reinterpret_cast<const unsigned char *>(text.data()), int(text.size()));
    result.resize(std::size_t(size));
    return result;
}

std::string_view trimmedBlanks(std::string_view text)
{
    while (text.starts_with(' ') || text.starts_with('\t'))
        text.remove_prefix(1);
    return text;
}

} // namespace

struct HttpClient::Private : std::enable_shared_from_this<HttpClient::Private> {
    Private(Loop &ownLoop, Address ownAddress, SourceSettings ownSettings)
        : loop(ownLoop)
        , address(std::move(ownAddress))
        , settings(std::move(ownSettings))
    {
    }

    Loop &loop;
    Address address;
    SourceSettings settings;
    ChannelPtr channel; // kept alive; null: none
    beast::flat_buffer buffer;
    bool isBusy = false, isOver = false;

    [[nodiscard]] std::unexpected<Error> failure(std::string what, std::string right = {}) const
    {
        return std::unexpected(Error {
            ErrorCode::CannotRead, hostAndPort(address.host, address.port), std::move(what), std::move(right) });
    }

    [[nodiscard]] http::request<http::string_body> message(const HttpRequest &request) const
    {
        std::string prefix = address.path;
        while (prefix.ends_with('/'))
            prefix.pop_back();
        http::request<http::string_body> message;
        message.method_string(request.method);
        message.target(prefix + request.target);
        message.version(11);
        message.set(http::field::host, hostAndPort(address.host, address.port));
        message.set(http::field::user_agent, "trainyard");
        message.set(http::field::accept_encoding, "gzip, deflate");
        message.set(http::field::accept, "application/json");
        const SourceSecrets &secrets = settings.secrets;
        if (!secrets.token.empty())
            message.set(http::field::authorization, "Bearer " + secrets.token);
        else if (!secrets.user.empty())
            message.set(http::field::authorization, "Basic " + base64(secrets.user + ":" + secrets.password));
        for (const std::string &header : settings.headers)
            if (const std::size_t colon = header.find(':'); colon != std::string::npos)
                message.set(header.substr(0, colon), std::string(trimmedBlanks(header).substr(colon + 1)));
        for (const auto &[name, value] : request.headers)
            message.set(name, value);
        message.body() = request.body;
        message.prepare_payload();
        message.keep_alive(true);
        return message;
    }

    /// Over the connection that there is. `isFresh` false: the server may have closed it meanwhile, which is no fault.
    asio::awaitable<Expected<HttpAnswer>> exchange(HttpRequest request, bool isFresh, bool &isGone)
    {
        const ChannelPtr own = channel;
        own->expireIn(request.secondsAtMost);
        http::request<http::string_body> sent = message(request);
        ErrorCodeOfSystem fault;
        co_await http::async_write(*own, sent, into(fault));
        ResponseParser parser;
        parser.header_limit(kMostResponseHead);
        parser.body_limit(request.bytesAtMost);
        if (!fault)
            co_await http::async_read(*own, buffer, parser, into(fault));
        if (isOver)
            co_return failure("cancelled");
        if (fault) {
            isGone = !isFresh && !own->isExpired() && !parser.got_some();
            if (own->isExpired())
                co_return failure("no answer within " + std::to_string(int(request.secondsAtMost)) + " s");
            if (fault == http::error::body_limit)
                co_return failure("its answer is longer than " + std::to_string(request.bytesAtMost) + " bytes",
                    "fewer series, or a coarser step");
            if (fault == http::error::end_of_stream || fault == http::error::partial_message)
                co_return failure(parser.got_some() ? "the connection ended within the answer"
                                                    : "the connection ended without an answer");
            if (fault.category() == make_error_code(http::error::bad_target).category())
                co_return failure("what answers is no HTTP (" + fault.message() + ")",
                    address.isTls ? "an HTTPS server" : "an HTTP server; one with TLS is written https://");
            co_return failure(reasonOf(fault));
        }
        HttpAnswer answer;
        answer.status = int(parser.get().result_int());
        for (const auto &field : parser.get())
            answer.headers[lowered(std::string(field.name_string()))] = std::string(field.value());
        const std::string encoding =
            answer.headers.contains("content-encoding") ? answer.headers["content-encoding"] : "";
        if (!parser.keep_alive())
            channel.reset();
        else
            own->expireNever();
        UnpackLimits limits;
        limits.bytes = request.bytesAtMost;
        auto body = unpack(std::move(parser.get().body()), encoding, limits);
        if (!body)
            co_return failure("its answer: " + body.error().what, body.error().right);
        answer.body = *std::move(body);
        co_return answer;
    }

    /// Whatever is thrown (memory, a thread that cannot be made) is an answer too: nobody waits for ever.
    asio::awaitable<Expected<HttpAnswer>> guarded(HttpRequest request)
    {
        std::string thrown;
        try {
            co_return co_await ask(request);
        } catch (const std::exception &error) {
            thrown = error.what();
        }
        if (channel)
            channel->close();
        channel.reset();
        co_return failure(thrown);
    }

    asio::awaitable<Expected<HttpAnswer>> ask(HttpRequest request)
    {
        const auto began = Clock::now();
        for (int turn = 0;; ++turn) {
            const bool isFresh = !channel;
            if (isFresh) {
                buffer.clear();
                auto connected = co_await connectChannel(loop, address, settings, request.secondsAtMost);
                if (!connected)
                    co_return std::unexpected(connected.error());
                if (isOver)
                    co_return failure("cancelled");
                channel = *connected;
            }
            bool isGone = false;
            auto answer = co_await exchange(request, isFresh, isGone);
            if (!answer && channel) {
                channel->close();
                channel.reset();
            }
            if (!answer && isGone && turn == 0)
                continue;
            if (answer)
                answer->seconds = std::chrono::duration<double>(Clock::now() - began).count();
            co_return answer;
        }
    }
};

HttpClient::HttpClient(Loop &loop, const Address &address, const SourceSettings &settings)
    : d(std::make_shared<Private>(loop, address, settings))
{
}

HttpClient::~HttpClient()
{
    d->isOver = true;
    if (d->channel)
        d->channel->close();
}

void HttpClient::ask(HttpRequest request, HttpDone done)
{
    if (d->isBusy)
        return done(d->failure("another request is under way"));
    d->isBusy = true;
    asio::co_spawn(
        d->loop.inside().io,
        [own = d, request = std::move(request), done = std::move(done)]() -> asio::awaitable<void> {
            auto answer = co_await own->guarded(request);
            own->isBusy = false;
            if (!own->isOver)
                done(std::move(answer));
        },
        asio::detached);
}

bool HttpClient::isBusy() const
{
    return d->isBusy;
}

} // namespace trainyard::live::net
