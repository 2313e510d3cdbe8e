#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Predicted against published on logarithmic axes, one mark a figure: on the diagonal the model is right, within the
// band it is off by at most a tenth. Hovering names a row, a click or the arrow keys choose one. GUI thread.

#include "models/validation/validated_rows.h"
#include "views/plots/point_plot.h"

namespace trainyard {

class ScatterPlot : public PointPlot {
    Q_OBJECT
public:
    static constexpr double kBand = 0.1;

    explicit ScatterPlot(QWidget *parent = nullptr);

    /// Marks of these results (places among the run's), which share a quantity.
    void setPoints(ValidatedRowsPtr rows, std::vector<int> results, FigureKind kind);
    /// Said where there is nothing to draw.
    void setEmptyText(const QString &text);
    [[nodiscard]] const std::vector<int> &points() const { return m_results; }
    [[nodiscard]] std::optional<QPointF> positionOf(int result) const override;
    [[nodiscard]] int nearest(QPointF position) const override;
    [[nodiscard]] QCustomPlot &chart() { return *m_plot; }
    [[nodiscard]] static QString describe(const ValidationResult &result);
    void showAll() override;

signals:
    void saveRequested();

protected:
    void draw() override;
    [[nodiscard]] std::vector<int> keyOrder() const override { return m_results; }
    [[nodiscard]] QString tipOf(int result) const override { return describe(m_rows->results()[std::size_t(result)]); }
    void contextMenuEvent(QContextMenuEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

private:
    void drawBand(double from, double to);
    void drawMarks();
    void styleAxes();

    ValidatedRowsPtr m_rows;
    std::vector<int> m_results;
    FigureKind m_kind = FigureKind::Time;
    QString m_empty;
    /// of both axes, all in sight
    double m_low = 0.1, m_high = 10;
};

} // namespace trainyard
