#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How lists and number fields behave among panels that are steered by keys and scrolled by the wheel. What a person
// chose with the mouse gives the focus back to where it was, so that the next key goes there and does not choose again;
// the wheel scrolls the panel around a control and changes the control only while it has the focus; a double-click
// takes the whole number. One filter for every control of a window, those that are made later included. GUI thread.

#include <QObject>
#include <QPointer>
#include <QWidget>

class QComboBox;

namespace trainyard {

class ControlManners : public QObject {
    Q_OBJECT
public:
    /// Of all controls within `window`.
    explicit ControlManners(QWidget *window);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void teach(QComboBox *list);
    void remember(const QWidget *before, const QWidget *now);
    void giveBack();
    [[nodiscard]] bool isOurs(const QObject *object) const;

    QWidget *m_window;
    /// had the focus before the mouse gave it to a list
    QPointer<QWidget> m_before;
    /// the last focus was given by the mouse
    bool m_isMouse = false;
};

} // namespace trainyard
