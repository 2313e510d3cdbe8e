#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// An on/off switch: a check box drawn as a sliding knob. Space and click toggle it. GUI thread.

#include <QAbstractButton>
#include <QVariantAnimation>

namespace trainyard {

class SwitchButton : public QAbstractButton {
    Q_OBJECT
public:
    explicit SwitchButton(QWidget *parent = nullptr);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    /// knob position, 0 off to 1 on
    QVariantAnimation m_slide;
};

} // namespace trainyard
