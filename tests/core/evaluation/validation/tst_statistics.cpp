// SPDX-License-Identifier: GPL-3.0-or-later
// Errors in few numbers, against values computed by hand; and gates.

#include "core/evaluation/validation/gates.h"
#include "core/evaluation/validation/validation_report.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <cmath>

using namespace trainyard;

namespace {

ValidationResult result(double published, std::optional<double> predicted, RowStatus status = RowStatus::Gated,
    RowRole role = RowRole::Test)
{
    static int count = 0;
    return { .source = "s",
        .group = {},
        .id = "row " + std::to_string(++count),
        .metric = "iteration_time_s",
        .status = status,
        .role = role,
        .published = published,
        .predicted = predicted,
        .problem = {},
        .note = {} };
}

ErrorStatistics statisticsOf(const std::vector<ValidationResult> &results)
{
    std::vector<const ValidationResult *> pointers;
    for (const ValidationResult &r : results)
        pointers.push_back(&r);
    return errorStatistics(pointers);
}

Gate gate(GateStatistic statistic, double limit)
{
    return {
        .title = "g", .source = "s", .metric = "iteration_time_s", .statistic = statistic, .role = {}, .limit = limit
    };
}

bool isClose(std::optional<double> value, double expected)
{
    return value && std::abs(*value - expected) < 1e-12;
}

} // namespace

class TstStatistics : public QObject {
    Q_OBJECT

private slots:
    void anErrorIsPositiveWhereTheModelSaysTooMuch()
    {
        // predicted / published - 1 = 12 / 10 - 1
        QVERIFY(isClose(result(10, 12).error(), 0.2));
        QVERIFY(isClose(result(10, 9).error(), -0.1));
        QVERIFY(!result(10, std::nullopt).error());
    }

    void meanMedianMaxAndBias()
    {
        // errors +20 %, -10 %, +30 %, -40 %: sizes 0.1 0.2 0.3 0.4
        const ErrorStatistics s = statisticsOf({ result(10, 12), result(10, 9), result(10, 13), result(10, 6) });
        QCOMPARE(s.n, 4);
        QVERIFY(isClose(s.meanAbs, 0.25));
        QVERIFY(isClose(s.medianAbs, 0.25));
        QVERIFY(isClose(s.maxAbs, 0.4));
        QVERIFY(isClose(s.bias, 0));
        QVERIFY(
            isClose(statisticsOf({ result(10, 12), result(10, 9), result(10, 13) }).medianAbs, 0.2)); // the middle one
    }

    void rowsWithoutPredictionDoNotCount()
    {
        const ErrorStatistics s = statisticsOf({ result(10, 12), result(10, std::nullopt) });
        QCOMPARE(s.n, 1);
        QCOMPARE(statisticsOf({}).n, 0);
        QVERIFY(!statisticsOf({}).rankCorrelation);
    }

    void aRunThatRanAndIsJudgedTooLargeIsCountedOnce()
    {
        // three runs with a time, one of them judged too large; a computed figure of memory is no run; one says nothing
        const auto judged = [](const char *id, const char *metric, std::optional<bool> fits) {
            ValidationResult r = result(10, 12);
            r.id = id;
            r.metric = metric;
            r.fits = fits;
            return r;
        };
        const std::vector<ValidationResult> results { judged("a", "iteration_time_s", true),
            judged("b", "tokens_per_s_per_gpu", false), judged("b", "memory.peak_bytes", false),
            judged("c", "mfu", true), judged("d", "memory.peak_bytes", false),
            judged("e", "iteration_time_s", std::nullopt) };
        const auto sources = summarise({}, results);
        QCOMPARE(sources.size(), 1u);
        QVERIFY((sources[0].fit == FitJudgement { 3, 1 }));
        QCOMPARE(QString::fromStdString(fitText(sources[0].fit)),
            QStringLiteral("1 of 3 runs that ran is judged not to fit in memory"));
        QVERIFY(fitText({}).empty());
    }

