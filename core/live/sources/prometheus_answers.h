#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a Prometheus server, or whatever stands before it, answers beside samples: lists, errors, pages, its clock. Pure
// functions of bytes of strangers.

#include "core/runs/telemetry/recording.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::live::prometheus {

/// Of an answer whose data are a list of texts; empty: it is none.
[[nodiscard]] std::optional<std::vector<std::string>> listIn(std::string_view body);
/// What the server says of an error, at most 200 bytes; empty where it says nothing.
[[nodiscard]] std::string errorIn(std::string_view body);
[[nodiscard]] bool isWebPage(std::string_view body);
/// "Sun, 06 Nov 1994 08:49:37 GMT" as Unix ns.
[[nodiscard]] std::optional<Moment> httpDate(const std::string &text);
/// "08:49:37 UTC"
[[nodiscard]] std::string clockText(Moment moment);

} // namespace trainyard::live::prometheus
