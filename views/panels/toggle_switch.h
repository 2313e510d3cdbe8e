#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// An on/off switch, painted in the theme's colours. GUI thread.

#include <QAbstractButton>

namespace trainyard {

class ToggleSwitch : public QAbstractButton {
    Q_OBJECT
public:
    explicit ToggleSwitch(QWidget *parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override { return {34, 20}; }

protected:
    void paintEvent(QPaintEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;

Q_SIGNALS:
    void hovered(bool inside);
};

} // namespace trainyard
