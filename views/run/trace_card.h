#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The trace of the run in a timeline of its own, behind a tab of its page: it needs no plan. Operators and calls of
// the host, which most traces have more of than of kernels, are read when they are asked for. GUI thread.

#include "models/run_profile.h"

#include <QWidget>

class QCheckBox;

namespace trainyard {

class TextLine;
class TraceChart;

class TraceCard : public QWidget {
    Q_OBJECT
public:
    explicit TraceCard(RunProfile &profile, QWidget *parent = nullptr);

    QCheckBox *const host;
    TraceChart *const chart;
    [[nodiscard]] QString summary() const;

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void refresh();

    RunProfile &m_profile;
    TextLine *m_summary;
};

} // namespace trainyard
