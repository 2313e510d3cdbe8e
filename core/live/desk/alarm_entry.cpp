// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/desk/alarm_entry.h"

#include "core/base/json_parser_internal.h"
#include "core/base/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <pwd.h>
#include <unistd.h>

namespace trainyard::desk {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::array<const char *, 6> kActs { "raised", "cleared", "acknowledged", "muted", "unmuted", "undelivered" };
constexpr std::size_t kMostText = 4'000; // bytes of a text that a line keeps

std::string shortText(const OrderedJson &line, const char *key)
{
    const auto found = line.find(key);
    return found != line.end() && found->is_string() ? found->get<std::string>().substr(0, kMostText) : std::string();
}

/// So many digits at a place; empty: there are others.
std::optional<int> digitsAt(std::string_view text, std::size_t at, std::size_t count)
{
    int value = 0;
    if (text.size() < at + count)
        return std::nullopt;
    const auto [end, fault] = std::from_chars(text.data() + at, text.data() + at + count, value);
    return fault == std::errc() && end == text.data() + at + count && value >= 0 ? std::optional(value) : std::nullopt;
}

} // namespace

const char *nameOf(AlarmAct act)
{
    return kActs[static_cast<std::size_t>(act)];
}

std::string userName()
{
    std::array<char, 4'096> room {};
    passwd entry {};
    passwd *own = nullptr;
    const bool isKnown = ::getpwuid_r(::getuid(), &entry, room.data(), room.size(), &own) == 0 && own && own->pw_name;
    return isKnown ? std::string(own->pw_name) : std::to_string(::getuid());
}

std::string isoText(Moment at)
{
    if (at == 0)
        return {};
    namespace chrono = std::chrono;
    const auto time =
        chrono::floor<chrono::milliseconds>(chrono::sys_time<chrono::nanoseconds>(chrono::nanoseconds(at)));
    const auto day = chrono::floor<chrono::days>(time);
    const chrono::year_month_day date(day);
    const chrono::hh_mm_ss clock(time - day);
    return formatted("%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", int(date.year()), unsigned(date.month()),
        unsigned(date.day()), int(clock.hours().count()), int(clock.minutes().count()), int(clock.seconds().count()),
        int(clock.subseconds().count()));
}

Expected<Moment> momentIn(std::string_view iso, const std::string &where)
{
    namespace chrono = std::chrono;
    const auto wrong = [&] {
        return std::unexpected(
            Error { ErrorCode::BadValue, where, "is no time", "UTC, as in 2026-11-30T02:41:07.250Z" });
    };
    if (iso.size() != 24 || iso[10] != 'T' || iso[23] != 'Z')
        return wrong();
    std::array<int, 7> part {};
    constexpr std::array<std::pair<std::size_t, std::size_t>, 7> kPlaces { { { 0, 4 }, { 5, 2 }, { 8, 2 }, { 11, 2 },
        { 14, 2 }, { 17, 2 }, { 20, 3 } } };
    for (std::size_t i = 0; i < part.size(); ++i) {
        const auto digits = digitsAt(iso, kPlaces[i].first, kPlaces[i].second);
        if (!digits)
            return wrong();
        part[i] = *digits;
    }
    const chrono::year_month_day date { chrono::year(part[0]), chrono::month(unsigned(part[1])),
        chrono::day(unsigned(part[2])) };
    if (!date.ok() || part[0] < 1970 || part[0] > 2200 || part[3] > 23 || part[4] > 59 || part[5] > 59)
        return wrong();
    const auto time = chrono::sys_days(date) + chrono::hours(part[3]) + chrono::minutes(part[4])
        + chrono::seconds(part[5]) + chrono::milliseconds(part[6]);
    return Moment(chrono::duration_cast<chrono::nanoseconds>(time.time_since_epoch()).count());
}

std::string lineOf(const AlarmEntry &entry)
{
    OrderedJson line { { "at", isoText(entry.at) }, { "act", nameOf(entry.act) } };
    const auto add = [&](const char *key, const std::string &text) {
        if (!text.empty())
            line[key] = text.substr(0, kMostText);
    };
    if (entry.number > 0)
        line["number"] = entry.number;
    add("rule", entry.rule);
    add("place", entry.place);
    add("sentence", entry.sentence);
    add("since", isoText(entry.since));
    add("until", isoText(entry.until));
    add("by", entry.by);
    add("note", entry.note);
    return line.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

Expected<AlarmEntry> entryIn(std::string_view text, const std::string &where)
{
    auto parsed = detail::parsedJson<OrderedJson>(text, where);
    if (!parsed)
        return std::unexpected(parsed.error().front());
    const OrderedJson &line = *parsed;
    const auto wrong = [&](std::string what, std::string right) {
        return std::unexpected(Error { ErrorCode::BadValue, where, std::move(what), std::move(right) });
    };
    if (!line.is_object())
        return wrong("is no entry of a log of alarms", "an object with \"at\" and \"act\"");
    AlarmEntry entry;
    const std::string act = shortText(line, "act");
    const auto known = std::ranges::find(kActs, act, [](const char *name) { return std::string_view(name); });
    if (known == kActs.end())
        return wrong(
            "has no act that is known", joined(std::vector<std::string>(kActs.begin(), kActs.end()), ", ", " or "));
    entry.act = static_cast<AlarmAct>(known - kActs.begin());
    const auto readTime = [&](const char *key, Moment &to) -> Expected<void> {
        const std::string told = shortText(line, key);
        if (told.empty())
            return {};
        const auto moment = momentIn(told, where + ": /" + key);
        if (!moment)
            return std::unexpected(moment.error());
        to = *moment;
        return {};
    };
    for (const auto &[key, to] :
        { std::pair { "at", &entry.at }, { "since", &entry.since }, { "until", &entry.until } })
        if (const auto read = readTime(key, *to); !read)
            return std::unexpected(read.error());
    if (const auto number = line.find("number"); number != line.end()) {
        if (!number->is_number_integer() || number->get<std::int64_t>() < 1)
            return wrong("its number is none", "a whole number from 1 on");
        entry.number = number->get<std::int64_t>();
    }
    entry.rule = shortText(line, "rule");
    entry.place = shortText(line, "place");
    entry.sentence = shortText(line, "sentence");
    entry.by = shortText(line, "by");
    entry.note = shortText(line, "note");
    if (entry.number == 0 && entry.rule.empty())
        return wrong("names neither an alarm nor a rule", "\"number\" or \"rule\"");
    return entry;
}

} // namespace trainyard::desk
