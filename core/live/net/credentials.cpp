// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/credentials.h"

#include "core/base/ascii_text.h"

#include <nlohmann/json.hpp>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace trainyard::live::net {

namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest digestOf(std::string_view text)
{
    Digest digest {};
    SHA256(reinterpret_cast<const unsigned char *>(text.data()), text.size(), digest.data());
    return digest;
}

bool startsWithAnyCase(std::string_view text, std::string_view start)
{
    return text.size() >= start.size() && std::ranges::equal(text.substr(0, start.size()), start, [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    });
}

/// A flat object: anything deeper is none of ours, and nesting is bounded.
nlohmann::json parsedLine(std::string_view line)
{
    constexpr int kMostDepth = 8;
    return nlohmann::json::parse(
        line, [](int depth, nlohmann::json::parse_event_t, nlohmann::json &) { return depth <= kMostDepth; }, false);
}

} // namespace

bool isSameToken(std::string_view shown, std::string_view expected)
{
    const Digest one = digestOf(shown), other = digestOf(expected);
    return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

std::string_view bearerOf(std::string_view authorization)
{
    constexpr std::string_view kScheme = "Bearer ";
    if (!startsWithAnyCase(authorization, kScheme))
        return {};
    authorization.remove_prefix(kScheme.size());
    const std::size_t first = authorization.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view() : authorization.substr(first);
}

Expected<void> checkHello(std::string_view line, std::string_view expected)
{
    const nlohmann::json hello = parsedLine(line);
    if (!hello.is_object() || !hello.contains("event") || hello["event"] != "hello")
        return std::unexpected(Error { ErrorCode::BadSyntax, "line 1", "it is no hello",
            "{\"event\":\"hello\",\"format\":\"trainyard.stream\",\"version\":1,\"token\":\"…\"}" });
    const auto token = hello.find("token");
    if (token == hello.end() || !token->is_string())
        return std::unexpected(
            Error { ErrorCode::BadValue, "line 1: /token", "there is none", "the token of this listener" });
    if (!isSameToken(token->get_ref<const std::string &>(), expected))
        return std::unexpected(
            Error { ErrorCode::BadValue, "line 1: /token", "it is not that of this listener", "its token" });
    return {};
}

bool hasTokenInTarget(std::string_view target)
{
    const std::size_t query = target.find('?');
    if (query == std::string_view::npos)
        return false;
    for (std::string_view rest = target.substr(query + 1); !rest.empty();) {
        const std::size_t end = std::min(rest.find('&'), rest.size());
        if (startsWithAnyCase(rest.substr(0, end), "token=") || startsWithAnyCase(rest.substr(0, end), "access_token="))
            return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

bool isOfLoopback(std::string_view authority)
{
    std::string_view host = authority;
    if (const std::size_t colon = authority.rfind(':');
        colon != std::string_view::npos && (!authority.starts_with('[') || authority.find(']') + 1 == colon)) {
        const std::string_view port = authority.substr(colon + 1);
        if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos)
            return false;
        host = authority.substr(0, colon);
    }
    return host == "127.0.0.1" || host == "[::1]" || lowered(host) == "localhost";
}

bool isForeignPage(std::string_view origin)
{
    if (origin.empty())
        return false;
    const std::size_t scheme = origin.find("://"); // none: "null", a page without a home
    return scheme == std::string_view::npos || !isOfLoopback(origin.substr(scheme + 3));
}

std::string refusedLine(std::string_view why)
{
    const nlohmann::ordered_json line { { "event", "refused" }, { "reason", why } };
    return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

std::string refusedReason(std::string_view line)
{
    if (line.find("\"refused\"") == std::string_view::npos)
        return {};
    const nlohmann::json parsed = parsedLine(line);
    if (!parsed.is_object() || !parsed.contains("event") || parsed["event"] != "refused" || !parsed.contains("reason")
        || !parsed["reason"].is_string())
        return {};
    return parsed["reason"].get<std::string>();
}

} // namespace trainyard::live::net
