// SPDX-License-Identifier: GPL-3.0-or-later
// Where the seconds of the breakdown are: of every sample, and of random plans of every schedule and system.
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/evaluate/metrics/breakdown_pieces.h"
#include "core/facts/plan/plan_io.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QDir>
#include <QTest>

#include <cmath>
#include <map>

using namespace trainyard;

namespace {

const unsigned kPlans = unsigned(test::trials(250));

struct Case {
    std::string name;
    EvaluationPtr evaluation;
};

const std::vector<Case> &cases()
{
    static const std::vector<Case> all = [] {
        std::vector<Case> found;
        EvaluationWorkspace workspace;
        const auto add = [&](const std::string &name, const Plan &plan) {
            const auto evaluation = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
            if (evaluation && (*evaluation)->metrics.breakdown)
                found.push_back({ name, *evaluation });
        };
        const QDir folder(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples"));
        for (const QString &file : folder.entryList({ QStringLiteral("*.json") }))
            add(file.toStdString(), *readPlan(folder.filePath(file).toStdString()));
        for (unsigned seed = 0; seed < kPlans; ++seed)
            add("random plan " + std::to_string(seed), test::RandomPlanBy<test::PortableDraws>(seed).plan());
        return found;
    }();
    return all;
}

std::vector<BreakdownPart> allParts()
{
    return { kBreakdownParts.begin(), kBreakdownParts.end() };
}

std::string told(const Case &of, const char *key, double is, double should)
{
    return of.name + ", " + key + ": " + std::to_string(is) + " instead of " + std::to_string(should);
}

} // namespace

class BreakdownPiecesTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QVERIFY(cases().size() > 9 + kPlans / 2); }

    /// Σ pieces / stages = the entry, for every entry of the breakdown.
    void thePiecesOfAnEntryAddUpToItsSeconds()
    {
        std::map<std::string, int> tried;
        for (const Case &of : cases()) {
            const double iteration = *of.evaluation->metrics.iterationTime;
            for (const BreakdownEntry &entry : breakdownEntries(*of.evaluation->metrics.breakdown)) {
                const TimePieces found = piecesOf(of.evaluation->timeline, std::array { entry.part });
                QVERIFY2(std::abs(found.seconds() - entry.seconds) <= 1e-9 * iteration,
                    told(of, entry.key, found.seconds(), entry.seconds).c_str());
                tried[entry.key] += entry.seconds > 0 ? 1 : 0;
            }
        }
        for (const auto &[key, count] : tried)
            QVERIFY2(count >= 3, key.c_str()); // no entry went untried
        QCOMPARE(tried.size(), kBreakdownParts.size());
    }

    /// On each row: the first piece begins at 0, each begins where the one before ended, the last ends with the
    /// iteration.
    void togetherTheyFillTheRowsOfTheSlowestPipeline()
    {
        for (const Case &of : cases()) {
            const Timeline &timeline = of.evaluation->timeline;
            const TimePieces found = piecesOf(timeline, allParts());
            std::map<std::uint32_t, Nanoseconds> reached;
            for (const TimePiece &piece : found.pieces) {
                QVERIFY2(piece.begin == reached[piece.track] && piece.end >= piece.begin, of.name.c_str());
                reached[piece.track] = piece.end;
            }
            QCOMPARE(reached.size(), std::size_t(found.stages));
            for (const auto &[track, end] : reached) {
                QCOMPARE(end, timeline.duration);
                QCOMPARE(timeline.tracks[track].pipelineClass, slowestClass(timeline));
            }
        }
    }

    /// |end - begin - seconds| <= 1 ns: what is drawn is as long as what it stands for.
    void whatIsDrawnIsAsLongAsItsSeconds()
    {
        for (const Case &of : cases())
            for (const TimePiece &piece : piecesOf(of.evaluation->timeline, allParts()).pieces)
                QVERIFY2(std::abs(double(piece.end - piece.begin) - piece.seconds * 1e9) <= 1.01,
                    told(of, "a piece", double(piece.end - piece.begin) * 1e-9, piece.seconds).c_str());
    }

    /// A piece of work lies inside its span; a wait ends at the latest where the span that waits begins, beside no
    /// other.
    void eachLiesInItsSpanOrBeforeTheOneThatWaits()
    {
        for (const Case &of : cases()) {
            const Timeline &timeline = of.evaluation->timeline;
            for (const TimePiece &piece : piecesOf(timeline, allParts()).pieces) {
                if (!piece.isWait) {
                    QVERIFY(piece.begin >= timeline.start[piece.span] && piece.end <= timeline.end[piece.span]
                        && timeline.trackOf[piece.span] == piece.track);
                    continue;
                }
                const Track &track = timeline.tracks[piece.track];
                const std::uint32_t before = piece.span == kNoSpan ? track.last : piece.span;
                QVERIFY(piece.span == kNoSpan || piece.end <= timeline.start[piece.span]);
                QVERIFY(before == track.first || piece.begin >= timeline.end[before - 1]);
            }
        }
    }

    /// What is waited for is on another row, and is what the part is named after.
    void aWaitNamesTheTransferThatIsAwaited()
    {
        int waits = 0;
        for (const Case &of : cases()) {
            const Timeline &timeline = of.evaluation->timeline;
            for (const TimePiece &piece : piecesOf(timeline, std::array { &Breakdown::wan }).pieces) {
                ++waits;
                QVERIFY2(piece.isWait && piece.transfer != kNoSpan, of.name.c_str());
                QCOMPARE(timeline.kind[piece.transfer], WorkKind::WanTransfer);
                QVERIFY(timeline.start[piece.transfer] < piece.end);
            }
            for (const TimePiece &piece : piecesOf(timeline, std::array { &Breakdown::bubble }).pieces)
                QVERIFY(piece.isWait && piece.transfer == kNoSpan);
        }
        QVERIFY(waits > 100);
    }

    /// Forward of 100 ns with 20 tensor, 10 data and 5 copies inside: 65 compute, then each as long as it takes.
    void theSharesOfAnOperationFollowOneAnother()
    {
        Timeline timeline;
        timeline.start = { 1000 };
        timeline.end = { 1100 };
        timeline.kind = { WorkKind::Forward };
        timeline.taskClass = { 0 };
        timeline.classes = { { .exposed = { .tensor = 20e-9, .data = 10e-9, .copies = 5e-9 } } };
        const OperationParts parts = operationParts(timeline, 0);
        QCOMPARE(parts.count, std::size_t { 4 });
        const std::array<BreakdownPart, 4> order { &Breakdown::compute, &Breakdown::tensorParallel,
            &Breakdown::dataParallel, &Breakdown::offloadStall };
        const std::array<Nanoseconds, 5> edges { 1000, 1065, 1085, 1095, 1100 };
        for (std::size_t i = 0; i < parts.count; ++i) {
            QVERIFY(parts.parts[i].part == order[i]);
            QCOMPARE(parts.parts[i].begin, edges[i]);
            QCOMPARE(parts.parts[i].end, edges[i + 1]);
        }
    }
};

TRAINYARD_GUILESS_TEST(BreakdownPiecesTest)
#include "tst_breakdown_pieces.moc"
