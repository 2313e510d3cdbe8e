#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A chart of marks, each a thing by its number: hovering names one, a click or the arrow keys choose one and ring it, a
// double click or Enter asks for it, a double click beside all shows all. What the marks are, subclasses say. GUI
// thread.

#include <QWidget>

#include <optional>
#include <vector>

class QCPItemEllipse;
class QCustomPlot;

namespace trainyard {

class PointPlot : public QWidget {
    Q_OBJECT
public:
    ~PointPlot() override;

    /// Rings a mark; -1: none.
    void setCurrent(int point);
    [[nodiscard]] int current() const { return m_current; }
    /// Where a mark is, in this widget's pixels; nothing where it is not drawn.
    [[nodiscard]] virtual std::optional<QPointF> positionOf(int point) const = 0;
    /// -1: none within reach
    [[nodiscard]] virtual int nearest(QPointF position) const = 0;
    virtual void showAll() = 0;

signals:
    void pointChosen(int point);
    /// double-clicked, or Enter
    void pointActivated(int point);

protected:
    /// pixels
    static constexpr double kReach = 12;

    /// `ringSize`: pixels.
    PointPlot(double ringSize, QSize least, QWidget *parent);

    virtual void draw() = 0;
    /// What the arrow keys go through, in their order.
    [[nodiscard]] virtual std::vector<int> keyOrder() const = 0;
    [[nodiscard]] virtual QString tipOf(int point) const = 0;

    /// Takes all marks away; `isEmpty`: and the axes.
    void beginDrawing(bool isEmpty);
    /// On top of all that was drawn so far.
    void addRing();

    void keyPressEvent(QKeyEvent *event) override;
    void changeEvent(QEvent *event) override;

    QCustomPlot *m_plot;

private:
    void placeRing();
    void hover(QPoint position);
    void choose(int point);

    const double m_ringSize;
    /// the plot's
    QCPItemEllipse *m_ring = nullptr;
    QPoint m_pressed;
    int m_current = -1;
};

} // namespace trainyard
