#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who may talk to a server: tokens compared so that time tells nothing, the hello of a stream that shows one, and pages
// of a browser that have no business here.

#include "core/base/error.h"

#include <string>
#include <string_view>

namespace trainyard::live::net {

/// Takes as long for every `shown` of a length.
[[nodiscard]] bool isSameToken(std::string_view shown, std::string_view expected);

/// "Bearer abc" gives "abc"; another scheme gives nothing.
[[nodiscard]] std::string_view bearerOf(std::string_view authorization);

/// The first line of a stream. Errors: BadSyntax: it is no hello; BadValue: its token is missing or another one.
[[nodiscard]] Expected<void> checkHello(std::string_view line, std::string_view expected);

/// Target of a request with a token in its query, which would be written to logs on its way.
[[nodiscard]] bool hasTokenInTarget(std::string_view target);

/// Whether "host" or "host:port", as headers have it, is this machine by a name that no name server gives: localhost,
/// 127.0.0.1 or [::1].
[[nodiscard]] bool isOfLoopback(std::string_view authority);

/// An Origin header that names a page of another machine: a browser would send what that page wants in the name of
/// whoever looks at it.
[[nodiscard]] bool isForeignPage(std::string_view origin);

/// {"event":"refused","reason":"…"} with a line feed: what a peer that speaks lines is told before it is cut.
[[nodiscard]] std::string refusedLine(std::string_view why);
/// The reason of such a line; empty: it is another one.
[[nodiscard]] std::string refusedReason(std::string_view line);

} // namespace trainyard::live::net
