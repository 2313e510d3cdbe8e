// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/vector_plot.h"

namespace trainyard {

void VectorPlot::paintEvent(QPaintEvent *event)
{
    {
        QCPPainter painter(this);
        const QPaintEngine::Type type = painter.paintEngine()->type();
        if (type == QPaintEngine::SVG || type == QPaintEngine::Pdf || type == QPaintEngine::Picture) {
            painter.setMode(QCPPainter::pmVectorized);
            toPainter(&painter, width(), height());
            return;
        }
    }
    QCustomPlot::paintEvent(event);
}

} // namespace trainyard
