#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a row has more spans than pixels, how each pixel column's time is shared among the kinds of work: so that a
// column can show every kind in proportion, in its own colour, instead of a mixture that stands for none. Tracks added
// later lie behind those before: they get what is left. Plain values, no Qt widgets.

#include "core/timeline/timeline.h"
#include "views/timeline/span_filter.h"
#include "views/timeline/time_axis.h"

#include <QRgb>

#include <array>
#include <span>
#include <vector>

namespace trainyard {

class KindShares {
public:
    /// Colour of each kind, and of each kind where a filter fades it.
    struct Colors {
        std::array<QRgb, kWorkKindCount> vivid {}, faded {};
    };

    /// `columns` pixels that share `range` evenly.
    void begin(TimeInterval range, int columns);
    /// Spans [first, last) of a track, sorted by start. `isFaded`: the filter has nothing of this track.
    /// `weight`: 1 alone, 1/N of N tracks taken together.
    void add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const SpanFilter &filter, bool isFaded,
        double weight = 1);
    /// Ends a layer: what is added from here on lies behind. A later layer shows when it has ended.
    void nextLayer();

    [[nodiscard]] int columns() const { return int(m_front.size()); }
    /// Share of a column that a kind has, 0..1; of all layers.
    [[nodiscard]] double share(int column, WorkKind kind) const;
    /// What a column consists of, bottom to top in the order of the kinds: calls `part` with share and colour.
    template <class Part> void visit(int column, const Colors &colors, Part part) const
    {
        const Column &of = m_front[std::size_t(column)];
        for (const Slot &slot : m_slots) {
            if (of[slot.index] > 0)
                part(double(of[slot.index]), (slot.isFaded ? colors.faded : colors.vivid)[std::size_t(slot.kind)]);
        }
    }
    /// Colours from the bottom of a bar to its top; the rest of `pixels` is idle and left as it is.
    void fill(int column, std::span<QRgb> pixels, const Colors &colors) const;

private:
    static constexpr std::size_t kMostSlots = 16; // kinds of one row; more than a row has share the last
    using Column = std::array<float, kMostSlots>;
    struct Slot {
        WorkKind kind;
        bool isFaded;
        std::size_t index;
    };

    [[nodiscard]] std::size_t slotOf(WorkKind kind, bool isFaded);

    TimeInterval m_range;
    std::vector<Slot> m_slots; // in the order of the kinds, faded ones last
    std::array<std::int8_t, 2 * kWorkKindCount> m_indexOf {}; // of a kind and a faded kind in a column; -1: none yet
    std::vector<Column> m_front,
        m_layer; // shares: of the layers that are done, at most 1 in all, and of the one in work
    bool m_isFirst = true; // the first layer needs no room left by another
};

} // namespace trainyard
