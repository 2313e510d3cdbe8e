// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/comparison.h"
#include "core/evaluation/report/gantt_svg.h"
#include "core/evaluation/report/html_report.h"
#include "core/evaluation/report/markdown_report.h"
#include "core/evaluation/report/metrics_table.h"
#include "core/evaluation/report/selection_table.h"
#include "tests/core/evaluation/report/sample_evaluation.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

#include <nlohmann/json.hpp>

using namespace trainyard;

namespace {

std::vector<NamedEvaluation> onePlan()
{
    const auto evaluation = test::sampleEvaluation();
    return { { evaluation->plan->name, "two-sites.trainyard.json", evaluation } };
}

std::vector<NamedEvaluation> twoPlans()
{
    auto plans = onePlan();
    auto faster = test::sampleEvaluation();
    faster->metrics.iterationTime = 3.5005e-6;
    plans.push_back({ "Faster", "faster.trainyard.json", faster });
    return plans;
}

/// Errors of the XML reader: the pictures must be well formed.
QString svgFault(const std::string &svg)
{
    QXmlStreamReader reader(QString::fromStdString(svg));
    while (!reader.atEnd())
        reader.readNext();
    return reader.hasError() ? reader.errorString() : QString();
}

/// A timeline of one stage with many short spans.
std::shared_ptr<Evaluation> longTimeline(int spans)
{
    auto evaluation = test::sampleEvaluation();
    Timeline t;
    for (int i = 0; i < spans; ++i)
        test::addSpan(t, 0, i % 2 ? WorkKind::Backward : WorkKind::Forward, i, i * 1000LL, i * 1000LL + 900);
    t.tracks = { { Stream::Compute, 0, 0, -1, -1, 0, std::uint32_t(spans) } };
    evaluation->timeline = t;
    return evaluation;
}

} // namespace

class TstPages : public QObject {
    Q_OBJECT

private slots:
    void thePageNeedsNothingFromElsewhere()
    {
        const QString html = QString::fromStdString(htmlReport(onePlan()));
        QVERIFY(html.startsWith(QLatin1String("<!DOCTYPE html>")));
        QVERIFY(!html.contains(QRegularExpression(QStringLiteral("https?://|<script|<link|src="))));
    }

    void namesAreEscaped()
    {
        const QString html = QString::fromStdString(htmlReport(onePlan()));
        QVERIFY(html.contains(QLatin1String("Two sites &lt;&amp; &quot;quotes&quot;&gt;")));
        QVERIFY(!html.contains(QLatin1String("Two sites <&")));
        QVERIFY(QString::fromStdString(markdownReport(onePlan())).startsWith(QLatin1String("# Two sites \\<&")));
    }

    void theSamePlansGiveTheSamePage() { QCOMPARE(htmlReport(twoPlans()), htmlReport(twoPlans())); }

    void severalPlansAreComparedWithTheFirst()
    {
        // 7.001 µs to 3.5005 µs is half.
        const QString html = QString::fromStdString(htmlReport(twoPlans()));
        QVERIFY(html.contains(QStringLiteral("class=\"change good\">\u221250.0 %<")));
        const auto json = nlohmann::json::parse(comparisonJson(twoPlans()));
        QCOMPARE(json["plans"][1]["change"]["iteration_time_s"].get<double>(), -0.5);
        QVERIFY(json["plans"][1]["change"]["mfu"].is_null());
        QVERIFY(QString::fromStdString(comparisonTable(twoPlans())).contains(QStringLiteral("\u221250.0 %")));
    }

