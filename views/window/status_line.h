#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The last line of the window: what a gesture under way would do, how long the evaluation took, how far it is to be
// trusted. GUI thread.

#include "core/base/error.h"
#include "core/evaluate/evaluation.h"

#include <QWidget>

#include <optional>

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
    void refresh();
    [[nodiscard]] QString verdict() const;

    EvaluationPtr m_evaluation;            // null where it failed
    std::optional<Errors> m_errors;        // why it failed
    QLabel *m_left, *m_right;
    QString m_preview;
    bool m_isStale = false;
};

} // namespace trainyard
