#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the measured lane of a row of the timeline: columns blended from all that ran in them, as for the plan, and
// where spans are wide enough to tell apart, their patterns and names. Ranks that nobody recorded are hatched; past the
// end of the run's step there is nothing. Works in device pixels, touches no widget.

#include "views/theme/recorded_colors.h"
#include "views/timeline/column_walk.h"
#include "views/timeline/fill_pattern.h"
#include "views/timeline/label_masks.h"
#include "views/timeline/timeline_state.h"

#include <QImage>

class QPainter;

namespace trainyard {

[[nodiscard]] FillPattern fillPattern(RecordedWork work);

class MeasuredPainter {
public:
    /// Reads theme and focus; call it before the first row of a picture.
    void prepare(const TimelineState &state, qreal devicePixelRatio);
    /// `lane`: device pixels, cut to what is in sight. `height`: before it was cut.
    void paint(QImage &image, const TimelineState &state, const TrackRow &row, const QRect &lane, int height);
    /// The same as rectangles and texts, for SVG and PDF.
    void paintVectors(QPainter &painter, const TimelineState &state, const TrackRow &row, const QRectF &lane);
    /// Pixels of a lane; valid until the next call.
    [[nodiscard]] std::span<const QRgb> mix(const TimelineState &state, const TrackRow &row, int width);

private:
    /// Visible spans of a track that are few enough to tell apart and that nothing in front of them hides.
    template <class Visit> void eachDistinct(const TimelineState &state, int width, Visit visit);

    ColumnWalk m_walk;
    LabelMasks m_labels;
    std::array<ColorLanes, kRecordedWorkCount + 1> m_lanes {};
    std::array<QRgb, kRecordedWorkCount> m_colors {};
    QRgb m_idle = 0, m_panel = 0, m_hatch = 0;
    std::vector<QRgb> m_row;
    /// of the row, front first
    std::vector<std::uint32_t> m_tracks;
};

} // namespace trainyard
