// SPDX-License-Identifier: GPL-3.0-or-later
// The planner of the window without a window: a search under way, stopped, refused, of an earlier plan; settings that
// are kept; steps to what was found.
#include "models/plan_search.h"
#include "tests/support/test_program.h"

#include "models/planner_words.h"
#include "tests/support/nothing_under_way.h"
#include "tests/support/plans.h"
#include "tests/support/small_search.h"

#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

using namespace trainyard;

class PlanSearchTest : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;

    static PlanPtr small() { return std::make_shared<const Plan>(test::oneSite(1, 1)); }
    static void waitFor(PlanSearch &search)
    {
        QTRY_VERIFY_WITH_TIMEOUT(search.state() != PlanSearch::State::Searching, 30000);
    }

    /// A search that has ended, with rows that leave a node of two idle; counts who trims them.
    struct IdleRows {
        test::SmallSearch small;
        std::atomic<int> asked = 0;
        std::atomic<bool> isRefused = false, isHeld = false, wasOnThisThread = false;
        PlanSearch search;
        std::size_t row = 0, other = 0;

        IdleRows()
            : search(builtinCatalogue(), countingEngine())
        {
            Plan plan = test::oneSite(2, 1);
            plan.parallelism.data = 1;
            search.setPlan(std::make_shared<const Plan>(plan));
            search.start();
            waitFor(search);
            for (std::size_t i = 0; i < search.rows().size(); ++i)
                if (search.rows()[i].state == RowState::Feasible && search.givesBack(i) == 8)
                    other = std::exchange(row, i);
            QVERIFY(row != other && search.givesBack(other) == 8);
        }
        PlannerEngine countingEngine()
        {
            PlannerEngine engine = small.engine();
            engine.withoutIdle = [this, window = QThread::currentThread()](
                                     const PlanPtr &plan, const RunContext &context) -> ExpectedAll<Trimmed> {
                ++asked;
                wasOnThisThread = QThread::currentThread() == window;
                while (isHeld)
                    std::this_thread::yield();
                if (isRefused)
                    return std::unexpected(Errors { { ErrorCode::Internal, {}, "refused", {} } });
                return withoutIdleNodes(plan, context);
            };
            return engine;
        }
    };

