// SPDX-License-Identifier: GPL-3.0-or-later
// One way in: the depths agree with each other, feasibility is judged once, and what is known is not run again.
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/evaluate/run_cache.h"
#include "core/evaluation/memory_fit/footprint.h"
#include "core/facts/plan/plan_io.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using test::randomValidPlan;

namespace {

constexpr std::uint32_t kPlans = 120;

bool hasBlocking(const Evaluation &evaluation)
{
    return std::ranges::any_of(evaluation.problems, [](const Problem &p) { return p.severity == Severity::Blocking; });
}

} // namespace

class TestRun : public QObject {
    Q_OBJECT

    ExpectedAll<EvaluationPtr> at(Depth depth, const PlanPtr &plan, RunCache *cache = nullptr)
    {
        return run(plan, depth,
            { .catalogue = builtinCatalogue(), .workspace = m_workspace, .fixes = &quickFixes(), .cache = cache });
    }

    EvaluationPtr find(RunCache &cache, const Plan &plan)
    {
        return cache.find(plan, Depth::Score, { .catalogue = builtinCatalogue(), .workspace = m_workspace });
    }

    EvaluationWorkspace m_workspace;

private slots:
    // feasible ⇔ no problem is blocking
    void aPlanIsFeasibleWhereNoProblemBlocksIt()
    {
        int infeasible = 0, looked = 0;
        for (std::uint32_t seed = 0; seed < kPlans; ++seed) {
            const auto score = at(Depth::Score, randomValidPlan(seed));
            if (!score)
                continue;
            ++looked;
            infeasible += !(*score)->feasible();
            QVERIFY2((*score)->feasible() == !hasBlocking(**score), std::to_string(seed).c_str());
        }
        QVERIFY(looked > 50 && infeasible > 5 && infeasible < looked);
    }

    // time, memory and verdict of Score = of Spans = of Everything; spans only from Spans on, fixes only in Everything
    void deeperIsTheSameAndMore()
    {
        int searched = 0;
        for (std::uint32_t seed = 0; seed < kPlans / 4; ++seed) {
            const PlanPtr plan = randomValidPlan(seed);
            const auto score = at(Depth::Score, plan), spans = at(Depth::Spans, plan),
                       everything = at(Depth::Everything, plan);
            QCOMPARE(score.has_value(), spans.has_value());
            if (!score)
                continue;
            for (const EvaluationPtr &deeper : { *spans, *everything }) {
                QCOMPARE(deeper->metrics.iterationTime, (*score)->metrics.iterationTime);
                QVERIFY(deeper->feasibility == (*score)->feasibility);
                QCOMPARE(deeper->metrics.memory.has_value(), (*score)->metrics.memory.has_value());
                QCOMPARE(deeper->metrics.spans, (*score)->metrics.spans);
                QVERIFY(deeper->timeline.spanCount() >= deeper->metrics.spans); // and those of prefill
                QCOMPARE(deeper->problems.size(), (*score)->problems.size());
            }
            QVERIFY((*score)->timeline.isEmpty());
            for (const Problem &problem : (*spans)->problems)
                QVERIFY(problem.toFind == FixSearchKind::None || problem.fixes.empty());
            searched += std::ranges::any_of((*everything)->problems,
                [](const Problem &p) { return p.toFind != FixSearchKind::None && !p.fixes.empty(); });
        }
        QVERIFY(searched > 0);
    }

    // A plan that fits somewhere fits where it is evaluated: Score takes a placement that can run before one that
    // cannot.
    void whatFitsCanRun()
    {
        int fitting = 0;
        for (std::uint32_t seed = 0; seed < kPlans; ++seed) {
            const PlanPtr plan = randomValidPlan(seed);
            const auto fit = at(Depth::Fit, plan), score = at(Depth::Score, plan);
            if (!fit || !(*fit)->feasible() || !score || !(*score)->metrics.iterationTime)
                continue;
            ++fitting;
            QVERIFY2((*score)->feasible(), std::to_string(seed).c_str());
            const Footprint size = footprint(plan, builtinCatalogue(), m_workspace);
            QVERIFY(size.fits && size.isPlaced);
        }
        QVERIFY(fitting > 20);
    }

