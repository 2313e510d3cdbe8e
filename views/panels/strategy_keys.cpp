// SPDX-License-Identifier: GPL-3.0-or-later
// Going to a key of the strategy panel by its path.
#include "views/panels/effect_combo.h"
#include "views/panels/file_row.h"
#include "views/panels/number_row.h"
#include "views/panels/scroll_anchor.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/parts/panel_parts.h"
#include "views/theme/switch_button.h"

#include <QDoubleSpinBox>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>

namespace trainyard {

namespace {

constexpr int kRoomAroundKey = 40; // pixels

QWidget *controlOf(QWidget *row)
{
    if (const auto *strategy = qobject_cast<const StrategyRow *>(row))
        return strategy->list() ? static_cast<QWidget *>(strategy->list()) : strategy->toggle();
    if (const auto *number = qobject_cast<const NumberRow *>(row))
        return number->box();
    const auto *file = qobject_cast<const FileRow *>(row);
    return file ? file->button() : nullptr;
}

} // namespace

std::vector<std::string> StrategyPanel::keys() const
{
    std::vector<std::string> found;
    for (const Section &section : m_sections)
        for (const auto &[entry, row] : section.rows) {
            const bool isFolded = entry->isAdvanced && !section.more->isHidden() && !section.more->isChecked()
                && entry->row->applies(*m_shownPlan);
            if (!row->isHidden() || isFolded)
                found.push_back(entry->row->path);
        }
    return found;
}

bool StrategyPanel::goToKey(const std::string &path)
{
    for (const Section &section : m_sections)
        for (const auto &[entry, row] : section.rows) {
            if (entry->row->path != path)
                continue;
            if (row->isHidden() && entry->isAdvanced && !section.more->isHidden())
                section.more->setChecked(true);
            QWidget *control = controlOf(row);
            if (row->isHidden() || !control)
                return false;
            control->setFocus(Qt::ShortcutFocusReason);
            static_cast<QScrollArea *>(m_anchor->parent())->ensureWidgetVisible(row, 0, kRoomAroundKey);
            return true;
        }
    return false;
}

} // namespace trainyard
