#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Goes through the steps of a run: a slider with the arrow keys, a field for a step's number, and buttons to the one
// before, the next, the typical and the slowest. Emits what was chosen, changes nothing. GUI thread.

#include "models/run_document.h"

#include <QSpinBox>
#include <QWidget>

class QPushButton;
class QSlider;
class QToolButton;

namespace trainyard {

/// Numbers of steps that there are; others become the nearest of them.
class StepField : public QSpinBox {
    Q_OBJECT
public:
    explicit StepField(QWidget *parent = nullptr);
    void setRun(const RunPtr &run);
    void showIndex(int index);
    /// What is typed is no step yet: of a live run steps come meanwhile.
    [[nodiscard]] bool isTyping() const { return hasFocus() && text() != textFromValue(value()); }

signals:
    void indexChosen(int index);

protected:
    void stepBy(int steps) override;
    StepEnabled stepEnabled() const override;

private:
    /// the nearest
    [[nodiscard]] int indexOf(int number) const;

    RunPtr m_run;
    int m_index = -1;
    bool m_isTelling = false;
};

class StepScrubber : public QWidget {
    Q_OBJECT
public:
    /// compact: without typical and slowest
    enum class Size { Full, Compact };
    StepScrubber(RunDocument &runs, Size size, QWidget *parent = nullptr);

    QSlider *const slider;
    StepField *const field;
    QToolButton *const previous, *const next;
    QPushButton *const typical, *const slowest;

private:
    void showRun();
    void showStep();
    void choose(int index);

    RunDocument &m_runs;
    int m_index = -1;
};

} // namespace trainyard
