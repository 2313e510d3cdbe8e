#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The last line of the window: what a gesture under way would do, how long the evaluation took, how far it is to be
// trusted. GUI thread.

#include "core/evaluate/evaluation.h"

#include <QWidget>

class QLabel;

namespace trainyard {

class StatusLine : public QWidget {
    Q_OBJECT
public:
    explicit StatusLine(QWidget *parent = nullptr);

    void setEvaluation(const EvaluationPtr &evaluation);
    void setErrors(const Errors &errors);
    void setPreview(const QString &text);  // empty: none
    void setStale(bool isStale);
    [[nodiscard]] QString text() const;

signals:
    void problemsRequested();

protected:
    void mousePressEvent(QMouseEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    EvaluationPtr m_evaluation;
    QLabel *m_left, *m_right;
    QString m_preview, m_engine;
    bool m_isStale = false;
    void refresh();
};

} // namespace trainyard
