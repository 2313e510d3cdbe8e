// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/model_states/optimizer_step.h"
#include "tests/support/test_program.h"

#include "core/facts/hardware/host_spec.h"
#include "tests/core/evaluation/memory_fit/data_states_rows.h"

#include <QTest>

#include <algorithm>
#include <vector>

using namespace trainyard;
using Json = nlohmann::json;
using test::ffnOf;
using test::kKeyValueHeads;
using test::kTokens;
using test::rowsOf;

namespace {

/// Tensors of the artifacts' models in their order; 7B gives the 5.949 billion that its log counts.
struct Shape {
    double layers, hidden, heads, ffn;
};

std::vector<double> tensorsOf(const Shape &m)
{
    std::vector<double> tensors { kTokens * m.hidden };
    for (int layer = 0; layer < m.layers; ++layer) {
        const double query = m.hidden * (m.hidden + 2 * kKeyValueHeads * m.hidden / m.heads);
        tensors.insert(
            tensors.end(), { m.hidden, query, m.hidden * m.hidden, m.hidden, 2 * m.hidden * m.ffn, m.hidden * m.ffn });
    }
    tensors.insert(tensors.end(), { m.hidden, kTokens * m.hidden });
    return tensors;
}

double parametersOf(const Shape &model)
{
    double sum = 0;
    for (const double tensor : tensorsOf(model))
        sum += tensor;
    return sum;
}

double parametersOfRow(const Json &row)
{
    const Json &m = row.at("model");
    return parametersOf(
        { m["layers"].get<double>(), m["hidden"].get<double>(), m["heads"].get<double>(), double(ffnOf(row)) });
}

/// DeepSpeed fills a sub-group with whole tensors until it holds as many parameters as asked; every second of them is
/// updated on the GPU, the first on the host.
double shareOfEverySecond(const Shape &model, double subGroup)
{
    double onGpu = 0, all = 0, filled = 0;
    int group = 0;
    for (const double tensor : tensorsOf(model)) {
        filled += tensor;
        all += tensor;
        onGpu += group % 2 == 1 ? tensor : 0;
        if (filled >= subGroup) {
            filled = 0;
            ++group;
        }
    }
    return onGpu / all;
}

/// A node of the MLP-Offload paper's first testbed: 4 H100, PCIe 5, one NVMe drive of 6.9 GB/s read and 5.3 GB/s write
/// (recalled), shared by four ranks; beside it a parallel file system of 3.6 GB/s each way.
StateRates quarterOfANode(bool hasFileSystem)
{
    StateRates rates;
    rates.toHost = rates.toGpu = gbytesPerSecond(50);
    rates.cpuAdam = builtinHost().adamParametersPerSecond / 4;
    rates.cpuCast = rates.cpuAdam * builtinHost().castsPerAdam;
    rates.gpuAdam = 3.35e12 * 0.8 / 30;
    rates.read = gbytesPerSecond((6.9 + (hasFileSystem ? 3.6 : 0)) / 4);
    rates.write = gbytesPerSecond((5.3 + (hasFileSystem ? 3.6 : 0)) / 4);
    return rates;
}

constexpr Shape kLlama7B { 32, 4096, 32, 11008 };

StateRates ratesOf(double link, double cpu)
{
    return { gbytesPerSecond(link), gbytesPerSecond(link), cpu, 5 * cpu, 1e11, gbytesPerSecond(5), gbytesPerSecond(7) };
}

} // namespace

