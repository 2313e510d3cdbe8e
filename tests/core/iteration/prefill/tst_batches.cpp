// SPDX-License-Identifier: GPL-3.0-or-later
// Prompts at once, and the GPUs that decode.
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/prefill/batches.h"
#include "core/iteration/prefill/decode_pool.h"
#include "core/iteration/prefill/served_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace trainyard;

class TestBatches : public QObject {
    Q_OBJECT

private slots:
    void aBatchIsPlacedWhenFullOrWhenItsFirstHasWaited()
    {
        const std::vector<PrefillRequest> requests { { 0, 8 }, { 1, 8 }, { 2, 9 }, { 3, 8 }, { 50, 8 }, { 95, 8 } };
        const PromptBatches made = batchesOf(requests, { 0, 0, 1, 0, 0, 0 }, 3, 10, 100);
        QCOMPARE(made.batches.size(), std::size_t(4));
        const auto is = [&](std::size_t i, Nanoseconds arrival, Nanoseconds waited, std::uint32_t count) {
            const PromptBatch &batch = made.batches[i];
            return batch.arrival == arrival && batch.waited == waited && batch.count == count;
        };
        QVERIFY(is(0, 3, 3, 3)); // full
        QVERIFY(is(1, 12, 10, 1)); // another size, alone
        QVERIFY(is(2, 60, 10, 1));
        QVERIFY(is(3, 99, 4, 1)); // with the end of the iteration
    }

    void everyPromptIsInOneBatchOfItsSize()
    {
        std::mt19937 random(4);
        for (int trial = 0; trial < 100; ++trial) {
            const int most = 1 + int(random() % 6);
            const auto wait = Nanoseconds(random() % 30);
            std::vector<PrefillRequest> requests;
            std::vector<int> sizes;
            for (Nanoseconds t = 0; t < 500; t += Nanoseconds(random() % 20))
                requests.push_back({ t, 8 }), sizes.push_back(int(random() % 3));
            const PromptBatches made = batchesOf(requests, sizes, most, wait, 500);
            std::vector<int> seen(requests.size(), 0);
            Nanoseconds last = 0;
            for (const PromptBatch &batch : made.batches) {
                QVERIFY(batch.arrival >= last && batch.arrival < 500);
                last = batch.arrival;
                QVERIFY(batch.count >= 1 && int(batch.count) <= most && batch.waited <= wait);
                QCOMPARE(batch.arrival - batch.waited, requests[made.prompts[batch.first]].arrival);
                for (std::uint32_t i = batch.first; i < batch.first + batch.count; ++i) {
                    ++seen[made.prompts[i]];
                    QCOMPARE(sizes[made.prompts[i]], batch.size);
                    QVERIFY(requests[made.prompts[i]].arrival <= batch.arrival);
                }
            }
            QVERIFY(std::ranges::all_of(seen, [](int times) { return times == 1; }));
        }
    }

    /// Attention stays with each prompt and products have the rows of all: n at once have the FLOPs of n, and take no
    /// longer than one after the other but for tiles that are not full; short ones much less.
    void severalAtOnceUseAGpuBetter()
    {
        const GpuSpec &gpu = *builtinCatalogue().gpu("h100-sxm-80gb");
        const ModelSpec &model = *builtinCatalogue().model("llama-3-8b");
        for (const double tokens : { 64.0, 1024.0, 8192.0 }) {
            const double alone = prefillTime(gpu, model, tokens).value;
            for (const int prompts : { 2, 4, 8, 16 }) {
                const double each = prefillTime(gpu, model, tokens, prompts).value / prompts;
                QVERIFY2(each <= alone * 1.1, qPrintable(QString::number(each / alone)));
                const double rate = prefillRate(gpu, model, tokens * prompts).value;
                QVERIFY(std::abs(each * rate / prefillFlops(model, tokens).value - 1) < 1e-9);
            }
        }
        QVERIFY(prefillTime(gpu, model, 64, 8).value < 4 * prefillTime(gpu, model, 64).value);
        const Link link = fabricLink(gbitsPerSecond(1), builtinNetwork());
        const SliceTime one = sliceTime(gpu, model, 4, 512, link, link);
        const SliceTime four = sliceTime(gpu, model, 4, 512, link, link, 4);
        QVERIFY(std::abs(double(four.kvMove) / (4 * double(one.kvMove)) - 1) < 0.01); // bytes, beside starts
    }

    /// Llama 3 8B on GPUs of 80 GB: (80 e9 - 2 N) / KV requests on each; a step reads all of it.
    void theRoomOfADecodePoolIsItsMemory()
    {
        const GpuSpec &gpu = *builtinCatalogue().gpu("h100-sxm-80gb");
        const ModelSpec &model = *builtinCatalogue().model("llama-3-8b");
        const double weights = servedWeights(model).value, kv = 131'072.0 * (1000 + 200);
        const DecodeCapacity pool = decodeCapacity(gpu, 3, { { &model, 1000 } }, 200);
        const double each = std::floor((double(gpu.memoryBytes) - weights) / kv);
        QCOMPARE(pool.gpusOfReplica, 1);
        QCOMPARE(pool.requests, 3 * std::int64_t(each));
        const double step = (weights + each * kv) / (gpu.memoryGBps * 1e9);
        QVERIFY(std::abs(double(pool.step) - step * 1e9) <= 1);
        QCOMPARE(pool.stay, 200 * pool.step);
        QCOMPARE(decodeCapacity(gpu, 6, { { &model, 1000 } }, 200).requests, 2 * pool.requests);
        QVERIFY(decodeCapacity(gpu, 3, { { &model, 1000 } }, 2000).requests < pool.requests);
        QVERIFY(decodeCapacity(gpu, 3, { { &model, 1000 }, { &model, 10 } }, 200).requests < pool.requests);
        const ModelSpec &large = *builtinCatalogue().model("llama-3.1-405b"); // 812 GB
        QCOMPARE(decodeCapacity(gpu, 3, { { &large, 1000 } }, 200).requests, 0);
        QVERIFY(decodeCapacity(gpu, 11, { { &large, 1000 } }, 200).requests > 0);
    }

    /// At no time more than there is room for, and none turned away who would have found some.
    void aDecodePoolHoldsWhatItHasRoomFor()
    {
        std::mt19937 random(6);
        int full = 0;
        for (int trial = 0; trial < 200; ++trial) {
            const int rooms = 1 + int(random() % 5);
            const auto stay = Nanoseconds(1 + random() % 40);
            DecodeRoom room(rooms, stay);
            std::vector<int> taken(1000, 0);
            for (Nanoseconds now = 0; now < 900; now += Nanoseconds(random() % 8)) {
                const Nanoseconds start = now + Nanoseconds(random() % 30);
                const int count = 1 + int(random() % 2);
                const auto begin = taken.begin() + start;
                const bool fits = std::all_of(begin, begin + stay, [&](int t) { return t + count <= rooms; });
                QCOMPARE(room.hasRoom(start, count), fits);
                full += !fits;
                if (!fits)
                    continue;
                room.take(start, count, now);
                std::for_each(begin, begin + stay, [&](int &t) { t += count; });
            }
        }
        QVERIFY(full > 200);
    }
};

TRAINYARD_APPLESS_TEST(TestBatches)
#include "tst_batches.moc"
