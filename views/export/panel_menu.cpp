// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/export/panel_menu.h"

#include "views/export/panel_picture.h"
#include "views/parts/text_line.h"

#include <QAbstractButton>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPointer>
#include <QSpinBox>

#include <algorithm>
#include <vector>

namespace trainyard {

namespace {

/// A panel's table, hung onto the panel.
class PanelTable : public QObject {
public:
    PanelTable(QWidget *panel, std::function<QString()> toTsv)
        : QObject(panel)
        , m_toTsv(std::move(toTsv))
    {
    }
    [[nodiscard]] QString toTsv() const { return m_toTsv(); }

private:
    std::function<QString()> m_toTsv;
};

const PanelTable *tableOf(const QWidget *panel)
{
    for (QObject *child : panel->children()) {
        if (const auto *table = dynamic_cast<PanelTable *>(child))
            return table;
    }
    return nullptr;
}

QString shownText(const QWidget *widget)
{
    if (const auto *line = qobject_cast<const TextLine *>(widget))
        return line->text();
    if (const auto *label = qobject_cast<const QLabel *>(widget))
        return label->text();
    if (const auto *box = qobject_cast<const QComboBox *>(widget))
        return box->currentText();
    if (const auto *box = qobject_cast<const QAbstractSpinBox *>(widget))
        return const_cast<QAbstractSpinBox *>(box)->text();
    if (const auto *field = qobject_cast<const QLineEdit *>(widget))
        return field->text();
    if (const auto *button = qobject_cast<const QAbstractButton *>(widget)) {
        if (!button->text().isEmpty())
            return button->text().remove(u'&');
        return button->isCheckable() ? (button->isChecked() ? QObject::tr("on") : QObject::tr("off")) : QString();
    }
    return {};
}

struct Cell {
    QRect place;
    QString text;
};

void collect(const QWidget *widget, const QWidget *panel, std::vector<Cell> &cells)
{
    if (widget != panel && !widget->isVisibleTo(panel))
        return;
    if (const PanelTable *table = widget == panel ? nullptr : tableOf(widget)) {
        cells.push_back({ QRect(widget->mapTo(panel, QPoint()), widget->size()), table->toTsv().trimmed() });
        return;
    }
    const QString text = shownText(widget).simplified();
    if (!text.isEmpty())
        cells.push_back({ QRect(widget->mapTo(panel, QPoint()), widget->size()), text });
    if (widget != panel && (qobject_cast<const QComboBox *>(widget) || qobject_cast<const QAbstractSpinBox *>(widget)))
        return; // the field inside says the same
    for (const QObject *child : widget->children()) {
        if (const auto *inside = qobject_cast<const QWidget *>(child); inside && !inside->isWindow())
            collect(inside, panel, cells);
    }
}

/// Cells whose middles lie in each other's height stand in one line.
QString inLines(std::vector<Cell> cells)
{
    std::ranges::stable_sort(cells, {}, [](const Cell &cell) { return cell.place.center().y(); });
    QStringList lines;
    for (std::size_t i = 0; i < cells.size();) {
        std::size_t end = i + 1;
        while (end < cells.size()
            && cells[end].place.center().y() - cells[i].place.center().y()
                < std::min(cells[i].place.height(), cells[end].place.height()) / 2)
            ++end;
        std::sort(cells.begin() + std::ptrdiff_t(i), cells.begin() + std::ptrdiff_t(end),
            [](const Cell &a, const Cell &b) { return a.place.left() < b.place.left(); });
        QStringList line;
        for (; i < end; ++i)
            line << cells[i].text;
        lines << line.join(u'\t');
    }
    return lines.isEmpty() ? QString() : lines.join(u'\n') + u'\n';
}

} // namespace

void setPanelTable(QWidget *panel, std::function<QString()> toTsv)
{
    new PanelTable(panel, std::move(toTsv));
}

QString panelTsv(const QWidget *panel)
{
    if (const PanelTable *table = tableOf(panel))
        return table->toTsv();
    std::vector<Cell> cells;
    collect(panel, panel, cells);
    return inLines(std::move(cells));
}

void showPanelMenu(QWidget *panel, QPoint globalPosition)
{
    auto *menu = new QMenu(panel); // shown without blocking, so that tests can drive it
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const QString table = panelTsv(panel);
    QAction *copy = menu->addAction(QObject::tr("Copy table as TSV"));
    copy->setEnabled(!table.isEmpty());
    QObject::connect(copy, &QAction::triggered, panel, [table] { QApplication::clipboard()->setText(table); });
    menu->addSeparator();
    addPictureActions(*menu, panel, panel->accessibleName());
    menu->popup(globalPosition);
}

} // namespace trainyard