class OptimizerStepTest : public QObject {
    Q_OBJECT
private slots:
    /// t = P (16 / read + 12 / write): DeepSpeed writes fp32 gradients during backward and reads them with the states.
    void driveStepsOfDeepSpeedAreWithinAFifthOfTheMeasured()
    {
        // Beside the drives the copies over the link, of 2 bytes each way, and the processors: once for the first group
        const StateRates node = quarterOfANode(false);
        for (const double parameters : { 1e9, 1.25e10 }) {
            const double drives = parameters * (16 / (6.9e9 / 4) + 12 / (5.3e9 / 4)),
                         others = parameters * (2 * 2 / 50e9 + 1 / node.cpuAdam + 1 / node.cpuCast);
            const double update = driveStep({ parameters, 1e8, true }, {}, node).time.value;
            QVERIFY(std::abs(update / (drives + others / (parameters / 1e8)) - 1) < 1e-9);
            QVERIFY(
                std::abs(gradientWrites({ parameters, 1e8, true }, {}, node).value / (parameters * 4 / (5.3e9 / 4)) - 1)
                < 1e-9);
        }
        const Json rows = rowsOf("mlp_offload_nvme.json");
        if (rows.is_null())
            return;
        int judged = 0;
        for (const Json &row : rows) {
            if (row.at("parallel").at("system") != "DeepSpeed ZeRO-3 NVMe offload")
                continue;
            const StepGroups groups { parametersOfRow(row) / 4, 1e8, true };
            const double measured = row["metrics"]["update_ms"].get<double>() / 1e3;
            const double error = driveStep(groups, {}, quarterOfANode(false)).time.value / measured - 1;
            qInfo("%g B: update %.1f %%", row["model"]["params_B"].get<double>(), 100 * error);
            QVERIFY(std::abs(error) < 0.1);
            const double iteration = (row["metrics"]["fwd_ms"].get<double>()) / 1e3
                + std::max(2 * row["metrics"]["fwd_ms"].get<double>() / 1e3,
                    gradientWrites(groups, {}, quarterOfANode(false)).value)
                + driveStep(groups, {}, quarterOfANode(false)).time.value;
            const double iterationError = iteration * 1e3 / row["metrics"]["iteration_ms"].get<double>() - 1;
            qInfo("%g B: iteration %.1f %%", row["model"]["params_B"].get<double>(), 100 * iterationError);
            QVERIFY(std::abs(iterationError) < 0.1);
            ++judged;
        }
        QCOMPARE(judged, 5);
    }

    /// MLP-Offload keeps 16-bit gradients in host memory and spreads states over drive and file system: the bandwidths
    /// add. What its 32 buffers a rank hold at the end of an update (100 million 32-bit values each) need not come back
    /// for the next.
    void aSecondPathAddsItsBandwidth()
    {
        StateBytes kept; // gradients stay in host memory: states in and out alone, over both paths at once
        kept.storedGradient = 0;
        const double update = driveStep({ 1e10, 1, true }, kept, quarterOfANode(true)).time.value; // groups of one
        QVERIFY(std::abs(update / (1e10 * 12 * 4 * (1 / (6.9e9 + 3.6e9) + 1 / (5.3e9 + 3.6e9))) - 1) < 1e-6);
        QVERIFY(update < driveStep({ 1e10, 1, true }, kept, quarterOfANode(false)).time.value);
        const Json rows = rowsOf("mlp_offload_nvme.json");
        if (rows.is_null())
            return;
        int judged = 0;
        for (const Json &row : rows) {
            if (row.at("parallel").at("system") != "MLP-Offload (NVMe+PFS)")
                continue;
            StateBytes bytes;
            bytes.storedGradient = 0;
            constexpr double kKept = 32 * 1e8 / 3; // parameters of a rank: weight and two moments each
            const StepGroups groups { parametersOfRow(row) / 4 - kKept, 1e8, true };
            const double error = driveStep(groups, bytes, quarterOfANode(true)).time.value * 1e3
                    / row["metrics"]["update_ms"].get<double>()
                - 1;
            qInfo("%g B: %.1f %%", row["model"]["params_B"].get<double>(), 100 * error);
            QVERIFY(std::abs(error) < 0.2);
            ++judged;
        }
        QCOMPARE(judged, 5);
    }

