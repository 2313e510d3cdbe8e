// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/hostlist.h"

#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace trainyard::readers {

namespace {

constexpr std::size_t kLongestHostName = 1024;

struct Range {
    std::int64_t first = 0, last = 0;
    std::size_t width = 0; // digits that numbers are padded to
};

std::optional<Range> rangeIn(std::string_view text)
{
    const auto dash = text.find('-');
    const std::string_view from = trimmed(text.substr(0, dash));
    const std::string_view to = dash == std::string_view::npos ? from : trimmed(text.substr(dash + 1));
    Range range { .width = from.size() };
    for (const auto &[part, number] : { std::pair(from, &range.first), std::pair(to, &range.last) }) {
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), *number);
        if (part.empty() || part.front() == '-' || error != std::errc() || end != part.data() + part.size())
            return std::nullopt;
    }
    if (range.last < range.first || range.width > 18)
        return std::nullopt;
    return range;
}

/// Every name of `stems` with each number of the brackets behind it.
bool multiply(std::vector<std::string> &stems, std::string_view brackets, std::size_t room)
{
    std::vector<std::string> longer;
    std::vector<Range> ranges;
    std::uint64_t count = 0;
    for (const std::string_view part : fieldsAt(brackets, ',')) {
        const auto range = rangeIn(part);
        if (!range)
            return false;
        count += static_cast<std::uint64_t>(range->last - range->first) + 1;
        if (count > room)
            return false;
        ranges.push_back(*range);
    }
    if (count * stems.size() > room)
        return false;
    longer.reserve(count * stems.size());
    for (const std::string &stem : stems)
        for (const Range &range : ranges)
            for (std::int64_t number = range.first; number <= range.last; ++number) {
                std::string digits = std::to_string(number);
                digits.insert(0, range.width - std::min(range.width, digits.size()), '0');
                longer.push_back(stem + digits);
            }
    stems = std::move(longer);
    return true;
}

/// One name with its brackets.
bool expandOne(std::string_view name, std::vector<std::string> &hosts)
{
    if (name.size() > kLongestHostName && name.find('[') == std::string_view::npos)
        return false;
    std::vector<std::string> stems(1);
    while (!name.empty()) {
        const auto open = name.find('[');
        if (name.substr(0, open).find(']') != std::string_view::npos)
            return false;
        for (std::string &stem : stems) {
            stem += name.substr(0, open);
            if (stem.size() > kLongestHostName)
                return false;
        }
        if (open == std::string_view::npos)
            break;
        const auto close = name.find(']', open);
        if (close == std::string_view::npos
            || !multiply(stems, name.substr(open + 1, close - open - 1), kMostHosts - hosts.size()))
            return false;
        name.remove_prefix(close + 1);
    }
    if (hosts.size() + stems.size() > kMostHosts)
        return false;
    std::ranges::move(stems, std::back_inserter(hosts));
    return true;
}

} // namespace

bool expandHosts(std::string_view list, std::vector<std::string> &hosts)
{
    const std::size_t before = hosts.size();
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= list.size(); ++at) {
        const char byte = at < list.size() ? list[at] : ',';
        depth += byte == '[' ? 1 : byte == ']' ? -1 : 0;
        const bool isEnd = at == list.size();
        if (!isEnd && (byte != ',' || depth > 0))
            continue;
        const std::string_view name = trimmed(list.substr(begin, at - begin));
        begin = at + 1;
        if (depth != 0 || (!name.empty() && !expandOne(name, hosts))) {
            hosts.resize(before);
            return false;
        }
    }
    return true;
}

} // namespace trainyard::readers
