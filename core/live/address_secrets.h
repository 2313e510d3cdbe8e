#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Secrets that people write into addresses, found so that they are refused there: an address is shown, saved and
// logged. Pure functions.

#include <string>
#include <string_view>

namespace trainyard::live {

/// Behind the last @ of the place that `text` begins with: "user:password@host:9090/a" is "host:9090/a".
[[nodiscard]] std::string withoutUser(std::string_view text);
/// The key of a secret in "…?token=…&a=b"; empty without.
[[nodiscard]] std::string secretInQuery(std::string_view pathAndQuery);
/// What of a shell command tells a secret: "sshpass -p", "--password"; empty without. Variables ($TOKEN) are none.
[[nodiscard]] std::string secretInCommand(std::string_view command);

} // namespace trainyard::live
