// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/effects.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/nothing_under_way.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTest>

#include <atomic>

using namespace trainyard;

namespace {

PlanPtr plan(int microBatch = 1)
{
    Plan p;
    Datacenter d;
    d.id = "a";
    Pool pool;
    pool.id = "a-h100";
    pool.gpu = "h100-sxm-80gb";
    pool.nodes = 4;
    d.pools = { pool };
    p.cluster.datacenters = { d };
    p.workload.model = "llama-3-8b";
    p.workload.globalBatch = 32;
    p.workload.microBatch = microBatch;
    p.parallelism.tensor = 2;
    p.parallelism.pipeline = 2;
    return std::make_shared<const Plan>(p);
}

/// An evaluation with rules that a reader can check: 10 s, full recompute 12 s, each node more takes off 1 s, no
/// recompute with a micro-batch of 8 does not fit, ZeRO 3 cannot be evaluated.
ExpectedAll<EvaluationPtr> rules(const PlanPtr &p)
{
    if (p->parallelism.zeroStage == 3)
        return std::unexpected(Errors { { ErrorCode::BadValue, "parallelism.zero_stage", "no such thing here", {} } });
    auto evaluation = std::make_shared<Evaluation>();
    evaluation->plan = p;
    evaluation->model = *builtinCatalogue().model(p->workload.model);
    Metrics &m = evaluation->metrics;
    m.iterationTime =
        10.0 + (p->memory.recompute == Recompute::Full ? 2 : 0) - (p->cluster.datacenters[0].pools[0].nodes - 4);
    MemoryMetrics memory;
    memory.capacity = 80'000'000'000;
    memory.fits = p->workload.microBatch < 8;
    memory.peak = memory.fits ? 60'000'000'000 : 90'000'000'000;
    m.memory = memory;
    if (!memory.fits) {
        evaluation->problems.push_back({ Severity::Blocking, "Stage 1 does not fit.", {}, {} });
        evaluation->feasibility.fitsGpus = false;
    }
    return evaluation;
}

} // namespace

class EffectsTest : public QObject {
    Q_OBJECT
private:
    std::atomic<int> m_evaluations = 0;
    std::atomic<bool> m_onGuiThread = false;
    std::atomic<int> m_searches = 0;
    std::atomic<bool> m_isHeld = false; // evaluations after the third wait while it is true
    bool m_slow = false;

    StrategyEffects::Evaluate evaluation()
    {
        QThread *gui = QThread::currentThread();
        return [this, gui](
                   const PlanPtr &p, const Catalogue &, EvaluationWorkspace &, const std::stop_token &, Depth depth) {
            const int number = ++m_evaluations;
            if (QThread::currentThread() == gui)
                m_onGuiThread = true;
            m_searches += depth == Depth::Everything;
            if (number > 3)
                m_isHeld.wait(true);
            if (m_slow) // so that they take several of the times between two tables, which cannot be set
                QThread::msleep(5);
            return rules(p);
        };
    }

    static EffectTablePtr complete(QSignalSpy &spy)
    {
        const auto last = [&spy] { return spy.isEmpty() ? nullptr : spy.last().at(0).value<EffectTablePtr>(); };
        const bool isComplete = QTest::qWaitFor([&last] { return last() && last()->complete; }, 30000);
        return isComplete ? last() : nullptr;
    }
    void release()
    {
        m_isHeld = false;
        m_isHeld.notify_all();
    }

private slots:
    void init()
    {
        m_evaluations = 0;
        m_onGuiThread = false;
        m_searches = 0;
        m_slow = false;
    }

    /// Bubbles of the rules below take 310 prompts a second and are used in proportion: what is shown is what switching
    /// on writes, unless the plan says itself how much arrives.
    void prefillIsOfferedAShareOfWhatBubblesTake()
    {
        for (const double stated : { 0.0, 20.0 }) {
            StrategyEffects effects(builtinCatalogue(),
                [](const PlanPtr &p, const Catalogue &, EvaluationWorkspace &, const std::stop_token &, Depth) {
                    auto answer = rules(p);
                    if (answer && p->bubbleFill.enabled) {
                        Evaluation filled = **answer;
                        filled.metrics.gpuUtilizationWithFill = 0.4 + 0.6 * p->bubbleFill.requestsPerSecond / 310;
                        filled.metrics.bubbleFill = BubbleFillMetrics {};
                        filled.metrics.bubbleFill->saturationRequestsPerSecond = 310;
                        answer = std::make_shared<const Evaluation>(std::move(filled));
                    }
                    return answer;
                });
            effects.setRest(std::chrono::milliseconds(0));
            QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
            Plan silent = *plan();
            silent.bubbleFill.requestsPerSecond = stated;
            effects.setPlan(std::make_shared<const Plan>(silent));
            const EffectTablePtr table = complete(spy);
            QVERIFY(table);
            const Effect &on = table->strategies.at("bubble_fill=true");
            const double rate = stated > 0 ? stated : 240; // four fifths of 310 in two digits
            QCOMPARE(on.offered != nullptr, stated <= 0);
            if (on.offered)
                QCOMPARE(on.offered->bubbleFill.requestsPerSecond, rate);
            QVERIFY(on.utilization && std::abs(*on.utilization - (0.4 + 0.6 * rate / 310)) < 1e-9);
            QCOMPARE(on.room, Metric(310));
        }
    }