    void theComparisonAsCsvHasAValueForEveryColumn()
    {
        const QStringList lines = QString::fromStdString(comparisonCsv(twoPlans())).split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 3);
        QVERIFY(lines[1].startsWith(QLatin1String("\"Two sites <& \"\"quotes\"\">\",two-sites.trainyard.json,false,")));
        QCOMPARE(lines[2].count(u','), lines[0].count(u','));
    }

    void anInfeasiblePlanSaysSo()
    {
        QVERIFY(QString::fromStdString(metricsTable(*onePlan()[0].evaluation)).contains(QLatin1String("not feasible")));
        QVERIFY(QString::fromStdString(htmlReport(onePlan())).contains(QLatin1String("not feasible")));
    }

    /// Of two plans beside each other the column of the one that cannot run is marked.
    void columnsOfInfeasiblePlansAreMarked()
    {
        auto plans = twoPlans();
        auto possible = test::sampleEvaluation();
        possible->problems.clear();
        possible->feasibility = {};
        plans[1] = { "Possible", "possible.trainyard.json", possible };
        plans[0].name = "Too large";
        const QString table = QString::fromStdString(comparisonTable(plans)),
                      markdown = QString::fromStdString(markdownReport(plans));
        const QString heading = table.section(u'\n', 0, 0);
        QVERIFY(heading.contains(QLatin1String("Too large (not feasible)"))
            && !heading.contains(QLatin1String("Possible (not feasible)")));
        QVERIFY(markdown.contains(QLatin1String("| Too large (not feasible) | Possible |")));
        QVERIFY(
            QString::fromStdString(htmlReport(plans))
                .contains(QLatin1String(
                    "<th>Too large<br><span class=\"bad\">not feasible</span></th><th colspan=\"2\">Possible</th>")));
    }

    void theTableSaysWhyPrefillIsRejected()
    {
        auto evaluation = test::sampleEvaluation();
        BubbleFillMetrics fill;
        fill.rejected = fill.rejectedAsLate = 37;
        evaluation->metrics.bubbleFill = fill;
        QVERIFY(QString::fromStdString(metricsTable(*evaluation))
                    .contains(QRegularExpression(QStringLiteral("first token too late +37"))));
    }

    void optionsThatAreNotFeasibleStandLastAndAreMarked()
    {
        Selection selection;
        selection.plan = std::make_shared<const Plan>(test::samplePlan());
        SelectionOption cheap, good;
        cheap.blocks = { { 0, 2 } };
        cheap.isFeasible = false;
        cheap.infeasibleBecause = "no memory";
        good.blocks = { { 0, 1 }, { 1, 1 } };
        selection.options = { cheap, good };
        const QString table = QString::fromStdString(selectionTable(selection));
        const QStringList lines = table.split(u'\n');
        QVERIFY(!lines[2].contains(QLatin1String("not feasible"))); // after the heading and its rule
        QVERIFY2(lines[3].startsWith(QLatin1String("not feasible: ")) && lines[3].contains(QLatin1String("no memory")),
            qPrintable(table));
        QVERIFY(
            lines[4].startsWith(QLatin1String("bound by: ")) && lines[4].contains(QLatin1String("\"pipeline depth\"")));
    }

    void theTableHasNoRowForAMetricThatDoesNotApply()
    {
        const QString table = QString::fromStdString(metricsTable(*onePlan()[0].evaluation));
        QVERIFY(table.contains(QLatin1String("Iteration")));
        QVERIFY(!table.contains(QLatin1String("Tokens per second")));
    }

    void fewSpansAreDrawnOneByOne()
    {
        const auto evaluation = longTimeline(100);
        const QString svg = QString::fromStdString(ganttSvg(*evaluation, 0));
        QCOMPARE(svgFault(svg.toStdString()), QString());
        QCOMPARE(svg.count(QLatin1String("<title>")), 100);
    }

    void manySpansMakeAPictureOfBoundedSize()
    {
        const std::string small = ganttSvg(*longTimeline(20'000), 0), large = ganttSvg(*longTimeline(400'000), 0);
        QCOMPARE(svgFault(large), QString());
        QVERIFY(large.size() < 200'000);
        QVERIFY(large.size() < 2 * small.size());
    }

    void picturesAreWellFormed()
    {
        const QString html = QString::fromStdString(htmlReport(twoPlans()));
        static const QRegularExpression picture(
            QStringLiteral("<svg.*?</svg>"), QRegularExpression::DotMatchesEverythingOption);
        int pictures = 0;
        for (auto matches = picture.globalMatch(html); matches.hasNext(); ++pictures)
            QCOMPARE(svgFault(matches.next().captured().toStdString()), QString());
        QVERIFY(pictures > 6);
    }

    void aPlanThatCannotBePlacedHasAPageToo()
    {
        auto evaluation = test::sampleEvaluation();
        evaluation->timeline = {};
        evaluation->metrics = {};
        evaluation->layout = {};
        evaluation->layout.unplaced = "A stage needs 64 GPUs; no datacenter has them.";
        const std::vector<NamedEvaluation> plans { { "Unseated", "-", evaluation }, onePlan()[0] };
        QVERIFY(QString::fromStdString(htmlReport(plans)).contains(QLatin1String("A stage needs 64 GPUs")));
        QVERIFY(!markdownReport(plans).empty());
        QVERIFY(!comparisonTable(plans).empty());
        QVERIFY(!metricsTable(*evaluation).empty());
    }
};

TRAINYARD_APPLESS_TEST(TstPages)
#include "tst_pages.moc"