    void ranksAgreeAndDisagree()
    {
        const std::array up { 1.0, 2.0, 30.0 }, down { 9.0, 5.0, 1.0 };
        QVERIFY(isClose(rankCorrelation(up, up), 1));
        QVERIFY(isClose(rankCorrelation(up, down), -1));
    }

    void tiedValuesShareTheMeanOfTheirRanks()
    {
        // ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4; around 2.5: Sxy = 4.5, Sxx = 4.5, Syy = 5; rho = 4.5 / sqrt(4.5 * 5)
        const std::array a { 1.0, 2.0, 2.0, 3.0 }, b { 10.0, 20.0, 30.0, 40.0 };
        QVERIFY(isClose(rankCorrelation(a, b), 4.5 / std::sqrt(22.5)));
        // ranks 2, 2, 2, 4 against 1.5, 1.5, 3.5, 3.5: around 2.5: Sxy = 0.5+0.5-0.5+1.5 = 2, Sxx = 3, Syy = 4
        const std::array c { 5.0, 5.0, 5.0, 6.0 }, d { 1.0, 1.0, 2.0, 2.0 };
        QVERIFY(isClose(rankCorrelation(c, d), 2 / std::sqrt(12.0)));
    }

    void withoutAnOrderThereIsNoRankCorrelation()
    {
        const std::array equal { 3.0, 3.0, 3.0 }, up { 1.0, 2.0, 3.0 };
        const std::array one { 1.0 };
        QVERIFY(!rankCorrelation(equal, up));
        QVERIFY(!rankCorrelation(one, one));
        QVERIFY(!rankCorrelation({}, {}));
    }

    void guessedRowsAndRolesAreToldApart()
    {
        const std::vector results { result(10, 11, RowStatus::Gated, RowRole::Fit),
            result(10, 13, RowStatus::Gated, RowRole::Test), result(10, 19, RowStatus::Guessed),
            result(10, std::nullopt) };
        const auto sources = summarise({}, results);
        QCOMPARE(sources.size(), 1u);
        QCOMPARE(sources[0].rows, 4);
        const MetricSummary &metric = sources[0].metrics.at(0);
        QVERIFY(isClose(metric.gated.meanAbs, 0.2));
        QVERIFY(isClose(metric.fit.meanAbs, 0.1));
        QVERIFY(isClose(metric.test.meanAbs, 0.3));
        QVERIFY(isClose(metric.guessed.meanAbs, 0.9));
        QCOMPARE(metric.failed, 1);
    }

    void aGateIsMetUpToItsLimit()
    {
        const std::vector results { result(10, 11), result(10, 13), result(10, 19, RowStatus::Guessed) };
        const auto outcome = [&](GateStatistic statistic, double limit) {
            const std::array gates { gate(statistic, limit) };
            return gateOutcomes(gates, results).at(0);
        };
        QVERIFY(outcome(GateStatistic::MeanAbsError, 0.21).isMet); // mean of 10 % and 30 %
        QVERIFY(!outcome(GateStatistic::MeanAbsError, 0.19).isMet);
        QVERIFY(outcome(GateStatistic::MaxAbsError, 0.31).isMet);
        QVERIFY(!outcome(GateStatistic::MaxAbsError, 0.29).isMet);
        QVERIFY(isClose(outcome(GateStatistic::MeanAbsError, 0.2).reached, 0.2));
    }

    void aRankCorrelationHasToReachItsLimit()
    {
        const std::vector results { result(10, 11), result(20, 13), result(30, 19) };
        const std::array gates { gate(GateStatistic::RankCorrelation, 0.7), gate(GateStatistic::RankCorrelation, 1.1) };
        const auto outcomes = gateOutcomes(gates, results);
        QVERIFY(outcomes[0].isMet);
        QVERIFY(!outcomes[1].isMet);
    }

