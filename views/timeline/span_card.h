#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The card beside the mouse that says what a span is. Takes no events, so that the chart under it stays reachable.

#include "core/timeline/timeline.h"

#include <QStringList>
#include <QWidget>

namespace trainyard {

class SpanCard : public QWidget {
    Q_OBJECT
public:
    explicit SpanCard(QWidget *parent);

    void setContent(WorkKind kind, const QString &title, const QStringList &facts);
    /// Beside `point`, inside the parent, clear of the span's own row where that can be.
    void showNear(QPoint point);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    [[nodiscard]] QSize contentSize() const;

    WorkKind m_kind = WorkKind::Forward;
    QString m_title;
    QStringList m_facts;
};

} // namespace trainyard
