#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The card beside the mouse that says what a span is. Takes no events, so that the chart under it stays reachable.

#include "views/timeline/operation_strip.h"

#include <QStringList>
#include <QWidget>

namespace trainyard {

class SpanCard : public QWidget {
    Q_OBJECT
public:
    explicit SpanCard(QWidget *parent);

    void setContent(const QColor &stripe, const QString &title, const QStringList &facts);
    /// Below the facts: what the span consists of, and which of it the pointer is on.
    void setParts(const std::vector<PartLine> &parts, std::size_t pointed);
    /// as it is read, a line each
    [[nodiscard]] QString text() const;
    /// Beside `point`, inside the parent, clear of the span's own row where that can be.
    void showNear(QPoint point);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    [[nodiscard]] QSize contentSize() const;
    void paintParts(QPainter &painter, QRect line) const;

    QColor m_stripe;
    QString m_title;
    QStringList m_facts;
    std::vector<PartLine> m_parts;
    std::size_t m_pointed = 0;
};

} // namespace trainyard
