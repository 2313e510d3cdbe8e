// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/line_pattern.h"

#include "core/base/units.h"
#include "core/runs/telemetry/line_pattern_internal.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

constexpr std::size_t kLongestLine = 4096;

bool isWordByte(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

struct Thread {
    int at = 0;
    std::vector<int> places;
};

/// One step of the machine for all threads at once, in the order of what they prefer.
class Runner {
public:
    Runner(std::span<const LinePattern::Step> steps, std::string_view line)
        : m_steps(steps)
        , m_line(line)
        , m_seen(steps.size(), 0)
    {
    }

    void next() { ++m_mark; }

    void add(std::vector<Thread> &threads, int at, std::size_t place, std::vector<int> places)
    {
        using StepKind = LinePattern::Step::Kind;
        std::vector<Thread> open; // those that are to be followed, the preferred one last
        open.push_back({ at, std::move(places) });
        while (!open.empty()) {
            Thread one = std::move(open.back());
            open.pop_back();
            if (std::exchange(m_seen[std::size_t(one.at)], m_mark) == m_mark)
                continue;
            const LinePattern::Step &step = m_steps[std::size_t(one.at)];
            switch (step.kind) {
            case StepKind::Jump:
                open.push_back({ step.first, std::move(one.places) });
                break;
            case StepKind::Split:
                open.push_back({ step.other, one.places });
                open.push_back({ step.first, std::move(one.places) });
                break;
            case StepKind::Save:
                one.places[std::size_t(step.first)] = int(place);
                open.push_back({ one.at + 1, std::move(one.places) });
                break;
            case StepKind::Begin:
            case StepKind::End:
            case StepKind::WordEdge:
                if (holds(step.kind, place))
                    open.push_back({ one.at + 1, std::move(one.places) });
                break;
            case StepKind::OneOf:
            case StepKind::Match:
                threads.push_back(std::move(one));
                break;
            }
        }
    }

private:
    [[nodiscard]] bool holds(LinePattern::Step::Kind kind, std::size_t place) const
    {
        if (kind == LinePattern::Step::Kind::Begin)
            return place == 0;
        if (kind == LinePattern::Step::Kind::End)
            return place == m_line.size();
        const bool before = place > 0 && isWordByte(m_line[place - 1]);
        return before != (place < m_line.size() && isWordByte(m_line[place]));
    }

    std::span<const LinePattern::Step> m_steps;
    std::string_view m_line;
    std::vector<int> m_seen;
    int m_mark = 0;
};

/// "1,234.5" and "1.2e3", with the bytes that it takes; nothing where it is no number.
struct Number {
    double value = 0;
    std::size_t bytes = 0;
};
std::optional<Number> numberIn(std::string_view text)
{
    std::string plain;
    std::size_t end = 0;
    const auto isDigitAt = [&](std::size_t at) {
        return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    for (; end < text.size() && plain.size() < 40; ++end) {
        const char c = text[end];
        if (c == ',' && end > 0 && isDigitAt(end + 1) && isDigitAt(end + 2) && isDigitAt(end + 3))
            continue;
        const bool isExponent = (c == 'e' || c == 'E') && !plain.empty()
            && (isDigitAt(end + 1)
                || (end + 1 < text.size() && (text[end + 1] == '-' || text[end + 1] == '+') && isDigitAt(end + 2)));
        const bool isSign = (c == '-' || c == '+') && (plain.empty() || plain.back() == 'e' || plain.back() == 'E');
        if (!isDigitAt(end) && c != '.' && !isExponent && !isSign)
            break;
        plain += c;
    }
    if (plain.starts_with('+'))
        plain.erase(0, 1);
    double value = 0;
    const auto [last, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
    if (error != std::errc() || last != plain.data() + plain.size() || !std::isfinite(value))
        return std::nullopt;
    return Number { value, end };
}

/// nanotron's "11.5K".
double suffixFactor(std::string_view behind)
{
    if (behind.empty() || (behind.size() > 1 && isWordByte(behind[1])))
        return 1;
    return behind[0] == 'K' ? 1e3 : behind[0] == 'M' ? 1e6 : behind[0] == 'G' ? 1e9 : 1;
}

/// What makes seconds or bytes of a number with this behind it.
double factorBehind(LineGroup group, std::string_view behind)
{
    while (!behind.empty() && (behind.front() == ' ' || behind.front() == '('))
        behind.remove_prefix(1);
    std::string unit;
    for (const char c : behind.substr(0, 12))
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            unit += char(std::tolower(static_cast<unsigned char>(c)));
        else
            break;
    if (const auto known = unitFactor(group, unit))
        return *known;
    return group == LineGroup::Memory ? kBytesPerGiB : 1;
}

} // namespace

std::optional<double> unitFactor(LineGroup group, std::string_view unit)
{
    struct Unit {
        LineGroup group;
        std::string_view name;
        double factor;
    };
    static constexpr auto kUnits = std::to_array<Unit>({ { LineGroup::Time, "s", 1 }, { LineGroup::Time, "sec", 1 },
        { LineGroup::Time, "secs", 1 }, { LineGroup::Time, "seconds", 1 }, { LineGroup::Time, "ms", 1e-3 },
        { LineGroup::Time, "msec", 1e-3 }, { LineGroup::Time, "us", 1e-6 }, { LineGroup::Time, "min", 60 },
        { LineGroup::Memory, "b", 1 }, { LineGroup::Memory, "bytes", 1 }, { LineGroup::Memory, "kb", 1e3 },
        { LineGroup::Memory, "mb", 1e6 }, { LineGroup::Memory, "gb", 1e9 },
        { LineGroup::Memory, "mib", kBytesPerGiB / 1024 }, { LineGroup::Memory, "gib", kBytesPerGiB },
        { LineGroup::Memory, "g", kBytesPerGiB }, { LineGroup::Memory, "m", kBytesPerGiB / 1024 } });
    const auto found =
        std::ranges::find_if(kUnits, [&](const Unit &one) { return one.group == group && one.name == unit; });
    return found == kUnits.end() ? std::nullopt : std::optional(found->factor);
}

Expected<LinePattern> LinePattern::parse(std::string_view text)
{
    auto made = compiledPattern(text);
    if (!made)
        return std::unexpected(made.error());
    LinePattern pattern;
    pattern.m_text = text;
    pattern.m_steps = std::move(made->steps);
    pattern.m_sets = std::move(made->sets);
    pattern.m_groups = std::move(made->groups);
    return pattern;
}

std::optional<std::vector<int>> LinePattern::placesIn(std::string_view line) const
{
    Runner runner(m_steps, line);
    std::vector<Thread> now, then;
    std::optional<std::vector<int>> found;
    for (std::size_t place = 0; place <= line.size(); ++place) {
        if (place == 0)
            runner.next();
        if (!found) // a match that begins earlier is preferred
            runner.add(now, 0, place, std::vector<int>(2 * m_groups.size(), -1));
        if (found && now.empty())
            break;
        runner.next();
        then.clear();
        for (Thread &one : now) {
            const Step &step = m_steps[std::size_t(one.at)];
            if (step.kind == Step::Kind::Match) {
                found = std::move(one.places);
                break; // those behind it are preferred less
            }
            if (place < line.size() && m_sets[std::size_t(step.first)][static_cast<unsigned char>(line[place])])
                runner.add(then, one.at + 1, place + 1, std::move(one.places));
        }
        std::swap(now, then);
    }
    return found;
}

std::vector<LinePattern::Value> LinePattern::valuesOf(std::string_view line) const
{
    line = line.substr(0, kLongestLine);
    const auto places = placesIn(line);
    if (!places)
        return {};
    std::vector<Value> values;
    for (std::size_t i = 0; i < m_groups.size(); ++i) {
        const int begin = (*places)[2 * i], end = (*places)[2 * i + 1];
        if (begin < 0 || end < begin) // of an alternative that is not there
            continue;
        const NamedGroup &named = m_groups[i];
        const auto number = numberIn(line.substr(std::size_t(begin), std::size_t(end - begin)));
        if (!number)
            return {};
        std::string_view behind = line.substr(std::size_t(begin) + number->bytes);
        double factor = named.factor;
        if (named.group != LineGroup::Memory) {
            const double suffix = suffixFactor(behind);
            behind.remove_prefix(suffix > 1 ? 1 : 0);
            factor = (factor > 0                              ? factor
                             : named.group == LineGroup::Time ? factorBehind(named.group, behind)
                                                              : 1)
                * suffix;
        } else if (factor == 0) {
            factor = factorBehind(named.group, behind);
        }
        const double value = number->value * factor;
        if (!std::isfinite(value)) // 1e308 GB
            return {};
        values.push_back({ named.group, value });
    }
    return values;
}

} // namespace trainyard
