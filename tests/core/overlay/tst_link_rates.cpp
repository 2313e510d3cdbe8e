// SPDX-License-Identifier: GPL-3.0-or-later
// What links between datacenters were measured to do: in runs that the simulator recorded, whose links take a known
// factor longer than the plan says, and in transfers made by hand.
#include "core/overlay/link_rates.h"
#include "core/overlay/run_overlay.h"
#include "core/overlay/transfer_walk.h"
#include "tests/core/overlay/recorded_run.h"
#include "tests/core/overlay/sample_runs.h"

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

QTEST_APPLESS_MAIN(LinkRatesTest)
#include "tst_link_rates.moc"
