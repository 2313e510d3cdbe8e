#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Swatch and name of a job in the legend of the timeline; checked while its spans stand out. GUI thread.

#include <QAbstractButton>

namespace trainyard {

struct JobEntry {
    int job = 0; // for its colour
    QString name, shortName; // shortName: what tells it from the others; empty: the name
    bool operator==(const JobEntry &) const = default;
};

class JobButton : public QAbstractButton {
    Q_OBJECT
public:
    JobButton(const JobEntry &entry, QWidget *parent);
    [[nodiscard]] int job() const { return m_job; }
    /// Another one stands out.
    void setFaded(bool faded);
    [[nodiscard]] QSize sizeHint() const override; // long names are elided

protected:
    void paintEvent(QPaintEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;

private:
    int m_job;
    bool m_isFaded = false;
    bool m_showsFocus = false; // only where the keyboard brought it
};

} // namespace trainyard
