// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/draft.h"

#include "core/base/printable.h"
#include "core/facts/plan/enum_names.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace trainyard::imports {

ScheduleKind scheduleNamed(std::string_view name)
{
    const auto found =
        std::ranges::find_if(kNamesOf<ScheduleKind>, [&](const EnumName &one) { return name == one.name; });
    return static_cast<ScheduleKind>(found - kNamesOf<ScheduleKind>.begin());
}

void Draft::take(std::string_view key, std::string_view value, std::string_view argument)
{
    // What is decided later stands in place of what was taken first
    for (std::vector<std::string> *told : { &taken, &assumed })
        std::erase_if(
            *told, [start = std::string(key) + " "](const std::string &one) { return one.starts_with(start); });
    taken.push_back(std::string(key) + " " + shortened(value) + " from " + arguments.said(argument));
}

void Draft::takeStack(const std::string &name, const std::string &why)
{
    plan.stack = {};
    plan.stack.name = name;
    std::erase_if(taken, [](const std::string &one) { return one.starts_with("stack "); });
    taken.push_back("stack " + name + ", " + why);
}

void Draft::assume(std::string sentence)
{
    if (std::ranges::find(assumed, sentence) == assumed.end())
        assumed.push_back(std::move(sentence));
}

void Draft::assumeGpu(std::string sentence)
{
    assumedGpu = sentence;
    assume(std::move(sentence));
}

void Draft::ignore(std::string sentence)
{
    if (std::ranges::find(ignored, sentence) == ignored.end())
        ignored.push_back(std::move(sentence));
}

void Draft::doubt(const std::string &setting, const std::string &why, Weight weight)
{
    doubtBy(setting, why, 0, 0);
    weights[shortened(setting)] = weight;
}

void Draft::doubtWidely(const std::string &setting, const std::string &why, Weight weight)
{
    doubtBy(setting, why, 0, 0);
    weights[shortened(setting)] = weight;
    wide.insert(shortened(setting));
}

void Draft::doubtBy(const std::string &setting, const std::string &why, double low, double high)
{
    NotUnderstood told;
    told.key = shortened(setting);
    told.text = why;
    told.low = low;
    told.high = high;
    weights.try_emplace(told.key, Weight::Shape);
    if (plan.notUnderstood.size() < 100 && std::ranges::find(plan.notUnderstood, told) == plan.notUnderstood.end())
        plan.notUnderstood.push_back(std::move(told));
    if (std::string sentence = setting + ": " + why; std::ranges::find(notUnderstood, sentence) == notUnderstood.end())
        notUnderstood.push_back(std::move(sentence));
}

void Draft::sortDoubts()
{
    const auto weightOfKey = [&](const std::string &key) {
        const auto known = weights.find(key);
        return known == weights.end() ? Weight::Work : known->second;
    };
    std::ranges::stable_sort(plan.notUnderstood, {}, [&](const NotUnderstood &one) { return weightOfKey(one.key); });
    const auto widest =
        std::ranges::find_if(plan.notUnderstood, [&](const NotUnderstood &one) { return wide.contains(one.key); });
    if (widest != plan.notUnderstood.end()) {
        widest->low = -0.5;
        widest->high = 1;
    }
    std::ranges::stable_sort(notUnderstood, {},
        [&](const std::string &sentence) { return weightOfKey(shortened(sentence.substr(0, sentence.find(": ")))); });
}

void Draft::bad(std::string_view argument, std::string what, std::string right)
{
    if (errors.size() < 100)
        errors.push_back({ ErrorCode::BadValue, arguments.said(argument), std::move(what), std::move(right) });
}

std::optional<int> Draft::whole(std::string_view argument, std::int64_t low, std::int64_t high)
{
    const auto text = arguments.text(argument);
    if (!text)
        return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc() && end == text->data() + text->size() && value >= low && value <= high)
        return static_cast<int>(value);
    bad(argument, "is " + shortened(*text),
        "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return std::nullopt;
}

std::optional<double> Draft::number(std::string_view argument)
{
    const auto text = arguments.text(argument);
    if (!text)
        return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc() && end == text->data() + text->size() && std::isfinite(value))
        return value;
    bad(argument, "is " + shortened(*text), "a number");
    return std::nullopt;
}

std::string Draft::sourceOf(std::uint32_t source) const
{
    return source < recording.sources.size() ? fileName(recording.sources[source].file) : std::string("the recording");
}

} // namespace trainyard::imports
