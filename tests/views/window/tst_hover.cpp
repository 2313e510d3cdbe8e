// SPDX-License-Identifier: GPL-3.0-or-later
// What a value in a list shows while it is tried: the numbers of the very plan that choosing it makes, for every
// strategy of every sample; and what is not of the plan shown looks it.
#include "tests/support/test_program.h"
#include "tests/support/trials.h"
#include "window_fixture.h"

#include "views/panels/effect_columns.h"
#include "views/panels/effect_combo.h"
#include "views/panels/hover_button.h"
#include "views/panels/part_row.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/panels/why_panel.h"
#include "views/parts/text_line.h"
#include "views/theme/switch_button.h"

#include <QAbstractItemView>
#include <QDir>

using namespace trainyard;

namespace {

std::vector<StrategyRow *> rowsOf(WindowFixture &f)
{
    std::vector<StrategyRow *> rows;
    for (StrategyRow *row : f.window.workbench().strategies->findChildren<StrategyRow *>())
        if (row->isVisibleTo(f.window.workbench().strategies))
            rows.push_back(row);
    return rows;
}

/// The figures, without their differences to another plan.
QString figures(WindowFixture &f)
{
    QStringList lines = f.numbers().split(u'\n');
    for (QString &line : lines)
        line = line.section(u'\t', 0, 1);
    return lines.join(u'\n');
}

/// Until the worker has answered, be it with numbers or with a refusal.
void settleOrFail(WindowFixture &f)
{
    QVERIFY(test::until([&] { return !f.bridge.isStale(); }));
}

/// The pointer comes to a value: to a line of an open list, or to a switch.
void enter(StrategyRow &row, int value)
{
    if (row.list()) {
        emit row.list()->highlighted(value);
        return;
    }
    QEnterEvent event({}, {}, {});
    QApplication::sendEvent(row.toggle(), &event);
}

void leave(StrategyRow &row)
{
    QEvent event(QEvent::Leave);
    row.list() ? emit row.list()->popupHidden() : void(QApplication::sendEvent(row.toggle(), &event));
}

} // namespace

class HoverTest : public QObject {
    Q_OBJECT
private slots:
    void theNumbersOfAHoverAreThoseAfterTheDrop_data()
    {
        QTest::addColumn<QString>("sample");
        // One of each kind; scripts/trials takes them all but jobs, which have no strategies of one model, and all
        // systems at once, over which hundreds of hovers take a minute.
        const QStringList ofCtest { "atlas-three-datacenters", "cephalo-lab", "ssdtrain-bert-2xa100" };
        const bool hasAll = test::trials(1) > 1;
        for (const QString &file :
            QDir(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples")).entryList({ QStringLiteral("*.trainyard.json") }))
            if (hasAll ? !file.startsWith(QLatin1String("hydra")) && !file.startsWith(QLatin1String("all-systems"))
                       : ofCtest.contains(file.section(u'.', 0, -3)))
                QTest::newRow(qPrintable(file)) << file.section(u'.', 0, -3);
    }
    void theNumbersOfAHoverAreThoseAfterTheDrop()
    {
        QFETCH(QString, sample);
        WindowFixture f(sample);
        const QString origin = figures(f);
        int tried = 0;
        for (StrategyRow *row : rowsOf(f)) {
            for (std::size_t i = 0; i < row->alternatives().size(); ++i) {
                const Alternative alternative = row->alternatives()[i];
                if (alternative.isCurrent || !alternative.plan)
                    continue;
                const std::string what = alternative.id;
                enter(*row, int(i));
                QVERIFY2(f.document.isPreviewing(), what.c_str());
                settleOrFail(f);
                const QString hovered = figures(f);
                leave(*row); // everything as it was
                settleOrFail(f);
                QCOMPARE(figures(f), origin);
                // The drop is evaluated anew: another value of the same plan, not the one the window remembers.
                f.document.apply(std::make_shared<const Plan>(*alternative.plan));
                settleOrFail(f);
                QVERIFY2(figures(f) == hovered,
                    qPrintable(QStringLiteral("%1: hover\n%2\ndrop\n%3")
                                   .arg(QString::fromStdString(what), hovered, figures(f))));
                f.document.undoStack().undo();
                settleOrFail(f);
                ++tried;
            }
        }
        QVERIFY(tried > 3);
    }
    void whatIsNotOfThePlanShownLooksIt()
    {
        WindowFixture f;
        Workbench &bench = f.window.workbench();
        const auto parts = [&] {
            std::vector<PartRow *> rows;
            for (PartRow *row : bench.why->findChildren<PartRow *>())
                if (row->isVisible())
                    rows.push_back(row);
            return rows;
        };
        QTRY_VERIFY_WITH_TIMEOUT(parts().size() >= 3, 30000);
        StrategyRow *row = bench.strategies->row("schedule");
        QTRY_VERIFY_WITH_TIMEOUT(!row->effectLine()->text().isEmpty() && !row->effectLine()->isDimmed(), 30000);
        emit row->list()->highlighted(0); // GPipe: the plan has 1F1B
        f.settle();
        QVERIFY(row->effectLine()->isDimmed());
        for (PartRow *part : parts())
            QVERIFY(part->changeLine()->isDimmed());
        emit row->list()->popupHidden();
        f.settle();
        QVERIFY(!row->effectLine()->isDimmed());
        for (PartRow *part : parts())
            QVERIFY(!part->changeLine()->isDimmed());
    }
};

TRAINYARD_TEST(HoverTest)
#include "tst_hover.moc"
