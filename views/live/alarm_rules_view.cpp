// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/alarm_rules_view.h"

#include "models/live_words.h"
#include "views/export/panel_menu.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace trainyard {

AlarmRulesView::AlarmRulesView(LiveDocument &live, QWidget *parent)
    : QWidget(parent)
    , read(new QPushButton(tr("Read rules…"), this))
    , m_live(live)
    , m_origin(wrappedLine(Ink::Muted, this))
{
    setAccessibleName(tr("Rules of alarms"));
    m_origin->setFont(uiFont(-1));
    auto *top = new QHBoxLayout;
    top->addWidget(m_origin, 1);
    top->addWidget(read, 0, Qt::AlignTop);
    auto *grid = new QGridLayout;
    grid->setVerticalSpacing(1);
    grid->setHorizontalSpacing(Theme::kPad);
    grid->setColumnStretch(0, 1);
    for (const watch::RuleTraits &traits : watch::ruleTraits()) {
        const auto row = static_cast<std::size_t>(traits.id);
        for (int column = 0; column < 3; ++column) {
            TextLine *cell = new TextLine({}, column == 0 ? Ink::Text : Ink::Muted, this);
            cell->setFont(uiFont(-1));
            cell->setToolTip(QString::fromUtf8(traits.meaning));
            grid->addWidget(cell, int(row), column);
            m_cells[row][std::size_t(column)] = cell;
        }
    }
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(top);
    column->addLayout(grid);
    setPanelTable(this, [this] { return toTsv(); });
    connect(&live, &LiveDocument::alarmOptionsChanged, this, &AlarmRulesView::refresh);
    refresh();
}

void AlarmRulesView::refresh()
{
    const LiveAlarmOptions &options = m_live.alarmOptions();
    for (const watch::RuleTraits &traits : watch::ruleTraits()) {
        const QStringList row = ruleRow(traits, options.setup.rules);
        for (int column = 0; column < 3; ++column)
            m_cells[static_cast<std::size_t>(traits.id)][std::size_t(column)]->setText(row[column]);
    }
    QStringList notified;
    for (const desk::NotifyTarget &target : options.setup.targets)
        notified << QString::fromStdString(target.name());
    QStringList parts { options.file.empty() ? tr("The usual rules")
                                             : tr("Rules of %1").arg(QString::fromStdString(options.file)) };
    parts << (notified.isEmpty() ? tr("nobody is notified")
                                 : tr("notified: %1").arg(notified.join(QStringLiteral(", "))));
    if (!options.logPath.empty())
        parts << tr("log: %1").arg(QString::fromStdString(options.logPath));
    m_origin->setText(parts.join(QStringLiteral("  ·  ")));
}

QString AlarmRulesView::toTsv() const
{
    QString text = tr("rule\tthreshold\thold") + u'\n';
    for (const auto &row : m_cells)
        text += row[0]->text() + u'\t' + row[1]->text() + u'\t' + row[2]->text() + u'\n';
    return text;
}

QString AlarmRulesView::origin() const
{
    return m_origin->text();
}

} // namespace trainyard
