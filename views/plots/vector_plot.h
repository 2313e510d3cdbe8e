#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A chart that gives lines and texts, not its picture of pixels, where it is rendered into SVG or PDF: so that a chart
// to take away is as sharp as it can be. GUI thread.

#include "views/plots/qcustomplot_gateway.h"

namespace trainyard {

class VectorPlot : public QCustomPlot {
    Q_OBJECT
public:
    using QCustomPlot::QCustomPlot;

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace trainyard
