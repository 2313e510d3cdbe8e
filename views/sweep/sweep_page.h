#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A file of rows that a sweep wrote: what it holds, a scatter over two of its columns with the front, and all columns
// side by side with brushes that filter both. Trying a row's plan is the window's. GUI thread.

#include "models/sweep_results.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace trainyard {

class ParallelAxes;
class SweepScatter;
class TextLine;

class SweepPage : public QWidget {
    Q_OBJECT
public:
    explicit SweepPage(SweepResults &results, QWidget *parent = nullptr);

    QPushButton *const back, *const open, *const clear, *const tryIt;
    QToolButton *const picture;
    QComboBox *const x, *const y, *const color;
    SweepScatter *const scatter;
    ParallelAxes *const axes;

    /// The row that is chosen; -1: none.
    [[nodiscard]] int current() const;
    [[nodiscard]] QString resultLine() const;
    /// what stands where there are no rows
    [[nodiscard]] QString emptyLine() const;
    /// how many rows are within the brushes
    [[nodiscard]] QString shownLine() const;
    /// what the chosen row is
    [[nodiscard]] QString rowLine() const;

Q_SIGNALS:
    void closed();
    void openRequested();
    void tryRequested(int row);

protected:
    void changeEvent(QEvent *event) override;

private:
    void arrange();
    void nameMarks();
    void wire();
    void fill();
    void choose(int row);
    void showColumns();
    void showFilter();
    [[nodiscard]] QString toTsv() const;

    SweepResults &m_results;
    TextLine *m_title, *m_file, *m_result, *m_shown, *m_row, *m_empty;
    QLabel *m_legend;
    QWidget *m_body, *m_nothing;
    bool m_isFilling = false;
};

} // namespace trainyard
