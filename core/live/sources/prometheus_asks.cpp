// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/sources/prometheus_asks.h"

#include "core/base/ascii_text.h"
#include "core/base/units.h"
#include "core/base/words.h"
#include "core/runs/telemetry/readers/exporter_metrics.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace trainyard::live::prometheus {

namespace {

constexpr double kLongestSelector = 300; // s: 1,024 GPUs × 8 metrics × 5 minutes at 15 s are 164,000 samples
constexpr double kMostPoints = 10'000; // the server refuses more than 11,000

bool isNameByte(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
}

std::string secondsOf(Moment moment)
{
    return formatted("%lld.%03lld", static_cast<long long>(moment / 1'000'000'000),
        static_cast<long long>(moment % 1'000'000'000 / 1'000'000));
}

} // namespace

bool isSelector(std::string_view query)
{
    query = trimmed(query);
    std::size_t at = 0;
    while (at < query.size() && isNameByte(query[at]))
        ++at;
    if (at > 0 && std::isdigit(static_cast<unsigned char>(query.front())))
        return false; // a number
    while (at < query.size() && query[at] == ' ')
        ++at;
    if (at == query.size())
        return !query.empty();
    if (query[at] != '{')
        return false;
    char quote = 0;
    for (++at; at < query.size(); ++at) {
        const char c = query[at];
        if (quote != 0 && c == '\\')
            ++at;
        else if (quote != 0)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'' || c == '`')
            quote = c;
        else if (c == '}')
            return at + 1 == query.size();
    }
    return false;
}

const std::vector<std::string> &knownMetrics()
{
    static const std::vector<std::string> names = [] {
        using namespace readers;
        std::vector<std::string> all;
        for (const std::string_view name : exportedMetrics()) {
            all.emplace_back(name);
            for (const auto &[older, newer] : dcgmRenamedFields())
                if (older == name)
                    all.emplace_back(newer);
        }
        return all;
    }();
    return names;
}

std::string selectorOf(const std::vector<std::string> &names)
{
    std::string any;
    for (const std::string &name : knownMetrics())
        if (std::ranges::find(names, name) != names.end())
            any += (any.empty() ? "" : "|") + name;
    return any.empty() ? any : "{__name__=~\"up|" + any + "\"}";
}

Window firstPiece(const Window &wanted, double most)
{
    return { wanted.from, std::min(wanted.to, wanted.from + static_cast<Moment>(most * kNanosecondsPerSecond)) };
}

double longestPiece(bool isSelector, double stepSeconds)
{
    return isSelector ? kLongestSelector : kMostPoints * stepSeconds;
}

std::string targetOf(std::string_view query, const Window &window, double stepSeconds)
{
    if (isSelector(query)) {
        const Moment milliseconds = std::max<Moment>(1, (window.to - window.from) / 1'000'000);
        return "/api/v1/query?query=" + percentEncoded(std::string(query) + "[" + std::to_string(milliseconds) + "ms]")
            + "&time=" + secondsOf(window.to);
    }
    return "/api/v1/query_range?query=" + percentEncoded(query) + "&start=" + secondsOf(window.from)
        + "&end=" + secondsOf(window.to) + "&step=" + formatted("%.3f", stepSeconds);
}

std::string percentEncoded(std::string_view text)
{
    std::string result;
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' || c == '~')
            result += c;
        else
            result += formatted("%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
    return result;
}

} // namespace trainyard::live::prometheus
