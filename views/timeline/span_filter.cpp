// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/span_filter.h"

#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

/// Kinds with a word of their name that starts with `word`; 0 where there is none.
std::uint32_t kindsNamed(const QString &word)
{
    std::uint32_t kinds = 0;
    for (int k = 0; k < kWorkKindCount; ++k) {
        const QStringList names =
            QString::fromUtf8(toString(WorkKind(k))).split(QRegularExpression(QStringLiteral("[\\s-]+")));
        for (const QString &name : names) {
            if (name.startsWith(word, Qt::CaseInsensitive))
                kinds |= 1u << k;
        }
    }
    return kinds;
}

std::optional<Nanoseconds> duration(double value, const QString &unit)
{
    static constexpr std::array<std::pair<const char *, double>, 5> units { { { "s", 1e9 }, { "ms", 1e6 },
        { "us", 1e3 }, { "µs", 1e3 }, { "ns", 1 } } };
    for (const auto &[name, factor] : units) {
        if (unit == QString::fromUtf8(name))
            return Nanoseconds(std::llround(value * factor));
    }
    return std::nullopt;
}

} // namespace

std::optional<SpanFilter> parseSpanFilter(const QString &text)
{
    static const QRegularExpression token(
        QStringLiteral("\\s*(?:>\\s*(?<length>[\\d.]+)\\s*(?<unit>s|ms|us|µs|ns)\\b|stage\\s*(?<stage>\\d+)"
                       "|gpu\\s*(?<gpu>\\d+)|(?:shard|chunk|slice)\\s*(?<chunk>\\d+)|(?:(?:micro|mini)-?batch|mb|#)?"
                       "\\s*(?<batch>\\d+)|(?<word>[a-z-]+))[\\s,]*"),
        QRegularExpression::CaseInsensitiveOption);
    SpanFilter filter;
    std::uint32_t kinds = kAllKinds;
    for (qsizetype at = 0; at < text.trimmed().size();) {
        const auto match = token.match(
            text.trimmed(), at, QRegularExpression::NormalMatch, QRegularExpression::AnchorAtOffsetMatchOption);
        if (!match.hasMatch() || match.capturedLength() == 0)
            return std::nullopt;
        if (match.hasCaptured(u"length")) {
            const auto least = duration(match.captured(u"length").toDouble(), match.captured(u"unit").toLower());
            if (!least)
                return std::nullopt;
            filter.atLeast = *least;
        } else if (match.hasCaptured(u"stage")) {
            filter.stage = match.captured(u"stage").toInt() - 1;
        } else if (match.hasCaptured(u"gpu")) {
            filter.stage = match.captured(u"gpu").toInt();
        } else if (match.hasCaptured(u"chunk")) {
            filter.chunk = match.captured(u"chunk").toInt() - 1;
        } else if (match.hasCaptured(u"batch")) {
            filter.microBatch = match.captured(u"batch").toInt() - 1;
        } else {
            kinds &= kindsNamed(match.captured(u"word"));
            if (kinds == 0)
                return std::nullopt;
        }
        at = match.capturedEnd();
    }
    filter.kinds = kinds;
    return filter;
}

std::optional<SpanFilter> parseSpanFilter(const QString &text, const std::vector<QString> &names)
{
    int named = -1;
    qsizetype at = -1;
    for (int job = 0; job < int(names.size()); ++job) { // the longest: one name may begin another
        const qsizetype found = text.indexOf(names[std::size_t(job)], 0, Qt::CaseInsensitive);
        if (found >= 0 && (named < 0 || names[std::size_t(job)].size() > names[std::size_t(named)].size())) {
            named = job;
            at = found;
        }
    }
    QString rest = text;
    if (named >= 0)
        rest.remove(at, names[std::size_t(named)].size());
    static const QRegularExpression separators(QStringLiteral("^[\\s,]+"));
    auto filter = parseSpanFilter(rest.remove(separators));
    if (named < 0 && !filter && !text.trimmed().isEmpty()) {
        const auto part = std::ranges::find_if(
            names, [&](const QString &name) { return name.contains(text.trimmed(), Qt::CaseInsensitive); });
        if (part != names.end()) {
            named = int(part - names.begin());
            filter = SpanFilter {};
        }
    }
    if (filter)
        filter->job = named;
    return filter;
}

std::uint32_t nextMatch(const Timeline &timeline, const SpanFilter &filter, std::uint32_t after)
{
    // Earliest (start, number) above that of `after`; the earliest of all serves to wrap round.
    using Key = std::pair<Nanoseconds, std::uint32_t>;
    const Key last { INT64_MAX, kNoSpan };
    const Key floor = after == kNoSpan ? Key { -1, 0 } : Key { timeline.start[after], after };
    Key best = last, earliest = last;
    for (std::uint32_t i = 0; i < timeline.spanCount(); ++i) {
        if (!filter.matches(timeline, i))
            continue;
        const Key key { timeline.start[i], i };
        earliest = std::min(earliest, key);
        if (key > floor)
            best = std::min(best, key);
    }
    return best != last ? best.second : earliest.second;
}

std::uint32_t countMatches(const Timeline &timeline, const SpanFilter &filter)
{
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < timeline.spanCount(); ++i)
        count += filter.matches(timeline, i) ? 1 : 0;
    return count;
}

} // namespace trainyard
