// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/address.h"

#include <algorithm>

namespace trainyard::live {

namespace {

constexpr double kLongestInterval = 86'400, kFastest = 1e6;

bool hasBreak(const std::string &text)
{
    return std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

} // namespace

Expected<void> checkSettings(const Address &address, const SourceSettings &settings)
{
    const auto wrong = [&](std::string what, std::string right) {
        return std::unexpected(Error { ErrorCode::BadValue, address.text(), std::move(what), std::move(right) });
    };
    const SourceSecrets &secrets = settings.secrets;
    if (hasBreak(secrets.user) || hasBreak(secrets.password) || hasBreak(secrets.token))
        return wrong("a user, password or token has a control character in it", "one line of text");
    if (secrets.user.find(':') != std::string::npos)
        return wrong("the user has a colon in it", "a name without one, and the password apart");
    if (!secrets.password.empty() && secrets.user.empty())
        return wrong("there is a password without a user", "--user NAME beside it");
    if (!secrets.token.empty() && !secrets.user.empty())
        return wrong("there are a token and a user", "one of the two");
    if (settings.certificateFile.empty() != settings.keyFile.empty())
        return wrong(settings.keyFile.empty() ? "there is a certificate without its key"
                                              : "there is a key without its certificate",
            "PEM files of both: --cert and --key");
    if (address.type == SourceType::Listener) {
        if (secrets.token.empty() && !isLoopback(address.host))
            return wrong("whoever reaches " + address.host + " could tell it anything",
                "a token that they have to show (--token-file), or listen:" + std::to_string(address.port)
                    + ", which this machine alone reaches");
        if (address.isTls && settings.certificateFile.empty())
            return wrong("TLS needs a certificate", "PEM files of it and of its key: --cert and --key");
        if (settings.mostConnections == 0 || settings.mostBytesPerSecond <= 0)
            return wrong("it may take no connection or no bytes", "at least one");
    }
    if (!(settings.intervalSeconds >= 0.1 && settings.intervalSeconds <= kLongestInterval))
        return wrong("its interval is none", "0.1 to 86400 seconds");
    if (!(settings.backfillSeconds >= 0 && settings.backfillSeconds <= 3.2e9))
        return wrong("the time asked for at first is none", "0 or more seconds");
    if (!(settings.replaySpeed >= 0 && settings.replaySpeed <= kFastest))
        return wrong("its speed is none", "0 (as fast as it goes) to 1000000");
    for (const std::string &header : settings.headers) {
        const std::size_t colon = header.find(':');
        if (hasBreak(header) || colon == std::string::npos || colon == 0
            || header.find_first_of(" \t\"(),/;<=>?@[\\]{}") < colon)
            return wrong("a header is no header", "NAME: VALUE, as in X-Scope-OrgID: tenant");
    }
    return {};
}

} // namespace trainyard::live
