// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/time_focus.h"

#include "core/engine/timeline/analysis.h"
#include "models/text/format.h"
#include "views/theme/part_colors.h"
#include "views/theme/theme.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace trainyard {

namespace {

QString focusText(const char *text)
{
    return QCoreApplication::translate("trainyard::TimeFocus", text);
}

std::uint8_t paintOf(WorkKind kind)
{
    return std::uint8_t(kBreakdownParts.size() + std::size_t(kind));
}

/// Work keeps the colour of its bar; communication inside it and waits have that of their part.
std::uint8_t paintOf(const Timeline &timeline, const TimePiece &piece)
{
    return !piece.isWait && piece.part == &Breakdown::compute ? paintOf(timeline.kind[piece.span])
                                                              : std::uint8_t(partIndex(piece.part));
}

} // namespace

TimeFocus TimeFocus::on(const Timeline &timeline, std::vector<BreakdownPart> parts)
{
    const TimePieces found = piecesOf(timeline, parts);
    TimeFocus focus;
    focus.parts = std::move(parts);
    focus.seconds = found.seconds();
    focus.stages = found.stages;
    focus.pieces = found.pieces.size();
    if (!found.pieces.empty())
        focus.largest = *std::ranges::max_element(found.pieces, {}, &TimePiece::seconds);
    std::vector<std::uint32_t> transfers; // spans are numbered track by track, and so are these
    for (const TimePiece &piece : found.pieces)
        if (piece.transfer != kNoSpan)
            transfers.push_back(piece.transfer);
    std::ranges::sort(transfers);
    transfers.erase(std::ranges::unique(transfers).begin(), transfers.end());
    const auto mark = [&](Nanoseconds begin, Nanoseconds end, FocusMark made) {
        focus.timeline.start.push_back(begin);
        focus.timeline.end.push_back(end);
        focus.marks.push_back(made);
    };
    auto piece = found.pieces.begin();
    auto transfer = transfers.begin();
    for (std::uint32_t t = 0; t < timeline.tracks.size(); ++t) {
        Track track = timeline.tracks[t];
        track.first = std::uint32_t(focus.marks.size());
        for (; piece != found.pieces.end() && piece->track == t; ++piece)
            mark(piece->begin, piece->end, { piece->span, paintOf(timeline, *piece), piece->isWait });
        for (; transfer != transfers.end() && timeline.trackOf[*transfer] == t; ++transfer)
            mark(timeline.start[*transfer], timeline.end[*transfer],
                { *transfer, paintOf(timeline.kind[*transfer]), false });
        track.last = std::uint32_t(focus.marks.size());
        focus.timeline.tracks.push_back(track);
    }
    return focus;
}

std::uint32_t TimeFocus::markAt(std::uint32_t track, Nanoseconds time) const
{
    return track < timeline.tracks.size() ? spanAt(timeline, track, time) : kNoSpan;
}

std::uint32_t TimeFocus::trackOf(std::uint32_t mark) const
{
    return std::uint32_t(std::ranges::upper_bound(timeline.tracks, mark, {}, &Track::last) - timeline.tracks.begin());
}

BreakdownPart TimeFocus::partOf(std::uint32_t mark) const
{
    return marks[mark].paint < kBreakdownParts.size() ? kBreakdownParts[marks[mark].paint] : nullptr;
}

QString TimeFocus::names() const
{
    QStringList names;
    for (const BreakdownPart part : parts)
        names << partName(part);
    return names.join(QStringLiteral(", "));
}

QString TimeFocus::text() const
{
    return focusText("%1: %2 per stage, in %3")
        .arg(parts.size() == 1 ? names() : focusText("%1 small parts").arg(parts.size()), formatSeconds(seconds),
            countOf(qint64(pieces), focusText("place"), focusText("places")));
}

std::vector<QColor> focusColors()
{
    std::vector<QColor> colors;
    for (const BreakdownPart part : kBreakdownParts) // idle time must be seen on idle rows
        colors.push_back(part == &Breakdown::bubble ? theme().textMuted : partColor(part));
    for (int kind = 0; kind < kWorkKindCount; ++kind)
        colors.push_back(theme().work(WorkKind(kind)));
    return colors;
}

} // namespace trainyard
