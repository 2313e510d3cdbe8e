#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The set-up of SSDTrain's measurements (arXiv 2408.10013, §4) as plans: two A100 PCIe 40 GB at 765 MHz, tensor
// parallel, FP16 with SGD and without 32-bit copies, FlashAttention, s = 1024, heads of 128. Three and four P5800X, one
// array a GPU: both GPUs wait for the slower one, so each has three drives' 18.3 GB/s of writes and 21.6 GB/s of reads
// (data sheet, recalled). Assumed: dropout; vocabularies of 30,592, 32,128 and 50,304; a T5 of L layers as L equal
// layers without cross attention.

#include "tests/support/plans.h"

namespace offload {

using namespace trainyard;

struct PaperCase {
    const char *model = "BERT";
    int hidden = 8192, layers = 4, microBatch = 16;
};

inline constexpr PaperCase kFigure6[] = { { "BERT", 8192, 4 }, { "BERT", 12288, 3 }, { "BERT", 16384, 2 },
    { "T5", 8192, 4 }, { "T5", 12288, 3 }, { "T5", 16384, 2 }, { "GPT", 8192, 4 }, { "GPT", 12288, 3 },
    { "GPT", 16384, 2 } };

inline Plan paperPlan(
    const PaperCase &c, ActivationOffload offload = ActivationOffload::None, Recompute recompute = Recompute::None)
{
    Plan plan;
    plan.cluster.datacenters = { test::site("lab", 1, "", 2) };
    Pool &pool = plan.cluster.datacenters.front().pools.front();
    GpuSpec gpu = *builtinCatalogue().gpu("a100-pcie-40gb");
    gpu.id = gpu.name = "A100 PCIe at 765 MHz";
    for (double &peak : gpu.peakTflops)
        peak *= 765.0 / 1410;
    pool.inlineGpu = gpu;
    pool.ssd = Ssd {};
    pool.ssd->writeGBps = 2 * 18.3;
    pool.ssd->readGBps = 2 * 21.6;
    ModelSpec model;
    model.layers = c.layers;
    model.hidden = c.hidden;
    model.heads = model.kvHeads = c.hidden / 128;
    model.headDim = 128;
    model.ffn = 4 * c.hidden;
    model.vocab = c.model[0] == 'B' ? 30592 : c.model[0] == 'T' ? 32128 : 50304;
    model.layerNorm = model.linearBias = model.dropout = true;
    model.learnedPositions = 1024;
    model.tiedEmbeddings = true;
    plan.workload.inlineModel = model;
    plan.workload.sequenceLength = 1024;
    plan.workload.globalBatch = plan.workload.microBatch = c.microBatch;
    plan.workload.precision = Precision::Fp16;
    plan.workload.optimizer = Optimizer::Sgd;
    plan.parallelism.tensor = 2;
    plan.parallelism.data = 1;
    plan.parallelism.sequenceParallel = false;
    plan.parallelism.zeroStage = 0;
    plan.stack.name = "megatron-deepspeed";
    // Main gradients lie in buffers of their own; each gradient exists beside them until a hook has added it there.
    plan.stack.overrides = { { "flash_attention", 1 }, { "gradient_bytes", 2 }, { "master_weights", 0 } };
    plan.memory.recompute = recompute;
    plan.memory.activationOffload = offload;
    return plan;
}

} // namespace offload
