#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of the iteration that the chart points at while all else fades: the pieces that a part of Why adds up
// (core/evaluation/evaluate/metrics/breakdown_pieces.h) and, of waits, the transfers that were waited for. Kept as a
// timeline of its own, with the tracks of the evaluation's, so that charts and minimap draw it as they draw any other.
// Plain value.

#include "core/evaluation/evaluate/metrics/breakdown_pieces.h"

#include <QColor>
#include <QString>

#include <vector>

namespace trainyard {

struct FocusMark {
    /// that it lies in or, of a wait, that waits
    std::uint32_t span = kNoSpan;
    /// index of its colour
    std::uint8_t paint = 0;
    bool isWait = false;
};

struct TimeFocus {
    std::vector<BreakdownPart> parts;
    /// tracks, starts and ends of the marks only
    Timeline timeline;
    std::vector<FocusMark> marks;
    /// of a stage on average, as Why says
    double seconds = 0;
    int stages = 0;
    /// marks without the transfers
    std::size_t pieces = 0;
    TimePiece largest;

    [[nodiscard]] static TimeFocus on(const Timeline &timeline, std::vector<BreakdownPart> parts);
    /// Mark of a track at a time; kNoSpan: none.
    [[nodiscard]] std::uint32_t markAt(std::uint32_t track, Nanoseconds time) const;
    [[nodiscard]] std::uint32_t trackOf(std::uint32_t mark) const;
    /// What a mark is attributed to; nullptr of a transfer.
    [[nodiscard]] BreakdownPart partOf(std::uint32_t mark) const;
    [[nodiscard]] QString names() const;
    /// "WAN: 1.52 s per stage, in 204 places".
    [[nodiscard]] QString text() const;
};

/// Colours of marks by their index: parts of the iteration first, then kinds of work.
[[nodiscard]] std::vector<QColor> focusColors();

} // namespace trainyard
