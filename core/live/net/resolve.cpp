// SPDX-License-Identifier: GPL-3.0-or-later
// Names of hosts to addresses, and faults of the system to words.
#include "core/live/net/loop_internal.h"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <netdb.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <system_error>

namespace trainyard::live::net {

namespace {

/// Names that are looked for at once: a resolver that never answers must not collect threads.
constexpr std::size_t kMostLookUps = 32;

Expected<std::vector<Tcp::endpoint>> lookUp(const std::string &host, std::uint16_t port)
{
    addrinfo hints {};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *first = nullptr;
    if (const int fault = getaddrinfo(host.c_str(), nullptr, &hints, &first))
        return std::unexpected(Error { ErrorCode::CannotRead, hostAndPort(host, port),
            "no address of " + host + ": "
                + (fault == EAI_SYSTEM ? std::generic_category().message(errno) : std::string(gai_strerror(fault))),
            "a name that this machine can look up, or an address" });
    std::vector<Tcp::endpoint> found;
    for (const addrinfo *at = first; at; at = at->ai_next) {
        Tcp::endpoint endpoint;
        if (at->ai_addrlen > endpoint.capacity())
            continue;
        std::copy_n(
            reinterpret_cast<const char *>(at->ai_addr), at->ai_addrlen, reinterpret_cast<char *>(endpoint.data()));
        endpoint.resize(at->ai_addrlen);
        endpoint.port(port);
        found.push_back(endpoint);
    }
    freeaddrinfo(first);
    return found;
}

} // namespace

void resolve(Loop &loop, const std::string &host, std::uint16_t port, Resolved done)
{
    ErrorCodeOfSystem fault;
    if (const auto address = asio::ip::make_address(host, fault); !fault) {
        loop.post(
            [done = std::move(done), at = Tcp::endpoint(address, port)] { done(std::vector<Tcp::endpoint> { at }); });
        return;
    }
    auto &inside = loop.inside();
    const auto refuse = [&](const std::string &why) {
        loop.post([done, where = hostAndPort(host, port), why] {
            done(std::unexpected(Error { ErrorCode::CannotRead, where, why, "a name service that answers" }));
        });
    };
    if (inside.lookUps.size() >= kMostLookUps)
        return refuse("too many names are being looked up already");
    const std::uint64_t number = ++inside.lookUpsBegun;
    inside.lookUps[number] = done;
    try {
        std::thread([host, port, number, post = loop.poster(), at = &inside] {
            post([at, number, found = lookUp(host, port)] {
                if (const auto waits = at->lookUps.extract(number))
                    waits.mapped()(found);
            });
        }).detach();
    } catch (const std::system_error &none) {
        inside.lookUps.erase(number);
        refuse(none.what());
    }
}

std::string reasonOf(const ErrorCodeOfSystem &fault)
{
    if (fault == asio::error::eof)
        return "the peer closed the connection";
    if (fault == asio::error::connection_reset || fault == asio::error::broken_pipe)
        return "the peer cut the connection";
    if (fault == asio::error::timed_out)
        return "timed out";
    if (fault == asio::error::operation_aborted)
        return "closed";
    std::string text = fault.message();
    // "Connection refused" becomes the middle of a sentence; "SSL …" stays.
    if (text.size() > 1 && std::isupper(static_cast<unsigned char>(text[0]))
        && std::islower(static_cast<unsigned char>(text[1])))
        text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
}

std::string hostAndPort(const std::string &host, std::uint16_t port)
{
    const bool isBracketed = host.find(':') != std::string::npos;
    return (isBracketed ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

std::string textOf(const Tcp::endpoint &endpoint)
{
    return hostAndPort(endpoint.address().to_string(), endpoint.port());
}

} // namespace trainyard::live::net
