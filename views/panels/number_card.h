#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One number: what it is, its value, its difference to the baseline. A click or the space key copies the value.
// The difference stands beside the name, where it has room whatever the value is and never moves. GUI thread.

#include "views/parts/text_line.h"
#include "views/theme/text_width.h"

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
    /// `against`: what the difference is to, "your plan", for the tooltip; beside the value too where `isNamed`.
    void setDifference(const QString &text, Ink ink, const QString &against, bool isNamed);
    void setStale(bool stale);

    [[nodiscard]] const QString &name() const { return m_name; }
    [[nodiscard]] const QString &value() const { return m_value; }
    [[nodiscard]] const QString &difference() const { return m_difference; }
    /// "vs your plan"; empty where it does not stand beside the value
    [[nodiscard]] QString againstText() const;
    [[nodiscard]] Ink differenceInk() const { return m_differenceInk; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;

private:
    void copy();
    void describe();

    QString m_name, m_shortName, m_definition, m_detail, m_value, m_difference, m_against;
    Ink m_ink = Ink::Text, m_differenceInk = Ink::Muted;
    bool m_stale = false, m_isNamed = false;
    /// reached by the keyboard
    bool m_showsFocus = false;
    struct Widths {
        TextWidth name, shortName, difference, value, against;
    };
    Widths m_widths;
};

} // namespace trainyard
