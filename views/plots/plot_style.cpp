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
    for (QCPAxis *axis : { plot.xAxis, plot.yAxis }) {
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

namespace {

constexpr int kTickLabels = 56; // left of the y axis
constexpr int kLeastTitle = 64; // pixels that a title needs to say anything
constexpr int kBeforeFirstTick = 26;

QCPItemText *marginText(QCustomPlot &plot, const QString &text, QPointF at, Qt::Alignment alignment, const QFont &font)
{
    auto *item = new QCPItemText(&plot);
    item->position->setType(QCPItemPosition::ptAbsolute);
    item->position->setCoords(at);
    item->setPositionAlignment(alignment);
    item->setTextAlignment(Qt::AlignRight);
    item->setClipToAxisRect(false);
    item->setFont(font);
    item->setColor(theme().textFaint);
    item->setText(text);
    return item;
}

/// Words on as many lines as the width asks for.
QString wrapped(const QString &text, const QFontMetrics &metrics, int width)
{
    QStringList lines;
    for (const QString &word : text.split(u' ')) {
        if (!lines.isEmpty() && metrics.horizontalAdvance(lines.last() + u' ' + word) <= width)
            lines.last() += u' ' + word;
        else
            lines << word;
    }
    return lines.join(u'\n');
}

} // namespace

void addAxisTitles(QCustomPlot &plot, const QString &y, const QString &x, const QFont &font)
{
    const QMargins margins = plot.axisRect()->margins();
    const QFontMetrics metrics(font);
    const int room = margins.left() - kTickLabels - 8;
    if (room < kLeastTitle && !y.isEmpty()) // above the axis rather than nowhere: the ticks have no unit
        marginText(plot, y, { 4, 0 }, Qt::AlignLeft | Qt::AlignTop, font);
    else if (!y.isEmpty())
        marginText(plot, wrapped(y, metrics, room),
            { double(margins.left() - kTickLabels), (plot.height() + margins.top() - margins.bottom()) / 2.0 },
            Qt::AlignRight | Qt::AlignVCenter, font);
    if (margins.left() - kBeforeFirstTick >= metrics.horizontalAdvance(x) && !x.isEmpty())
        marginText(plot, x, { double(margins.left() - kBeforeFirstTick), double(plot.height() - margins.bottom() + 5) },
            Qt::AlignRight | Qt::AlignTop, font);
}

QCPItemText *addLineLabel(QCustomPlot &plot, double y, const QString &text, const QColor &color, const QFont &font)
{
    auto *item = new QCPItemText(&plot);
    item->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    item->position->setTypeY(QCPItemPosition::ptPlotCoords);
    item->position->setCoords(1, y);
    item->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    item->setClipToAxisRect(false);
    item->setFont(font);
    item->setColor(color);
    item->setText(text);
    return item;
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
