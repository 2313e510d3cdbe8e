#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// WebSocket as RFC 6455 writes it, by hand: the handshake, and frames of a client, masked.

#include "tests/core/live/net/peer.h"

#include <cstdint>
#include <string>

namespace trainyard::live::testing {

inline constexpr int kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10;

inline std::string handshake(const std::string &headers = {}, const std::string &target = "/")
{
    return "GET " + target
        + " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        + headers + "\r\n";
}

inline std::string frame(int opcode, const std::string &payload, bool isLast = true)
{
    std::string bytes(1, static_cast<char>((isLast ? 0x80 : 0) | opcode));
    const std::size_t size = payload.size();
    if (size < 126) {
        bytes += static_cast<char>(0x80 | size);
    } else if (size < 65'536) {
        bytes += static_cast<char>(0x80 | 126);
        bytes += static_cast<char>(size >> 8);
        bytes += static_cast<char>(size & 0xFF);
    } else {
        bytes += static_cast<char>(0x80 | 127);
        for (int shift = 56; shift >= 0; shift -= 8)
            bytes += static_cast<char>((size >> shift) & 0xFF);
    }
    const std::string mask = "mask";
    bytes += mask;
    for (std::size_t i = 0; i < size; ++i)
        bytes += static_cast<char>(payload[i] ^ mask[i % 4]);
    return bytes;
}

/// A close frame of a code with its reason.
inline std::string closing(int code, const std::string &reason)
{
    return std::string { static_cast<char>(code >> 8), static_cast<char>(code & 0xFF) } + reason;
}

struct Frame {
    int opcode = -1; // -1: the connection ended
    bool isLast = false;
    std::string payload;
    [[nodiscard]] int closeCode() const
    {
        return payload.size() < 2
            ? 0
            : (static_cast<unsigned char>(payload[0]) << 8) | static_cast<unsigned char>(payload[1]);
    }
    [[nodiscard]] std::string closeReason() const { return payload.size() < 2 ? "" : payload.substr(2); }
};

/// The next frame of a server, which masks nothing.
inline Frame nextFrame(Peer &peer)
{
    const std::string head = peer.readBytes(2);
    if (head.size() < 2)
        return {};
    Frame frame { head[0] & 0x0F, (head[0] & 0x80) != 0, {} };
    std::size_t size = static_cast<unsigned char>(head[1]) & 0x7F;
    const std::string more = size == 126 ? peer.readBytes(2) : size == 127 ? peer.readBytes(8) : std::string();
    if (!more.empty())
        size = 0;
    for (const char byte : more)
        size = size * 256 + static_cast<unsigned char>(byte);
    frame.payload = peer.readBytes(size);
    return frame;
}

} // namespace trainyard::live::testing
