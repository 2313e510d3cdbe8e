// SPDX-License-Identifier: GPL-3.0-or-later
// A plan inside of a report comes out as it went in, whatever its texts hold.
#include "core/evaluation/report/html_report.h"
#include "core/facts/plan/embedded_plan.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include "tests/core/evaluation/report/sample_evaluation.h"
#include "tests/core/facts/plan/random_plan.h"

#include <QTest>

using namespace trainyard;

class EmbeddedPlanTest : public QObject {
    Q_OBJECT
private slots:
    void theTextStandsInMarkupAsItIs()
    {
        Plan plan = test::samplePlan();
        plan.workload.model = "llama-3-8b";
        plan.notes = "</template></trainyard:plan> <b> & \"quotes\" \\u003c \\";
        const std::string text = embeddablePlan(plan);
        QCOMPARE(text.find_first_of("<>&"), std::string::npos);
        const auto read = parsePlan(text, "p.json");
        QVERIFY(read);
        QCOMPARE(read->notes, plan.notes);
        QVERIFY(*read == plan);
    }
    void aPageAndAPdfGiveThePlanBack()
    {
        // parse(element(plan)) = parse(metadata(plan)) = plan, for plans that use every key.
        for (unsigned seed = 1; seed <= 20; ++seed) {
            const Plan plan = *parsePlan(formatPlan(test::RandomPlan(seed).plan()), "p.json");
            const auto ofPage =
                parsePlan("<!DOCTYPE html><html><body>text " + planElement(plan) + "</body></html>", "report.html");
            const auto ofPdf =
                parsePlan("%PDF-1.4\n\xFF\xFE binary stream\n" + planMetadata(plan) + "endstream", "report.pdf");
            QVERIFY(ofPage && *ofPage == plan);
            QVERIFY(ofPdf && *ofPdf == plan);
        }
    }
    void theReportOpensAsItsPlan()
    {
        const auto evaluation = test::sampleEvaluation();
        Plan complete = *evaluation->plan;
        complete.workload.model = "llama-3-8b";
        evaluation->plan = std::make_shared<const Plan>(complete);
        const auto read = parsePlan(htmlReport({ { "Two sites", "", evaluation } }), "report.html", "/somewhere");
        QVERIFY(read);
        QCOMPARE(read->baseDir, std::string("/somewhere"));
        Plan expected = *evaluation->plan;
        expected.baseDir = read->baseDir;
        QVERIFY(*read == expected);
    }
    void aPageWithoutAPlanSaysSo()
    {
        for (const char *page : { "<html><body>hello</body></html>", "%PDF-1.4 nothing", "  <svg/>" }) {
            const auto read = parsePlan(page, "page.html");
            QVERIFY(!read);
            QCOMPARE(read.error().front().where, std::string("page.html"));
            QVERIFY(read.error().front().what.find("holds no plan") != std::string::npos);
        }
    }
    void aModelOfAFileTravelsWithThePlan()
    {
        Plan plan = test::samplePlan();
        plan.workload.model = "../models/mine/config.json";
        ModelSpec model;
        model.name = "mine";
        model.layers = 12;
        const Plan inside = withModelInside(plan, model);
        QVERIFY(inside.workload.model.empty());
        QVERIFY(inside.workload.inlineModel == model);
        // One of the catalogue stays a name.
        model.id = "llama-3-8b";
        QVERIFY(withModelInside(plan, model) == plan);
    }
};

TRAINYARD_APPLESS_TEST(EmbeddedPlanTest)
#include "tst_embedded_plan.moc"
