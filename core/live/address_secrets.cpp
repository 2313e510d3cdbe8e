// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/address_secrets.h"

#include "core/base/ascii_text.h"

#include <algorithm>
#include <array>

namespace trainyard::live {

namespace {

constexpr std::array<std::string_view, 9> kKeys { "access_token", "token", "password", "passwd", "secret", "api_key",
    "apikey", "bearer", "auth" };

bool isWordly(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// Something follows that is neither a variable, nor a command's output, nor a path of a file.
bool isLiteral(std::string_view value)
{
    while (!value.empty() && (value.front() == '"' || value.front() == '\'' || value.front() == ' '))
        value.remove_prefix(1);
    return !value.empty() && value.front() != '$' && value.front() != '`' && value.front() != '-';
}

} // namespace

std::string withoutUser(std::string_view text)
{
    const std::string_view place = text.substr(0, text.find_first_of("/?#"));
    const std::size_t at = place.rfind('@');
    // a password may have a slash in it: then what stands behind the last @ of all
    const std::size_t any = at == place.npos ? text.rfind('@') : at;
    return std::string(any == text.npos ? text : text.substr(any + 1));
}

std::string secretInQuery(std::string_view pathAndQuery)
{
    const std::size_t mark = pathAndQuery.find('?');
    if (mark == pathAndQuery.npos)
        return {};
    const std::string query = lowered(pathAndQuery.substr(mark + 1));
    for (std::size_t at = 0; at < query.size();) {
        const std::size_t end = std::min(query.find('&', at), query.size());
        const std::string_view pair = std::string_view(query).substr(at, end - at);
        const std::string_view key = pair.substr(0, pair.find('='));
        if (const auto known = std::ranges::find(kKeys, key); known != kKeys.end())
            return std::string(*known);
        at = end + 1;
    }
    return {};
}

std::string secretInCommand(std::string_view command)
{
    const std::string text = lowered(command);
    if (const std::size_t at = text.find("sshpass -p"); at != text.npos && isLiteral(command.substr(at + 10)))
        return "sshpass -p";
    if (const std::size_t at = text.find("authorization:"); at != text.npos) {
        std::string_view value = std::string_view(text).substr(at + 14);
        for (const std::string_view kind : { " ", "bearer ", "basic " })
            if (value.starts_with(kind))
                value.remove_prefix(kind.size());
        if (isLiteral(value))
            return "Authorization";
    }
    for (const std::string_view key : kKeys)
        for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
            const std::string_view behind = std::string_view(text).substr(at + key.size());
            const bool isOption = at >= 2 && text.substr(at - 2, 2) == "--";
            const bool isOwnWord = at == 0 || !isWordly(text[at - 1]);
            const bool isSet = behind.starts_with('=') || (isOption && behind.starts_with(' '));
            if (isOwnWord && isSet && isLiteral(behind.substr(1)))
                return (isOption ? "--" : "") + std::string(key);
        }
    return {};
}

} // namespace trainyard::live
