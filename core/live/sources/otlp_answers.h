#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a listener says to requests of HTTP: OTLP's paths, encodings and answers (opentelemetry.io/docs/specs/otlp,
// "OTLP/HTTP"), and a word for people who look at its address with a browser.

#include "core/live/net/server.h"

#include <functional>
#include <optional>
#include <string>

namespace trainyard::live {

using OtlpAnswer = std::function<void(net::ServerAnswer)>;

struct OtlpRequest {
    bool isJson = false;
    /// what to answer where it is none
    std::optional<net::ServerAnswer> refusal;
};
[[nodiscard]] OtlpRequest readOtlpRequest(const net::ServerRequest &request);

/// 200 and an empty response message.
[[nodiscard]] net::ServerAnswer otlpTaken(bool isJson);
/// A google.rpc.Status in the encoding of the request. 400: it is not to come again; 429: it is.
[[nodiscard]] net::ServerAnswer otlpRefused(int status, const std::string &why, bool isJson);

} // namespace trainyard::live
