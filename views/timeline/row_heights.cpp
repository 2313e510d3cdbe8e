// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/row_heights.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

constexpr int kLeastThinPitch = 5;
constexpr int kChannelPitch = 12;
constexpr int kTurnPitch = 15; // room for the number of the micro-batch whose turn it is
constexpr int kThinGap = 4; // most of it
constexpr int kGhostBar = 3;
constexpr int kLeastBar = 4, kMostBar = 32;
constexpr int kAiry = 10; // bars from which there is room for wider gaps
constexpr int kLeastMeasured = 2;

/// Below a bar with its lanes: what was measured belongs to the bar above it, not to the next one.
int gapOf(int bar, bool isMeasured)
{
    return (bar < kAiry ? 1 : 2) * (isMeasured ? 2 : 1);
}

/// Channels and streams shrink with the stages, so that 64 of them still are on one page.
int thinPitch(bool hasTurns, int bar)
{
    return std::clamp(bar + 1, kLeastThinPitch, hasTurns ? kTurnPitch : kChannelPitch);
}

int measuredHeight(int bar)
{
    return std::max(kLeastMeasured, bar / 2);
}

} // namespace

void setHeights(TrackRow &row, int bar, bool ghost)
{
    const bool isMeasured = !row.measured.empty();
    if (isThin(row)) {
        row.pitch = thinPitch(row.hasTurns, bar);
        row.barHeight = row.hasTurns ? row.pitch - std::min(kThinGap, row.pitch / 4) : std::max(3, row.pitch * 5 / 12);
        row.barTop = (row.pitch - row.barHeight) / 2;
        if (isMeasured) {
            row.measuredTop = row.barTop + row.barHeight + 1;
            row.measuredHeight = std::max(kLeastMeasured, row.barHeight * 3 / 5);
            row.pitch += row.measuredHeight + 1;
        }
        return;
    }
    row.barTop = 0;
    row.barHeight = bar;
    row.ghostTop = bar + 1;
    row.ghostHeight = ghost && row.kind == TrackRow::Kind::Stage ? kGhostBar : 0;
    int bottom = bar + (row.ghostHeight > 0 ? row.ghostHeight + 1 : 0);
    if (isMeasured) {
        row.measuredTop = bottom + 1;
        row.measuredHeight = measuredHeight(bar);
        bottom = row.measuredTop + row.measuredHeight;
    }
    row.pitch = bottom + gapOf(bar, isMeasured);
}

int barHeight(const std::vector<TrackRow> &rows, bool ghost, int available)
{
    // Rows of one kind are equally tall: a few stand for all.
    struct Alike {
        TrackRow row;
        int count = 0;
    };
    std::array<Alike, 6> alike;
    for (const TrackRow &row : rows) {
        const bool isMeasured = !row.measured.empty();
        Alike &of = alike[std::size_t(!isThin(row) ? 0 : row.hasTurns ? 1 : 2) * 2 + (isMeasured ? 1 : 0)];
        if (of.count++ > 0)
            continue;
        of.row.kind = isThin(row) ? TrackRow::Kind::Channel : TrackRow::Kind::Stage; // a summary is no taller
        of.row.hasTurns = row.hasTurns;
        of.row.measured.resize(isMeasured ? 1 : 0);
    }
    const auto needed = [&](int bar) {
        int height = 0;
        for (Alike &of : alike) {
            if (of.count > 0)
                setHeights(of.row, bar, ghost);
            height += of.count * of.row.pitch;
        }
        return height;
    };
    int bar = kMostBar;
    while (bar > kLeastBar && needed(bar) > available)
        --bar;
    return bar;
}

} // namespace trainyard
