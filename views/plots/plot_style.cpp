// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/plot_style.h"

#include "views/plots/qcustomplot_gateway.h"
#include "views/theme/theme.h"

#include <QFileInfo>
#include <QSvgGenerator>

namespace trainyard {

namespace {

bool saveSvg(QCustomPlot &plot, const QString &path)
{
    QSvgGenerator generator;
    generator.setFileName(path);
    generator.setSize(plot.size());
    generator.setViewBox(QRect(QPoint(0, 0), plot.size()));
    QCPPainter painter;
    if (!painter.begin(&generator))
        return false;
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    painter.fillRect(QRect(QPoint(0, 0), plot.size()), theme().panel);
    plot.toPainter(&painter, plot.width(), plot.height());
    return painter.end();
}

} // namespace

void stylePlot(QCustomPlot &plot, const QFont &font)
{
    const Theme &t = theme();
    QFont small = font;
    small.setPointSizeF(font.pointSizeF() - 0.5);
    plot.setBackground(QBrush(t.panel));
    for (QCPAxis *axis : {plot.xAxis, plot.yAxis}) {
        axis->setBasePen(QPen(axis == plot.xAxis ? t.border : Qt::transparent));
        axis->setTickPen(QPen(Qt::transparent));
        axis->setSubTickPen(QPen(Qt::transparent));
        axis->setTickLength(0);
        axis->setSubTicks(false);
        axis->setTickLabelColor(t.textFaint);
        axis->setTickLabelFont(small);
        axis->setTickLabelPadding(6);
        axis->grid()->setPen(QPen(t.grid, 1));
        axis->grid()->setZeroLinePen(QPen(t.grid, 1));
        axis->grid()->setSubGridVisible(false);
        axis->ticker()->setTickCount(axis == plot.xAxis ? 8 : 4);
    }
}

bool saveChart(QCustomPlot &plot, const QString &path)
{
    const QString suffix = QFileInfo(path).suffix().toLower();
    if (suffix == QLatin1String("svg"))
        return saveSvg(plot, path);
    if (suffix == QLatin1String("pdf"))
        return plot.savePdf(path, plot.width(), plot.height());
    return plot.savePng(path, plot.width(), plot.height(), 2.0);
}

} // namespace trainyard