    /// Vanilla DeepSpeed copies through memory that is not pinned, one step after the other.
    void theHostStepOfDeepSpeedIsWithinAFifthOfTheMeasured()
    {
        const HostSpec &host = builtinHost();
        StateRates rates;
        rates.toHost = rates.toGpu = gbytesPerSecond(25 / host.pageableSlowdown); // PCIe 4 x16
        rates.cpuAdam = host.adamParametersPerSecond;
        rates.cpuCast = rates.cpuAdam * host.castsPerAdam;
        StateBytes bytes;
        bytes.gradient = 0; // left during backward
        const double parameters = parametersOf(kLlama7B);
        const OffloadedStep step = hostStep({ parameters, 1e7, false }, bytes, rates);
        // By hand: 5.949 billion updates, as many casts of a fifth each, and 2 bytes back over 25 / 6 GB/s
        QVERIFY(std::abs(parameters / 5.949e9 - 1) < 1e-3);
        const double byHand = parameters * (1.2 / host.adamParametersPerSecond + 2 / (25e9 / 6));
        QVERIFY(std::abs(step.time.value / byHand - 1) < 1e-9);
        const Json rows = rowsOf("deep_optimizer_states.json");
        if (rows.is_null())
            return;
        const Json &metrics = rows[0]["metrics"];
        const double error = step.time.value * 1e3 / metrics["step_ms"].get<double>() - 1;
        qInfo("update %.1f %%", 100 * error);
        QVERIFY(std::abs(error) < 0.2);
        // Backward: gradients leave by such copies and are widened; forward, backward and update follow each other.
        const double forward = metrics["fwd_ms"].get<double>() / 1e3;
        const double backward = 2 * forward + 2 * parameters / rates.toHost.value + parameters / rates.cpuCast;
        const double iteration = forward + backward + step.time.value;
        const double iterationError = iteration * 1e3 / metrics["iter_ms"].get<double>() - 1;
        qInfo("iteration %.1f %%", 100 * iterationError);
        QVERIFY(std::abs(iterationError) < 0.2);
    }

    /// Every second sub-group of whole tensors goes to the GPU, 63 % of the parameters; states in and out share one
    /// stream of copies: t = P g (12 + 12) / B + P (1 - g) 2 / B.
    void theInterleavedStepIsWithinAFifthOfTheMeasured()
    {
        StateRates rates;
        rates.toHost = rates.toGpu = gbytesPerSecond(25); // PCIe 4 x16, pinned
        rates.cpuAdam = builtinHost().adamParametersPerSecond;
        rates.cpuCast = rates.cpuAdam * builtinHost().castsPerAdam;
        rates.gpuAdam = 1.5e12 * 0.8 / 30;
        StepGroups groups { parametersOf(kLlama7B), 1e7, true, builtinHost().interleavedCopiesTakeTurns };
        groups.gpuShare = shareOfEverySecond(kLlama7B, 1e7);
        StateBytes bytes;
        bytes.gradient = 0; // left during backward
        const double update = interleavedStep(groups, bytes, rates, 2).time.value, g = groups.gpuShare;
        QVERIFY(std::abs(g - 0.63) < 0.005);
        QVERIFY(std::abs(update / (groups.parameters * (g * (12 + 12) + (1 - g) * 2) / 25e9) - 1) < 1e-9);
        const Json rows = rowsOf("deep_optimizer_states.json");
        if (rows.is_null())
            return;
        const Json &metrics = rows[1]["metrics"];
        const double error = update * 1e3 / metrics["step_ms"].get<double>() - 1;
        qInfo("GPU's share %.3f, update %.1f %%", groups.gpuShare, 100 * error);
        QVERIFY(std::abs(error) < 0.2);
    }

    /// Copies that take turns last as long as both directions together, never longer than twice the longer of them.
    void copiesOnOneStreamTakeTurns()
    {
        StepGroups groups { 1e10, 1e8, true };
        for (const double cpu : { 1e9, 1e10 }) {
            for (int stride = 1; stride <= 8; ++stride) {
                groups.copiesTakeTurns = false;
                const Seconds beside = interleavedStep(groups, {}, ratesOf(25, cpu), stride).time;
                groups.copiesTakeTurns = true;
                const OffloadedStep inTurns = interleavedStep(groups, {}, ratesOf(25, cpu), stride);
                QCOMPARE(inTurns.time.value,
                    std::max({ inTurns.cpu.value, inTurns.gpu.value, inTurns.toHost.value + inTurns.toGpu.value }));
                QVERIFY(beside <= inTurns.time && inTurns.time <= beside * 2);
            }
        }
    }

