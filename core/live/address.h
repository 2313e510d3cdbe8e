#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where live telemetry comes from, as people write it:
//
// http://prometheus:9090/prefix, https://…
//     a Prometheus server, asked every few seconds
// listen:4318, listen:0.0.0.0:4318
//     whoever connects to us: OTLP/HTTP, WebSocket and lines of JSON, on one port
// tcp://host:port, tls://…, ws://…/path, wss://…
//     a stream that somebody serves (`telemetry serve`)
// tail:/path/to/log
//     a log that grows
// command:ssh node7 tail -F /logs/train.log
//     what a command prints
// replay:run.trainyard-recording
//     a recording, as if it happened now
//
// Secrets are beside the text, never in it: an address may be shown, saved and logged.

#include "core/base/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::live {

enum class SourceType : std::uint8_t { Prometheus, Listener, Stream, WebSocket, Tail, Command, Replay };
/// "Prometheus", "Listening", …
[[nodiscard]] const char *nameOf(SourceType type);

struct Address {
    SourceType type = SourceType::Listener;
    /// of Listener: to bind to
    std::string host = "127.0.0.1";
    /// 0: Listener: the kernel chooses
    std::uint16_t port = 0;
    /// of a URL, of a file, or the command
    std::string path;
    bool isTls = false;
    /// parseAddress() gives it back
    [[nodiscard]] std::string text() const;
    bool operator==(const Address &) const = default;
};
/// Errors: BadValue with what forms there are; a password or token in the text is refused with where it belongs.
[[nodiscard]] Expected<Address> parseAddress(std::string_view text);
/// 127.0.0.0/8, ::1, localhost
[[nodiscard]] bool isLoopback(std::string_view host);

struct SourceSecrets {
    /// basic
    std::string user, password;
    /// bearer; of Listener: what clients have to show
    std::string token;
    bool operator==(const SourceSecrets &) const = default;
};

struct SourceSettings {
    SourceSecrets secrets;
    /// PEM, of servers asked; empty: the system's
    std::string caFile;
    /// certificates of servers
    bool isVerified = true;
    /// PEM, of a listener with TLS
    std::string certificateFile, keyFile;
    /// "X-Scope-OrgID: tenant", of Prometheus
    std::vector<std::string> headers;
    /// PromQL; empty: DCGM's and node_exporter's metrics under all of their names
    std::vector<std::string> queries;
    /// between asks of Prometheus
    double intervalSeconds = 5;
    /// asked for at the first connection
    double backfillSeconds = 900;
    /// times as fast; 0: as fast as it goes
    double replaySpeed = 1;
    /// a replay begins again at its end
    bool isRepeated = false;
    /// a log's lines that are there already are left out
    bool fromEnd = false;
    /// of a listener
    std::size_t mostConnections = 4'096;
    /// of one connection; beyond it is not read faster
    std::int64_t mostBytesPerSecond = std::int64_t(512) << 20;
    bool operator==(const SourceSettings &) const = default;
};

/// What a source can be started with. Errors: BadValue: a listener beyond loopback without a token, a certificate
/// without its key, intervals and speeds that are none, headers that are none.
[[nodiscard]] Expected<void> checkSettings(const Address &address, const SourceSettings &settings);

} // namespace trainyard::live
