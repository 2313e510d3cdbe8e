// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/address_secrets.h"

#include "core/base/ascii_text.h"

#include <algorithm>
#include <array>
#include <span>

namespace trainyard::live {

namespace {

/// Of programs' options and variables of environments (PGPASSWORD, MYSQL_PWD, AWS_SECRET_ACCESS_KEY); the first of them
/// are keys of queries too.
constexpr std::array<std::string_view, 12> kKeysOfCommands { "access_token", "token", "password", "passwd", "secret",
    "api_key", "apikey", "bearer", "auth", "pwd", "api-key", "access_key" };
constexpr auto kKeys = std::span(kKeysOfCommands).first<9>();

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

/// The end of a variable's name in capitals, as environments have them: PGPASSWORD.
bool isOfEnvironment(std::string_view command, std::size_t at, std::size_t end)
{
    const auto isCapital = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9'); };
    while (at > 0 && (isWordly(command[at - 1]) || isCapital(command[at - 1])))
        --at;
    return std::ranges::all_of(command.substr(at, end - at), isCapital);
}

/// "me:secret" behind an option of curl's: "-u", "-ume:secret", "--user", "--proxy-user=…".
bool isUserWithPassword(std::string_view option, std::string_view next)
{
    std::string_view value = next;
    if (const std::size_t equals = option.find('='); option.starts_with("--") && equals != option.npos) {
        value = option.substr(equals + 1);
        option = option.substr(0, equals);
    } else if (option.starts_with("-u") && option.size() > 2) {
        value = option.substr(2);
        option = "-u";
    }
    // "-su": short options that are written together, of which the last has the value
    const bool isShort = option.size() > 1 && option.size() < 8 && option.front() == '-'
        && std::ranges::all_of(option.substr(1), [](char c) { return isWordly(c) || (c >= 'A' && c <= 'Z'); });
    if (!(isShort && (option.ends_with('u') || option.ends_with('U'))) && option != "--user"
        && option != "--proxy-user")
        return false;
    const std::size_t colon = value.find(':');
    return colon != value.npos && isLiteral(value.substr(colon + 1));
}

/// Options of programs that have a password behind them, or directly at them.
struct PasswordOption {
    std::string_view program, option;
    bool isAttached;
};
constexpr std::array<PasswordOption, 2> kPasswordOptions { { { "mysql", " -p", true },
    { "redis-cli", " -a ", false } } };

std::string passwordOption(std::string_view command)
{
    for (const PasswordOption &one : kPasswordOptions)
        for (std::size_t at = command.find(one.program); at != command.npos && at < command.size();) {
            at = command.find(one.option, at);
            if (at == command.npos)
                break;
            const std::string_view value = command.substr(at += one.option.size());
            if (isLiteral(value) && (!one.isAttached || value.front() != ' '))
                return std::string(one.program) + std::string(one.option);
        }
    return {};
}

std::string secretOfCurl(std::string_view command)
{
    std::string_view before;
    for (std::size_t at = 0; at < command.size();) {
        const std::size_t end = std::min(command.find(' ', at), command.size());
        const std::string_view word = command.substr(at, end - at);
        at = end + 1;
        if (word.empty())
            continue;
        if (isUserWithPassword(before, word) || isUserWithPassword(word, {}))
            return "curl -u";
        before = word;
    }
    const std::string text = lowered(command);
    for (const std::string_view header : { "token:", "api-key:", "apikey:", "secret:" })
        if (const std::size_t at = text.find(header); at != text.npos && isLiteral(command.substr(at + header.size())))
            return std::string(header.substr(0, header.size() - 1));
    return {};
}

/// Of "scheme://user:password@host" anywhere.
bool hasUserInUrl(std::string_view command)
{
    for (std::size_t at = command.find("://"); at != command.npos; at = command.find("://", at + 3)) {
        std::string_view place = command.substr(at + 3);
        place = place.substr(0, place.find_first_of(" \"'"));
        const std::size_t end = place.rfind('@'), colon = place.find(':');
        if (end != place.npos && colon < end && isLiteral(place.substr(colon + 1, end - colon - 1)))
            return true;
    }
    return false;
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
    if (std::string found = passwordOption(command); !found.empty())
        return found;
    if (const std::size_t at = text.find("authorization:"); at != text.npos) {
        std::string_view value = std::string_view(text).substr(at + 14);
        for (const std::string_view kind : { " ", "bearer ", "basic " })
            if (value.starts_with(kind))
                value.remove_prefix(kind.size());
        if (isLiteral(value))
            return "Authorization";
    }
    if (hasUserInUrl(command))
        return "user:password@";
    if (text.find("curl") != text.npos)
        if (std::string found = secretOfCurl(command); !found.empty())
            return found;
    for (const std::string_view key : kKeysOfCommands)
        for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
            const std::string_view behind = std::string_view(text).substr(at + key.size());
            const std::string_view word = std::string_view(text).substr(text.rfind(' ', at) + 1); // of npos: 0
            const bool isOption = word.starts_with("--") && !word.starts_with("--no-");
            const bool isOwnWord = at == 0 || !isWordly(text[at - 1]) || isOfEnvironment(command, at, at + key.size());
            const bool isSet = behind.starts_with('=') || (isOption && behind.starts_with(' '));
            if (isOwnWord && isSet && isLiteral(behind.substr(1)))
                return (isOption ? "--" : "") + std::string(key);
        }
    return {};
}

} // namespace trainyard::live
