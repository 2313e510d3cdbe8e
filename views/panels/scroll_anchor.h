#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps a widget at the upper edge of the scroll area around it, whatever comes and goes above it, until someone
// scrolls or goes into the area with keyboard or mouse. GUI thread; it belongs to the area.

#include <QObject>
#include <QPointer>

class QScrollArea;
class QWidget;

namespace trainyard {

class ScrollAnchor : public QObject {
    Q_OBJECT
public:
    explicit ScrollAnchor(QScrollArea *area);
    void hold(QWidget *widget);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void release();
    void follow();

    QScrollArea *m_area;
    QPointer<QWidget> m_held;
};

} // namespace trainyard
