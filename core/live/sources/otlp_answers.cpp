// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/sources/otlp_answers.h"

#include "core/base/ascii_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace trainyard::live {

namespace {

constexpr const char *kProtobuf = "application/x-protobuf", *kJson = "application/json";
constexpr int kInvalidArgument = 3, kResourceExhausted = 8; // google.rpc.Code
constexpr std::size_t kMostReason = 1'000; // bytes
constexpr std::array<std::string_view, 3> kPaths { "/v1/metrics", "/v1/traces", "/v1/logs" };

net::ServerAnswer plain(int status, const std::string &text)
{
    return { status, { { "content-type", "text/plain; charset=utf-8" } }, text };
}

/// "Application/JSON; charset=utf-8" is application/json.
std::string mediaType(std::string_view header)
{
    return lowered(trimmed(header.substr(0, header.find(';'))));
}

void appendVarint(std::string &message, std::size_t value)
{
    for (; value >= 0x80; value >>= 7)
        message += static_cast<char>(value | 0x80);
    message += static_cast<char>(value);
}

} // namespace

OtlpRequest readOtlpRequest(const net::ServerRequest &request)
{
    const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
    const bool isRead = request.method == "GET" || request.method == "HEAD";
    if (path == "/" && isRead)
        return { false,
            plain(200,
                "This is Trainyard, listening to a training run.\n\n"
                "POST /v1/metrics, /v1/traces or /v1/logs: OTLP over HTTP, application/x-protobuf or "
                "application/json, gzip allowed\n"
                "WebSocket at any path, or plain TCP: lines of JSON, format trainyard.stream\n") };
    if (std::ranges::find(kPaths, path) == kPaths.end())
        return { false, plain(404, "There is nothing here. OTLP goes to /v1/metrics, /v1/traces and /v1/logs.\n") };
    if (request.method != "POST") {
        net::ServerAnswer answer = plain(405, "OTLP is sent with POST.\n");
        answer.headers["allow"] = "POST";
        return { false, answer };
    }
    const auto header = request.headers.find("content-type");
    const std::string type = header == request.headers.end() ? std::string() : mediaType(header->second);
    if (type != kProtobuf && type != kJson)
        return { false,
            plain(415,
                std::string("OTLP is ") + kProtobuf + " or " + kJson + ", not \"" + type.substr(0, 60) + "\".\n") };
    return { type == kJson, std::nullopt };
}

net::ServerAnswer otlpTaken(bool isJson)
{
    return { 200, { { "content-type", isJson ? kJson : kProtobuf } }, isJson ? "{}" : "" };
}

net::ServerAnswer otlpRefused(int status, const std::string &why, bool isJson)
{
    const int code = status == 429 ? kResourceExhausted : kInvalidArgument;
    const std::string reason = why.substr(0, kMostReason);
    net::ServerAnswer answer { status, { { "content-type", isJson ? kJson : kProtobuf } }, {} };
    if (isJson) {
        const nlohmann::ordered_json message { { "code", code }, { "message", reason } };
        answer.body = message.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
        return answer;
    }
    answer.body = { '\x08', static_cast<char>(code), '\x12' }; // code = 1, message = 2
    appendVarint(answer.body, reason.size());
    answer.body += reason;
    return answer;
}

} // namespace trainyard::live
