// SPDX-License-Identifier: GPL-3.0-or-later
// What links between datacenters were measured to do: in runs that the simulator recorded, whose links take a known
// factor longer than the plan says, and in transfers made by hand.
#include "core/runs/overlay/link_rates.h"
#include "core/runs/overlay/run_overlay.h"
#include "core/runs/overlay/transfer_walk.h"
#include "tests/core/runs/overlay/recorded_run.h"
#include "tests/core/runs/overlay/sample_runs.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

RecordedRunOptions trueBytes(unsigned seed)
{
    RecordedRunOptions options;
    options.seed = seed;
    options.sendsTrueBytes = true;
    return options;
}

std::vector<const RunStep *> stepsOf(const Run &run)
{
    std::vector<const RunStep *> steps;
    for (const RunStep &step : run.steps)
        steps.push_back(&step);
    return steps;
}

std::vector<LinkRate> ratesOf(const EvaluationPtr &evaluation, const RecordedRunOptions &options)
{
    const RunPtr run = makeRun(recordRun(evaluation, options).recording);
    return LinkRates(*evaluation).of(*run, RankMap(*evaluation->plan, evaluation->layout), stepsOf(*run));
}

QByteArray textOf(const std::vector<LinkRate> &rates)
{
    QByteArray text;
    for (const LinkRate &rate : rates)
        text += QByteArray::number(rate.from) + " to " + QByteArray::number(rate.to) + ": "
            + QByteArray::number(rate.share()) + " of " + QByteArray::number(rate.planned) + ", latency "
            + QByteArray::number(rate.latencySeconds) + " of " + QByteArray::number(rate.plannedLatency) + ", "
            + QByteArray::number(rate.transfers) + "\n";
    return text;
}

/// One GPU in either datacenter, as two stages or as two replicas.
EvaluationPtr twoGpus(bool isAcross)
{
    Plan plan = oneSite(1, isAcross ? 2 : 1);
    plan.parallelism.tensor = 1;
    plan.parallelism.data = isAcross ? 1 : 2;
    plan.workload.globalBatch = 8;
    plan.workload.model = "gpt-3-125m";
    plan.workload.sequenceLength = 2048;
    plan.cluster.datacenters = { site("a", 1, "h100-sxm-80gb", 1), site("b", 1, "h100-sxm-80gb", 1) };
    plan.cluster.wanLinks = { wanLink("a", "b", 40, 5) };
    plan.placement.mode = isAcross ? PlacementMode::PipelineAcross : PlacementMode::DataAcross;
    return evaluated(std::move(plan));
}

struct Made { // one transfer or exchange
    double bytes = 0;
    Moment start = 0, firstEnd = 0, secondEnd = 0; // of both sides; ns
};

/// Of two ranks: rank 0 sends what rank 1 receives, or both reduce. After each they agree on a loss, which joins their
/// clocks.
RunPtr madeOf(const std::vector<Made> &all, bool isTransfer)
{
    Recording recording;
    NameTable name(recording.names);
    const std::uint32_t first = name(isTransfer ? "send" : "all_reduce"),
                        second = name(isTransfer ? "recv" : "all_reduce"), loss = name("all_reduce"),
                        kernel = name("nccl");
    recording.groups = { { "pair", "", { 0, 1 } } };
    for (int r = 0; r < 2; ++r) {
        RankRecording &rank = recording.ranks.emplace_back();
        rank.rank = r;
        rank.worldSize = 2;
        RecordedSpans &spans = rank.streams.emplace_back().spans;
        Moment last = 0;
        const auto add = [&](std::uint32_t operation, double bytes, Moment start, Moment end) {
            spans.start.push_back(start);
            spans.duration.push_back(end - start);
            spans.name.push_back(kernel);
            spans.work.push_back(RecordedWork::Communication);
            RecordedCollective &made = rank.collectives.emplace_back();
            made.group = 0;
            made.operation = operation;
            made.bytes = bytes;
            made.start = start;
            made.duration = end - start;
            made.stream = 0;
            made.span = std::uint32_t(spans.size() - 1);
            last = end;
        };
        for (const Made &one : all) {
            add(r == 0 ? first : second, one.bytes, one.start, r == 0 ? one.firstEnd : one.secondEnd);
            const Moment both = std::max(one.firstEnd, one.secondEnd);
            add(loss, 4, both + 1000, both + 40'000'000);
        }
        rank.steps.push_back({ 1, 0, last + 1000 });
    }
    return makeRun(std::move(recording));
}

