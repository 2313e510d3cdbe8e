#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a row has more spans than pixels, how each pixel column's time is shared among the kinds of work, or among
// jobs: so that a column can show every kind in proportion, in its own colour, instead of a mixture that stands for
// none. Tracks added later lie behind those before: they get what is left. Plain values, no Qt widgets.

#include "core/engine/timeline/timeline.h"
#include "views/timeline/span_filter.h"
#include "views/timeline/time_axis.h"

#include <QRgb>

#include <span>
#include <vector>

namespace trainyard {

class KindShares {
public:
    /// Colour of each kind or job, and of each where a filter fades it.
    struct Colors {
        std::vector<QRgb> vivid = std::vector<QRgb>(kWorkKindCount), faded = std::vector<QRgb>(kWorkKindCount);
    };

    /// `columns` pixels that share `range` evenly, among kinds or among so many jobs.
    void begin(TimeInterval range, int columns, int jobs = 0);
    /// Spans [first, last) of a track, sorted by start. `isFaded`: the filter has nothing of this track.
    /// `weight`: 1 alone, 1/N of N tracks taken together.
    void add(const Timeline &timeline, std::uint32_t first, std::uint32_t last, const SpanFilter &filter, bool isFaded,
        double weight = 1);
    /// Among jobs: `jobOfClass` of a span's class, which lies in [0, jobs). `isVivid`: by class. The last of both is of
    /// spans of no class.
    void addJobs(const Timeline &timeline, std::uint32_t first, std::uint32_t last,
        std::span<const std::uint16_t> jobOfClass, const std::vector<bool> &isVivid, const SpanFilter &filter,
        double weight = 1);
    /// Ends a layer: what is added from here on lies behind. A later layer shows when it has ended.
    void nextLayer();

    [[nodiscard]] int columns() const { return m_columns; }
    /// Share of a column that a kind has, 0..1; of all layers.
    [[nodiscard]] double share(int column, WorkKind kind) const;
    /// What a column consists of, bottom to top in the order of the kinds: calls `part` with share and colour.
    template <class Part> void visit(int column, const Colors &colors, Part part) const
    {
        const float *of = m_front.data() + std::size_t(column) * m_stride;
        for (const Slot &slot : m_slots) {
            if (of[slot.index] > 0)
                part(double(of[slot.index]), (slot.isFaded ? colors.faded : colors.vivid)[std::size_t(slot.key)]);
        }
    }
    /// Colours from the bottom of a bar to its top; the rest of `pixels` is idle and left as it is.
    void fill(int column, std::span<QRgb> pixels, const Colors &colors) const;

private:
    // Kinds or jobs of one row; more than that share the last
    static constexpr std::size_t kMostKinds = 16, kMostJobs = 128;
    struct Slot {
        /// kind or job
        int key;
        bool isFaded;
        std::size_t index;
    };

    [[nodiscard]] std::size_t slotOf(int key, bool isFaded);
    template <class KeyOf>
    void addKeys(const Timeline &timeline, std::uint32_t first, std::uint32_t last, double weight, KeyOf keyOf);

    TimeInterval m_range;
    int m_columns = 0, m_keys = kWorkKindCount;
    /// shares of a column
    std::size_t m_stride = kMostKinds;
    /// in the order of the kinds, faded ones last
    std::vector<Slot> m_slots;
    /// of a key and a faded key in a column; -1: none yet
    std::vector<std::int16_t> m_indexOf;
    std::vector<float> m_front,
        m_layer; // [column][slot]: of the layers that are done, at most 1 in all, and of the one in work
    /// the first layer needs no room left by another
    bool m_isFirst = true;
};

} // namespace trainyard
