#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One port for whoever wants to tell us something, or to hear: the first byte tells TLS (22), lines of JSON ('{') and
// HTTP (a letter) apart; HTTP may become a WebSocket. Limits hold for every peer: connections, bytes a line and a body,
// seconds without a whole request (slow loris), bytes per second, and a token beyond loopback. Where there is no room
// for one more, whoever keeps us waiting longest is closed. Loop's thread alone.

#include "core/base/error.h"
#include "core/live/address.h"
#include "core/live/net/loop.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace trainyard::live::net {

struct ServerRequest {
    /// body unpacked
    std::string method, target, body;
    /// names in lower case
    std::map<std::string, std::string> headers;
    /// "10.0.0.7:51724"
    std::string peer;
};
struct ServerAnswer {
    int status = 200;
    std::map<std::string, std::string> headers;
    std::string body;
};

struct ServerEvents {
    /// An HTTP request that passed limits and token. The answer may be given later, on the loop's thread.
    std::function<void(ServerRequest &&request, std::function<void(ServerAnswer)> answer)> request;
    /// A stream (lines over TCP, or a WebSocket). Those without token show it in their hello, which is checked here.
    std::function<void(std::uint64_t connection, const std::string &peer, bool isWebSocket)> opened;
    std::function<void(std::uint64_t connection, std::string_view bytes)> bytes;
    std::function<void(std::uint64_t connection, const std::string &why)> closed;
    /// a peer that was turned away
    std::function<void(const std::string &peer, const std::string &why)> refused;
};

struct ServerLimits {
    std::size_t connections = 4'096, connectionsOfOneHost = 1'024, newPerSecond = 500;
    /// connections whose TLS handshake, head, hello or first line is not whole; for one more the oldest is closed
    std::size_t unfinished = 512;
    /// unpacked, and of one WebSocket message
    std::size_t bodyBytes = std::size_t(16) << 20;
    /// until a request's head or a hello is whole, of the first one with the TLS handshake
    double headSeconds = 10;
    /// idle: of HTTP that is kept alive; streams may be silent
    double bodySeconds = 60, idleSeconds = 300;
    /// of one connection
    std::int64_t bytesPerSecond = std::int64_t(512) << 20;
    /// what waits for one stream that does not read, and for all of them; a stream for which nothing waits is always
    /// given one piece more
    std::size_t waitingBytes = std::size_t(1) << 20, waitingBytesOfAll = std::size_t(32) << 20;
    /// until a stream has taken 64 KiB of what waits for it; then it is cut
    double writeSeconds = 60;
};

class Server {
public:
    /// Bound and listening when it returns. Errors: CannotWrite with address and why (in use, not allowed, not ours);
    /// BadValue: beyond loopback without a token, TLS files that cannot be used.
    [[nodiscard]] static Expected<std::unique_ptr<Server>> listen(Loop &loop, const Address &address,
        const SourceSettings &settings, ServerEvents events, ServerLimits limits = {});
    /// closes all; no events afterwards
    ~Server();
    [[nodiscard]] std::uint16_t port() const;
    [[nodiscard]] std::size_t connections() const;
    /// To a stream; false: as much waits for this peer, or for all, as may, and these bytes are not taken.
    [[nodiscard]] bool send(std::uint64_t connection, std::string_view bytes);
    /// WebSocket: with the reason
    void close(std::uint64_t connection, const std::string &why);
    /// of all streams
    void setReading(bool reads);

private:
    struct Private;
    explicit Server(std::shared_ptr<Private> inside);
    std::shared_ptr<Private> d;
};

} // namespace trainyard::live::net
