#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Blends the spans of a track into one row of pixels: each pixel column gets the mix of the colours that ran in it,
// weighted by time, over the idle colour. One streaming pass over the visible spans, about 1.4 ns each, so that
// millions of spans need no index. Single bars come out with antialiased edges by the same arithmetic.

#include "core/engine/timeline/timeline.h"
#include "views/timeline/span_filter.h"
#include "views/timeline/time_axis.h"

#include <QColor>

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace trainyard {

/// Red, green, blue and 1, in four SIMD lanes.
using ColorLanes = float __attribute__((vector_size(16)));
using WorkPalette = std::array<ColorLanes, kWorkKindCount>;

[[nodiscard]] ColorLanes toLanes(const QColor &color);

/// Spans in blocks by their numbers, of which those that lie in one track are filled: colour times nanoseconds, from
/// where the first of a block starts to where the last ends.
struct BlockSums {
    static constexpr std::uint32_t kSpans = 8;
    /// spans a column, from which a block that lies in two of them may be shared out by its length
    static constexpr std::uint32_t kLeastPerColumn = 4 * kSpans;
    struct Block {
        Nanoseconds begin = 0, end = 0;
        ColorLanes sum {};
    };
    std::vector<Block> blocks;
};

class ColumnWalk {
public:
    /// so that a short span in an idle track stays visible
    static constexpr float kLeastCoverage = 0.3F;

    /// `columns` pixels that share `range` evenly.
    void begin(TimeInterval range, int columns);
    /// Adds spans [first, last) of the timeline, sorted by start and disjoint. Spans outside the range are skipped in
    /// O(log n). Where `filter` needs spans, those that fail it take their colour from `faded`.
    void add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const WorkPalette &palette);
    /// By sums of these spans in the same colours, where there are many a column: an eighth of what there is to read.
    void add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const WorkPalette &palette,
        const BlockSums &sums);
    void add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const WorkPalette &palette,
        const WorkPalette &faded, const SpanFilter &filter);
    /// Spans in the colour of their class, in `faded` where `filter` asks spans and they fail it. As fast. The last
    /// colour is of spans of no class.
    void addByClass(const Timeline &timeline, std::uint32_t first, std::uint32_t last,
        std::span<const ColorLanes> byClass, std::span<const ColorLanes> faded, const SpanFilter &filter);
    /// Spans in colours of their own.
    void add(const Timeline &timeline, std::uint32_t first, std::uint32_t last,
        const std::function<ColorLanes(std::uint32_t)> &colorOf);
    /// Paints the sums over what `row` holds; `layers` tracks were added to them. Of a single layer, a column where
    /// anything ran never vanishes: it has at least `least` of its colour.
    void resolve(std::span<QRgb> row, int layers = 1, float least = kLeastCoverage) const;

private:
    template <class ColorOf>
    void walk(
        const Timeline &timeline, std::uint32_t first, std::uint32_t last, ColorOf colorOf, std::size_t fromColumn = 0);

    /// of the edges, which all rows of a picture share
    TimeInterval m_range;
    /// columns + 1
    std::vector<Nanoseconds> m_edges;
    /// colour times nanoseconds; the last lane counts nanoseconds
    std::vector<ColorLanes> m_sums;
};

/// First and one-past-last span of [first, last) that overlap `range`. O(log n).
[[nodiscard]] std::pair<std::uint32_t, std::uint32_t> visibleSpans(
    const Timeline &timeline, std::uint32_t first, std::uint32_t last, TimeInterval range);

} // namespace trainyard
