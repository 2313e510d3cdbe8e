#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A combo box whose list shows, right of every value, what choosing it would do. The wheel scrolls the panel around it,
// never the value. GUI thread.

#include "views/panels/effect_text.h"

#include <QComboBox>

#include <vector>

namespace trainyard {

class EffectCombo : public QComboBox {
    Q_OBJECT
public:
    explicit EffectCombo(QWidget *parent = nullptr);

    /// Any number can be typed, not only chosen.
    void letType();
    /// A disabled item stays in the list and says why in its tooltip.
    void addValue(const QString &label, const QString &whyDisabled);
    void setEffect(int index, const EffectText &effect, const QString &tip);
    [[nodiscard]] EffectText effect(int index) const;
    /// the effect's story
    [[nodiscard]] QString tip(int index) const;

    void showPopup() override;
    void hidePopup() override;

Q_SIGNALS:
    /// after what was chosen in it, if anything, has been told
    void popupHidden();

protected:
    /// Undo belongs to the document unless a text has been typed and not entered.
    bool event(QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;

private:
    struct Told {
        EffectText effect;
        QString tip;
        bool operator==(const Told &) const = default;
    };
    void tell(int index);

    /// goes into the list's model when the list opens: nobody sees it before
    std::vector<Told> m_told;
    /// QComboBox hides the popup on other occasions as well
    bool m_isOpen = false;
};

} // namespace trainyard
