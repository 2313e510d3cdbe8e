// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/effect_combo.h"

#include "views/panels/effect_columns.h"
#include "views/panels/undo_keys.h"
#include "views/theme/theme.h"

#include <QAbstractItemView>
#include <QLineEdit>
#include <QPainter>
#include <QStandardItemModel>
#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QWheelEvent>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr int kComboSide = 8;
constexpr int kOwnMargin = 2; // pixels before the text of a line edit without a frame

int widthOf(const EffectText &effect, const QFontMetrics &metrics)
{
    return effect.hasColumns() ? effectWidths(metrics).all() : metrics.horizontalAdvance(effect.text);
}

class EffectDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const QFontMetrics metrics(option.font);
        return { metrics.horizontalAdvance(index.data().toString()) + widthOf(effectOf(index), metrics) + 4 * kComboSide
                + 16,
            metrics.height() + 10 };
    }

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const bool enabled = index.flags().testFlag(Qt::ItemIsEnabled);
        painter->save();
        painter->fillRect(option.rect,
            option.state.testFlag(QStyle::State_Selected) && enabled ? theme().accentSoft : theme().panelRaised);
        const QRect inner = option.rect.adjusted(kComboSide + 14, 0, -kComboSide, 0);
        const auto *combo = qobject_cast<const QComboBox *>(parent());
        painter->setFont(option.font);
        if (combo && combo->currentIndex() == index.row()) {
            painter->setPen(theme().accent);
            painter->drawText(
                option.rect.adjusted(kComboSide, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("✓"));
        }
        painter->setPen(enabled ? theme().text : theme().textFaint);
        painter->drawText(inner, Qt::AlignLeft | Qt::AlignVCenter, index.data().toString());
        if (const EffectText effect = effectOf(index); effect.hasColumns()) {
            paintEffect(*painter, inner, effect);
        } else {
            painter->setPen(inkColor(effect.ink));
            painter->drawText(inner, Qt::AlignRight | Qt::AlignVCenter, effect.text);
        }
        painter->restore();
    }

private:
    [[nodiscard]] EffectText effectOf(const QModelIndex &index) const
    {
        return static_cast<const EffectCombo *>(parent())->effect(index.row());
    }
};

} // namespace

EffectCombo::EffectCombo(QWidget *parent)
    : QComboBox(parent)
{
    setItemDelegate(new EffectDelegate(this));
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(6);
    setMaxVisibleItems(16);
    setFocusPolicy(Qt::StrongFocus);
}

void EffectCombo::letType()
{
    setEditable(true);
    setInsertPolicy(QComboBox::NoInsert);
    lineEdit()->setTextMargins(-kOwnMargin, 0, 0, 0); // begins where the text of a list does
    setCompleter(nullptr);
}

void EffectCombo::addValue(const QString &label, const QString &whyDisabled)
{
    addItem(label);
    const int index = count() - 1;
    m_told.resize(std::size_t(index)); // what was told of another value in its place is not of this one
    if (whyDisabled.isEmpty())
        return;
    qobject_cast<QStandardItemModel *>(model())->item(index)->setEnabled(false);
    setItemData(index, whyDisabled, Qt::ToolTipRole);
}

void EffectCombo::setEffect(int index, const EffectText &effect, const QString &tip)
{
    if (index < 0 || index >= count())
        return;
    m_told.resize(std::size_t(count()));
    Told told { effect, tip };
    if (m_told[std::size_t(index)] == told)
        return;
    m_told[std::size_t(index)] = std::move(told);
    if (m_isOpen)
        tell(index);
}

void EffectCombo::tell(int index)
{
    const auto &[effect, tip] = m_told[std::size_t(index)];
    if (!tip.isEmpty())
        setItemData(index, tip, Qt::ToolTipRole);
    setItemData(index, effect.text.isEmpty() ? itemText(index) : tr("%1, %2").arg(itemText(index), effect.text),
        Qt::AccessibleTextRole);
}

EffectText EffectCombo::effect(int index) const
{
    return index >= 0 && index < int(m_told.size()) ? m_told[std::size_t(index)].effect : EffectText {};
}

QString EffectCombo::tip(int index) const
{
    return index >= 0 && index < int(m_told.size()) ? m_told[std::size_t(index)].tip : QString();
}

void EffectCombo::showPopup()
{
    m_told.resize(std::size_t(count()));
    int widest = width();
    for (int i = 0; i < count(); ++i) {
        tell(i);
        widest = std::max(widest, fontMetrics().horizontalAdvance(itemText(i)) + widthOf(effect(i), fontMetrics()) + 8 * kComboSide);
    }
    view()->setMinimumWidth(widest);
    m_isOpen = true;
    QComboBox::showPopup();
}

void EffectCombo::hidePopup()
{
    QComboBox::hidePopup();
    if (!std::exchange(m_isOpen, false))
        return;
    QTimer::singleShot(0, this, &EffectCombo::popupHidden);
}

bool EffectCombo::event(QEvent *event)
{
    if (event->type() == QEvent::ShortcutOverride && lineEdit() && lineEdit()->text() == itemText(currentIndex())
        && isUndoKey(*static_cast<QKeyEvent *>(event))) {
        event->ignore();
        return true;
    }
    return QComboBox::event(event);
}

/// As QComboBox paints, but a text that has no room ends in an ellipsis instead of in the middle of a letter.
void EffectCombo::paintEvent(QPaintEvent *)
{
    QStylePainter painter(this);
    QStyleOptionComboBox option;
    initStyleOption(&option);
    const QRect field = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
    option.currentText = option.fontMetrics.elidedText(option.currentText, Qt::ElideRight, field.width() - 2);
    painter.drawComplexControl(QStyle::CC_ComboBox, option);
    painter.drawControl(QStyle::CE_ComboBoxLabel, option);
}

void EffectCombo::wheelEvent(QWheelEvent *event)
{
    event->ignore();
}

} // namespace trainyard