    void aPlanWithJobsIsMeasuredByTheTimeOfThemAllAndSolversAreNotRun()
    {
        std::atomic<bool> isSolved = false;
        StrategyEffects effects(builtinCatalogue(),
            [&isSolved](const PlanPtr &p, const Catalogue &, EvaluationWorkspace &, const std::stop_token &,
                Depth) -> ExpectedAll<EvaluationPtr> {
                isSolved = isSolved || p->jobScheduler == JobScheduler::ShardMilp;
                auto evaluation = std::make_shared<Evaluation>();
                evaluation->plan = p;
                JobMetrics jobs; // first in, first out: a quarter longer
                jobs.makespan = p->jobScheduler == JobScheduler::Fifo ? 100 : 80;
                jobs.gpuUtilization = 0.5;
                evaluation->metrics.jobs = jobs;
                return evaluation;
            });
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        Plan withJobs = *plan();
        Job job;
        job.name = "one";
        job.model = "llama-3-8b";
        withJobs.jobs = { job };
        effects.setPlan(std::make_shared<const Plan>(withJobs));
        const EffectTablePtr table = complete(spy);
        QVERIFY(table);
        QCOMPARE(*table->iterationTime, 80.0);
        const Effect &fifo = table->strategies.at("job_scheduler=fifo");
        QCOMPARE(*fifo.change, 0.25); // 100 / 80 - 1
        QVERIFY(fifo.isOfJobs);
        QCOMPARE(*fifo.utilization, 0.5);
        QVERIFY(!isSolved && !table->strategies.contains("job_scheduler=shard-milp"));
    }

    void everyFreeAlternativeIsJudgedAwayFromTheGuiThread()
    {
        StrategyEffects effects(builtinCatalogue(), evaluation());
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        const PlanPtr p = plan();
        effects.setPlan(p);
        const EffectTablePtr table = complete(spy);
        QVERIFY(table);
        QVERIFY(!m_onGuiThread);
        QCOMPARE(m_searches.load(), 1); // fixes are looked for once, for the plan itself
        QCOMPARE(table->plan, p);
        QCOMPARE(*table->iterationTime, 10.0);
        for (const Alternative &a : strategyAlternatives(*p, builtinCatalogue()))
            QCOMPARE(table->strategies.contains(a.id), a.plan != nullptr && !a.isCurrent);
    }

    void aChangeIsRelativeToThePlan()
    {
        StrategyEffects effects(builtinCatalogue(), evaluation());
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        effects.setPlan(plan());
        const EffectTablePtr table = complete(spy);
        QVERIFY(table);
        const Effect &full = table->strategies.at("recompute=full");
        QCOMPARE(*full.change, 12.0 / 10.0 - 1);
        QVERIFY(full.fits && full.feasible);
        const Effect &large = table->strategies.at("micro_batch=8");
        QVERIFY(!large.fits && !large.feasible);
        QCOMPARE(large.memoryBytes, 90e9);
        QCOMPARE(large.reason, std::string("Stage 1 does not fit."));
        QCOMPARE(large.because, std::string("does not fit"));
        const Effect &zero3 = table->strategies.at("zero=3");
        QVERIFY(!zero3.iterationTime && !zero3.feasible);
        QCOMPARE(zero3.reason, std::string("no such thing here"));
    }

    void nothingIsComparedWithAPlanThatIsNotUnderstood()
    {
        Plan doubted = *plan();
        doubted.notUnderstood = { { .key = "--zebra", .text = "is 4, which no plan takes", .low = -0.5, .high = 1 } };
        StrategyEffects effects(builtinCatalogue());
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        effects.setPlan(std::make_shared<const Plan>(doubted));
        const EffectTablePtr table = complete(spy);
        QVERIFY(table && table->strategies.size() > 5);
        QVERIFY(table->parts.empty() && table->retired.empty());
        QVERIFY2(table->notCompared.find("which no plan takes") != std::string::npos, table->notCompared.c_str());
        for (const auto &[id, effect] : table->strategies) {
            QVERIFY2(!effect.change, id.c_str());
            QVERIFY2(!effect.iterationTime || effect.notCompared.starts_with("not compared: --zebra"), id.c_str());
            QVERIFY2(!effect.isIdle && effect.because.empty(), id.c_str()); // "no effect" would be a comparison
        }
    }

    /// bf16 and fp16 have 2 bytes; full recomputation takes time. By the core's own evaluation.
    void aValueThatMovesNoNumberSaysWhy()
    {
        StrategyEffects effects(builtinCatalogue());
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        effects.setPlan(plan());
        const EffectTablePtr table = complete(spy);
        QVERIFY(table);
        const Effect &fp16 = table->strategies.at("precision=fp16");
        QVERIFY(fp16.isIdle && *fp16.change == 0);
        QVERIFY2(fp16.idleBecause.contains("elements of 2 bytes"), fp16.idleBecause.c_str());
        QVERIFY(!table->strategies.at("recompute=full").isIdle);
        int idle = 0;
        for (const auto &[id, effect] : table->strategies) {
            if (!effect.isIdle)
                continue;
            ++idle;
            QVERIFY2(!effect.idleBecause.empty(), id.c_str());
            QVERIFY2(effect.because.empty(), id.c_str()); // nothing makes a difference
        }
        QVERIFY(idle >= 3);
    }

