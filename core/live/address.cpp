// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/address.h"

#include "core/base/ascii_text.h"
#include "core/base/printable.h"
#include "core/live/address_secrets.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace trainyard::live {

namespace {

constexpr std::size_t kLongestAddress = 16'384, kLongestHost = 253;
constexpr const char *kForms = "http://HOST:9090 (Prometheus), listen:PORT (OTLP, WebSocket and lines of JSON), "
                               "tcp://HOST:PORT or ws://HOST:PORT/PATH (a stream), tail:PATH (a log), command:COMMAND "
                               "or replay:RECORDING";

struct Scheme {
    std::string_view name;
    SourceType type;
    bool isTls;
    std::uint16_t port; // where none is told; 0: one has to be
};
constexpr std::array<Scheme, 10> kSchemes { { { "http", SourceType::Prometheus, false, 80 },
    { "https", SourceType::Prometheus, true, 443 }, { "listen", SourceType::Listener, false, 0 },
    { "tcp", SourceType::Stream, false, 0 }, { "tls", SourceType::Stream, true, 0 },
    { "ws", SourceType::WebSocket, false, 80 }, { "wss", SourceType::WebSocket, true, 443 },
    { "tail", SourceType::Tail, false, 0 }, { "command", SourceType::Command, false, 0 },
    { "replay", SourceType::Replay, false, 0 } } };

bool isUrl(SourceType type)
{
    return type == SourceType::Prometheus || type == SourceType::Stream || type == SourceType::WebSocket;
}

bool isDigits(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// IPv6 without brackets; a zone behind % is let through.
bool isIpv6(std::string_view host)
{
    in6_addr bytes {};
    const std::string own(host.substr(0, host.find('%')));
    return ::inet_pton(AF_INET6, own.c_str(), &bytes) == 1;
}

bool isHostName(std::string_view host)
{
    return !host.empty() && host.size() <= kLongestHost && host.front() != '.' && host.front() != '-'
        && std::ranges::all_of(host, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.'
                   || c == '_';
           });
}

std::string bracketed(const std::string &host)
{
    return host.find(':') != host.npos ? '[' + host + ']' : host;
}

class Reading {
public:
    explicit Reading(std::string_view text)
        : m_text(text)
    {
    }

    Expected<Address> parsed() const
    {
        if (m_text.empty())
            return wrong("an address is empty", kForms);
        if (m_text.size() > kLongestAddress)
            return wrong("it is longer than an address may be", "at most 16384 characters");
        if (std::ranges::any_of(m_text, [](unsigned char c) { return c < ' ' || c == 0x7f; }))
            return wrong("there is a control character in it", kForms);
        const std::size_t colon = m_text.find(':');
        const std::string name = lowered(m_text.substr(0, colon));
        const auto scheme = colon == m_text.npos ? kSchemes.end() : std::ranges::find(kSchemes, name, &Scheme::name);
        if (scheme == kSchemes.end())
            return withoutScheme(name, colon);
        std::string_view rest = m_text.substr(colon + 1);
        Address address;
        address.type = scheme->type;
        address.isTls = scheme->isTls;
        if (address.type == SourceType::Listener)
            return listener(std::move(address), rest);
        if (isUrl(address.type))
            return url(std::move(address), *scheme, rest);
        return local(std::move(address), *scheme, rest);
    }

private:
    [[nodiscard]] std::unexpected<Error> wrong(std::string what, std::string right) const
    {
        return std::unexpected(
            Error { ErrorCode::BadValue, shortened(m_text, 200), std::move(what), std::move(right) });
    }

    /// Without the text, which has a secret in it.
    [[nodiscard]] static std::unexpected<Error> secret(const std::string &shown, std::string what, std::string right)
    {
        return std::unexpected(Error { ErrorCode::BadValue, shown, std::move(what), std::move(right) });
    }

