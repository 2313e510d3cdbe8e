// SPDX-License-Identifier: GPL-3.0-or-later
// Links are fitted to what a formula describes, and none comes out faster than its wire: whoever says so has told wrong
// sizes, or measured another machine.
#include "core/facts/network/collectives.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/runs/calibrate/small_truth.h"
#include "tests/core/runs/overlay/recorded_run.h"
#include "tests/core/runs/overlay/sample_runs.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr double kNics = 25e9; // B/s: 200 Gbps a GPU

/// Two nodes of two GPUs with such NICs.
Plan lab()
{
    Plan plan = smallPlan();
    plan.cluster.datacenters.front().fabricGbpsPerGpu = kNics * 8e-9;
    return plan;
}

/// A ring of two moves each byte of an all-reduce out of each once: seconds = 40 µs + bytes / rate.
void addPoints(Recording &recording, const std::string &file, double rate, int nodes)
{
    const auto source = static_cast<std::uint32_t>(recording.sources.size());
    recording.sources.push_back({ .file = file, .kind = SourceKind::NcclTests });
    for (double bytes = 1 << 16; bytes <= 1 << 30; bytes *= 2)
        recording.benchmarks.push_back({ .what = "all_reduce",
            .ranks = 2,
            .nodes = nodes,
            .bytes = bytes,
            .seconds = 40e-6 + bytes / rate,
            .source = source });
}

const FittedFactor *linkOf(const CalibrationProposal &proposal, CalibratedPart what)
{
    const auto found =
        std::ranges::find(proposal.factors, what, [](const FittedFactor &one) { return one.factor.what; });
    return found == proposal.factors.end() ? nullptr : &*found;
}

EvaluationPtr expertSample(MoeDispatch dispatch = MoeDispatch::TrafficAware)
{
    return evaluatedSample({ "moe-2x70b-16-a800", [&](Plan &plan) { plan.moe.dispatch = dispatch; } });
}

} // namespace

class WireBoundTest : public QObject {
    Q_OBJECT
private slots:
    void aBenchmarkIsTakenUpToTheRateOfTheWire_data()
    {
        QTest::addColumn<double>("rate");
        QTest::addColumn<int>("nodes");
        QTest::addColumn<bool>("isTaken");
        QTest::newRow("NICs at 96 %") << 0.96 * kNics << 2 << true;
        QTest::newRow("above its NICs") << 1.04 * kNics << 2 << false;
        QTest::newRow("of a machine with other NICs") << 82e9 << 2 << false;
        QTest::newRow("NVLink at 85 %") << 0.85 * 450e9 << 1 << true;
        QTest::newRow("above NVLink") << 1.04 * 450e9 << 1 << false;
    }
    void aBenchmarkIsTakenUpToTheRateOfTheWire()
    {
        QFETCH(double, rate);
        QFETCH(int, nodes);
        QFETCH(bool, isTaken);
        Recording recording;
        addPoints(recording, "nccl.txt", rate, nodes);
        const CalibrationProposal proposal = proposalOf(lab(), recording);
        const FittedFactor *link = linkOf(proposal, nodes > 1 ? CalibratedPart::Fabric : CalibratedPart::Nvlink);
        QVERIFY2(link, qPrintable(told(proposal)));
        // An all-reduce reaches that share of what its link does, sends and gathers all of it.
        const double share =
            nodes > 1 ? 1 : deviceLink(*builtinCatalogue().gpu(kGpu), builtinNetwork()).kind->reduceGain;
        QVERIFY2(std::abs(*link->factor.gbytesPerS * 1e9 * share / rate - 1) < 0.02, qPrintable(told(proposal)));
        QCOMPARE(link->refused.empty(), isTaken);
        QVERIFY(isTaken || link->refused.find(nodes > 1 ? "NICs carries" : "beside it carries") != std::string::npos);
        QCOMPARE(withFactors(lab(), proposal, idsOf(proposal)).calibration.empty(), !isTaken);
    }

    /// Of two files that tell no one link together the one that alone tells none is named; the other is taken.
    void theFileThatClashesIsNamed()
    {
        Recording recording;
        addPoints(recording, "h100.txt", 0.9 * kNics, 2);
        addPoints(recording, "gb200.txt", 40 * kNics, 2);
        const CalibrationProposal proposal = proposalOf(lab(), recording);
        const FittedFactor *fabric = linkOf(proposal, CalibratedPart::Fabric);
        QVERIFY2(fabric && fabric->refused.empty(), qPrintable(told(proposal)));
        QVERIFY2(std::abs(*fabric->factor.gbytesPerS * 1e9 / (0.9 * kNics) - 1) < 0.06, qPrintable(told(proposal)));
        QVERIFY2(hasNote(proposal.notes, "nothing is taken of gb200.txt"), qPrintable(told(proposal)));
        QVERIFY(!hasNote(proposal.notes, "taken of h100.txt"));
    }

    /// The generator's own sizes are those of 100 GB/s, over NICs of 12.5: a factor of 0.13 says that a GPU sends 80.
    void sizesThatTheNicsDidNotCarryGiveNoFabric()
    {
        const EvaluationPtr plan = expertSample();
        const Recording recording =
            recordRun(plan, { .steps = 4, .seed = 7, .tensorFactor = 1.15, .dataFactor = 1.25 }).recording;
        const CalibrationProposal proposal = proposalOf(*plan->plan, recording);
        const FittedFactor *fabric = linkOf(proposal, CalibratedPart::Fabric);
        QVERIFY2(fabric && !fabric->refused.empty(), qPrintable(told(proposal)));
        QVERIFY2(fabric->refused.find("NICs carries 12.5 GB/s") != std::string::npos, fabric->refused.c_str());
        QVERIFY(!withFactors(*plan->plan, proposal, idsOf(proposal)).calibration.contains(fabric->id));
    }