    /// cycle(k) / k at the chosen k is no longer than at any other.
    void theStrideIsTheBestOfAll()
    {
        const StepGroups groups { 1e10, 1e8, true };
        for (const double link : { 5.0, 12.0, 25.0, 50.0, 400.0 }) {
            for (const double cpu : { 5e8, 2e9, 4e9, 2e10 }) {
                const StateRates rates = ratesOf(link, cpu);
                const OffloadedStep chosen = interleavedStep(groups, {}, rates);
                for (int k = 1; k <= 64; ++k)
                    QVERIFY(chosen.time <= interleavedStep(groups, {}, rates, k).time);
                QVERIFY(chosen.stride >= 1);
            }
        }
    }

    /// A faster link moves the balance to the GPU: k falls; a faster processor moves it back.
    void theStrideFollowsTheBalance()
    {
        const StepGroups groups { 1e10, 1e8, true };
        QVERIFY(interleavedStep(groups, {}, ratesOf(400, 2e9)).stride
            < interleavedStep(groups, {}, ratesOf(10, 2e9)).stride);
        QVERIFY(interleavedStep(groups, {}, ratesOf(25, 2e9)).stride
            <= interleavedStep(groups, {}, ratesOf(25, 8e9)).stride);
    }

    /// Deep Optimizer States: up to 2.5 times faster iterations; never slower than the processors alone.
    void interleavingHelpsWhereTheProcessorIsSlow()
    {
        const StepGroups groups { 1e10, 1e8, true };
        StateBytes bytes;
        const StateRates slow = ratesOf(25, 1e9);
        bytes.gradient = 0;
        QVERIFY(interleavedStep(groups, bytes, slow).time < hostStep(groups, bytes, slow).time);
        const StateRates fast = ratesOf(25, 1e11);
        QVERIFY(interleavedStep(groups, bytes, fast).time <= hostStep(groups, bytes, fast).time * 1.1);
    }

    /// Bytes moved = states x updates: gradients out, weights in; 12 in and out of the drives, gradients written once
    /// and read once.
    void bytesAreConserved()
    {
        const StateBytes bytes;
        for (const double parameters : { 1e6, 3.3e8, 7e9 }) {
            const StepGroups groups { parameters, 1e8, true };
            const OffloadedStep host = hostStep(groups, bytes, ratesOf(25, 2e9));
            QCOMPARE(host.sent.value, 2 * parameters);
            QCOMPARE(host.fetched.value, 2 * parameters);
            const OffloadedStep drive = driveStep(groups, bytes, ratesOf(25, 2e9));
            QCOMPARE(drive.written.value, 16 * parameters);
            QCOMPARE(drive.readBack.value, 16 * parameters);
            const OffloadedStep mixed =
                interleavedStep(groups, bytes, ratesOf(25, 2e9), 2); // half the states go in and out
            QCOMPARE(mixed.sent.value, (1 + 6) * parameters);
            QCOMPARE(mixed.fetched.value, (6 + 1) * parameters);
        }
    }

    /// max <= t <= sum, and more groups come closer to the maximum.
    void streamsOverlapGroupByGroup()
    {
        double last = 1e9;
        for (const double group : { 1e10, 1e9, 1e8, 1e7 }) {
            const OffloadedStep step = hostStep({ 1e10, group, true }, {}, ratesOf(10, 2e9));
            const double longest = std::max({ step.cpu.value, step.toHost.value, step.toGpu.value });
            QVERIFY(step.time.value >= longest);
            QVERIFY(step.time.value <= step.cpu.value + step.toHost.value + step.toGpu.value + 1e-12);
            QVERIFY(step.time.value <= last);
            last = step.time.value;
        }
        const OffloadedStep inTurn = hostStep({ 1e10, 1e8, false }, {}, ratesOf(10, 2e9));
        QCOMPARE(inTurn.time.value, inTurn.cpu.value + inTurn.toHost.value + inTurn.toGpu.value);
    }

    void aDelayedStepShowsWhatTheNextIterationDoesNotCover()
    {
        QCOMPARE(delayedStep(Seconds { 3 }, Seconds { 2 }).value, 1.0);
        QCOMPARE(delayedStep(Seconds { 1 }, Seconds { 2 }).value, 0.0);
    }
};

TRAINYARD_APPLESS_TEST(OptimizerStepTest)
#include "tst_optimizer_step.moc"