    /// Things that people write, which are no address, and the address that they mean.
    [[nodiscard]] std::unexpected<Error> withoutScheme(const std::string &name, std::size_t colon) const
    {
        const std::string text(m_text);
        if (isDigits(m_text))
            return wrong("it says only a port",
                "listen:" + text + " to be told on it, or http://HOST:" + text + " to ask a Prometheus server");
        if (m_text.ends_with(".trainyard-recording"))
            return wrong("it is a file", "replay:" + text);
        if (m_text.find("://") != m_text.npos) {
            const std::string rest = withoutUser(m_text.substr(m_text.find("://") + 3));
            if (m_text.find('@') != m_text.npos)
                return secret(rest, "no source is called " + printable(shortened(name, 40)), kForms);
            if (name == "file")
                return wrong("no source is called file", "tail:" + rest + " or replay:" + rest);
            if (name == "grpc" || name == "grpcs" || name == "otlp")
                return wrong("OTLP over gRPC is not spoken", "listen:4318, which takes OTLP over HTTP");
            if (name == "ssh")
                return wrong("no source is called ssh", "command:ssh HOST tail -F PATH");
            if (name == "prometheus" || name == "prom")
                return wrong("no source is called " + name, "http://" + rest);
            return wrong("no source is called " + printable(shortened(name, 40)), kForms);
        }
        if (m_text.starts_with('/') || m_text.starts_with("./") || m_text.starts_with("../")
            || m_text.starts_with("~/"))
            return wrong("it is a path", "tail:" + text + " of a log, replay:" + text + " of a recording");
        if (m_text.starts_with("ssh ") || m_text.starts_with("kubectl ") || m_text.starts_with("tail "))
            return wrong("it is a command", "command:" + text);
        const std::string_view behind = colon == m_text.npos ? std::string_view() : m_text.substr(colon + 1);
        const std::string_view digits = behind.substr(0, behind.find('/'));
        if (m_text.find('@') == m_text.npos && isHostName(m_text.substr(0, colon)) && isDigits(digits))
            return wrong("it does not say what is spoken there",
                "http://" + text + " of a Prometheus server, tcp://" + text + " of a stream, listen:" + text
                    + " to be told on it");
        if (m_text.find('@') != m_text.npos)
            return secret(withoutUser(m_text), "no form of address is like that", kForms);
        return wrong("no form of address is like that", kForms);
    }

    [[nodiscard]] Expected<Address> listener(Address address, std::string_view rest) const
    {
        if (rest.starts_with("//"))
            rest.remove_prefix(2);
        if (rest.find('@') != rest.npos)
            return secret("listen:" + withoutUser(rest), "a token stands in it, where everybody sees it",
                "listen:PORT, with the token in a file: --token-file");
        if (rest.empty())
            return wrong("it does not say a port", "listen:4318, or listen:0 for any that is free");
        if (isDigits(rest)) {
            if (auto put = setPort(address, rest, true); !put)
                return std::unexpected(put.error());
            return address;
        }
        if (auto put = setHostAndPort(address, rest, 0, true); !put)
            return std::unexpected(put.error());
        return address;
    }

    [[nodiscard]] Expected<Address> url(Address address, const Scheme &scheme, std::string_view rest) const
    {
        const std::string start = std::string(scheme.name) + "://";
        if (!rest.starts_with("//")) {
            while (rest.starts_with('/'))
                rest.remove_prefix(1);
            return wrong("there are no two slashes behind " + std::string(scheme.name) + ":",
                start + (rest.empty() ? "HOST:PORT" : withoutUser(rest)));
        }
        rest.remove_prefix(2);
        const std::string_view place = rest.substr(0, rest.find_first_of("/?#"));
        std::string_view path = rest.substr(place.size());
        if (rest.substr(0, rest.find('?')).find('@') != rest.npos) // a password may have slashes in it
            return secret(start + withoutUser(rest), "a user or a password stands in it, where everybody sees them",
                start + withoutUser(rest) + " with --user and --password-file, or --token-file");
        if (const std::string key = secretInQuery(path); !key.empty())
            return secret(start + std::string(place) + std::string(path.substr(0, path.find('?'))),
                "its query has a " + key + " in it, where everybody sees it",
                start + std::string(place) + std::string(path.substr(0, path.find('?'))) + " with --token-file");
        if (auto put = setHostAndPort(address, place, scheme.port, false); !put)
            return std::unexpected(put.error());
        if (path.find_first_of(" #\"<>\\^`{|}") != path.npos)
            return wrong("its path has characters that no URL has", "blanks as %20, without #");
        while (address.type != SourceType::WebSocket && path.ends_with('/'))
            path.remove_suffix(1);
        if (path == "/")
            path = {};
        const std::string host = start + bracketed(address.host) + ':' + std::to_string(address.port);
        if (address.type == SourceType::Stream && !path.empty())
            return wrong("a stream over TCP has no path", host + ", or ws://" + host.substr(start.size()) + "/PATH");
        if (address.type == SourceType::Prometheus) {
            if (path.find('?') != path.npos)
                return wrong("a query stands in it", host + " with --query PROMQL");
            const std::size_t own =
                std::min(path.find("/api/v1"), path.ends_with("/graph") ? path.size() - 6 : path.npos);
            if (own != path.npos)
                return wrong("it is a page of the server", host + std::string(path.substr(0, own)));
        }
        address.path = path;
        return address;
    }

