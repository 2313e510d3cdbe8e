// SPDX-License-Identifier: GPL-3.0-or-later
// What Problems says of waiting, against the same plan with links that take no time.
#include "core/evaluation/evaluate/run.h"
#include "core/facts/catalogue/catalogue.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace trainyard;

namespace {

EvaluationPtr evaluated(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto evaluation = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
    return evaluation ? *evaluation : nullptr;
}

QString waitingOf(const Evaluation &evaluation)
{
    const auto found = std::ranges::find_if(
        evaluation.problems, [](const Problem &problem) { return problem.text.starts_with("GPUs wait "); });
    return found == evaluation.problems.end() ? QString() : QString::fromStdString(found->text);
}

Plan withInstantLinks(Plan plan)
{
    for (WanLink &link : plan.cluster.wanLinks) {
        link.rttMs = 0.01;
        link.capacityGbps = 1e5;
        link.nodePairGbps = 400;
        link.tcpWindowMb = 1000;
        link.cloud.clear();
    }
    return plan;
}

} // namespace

class WaitingToldTest : public QObject {
    Q_OBJECT
private slots:
    /// 80 layers with embedding and head in 20 stages: the last is much longer, and the link takes as long again.
    void theSlowestStageIsToldApartFromTheWan()
    {
        Plan plan = test::samplePlan("llama-3-70b-three-regions");
        plan.parallelism.tensor = 8;
        plan.parallelism.pipeline = 20;
        plan.parallelism.context = 2;
        plan.workload.microBatch = 4;
        const EvaluationPtr is = evaluated(plan), instant = evaluated(withInstantLinks(plan));
        QVERIFY(is && instant);
        const QString text = waitingOf(*is);
        const auto told =
            QRegularExpression(QStringLiteral("with the slowest of these (\\d+) %; the rest is waiting")).match(text);
        QVERIFY2(told.hasMatch(), qPrintable(text));
        const double slowest = told.captured(1).toDouble() / 100, without = *instant->metrics.bubbleFraction;
        QVERIFY2(std::abs(slowest - without) < 0.03, qPrintable(QString::number(without)));
        QVERIFY(*is->metrics.bubbleFraction > 1.5 * without);
    }

    void evenStagesWaitForTheWanAlone()
    {
        const Plan plan = test::samplePlan("llama-3-70b-three-regions");
        const EvaluationPtr is = evaluated(plan), instant = evaluated(withInstantLinks(plan));
        QVERIFY(is && instant);
        const QString text = waitingOf(*is);
        const auto told =
            QRegularExpression(QStringLiteral("inside one datacenter it would be (\\d+) %; the rest")).match(text);
        QVERIFY2(told.hasMatch(), qPrintable(text));
        QVERIFY(std::abs(told.captured(1).toDouble() / 100 - *instant->metrics.bubbleFraction) < 0.05);
    }
};

TRAINYARD_GUILESS_TEST(WaitingToldTest)
#include "tst_waiting_told.moc"