/// Of one link that carries so many bytes a second after so long, with two sizes.
std::vector<Made> sent(double rate, double latency, double sendShare, double behind, bool areTwoSizes)
{
    std::vector<Made> all;
    Moment now = 0;
    for (int i = 0; i < 12; ++i) {
        const double bytes = areTwoSizes && i % 2 == 1 ? 4e8 : 1e8, took = bytes / rate;
        const auto at = [&](double seconds) { return now + Moment(seconds * 1e9); };
        all.push_back({ bytes, now, at(sendShare * took + latency - behind), at(took + latency) });
        now = at(took + latency + 1);
    }
    return all;
}

LinkRate rateOf(const EvaluationPtr &evaluation, const RunPtr &run)
{
    const auto rates = LinkRates(*evaluation).of(*run, RankMap(*evaluation->plan, evaluation->layout), stepsOf(*run));
    if (rates.empty())
        qFatal("no rate was found");
    return rates.front();
}

} // namespace

class LinkRatesTest : public QObject {
    Q_OBJECT
private slots:
    /// measured / planned = 1 where the run does what the plan says, both ways, and latency is what the plan has.
    void aRunThatKeepsToItsPlanShowsThePlansRates()
    {
        for (const std::size_t sample : { 1, 2, 3 }) {
            const EvaluationPtr evaluation = evaluatedSample(smallSamples()[sample]);
            RecordedRunOptions exact = trueBytes(1);
            exact.noise = exact.outlierShare = exact.endJitter = exact.clockOffset = exact.clockDrift = 0;
            for (const bool isExact : { true, false }) {
                const auto rates = ratesOf(evaluation, isExact ? exact : trueBytes(3));
                QVERIFY2(!rates.empty(), smallSamples()[sample].name);
                for (const LinkRate &rate : rates) {
                    const double off = std::abs(rate.share() - 1);
                    QVERIFY2(off < (isExact ? 0.002 : 0.05), textOf(rates).constData());
                    QVERIFY2(std::abs(rate.latencySeconds / rate.plannedLatency - 1) < 0.02, textOf(rates).constData());
                    QVERIFY(rate.plannedSeconds > 0 && rate.transfers > 0);
                }
            }
        }
    }

    /// share = 1 / factor of the slow link; the others keep to the plan.
    void aSlowLinkIsMeasuredAndTheOthersAreNot()
    {
        const EvaluationPtr evaluation = evaluatedSample(smallSamples()[1]);
        const auto plain = ratesOf(evaluation, trueBytes(2));
        QVERIFY(plain.size() >= 2);
        const LinkRate &first = plain.front();
        RecordedRunOptions options = trueBytes(2);
        options.changes = { { .datacenter = first.from, .otherDatacenter = first.to, .transfers = 1 / 0.61 } };
        const auto rates = ratesOf(evaluation, options);
        QCOMPARE(rates.size(), plain.size());
        for (const LinkRate &rate : rates) {
            const bool isSlow = std::minmax(rate.from, rate.to) == std::minmax(first.from, first.to);
            QVERIFY2(std::abs(rate.share() - (isSlow ? 0.61 : 1)) < 0.05, textOf(rates).constData());
        }
    }

