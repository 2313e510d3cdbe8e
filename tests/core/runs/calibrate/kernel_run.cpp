// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/calibrate/kernel_run.h"

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/calibration.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/model_states/stage_parameters.h"
#include "core/iteration/placement/resolve.h"
#include "tests/core/runs/calibrate/machine_equations.h"
#include "tests/core/runs/overlay/run_writer.h"
#include "tests/support/workloads.h"

#include <QtGlobal>

#include <algorithm>
#include <cmath>

namespace trainyard::test {

namespace {

constexpr const char *kProduct =
                         "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_kernel",
                     *kForward = "void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::Mainloop>>(Params)",
                     *kBackward = "void cutlass::device_kernel<flash::FlashAttnBwdSm90<flash::Mainloop>>(Params)",
                     *kNorm = "void transformer_engine::normalization::layernorm_fwd_kernel(Params)",
                     *kElement = "void at::native::vectorized_elementwise_kernel<4, at::native::GeluFunctor>(int)",
                     *kAdd = "void at::native::elementwise_kernel<128, 4, at::native::AddFunctor>(int)",
                     *kAdam = "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor>(long)";

struct Kernel {
    const char *name;
    double ns = 0;
};
using Kernels = std::vector<Kernel>;

class KernelReplay {
public:
    KernelReplay(const Evaluation &truth, const KernelRunOptions &options)
        : m_options(options)
        , m_work(workloadOf(truth))
        , m_plan(*m_work.plan)
        , m_model(m_work.model)
        , m_site(layerSite(m_work, rankSet(m_work, m_work.layout.classes.front(), 0)))
        , m_machine { *m_site.gpu }
        , m_inside(wayOf(m_site.device))
        , m_between(wayOf(m_site.fabric))
        , m_tensor(m_site.ranks.degrees.tensor)
        , m_data(int(m_site.data.ranks))
        , m_writer(m_tensor * m_data, writing(options))
        , m_noise(options.seed)
        , m_now(std::size_t(m_tensor * m_data), 1e6)
    {
        takeTruth(*truth.plan);
        makeKernels();
    }

    KernelRun run()
    {
        KernelRun made;
        double middle = 0;
        for (int k = 0; k < m_options.steps; ++k) {
            const double start = std::ranges::min(m_now);
            step(100 + k);
            made.stepSeconds.push_back((std::ranges::max(m_now) - start) * 1e-9);
            middle = std::ranges::max(m_now) / 2;
        }
        const int microBatches = m_work.layout.classes.front().microBatches;
        for (const Kernels *kernels : { &m_layerForward, &m_layerBackward })
            for (const Kernel &kernel : *kernels)
                made.kernelSeconds += kernel.ns * m_model.layers * microBatches * 1e-9;
        for (const Kernels *kernels : { &m_embedding, &m_head, &m_headBackward, &m_embeddingBackward })
            for (const Kernel &kernel : *kernels)
                made.kernelSeconds += kernel.ns * microBatches * 1e-9;
        made.kernelSeconds += m_optimizer * 1e-9;
        std::vector<TrueRank> ranks(m_now.size());
        for (TrueRank &rank : ranks) {
            rank.clockOffset = m_options.clockOffset * m_noise.oneWayOrTheOther();
            rank.clockDrift = m_options.clockDrift * m_noise.oneWayOrTheOther();
        }
        made.onTrueClock = m_writer.take();
        for (RankRecording &rank : made.onTrueClock.ranks)
            rank.host = "node" + std::to_string(rank.rank / m_work.pool(m_site.ranks.at).gpusPerNode);
        made.recording = onOwnClocks(made.onTrueClock, ranks, middle);
        made.ranks = std::move(ranks);
        made.middle = middle;
        return made;
    }

private:
    static Workload workloadOf(const Evaluation &truth)
    {
        auto plan = std::make_shared<Plan>(*truth.plan);
        plan->calibration.clear(); // what it says is put in here, by takeTruth
        return { test::requested(PlanPtr(std::move(plan))), truth.layout };
    }
    static RecordedRunOptions writing(const KernelRunOptions &options)
    {
        return { .seed = options.seed, .endJitter = options.noise > 0 ? 20.0 : 0 };
    }

