#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Asks how many GPUs to move where the map shows no single ones. A child of the map, no window of its own; every change
// of the number is a new preview. GUI thread.

#include <QWidget>

class QLabel;
class QSpinBox;

namespace trainyard {

class AmountPopup : public QWidget {
    Q_OBJECT

public:
    explicit AmountPopup(QWidget *parent);

    /// Shows the question near a point of the parent: "Move [64] of 5,632 GPUs Oregon → Iowa".
    void ask(QPoint at, int amount, int most, int step, const QString &where);
    /// What the previewed plan brings, below the question.
    void setVerdict(const QString &text, const QColor &colour);

signals:
    void amountChanged(int gpus);
    void answered(int gpus);
    void dismissed();

protected:
    void paintEvent(QPaintEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    QSpinBox *m_amount;
    QLabel *m_where, *m_verdict;
};

} // namespace trainyard
