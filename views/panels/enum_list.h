#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The values of an enum as a list to choose from, by their labels. GUI thread.

#include "core/facts/plan/enum_names.h"

#include <QComboBox>

#include <type_traits>

namespace trainyard {

/// All values in their order, with `now` chosen; `name` is what a screen reader calls the list.
template <NamedEnum E> [[nodiscard]] QComboBox *enumList(const QString &name, E now, QWidget *parent)
{
    auto *list = new QComboBox(parent);
    list->setAccessibleName(name);
    for (const EnumName &one : kNamesOf<E>)
        list->addItem(
            std::is_same_v<E, Precision> ? QString::fromUtf8(one.label).toUpper() : QString::fromUtf8(one.label));
    list->setCurrentIndex(int(now));
    return list;
}

} // namespace trainyard