    [[nodiscard]] double noise()
    {
        return m_noise({ .noise = m_options.noise,
            .outlierShare = m_options.outlierShare,
            .outlierFactor = m_options.outlierFactor });
    }

    static Way wayOf(const Link &link)
    {
        return { link.bandwidth.value * link.kind->fraction, link.kind->startUs, link.kind->rampUs, link.kind };
    }

    /// What the plan's calibration says, read as its keys are meant.
    void takeTruth(const Plan &truth)
    {
        const auto factors = calibrationOf(truth);
        if (!factors)
            qFatal("%s", toString(factors.error().front()).c_str());
        for (const auto &[id, factor] : *factors) {
            const double times = factor.factor.value_or(1);
            const auto set = [&](Way &way) {
                way.bytesPerSecond = *factor.gbytesPerS * 1e9;
                way.startUs = *factor.latencyUs;
                way.rampUs = 0;
            };
            switch (factor.what) {
            case CalibratedPart::Products:
                m_machine.products = times;
                break;
            case CalibratedPart::Attention:
                m_machine.attention = times;
                break;
            case CalibratedPart::Memory:
                m_machine.memory = times;
                break;
            case CalibratedPart::Host:
                m_host = times;
                break;
            case CalibratedPart::Overlap:
                m_overlap = times;
                break;
            case CalibratedPart::Nvlink:
                set(m_inside);
                break;
            case CalibratedPart::Fabric:
                set(m_between);
                break;
            default:
                qFatal("No %s is recorded here", id.c_str());
            }
        }
    }

    [[nodiscard]] Kernel product(double m, double n, double k) const
    {
        const double speed = m_work.stack.kernelEfficiency * m_site.sustained.ofProducts(m_plan.workload.precision);
        return { kProduct, m_machine.product(m, n, k, speed) * 1e9 };
    }
    [[nodiscard]] double moving(double bytes) const { return m_machine.moving(bytes) / m_site.sustained.memory * 1e9; }
    [[nodiscard]] Kernel element(const char *name, double bytes) const
    {
        const double passes = m_work.stack.elementwisePasses; // 16-bit tensors
        return { name, moving(bytes * passes) + m_site.gpu->gemm.launchUs / 2 * 1e3 };
    }

    void makeKernels()
    {
        const double h = m_model.hidden, t = m_tensor, f = m_model.ffn / t, d = m_model.headDim;
        m_tokens = double(m_plan.workload.microBatch) * m_plan.workload.sequenceLength;
        const double width = (m_model.heads / t + 2 * m_model.kvHeads / t) * d, out = m_model.heads * d / t;
        const double speed = m_work.stack.kernelEfficiency * m_site.sustained.attention;
        const Machine::Heads shape { double(m_plan.workload.microBatch), m_model.heads / t, m_model.kvHeads / t,
            double(m_plan.workload.sequenceLength), d };
        const double norms = 2 * 10 * m_tokens / t * h, activation = 2 * m_tokens * f * 2;
        m_layerForward = { element(kNorm, norms), product(m_tokens, width, h),
            { kForward, m_machine.attentionForward(shape, speed) * 1e9 }, product(m_tokens, h, out),
            product(m_tokens, f, h), element(kElement, activation), product(m_tokens, h, f) };
        const double parameters = layerParameters(m_model, false).total() / t;
        m_layerBackward = { product(m_tokens, f, h), product(h, f, m_tokens), element(kElement, 1.5 * activation),
            product(m_tokens, h, f), product(f, h, m_tokens), product(m_tokens, out, h), product(h, out, m_tokens),
            { kBackward, m_machine.attentionBackward(shape, speed) * 1e9 }, product(m_tokens, h, width),
            product(width, h, m_tokens), element(kNorm, 1.5 * norms),
            { kAdd, moving(parameters * m_work.stack.accumulationBytes) } };
        const double bytes = 2 * m_tokens * h, columns = 32 * std::ceil(m_model.vocab / t / 32);
        m_embedding = { element(kElement, 2 * bytes) };
        m_embeddingBackward = { element(kAdd, 3 * bytes),
            { kAdd, moving(embeddingParameters(m_model) / t * m_work.stack.accumulationBytes) } };
        m_head = { product(m_tokens, columns, h), element(kElement, m_tokens * columns * 10) };
        m_headBackward = { element(kElement, m_tokens * columns * 6), product(m_tokens, h, columns),
            product(columns, h, m_tokens), { kAdd, moving(columns * h * m_work.stack.accumulationBytes) } };
        const StackSpec &stack = m_work.stack;
        m_shard = stageParameters(m_work, 0).total();
        m_optimizer = moving(m_shard / m_data * (stack.masterWeights ? 30 : 24));
    }

