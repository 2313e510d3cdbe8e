// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/net_target.h"

#include "tests/core/live/net/frames.h"
#include "tests/core/live/net/listening.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/packed.h"

#include <netinet/tcp.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace trainyard::fuzz {

namespace {

using namespace live::testing;
using live::net::ServerLimits;
using live::net::ServerRequest;

constexpr std::size_t kMostBody = std::size_t(64) << 10;

/// One listener for all executions: what one of them leaves behind would show in a later one.
Listening &listener()
{
    static Listening one([] {
        ServerLimits limits;
        limits.newPerSecond = std::size_t(1) << 30;
        limits.bodyBytes = kMostBody;
        limits.headSeconds = limits.bodySeconds = limits.idleSeconds = limits.writeSeconds = 20;
        limits.waitingBytes = kMostBody;
        return limits;
    }());
    return one;
}

struct Heard {
    std::vector<ServerRequest> requests;
    std::string bytes; // of the stream
    bool isRefused = false;
    std::string answer, fault;
};

/// Sends and ends; the listener has to answer, and to end too.
Heard hear(const std::string &input, bool isCut)
{
    Listening &to = listener();
    {
        const std::lock_guard lock(to.mutex);
        to.told = {};
    }
    Heard heard;
    try {
        Peer peer(to.port);
        const int now = 1;
        setsockopt(peer.handle(), IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
        std::mt19937_64 random(input.size());
        for (std::size_t at = 0; at < input.size();) {
            const std::size_t size =
                std::min(isCut ? 1 + random() % (random() % 3 ? 20 : 400) : input.size(), input.size() - at);
            if (!peer.send(std::string_view(input).substr(at, size)))
                break; // it said why
            at += size;
            if (isCut && random() % 4 == 0)
                to.loop->call([] {}); // so that it reads what there is
        }
        peer.shutDownWriting();
        heard.answer = peer.readAll();
    } catch (const std::exception &error) {
        heard.fault = error.what();
    }
    if (!to.waitForConnections(0) && heard.fault.empty())
        heard.fault = "the connection stays";
    auto told = to.now();
    heard.requests = std::move(told.requests);
    heard.isRefused = !told.refused.empty();
    for (const auto &[connection, bytes] : told.bytes)
        heard.bytes += bytes;
    if (told.opened.size() > 1 || told.opened.size() != told.closed.size())
        heard.fault = "a stream opened that did not close, or two on one connection";
    return heard;
}

std::string faultOfHeard(const Heard &heard, const std::string &input)
{
    if (!heard.fault.empty())
        return heard.fault;
    for (const ServerRequest &request : heard.requests) {
        if (request.body.size() > kMostBody)
            return "a body above its bound";
        for (const auto &[name, value] : request.headers)
            if (std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; }))
                return "a header's name in upper case: " + name;
    }
    if (heard.bytes.size() > input.size())
        return "a stream tells more than was sent";
    if (heard.answer.size() > 4'096 + 16 * input.size())
        return "the answer is larger than what was asked";
    return {};
}

auto parts(const ServerRequest &request)
{
    return std::tie(request.method, request.target, request.body, request.headers);
}

Outcome net(const std::string &input)
{
    const Heard whole = hear(input, false), cut = hear(input, true);
    const bool isAccepted = !whole.requests.empty() || !whole.bytes.empty();
    for (const Heard &one : { whole, cut })
        if (std::string fault = faultOfHeard(one, input); !fault.empty())
            return { isAccepted, fault };
    const bool areSame = std::ranges::equal(whole.requests, cut.requests,
        [](const ServerRequest &a, const ServerRequest &b) { return parts(a) == parts(b); });
    if (!areSame)
        return { isAccepted,
            "cut, " + std::to_string(cut.requests.size()) + " requests in place of "
                + std::to_string(whole.requests.size()) + ", or others" };
    if (!whole.isRefused && !cut.isRefused && whole.bytes != cut.bytes)
        return { isAccepted, "cut, the stream tells something else" };
    return { isAccepted, {} };
}

std::string post(const std::string &headers, const std::string &body)
{
    return "POST /v1/metrics HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body;
}

std::string chunked(const std::string &body)
{
    std::string text;
    for (std::size_t at = 0; at < body.size(); at += 7) {
        const std::string piece = body.substr(at, 7);
        text += std::to_string(piece.size()) + (at % 2 ? ";a=b" : "") + "\r\n" + piece + "\r\n";
    }
    return text + "0\r\nX-Sum: 1\r\n\r\n";
}

std::vector<std::string> netSeeds(const std::string &folder)
{
    const std::string body = R"({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "loss"}]}]}]})",
                      get = "GET /metrics?a=1 HTTP/1.1\r\nHost: localhost\r\n\r\n", gzip = test::packed(body, 31),
                      deflate = test::packed(body, 15);
    const auto length = [](const std::string &of) { return "Content-Length: " + std::to_string(of.size()) + "\r\n"; };
    std::vector<std::string> seeds { get, "HEAD / HTTP/1.0\r\n\r\n", post(length(body), body),
        post("Transfer-Encoding: chunked\r\n", chunked(body)), post("Content-Encoding: gzip\r\n" + length(gzip), gzip),
        post("Content-Encoding: deflate\r\n" + length(deflate), deflate),
        post("Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n", chunked(gzip)),
        post("Expect: 100-continue\r\n" + length(body), body), get + post(length(body), body) + get,
        post(length(body) + "Connection: close\r\n", body), post("Origin: http://localhost\r\n" + length(body), body),
        post("Host: evil.example\r\n" + length(body), body) };
    const std::string hello = R"({"event":"hello","version":1,"rank":0})"
                              "\n";
    seeds.push_back(hello + R"({"event":"sample","series":"loss","step":1,"value":2})" + "\n");
    seeds.push_back(handshake() + frame(kText, hello) + frame(kPing, "p") + frame(kText, "a", false)
        + frame(kContinuation, "b\n") + frame(kClose, closing(1000, "done")));
    seeds.push_back(handshake() + frame(kBinary, std::string(200, '\n')) + frame(kClose, ""));
    seeds.push_back(std::string("\x16\x03\x01\x00\x05hello", 10)); // the begin of TLS, which nobody speaks here
    for (const std::string &text : readerSeeds(folder, "live-lines"))
        seeds.push_back(text.substr(0, 2'000));
    return seeds;
}

} // namespace

Target netTarget()
{
    return { "live-net", net, netSeeds, 3'000 };
}

} // namespace trainyard::fuzz