    [[nodiscard]] Expected<Address> local(Address address, const Scheme &scheme, std::string_view rest) const
    {
        const std::string start = std::string(scheme.name) + ':';
        while (rest.starts_with(' '))
            rest.remove_prefix(1);
        if (address.type == SourceType::Command) {
            if (rest.empty())
                return wrong("it does not say a command", "command:ssh HOST tail -F PATH");
            if (const std::string found = secretInCommand(rest); !found.empty())
                return secret(start + "…", "the command has a secret in it (" + found + "), where everybody sees it",
                    "keys of ssh, a file that the command reads, or a variable: $NAME");
        } else {
            if (rest.starts_with("//"))
                rest.remove_prefix(2); // as in file:///path
            if (rest.empty())
                return wrong("it does not say a file", start + "PATH");
            if (rest.ends_with('/'))
                return wrong("it is a folder", start + "PATH of a file");
            if (address.type == SourceType::Tail && rest.ends_with(".trainyard-recording"))
                return wrong("a recording is no log", "replay:" + std::string(rest));
        }
        address.path = rest;
        return address;
    }

    [[nodiscard]] Expected<void> setPort(Address &address, std::string_view digits, bool mayBeZero) const
    {
        unsigned port = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
        if (!isDigits(digits) || read.ec != std::errc() || port > 65'535 || (port == 0 && !mayBeZero))
            return wrong("its port is " + printable(shortened(digits, 40)),
                mayBeZero ? "a whole number from 0 (any that is free) to 65535" : "a whole number from 1 to 65535");
        address.port = static_cast<std::uint16_t>(port);
        return {};
    }

    [[nodiscard]] Expected<void> setHostAndPort(
        Address &address, std::string_view place, std::uint16_t usual, bool mayBeZero) const
    {
        std::string_view host = place, port;
        bool hasPort = false;
        if (place.starts_with('[')) {
            const std::size_t end = place.find(']');
            host = place.substr(1, end == place.npos ? end : end - 1);
            const std::string_view behind = end == place.npos ? std::string_view() : place.substr(end + 1);
            if (end == place.npos || !isIpv6(host) || (!behind.empty() && !behind.starts_with(':')))
                return wrong("no IPv6 address stands in its brackets", "[::1]:PORT");
            hasPort = !behind.empty();
            port = hasPort ? behind.substr(1) : behind;
        } else {
            if (std::ranges::count(place, ':') > 1) {
                const std::size_t last = place.rfind(':');
                return wrong("an IPv6 address stands without brackets",
                    isIpv6(place.substr(0, last)) && isDigits(place.substr(last + 1))
                        ? '[' + std::string(place.substr(0, last)) + ']' + std::string(place.substr(last))
                        : "[ADDRESS]:PORT");
            }
            const std::size_t colon = place.find(':');
            hasPort = colon != place.npos;
            host = place.substr(0, colon);
            port = hasPort ? place.substr(colon + 1) : std::string_view();
            if (!isHostName(host))
                return wrong(host.empty() ? std::string("it does not say a host")
                                          : "its host is " + printable(shortened(host, 80)),
                    "a name or an address, IPv6 in brackets");
        }
        if (!hasPort && usual == 0)
            return wrong("it does not say a port", bracketed(std::string(host)) + ":PORT");
        if (address.host = host; hasPort)
            return setPort(address, port, mayBeZero);
        address.port = usual;
        return {};
    }

    std::string_view m_text;
};

} // namespace

const char *nameOf(SourceType type)
{
    switch (type) {
    case SourceType::Prometheus:
        return "Prometheus";
    case SourceType::Listener:
        return "Listening";
    case SourceType::Stream:
        return "Stream";
    case SourceType::WebSocket:
        return "WebSocket";
    case SourceType::Tail:
        return "Log";
    case SourceType::Command:
        return "Command";
    case SourceType::Replay:
        return "Replay";
    }
    return "";
}

std::string Address::text() const
{
    const auto scheme = std::ranges::find_if(
        kSchemes, [&](const Scheme &one) { return one.type == type && (one.isTls == isTls || !isUrl(type)); });
    const std::string start(scheme == kSchemes.end() ? std::string_view() : scheme->name);
    if (isUrl(type))
        return start + "://" + bracketed(host) + ':' + std::to_string(port) + path;
    if (type == SourceType::Listener)
        return start + ':' + bracketed(host) + ':' + std::to_string(port);
    return start + ':' + path;
}

Expected<Address> parseAddress(std::string_view text)
{
    return Reading(trimmed(text)).parsed();
}

bool isLoopback(std::string_view host)
{
    if (host.starts_with('[') && host.ends_with(']'))
        host = host.substr(1, host.size() - 2);
    if (lowered(host) == "localhost")
        return true;
    const std::string own(host.substr(0, host.find('%')));
    in_addr four {};
    if (::inet_pton(AF_INET, own.c_str(), &four) == 1)
        return (ntohl(four.s_addr) >> 24) == 127;
    in6_addr six {};
    if (::inet_pton(AF_INET6, own.c_str(), &six) != 1)
        return false;
    if (IN6_IS_ADDR_V4MAPPED(&six))
        return six.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&six);
}

} // namespace trainyard::live
