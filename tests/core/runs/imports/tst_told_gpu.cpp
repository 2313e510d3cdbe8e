// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPU a run had where a scheduler's constraint, options of a launcher and traces name it: the first that tells
// one counts, and what others name instead is a problem of the plan.
#include "tests/core/runs/imports/import_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

const std::map<std::string, std::string> kJob { { "num_layers", "24" }, { "hidden_size", "2048" },
    { "num_attention_heads", "16" }, { "tensor_model_parallel_size", "4" }, { "nnodes", "4" },
    { "nproc_per_node", "8" }, { "seq_length", "2048" }, { "global_batch_size", "64" }, { "bf16", "True" } };

ImportedPlan ofArguments(std::map<std::string, std::string> more)
{
    more.insert(kJob.begin(), kJob.end());
    return imported(told(std::move(more)));
}

std::string gpuOf(const ImportedPlan &made)
{
    return made.plan.cluster.datacenters.at(0).pools.at(0).gpu;
}

} // namespace

class TestToldGpu : public QObject {
    Q_OBJECT

private slots:
    void aConstraintNamesTheGpuWithItsSource()
    {
        const ImportedPlan made = ofArguments({ { "constraint", "a100" } });
        QCOMPARE(gpuOf(made), std::string("a100-sxm-40gb")); // of several the smallest, as that is said
        QVERIFY(says(made.taken, "from a100 (--constraint (run.sh))"));
        QVERIFY(says(made.assumed, "does not tell form and memory"));
        QCOMPARE(gpuOf(ofArguments({ { "constraint", "v100-32g" } })), std::string("v100-sxm-32gb"));
        QCOMPARE(gpuOf(ofArguments({ { "constraint", "[rack1|rack2]&a100" } })), std::string("a100-sxm-40gb"));
    }

    void aConstraintOfSomethingElseNamesNone()
    {
        const ImportedPlan made = ofArguments({ { "constraint", "haswell&ib" } });
        QCOMPARE(gpuOf(made), std::string("h100-sxm-80gb")); // the base plan's
        QVERIFY(says(made.assumed, "The type of GPU is told by no source"));
        QVERIFY(made.plan.notUnderstood.empty());
    }

    void aConstraintThatSeveralTypesMeetIsAProblem()
    {
        const ImportedPlan made = ofArguments({ { "constraint", "a100|v100" } });
        QCOMPARE(gpuOf(made), std::string("h100-sxm-80gb"));
        QVERIFY(says(made.notUnderstood, "--constraint (run.sh): is a100|v100, which several types of GPUs meet"));
        QCOMPARE(made.plan.notUnderstood.size(), std::size_t(1));
    }

    void whoNamesAnotherGpuThanIsCountedIsAProblem()
    {
        const ImportedPlan made = ofArguments({ { "gpu", "h100" }, { "constraint", "a100" } });
        QCOMPARE(gpuOf(made), std::string("h100-sxm-80gb"));
        QVERIFY(says(made.notUnderstood,
            "a100 (--constraint (run.sh)): is another GPU than other sources tell, of which H100 SXM 80 GB is "
            "counted"));
        Recording traced = told({ { "constraint", "v100-32g" } });
        traced.arguments.insert(kJob.begin(), kJob.end());
        RankRecording rank;
        rank.gpu = "NVIDIA A100-SXM4-80GB";
        traced.ranks.push_back(rank);
        const ImportedPlan both = imported(traced);
        QCOMPARE(gpuOf(both), std::string("a100-sxm-80gb"));
        QVERIFY(says(both.notUnderstood, "v100-32g (--constraint (run.sh)): is another GPU"));
    }

    void whoNamesTheSameGpuInOtherWordsIsNone()
    {
        Recording traced = told({ { "constraint", "a100" }, { "gpu", "a100" } });
        traced.arguments.insert(kJob.begin(), kJob.end());
        RankRecording rank;
        rank.gpu = "NVIDIA A100-SXM4-80GB";
        traced.ranks.push_back(rank);
        const ImportedPlan made = imported(traced);
        QCOMPARE(gpuOf(made), std::string("a100-sxm-80gb"));
        QVERIFY(made.plan.notUnderstood.empty());
    }
};

TRAINYARD_APPLESS_TEST(TestToldGpu)
#include "tst_told_gpu.moc"