    /// A single link of its kind is found slow under a plan, and told with what the plan says.
    void theOnlyLinkIsFoundSlowUnderAPlan()
    {
        const EvaluationPtr evaluation = evaluatedSample(smallSamples()[1]);
        const auto plain = ratesOf(evaluation, trueBytes(2));
        RecordedRunOptions options = trueBytes(4);
        options.changes = {
            { .datacenter = plain.front().from, .otherDatacenter = plain.front().to, .transfers = 1 / 0.4 }
        };
        const RunPtr run = makeRun(recordRun(evaluation, options).recording);
        const RunOverlayPtr overlay = overlayRun(evaluation, run, {});
        if (overlay->suspects.links.empty())
            QFAIL("no link is named");
        const SlowLink &link = overlay->suspects.links.front();
        const auto &datacenters = evaluation->plan->cluster.datacenters;
        for (const int end : { plain.front().from, plain.front().to })
            QVERIFY2(
                link.between.find(datacenters[std::size_t(end)].label()) != std::string::npos, link.sentence.c_str());
        QVERIFY2(std::abs(link.busBytesPerSecond / link.expected - 0.4) < 0.03, link.sentence.c_str());
        QVERIFY2(link.sentence.find(" % of plan") != std::string::npos, link.sentence.c_str());

        options.changes.clear();
        QVERIFY(overlayRun(evaluation, makeRun(recordRun(evaluation, options).recording), {})->suspects.links.empty());
    }

    /// t = latency + bytes / rate: where both sides end together two sizes tell both; of one size the plan's latency is
    /// taken off.
    void sizesTellLatencyAndRateApart()
    {
        const EvaluationPtr evaluation = twoGpus(true);
        const double plannedRate = 5e9 / 8, latency = 0.03;
        const LinkRate both = rateOf(evaluation, madeOf(sent(0.61 * plannedRate, latency, 1, 0, true), true));
        QVERIFY2(std::abs(both.share() - 0.61) < 0.005, textOf({ both }).constData());
        QVERIFY2(std::abs(both.latencySeconds - latency) < 0.001, textOf({ both }).constData());
        const LinkRate one = rateOf(evaluation, madeOf(sent(0.61 * plannedRate, 0.02, 1, 0, false), true));
        QVERIFY2(std::abs(one.share() - 0.61) < 0.005 && std::isnan(one.latencySeconds), textOf({ one }).constData());
    }

    /// Sends that end as soon as a buffer has taken their bytes say nothing of the link; when these arrive does.
    void sendsThatEndEarlyAreNotBelieved()
    {
        const EvaluationPtr evaluation = twoGpus(true);
        const RunPtr run = madeOf(sent(0.61 * 5e9 / 8, 0.02, 0.05, 0.02, false), true);
        QVERIFY(run->alignment.isWhole());
        const LinkRate rate = rateOf(evaluation, run);
        QVERIFY2(std::abs(rate.share() - 0.61) < 0.02, textOf({ rate }).constData());
    }

    /// An all-reduce of two ranks sends as much as its message, each way, in two goes: bytes / rate + 2 latencies.
    void reductionsOfTwoRanksTellTheLinkToo()
    {
        const EvaluationPtr evaluation = twoGpus(false);
        QCOMPARE(evaluation->layout.data, 2);
        std::vector<Made> all = sent(0.5 * 5e9 / 8, 0.04, 1, 0, true);
        const LinkRate rate = rateOf(evaluation, madeOf(all, false));
        QVERIFY2(std::abs(rate.share() - 0.5) < 0.005, textOf({ rate }).constData());
        QVERIFY2(std::abs(rate.latencySeconds - 0.02) < 0.001, textOf({ rate }).constData());
    }

    void aPlanOfOneDatacenterHasNone()
    {
        const EvaluationPtr evaluation = evaluatedSample(smallSamples()[0]);
        QVERIFY(LinkRates(*evaluation).isEmpty());
        QVERIFY(ratesOf(evaluation, trueBytes(1)).empty());
    }

    /// Of values of which most lie together, the middle of those.
    void theDensestHalfCounts()
    {
        QCOMPARE(middleOfDensest({ 1, 1.1, 0.9, 1, 9, 8, 1.05 }), 1.025);
        QCOMPARE(middleOfDensest({ 3 }), 3.0);
        QCOMPARE(middleOfDensest({}), 0.0);
    }
};

TRAINYARD_APPLESS_TEST(LinkRatesTest)
#include "tst_link_rates.moc"
