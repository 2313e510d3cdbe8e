// SPDX-License-Identifier: GPL-3.0-or-later
// The planner in the window with the search of the core: what it finds is what search() finds, in scenarios too; it is
// stopped, tried, adopted, undone; the window closes while it searches.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/facts/plan/plan_io.h"
#include "models/planner_words.h"
#include "tests/support/plans.h"
#include "views/panels/evidence_table.h"
#include "views/planner/candidate_card.h"
#include "views/planner/planner_form.h"
#include "views/planner/planner_page.h"
#include "views/planner/planner_tables.h"
#include "views/planner/search_scatter.h"
#include "views/planner/step_list.h"
#include "views/planner/trial_strip.h"
#include "views/window/planner_actions.h"

#include <QCheckBox>
#include <QElapsedTimer>
#include <QPointer>
#include <QPushButton>

#include <cmath>
#include <memory>

using namespace trainyard;

namespace {

/// Open are the degrees alone, so that a search takes a moment.
constexpr const char *kPins[] = { "memory", "workload", "wan", "parallelism.context", "parallelism.sequence_parallel",
    "parallelism.zero_stage", "parallelism.virtual_pipeline", "placement.layers", "schedule" };

struct SearchedWindow : WindowFixture {
    PlannerActions &actions = window.plannerActions();
    PlanSearch &search = actions.search();
    PlannerPage &page = actions.page();

    explicit SearchedWindow(Plan plan, bool isSmall = true)
        : WindowFixture(QStringLiteral("cephalo-lab"))
    {
        plan.name = "Small";
        document.startNew(std::make_shared<const Plan>(std::move(plan)));
        settle();
        PlannerSettings wanted;
        wanted.seconds.reset(); // until done
        if (isSmall)
            wanted.pins.insert(std::begin(kPins), std::end(kPins));
        search.setSettings(wanted);
        window.activateWindow();
        [&] { QVERIFY(QTest::qWaitForWindowActive(&window)); }();
        [&] { QVERIFY(window.commands().trigger("view.planner")); }();
    }
    void waitForEnd()
    {
        QTRY_VERIFY_WITH_TIMEOUT(search.state() != PlanSearch::State::Searching, 60000);
        QApplication::processEvents();
    }
    /// What is tried and adopted; worked out beside the window.
    PlanPtr writtenPlanOf(std::size_t row)
    {
        PlanPtr written;
        search.withWrittenPlan(row, &search, [&](const PlanPtr &plan) { written = plan; });
        [&] { QTRY_VERIFY_WITH_TIMEOUT(written, 30000); }();
        return written;
    }
    [[nodiscard]] const SearchRow &bestRow() const { return search.rows()[search.best().front()]; }
};

Plan threePriced()
{
    Plan plan = test::threeSites(1, 3);
    for (Datacenter &place : plan.cluster.datacenters)
        place.pools.front().usdPerGpuHour = 2;
    return plan;
}

} // namespace

class PlannerSearchTest : public QObject {
    Q_OBJECT
private slots:
    /// value = max over worlds of 1 / rate, by running the best in each of them; rows = those of search().
    void scenariosAreSearchedAndTheWorstWorldDecides()
    {
        SearchedWindow w(threePriced());
        for (QCheckBox *box : w.page.form->scenarios())
            if (box->accessibleName().endsWith(QStringLiteral("at half")))
                box->click();
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        w.waitForEnd();
        QVERIFY2(w.search.state() == PlanSearch::State::Ended, qPrintable(w.page.resultLine()));
        const SearchOptions &asked = w.search.asked();
        QCOMPARE(asked.scenarios.size(), std::size_t(3));
        const auto expected = search(w.search.searchedPlan(), builtinCatalogue(), asked);
        QVERIFY(expected && !expected->best.empty());
        QCOMPARE(w.search.best().size(), expected->best.size());
        for (std::size_t i = 0; i < expected->best.size(); ++i) {
            const SearchRow &shown = w.search.rows()[w.search.best()[i]], &row = expected->rows[expected->best[i]];
            QCOMPARE(shown.number, row.number);
            QCOMPARE(shown.value, row.value);
            QCOMPARE(shown.worstScenario, row.worstScenario);
        }
        // Independent of the search: the engine in each world.
        EvaluationWorkspace workspace;
        for (const std::size_t at : w.search.best()) {
            const SearchRow &row = w.search.rows()[at];
            double slowest = row.tokensPerSecond;
            for (const Scenario &scenario : asked.scenarios) {
                const auto there = run(
                    *inScenario(w.search.planOf(at), scenario), Depth::Score, { builtinCatalogue(), workspace, {} });
                slowest = std::min(slowest, *(*there)->metrics.tokensPerSecond);
            }
            QVERIFY(std::abs(row.value * slowest - 1) < 1e-9);
        }
        // A candidate that a slower link slows names that world, with its figure beside the own world's.
        const auto slowed = std::ranges::find_if(w.search.rows(),
            [](const SearchRow &row) { return row.state == RowState::Feasible && row.worstScenario >= 0; });
        QVERIFY(slowed != w.search.rows().end());
        w.page.candidate->setRow(int(slowed - w.search.rows().begin()));
        const QString name = QString::fromStdString(asked.scenarios[std::size_t(slowed->worstScenario)].name);
        QVERIFY2(w.page.candidate->world().contains(name), qPrintable(w.page.candidate->world()));
        QCOMPARE(w.page.candidate->fact(QStringLiteral("Worst case")), valueText(Objective::Throughput, slowed->value));
        QVERIFY(
            w.page.candidate->fact(QStringLiteral("Tokens/s")) != w.page.candidate->fact(QStringLiteral("Worst case")));
        QVERIFY(!worldText(w.search, w.bestRow()).isEmpty());
        QVERIFY(w.page.resultLine().contains(worldText(w.search, w.bestRow())));
    }

