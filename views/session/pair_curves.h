#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Charts of two variants over each other, one at a time: which chart, of which stage or link, and whose colour is
// whose. GUI thread.

#include "views/plots/pair_plot.h"

class QComboBox;
class QStackedWidget;

namespace trainyard {

class LegendStrip;

class PairCurves : public QWidget {
    Q_OBJECT
public:
    explicit PairCurves(const QString &name, QWidget *parent = nullptr);

    QComboBox *const kind, *const place;

    void addPlot(PairPlot *plot, const QString &title);
    void setPair(const PairSide &before, const PairSide &after);
    void setStale(bool stale);
    /// nanoseconds of the iteration
    void setVisibleRange(Nanoseconds from, Nanoseconds to);
    /// Where the tracks of the timelines above begin and end, in pixels from this panel's edges.
    void setPlotInsets(int left, int right);
    void showCursor(qint64 time);
    [[nodiscard]] PairPlot *currentPlot() const;

Q_SIGNALS:
    void rangeChanged(trainyard::Nanoseconds from, trainyard::Nanoseconds to);
    void cursorMoved(qint64 time);
    /// it is another size, or in sight
    void placed();

protected:
    void resizeEvent(QResizeEvent *event) override;
    void showEvent(QShowEvent *event) override;

private:
    void showPlot(int index);
    void fillPlaces();
    void describe();

    QStackedWidget *m_stack;
    LegendStrip *m_legend;
    std::vector<PairPlot *> m_plots;
    /// as `place` lists them
    std::vector<PlotPlace> m_places;
};

} // namespace trainyard
