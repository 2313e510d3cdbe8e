// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/piece_pipeline.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <random>
#include <vector>

using namespace trainyard;

namespace {

std::vector<PipelineStage> randomStages(std::mt19937 &random)
{
    std::uniform_int_distribution<int> count(1, 4);
    std::uniform_real_distribution<double> exponent(-6, -2), share(0, 1);
    std::vector<PipelineStage> stages(std::size_t(count(random)));
    for (PipelineStage &stage : stages) {
        stage.moving = Seconds { std::pow(10, exponent(random)) };
        stage.start = share(random) < 0.2 ? Seconds {} : Seconds { std::pow(10, exponent(random) - 1) };
    }
    return stages;
}

/// Pieces through stages one after the other, each stage busy with one piece at a time.
double byEvents(const std::vector<PipelineStage> &stages, int pieces)
{
    std::vector<double> ends(stages.size() + 1);
    for (int piece = 0; piece < pieces; ++piece) {
        ends[0] = 0;
        for (std::size_t i = 0; i < stages.size(); ++i)
            ends[i + 1] = std::max(ends[i], ends[i + 1]) + stages[i].start.value + stages[i].moving.value / pieces;
    }
    return ends.back();
}

} // namespace

class TestPiecePipeline : public QObject {
    Q_OBJECT

private slots:
    void theClosedFormIsThatOfItsEvents();
    void onePieceIsOneAfterTheOther();
    void theBestPiecesAreThoseOfBruteForce();
    void theRootAloneMissesWhereTheLongestStageChanges();
    void theTimeNeverFallsAgainBehindItsBest();
    void stagesWithoutAStartTakeAsManyAsAllowed();
    void oneStageIsNotDivided();
};

/// T(n) = sum of t_x + (n - 1) max t_x; a_i = a_{i-1} + t_a, g_i = max(a_i, g_{i-1}) + t_g …
void TestPiecePipeline::theClosedFormIsThatOfItsEvents()
{
    std::mt19937 random(3);
    for (int i = 0; i < 1000; ++i) {
        const auto stages = randomStages(random);
        for (const int pieces : { 1, 2, 3, 7, 64 })
            QVERIFY(std::abs(pipelineTime(stages, pieces).value / byEvents(stages, pieces) - 1) < 1e-9);
    }
}

void TestPiecePipeline::onePieceIsOneAfterTheOther()
{
    std::mt19937 random(4);
    const auto stages = randomStages(random);
    double sum = 0;
    for (const PipelineStage &stage : stages)
        sum += stage.start.value + stage.moving.value;
    QCOMPARE(pipelineTime(stages, 1).value, sum);
}

void TestPiecePipeline::theBestPiecesAreThoseOfBruteForce()
{
    constexpr int kMost = 256;
    std::mt19937 random(11);
    int inside = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto stages = randomStages(random);
        int best = 1;
        for (int pieces = 2; pieces <= kMost; ++pieces) {
            if (pipelineTime(stages, pieces).value < pipelineTime(stages, best).value * (1 - 1e-12))
                best = pieces;
        }
        const int found = bestPieces(stages, kMost);
        QVERIFY2(found == best, qPrintable(QStringLiteral("instance %1: %2, not %3").arg(i).arg(found).arg(best)));
        inside += best > 1 && best < kMost ? 1 : 0;
    }
    QVERIFY(inside > 200); // not all at an end
}

/// sqrt(sum of the others' moving / start of the longest), longest while all is one piece; the better of its
/// neighbours.
void TestPiecePipeline::theRootAloneMissesWhereTheLongestStageChanges()
{
    constexpr int kMost = 256;
    std::mt19937 random(11);
    int missed = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto stages = randomStages(random);
        const auto longest =
            std::ranges::max_element(stages, {}, [](const PipelineStage &s) { return s.start + s.moving; });
        double others = 0;
        for (const PipelineStage &stage : stages)
            others += &stage == &*longest ? 0 : stage.moving.value;
        const double root = std::clamp(std::sqrt(others / longest->start.value), 1.0, double(kMost));
        const Seconds below = pipelineTime(stages, std::max(1, int(std::isnan(root) ? kMost : root)));
        const Seconds above = pipelineTime(stages, std::min(kMost, int(std::isnan(root) ? kMost : root) + 1));
        missed += std::min(below, above) > pipelineTime(stages, bestPieces(stages, kMost)) * (1 + 1e-9) ? 1 : 0;
    }
    QVERIFY2(missed > 10, qPrintable(QString::number(missed)));
}

void TestPiecePipeline::theTimeNeverFallsAgainBehindItsBest()
{
    std::mt19937 random(12);
    for (int i = 0; i < 300; ++i) {
        const auto stages = randomStages(random);
        bool hasRisen = false;
        for (int pieces = 1; pieces < 2000; ++pieces) {
            const double now = pipelineTime(stages, pieces).value, next = pipelineTime(stages, pieces + 1).value;
            QVERIFY(!hasRisen || next >= now * (1 - 1e-12));
            hasRisen = hasRisen || next > now * (1 + 1e-12);
        }
    }
}

void TestPiecePipeline::stagesWithoutAStartTakeAsManyAsAllowed()
{
    const std::vector<PipelineStage> stages { { {}, Seconds { 1e-3 } }, { {}, Seconds { 2e-3 } } };
    QCOMPARE(bestPieces(stages, 37), 37);
    QCOMPARE(bestPieces(stages, 0), 1);
}

/// T(n) = n start + moving, and without a start the same for all n: the fewest.
void TestPiecePipeline::oneStageIsNotDivided()
{
    QCOMPARE(bestPieces(std::vector<PipelineStage> { { Seconds { 1e-6 }, Seconds { 1e-3 } } }, 256), 1);
    QCOMPARE(bestPieces(std::vector<PipelineStage> { { {}, Seconds { 1e-3 } } }, 256), 1);
    QCOMPARE(bestPieces({}, 256), 1);
}

TRAINYARD_APPLESS_TEST(TestPiecePipeline)
#include "tst_piece_pipeline.moc"
