#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One quantity over the steps of a run, dashed what the plan says, paler the run that it is compared with; a line marks
// the step that is shown. A click or the arrow keys choose another. Other runs may be drawn with it, each in its
// colour. GUI thread.

#include "core/runs/overlay/run_overlay.h"

#include <QColor>
#include <QPointer>
#include <QWidget>

class QCustomPlot;
class QPen;

namespace trainyard {

/// Another run in the same chart.
struct PlottedRun {
    QString name;
    QColor color;
    RunCurve curve;
};
/// The times of its steps; kStepTime.
[[nodiscard]] RunCurve stepTimesOf(const Run &run);

class RunPlot : public QWidget {
    Q_OBJECT
public:
    explicit RunPlot(QWidget *parent = nullptr);
    ~RunPlot() override;

    /// Curves of one name: of the job, or of its ranks and hosts. They lie in `overlay` and in the reference's.
    void setCurves(const RunOverlayPtr &overlay, const std::string &name, const std::vector<RunCurve> &reference);
    /// Runs that are drawn with it, and what it is itself called and coloured among them; none: it is alone.
    void setOthers(std::vector<PlottedRun> others, const QString &name, const QColor &color);
    [[nodiscard]] const std::vector<PlottedRun> &others() const { return m_others; }
    /// that the line marks
    void setStep(std::optional<std::int64_t> number);
    /// Steps on the x axis, so that charts below each other agree; empty: those of the curves.
    void setRange(double from, double to);

    /// Their y axes are one below the other, whichever has the longer figures.
    void alignWith(RunPlot &other);

    [[nodiscard]] const std::string &name() const { return m_name; }
    [[nodiscard]] QCustomPlot &chart() { return *m_plot; }
    /// Where a step's value is, in this widget's pixels; nullopt where the curve has none.
    [[nodiscard]] std::optional<QPointF> positionOf(std::int64_t step) const;
    [[nodiscard]] QString describe(double step) const;
    [[nodiscard]] QString toTsv() const;

Q_SIGNALS:
    void stepChosen(qint64 number);

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void changeEvent(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;

private:
    void draw();
    void drawCurves();
    /// with the largest of their values
    double drawOthers();
    void addGraph(const RunCurve &curve, const QPen &pen, bool hasDots);
    void drawOutliers();
    void drawMarks();
    void drawPrediction(const RunCurve &main);
    /// of the run that it is compared with; "plan"
    [[nodiscard]] QString referenceName() const;
    void fitFigures();
    [[nodiscard]] const RunCurve *first() const;
    /// its x axis has seconds, not steps
    [[nodiscard]] bool isOverTime() const;
    /// of its own curve
    [[nodiscard]] std::optional<double> nearestStep(double x) const;
    /// of any curve
    [[nodiscard]] std::optional<double> nearestOfAll(double x) const;
    void showFocus(bool has);

    QCustomPlot *m_plot;
    RunOverlayPtr m_overlay;
    std::string m_name;
    /// of this name
    std::vector<RunCurve> m_reference;
    std::vector<PlottedRun> m_others;
    QString m_ownName;
    QColor m_ownColor;
    std::optional<std::int64_t> m_step;
    double m_from = 0, m_to = 0;
    /// that it is aligned with
    QPointer<RunPlot> m_other;
    /// pixels that its figures need
    int m_left = 0;
};

} // namespace trainyard
