// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/alarm_rules.h"

#include "core/base/ascii_text.h"
#include "core/base/words.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/live/alarms/watchman.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace trainyard::watch {

namespace {

constexpr std::array<RuleTraits, kRules> kTraits { {
    { RuleId::StepTime, "step-time", "Step time",
        "steps take longer than before, or than the plan's range, by more than this share", "share", 0.02, 0.001, 10 },
    { RuleId::Waiting, "waiting", "Waiting", "a stage waits longer for others by more than this share of a step",
        "share", 0.02, 0.001, 10 },
    { RuleId::SlowLink, "slow-link", "Slow link", "transfers take longer than planned by more than this share", "share",
        0.1, 0.01, 10 },
    { RuleId::Straggler, "straggler", "Straggler",
        "a rank computes longer than ranks like it by more than this share of a step", "share", 0.02, 0.001, 10 },
    { RuleId::Silent, "silent", "Silent", "a rank or a host is not heard for so many step times", "step times", 3, 1,
        1000 },
    { RuleId::MemoryFull, "memory-full", "Memory full", "a GPU holds more than this share of its capacity", "share",
        0.98, 0.1, 1 },
    { RuleId::MemoryGrows, "memory-grows", "Memory grows",
        "memory grows from step to step by more than this share of what it was", "share", 0.01, 0.001, 10 },
    { RuleId::Drift, "drift", "Drift", "steps are off a calibrated plan by more than this share", "share", 0.03, 0.001,
        10 },
    { RuleId::Clock, "clock", "Clock", "a busy GPU runs at less than this share of the clock of those beside it",
        "share", 0.9, 0.05, 1 },
    { RuleId::Throttled, "throttled", "Throttled",
        "a GPU says that heat or the power brake slows it down, for more than this share of the time where that is "
        "told",
        "share", 0.05, 0, 1 },
    { RuleId::Temperature, "temperature", "Temperature", "a GPU is hotter than this", "°C", 90, 20, 150 },
    { RuleId::MemoryTemperature, "memory-temperature", "Memory temperature", "a GPU's memory is hotter than this", "°C",
        105, 20, 150 },
    { RuleId::Xid, "xid", "XID", "a GPU tells an XID, or a field identifier of AMD's that is no corrected one", nullptr,
        0, 0, 0 },
    { RuleId::Ecc, "ecc", "ECC", "so many uncorrectable errors of memory come between two looks", "errors", 1, 1, 1e9 },
    { RuleId::NvLink, "nvlink", "NVLink", "so many errors of NVLink or xGMI come between two looks", "errors", 1, 1,
        1e9 },
    { RuleId::Health, "health", "Health", "an exporter calls a GPU unhealthy, or a row of memory cannot be remapped",
        nullptr, 0, 0, 0 },
} };

std::optional<double> numberOf(std::string_view text)
{
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool isWhole = fault == std::errc() && end == text.data() + text.size();
    return isWhole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::unexpected<Error> wrong(std::string_view where, std::string what, std::string right)
{
    return std::unexpected(Error { ErrorCode::BadValue, std::string(where), std::move(what), std::move(right) });
}

Expected<std::vector<int>> xidsIn(std::string_view where, std::string_view text)
{
    std::vector<int> numbers;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const auto number = numberOf(trimmed(text.substr(0, comma)));
        if (!number || *number != std::floor(*number) || *number < 1 || *number > kLargestXid)
            return wrong(where, "is no list of XIDs", "numbers from 1 to 10000: 13,31");
        numbers.push_back(static_cast<int>(*number));
        text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
    }
    return numbers;
}

} // namespace

const std::array<RuleTraits, kRules> &ruleTraits()
{
    return kTraits;
}

const RuleTraits &traitsOf(RuleId rule)
{
    return kTraits[static_cast<std::size_t>(rule)];
}

RuleId ruleOf(AlarmKind kind)
{
    using enum RuleId;
    constexpr std::array kOfKinds { StepTime, Waiting, SlowLink, Straggler, Silent, MemoryFull, Drift, Health };
    return kOfKinds[static_cast<std::size_t>(kind)];
}

AlarmRules::AlarmRules()
{
    for (const RuleTraits &traits : kTraits)
        (*this)[traits.id].threshold = traits.usual;
}

Expected<RuleId> ruleNamed(std::string_view key)
{
    const auto known = std::ranges::find(kTraits, key, [](const RuleTraits &one) { return std::string_view(one.key); });
    if (known != kTraits.end())
        return known->id;
    std::vector<std::string> names;
    for (const RuleTraits &one : kTraits)
        names.emplace_back(one.key);
    const std::string near = nearestName(key, names);
    return std::unexpected(Error { ErrorCode::UnknownKey, std::string(key), "is no rule of alarms",
        near.empty() ? joined(names, ", ", " or ") : near });
}

std::string rangeText(const RuleTraits &traits)
{
    if (!traits.hasThreshold())
        return "no threshold: it is on or off";
    return plainNumber(traits.least) + " to " + plainNumber(traits.most) + " (" + traits.unit + ")";
}

Expected<void> AlarmRules::setThreshold(RuleId rule, double value, std::string_view where)
{
    const RuleTraits &traits = traitsOf(rule);
    if (!traits.hasThreshold())
        return wrong(where, std::string(traits.key) + " has no threshold", "\"on\": true or false");
    if (!(value >= traits.least && value <= traits.most))
        return wrong(where, "is " + plainNumber(value), rangeText(traits));
    (*this)[rule].threshold = value;
    return {};
}

Expected<void> AlarmRules::setHold(RuleId rule, double seconds, std::string_view where)
{
    if (!(seconds >= 0 && seconds <= kLongestHold))
        return wrong(where, "is " + plainNumber(seconds), "0 to 86400 (s)");
    (*this)[rule].holdSeconds = seconds;
    return {};
}

Expected<void> AlarmRules::set(std::string_view assignment)
{
    const std::size_t equal = assignment.find('='), dot = assignment.find('.');
    if (equal == assignment.npos || dot == assignment.npos || dot > equal)
        return wrong(assignment, "sets nothing", "RULE.threshold=X, RULE.hold_s=S, RULE.on=false or xid.ignore=13,31");
    const std::string_view where = assignment.substr(0, equal), field = where.substr(dot + 1),
                           text = trimmed(assignment.substr(equal + 1));
    const auto rule = ruleNamed(where.substr(0, dot));
    if (!rule)
        return std::unexpected(rule.error());
    if (field == "on") {
        if (text != "true" && text != "false")
            return wrong(where, "is neither on nor off", "true or false");
        (*this)[*rule].isOn = text == "true";
        return {};
    }
    if (field == "ignore" && *rule == RuleId::Xid) {
        auto numbers = xidsIn(where, text);
        if (!numbers)
            return std::unexpected(numbers.error());
        ignoredXids = std::move(*numbers);
        return {};
    }
    const auto value = numberOf(text);
    if (field == "threshold")
        return value ? setThreshold(*rule, *value, where) : wrong(where, "is no number", rangeText(traitsOf(*rule)));
    if (field == "hold_s")
        return value ? setHold(*rule, *value, where) : wrong(where, "is no number", "0 to 86400 (s)");
    return std::unexpected(Error { ErrorCode::UnknownKey, std::string(where), "is nothing that a rule has",
        *rule == RuleId::Xid ? "hold_s, on or ignore" : "threshold, hold_s or on" });
}

} // namespace trainyard::watch
