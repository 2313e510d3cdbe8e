// SPDX-License-Identifier: GPL-3.0-or-later
// What a report says of experts in sentences.
#include "core/evaluation/report/expert_text.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestExpertText : public QObject {
    Q_OBJECT

private slots:
    /// The logical rate counts what each dispatch takes for one copy: a sentence that names another is wrong.
    void aLogicalRateSaysWhatACopyIs()
    {
        const struct {
            MoeDispatch dispatch;
            const char *copies;
        } rows[] = {
            { MoeDispatch::Flat, "(a copy for each visit)" },
            { MoeDispatch::RankDedup, "(a copy for each rank visited)" },
            { MoeDispatch::Dedup, "(a copy for each node visited)" },
            { MoeDispatch::AllGather, "(a copy for every rank)" },
        };
        for (const auto &row : rows) {
            Plan plan = oneSite(2, 1);
            plan.cluster.datacenters = { site("a", 4, "h100-sxm-80gb", 4) }; // eight ranks of two nodes
            plan.workload.model = "mixtral-8x7b";
            plan.parallelism.tensor = 2;
            plan.parallelism.expert = 8;
            plan.moe.dispatch = row.dispatch;
            bool isSaid = false;
            for (const std::string &sentence : expertSentences(*evaluated(plan)))
                isSaid = isSaid || sentence.find(row.copies) != std::string::npos;
            QVERIFY2(isSaid, row.copies);
        }
    }
};

TRAINYARD_APPLESS_TEST(TestExpertText)
#include "tst_expert_text.moc"
