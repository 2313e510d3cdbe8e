#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The last line of the window: what a gesture under way would do, how long the evaluation took, how far it is to be
// trusted. GUI thread.

#include "core/base/error.h"
#include "core/evaluation/evaluate/evaluation.h"

#include <QWidget>

#include <optional>

class QLabel;

namespace trainyard {

class ConfidenceButton;

class StatusLine : public QWidget {
    Q_OBJECT
public:
    explicit StatusLine(QWidget *parent = nullptr);

    /// `evidence`: published rows that the confidence rests on; 0: unknown. `wasKnown`: nothing was evaluated for it
    /// now, so that nothing took any time.
    void setEvaluation(const EvaluationPtr &evaluation, int evidence = 0, bool wasKnown = false);
    void setErrors(const Errors &errors);
    /// empty: none
    void setPreview(const QString &text);
    void setStale(bool isStale);
    [[nodiscard]] QString text() const;
    [[nodiscard]] ConfidenceButton &confidence() { return *m_confidence; }

signals:
    void problemsRequested();
    void validationRequested();

protected:
    void mousePressEvent(QMouseEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void refresh();
    [[nodiscard]] QString verdict() const;

    /// null where it failed
    EvaluationPtr m_evaluation;
    /// why it failed
    std::optional<Errors> m_errors;
    QLabel *m_left, *m_right;
    ConfidenceButton *m_confidence;
    int m_evidence = 0;
    QString m_preview;
    bool m_isStale = false, m_wasKnown = false;
};

} // namespace trainyard
