// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/megatron_timers.h"

#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

constexpr std::size_t kLongestTimerName = 100, kMostWaiting = 1000;

/// Of those that run before the first step.
bool isOfStart(std::string_view timer)
{
    return timer.ends_with("-setup") || timer == "load-checkpoint" || timer == "load checkpoint";
}

/// "    name ........:" with the value behind it; names hold '-', '/', and rarely blanks.
bool splitTimer(std::string_view text, std::string_view &name, std::string_view &value)
{
    const std::size_t colon = text.find(": ");
    if (colon == text.npos || colon > kLongestTimerName)
        return false;
    name = text.substr(0, colon);
    value = trimmed(text.substr(colon + 2));
    while (name.ends_with('.'))
        name.remove_suffix(1);
    name = trimmed(name);
    return !name.empty() && isLetter(name[0]) && name.find_first_of("|[]=") == name.npos;
}

} // namespace

bool MegatronTimers::take(const TextLine &line)
{
    const std::string_view text = line.text;
    if (takeHeading(text) || takeOneLine(text))
        return true;
    if (m_form == Form::None)
        return false;
    return m_form == Form::All ? takeRank(text, line.isOpen) : takeTimer(text, line.isOpen);
}

bool MegatronTimers::takeHeading(std::string_view text)
{
    const std::size_t at = text.find("across ranks (ms)");
    if (at == text.npos)
        return false;
    closeAll();
    const std::string_view before = text.substr(0, at);
    m_form = before.find("(min, max) time") != before.npos ? Form::MinMax
        : before.find("max time") != before.npos           ? Form::Max
                                                           : Form::All;
    return true;
}

bool MegatronTimers::takeOneLine(std::string_view text)
{
    const std::size_t at = text.find("time (ms) |");
    if (at == text.npos)
        return false;
    std::string_view rest = text.substr(at + 11);
    for (LogField field; takeField(rest, field);)
        if (const auto value = leadingNumber(field.value); value && field.key.size() <= kLongestTimerName)
            add(field.key, "", *value);
    return true;
}

bool MegatronTimers::takeTimer(std::string_view text, bool isOpen)
{
    std::string_view name, value;
    if (!text.starts_with(' ') || !splitTimer(text, name, value))
        return false;
    if (m_form == Form::Max) {
        const auto most = leadingNumber(value);
        if (!most || isOpen)
            return false;
        add(name, "", *most);
        return true;
    }
    if (!takeText(value, "("))
        return false;
    const auto least = takeNumber(value);
    const bool isPair = takeText(value, ",");
    const auto most = isPair ? takeNumber(value) : std::nullopt;
    if (!least || !most || !value.starts_with(')'))
        return false;
    add(name, ".min", *least);
    add(name, ".max", *most);
    return true;
}

bool MegatronTimers::takeRank(std::string_view text, bool isOpen)
{
    std::string_view rest = trimmedStart(text);
    if (takeText(rest, "rank")) {
        rest = trimmedStart(rest);
        const auto rank = takeWhole(rest);
        if (m_timer.empty() || !rank || boundedInt(*rank) < 0 || !takeText(rest, ":") || isOpen)
            return false;
        const auto value = leadingNumber(rest);
        if (!value)
            return false;
        add(m_timer, "", *value, static_cast<int>(*rank));
        m_least = m_ranks ? std::min(m_least, *value) : *value;
        m_most = m_ranks ? std::max(m_most, *value) : *value;
        m_sum += *value;
        ++m_ranks;
        return true;
    }
    rest = trimmed(rest);
    if (!text.starts_with(' ') || !rest.ends_with(':') || rest.size() > kLongestTimerName || !isLetter(rest[0]))
        return false;
    closeAll();
    while (rest.ends_with(':') || rest.ends_with('.') || rest.ends_with(' '))
        rest.remove_suffix(1);
    m_timer = rest;
    return true;
}

void MegatronTimers::closeAll()
{
    if (m_ranks > 0) {
        add(m_timer, "", m_sum / m_ranks);
        add(m_timer, ".min", m_least);
        add(m_timer, ".max", m_most);
    }
    m_timer.clear();
    m_sum = 0;
    m_ranks = 0;
}

void MegatronTimers::add(std::string_view timer, std::string_view suffix, double milliseconds, int rank)
{
    std::string name = samples::kTimerPrefix + std::string(timer) + std::string(suffix);
    if (isOfStart(timer))
        m_book.addStep(name, "s", 0, milliseconds * 1e-3, rank);
    else if (m_step)
        m_book.addStep(name, "s", *m_step, milliseconds * 1e-3, rank);
    else if (m_waiting.size() < kMostWaiting)
        m_waiting.push_back({ std::move(name), milliseconds * 1e-3, rank });
}

void MegatronTimers::stepIs(std::int64_t step)
{
    closeAll();
    m_form = Form::None;
    if (!m_step)
        finish(step);
    m_step = step;
}

void MegatronTimers::finish(std::int64_t step)
{
    closeAll();
    for (const Waiting &waiting : m_waiting)
        m_book.addStep(waiting.name, "s", m_step.value_or(step), waiting.seconds, waiting.rank);
    m_waiting.clear();
}

} // namespace trainyard::readers
