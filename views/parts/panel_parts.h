#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The pieces that all panels are laid out from: the heading with its note, and section titles in small capitals with a
// rule. GUI thread.

#include "views/parts/text_line.h"

class QVBoxLayout;

namespace trainyard {

/// "Strategies                         effect if switched"
class PanelHeading : public QWidget {
    Q_OBJECT
public:
    PanelHeading(const QString &title, const QString &note, QWidget *parent = nullptr);
    TextLine *title, *note;
};

/// "EXPERTS ———————— affects convergence"
class SectionTitle : public QWidget {
    Q_OBJECT
public:
    explicit SectionTitle(const QString &title, const QString &note = {}, QWidget *parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    /// Pixels at the right that the rule leaves to what a derived class writes there.
    void setReserved(int pixels) { m_reserved = pixels; }
    /// Where title and rule stand.
    [[nodiscard]] QRect titleRect() const;

private:
    QString m_title, m_note;
    int m_reserved = 0;
};

/// A vertical layout with the padding that panels share.
QVBoxLayout *panelLayout(QWidget *panel);

/// Paints the surface of a card or panel: the theme's panel colour with a hairline border and rounded corners.
void paintCard(QPainter &painter, const QRect &rect, const QColor &fill, const QColor &border);

/// Deletes all widgets of a layout when control returns to the event loop (they may be the sender of what is handled).
void clearLayout(QVBoxLayout *layout);

} // namespace trainyard
