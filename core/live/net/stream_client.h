#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A connection to somebody who serves a stream, or takes one: TCP or WebSocket, with TLS where asked. Bytes both ways.
// Loop's thread alone.

#include "core/base/error.h"
#include "core/live/address.h"
#include "core/live/net/loop.h"

#include <string>
#include <string_view>

namespace trainyard::live::net {

struct StreamEvents {
    std::function<void()> opened;
    /// of WebSocket: whole messages, a line feed behind each
    std::function<void(std::string_view bytes)> bytes;
    /// once, also where it never opened; the last call
    std::function<void(const Error &why)> closed;
};

class StreamClient {
public:
    StreamClient(Loop &loop, const Address &address, const SourceSettings &settings, StreamEvents events);
    /// closes it, without a call
    ~StreamClient();
    /// Queued; false: more than `queueBytes` wait already, and these are not taken.
    [[nodiscard]] bool send(std::string bytes);
    /// bytes queued
    [[nodiscard]] std::size_t waiting() const;
    /// Ends it as it should be once all that waits is sent, within 10 s; `closed` follows.
    void finish();
    static constexpr std::size_t queueBytes = std::size_t(16) << 20;

private:
    struct Private;
    std::shared_ptr<Private> d;
};

} // namespace trainyard::live::net
