#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// "1.42 s, 1.31 to 1.55 s, calibrated": how far the iteration time is to be trusted, with bars as many as the label is
// good. A click or the space key asks for the evidence. GUI thread.

#include "core/evaluation/evaluate/evaluation.h"
#include "views/theme/text_width.h"

#include <QAbstractButton>

namespace trainyard {

class ConfidenceButton : public QAbstractButton {
    Q_OBJECT
public:
    explicit ConfidenceButton(QWidget *parent = nullptr);

    /// Null, or metrics without a label: nothing is shown. `evidence`: published rows that make the label; 0: unknown.
    /// `learned`: what the plan has taken from recordings, a line each.
    void setMetrics(const Metrics *metrics, int evidence, const QStringList &learned = {});
    void setStale(bool stale);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    int m_level = 0;
    bool m_stale = false;
    TextWidth m_width;
};

} // namespace trainyard
