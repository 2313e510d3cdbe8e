// SPDX-License-Identifier: GPL-3.0-or-later
// Room for one more connection. Slow peers, however many, keep no honest one out: it is they who make room.
#include "core/live/net/server_internal.h"

#include <algorithm>

namespace trainyard::live::net {

namespace {

std::string whyTurnedAway(const ServerConnection &connection)
{
    return connection.turn == Turn::Head ? "others came, and what it wants was not whole"
                                         : "others came, and its request or the answer was not through";
}

} // namespace

void ServerInside::setTurn(ServerConnection &connection, Turn turn)
{
    if (!connections.contains(connection.number)) // what was read before it was turned away is still told
        return;
    unfinished += std::size_t(turn == Turn::Head);
    unfinished -= std::size_t(connection.turn == Turn::Head);
    connection.turn = turn;
    connection.since = Clock::now();
}

void ServerInside::makeRoom(const asio::ip::address &host)
{
    const auto closeOldest = [this](auto isOf) {
        ConnectionPtr oldest;
        for (const auto &[number, connection] : connections)
            if (connection->turn != Turn::Ours && isOf(*connection) && (!oldest || connection->since < oldest->since))
                oldest = connection;
        if (!oldest)
            return;
        oldest->why = whyTurnedAway(*oldest);
        if (oldest->turn != Turn::Idle && !oldest->isOpen) // a stream is told of as closed
            refused(*oldest, oldest->why);
        oldest->isTurnedAway = true;
        remove(oldest);
    };
    const auto isFull = [&] {
        const auto same = ofHost.find(host);
        return same != ofHost.end() && same->second >= limits.connectionsOfOneHost;
    };
    if (isFull())
        closeOldest([&host](const ServerConnection &one) { return one.address == host; });
    if (isFull()) // it is refused, and nobody else makes room for it
        return;
    if (unfinished >= limits.unfinished)
        closeOldest([](const ServerConnection &one) { return one.turn == Turn::Head; });
    if (connections.size() >= limits.connections)
        closeOldest([](const ServerConnection &) { return true; });
}

} // namespace trainyard::live::net
