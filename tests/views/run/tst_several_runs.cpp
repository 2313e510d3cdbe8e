// SPDX-License-Identifier: GPL-3.0-or-later
// Several runs in one chart with their history: each in its colour, named by a chip that shows or closes it.
#include "small_run.h"
#include "tests/support/test_program.h"
#include "tests/support/until.h"

#include "models/loaded_runs.h"
#include "views/plots/vector_plot.h"
#include "views/run/run_chips.h"
#include "views/run/run_colors.h"
#include "views/run/run_page.h"
#include "views/run/run_plot.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QToolTip>

#include <cmath>

using namespace trainyard;
using trainyard::testing::SmallRun;

namespace {

struct Page {
    QTemporaryDir folder;
    RunDocument runs;
    LoadedRuns loaded { runs };
    RunPage page { runs };

    Page()
    {
        page.setLoadedRuns(loaded);
        page.resize(1280, 680);
        page.show();
    }
    bool open(const SmallRun &small, const QString &name)
    {
        runs.open({ small.write(folder.filePath(name)) });
        return test::until([&] {
            return !runs.isReading() && runs.run() && runs.overlay() && runs.overlay()->run == runs.run()
                && QString::fromStdString(runs.run()->recording->name) == name;
        });
    }
    /// A chip, once it is there.
    QToolButton *chip(std::size_t run)
    {
        const bool is = test::until([&] {
            return run < loaded.all().size() && page.chips()->chip(loaded.all()[run].id)
                && page.chips()->chip(loaded.all()[run].id)->text() == loaded.all()[run].name;
        });
        return is ? page.chips()->chip(loaded.all()[run].id) : nullptr;
    }
    [[nodiscard]] QList<QColor> colorsOfGraphs()
    {
        QList<QColor> colors;
        for (int i = 0; i < page.stepPlot->chart().graphCount(); ++i)
            colors << page.stepPlot->chart().graph(i)->pen().color();
        return colors;
    }
};

} // namespace

class SeveralRunsTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void oneRunAloneHasNoChips()
    {
        Page p;
        QVERIFY(p.open({}, "monday"));
        QApplication::processEvents();
        QVERIFY(!p.page.chips()->isVisible());
        QVERIFY(p.page.stepPlot->others().empty());
    }

    void allRunsAreDrawnInTheirColoursOverTheirSteps()
    {
        Page p;
        const SmallRun fast { .loggedSteps = 12 }, slow { .loggedSteps = 20, .computeMs = 15 };
        QVERIFY(p.open(slow, "monday") && p.open(fast, "tuesday"));
        QCOMPARE(p.page.stepPlot->others().size(), 1U);
        const PlottedRun &other = p.page.stepPlot->others()[0];
        QCOMPARE(other.name, QString("monday"));
        QCOMPARE(other.curve.step.back(), 20.0);
        QVERIFY(p.colorsOfGraphs().contains(runColor(0)) && p.colorsOfGraphs().contains(runColor(1)));
        QVERIFY(p.page.stepPlot->chart().xAxis->range().upper >= 20); // also of the one that goes on longer
        const double highest = *std::ranges::max_element(other.curve.value);
        QVERIFY(p.page.stepPlot->chart().yAxis->range().upper > highest);
        QVERIFY(p.chip(0) && p.chip(1));
        QVERIFY(p.page.chips()->isVisible());
        QVERIFY(!p.chip(0)->isChecked() && p.chip(1)->isChecked());
    }

    void theHoverTellsRunStepAndTime()
    {
        Page p;
        QVERIFY(p.open({ .loggedSteps = 20, .computeMs = 15 }, "monday") && p.open({}, "tuesday"));
        QApplication::processEvents();
        QCustomPlot &chart = p.page.stepPlot->chart();
        // Step 10 of both: 4 × (15 + 2) ms and 4 × (10 + 2) ms, and 0.1 ms a step, as the logs have it.
        const QString text = p.page.stepPlot->describe(10);
        QVERIFY2(text.startsWith(QStringLiteral("step 10\n")), qPrintable(text));
        QVERIFY2(text.contains(QStringLiteral("monday: 69.0 ms")), qPrintable(text));
        QVERIFY2(text.contains(QStringLiteral("tuesday: 49.0 ms")), qPrintable(text));
        // A step that only one of them has, under a real pointer.
        const QPoint at(int(chart.xAxis->coordToPixel(18)), chart.axisRect()->rect().center().y());
        QTest::mouseMove(&chart, at + QPoint(-3, 0));
        QTest::mouseMove(&chart, at);
        QVERIFY(test::until([&] { return QToolTip::text().startsWith(QStringLiteral("step 18\n")); }));
        QVERIFY(QToolTip::text().contains(QStringLiteral("monday: 69.8 ms")));
        QVERIFY(!QToolTip::text().contains(QStringLiteral("tuesday")));
    }

    void aChipShowsItsRunAndTheCrossClosesIt()
    {
        Page p;
        QVERIFY(p.open({}, "monday") && p.open({ .computeMs = 15 }, "tuesday"));
        QVERIFY(p.chip(0));
        QTest::mouseClick(p.chip(0), Qt::LeftButton);
        QVERIFY(test::until([&] { return p.runs.run() == p.loaded.all()[0].run(); }));
        QVERIFY(test::until([&] { return p.runs.overlay() && p.runs.overlay()->run == p.runs.run(); }));
        QCOMPARE(p.page.stepPlot->others()[0].name, QString("tuesday"));
        QVERIFY(test::until([&] { return p.chip(0)->isChecked() && !p.chip(1)->isChecked(); }));
        QTest::mouseClick(p.page.chips()->cross(p.loaded.all()[1].id), Qt::LeftButton);
        QVERIFY(test::until([&] { return p.loaded.all().size() == 1; }));
        QVERIFY(p.page.stepPlot->others().empty());
        QVERIFY(test::until([&] { return !p.page.chips()->isVisible(); }));
    }

    void aRunThatCannotBeReadSaysSo()
    {
        Page p;
        p.loaded.restore(R"([{"paths": ["/nowhere/of/that/name"]}])");
        QVERIFY(test::until([&] { return !p.loaded.all()[0].errors.empty(); }));
        const std::string id = p.loaded.all()[0].id;
        QVERIFY(test::until([&] {
            return p.page.chips()->chip(id)
                && p.page.chips()->chip(id)->text() == QStringLiteral("name could not be read");
        }));
        QVERIFY(p.page.chips()->isVisible());
        QVERIFY(!p.page.chips()->chip(id)->accessibleDescription().isEmpty());
    }
};

TRAINYARD_TEST(SeveralRunsTest)
#include "tst_several_runs.moc"
