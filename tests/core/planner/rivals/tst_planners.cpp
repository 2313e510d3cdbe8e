// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of AMP, Metis and FlashFlex against everything that there is to try, by their own formulas.

#include "tests/core/planner/rivals/small_view.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using namespace trainyard::test;

class TstPlanners : public QObject {
    Q_OBJECT

private slots:
    void ampAddsUpItsFormula()
    {
        // Two stages of 2 layers of 1 s, embedding 0.25 s, head 0.5 s; 8 samples, one GPU each, micro-batches of 2:
        // t = 2 (2.25, 2.5) = 4.5 and 5; M = 4: 9.5 + 3 * 5; boundary 2 * 1e6 * 4 B at 1e6 B/s = 8 s.
        const PlannerInput input = smallView({ { .layer = 1, .machines = 1 } }, 4, 8, 2, 1e6);
        QVERIFY(isNear(ampSeconds(uniform(0, 1, 1, 2, { 2, 2 }), input), 9.5 + 15 + 8));
        // One stage, two replicas: M = 2, t = 2 (4 + 0.75) = 9.5; gradients 8e6 parameters * 4 B: 2 (1/2) 32e6 / 1e6.
        QVERIFY(isNear(ampSeconds(uniform(0, 1, 2, 2, { 4 }), input), 2 * 9.5 + 32));
        // In tensor groups of two half of both.
        QVERIFY(isNear(ampSeconds(uniform(0, 2, 1, 2, { 4 }), input), 4 * 4.75));
    }

    void ampSeesTheMeanOfUnequalGpus()
    {
        const PlannerInput equal = smallView({ { .layer = 2 }, { .layer = 2 } }, 4, 8),
                           unequal = smallView({ { .layer = 1 }, { .layer = 3 } }, 4, 8);
        const Choice choice = uniform(0, 1, 2, 1, { 2, 2 });
        QVERIFY(isNear(ampSeconds(choice, equal), ampSeconds(choice, unequal)));
    }

    void ampFindsTheBestOfAllDegreesAndCuts()
    {
        std::mt19937 random(3);
        for (int i = 0; i < 30; ++i) {
            const int machines = 1 << random() % 3, layers = 2 + int(random() % 6), batch = 16;
            const PlannerInput input = smallView({ { .layer = 0.1 + random() % 9, .machines = machines } }, layers,
                batch, 2, 1e6 * (1 + random() % 100));
            double best = std::numeric_limits<double>::infinity();
            const int gpus = 2 * machines;
            for (const int t : input.tensors)
                for (int d = 1; d * t <= gpus; ++d)
                    for (int p = 1; p <= layers; ++p)
                        for (const int m : input.microBatches)
                            if (p * d * t == gpus && batch % d == 0 && batch / d % m == 0)
                                for (const std::vector<int> &cut : allCuts(p, layers))
                                    best = std::min(best, ampSeconds(uniform(0, t, d, m, cut), input));
            const Ranking ranking = byAmp(input);
            QVERIFY(!ranking.choices.empty());
            QVERIFY2(isNear(ranking.choices.front().seconds, best),
                qPrintable(QStringLiteral("%1: %2 for %3").arg(i).arg(ranking.choices.front().seconds).arg(best)));
            QVERIFY(std::ranges::is_sorted(ranking.choices, {}, &Choice::seconds));
        }
    }

    void ampLeavesOutGpusUntilTheirNumberDividesTheBatch()
    {
        // 5 machines of 2: 16 samples are divided by 8 GPUs, not by 10.
        const PlannerInput input = smallView({ { .machines = 5 } }, 8, 16);
        for (const Choice &choice : byAmp(input).choices)
            QCOMPARE(gpusOf(choice), 8);
    }