private slots:
    void initTestCase()
    {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_folder.path());
        QCoreApplication::setOrganizationName(QStringLiteral("trainyard-test"));
    }
    void init() { QSettings().clear(); }

    void rowsComeWhileItSearchesAndTheBestIsTheLeastOfThem()
    {
        test::SmallSearch engine;
        engine.mayRun = 2;
        PlanSearch search(builtinCatalogue(), engine.engine());
        search.setPlan(small());
        QCOMPARE(search.state(), PlanSearch::State::Empty);
        search.start();
        QCOMPARE(search.state(), PlanSearch::State::Searching);
        QTRY_COMPARE(search.rows().size(), 2 * engine.round);
        QVERIFY(search.own() == std::size_t(0)); // the plan's own is looked at first
        QCOMPARE(*search.planOf(0), *search.plan());
        engine.mayRun = 1 << 20;
        waitFor(search);
        QCOMPARE(search.state(), PlanSearch::State::Ended);
        const auto &rows = search.rows();
        QCOMPARE(std::uint64_t(rows.size()), search.result()->space->size());
        double least = 1e300; // by brute force
        for (const SearchRow &row : rows)
            if (row.state == RowState::Feasible)
                least = std::min(least, row.value);
        QVERIFY(!search.best().empty());
        QCOMPARE(rows[search.best().front()].value, least);
        QVERIFY(std::ranges::is_sorted(search.best(), {}, [&](std::size_t i) { return rows[i].value; }));
    }

    void theBestSoFarIsRankedWhileItSearches()
    {
        test::SmallSearch engine;
        engine.mayRun = 5;
        PlanSearch search(builtinCatalogue(), engine.engine());
        search.setPlan(small());
        search.start();
        QTRY_COMPARE(search.rows().size(), 5 * engine.round);
        const auto &rows = search.rows();
        const auto feasible = std::ranges::count(rows, RowState::Feasible, &SearchRow::state);
        QVERIFY(feasible > 1);
        QCOMPARE(search.best().size(), std::min<std::size_t>(std::size_t(feasible), search.asked().top));
        for (const SearchRow &row : rows)
            QVERIFY(row.state != RowState::Feasible || row.value >= rows[search.best().front()].value);
    }

    void stoppedItKeepsTheBestOfWhatItLookedAt()
    {
        test::SmallSearch engine;
        engine.mayRun = 3;
        PlanSearch search(builtinCatalogue(), engine.engine());
        search.setPlan(small());
        search.start();
        QTRY_COMPARE(search.rows().size(), 3 * engine.round);
        search.stop();
        QVERIFY(search.isStopping());
        waitFor(search);
        QCOMPARE(search.state(), PlanSearch::State::Ended);
        QVERIFY(search.result()->isStopped);
        QCOMPARE(search.rows().size(), 3 * engine.round);
        QVERIFY(!search.best().empty());
        QVERIFY(resultText(search).startsWith(QStringLiteral("Stopped.")));
    }

    void stoppedBeforeItBeganItEndsAllTheSame()
    {
        test::SmallSearch engine;
        engine.mayRun = 0;
        PlanSearch search(builtinCatalogue(), engine.engine());
        search.setPlan(small());
        search.start();
        search.stop();
        waitFor(search);
        QCOMPARE(search.state(), PlanSearch::State::Ended);
        QVERIFY(search.best().empty());
    }

    void aPlanThatCannotBeRunIsRefusedInWords()
    {
        Plan plan = *small();
        plan.workload.model = "no-such-model";
        test::SmallSearch engine;
        PlanSearch search(builtinCatalogue(), engine.engine());
        search.setPlan(std::make_shared<const Plan>(plan));
        search.start();
        waitFor(search);
        QCOMPARE(search.state(), PlanSearch::State::Refused);
        QVERIFY(resultText(search).contains(QStringLiteral("no-such-model")));
    }

    void whatIsThrownIsTold()
    {
        PlannerEngine engine = test::SmallSearch().engine();
        engine.search = [](auto &&...) -> ExpectedAll<SearchResult> { throw std::runtime_error("out of paper"); };
        PlanSearch search(builtinCatalogue(), engine);
        search.setPlan(small());
        search.start();
        waitFor(search);
        QCOMPARE(search.state(), PlanSearch::State::Refused);
        QVERIFY(resultText(search).contains(QStringLiteral("out of paper")));
    }

    void anEditLeavesTheResultsAndSaysSo()
    {
        test::SmallSearch engine;
        PlanSearch search(builtinCatalogue(), engine.engine());
        const PlanPtr before = small();
        search.setPlan(before);
        search.start();
        waitFor(search);
        QVERIFY(!search.isOfEarlierPlan() && staleText(search).isEmpty());
        Plan edited = *before;
        edited.workload.globalBatch *= 2;
        search.setPlan(std::make_shared<const Plan>(edited));
        QVERIFY(search.isOfEarlierPlan() && !search.rows().empty());
        QVERIFY(staleText(search).contains(QStringLiteral("earlier plan")));
        search.setPlan(std::make_shared<const Plan>(*before)); // an equal one, as after undo
        QVERIFY(!search.isOfEarlierPlan());
        PlannerSettings other = search.settings();
        other.objective = Objective::Cost;
        search.setSettings(other);
        QVERIFY(search.isOfOtherSettings() && !staleText(search).isEmpty());
    }

    void nothingFeasibleSaysWhatLeftMostOut()
    {
        test::SmallSearch engine;
        PlanSearch search(builtinCatalogue(), engine.engine());
        PlannerSettings settings;
        settings.mostUsdPerHour = 0.01;
        search.setSettings(settings);
        search.setPlan(small());
        search.start();
        waitFor(search);
        QVERIFY(search.best().empty());
        QVERIFY2(resultText(search).contains(QStringLiteral("more than the budget")), qPrintable(resultText(search)));
    }

    void theConstraintThatKeepsABetterPlanOutBinds()
    {
        test::SmallSearch engine;
        PlanSearch search(builtinCatalogue(), engine.engine());
        search.setPlan(small());
        search.start();
        waitFor(search);
        QVERIFY(bindingText(search).isEmpty()); // nothing is held back
        const SearchRow best = search.rows()[search.best().front()];
        PlannerSettings settings = search.settings();
        settings.mostGpus = 4; // of 8
        search.setSettings(settings);
        search.start();
        waitFor(search);
        bool hasFewer = false; // else nothing binds: all use all
        for (const SearchRow &row : search.rows())
            hasFewer = hasFewer || row.state == RowState::Feasible;
        if (hasFewer)
            QVERIFY(bindingText(search).contains(QStringLiteral("more GPUs")));
        else
            QVERIFY(resultText(search).contains(QStringLiteral("more GPUs")));
        QVERIFY(best.gpus > 4);
    }

    void stepsLeadFromThePlanToTheBest()
    {
        test::SmallSearch engine;
        PlanSearch search(builtinCatalogue(), engine.engine());
        search.setPlan(small());
        search.start();
        waitFor(search);
        const std::size_t best = search.best().front();
        QVERIFY(best != *search.own());
        QTRY_VERIFY_WITH_TIMEOUT(search.steps() && search.steps()->isComplete, 30000); // asked of itself
        const auto &steps = *search.steps();
        QCOMPARE(steps.row, best);
        QVERIFY(!steps.list.empty());
        QCOMPARE(*steps.list.back().plan, *search.planOf(best));
        double left = search.rows()[*search.own()].value; // own · Π (1 − gain) = best
        for (const SearchStep &step : steps.list)
            left *= 1 - step.gain;
        QVERIFY(std::abs(left / search.rows()[best].value - 1) < 1e-6);
    }

    /// Two nodes of 8 GPUs with one replica: rows of 8 GPUs leave a node idle, and are written without it.
    void aRowWithIdleNodesIsWrittenBesideTheWindowAndOnce()
    {
        IdleRows idle;
        PlanPtr written;
        idle.search.withWrittenPlan(idle.row, &idle.search, [&](const PlanPtr &plan) { written = plan; });
        QVERIFY(!written); // not on this thread
        QTRY_VERIFY(written);
        QVERIFY(!idle.wasOnThisThread);
        QCOMPARE(written->cluster.gpus(), 8);
        QCOMPARE(idle.search.givesBack(idle.row), 8);
        PlanPtr again;
        idle.search.withWrittenPlan(idle.row, &idle.search, [&](const PlanPtr &plan) { again = plan; });
        QCOMPARE(again, written); // at once
        QCOMPARE(idle.asked.load(), 1);
    }

    void aRowThatCannotBeTrimmedStaysAsItIsAndIsNotTriedAgain()
    {
        IdleRows idle;
        idle.isRefused = true;
        PlanPtr written;
        const auto take = [&](const PlanPtr &plan) { written = plan; };
        idle.search.withWrittenPlan(idle.row, &idle.search, take);
        QTRY_VERIFY(written);
        QCOMPARE(*written, *idle.search.planOf(idle.row));
        QCOMPARE(idle.search.givesBack(idle.row), 0); // and says so
        written.reset();
        idle.search.withWrittenPlan(idle.row, &idle.search, take);
        QVERIFY(written);
        QCOMPARE(idle.asked.load(), 1);
    }

    void anEditAnotherRowAndAnotherSearchOvertakeAPlanThatIsBeingWritten()
    {
        const auto overtake = [](const std::function<void(IdleRows &)> &by) {
            IdleRows idle;
            idle.isHeld = true;
            int answers = 0;
            idle.search.withWrittenPlan(idle.row, &idle.search, [&](const PlanPtr &) { ++answers; });
            QTRY_COMPARE(idle.asked.load(), 1);
            by(idle);
            idle.isHeld = false;
            test::untilNothingIsUnderWay();
            QCOMPARE(answers, 0);
        };
        overtake([](IdleRows &idle) {
            Plan edited = *idle.search.plan();
            edited.workload.globalBatch *= 2;
            idle.search.setPlan(std::make_shared<const Plan>(edited));
        });
        overtake([](IdleRows &idle) { idle.search.withWrittenPlan(idle.other, &idle.search, [](const PlanPtr &) {}); });
        overtake([](IdleRows &idle) { idle.search.clear(); });
    }

    void pinsAndConstraintsAreAskedOfTheSearchAndKept()
    {
        test::SmallSearch engine;
        PlannerSettings settings;
        {
            PlanSearch search(builtinCatalogue(), engine.engine());
            search.setPlan(std::make_shared<const Plan>(test::threeSites(1, 3)));
            search.setPinned("parallelism.tensor", true);
            settings = search.settings();
            settings.objective = Objective::Cost;
            settings.mostUsdPerHour = 250;
            settings.memoryMargin = 0.1;
            settings.avoidedDatacenters = { "b", "elsewhere" };
            QVERIFY(!search.scenarios().empty());
            settings.scenarios = { search.scenarios().front().text, "not:here" };
            settings.seconds = std::nullopt;
            settings.seed = 7;
            search.setSettings(settings);
            search.start();
            waitFor(search);
            for (const SearchRow &row : search.rows()) // of the pinned key nothing changes
                QCOMPARE(
                    search.result()->space->plan(search.result()->space->candidate(row.number))->parallelism.tensor,
                    search.plan()->parallelism.tensor);
            QCOMPARE(engine.last.objective, Objective::Cost);
            QCOMPARE(engine.last.fixed, std::vector<std::string> { "parallelism.tensor" });
            QCOMPARE(*engine.last.constraints.mostUsdPerHour, 250.0);
            QCOMPARE(engine.last.constraints.datacenters, (std::vector<std::string> { "a", "c" }));
            QCOMPARE(engine.last.scenarios.size(), std::size_t(1));
            QVERIFY(!engine.last.seconds);
            QCOMPARE(engine.last.seed, std::uint64_t(7));
        }
        PlanSearch again(builtinCatalogue(), engine.engine());
        QVERIFY(!again.settings().mostUsdPerHour); // a budget is of one plan
        QVERIFY(again.settings() == withoutLimits(settings));
    }

    void whatIsStoredAndCannotBeUsedIsLeftOut()
    {
        QSettings stored;
        stored.setValue(QStringLiteral("planner/objective"), 99);
        stored.setValue(QStringLiteral("planner/usdPerHour"), QStringLiteral("much"));
        stored.setValue(QStringLiteral("planner/gpus"), -3);
        stored.setValue(QStringLiteral("planner/pins"), QStringList { QStringLiteral("no.such.key") });
        const PlannerSettings settings = rememberedPlannerSettings();
        QVERIFY(settings.objective <= Objective::Gpus);
        QVERIFY(!settings.mostUsdPerHour && !settings.mostGpus && settings.pins.empty());
    }

    void thePlanOfAnotherFileForgetsTheSearch()
    {
        test::SmallSearch engine;
        engine.mayRun = 1;
        PlanSearch search(builtinCatalogue(), engine.engine());
        search.setPlan(small());
        search.start();
        QTRY_VERIFY(!search.rows().empty());
        QSignalSpy ended(&search, &PlanSearch::ended);
        search.clear();
        QCOMPARE(search.state(), PlanSearch::State::Empty);
        QVERIFY(search.rows().empty() && search.best().empty());
        engine.mayRun = 1 << 20;
        test::untilNothingIsUnderWay();
        QCOMPARE(ended.count(), 0); // the answer that was on its way is dropped
        search.start();
        waitFor(search);
        QCOMPARE(search.state(), PlanSearch::State::Ended);
    }

    /// Once the object is gone its search is over, also one that nobody lets go on.
    void itEndsWhileItWorks()
    {
        std::atomic<int> under = 0;
        for (int i = 0; i < 20; ++i) {
            test::SmallSearch held;
            held.mayRun = i; // of twelve rounds; then it waits until it is stopped
            PlannerEngine engine = held.engine();
            engine.search = [&under, search = engine.search](const PlanPtr &plan, const Catalogue &catalogue,
                                const SearchOptions &options, std::stop_token stop, const auto &tell) {
                ++under;
                auto found = search(plan, catalogue, options, std::move(stop), tell);
                --under;
                return found;
            };
            {
                PlanSearch search(builtinCatalogue(), engine);
                search.setPlan(small());
                search.start();
                if (i < 10)
                    QTRY_COMPARE(under.load(), 1);
            }
            QCOMPARE(under.load(), 0);
        }
    }

    /// What is drawn while rows come is what the search tells in the end.
    void theFrontIsThatOfTheSearch()
    {
        PlanSearch search(builtinCatalogue());
        for (const char *key : { "memory", "workload", "wan", "placement" })
            search.setPinned(key, true);
        search.setPlan(small());
        search.start();
        waitFor(search);
        std::vector<std::size_t> front = frontOf(search), told;
        QVERIFY(!front.empty());
        std::ranges::sort(front);
        for (std::size_t i = 0; i < search.rows().size(); ++i)
            if (search.result()->rows[i].isOnFront)
                told.push_back(i);
        QCOMPARE(front, told);
    }

    void gainsAreSaidInTheWordsOfTheObjective()
    {
        // A tenth of the time saved is 1 / 0.9 − 1 = 11.1 % more tokens per second.
        QCOMPARE(gainText(Objective::Throughput, 0.1), QStringLiteral("11.1 % faster"));
        QCOMPARE(gainText(Objective::Cost, 0.1), QStringLiteral("10.0 % cheaper"));
        QCOMPARE(gainText(Objective::Cost, -0.25), QStringLiteral("25.0 % more expensive"));
        QCOMPARE(gainText(Objective::Energy, 0), QStringLiteral("no gain"));
    }

    void theTableOfCandidatesHasEveryAxis()
    {
        test::SmallSearch engine;
        PlanSearch search(builtinCatalogue(), engine.engine());
        search.setPlan(small());
        search.start();
        waitFor(search);
        const QList<QByteArray> lines = candidatesCsv(search).trimmed().split('\n');
        QCOMPARE(std::size_t(lines.size()), search.rows().size() + 1);
        QVERIFY(lines[0].endsWith(",tensor,pipeline,micro_batch,schedule"));
        for (const QByteArray &line : lines)
            QVERIFY(line.count(',') >= lines[0].count(','));
    }
};

TRAINYARD_GUILESS_TEST(PlanSearchTest)
#include "tst_plan_search.moc"