    void aRowThatFailsKeepsAGateFromBeingMet()
    {
        const std::array gates { gate(GateStatistic::MeanAbsError, 0.5) };
        const std::vector results { result(10, 10), result(10, std::nullopt) };
        const GateOutcome outcome = gateOutcomes(gates, results).at(0);
        QVERIFY(!outcome.isMet);
        QCOMPARE(outcome.failed, 1);
        QVERIFY(gateOutcomes(gates, {}).empty()); // nothing ran of its source
    }

    void aGateMayCoverSeveralGroupsAndMetrics()
    {
        std::vector results { result(10, 11), result(10, 12), result(10, 14) };
        results[0].group = "Llama on H100";
        results[1].group = "Llama on B200";
        results[1].metric = "memory.peak_bytes";
        results[2].group = "Qwen on H100";
        const auto reached = [&](const char *group, const char *metric) {
            Gate pattern = gate(GateStatistic::MeanAbsError, 1);
            pattern.group = group;
            pattern.metric = metric;
            return gateOutcomes(std::array { pattern }, results).at(0).reached;
        };
        QVERIFY(isClose(reached("Llama*", "*"), 0.15));
        QVERIFY(isClose(reached("*H100", "iteration*"), 0.25));
        QVERIFY(isClose(reached("*", "memory.*bytes"), 0.2));
        QVERIFY(!reached("llama", "*"));
        QVERIFY(!reached("*", "*bytes*s_"));
    }

    void aGateOnRowsWithAssumedInputsSaysSo()
    {
        Gate guessed = gate(GateStatistic::MeanAbsError, 0.5);
        guessed.status = RowStatus::Guessed;
        const std::vector results { result(10, 11), result(10, 13, RowStatus::Guessed) };
        const GateOutcome outcome = gateOutcomes(std::array { guessed }, results).at(0);
        QVERIFY(isClose(outcome.reached, 0.3));
        QCOMPARE(QString::fromStdString(verdictText(outcome)), QStringLiteral("met (inputs assumed)"));
    }

    void aGateFilesFaultsAreNamed()
    {
        const auto gates = parseGates(R"({"format": "trainyard.validation-gates", "version": 1, "gates": [
            {"title": "t", "source": "s", "metric": "iteration_time", "statistic": "mean"}]})",
            "g.json");
        QVERIFY(!gates);
        QString text;
        for (const Error &error : gates.error())
            text += QString::fromStdString(toString(error)) + QLatin1Char('\n');
        QVERIFY2(text.contains(QLatin1String("g.json: /gates/0/metric: ")), qPrintable(text));
        QVERIFY2(text.contains(QLatin1String("g.json: /gates/0/statistic: statistic is \"mean\"")), qPrintable(text));
        QVERIFY2(text.contains(QLatin1String("g.json: /gates/0/limit: limit is missing")), qPrintable(text));
    }

    void everyGateHasBuiltInRows()
    {
        for (const Gate &gate : builtinGates()) {
            const bool hasRows =
                std::ranges::any_of(builtinRows(), [&](const RowSet &set) { return set.source == gate.source; });
            QVERIFY2(hasRows, gate.title.c_str());
        }
    }

    void textsTellUnits()
    {
        QCOMPARE(
            QString::fromStdString(metricText("memory.per_stage[0].peak_bytes", 5.1e10)), QStringLiteral("51.0 GB"));
        QCOMPARE(QString::fromStdString(metricText("iteration_time_s", 1.42)), QStringLiteral("1.42 s"));
        QCOMPARE(QString::fromStdString(metricText("tokens_per_s_per_gpu", 12345)), QStringLiteral("12,345"));
        QCOMPARE(QString::fromStdString(metricText("mfu", 0.415)), QStringLiteral("41.5 %"));
        QCOMPARE(QString::fromStdString(metricLabel("breakdown_s.bubble+breakdown_s.optimizer")),
            QStringLiteral("breakdown_s.bubble + optimizer"));
    }
};

TRAINYARD_APPLESS_TEST(TstStatistics)
#include "tst_statistics.moc"