    void betterPartsAreRankedAndOneSizeOfEachIsKept()
    {
        StrategyEffects effects(builtinCatalogue(), evaluation());
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        effects.setPlan(plan());
        const EffectTablePtr table = complete(spy);
        QVERIFY(table);
        // Only nodes shorten it, each by 1 s of 10 s: none pays more apiece than the first.
        QCOMPARE(table->parts.size(), std::size_t(1));
        QCOMPARE(table->parts[0].part.id, std::string("nodes:a:a-h100:1"));
        QCOMPARE(*table->parts[0].effect.change, 9.0 / 10.0 - 1);
    }

    void gpusThatDoNotPayAreToldWithThePriceOfParts()
    {
        Plan mixed;
        mixed.cluster.datacenters = { test::site("a", 0) };
        mixed.cluster.datacenters[0].pools = { test::pool("new", "h100-sxm-80gb", 1),
            test::pool("old", "v100-sxm-32gb", 1) };
        mixed.workload.model = "gpt-3-1.3b";
        mixed.workload.globalBatch = 256;
        mixed.workload.precision = Precision::Fp16;
        mixed.memory.recompute = Recompute::Full;
        StrategyEffects effects(builtinCatalogue());
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        effects.setPlan(std::make_shared<const Plan>(mixed));
        const EffectTablePtr table = complete(spy);
        QVERIFY(table && !table->retired.empty());
        const RankedPart &first = table->retired.front();
        QVERIFY2(first.part.label.contains("V100"), first.part.label.c_str());
        QVERIFY(first.effect.because.contains("cheaper per token"));
        QVERIFY(first.usdPerHour && *first.usdPerHour < 0);
        // a part's price by the hour is what its GPUs cost more
        const double h100 = builtinCatalogue().gpu("h100-sxm-80gb")->usdPerHour;
        for (const RankedPart &part : table->parts)
            if (part.part.group == "nodes:a:new")
                QVERIFY(std::abs(*part.usdPerHour - h100 * 8 * part.part.size) < 1e-9);
    }

    void itWaitsUntilEditsHaveRestedAndTheNewestWins()
    {
        QElapsedTimer sinceEdit;
        std::atomic<qint64> rested = -1; // ms from the last edit to the first evaluation
        const auto evaluate = evaluation();
        StrategyEffects effects(builtinCatalogue(),
            [&](PlanPtr p, const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop,
                Depth depth) {
                qint64 none = -1;
                rested.compare_exchange_strong(none, sinceEdit.elapsed());
                return evaluate(std::move(p), catalogue, workspace, std::move(stop), depth);
            });
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        PlanPtr last;
        for (int i = 1; i <= 5; ++i) {
            last = plan(i);
            sinceEdit.start();
            effects.setPlan(last);
            QCoreApplication::processEvents();
        }
        const EffectTablePtr table = complete(spy);
        QVERIFY(table);
        QVERIFY2(
            rested >= 100, qPrintable(QString::number(rested))); // the rest is 150 ms; timers may be a little early
        for (const auto &call : spy)
            QCOMPARE(call.at(0).value<EffectTablePtr>()->plan, last);
    }

    void anEditStopsTheWorkOnThePlanBefore()
    {
        m_isHeld = true;
        StrategyEffects effects(builtinCatalogue(), evaluation());
        const auto atTheEnd = qScopeGuard([this] { release(); });
        effects.setRest(std::chrono::milliseconds(0));
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        effects.setPlan(plan(1));
        QTRY_VERIFY(m_evaluations > 3);
        effects.setPlan(nullptr);
        release();
        test::untilNothingIsUnderWay();
        // Three, and the one that each thread was at.
        QVERIFY2(
            m_evaluations < int(3 + RunPool::shared().threads().threads()), qPrintable(QString::number(m_evaluations)));
        for (const auto &call : spy)
            QVERIFY(!call.at(0).value<EffectTablePtr>()->complete);
    }

    void tablesGrowInBatches()
    {
        m_slow = true;
        StrategyEffects effects(builtinCatalogue(), evaluation());
        QSignalSpy spy(&effects, &StrategyEffects::effectsChanged);
        QElapsedTimer clock;
        clock.start();
        effects.setPlan(plan());
        QVERIFY(complete(spy));
        QVERIFY(spy.count() > 2);
        QVERIFY(spy.count() <= clock.elapsed() / 33 + 1); // at most 30 a second, and the last
        std::size_t before = 0;
        for (const auto &call : spy) {
            const auto table = call.at(0).value<EffectTablePtr>();
            QVERIFY(table->strategies.size() + table->parts.size() >= before);
            before = table->strategies.size();
        }
    }
};

TRAINYARD_GUILESS_TEST(EffectsTest)
#include "tst_effects.moc"
