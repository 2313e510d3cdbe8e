// SPDX-License-Identifier: GPL-3.0-or-later
// What better parts would buy, in reports: each is evaluated again here, by itself.
#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/report/html_report.h"
#include "core/evaluation/report/markdown_report.h"
#include "core/evaluation/report/useful_parts.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

class UsefulPartsTest : public QObject {
    Q_OBJECT

private slots:
    void eachPartGainsWhatItSaysAndTheBestComesFirst()
    {
        const auto plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/atlas-headline.trainyard.json");
        QVERIFY(plan);
        EvaluationWorkspace workspace;
        const auto now = evaluate(std::make_shared<const Plan>(*plan), builtinCatalogue(), workspace);
        QVERIFY(now && (*now)->metrics.iterationTime);
        const std::vector<PartEffect> parts = usefulParts(**now, builtinCatalogue());
        QVERIFY(!parts.empty());
        QVERIFY(std::ranges::is_sorted(parts, {}, &PartEffect::iterationTime));
        const BetterParts all = betterParts(*plan, builtinCatalogue(), &(*now)->layout);
        for (const PartEffect &part : parts) {
            const auto same = std::ranges::find(all.list, part.id, &Alternative::id);
            QVERIFY2(same != all.list.end(), part.id.c_str());
            const auto better = evaluate(same->plan, builtinCatalogue(), workspace);
            QVERIFY(better && (*better)->feasible());
            QVERIFY2(std::abs(*(*better)->metrics.iterationTime - part.iterationTime) < 1e-9, part.label.c_str());
            QVERIFY(part.iterationTime < *(*now)->metrics.iterationTime);
        }
        const std::vector<NamedEvaluation> plans { { "p", "p.trainyard.json", *now, parts } };
        for (const std::string &page : { htmlReport(plans), markdownReport(plans) }) {
            QVERIFY(page.contains("What a better part would buy"));
            QVERIFY2(page.contains(parts.front().label.substr(0, 6)), parts.front().label.c_str());
        }
        QVERIFY(htmlReport(plans).contains("Datacenters and links"));
        QVERIFY(!htmlReport({ { "p", "p.trainyard.json", *now } }).contains("What a better part would buy"));
    }

    void aPlanWithoutAnIterationHasNone()
    {
        Evaluation none;
        none.plan = std::make_shared<const Plan>();
        QVERIFY(usefulParts(none, builtinCatalogue()).empty());
    }
};

TRAINYARD_APPLESS_TEST(UsefulPartsTest)
#include "tst_useful_parts.moc"
