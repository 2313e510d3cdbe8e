// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/compare_sides.h"

#include "models/session/session_document.h"
#include "models/text/foreign_text.h"
#include "views/run/run_colors.h"
#include "views/session/compare_page.h"
#include "views/session/variant_color.h"

#include <QComboBox>
#include <QStandardItemModel>

namespace trainyard {

void addRuns(QComboBox &list, const LoadedRuns &runs, qreal pixelRatio)
{
    for (const LoadedRun &run : runs.all()) {
        const QString state = run.run() ? ComparePage::tr("%1 (run)")
            : run.isReading             ? ComparePage::tr("%1 (being read)")
                                        : ComparePage::tr("%1 (not read)");
        list.addItem(variantDot(runColor(run.color), pixelRatio), state.arg(run.name),
            QString::fromStdString(ComparePage::keyOfRun(run.id)));
        if (run.run())
            continue;
        auto *items = qobject_cast<QStandardItemModel *>(list.model());
        QStandardItem *item = items ? items->item(list.count() - 1) : nullptr;
        if (!item)
            continue;
        item->setEnabled(false);
        if (!run.errors.empty())
            item->setToolTip(plainTip(QString::fromStdString(toString(run.errors.front()))));
    }
}

std::string idOfRun(const QComboBox &list)
{
    const std::string key = list.currentData().toString().toStdString(), prefix = ComparePage::keyOfRun({});
    return key.starts_with(prefix) ? key.substr(prefix.size()) : std::string();
}

ComparedSide sideOf(const QComboBox &list, const SessionDocument &session, const LoadedRuns &runs)
{
    if (const LoadedRun *run = runs.find(idOfRun(list)))
        return { run->name, nullptr, run->run(), run->step };
    const Variant *variant = session.value().variant(list.currentData().toString().toStdString());
    return { list.currentText(), variant ? variant->plan : nullptr, nullptr, std::nullopt };
}

} // namespace trainyard
