// SPDX-License-Identifier: GPL-3.0-or-later
// The map of a report: every datacenter with its GPUs and stages, every link with what it is and does, nothing over
// another and nothing outside.
#include "core/evaluation/report/map_svg.h"
#include "core/evaluation/report/markup.h"
#include "tests/core/evaluation/report/sample_evaluation.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

#include <vector>

using namespace trainyard;

namespace {

QString svgOf(const Evaluation &evaluation)
{
    return QString::fromStdString(mapSvg(evaluation));
}

/// So many sites, each linked with each.
Evaluation meshed(int sites)
{
    Plan plan;
    for (int i = 0; i < sites; ++i) {
        Datacenter &site = plan.cluster.datacenters.emplace_back();
        site.id = "site-" + std::to_string(i);
        site.name = "A datacenter with a name of many letters " + std::to_string(i);
        Pool &pool = site.pools.emplace_back();
        pool.gpu = "h100-sxm-80gb";
        for (int j = 0; j < i; ++j) {
            WanLink &link = plan.cluster.wanLinks.emplace_back();
            link.between = { plan.cluster.datacenters[std::size_t(j)].id, site.id };
            link.rttMs = 49;
            link.capacityGbps = 25;
        }
    }
    Evaluation evaluation;
    evaluation.plan = std::make_shared<const Plan>(plan);
    return evaluation;
}

struct Box {
    double x, y, width, height;
};

std::vector<Box> boxesOf(const QString &svg)
{
    std::vector<Box> boxes;
    QXmlStreamReader reader(svg);
    while (!reader.atEnd())
        if (reader.readNext() == QXmlStreamReader::StartElement && reader.name() == QLatin1String("rect"))
            boxes.push_back({ reader.attributes().value("x").toDouble(), reader.attributes().value("y").toDouble(),
                reader.attributes().value("width").toDouble(), reader.attributes().value("height").toDouble() });
    return reader.hasError() ? std::vector<Box> {} : boxes;
}

} // namespace

class MapSvgTest : public QObject {
    Q_OBJECT

private slots:
    void datacentersAndLinksAreNamed()
    {
        const auto evaluation = test::sampleEvaluation();
        const QString svg = svgOf(*evaluation);
        QCOMPARE(boxesOf(svg).size(), evaluation->plan->cluster.datacenters.size());
        for (const Datacenter &site : evaluation->plan->cluster.datacenters)
            QVERIFY2(svg.contains(QString::fromStdString(site.label()).toHtmlEscaped()), qPrintable(svg));
        QVERIFY2(
            svg.contains(QStringLiteral(">stage 1<")) && svg.contains(QStringLiteral(">stage 2<")), qPrintable(svg));
        QVERIFY2(svg.contains(QStringLiteral("4 GPUs idle")), qPrintable(svg));
    }

    /// 28 links of eight sites: labels of equal height are a site apart, others a line.
    void nothingLiesOverAnotherOrOutside()
    {
        for (int sites = 1; sites <= int(kMostOnMap); ++sites) {
            const QString svg = svgOf(meshed(sites));
            const std::vector<Box> boxes = boxesOf(svg);
            QCOMPARE(boxes.size(), std::size_t(sites));
            for (std::size_t i = 0; i < boxes.size(); ++i) {
                QVERIFY(boxes[i].x >= 0 && boxes[i].x + boxes[i].width <= markup::kSvgWidth + 1e-6);
                QVERIFY(i == 0 || boxes[i].x > boxes[i - 1].x + boxes[i - 1].width);
            }
            std::vector<std::pair<double, double>> labels;
            static const QRegularExpression label(
                QStringLiteral("<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" class=\"middle faint\">([^<]*)<"));
            for (auto found = label.globalMatch(svg); found.hasNext();) {
                const auto match = found.next();
                QCOMPARE(match.captured(3), QStringLiteral("49.0 ms · 25 Gbps"));
                const double x = match.captured(1).toDouble(), y = match.captured(2).toDouble();
                QVERIFY(y >= 8); // letters are 11 high, from the baseline
                for (const auto &[otherX, otherY] : labels)
                    QVERIFY2(std::abs(otherX - x) > 100 || std::abs(otherY - y) > 11, qPrintable(svg));
                labels.emplace_back(x, y);
            }
            QCOMPARE(labels.size(), std::size_t(sites * (sites - 1) / 2));
        }
    }

    void aLongNameIsCutBetweenLetters()
    {
        const QString svg = svgOf(meshed(int(kMostOnMap)));
        QVERIFY(svg.contains(QStringLiteral("A datacenter")) && svg.contains(QStringLiteral("…<")));
        QVERIFY(!svg.contains(QChar::ReplacementCharacter));
    }

    void manySitesAreLeftToTheTables() { QVERIFY(svgOf(meshed(int(kMostOnMap) + 1)).isEmpty()); }
};

TRAINYARD_APPLESS_TEST(MapSvgTest)
#include "tst_map_svg.moc"