    void aRobustPlanIsTriedAdoptedAndUndone()
    {
        Plan plan = threePriced();
        plan.parallelism.tensor = 4; // there is something better
        SearchedWindow w(plan);
        for (QCheckBox *box : w.page.form->scenarios())
            if (box->accessibleName().endsWith(QStringLiteral("lost")))
                box->click();
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        w.waitForEnd();
        QVERIFY2(!w.search.best().empty(), qPrintable(w.page.resultLine()));
        const PlanPtr own = w.document.plan();
        const PlanPtr best = w.search.planOf(w.search.best().front());
        QVERIFY(*best != *own);
        QTest::mouseClick(w.page.candidate->tryIt, Qt::LeftButton);
        w.settle();
        QCOMPARE(*w.document.shownPlan(), *best);
        QVERIFY(!w.document.undoStack().canUndo());
        QTest::mouseClick(w.actions.strip().adopt, Qt::LeftButton);
        w.settle();
        QCOMPARE(*w.document.plan(), *best);
        // The page's iteration is that of the plan's own world, which the window shows now.
        QCOMPARE(*w.bridge.evaluation()->metrics.iterationTime, w.bestRow().seconds);
        EvaluationWorkspace workspace;
        for (const Scenario &scenario : w.search.asked().scenarios) { // it runs wherever one is lost
            const auto there = run(*inScenario(best, scenario), Depth::Score, { builtinCatalogue(), workspace, {} });
            QVERIFY(there && (*there)->feasible());
        }
        QVERIFY(w.window.commands().trigger("edit.undo"));
        w.settle();
        QCOMPARE(*w.document.plan(), *own);
    }

    void aSearchOfALargeSpaceIsStoppedAndItsBestIsAdopted()
    {
        SearchedWindow w(test::threeSites(8, 6), false);
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(w.search.rows().size() > 20, 30000);
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        w.waitForEnd();
        QVERIFY(w.search.result()->isStopped && !w.search.best().empty());
        QVERIFY2(w.page.resultLine().contains(QStringLiteral("not proven")), qPrintable(w.page.resultLine()));
        const PlanPtr best = w.writtenPlanOf(w.search.best().front());
        QVERIFY(w.bestRow().value <= w.search.rows()[*w.search.own()].value);
        QTest::mouseClick(w.page.candidate->adopt, Qt::LeftButton);
        w.settle();
        QCOMPARE(*w.document.plan(), *best);
        QCOMPARE(*w.bridge.evaluation()->metrics.iterationTime, w.bestRow().seconds);
        QVERIFY(w.window.commands().trigger("edit.undo"));
        w.settle();
        QVERIFY(*w.document.plan() != *best);
    }