    /// What AMP published for GPT-2 of 24 layers in 4 stages with 4 replicas, predicted seconds at micro-batches of 1,
    /// 2 and 4: by T = sum + (M - 1) max + boundaries + const with M = 8 / b each further sample costs as much.
    void ampsPublishedPredictionsGrowAsItsFormulaDoes()
    {
        const double published[] = { 1.086, 1.329, 1.822 };
        const double ratio = (published[2] - published[1]) / (published[1] - published[0]);
        PlannerInput input = smallView({ { .layer = 0.01, .machines = 8 } }, 24, 32, 2, 1e9);
        std::vector<double> ours;
        for (const int b : input.microBatches)
            ours.push_back(ampSeconds(uniform(0, 1, 4, b, { 6, 6, 6, 6 }), input));
        QVERIFY(isNear((ours[2] - ours[1]) / (ours[1] - ours[0]), 2));
        QVERIFY2(std::abs(ratio / 2 - 1) < 0.02, qPrintable(QString::number(ratio)));
    }

    void metisAddsUpItsFormula()
    {
        // Kind 0 twice as fast. Stage 0: a replica of each shares two samples by speed: 2 / (1/2 + 1/4) per 2 layers.
        PlannerInput input = smallView({ { .layer = 1 }, { .layer = 2 } }, 4, 8, 2, 1e6);
        for (Kind &kind : input.kinds)
            for (auto &row : kind.figures)
                for (LayerFigures &figures : row)
                    figures.embedding = figures.head = 0;
        Choice choice { 1, 2 };
        choice.stages = { { 2, { { 0, 1, 1 }, { 1, 1, 1 } } }, { 2, { { 0, 1, 1 }, { 1, 1, 1 } } } };
        // t = 2.667 both; M = 4; boundary 4e6 B; reduction 2 (1/2) (2 + 2)e6 * 4 B at 1e6 B/s.
        QVERIFY(isNear(metisSeconds(choice, input), 5 * 8.0 / 3 + 4 + 16));
    }

    void metisGivesLayersBySpeedAndMovesThemForMemory()
    {
        // Two machines of two, one three times as fast: of 8 layers 6 and 2.
        PlannerInput input = smallView({ { .layer = 1 }, { .layer = 3 } }, 8, 8);
        const auto layersOf = [](const Ranking &ranking, int stages) {
            for (const Choice &choice : ranking.choices)
                if (int(choice.stages.size()) == stages && choice.stages.front().replicas.front().site == 0
                    && choice.stages.front().replicas.front().tensor == 1 && choice.microBatch == 1)
                    return std::vector { choice.stages.front().layers, choice.stages.back().layers };
            return std::vector<int> {};
        };
        QCOMPARE(layersOf(byMetis(input), 2), (std::vector { 6, 2 }));
        // The fast one has memory for four layers: 16 B * 1e6 each, and the embedding's 2e6.
        input.kinds[0].memory = 16e6 * (4.5 + 2) + 4.5 * 2e6;
        const std::vector<int> moved = layersOf(byMetis(input), 2);
        QCOMPARE(moved.size(), std::size_t(2));
        QVERIFY(moved[0] <= 4 && moved[0] + moved[1] == 8);
        input.kinds[0].memory = input.kinds[1].memory = 16e6; // not even the ends
        QVERIFY(byMetis(input).choices.empty());
    }

    void metisTriesKindsInEveryOrder()
    {
        const PlannerInput input = smallView({ { .layer = 1 }, { .layer = 2 }, { .layer = 3, .machines = 2 } }, 8, 8);
        std::set<std::vector<int>> orders;
        for (const Choice &choice : byMetis(input).choices) {
            std::vector<int> order;
            for (const ChosenStage &stage : choice.stages)
                for (const Replicas &replicas : stage.replicas)
                    if (std::ranges::find(order, replicas.site) == order.end())
                        order.push_back(replicas.site);
            orders.insert(order);
        }
        QCOMPARE(orders.size(), std::size_t(6));
    }