    /// Kernels on every tensor rank of a replica, after a gap in which nothing is launched.
    void compute(int replica, const Kernels &kernels, double launches = 0)
    {
        for (int r = replica * m_tensor; r < (replica + 1) * m_tensor; ++r) {
            double &now = m_now[std::size_t(r)];
            now += launches * noise();
            bool isLate = launches > 0;
            for (const Kernel &kernel : kernels) {
                const double took = kernel.ns * noise() * (r == m_options.straggler ? 4.0 / 3 : 1);
                m_writer.span(r, RunStream::Compute, kernel.name, RecordedWork::Compute, now, now + took, isLate);
                now += took, isLate = false;
            }
        }
    }

    /// Between its tensor ranks, one behind the other; a share of it beside the product before it.
    void exchange(int replica, const std::vector<std::pair<const char *, double>> &parts, double hidden)
    {
        std::vector<int> ranks;
        for (int r = replica * m_tensor; r < (replica + 1) * m_tensor; ++r)
            ranks.push_back(r);
        double whole = 0;
        std::vector<double> times;
        for (const auto &[operation, bytes] : parts) {
            times.push_back(seconds(operation, bytes, m_site.tensor) * 1e9 * noise());
            whole += times.back();
        }
        for (const int r : ranks)
            m_now[std::size_t(r)] -= hidden * whole;
        for (std::size_t i = 0; i < parts.size(); ++i)
            together("tensor " + std::to_string(replica), ranks, parts[i].first, parts[i].second, times[i],
                RunStream::Tensor);
    }

    void together(const std::string &name, const std::vector<int> &ranks, const char *operation, double bytes,
        double took, RunStream stream)
    {
        if (ranks.size() < 2)
            return;
        double end = 0;
        for (const int r : ranks)
            end = std::max(end, m_now[std::size_t(r)]);
        end += took;
        const std::uint32_t group = m_writer.group(name, ranks);
        for (const int r : ranks) // what follows on the rank waits for its own end
            m_now[std::size_t(r)] = m_writer.collective(
                r, group, operation, "ncclDevKernel_bf16_RING_LL", bytes, stream, m_now[std::size_t(r)], end);
    }

    [[nodiscard]] double seconds(const std::string &operation, double bytes, const RankGroup &group) const
    {
        const Ring ring { m_inside, m_between, int(group.ranks), int(group.ranksPerNode) };
        return operation == "all_reduce" ? ring.allReduce(bytes) : ring.half(bytes);
    }

    /// Of all replicas, each shard on its own.
    void overReplicas(const char *operation, double bytes)
    {
        for (int t = 0; t < m_tensor; ++t) {
            std::vector<int> ranks;
            for (int d = 0; d < m_data; ++d)
                ranks.push_back(d * m_tensor + t);
            together("data " + std::to_string(t), ranks, operation, bytes,
                seconds(operation, bytes, m_site.data) * 1e9 * noise(), RunStream::Data);
        }
    }