    /// A node of two idles: 8 GPUs × $3 as it is adopted, 16 × $3 with the idle ones. The price that is told is the one
    /// that the window tells of the plan that is tried, and of the plan once it is adopted, with the switch either way.
    void thePriceOfARowIsThatOfThePlanThatIsAdopted()
    {
        Plan plan = test::oneSite(2, 1);
        plan.cluster.datacenters.front().pools.front().usdPerGpuHour = 3;
        SearchedWindow w(plan);
        PlannerSettings settings = w.search.settings();
        settings.mostGpus = 8;
        w.search.setSettings(settings);
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        w.waitForEnd();
        QVERIFY2(!w.search.best().empty(), qPrintable(w.page.resultLine()));
        QCOMPARE(w.page.candidate->fact(QStringLiteral("Per hour")), QStringLiteral("$24.0"));
        QVERIFY2(w.page.candidate->idle().contains(QStringLiteral("gives 8 GPUs back")),
            qPrintable(w.page.candidate->idle()));
        QVERIFY(w.page.candidate->idle().contains(QStringLiteral("$48.0 per hour")));
        const auto perHour = [&] { // of what the window shows, as evaluate counts: all GPUs of its cluster
            const Metrics &metrics = w.bridge.evaluation()->metrics;
            return *metrics.cost.usdPerIteration / *metrics.iterationTime * 3600;
        };
        for (const bool keeps : { false, true }) {
            if (w.page.form->keepsIdle->isChecked() != keeps) {
                w.page.form->keepsIdle->click(); // prices the table anew
                w.waitForEnd();
            }
            const int row = keeps ? int(w.search.best().front()) : w.page.candidate->row();
            if (w.search.own() == std::size_t(row))
                continue; // nothing to try
            w.page.candidate->setRow(row);
            const SearchRow told = w.search.rows()[std::size_t(row)];
            QTest::mouseClick(w.page.candidate->tryIt, Qt::LeftButton);
            QTRY_VERIFY(w.document.trial()); // without idle nodes: worked out beside the window
            w.settle();
            QVERIFY(std::abs(perHour() - told.usdPerHour) < 1e-9 * told.usdPerHour);
            QCOMPARE(w.document.shownPlan()->cluster.gpus(), keeps ? 16 : 8);
            QTest::mouseClick(w.actions.strip().adopt, Qt::LeftButton);
            w.settle();
            QVERIFY(std::abs(perHour() - told.usdPerHour) < 1e-9 * told.usdPerHour);
            QCOMPARE(w.search.own(), std::optional(std::size_t(row))); // "your plan" is the one that was adopted
            w.page.candidate->setRow(row);
            QCOMPARE(w.page.candidate->idle().isEmpty(), !keeps); // nothing idles in it unless idle nodes were kept
            QVERIFY(w.page.candidate->steps->steps().empty());
            const TextRows table = bestTable(w.search);
            for (std::size_t at = 0; at < table.lines.size(); ++at) {
                const QString changes = table.lines[at].cells.back();
                QVERIFY2(!changes.contains(QStringLiteral("GPU")) && !changes.contains(QStringLiteral("Add ")),
                    qPrintable(changes)); // of the cluster nothing changes between candidates
                if (w.search.best()[at] == std::size_t(row))
                    QCOMPARE(changes, QStringLiteral("Nothing: it is your plan"));
            }
            QVERIFY(w.window.commands().trigger("edit.undo"));
            w.settle();
            QVERIFY(w.window.commands().trigger("view.planner"));
        }
        QVERIFY(w.page.candidate->fact(QStringLiteral("Worst case")).isEmpty()); // no scenario was asked about
    }

    void theWindowClosesAtOnceWhileItSearches()
    {
        auto w = std::make_unique<SearchedWindow>(test::threeSites(64, 6), false);
        QTest::mouseClick(w->page.run, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(w->search.rows().size() > 1, 30000);
        QCOMPARE(w->search.state(), PlanSearch::State::Searching);
        w->answers.unsaved = Prompts::Unsaved::Discard;
        const QPointer<QObject> window = &w->window, search = &w->search;
        QElapsedTimer closing;
        closing.start();
        w.reset(); // waits for the end of what runs, of which minutes were left
        QVERIFY2(closing.elapsed() < 10'000, qPrintable(QString::number(closing.elapsed())));
        QVERIFY(!window && !search);
    }

    void allOfAScenariosNameIsInSight()
    {
        auto plan = readPlan(WindowFixture::samplePath(QStringLiteral("llama-3-70b-three-regions")).toStdString());
        SearchedWindow w(std::move(*plan));
        w.window.resize(1280, 720);
        QApplication::processEvents();
        QVERIFY(!w.page.form->scenarios().empty());
        for (const QCheckBox *box : w.page.form->scenarios()) {
            QCOMPARE(box->text().replace(u'\n', u' ').replace(QStringLiteral("&&"), QStringLiteral("&")),
                box->accessibleName());
            QVERIFY2(box->sizeHint().width() <= box->width() && box->sizeHint().height() <= box->height(),
                qPrintable(box->text()));
        }
    }
};

TRAINYARD_TEST(PlannerSearchTest)
#include "tst_planner_search.moc"
