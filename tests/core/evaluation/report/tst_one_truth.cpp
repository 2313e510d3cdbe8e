// SPDX-License-Identifier: GPL-3.0-or-later
// One definition of each number: what the breakdown, the timeline, the curve of utilization and the texts say of every
// sample.
#include "core/engine/timeline/analysis.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/evaluate/metrics/breakdown_entries.h"
#include "core/evaluation/evaluate/metrics/gpu_use.h"
#include "core/evaluation/report/comparison.h"
#include "core/evaluation/report/explanation.h"
#include "core/evaluation/report/html_report.h"
#include "core/evaluation/report/metric_rows.h"
#include "core/evaluation/report/metrics_json.h"
#include "core/evaluation/report/metrics_table.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QTest>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numeric>
#include <set>

using namespace trainyard;
using Json = nlohmann::json;

namespace {

struct Sample {
    std::string name;
    EvaluationPtr evaluation;
};

std::vector<Sample> samples()
{
    static const std::vector<Sample> all = [] {
        std::vector<Sample> found;
        EvaluationWorkspace workspace;
        const QDir folder(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples"));
        for (const QString &file : folder.entryList({ QStringLiteral("*.json") })) {
            const auto plan = readPlan(folder.filePath(file).toStdString());
            const auto evaluation = plan ? evaluate(std::make_shared<const Plan>(*plan), builtinCatalogue(), workspace)
                                         : ExpectedAll<EvaluationPtr>(std::unexpected(Errors {}));
            if (evaluation && !(*evaluation)->metrics.jobs) // which have no iteration
                found.push_back({ file.toStdString(), *evaluation });
        }
        return found;
    }();
    return all;
}

bool isNear(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max({ 1.0, std::abs(a), std::abs(b) });
}

} // namespace

class OneTruthTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QVERIFY(samples().size() >= 9); }

    /// Σ parts = iteration.
    void theEntriesOfTheBreakdownAddUpToTheIteration()
    {
        for (const Sample &sample : samples()) {
            const auto entries = breakdownEntries(*sample.evaluation->metrics.breakdown);
            const double sum = std::accumulate(
                entries.begin(), entries.end(), 0.0, [](double s, const BreakdownEntry &e) { return s + e.seconds; });
            QVERIFY2(isNear(sum, *sample.evaluation->metrics.iterationTime), sample.name.c_str());
            for (const BreakdownEntry &entry : entries)
                QVERIFY2(!entry.where.empty(), entry.key);
        }
    }

    /// Spans of the kind on the compute rows of the slowest pipeline, mean of its stages = the part of the same name.
    void optimizerAndOverheadAreTheSpansOfTheirNames()
    {
        bool hasOverhead = false;
        for (const Sample &sample : samples()) {
            const Timeline &timeline = sample.evaluation->timeline;
            if (sample.evaluation->layout.classes.size() != 1)
                continue;
            double optimizer = 0, overhead = 0;
            int stages = 0;
            for (const Track &track : timeline.tracks) {
                if (track.stream != Stream::Compute)
                    continue;
                ++stages;
                for (std::uint32_t span = track.first; span < track.last; ++span) {
                    const double seconds = double(timeline.end[span] - timeline.start[span]) * 1e-9;
                    optimizer += timeline.kind[span] == WorkKind::Optimizer ? seconds : 0;
                    overhead += timeline.kind[span] == WorkKind::Overhead ? seconds : 0;
                }
            }
            QVERIFY2(isNear(optimizer / stages, sample.evaluation->metrics.breakdown->optimizer), sample.name.c_str());
            QVERIFY2(isNear(overhead / stages, sample.evaluation->metrics.breakdown->overhead), sample.name.c_str());
            hasOverhead = hasOverhead || overhead > 0;
        }
        QVERIFY(hasOverhead);
    }

    /// Everything that names the host's work at the end of an iteration calls it as the timeline does.
    void overheadHasOneNameInAllTexts()
    {
        const std::string name = toString(WorkKind::Overhead);
        for (const Sample &sample : samples()) {
            const auto &breakdown = *sample.evaluation->metrics.breakdown;
            if (breakdown.overhead <= 0)
                continue;
            const auto entries = breakdownEntries(breakdown);
            QVERIFY(std::ranges::any_of(
                entries, [&](const BreakdownEntry &e) { return e.label == name && e.seconds == breakdown.overhead; }));
            const auto rows = breakdownRows(*sample.evaluation);
            QVERIFY(std::ranges::any_of(
                rows, [&](const MetricRow &row) { return row.label == name && *row.value == breakdown.overhead; }));
            for (const std::string &text : { explanationTable(*sample.evaluation), metricsTable(*sample.evaluation) })
                QVERIFY2(text.find(name + " ") != std::string::npos, (sample.name + "\n" + text).c_str());
            const Json json = Json::parse(metricsJson(*sample.evaluation));
            QCOMPARE(json["breakdown_detail_s"]["overhead"].get<double>(), breakdown.overhead);
            // The contract's name holds both, so that its ten parts still add up.
            QVERIFY(isNear(json["breakdown_s"]["optimizer"].get<double>(), breakdown.optimizer + breakdown.overhead));
        }
    }

    /// (1/n) Σ buckets = gpu_utilization, for any number of buckets.
    void theCurveOfUtilizationAveragesToTheMetric()
    {
        for (const Sample &sample : samples()) {
            for (const int buckets : { 1, 7, 400 }) {
                const std::vector<double> use = fleetUse(*sample.evaluation, buckets);
                const double mean = std::accumulate(use.begin(), use.end(), 0.0) / buckets;
                QVERIFY2(std::abs(mean - *sample.evaluation->metrics.gpuUtilization) < 1e-6,
                    (sample.name + ": " + std::to_string(mean) + " over time, "
                        + std::to_string(*sample.evaluation->metrics.gpuUtilization))
                        .c_str());
            }
        }
    }

    void collectivesInsideSpansAreNoComputation()
    {
        bool hasCollectives = false;
        for (const Sample &sample : samples()) {
            const bool has = sample.evaluation->metrics.breakdown->tensorParallel > 0;
            hasCollectives = hasCollectives || has;
            for (const auto &stages : sample.evaluation->metrics.computeShare)
                for (const double share : stages)
                    QVERIFY2(has ? share > 0 && share <= 1 : isNear(share, 1), sample.name.c_str());
        }
        QVERIFY(hasCollectives);
    }

    /// While a boundary carries it runs at its limit: bytes = rate × time that it carries.
    void theUseOfALinkIsTheTimeThatItCarries()
    {
        std::set<std::string> limits;
        for (const Sample &sample : samples()) {
            for (const WanLinkUse &use : sample.evaluation->metrics.wanLinks) {
                QVERIFY(use.usableUtilization >= 0 && use.usableUtilization <= 1);
                for (const double carrying : use.carrying)
                    QVERIFY2(carrying <= use.usableUtilization + 1e-12, sample.name.c_str());
                QVERIFY(use.usableUtilization <= use.carrying[0] + use.carrying[1] + 1e-12);
                QVERIFY(use.usableUtilization
                    >= use.utilization - 1e-9); // what binds is used at least as much as the capacity
                QCOMPARE(use.usableUtilization > 0, use.totalBytes() > 0);
                QVERIFY(use.limit != WanLimit::None);
                limits.insert(toString(use.limit));
            }
        }
        QVERIFY(limits.contains("node pair"));
    }

    /// Two fifths of the headline's critical path are transfers; so the link is no idle one, although its capacity is.
    void aLinkWhoseNodePairsBindIsNotIdle()
    {
        for (const Sample &sample : samples()) {
            const WanLinkUse *busiest = busiestLink(sample.evaluation->metrics);
            if (!busiest)
                continue;
            Nanoseconds onPath = 0;
            for (const std::uint32_t span : criticalPath(sample.evaluation->timeline))
                if (sample.evaluation->timeline.kind[span] == WorkKind::WanTransfer)
                    onPath += sample.evaluation->timeline.end[span] - sample.evaluation->timeline.start[span];
            const double share = double(onPath) / double(sample.evaluation->timeline.duration);
            QVERIFY2(busiest->usableUtilization >= 0.9 * share,
                (sample.name + ": " + std::to_string(busiest->usableUtilization) + " used, " + std::to_string(share)
                    + " of the path")
                    .c_str());
        }
    }

    void explainSaysWhereTheTimelineHasEachPart()
    {
        for (const Sample &sample : samples()) {
            const Json json = Json::parse(explanationJson(*sample.evaluation));
            double sum = 0;
            for (const Json &part : json["breakdown"]) {
                sum += part["seconds"].get<double>();
                QVERIFY(!part["where"].get<std::string>().empty());
            }
            QVERIFY2(isNear(sum, *sample.evaluation->metrics.iterationTime), sample.name.c_str());
        }
    }
};

TRAINYARD_APPLESS_TEST(OneTruthTest)
#include "tst_one_truth.moc"