    /// The sample's recording was made with kernels 6 %, collectives inside a node 15 % and between nodes 25 % longer
    /// than planned (docs/plan-against-run.md).
    void theSampleTeachesWhatItsTextSays()
    {
        const EvaluationPtr plan = expertSample();
        const auto recording =
            readSources({ TRAINYARD_SOURCE_DIR "/samples/moe-2x70b-16-a800-run.trainyard-recording" }, {}, 1);
        QVERIFY(recording);
        const CalibrationProposal proposal = proposalOf(*plan->plan, *recording);
        const std::pair<CalibratedPart, double> expected[] { { CalibratedPart::Products, 1.06 },
            { CalibratedPart::Nvlink, 1.15 }, { CalibratedPart::Fabric, 1.25 } };
        for (const auto &[what, value] : expected) {
            const FittedFactor *fitted = linkOf(proposal, what);
            QVERIFY2(fitted && fitted->refused.empty() && fitted->factor.factor, qPrintable(told(proposal)));
            QVERIFY2(std::abs(*fitted->factor.factor / value - 1) < 0.04, qPrintable(told(proposal)));
        }
        QVERIFY2(proposal.stepsHeldOut > 0 && proposal.errorAfter < proposal.errorBefore, qPrintable(told(proposal)));
        QVERIFY(fartherText(proposal, proposal.errorAfter).empty());
        const EvaluationPtr learnt = evaluated(withFactors(*plan->plan, proposal, idsOf(proposal)));
        QVERIFY(*learnt->metrics.iterationTime > *plan->metrics.iterationTime);
        QCOMPARE(heldOutError(proposal, *learnt->metrics.iterationTime), std::optional(proposal.errorAfter));
    }

    /// Tokens that go in slices with gathers beside them are no all-to-all of their message; sent flat they are.
    void exchangesWithExpertsAreFittedWhereTheyArePlain()
    {
        SmallRecording small;
        auto a = small.rank(0, 16), b = small.rank(8, 16);
        Moment now = 1000;
        for (int i = 0; i < 24; ++i) {
            const double bytes = 8e6 * (1 + i % 12);
            const Moment end = now + 60 + Moment(bytes / 2 / 10e3); // half of it stays: 10 GB/s
            for (const auto &rank : { a, b }) {
                rank.collective("all_to_all", now, end, bytes, 24, -1, { 0, 8 });
                rank.collective("broadcast", end + 10, end + 60, 1e5, 24, -1, { 0, 8 });
                rank.span(RecordedWork::Compute, end + 100, end + 600);
            }
            now = end + 1000;
        }
        a.step(1, 900, now), b.step(1, 900, now);
        const auto of = [&](MoeDispatch dispatch) {
            const EvaluationPtr plan = expertSample(dispatch);
            const auto proposal = calibrate(*plan, *makeRun(small.m_recording), builtinCatalogue());
            return proposal ? *proposal : CalibrationProposal { .notes = { proposal.error().what } };
        };
        const CalibrationProposal flat = of(MoeDispatch::Flat), sliced = of(MoeDispatch::TrafficAware);
        const FittedFactor *fabric = linkOf(flat, CalibratedPart::Fabric);
        QVERIFY2(fabric && std::abs(*fabric->factor.gbytesPerS / 10 - 1) < 0.1, qPrintable(told(flat)));
        QVERIFY2(hasNote(flat.notes, "24 collectives are of operations"), qPrintable(told(flat)));
        QVERIFY2(!linkOf(sliced, CalibratedPart::Fabric), qPrintable(told(sliced)));
        QVERIFY2(hasNote(sliced.notes, "24 exchanges with experts"), qPrintable(told(sliced)));
    }

    /// 7 of 12 step times are none; the others give the factor.
    void stepsWithoutATimeAreCounted()
    {
        const double seconds = 1.2 * *evaluated(smallPlan())->metrics.iterationTime;
        SmallRecording small;
        std::vector<double> times(20, seconds);
        for (const int at : { 2, 5, 6, 9, 11, 13 })
            times[std::size_t(at)] = std::numeric_limits<double>::quiet_NaN();
        times[15] = -5;
        small.series(samples::kStepTime, 1, times);
        const CalibrationProposal proposal = proposalOf(smallPlan(), small.m_recording);
        QVERIFY2(hasNote(proposal.notes, "7 steps tell no usable time"), qPrintable(told(proposal)));
        QVERIFY(hasNote(makeRun(small.m_recording)->notes, "7 steps tell no usable time"));
    }

    /// Whoever takes factors that lie farther off is told first; less than 0.01 % is rounding.
    void whatLiesFartherOffIsSaid()
    {
        CalibrationProposal proposal;
        proposal.heldSeconds = { 1, 1, 2 };
        proposal.stepsHeldOut = 3;
        proposal.errorBefore = 0.1;
        QCOMPARE(heldOutError(proposal, 1.5), std::optional(0.5)); // of 0.5, 0.5, 0.25
        QVERIFY(fartherText(proposal, 0.5).starts_with("Farther from the run"));
        QVERIFY(fartherText(proposal, 0.5).find("50.0 %") != std::string::npos);
        QVERIFY(fartherText(proposal, 0.1).empty() && fartherText(proposal, 0.05).empty());
        proposal.stepsHeldOut = 0;
        QVERIFY(fartherText(proposal, 0.5).empty());
    }
};

TRAINYARD_APPLESS_TEST(WireBoundTest)
#include "tst_wire_bound.moc"
