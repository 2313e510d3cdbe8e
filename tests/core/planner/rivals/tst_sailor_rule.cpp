// SPDX-License-Identifier: GPL-3.0-or-later
// Sailor's dynamic programme against all that it might choose, and what it is asked to keep.

#include "core/planner/rivals/sailor_figures.h"
#include "tests/core/planner/rivals/small_view.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Every stage, one after the other, gets every split of its replicas between the kinds; the least time by the closed
/// form of what fits.
class Everything {
public:
    Everything(const PlannerInput &input, int stages, int data, int microBatch)
        : m_input(input)
        , m_layers(sailorLayers(input.layers, stages))
        , m_choice { microBatch, data }
    {
        for (const Site &site : input.sites)
            m_left.push_back(site.gpus);
    }

    double best()
    {
        place(0);
        return m_best;
    }

private:
    void place(int stage)
    {
        if (stage == int(m_layers.size())) {
            if (const auto predicted = sailorPrediction(m_choice, m_input))
                m_best = std::min(m_best, predicted->iteration().value);
            return;
        }
        m_choice.stages.push_back({ m_layers[std::size_t(stage)], {} });
        share(stage, 0, m_choice.data);
        m_choice.stages.pop_back();
    }

    void share(int stage, std::size_t kind, int open)
    {
        if (kind == m_left.size()) {
            if (open == 0)
                place(stage + 1);
            return;
        }
        const int batches =
            (m_input.batch + m_choice.data * m_choice.microBatch - 1) / (m_choice.data * m_choice.microBatch);
        const StageFigures figures = stageFigures(m_input, int(kind), m_layers, stage, m_choice.microBatch, batches);
        for (int count = 0; count <= open; ++count) {
            const int gpus = count * figures.tensor;
            if ((count > 0 && figures.tensor == 0) || gpus > m_left[kind])
                break;
            m_left[kind] -= gpus;
            if (count > 0)
                m_choice.stages.back().replicas.push_back({ int(kind), figures.tensor, count });
            share(stage, kind + 1, open - count);
            if (count > 0)
                m_choice.stages.back().replicas.pop_back();
            m_left[kind] += gpus;
        }
    }

    const PlannerInput &m_input;
    std::vector<int> m_layers;
    Choice m_choice;
    std::vector<int> m_left;
    double m_best = std::numeric_limits<double>::infinity();
};

double bestOfAll(const PlannerInput &input)
{
    double best = std::numeric_limits<double>::infinity();
    for (int stages = 1; stages <= input.layers; ++stages)
        for (const int microBatch : input.microBatches)
            for (int data = 1; data * stages <= input.gpus() && data * microBatch <= input.batch; ++data)
                best = std::min(best, Everything(input, stages, data, microBatch).best());
    return best;
}

} // namespace

class TstSailorRule : public QObject {
    Q_OBJECT

private slots:
    void layersThatDoNotDivideGoToTheLastStages()
    {
        QCOMPARE(sailorLayers(26, 4), (std::vector { 6, 6, 7, 7 }));
        QCOMPARE(sailorLayers(24, 4), (std::vector { 6, 6, 6, 6 }));
    }

    void theTensorDegreeGrowsWhileItIsOneAndAHalfTimesAsFast()
    {
        PlannerInput input = smallView({ { .layer = 1 } }, 4, 8, 4);
        // Groups of two twice as fast, groups of four 1.4 times as fast as those.
        for (LayerFigures &figures : input.kinds[0].figures[2]) {
            figures.layer =
                input.kinds[0].figures[1][std::size_t(&figures - input.kinds[0].figures[2].data())].layer / 1.4;
            figures.embedding = figures.head = 0;
        }
        for (auto &row : input.kinds[0].figures)
            for (LayerFigures &figures : row)
                figures.embedding = figures.head = 0;
        QCOMPARE(stageFigures(input, 0, { 4 }, 0, 1, 8).tensor, 2);
        // Nothing but groups of four has room: 24 B * 8e6 / t + activations + K.
        input.kinds[0].memory = 3e9 + 24 * 8e6 / 4 + 4 * 1e6;
        QCOMPARE(stageFigures(input, 0, { 4 }, 0, 1, 8).tensor, 4);
        input.kinds[0].memory = 2e9;
        QCOMPARE(stageFigures(input, 0, { 4 }, 0, 1, 8).tensor, 0);
    }

    /// Seven GPUs of at most two kinds, each of up to seven replicas: its counts in eighths are all counts there are.
    /// Its programme keeps of the stages behind one the way that is best alone, so it may miss the best by little.
    void itMostlyFindsTheBestOfAllChoices()
    {
        std::mt19937 random(11);
        int exact = 0, cases = 0;
        for (int i = 0; i < 24; ++i) {
            std::vector<SmallKind> kinds;
            for (int k = 0; k < 1 + i % 2; ++k)
                kinds.push_back({ 0.05 * double(1 + random() % 8), 2 + int(random() % 2) });
            PlannerInput input = smallView(kinds, 3 + int(random() % 2), 16, 1, 1e8 * double(1 + random() % 20));
            input.microBatches = { 1, 2 };
            const double best = bestOfAll(input);
            const Ranking ranking = bySailor(input);
            QVERIFY(!ranking.choices.empty());
            const double found = ranking.choices.front().seconds;
            QVERIFY2(found >= best * (1 - 1e-9), qPrintable(QStringLiteral("%1 below %2").arg(found).arg(best)));
            exact += isNear(found, best);
            ++cases;
        }
        QVERIFY2(exact * 10 >= cases * 9, qPrintable(QStringLiteral("%1 of %2").arg(exact).arg(cases)));
    }

    void whatItIsAskedToKeepIsKept()
    {
        std::mt19937 random(13);
        int answers = 0;
        for (int i = 0; i < 40; ++i) {
            const PlannerInput input = smallView({ { .layer = 0.1, .machines = 3, .usdPerSecond = 3 },
                                                     { .layer = 0.05 * double(1 + random() % 6), .machines = 2 } },
                4, 16, 2, 1e8 * double(1 + random() % 20));
            const Ranking free = bySailor(input), cheap = bySailor(input, { .wantsCheap = true });
            const double least = cheap.choices.front().usd, most = free.choices.front().usd;
            QVERIFY(least <= most * (1 + 1e-12));
            const Wishes wishes { .mostUsd = least + (most - least) * double(random() % 11) / 10 };
            for (const Choice &choice : bySailor(input, wishes).choices) {
                QVERIFY(choice.usd <= *wishes.mostUsd);
                ++answers;
            }
            const Wishes fast { .wantsCheap = true, .mostSeconds = free.choices.front().seconds * 1.2 };
            for (const Choice &choice : bySailor(input, fast).choices)
                QVERIFY(choice.seconds <= *fast.mostSeconds);
        }
        QVERIFY(answers > 100);
    }

    void dataParallelStaysInsideARegion()
    {
        PlannerInput input = smallView({ { .machines = 2 }, { .machines = 2 } }, 4, 16);
        input.sites[1].datacenter = 1;
        input.sites[1].region = 1;
        for (const Choice &choice : bySailor(input).choices)
            for (const ChosenStage &stage : choice.stages)
                for (const Replicas &replicas : stage.replicas)
                    QCOMPARE(input.sites[std::size_t(replicas.site)].region,
                        input.sites[std::size_t(stage.replicas.front().site)].region);
    }
};

TRAINYARD_APPLESS_TEST(TstSailorRule)
#include "tst_sailor_rule.moc"
