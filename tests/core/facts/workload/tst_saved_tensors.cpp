// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/workload/saved_tensors.h"
#include "tests/support/test_program.h"

#include "core/facts/catalogue/catalogue.h"

#include <QTest>

#include <cmath>

using namespace trainyard;

class TstSavedTensors : public QObject {
    Q_OBJECT

private slots:
    void theyAddUpToWhatALayerKeeps()
    {
        // sum of the tensors, each storage once = LayerActivations::kept, for every kind of layer and recomputation
        for (const char *name : { "gpt-3-175b", "llama-3-70b", "mixtral-8x7b", "deepseek-v3" })
            for (const char *stackName : { "megatron-core", "megatron-lm-2021", "fsdp" })
                for (const Recompute recompute : { Recompute::None, Recompute::Selective, Recompute::Full }) {
                    const ModelSpec &model = *builtinCatalogue().model(name);
                    const StackSpec &stack = *builtinCatalogue().stack(stackName);
                    ActivationShape shape;
                    shape.sequence = 4096;
                    shape.microBatch = 2;
                    shape.tensor = 4;
                    shape.sequenceParallel = true;
                    shape.recompute = recompute;
                    for (const bool expert : { false, true }) {
                        if (expert && !model.isMoe())
                            continue;
                        double sum = 0;
                        for (const SavedTensor &tensor : savedTensors(model, expert, shape, stack)) {
                            QVERIFY(tensor.bytes > 0 && tensor.elements > 0 && tensor.references >= 1);
                            sum += tensor.bytes;
                        }
                        const double kept = layerActivations(model, expert, shape, stack).kept;
                        QVERIFY2(std::abs(sum - kept) < 1e-12 * kept, name);
                    }
                }
    }

    void theClassicLayerDividesIntoAttentionAndMlp()
    {
        // Korthikanti et al. 2022, with fused attention: 2 + 2 + 6 + 2 + 1 = 13 sbh of attention and its norm but for
        // the log-sum-exp, 2 + 2 + 8 + 8 + 1 = 21 sbh of the MLP and its norm; 34 in all
        ModelSpec model = *builtinCatalogue().model("gpt-3-175b");
        model.dropout = true;
        StackSpec stack = *builtinCatalogue().stack("megatron-lm-2021");
        stack.flashAttention = true;
        ActivationShape shape;
        shape.sequence = 2048;
        const double sbh = 2048.0 * model.hidden;
        double attention = 0, mlp = 0;
        for (const SavedTensor &tensor : savedTensors(model, false, shape, stack))
            (tensor.child == LayerChild::Attention ? attention : mlp) += tensor.bytes;
        QCOMPARE(attention, 13 * sbh + 4.0 * 2048 * model.heads);
        QCOMPARE(mlp, 21 * sbh);
    }
};

TRAINYARD_APPLESS_TEST(TstSavedTensors)
#include "tst_saved_tensors.moc"
