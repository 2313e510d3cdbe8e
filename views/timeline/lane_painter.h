#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the rows of the track area into an image: mixed columns first (row_mixer.h), those of many spans by several
// threads, then, where bars are wide enough to tell apart, their corners, patterns and labels. Works in device pixels,
// touches no widget.

#include "views/timeline/fill_pattern.h"
#include "views/timeline/label_masks.h"
#include "views/timeline/lane_pixels.h"
#include "views/timeline/measured_painter.h"
#include "views/timeline/row_mixer.h"

#include <QImage>

namespace trainyard {

class LanePainter {
public:
    /// Paints all rows that show in `tracks` (logical pixels of the image's ratio) with the state's range and scroll.
    void paint(QImage &image, const TimelineState &state, const QRect &tracks);

private:
    struct Lane {
        int left, width, top, bottom, head, foot;
    }; // device pixels, bottom exclusive; head and foot: top and bottom before they were cut
    /// A row that is in sight.
    struct Placed {
        const TrackRow *row;
        Lane bar, measured, ghost;
        /// of the bar, before it was cut
        int barHeight;
        bool isDense;
    };
    /// What one thread fills rows with.
    struct Hand {
        RowMixer mixer;
        /// [column][pixel of a bar, bottom first]
        std::vector<QRgb> columns;
        /// of the columns, in pixels
        std::vector<int> edges;
    };
    [[nodiscard]] const RowMixer &mixer() const { return m_hands.front().mixer; }
    [[nodiscard]] std::vector<Placed> placed(const QImage &image, const TimelineState &state, const QRect &tracks);
    void fillRows(QImage &image, const TimelineState &state, const std::vector<Placed> &rows);
    static void fillRow(
        const PixelLines &image, int imageHeight, const TimelineState &state, const Placed &placed, Hand &hand);
    static void fillShares(
        const PixelLines &image, int imageHeight, const TimelineState &state, const Placed &placed, Hand &hand);
    void paintDetail(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane);
    void paintMarks(QImage &image, const TimelineState &state, const TrackRow &row, const Lane &lane);
    void paintStrip(
        QImage &image, const TimelineState &state, std::uint32_t span, const QRect &strip, const Lane &lane, QRgb fill);
    void paintPattern(QImage &image, const QRect &bar, const QRect &clip, FillPattern pattern, QRgb fill, QRgb ink);
    /// `room`: exact width of the bar, so that equal bars agree on whether a number fits.
    void paintLabel(QImage &image, const TimelineState &state, std::uint32_t span, const QRect &clip, double room,
        QRgb fill, QRgb ink);
    /// On a plate of its own where the bar has a pattern.
    void paintPlated(QImage &image, const QString &text, const QRect &clip, FillPattern pattern, QRgb fill, QRgb ink);
    void paintCriticalPath(QImage &image, const TimelineState &state, const QRect &tracks);

    /// the first is of the thread that paints
    std::vector<Hand> m_hands = std::vector<Hand>(1);
    MeasuredPainter m_measured;
    LabelMasks m_labels;
};

} // namespace trainyard