    void flashFlexAddsUpItsFormula()
    {
        const PlannerInput input = smallView({ {} }, 4, 8, 2, 1e6);
        // 72 s h^2 (1 + s/6h + V/16Lh) / flops = 72e9 (1 + 1/6 + 2/64) / 1e12 s a layer.
        const double layer = 0.072 * (1 + 1.0 / 6 + 1.0 / 32);
        // Two stages of 2, 8 micro-batches: 9 columns; each boundary 2 * 4e6 / 1e6 s, counted on the first stage.
        const double first = 2 * layer + 8, last = 2 * layer;
        QVERIFY(isNear(flashFlexSeconds(uniform(0, 1, 1, 1, { 2, 2 }), input), first + 7 * first + last));
        // Tensor groups of two: half the time, and 8 s h 4 B (1/2) / 1e12 s for what they exchange.
        QVERIFY(isNear(
            flashFlexSeconds(uniform(0, 2, 1, 1, { 4 }), input), 8 * 4 * (layer / 2 + 8 * 1e6 * 4 * 0.5 / 1e12)));
        // Two replicas: half the micro-batches, and 2 * 12e6 * 4 B / 2 a layer at 1e6 B/s.
        QVERIFY(isNear(flashFlexSeconds(uniform(0, 1, 2, 1, { 4 }), input), 4 * 4 * layer + 4 * 2 * 24));
    }

    void flashFlexsColumnsAreThoseOfTheGrid()
    {
        // Each column of GPipe's chart takes as long as the longest stage in it.
        std::mt19937 random(5);
        for (int i = 0; i < 50; ++i) {
            const int stages = 1 + int(random() % 6), batch = 1 + int(random() % 9);
            const PlannerInput input = smallView({ {} }, 24, batch, 2, 1e30);
            std::vector<int> layers;
            for (int s = 0; s < stages; ++s)
                layers.push_back(1 + int(random() % 4));
            double sum = 0;
            for (int column = 0; column < batch + stages - 1; ++column) {
                int longest = 0;
                for (int s = 0; s < stages; ++s)
                    if (column - s >= 0 && column - s < batch)
                        longest = std::max(longest, layers[std::size_t(s)]);
                sum += longest;
            }
            const double one = flashFlexSeconds(uniform(0, 1, 1, 1, { 1 }), input) / batch;
            const double columns = flashFlexSeconds(uniform(0, 1, 1, 1, layers), input) / one;
            QVERIFY2(std::abs(columns - sum) < 1e-6, qPrintable(QStringLiteral("%1 for %2").arg(columns).arg(sum)));
        }
    }

    void flashFlexGivesLayersByMemory()
    {
        // Stages of one machine each, 1 : 3 of the memory: of 8 layers 2 and 6.
        const PlannerInput input = smallView({ { .memory = 1e12 }, { .memory = 3e12 } }, 8, 8);
        bool isSeen = false;
        for (const Choice &choice : byFlashFlex(input).choices) {
            if (choice.stages.size() != 2 || choice.data != 1 || choice.stages[0].replicas.front().tensor != 2
                || choice.stages[0].replicas.front().site == choice.stages[1].replicas.front().site)
                continue;
            isSeen = true;
            QCOMPARE(choice.stages[0].layers, 2);
            QCOMPARE(choice.stages[1].layers, 6);
        }
        QVERIFY(isSeen);
    }

    void nothingUsesMoreGpusThanThereAre()
    {
        std::mt19937 random(7);
        for (int i = 0; i < 60; ++i) {
            std::vector<SmallKind> kinds;
            for (int k = 0; k < 1 + int(random() % 3); ++k)
                kinds.push_back({ 0.1 + random() % 5, 1 + int(random() % 5), 2e8 + 1e8 * (random() % 9) });
            const PlannerInput input = smallView(kinds, 3 + int(random() % 6), 24, 1 << random() % 3);
            for (const Ranking &ranking : { byAmp(input), byMetis(input), byFlashFlex(input), bySailor(input) }) {
                for (const Choice &choice : ranking.choices) {
                    std::map<int, int> used;
                    int layers = 0;
                    for (const ChosenStage &stage : choice.stages) {
                        int replicas = 0;
                        for (const Replicas &r : stage.replicas) {
                            used[r.site] += r.count * r.tensor;
                            replicas += r.count;
                        }
                        QCOMPARE(replicas, choice.data);
                        layers += stage.layers;
                        QVERIFY(stage.layers > 0);
                    }
                    QCOMPARE(layers, input.layers);
                    for (const auto &[site, gpus] : used)
                        QVERIFY(gpus <= input.sites[std::size_t(site)].gpus);
                    QVERIFY(choice.seconds > 0 && std::isfinite(choice.seconds));
                }
            }
        }
    }
};

TRAINYARD_APPLESS_TEST(TstPlanners)
#include "tst_planners.moc"
