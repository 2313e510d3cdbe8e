#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The sources that there are, each a file of this folder.

#include "core/live/net/loop.h"
#include "core/live/source.h"

namespace trainyard::live {

using SourcePtr = std::unique_ptr<Source>;
[[nodiscard]] SourcePtr makePrometheus(
    net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings);
[[nodiscard]] SourcePtr makeListener( // OTLP/HTTP, WebSocket, lines
    net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings);
[[nodiscard]] SourcePtr makeStreamReader( // tcp, tls, ws, wss
    net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings);
[[nodiscard]] SourcePtr makeTail(
    net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings);
[[nodiscard]] SourcePtr makeCommand(
    net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings);
[[nodiscard]] SourcePtr makeReplay(
    net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings);

} // namespace trainyard::live