    // memory of Estimate >= memory of Score where both lie alike; equal where 1f1b or gpipe has one chunk a stage and
    // keeps all
    void theEstimateBoundsTheMemory()
    {
        int looked = 0, equal = 0;
        for (std::uint32_t seed = 0; seed < 4 * kPlans; ++seed) {
            const PlanPtr plan = randomValidPlan(seed);
            const auto rough = at(Depth::Estimate, plan), score = at(Depth::Score, plan);
            if (!rough || !score || !(*score)->metrics.memory || !(*rough)->metrics.memory
                || (*rough)->layout.classes != (*score)->layout.classes)
                continue;
            ++looked;
            for (std::size_t stage = 0; stage < (*score)->metrics.memory->perStage.size(); ++stage) {
                const StageMemory &most = (*rough)->metrics.memory->perStage[stage],
                                  &counted = (*score)->metrics.memory->perStage[stage];
                QVERIFY2(most.device + 1000 >= counted.device,
                    (std::to_string(seed) + ": " + toString(plan->schedule)).c_str()); // whole bytes of parts
                equal += most.device - counted.device < 1000;
            }
        }
        QVERIFY(looked > 100 && equal > 20);
    }

    void whatIsKnownIsNotRunAgain()
    {
        RunCache cache;
        const PlanPtr plan = randomValidPlan(3), same = std::make_shared<const Plan>(*plan);
        const auto spans = at(Depth::Spans, plan, &cache);
        QVERIFY(spans);
        QCOMPARE(at(Depth::Spans, plan, &cache)->get(), spans->get());
        QCOMPARE(at(Depth::Score, plan, &cache)->get(), spans->get()); // a deeper one answers
        const auto again = at(Depth::Spans, same, &cache);
        QCOMPARE((*again)->plan, same); // of the very plan that was asked about
        QCOMPARE((*again)->metrics.evaluateMs, (*spans)->metrics.evaluateMs);
        QVERIFY(at(Depth::Everything, same, &cache)->get() != spans->get()); // a shallower does not
        QVERIFY(at(Depth::Fit, same, &cache)->get() != spans->get()); // another placement may be the nearest to fitting
        Plan other = *plan;
        other.workload.globalBatch *= 2;
        QVERIFY(at(Depth::Score, std::make_shared<const Plan>(other), &cache)->get() != spans->get());
    }

    /// A model of a file may be another one by the next time.
    void whatFilesSayIsReadAgain()
    {
        RunCache cache;
        Plan plan = *randomValidPlan(3);
        plan.bubbleFill.enabled = true;
        plan.bubbleFill.arrivals = Arrivals::Trace;
        plan.bubbleFill.trace = "no such file.csv";
        const auto ptr = std::make_shared<const Plan>(plan);
        static_cast<void>(at(Depth::Score, ptr, &cache));
        QVERIFY(!find(cache, *ptr));
    }

    /// What a stop left unfinished is no answer, then or later.
    void whatWasStoppedIsNotKept()
    {
        class Stopping : public FixFinder {
        public:
            explicit Stopping(std::stop_source &stop)
                : m_stop(stop)
            {
            }
            void addFixes(Evaluation &, const Workload *, const RunContext &) const override { m_stop.request_stop(); }

        private:
            std::stop_source &m_stop;
        };
        RunCache cache;
        std::stop_source stop;
        const Stopping fixes(stop);
        const PlanPtr plan = randomValidPlan(3);
        const auto stopped = run(plan, Depth::Everything,
            { .catalogue = builtinCatalogue(),
                .workspace = m_workspace,
                .stop = stop.get_token(),
                .fixes = &fixes,
                .cache = &cache });
        QVERIFY(!stopped && stopped.error().front().code == ErrorCode::Cancelled);
        QVERIFY(!find(cache, *plan));
    }

    // entries ≤ 2, the oldest goes first
    void theCacheKeepsTheNewest()
    {
        RunCache cache(2);
        const PlanPtr plans[] = { randomValidPlan(3), randomValidPlan(4), randomValidPlan(5) };
        for (const PlanPtr &plan : plans)
            QVERIFY(at(Depth::Score, plan, &cache));
        QVERIFY(!find(cache, *plans[0]));
        QVERIFY(find(cache, *plans[1]));
        QVERIFY(find(cache, *plans[2]));
    }

    void everyDepthStops()
    {
        std::stop_source stop;
        stop.request_stop();
        for (const Depth depth : { Depth::Fit, Depth::Score, Depth::Spans, Depth::Everything }) {
            const auto stopped = run(randomValidPlan(3), depth,
                { .catalogue = builtinCatalogue(), .workspace = m_workspace, .stop = stop.get_token() });
            QVERIFY(!stopped);
            QCOMPARE(stopped.error().front().code, ErrorCode::Cancelled);
        }
    }
};

TRAINYARD_APPLESS_TEST(TestRun)
#include "tst_run.moc"
