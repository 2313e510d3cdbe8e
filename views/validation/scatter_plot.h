#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Predicted against published on logarithmic axes, one mark a figure: on the diagonal the model is right, within the
// band it is off by at most a tenth. Hovering names a row, a click or the arrow keys choose one. GUI thread.

#include "models/validation/validated_rows.h"

#include <QWidget>

class QCustomPlot;
class QCPItemEllipse;

namespace trainyard {

class ScatterPlot : public QWidget {
    Q_OBJECT
public:
    static constexpr double kBand = 0.1;

    explicit ScatterPlot(QWidget *parent = nullptr);
    ~ScatterPlot() override;

    /// Marks of these results (places among the run's), which share a quantity.
    void setPoints(ValidatedRowsPtr rows, std::vector<int> results, FigureKind kind);
    /// Said where there is nothing to draw.
    void setEmptyText(const QString &text);
    /// Rings a result; -1: none.
    void setCurrent(int result);
    [[nodiscard]] int current() const { return m_current; }
    [[nodiscard]] const std::vector<int> &points() const { return m_results; }
    /// Where the mark of a result is, in this widget's pixels; nothing where it is not drawn.
    [[nodiscard]] std::optional<QPointF> positionOf(int result) const;
    [[nodiscard]] QCustomPlot &chart() { return *m_plot; }
    [[nodiscard]] static QString describe(const ValidationResult &result);
    void showAll();

signals:
    void pointChosen(int result);
    void pointActivated(int result); // double-clicked, or Enter
    void saveRequested();

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void draw();
    void drawBand(double from, double to);
    void drawMarks();
    void styleAxes();
    void placeRing();
    void hover(QPoint position);
    void choose(int result);
    [[nodiscard]] int nearest(QPointF position) const; // -1: none is near

    QCustomPlot *m_plot;
    QCPItemEllipse *m_ring = nullptr; // the plot's
    ValidatedRowsPtr m_rows;
    std::vector<int> m_results;
    FigureKind m_kind = FigureKind::Time;
    QString m_empty;
    QPoint m_pressed;
    int m_current = -1;
    double m_low = 0.1, m_high = 10; // of both axes, all in sight
};

} // namespace trainyard