    void step(int number)
    {
        const std::vector<double> started = m_now;
        const StackSpec &stack = m_work.stack;
        const double host = stack.microBatchOverheadUs * m_site.sustained.microBatchHost * m_host * 1e3;
        const double activation = 2 * m_tokens * m_model.hidden;
        for (int replica = 0; replica < m_data; ++replica)
            for (int b = 0; b < m_work.layout.classes.front().microBatches; ++b) {
                compute(replica, m_embedding, host);
                exchange(replica, { { "reduce_scatter", activation } }, 0);
                for (int layer = 0; layer < m_model.layers; ++layer) {
                    compute(replica, { m_layerForward.begin(), m_layerForward.begin() + 4 });
                    exchange(replica, { { "reduce_scatter", activation }, { "all_gather", activation } },
                        m_overlap * stack.tensorOverlap);
                    compute(replica, { m_layerForward.begin() + 4, m_layerForward.end() });
                    exchange(replica, { { "reduce_scatter", activation }, { "all_gather", activation } },
                        m_overlap * stack.tensorOverlap);
                }
                exchange(replica, { { "all_gather", activation } }, 0);
                compute(replica, m_head);
                exchange(replica, { { "all_reduce", 8 * m_tokens } }, 0);
                for (int i = 0; m_options.hasSmallMessages && i < 6; ++i)
                    exchange(replica, { { "all_reduce", 4096.0 * std::exp2(2 * (i % 3)) } }, 0);
                compute(replica, m_headBackward, host);
                exchange(replica, { { "reduce_scatter", activation } }, 0);
                for (int layer = 0; layer < m_model.layers; ++layer) {
                    compute(replica, { m_layerBackward.begin(), m_layerBackward.begin() + 5 });
                    exchange(replica, { { "reduce_scatter", activation }, { "all_gather", activation } },
                        m_overlap * stack.tensorOverlap);
                    compute(replica, { m_layerBackward.begin() + 5, m_layerBackward.begin() + 10 });
                    exchange(replica, { { "reduce_scatter", activation }, { "all_gather", activation } },
                        m_overlap * stack.tensorOverlap);
                    compute(replica, { m_layerBackward.begin() + 10, m_layerBackward.end() });
                }
                compute(replica, m_embeddingBackward);
            }
        const double buckets = stack.gradientBucket > 0 ? std::max(1.0, std::round(m_shard / stack.gradientBucket)) : 1;
        for (int i = 0; i < int(buckets); ++i)
            overReplicas("reduce_scatter", m_shard / buckets * stack.gradientBytes);
        for (int i = 0; m_options.hasSmallMessages && i < 30; ++i)
            overReplicas("all_reduce", 1024.0 * std::exp2(i % 10));
        for (int replica = 0; replica < m_data; ++replica)
            compute(replica, { { kAdam, m_optimizer } });
        overReplicas("all_gather", m_shard * 2);
        for (std::size_t r = 0; r < m_now.size(); ++r) {
            m_now[r] += stack.iterationOverheadMs * m_site.sustained.host * m_host * 1e6 * noise();
            m_writer.step(int(r), number, started[r], m_now[r]);
        }
    }

    const KernelRunOptions &m_options;
    Workload m_work;
    const Plan &m_plan;
    const ModelSpec &m_model;
    LayerSite m_site;
    Machine m_machine;
    Way m_inside, m_between;
    double m_host = 1, m_overlap = 1; // as long, as much of it as planned
    int m_tensor, m_data;
    double m_tokens = 0, m_shard = 0, m_optimizer = 0;
    Kernels m_embedding, m_layerForward, m_head, m_headBackward, m_layerBackward, m_embeddingBackward;
    RunWriter m_writer;
    DurationNoise m_noise;
    std::vector<double> m_now; // [rank], ns
};

} // namespace

KernelRun recordKernels(const Evaluation &truth, const KernelRunOptions &options)
{
    return KernelReplay(truth, options).run();
}

} // namespace trainyard::test
