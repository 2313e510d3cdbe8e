#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Swatch and name of a job in the legend of the timeline; checked while its spans stand out. GUI thread.

#include <QAbstractButton>

namespace trainyard {

struct JobEntry {
    /// for its colour
    int job = 0;
    /// shortName: what tells it from the others; empty: the name
    QString name, shortName;
    bool operator==(const JobEntry &) const = default;
};

class JobButton : public QAbstractButton {
    Q_OBJECT
public:
    JobButton(const JobEntry &entry, QWidget *parent);
    [[nodiscard]] int job() const { return m_job; }
    /// Another one stands out.
    void setFaded(bool faded);
    /// long names are elided
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;

private:
    int m_job;
    bool m_isFaded = false;
    /// only where the keyboard brought it
    bool m_showsFocus = false;
};

} // namespace trainyard
