#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One number: what it is, its value, its difference to the baseline. A click or the space key copies the value.
// The difference stands beside the name, where it has room whatever the value is and never moves. GUI thread.

#include "views/parts/text_line.h"

#include <QAbstractButton>

namespace trainyard {

/// of what is told of an earlier plan
inline constexpr double kStaleOpacity = 0.45;

class NumberCard : public QAbstractButton {
    Q_OBJECT
public:
    NumberCard(const QString &name, const QString &shortName, const QString &definition, QWidget *parent = nullptr);

    /// An empty value shows a dash. `detail` is a line added to the tooltip.
    void setNumber(const QString &value, Ink ink, const QString &detail);
    void setDifference(const QString &text, Ink ink);
    void setStale(bool stale);
    /// Whether the value leaves room for the difference on its own line; the strip asks all cards and treats them
    /// alike.

    [[nodiscard]] const QString &name() const { return m_name; }
    [[nodiscard]] const QString &value() const { return m_value; }
    [[nodiscard]] const QString &difference() const { return m_difference; }
    [[nodiscard]] Ink differenceInk() const { return m_differenceInk; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;

private:
    void copy();
    void describe();

    QString m_name, m_shortName, m_definition, m_detail, m_value, m_difference;
    Ink m_ink = Ink::Text, m_differenceInk = Ink::Muted;
    bool m_stale = false;
    /// reached by the keyboard
    bool m_showsFocus = false;
};

} // namespace trainyard
