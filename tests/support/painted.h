#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of widgets: waits for a painting, which comes behind all layouts and replots that were put off before it.

#include "tests/support/until.h"

#include <QCoreApplication>
#include <QEvent>
#include <QTest>
#include <QWidget>

namespace trainyard::test {

/// Paint events of a widget, from when it was made.
class PaintsOf : public QObject {
public:
    explicit PaintsOf(QWidget &widget) { widget.installEventFilter(this); }
    [[nodiscard]] int count() const { return m_count; }

protected:
    bool eventFilter(QObject *, QEvent *event) override
    {
        m_count += event->type() == QEvent::Paint;
        return false;
    }

private:
    int m_count = 0;
};

/// Until the widget has been painted once more, and with it what else in its window was to be painted.
inline void untilPainted(QWidget &widget)
{
    QCoreApplication::processEvents();
    const PaintsOf paints(widget);
    widget.update();
    QVERIFY(until([&] { return paints.count() > 0; }));
}

} // namespace trainyard::test
