// SPDX-License-Identifier: GPL-3.0-or-later
// No resource carries more than it can in an iteration: NICs, NVLink, PCIe, host memory, drives and node pairs of
// hundreds of random plans, bytes counted apart from their times. (Links between datacenters: tst_random_plans,
// tst_experts_across.)
#include "tests/core/evaluation/evaluate/plan_checks.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/core/evaluation/evaluate/resource_use.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace trainyard;
using namespace trainyard::test;

class TestConservation : public QObject {
    Q_OBJECT

private slots:
    void noResourceCarriesMoreThanItsRateTimesTheIteration()
    {
        Findings findings;
        EvaluationWorkspace workspace;
        std::map<std::string, int> busy; // by kind of resource, those that carry anything
        for (unsigned seed = 0; seed < randomPlans(); ++seed) {
            const auto evaluation = evaluate(randomValidPlan(seed), builtinCatalogue(), workspace, {}, Depth::Spans);
            if (!evaluation || !(*evaluation)->metrics.iterationTime)
                continue;
            const ResourceCount count(**evaluation, builtinCatalogue());
            for (const std::vector<ResourceUse> &uses : { count.all(), count.nodePairs() })
                for (const ResourceUse &use : uses) {
                    const std::string kind = use.name.substr(use.name.find(", ") + 2);
                    busy[kind.substr(0, kind.find(" of "))] += use.bytes > 0.2 * use.capacity;
                    findings.expect(use.bytes <= use.capacity * (1 + 1e-6), seed,
                        kind + " within capacity: " + use.name + " " + std::to_string(use.bytes / use.capacity) + " "
                            + traitsOf((*evaluation)->plan->schedule).label);
                }
        }
        for (const char *kind : { "NICs out", "NVLink out", "PCIe in", "PCIe out", "tensor over PCIe", "drives read",
                 "drives written", "host read", "host written", "node pairs" })
            QVERIFY2(busy[kind] > 5, kind); // else the bound is held by nothing
        QVERIFY2(findings.text().empty(), findings.text().c_str());
    }
};

TRAINYARD_APPLESS_TEST(TestConservation)
#include "tst_conservation.moc"
