#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A line over the pages while another plan is tried in place of the document's: what it changes, with buttons that
// adopt it or go back. GUI thread.

#include "models/plan_document.h"

#include <QWidget>

class QPushButton;

namespace trainyard {

class TextLine;

class TrialStrip : public QWidget {
    Q_OBJECT
public:
    explicit TrialStrip(PlanDocument &document, QWidget *parent = nullptr);

    QPushButton *const adopt, *const back;
    [[nodiscard]] QString text() const;

Q_SIGNALS:
    void backRequested();

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    void refresh();

    PlanDocument &m_document;
    TextLine *m_title, *m_text;
};

} // namespace trainyard
