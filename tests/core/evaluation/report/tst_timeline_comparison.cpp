// SPDX-License-Identifier: GPL-3.0-or-later
// The page about two timelines: one scale, well-formed pictures, sums that hold.
#include "core/evaluation/report/timeline_comparison.h"

#include "core/evaluation/report/difference_svg.h"
#include "core/evaluation/report/gantt_svg.h"
#include "tests/core/evaluation/report/sample_evaluation.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

using namespace trainyard;

namespace {

struct Picture {
    QString fault;
    /// class, x and width of every <rect>
    std::vector<std::tuple<QString, double, double>> rects;
    QString lessPath, morePath;
};

Picture pictureOf(const std::string &svg)
{
    Picture picture;
    QXmlStreamReader reader(QString::fromStdString(svg));
    while (!reader.atEnd()) {
        if (reader.readNext() != QXmlStreamReader::StartElement)
            continue;
        const auto attributes = reader.attributes();
        const QString look = attributes.value(QLatin1String("class")).toString();
        if (reader.name() == QLatin1String("rect"))
            picture.rects.emplace_back(look, attributes.value(QLatin1String("x")).toDouble(),
                attributes.value(QLatin1String("width")).toDouble());
        else if (reader.name() == QLatin1String("path"))
            (look == QLatin1String("more") ? picture.morePath : picture.lessPath) =
                attributes.value(QLatin1String("d")).toString();
    }
    picture.fault = reader.hasError() ? reader.errorString() : QString();
    return picture;
}

/// The sample of 7001 ns with its last span 1000 ns longer: stage 1 computes 5000..8001 ns.
std::shared_ptr<Evaluation> longer()
{
    auto evaluation = test::sampleEvaluation();
    evaluation->timeline.end[1] += 1000;
    evaluation->timeline.duration += 1000;
    return evaluation;
}

} // namespace

class TstTimelineComparison : public QObject {
    Q_OBJECT

private slots:
    void theDifferenceStandsWhereTheTimelinesDiffer()
    {
        const Picture picture = pictureOf(differenceSvg(*test::sampleEvaluation(), *longer(), { 0, 8001 }));
        QVERIFY2(picture.fault.isEmpty(), qPrintable(picture.fault));
        // The plot is 990 wide from 170 on: 7001 ns are 1036.3, the end 1160; the first stage is busier there alone.
        QVERIFY(picture.lessPath.isEmpty());
        const QRegularExpression bar(QStringLiteral("M([\\d.]+) [\\d.]+h([\\d.]+)v-"));
        double from = 1e9, to = 0;
        for (auto at = bar.globalMatch(picture.morePath); at.hasNext();) {
            const auto found = at.next();
            from = std::min(from, found.captured(1).toDouble());
            to = std::max(to, found.captured(1).toDouble() + found.captured(2).toDouble());
        }
        QVERIFY2(std::abs(from - (170 + 990.0 * 7001 / 8001)) <= 2, qPrintable(QString::number(from)));
        QCOMPARE(to, 1160.0);
        const Picture back = pictureOf(differenceSvg(*longer(), *test::sampleEvaluation(), { 0, 8001 }));
        QVERIFY(back.morePath.isEmpty() && !back.lessPath.isEmpty());
        const Picture same = pictureOf(differenceSvg(*longer(), *longer(), { 0, 8001 }));
        QVERIFY(same.morePath.isEmpty() && same.lessPath.isEmpty());
    }

    void aWindowOfTheGanttHoldsItsSpansInScale()
    {
        // Of 2500..4500 ns only the backward of stage 2 is there, 2500..4000: three quarters of 990.
        const Picture picture = pictureOf(ganttSvg(*test::sampleEvaluation(), TimeWindow { 2500, 4500 }));
        QVERIFY2(picture.fault.isEmpty(), qPrintable(picture.fault));
        int spans = 0;
        for (const auto &[look, x, width] : picture.rects) {
            if (look == QLatin1String("track"))
                continue;
            ++spans;
            QCOMPARE(look, QStringLiteral("k-backward"));
            QCOMPARE(x, 170.0);
            QVERIFY(std::abs(width - 990.0 * 0.75) < 1);
        }
        QCOMPARE(spans, 1);
        QVERIFY(ganttSvg(*test::sampleEvaluation(), TimeWindow { 5, 5 }).empty());
        // A whole window is the picture as ever.
        QCOMPARE(
            ganttSvg(*test::sampleEvaluation(), TimeWindow { 0, 9000 }), ganttSvg(*test::sampleEvaluation(), 9000));
    }

    void thePageNamesTheSpanThatIsLonger()
    {
        const NamedEvaluation before { "A <b>", "a.json", test::sampleEvaluation() }, after { "B", "b.json", longer() };
        const QString page = QString::fromStdString(timelineComparison(before, after));
        QVERIFY(page.contains(QLatin1String("<h1>A &lt;b&gt; and B</h1>")));
        QVERIFY(page.contains(QLatin1String("0 came, 0 went, 1 longer, 0 shorter, 0 shifted")));
        QVERIFY(
            page.contains(QString::fromUtf8("<td>stage 1 \u00b7 backward \u00b7 micro-batch 1 \u00b7 pipeline 0</td>"
                                            "<td>longer</td><td>+1.00 \u00b5s</td><td></td>")));
        QVERIFY(page.contains(QLatin1String("no difference"))); // of the plans
        QCOMPARE(page, QString::fromStdString(timelineComparison(before, after)));
        const QString outside = QString::fromStdString(timelineComparison(before, after, { 0, 4000 }));
        QVERIFY(outside.contains(QLatin1String("0 came, 0 went, 0 longer, 0 shorter, 0 shifted")));
    }

    void aPlanWithoutATimelineIsToldAsSuch()
    {
        const auto none = test::sampleEvaluation();
        none->timeline = {};
        const QString page =
            QString::fromStdString(timelineComparison({ "A", "a", test::sampleEvaluation() }, { "B", "b", none }));
        QVERIFY(page.contains(QLatin1String("no timeline")));
        QVERIFY(page.contains(QLatin1String("The second plan has no timeline: spans are not matched")));
    }
};

TRAINYARD_APPLESS_TEST(TstTimelineComparison)
#include "tst_timeline_comparison.moc"
