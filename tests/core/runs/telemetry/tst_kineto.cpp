// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of PyTorch's profiler, as its releases wrote them.

#include "core/runs/telemetry/kernel_classes.h"
#include "core/runs/telemetry/summarize.h"
#include "tests/support/test_program.h"

#include "tests/core/runs/telemetry/trace_texts.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::testing;

class TestKineto : public QObject {
    Q_OBJECT
private slots:
    void timesAreDigitsNotDoubles()
    {
        // 1712195495502094.548 µs is a Unix time with 19 digits, of which a double keeps a quarter of a microsecond
        const auto recording = readText("a.json",
            trace({ kernel("gemm", "1712195495502094.548", "1.001", "1"), kernel("gemm", "1712195495502096", "2", "2"),
                kernel("gemm", "1.712195495502099001e15", "0.0005", "3") }));
        QVERIFY(recording.has_value());
        const RecordedStream *stream = gpuStream(*recording, 7);
        QVERIFY(stream);
        QCOMPARE(recording->zero, 1712195495000000000);
        QCOMPARE(recording->zero + stream->spans.start[0], 1712195495502094548);
        QCOMPARE(stream->spans.duration[0], 1001);
        QCOMPARE(recording->zero + stream->spans.start[2], 1712195495502099001);
        QCOMPARE(stream->spans.duration[2], 1); // half a nanosecond, rounded
    }

    void theBaseMayStandBeforeOrBehindTheEvents()
    {
        const std::vector<std::string> events { kernel("gemm", "4458677009853.422", "2", "1") };
        const std::string base = "\"baseTimeNanoseconds\": 1711964646000000000";
        const auto before = readText("a.json", trace(events, base + ",\n"));
        const auto behind = readText("a.json", trace(events, {}, ",\n" + base));
        QVERIFY(before && behind);
        QCOMPARE(before->zero, 1711964646000000000);
        QCOMPARE(before->zero + gpuStream(*before, 7)->spans.start[0], 1711964646000000000 + 4458677009853422);
        QCOMPARE(*before, *behind);
        const auto none = readText("a.json", trace(events));
        QCOMPARE(none->zero, 0);
        QCOMPARE(gpuStream(*none, 7)->spans.start[0], 0);
        QVERIFY(
            summarizeRank(*none, none->ranks[0], SummaryRule::Hta).breakdown->kernelTime == 1); // ⌈….422⌉ to ⌊….422⌋
    }

    void mergedRanksAreSummarisedAsAlone()
    {
        const std::vector<std::string> events { kernel("gemm", "4458677009853.422", "2.6", "1"),
            call("4458677009850", "1") };
        std::vector<Recording> parts;
        for (const char *before :
            { "\"baseTimeNanoseconds\": 1711964646000000000,", "", "\"baseTimeNanoseconds\": 1704075408000000000," })
            parts.push_back(*readText("a.json", trace(events, before)));
        const RankSummary alone = summarizeRank(parts[0], parts[0].ranks[0], SummaryRule::Hta);
        QCOMPARE(alone.breakdown->kernelTime, 2.0); // ⌈….422⌉ to ⌊….022⌋
        const Recording merged = mergeRecordings(std::move(parts));
        for (const RankRecording &rank : merged.ranks) {
            QVERIFY(summarizeRank(merged, rank, SummaryRule::Hta).breakdown == alone.breakdown);
            const RecordedSpans &spans = rank.streams[0].spans;
            QCOMPARE(spans.start[0] - spans.launchedAt[0], 3422);
        }
    }

    void theRankIsToldInsideOrByTheName()
    {
        const std::vector<std::string> events { kernel("gemm", "1", "2", "1") };
        const std::string info = R"("distributedInfo": {"backend": "nccl", "rank": 5, "world_size": 8})";
        for (const auto &recording : { readText("worker3.json", trace(events, info + ",")),
                 readText("worker3.json", trace(events, {}, "," + info)) }) {
            QCOMPARE(recording->ranks[0].rank, 5);
            QCOMPARE(recording->ranks[0].worldSize, 8);
        }
        const auto rankOf = [&](const char *file) { return readText(file, trace(events))->ranks[0].rank; };
        QCOMPARE(rankOf("/x/worker3_step_12.1694.pt.trace.json"), 3);
        QCOMPARE(rankOf("/rank7/rank-34.Jul_15.pt.trace.json"), 34);
        QCOMPARE(rankOf("rank12_trace.json"), 12);
        QCOMPARE(rankOf("resnet_r0of8.json"), 0);
        QCOMPARE(rankOf("megatron_kineto_4.json"), -1);
        QCOMPARE(rankOf("car3.json"), -1);
    }

    void aBareArrayIsATraceToo()
    {
        const auto recording =
            readText("a.json", "[" + kernel("gemm", "1", "2", "1") + ",\n" + kernel("gemm", "5", "2", "2"));
        QVERIFY(recording.has_value());
        QVERIFY(recording->sources[0].isTruncated);
        QCOMPARE(recording->spanCount(), std::size_t(2));
    }

    void eventsAreSortedAndThoseThatAreThereTwiceCountOnce()
    {
        const auto recording = readText("a.json",
            trace({ kernel("late", "9", "2", "3"), kernel("short", "1", "2", "1"), kernel("long", "1", "4", "2"),
                kernel("late", "9", "2", "3") }));
        const RecordedSpans &spans = gpuStream(*recording, 7)->spans;
        QCOMPARE(spans.size(), std::size_t(3));
        QCOMPARE(recording->names[spans.name[0]], std::string("long"));
        QCOMPARE(recording->names[spans.name[2]], std::string("late"));
        QCOMPARE(droppedOf(*recording, "twice"), 1);
    }

    void kernelsAreLinkedWithTheCallsThatLaunchedThem()
    {
        const std::vector<std::string> events { kernel("gemm", "20", "2", "17"), call("4", "17"),
            span("python_function", "f", "0", "50"), span("cpu_op", "aten::mm", "3", "8", {}, "1") };
        const auto recording = readText("a.json", trace(events));
        const RecordedSpans &spans = gpuStream(*recording, 7)->spans;
        QCOMPARE(spans.launch[0], 17u);
        QCOMPARE(spans.start[0] - spans.launchedAt[0], 16000);
        QCOMPARE(recording->spanCount(), std::size_t(1));
        QCOMPARE(droppedOf(*recording, "Python"), 1);
        QCOMPARE(droppedOf(*recording, "host"), 2);
        SourceOptions all;
        all.keepsHostSpans = all.keepsPythonFunctions = true;
        QCOMPARE(readText("a.json", trace(events), all)->spanCount(), std::size_t(4));
    }

    void copiesSynchronisationAndAnnotationsHaveTheirOwnWork()
    {
        const auto recording = readText("a.json",
            trace({ span("gpu_memcpy", "Memcpy HtoD", "1", "2",
                        R"("device": 0, "stream": 7, "correlation": 1, "bytes": 8)"),
                span("cuda_sync", "Context Sync", "2", "2", R"("stream": -1, "correlation": 2)"),
                span("user_annotation", "ProfilerStep#12", "0", "50", {}, "1"),
                span("gpu_user_annotation", "ProfilerStep#12", "1", "40") }));
        QCOMPARE(gpuStream(*recording, 7)->spans.work[0], RecordedWork::Copy);
        QCOMPARE(gpuStream(*recording, -1)->spans.work[0], RecordedWork::Wait);
        QCOMPARE(recording->ranks[0].steps.size(), std::size_t(1));
        QCOMPARE(recording->ranks[0].steps[0].number, 12);
        QCOMPARE(recording->ranks[0].steps[0].end, 50000);
        QCOMPARE(summarizeRank(*recording, recording->ranks[0], SummaryRule::Hta).breakdown->kernelTime, 2.0);
    }

    /// PyTorch 1.8 and 1.9 wrote their steps among the operators.
    void olderTracesHaveTheirStepsAmongTheOperators()
    {
        const auto recording = readText("a.json",
            trace({ span("Operator", "ProfilerStep#3", "0", "50", {}, "1"),
                span("Operator", "aten::mm", "1", "4", {}, "1") }));
        QCOMPARE(recording->ranks[0].steps.size(), std::size_t(1));
        QCOMPARE(recording->ranks[0].steps[0].number, 3);
    }

    /// Of torch_npu: a list, times in quotes, no categories; the hardware's tasks tell their type.
    void ascendsTracesAreRead()
    {
        const auto task = [](const char *name, const char *start, const char *duration, int stream, const char *type) {
            return ", {'ph': 'X', 'name': '" + std::string(name) + "', 'pid': 4, 'tid': 2, 'ts': '" + start
                + "', 'dur': '" + duration + "', 'args': {'Task Type': '" + type
                + "', 'Stream Id': " + std::to_string(stream) + "}}";
        };
        std::string text =
            "[{'ph': 'M', 'name': 'process_name', 'pid': 4, 'args': {'name': 'Ascend Hardware'}}, {'ph': 'X', "
            "'name': 'ProfilerStep#2', 'pid': 1, 'tid': 1, 'ts': '1700000000000000.000', 'dur': '100.5'}"
            + task("MatMulV2", "1700000000000010.250", "40.5", 2, "AI_CORE")
            + task("hcom_allReduce__1", "1700000000000020.000", "20", 3, "COMMUNICATION")
            + task("Notify_Wait", "1700000000000045.000", "5", 3, "NOTIFY_WAIT") + "]";
        std::ranges::replace(text, '\'', '"');
        const auto recording = readText("trace_view.json", text);
        QCOMPARE(recording->ranks.size(), std::size_t(1));
        QCOMPARE(recording->ranks[0].steps.at(0).number, 2);
        const RecordedStream *cores = gpuStream(*recording, 2), *exchange = gpuStream(*recording, 3);
        QVERIFY(cores && exchange);
        QVERIFY(cores->spans.work[0] == RecordedWork::Compute && cores->spans.duration[0] == 40500);
        QVERIFY(
            exchange->spans.work[0] == RecordedWork::Communication && exchange->spans.work[1] == RecordedWork::Wait);
        QCOMPARE(exchange->spans.start[0] - cores->spans.start[0], std::int64_t(9750));
    }

    /// With some devices hidden the trace lists one, and its spans count all.
    void aDeviceThatIsNotListedIsOneOfThoseThatAre()
    {
        const std::string events = R"([{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 2, "tid": 0, "ts": 100,
            "dur": 40, "args": {"device": 2, "stream": 0}}])";
        const auto named = [&](const std::string &devices) {
            const std::string text =
                "{\"schemaVersion\": 1, \"deviceProperties\": " + devices + ", \"traceEvents\": " + events + "}";
            return readText("a.json", text)->ranks[0].gpu;
        };
        const std::string one = named(R"([{"id": 0, "name": "AMD Instinct MI300X"}])"),
                          unlike = named(R"([{"id": 0, "name": "A"}, {"id": 1, "name": "B"}])");
        QCOMPARE(one, std::string("AMD Instinct MI300X"));
        QCOMPARE(unlike, std::string());
    }

    void theArgumentsOfNcclTellGroupAndBytes()
    {
        const std::string group = R"("Process Group Name": "3", "Process Group Description": "mesh_tp", )";
        const auto recording = readText("a.json",
            trace(
                { kernel("ncclDevKernel_AllGather_RING_LL(x)", "5", "2", "1",
                      R"("Collective name": "_allgather_base", "In msg nelems": 10, "Out msg nelems": 80, "Group size": 8, "dtype": "BFloat16", "Seq": 41, )"
                          + group + R"("Process Group Ranks": "[0, 1, 2, 3]")"),
                    kernel("ncclDevKernel_Generic(x)", "9", "2", "2",
                        R"("Collective name": "allreduce", "In msg nelems": 10, "dtype": "Float", "Group size": 40, )"
                            + group + R"("Process Group Ranks": "[0, 1, ..., 29, ...]")") },
                R"("distributedInfo": {"rank": 0, "pg_config": [{"pg_name": "3", "pg_desc": "x", "ranks": "[4, 5]"}, {"pg_name": "9", "ranks": [1, 2]}]},)"));
        const auto &collectives = recording->ranks[0].collectives;
        QCOMPARE(collectives.size(), std::size_t(2));
        QCOMPARE(recording->names[collectives[0].operation], std::string("all_gather"));
        QCOMPARE(collectives[0].bytes, 160.0);
        QCOMPARE(collectives[0].sequence, 41);
        QVERIFY((recording->groups[collectives[0].group].ranks == std::vector { 0, 1, 2, 3 }));
        QCOMPARE(collectives[1].bytes, 40.0);
        QVERIFY((recording->groups[collectives[1].group].ranks == std::vector { 4, 5 })); // cut: of pg_config
        QCOMPARE(recording->groups.back().name, std::string("9"));
    }

    /// A few bytes tell a million ranks: all groups together take what the file's size allows, and the rest is counted.
    void groupsThatClaimMoreRanksThanTheFileIsLongAreCounted()
    {
        std::vector<std::string> events;
        constexpr int kGroups = 1500, kRanks = 1 << 17;
        for (int i = 0; i < kGroups; ++i)
            events.push_back(
                kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", std::to_string(10 * i), "5", std::to_string(i + 1),
                    R"("Collective name": "allreduce", "In msg nelems": 10, "dtype": "Float", "Process Group Name": "g)"
                        + std::to_string(i) + R"(", "Process Group Ranks": "[0, 1, ...]", "Group size": )"
                        + std::to_string(kRanks) + R"(, "Global rank start": 0, "Global rank stride": 1)"));
        const std::string text = trace(events);
        const auto recording = readText("a.json", text);
        QVERIFY(recording);
        QCOMPARE(recording->groups.size(), std::size_t(kGroups));
        std::size_t ranks = 0;
        std::int64_t without = 0;
        for (const CommunicatorGroup &group : recording->groups) {
            ranks += group.ranks.size();
            without += group.ranks.empty() ? 1 : 0;
        }
        QVERIFY(ranks >= std::size_t(kRanks)); // the first fit
        QVERIFY(ranks <= (std::size_t(1) << 18) + text.size());
        const auto &dropped = recording->sources.front().dropped;
        const auto told = std::ranges::find_if(
            dropped, [](const Dropped &one) { return one.reason.find("lists of ranks") != std::string::npos; });
        QVERIFY(told != dropped.end());
        QCOMPARE(told->count, without);
    }

    void olderTracesTellBytesByTheOperatorAroundTheLaunch()
    {
        const auto recording = readText("a.json",
            trace({ span("cpu_op", "c10d::allreduce_", "1", "20",
                        R"("Input Dims": [[[4, 2048, 4096]], [], []], "Input type": ["TensorList", "", ""])", "1"),
                span("cpu_op", "record_param_comms", "2", "9", R"("Input Dims": [[[1, 2]], []])", "1"), call("4", "17"),
                kernel("ncclKernel_AllReduce_RING_LL_Sum_half(x)", "30", "2", "17"),
                span("cpu_op", "c10d::_reduce_scatter_base_", "40", "20",
                    R"("Input Dims": [[16], [128], []], "Input type": ["float", "c10::BFloat16", ""])", "1"),
                call("44", "18"), kernel("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)", "70", "2", "18") }));
        const auto &collectives = recording->ranks[0].collectives;
        QCOMPARE(collectives.size(), std::size_t(2));
        QCOMPARE(collectives[0].bytes, 67108864.0);
        QCOMPARE(collectives[1].bytes, 256.0);
        QCOMPARE(recording->names[collectives[1].operation], std::string("reduce_scatter"));
    }

    void whatCommunicatesIsATableThatAUserMayAddTo()
    {
        const KernelClasses &builtin = builtinKernelClasses();
        for (const char *name : { "ncclDevKernel_AllReduce", "void dpsk::ep::internode::dispatch<1>(int)",
                 "ncclSymkDevKernel", "rcclGeneric", "hcclAllReduce", "void deep_ep::intranode::combine<2>" })
            QCOMPARE(builtin.workOf(name), RecordedWork::Communication);
        QCOMPARE(builtin.workOf("sm90_xmma_gemm"), RecordedWork::Compute);
        const KernelClasses own({ { "my_ring*", RecordedWork::Communication }, { "nccl*Test", RecordedWork::Other } });
        QCOMPARE(own.workOf("my_ring_kernel"), RecordedWork::Communication);
        QCOMPARE(own.workOf("ncclBigTest"), RecordedWork::Other);
        SourceOptions options;
        options.kernels = &own;
        const auto recording = readText("a.json", trace({ kernel("my_ring_2", "1", "2", "1") }), options);
        QCOMPARE(recording->ranks[0].collectives.size(), std::size_t(1));
    }

    void namesOfKernelsTellOperationAndType()
    {
        const NcclKernelName newer = readNcclKernelName("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)");
        QCOMPARE(newer.operation, std::string("all_reduce"));
        QCOMPARE(newer.elementBytes, 2.0);
        const NcclKernelName older = readNcclKernelName("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)");
        QCOMPARE(older.operation, std::string("send_recv"));
        QCOMPARE(older.elementBytes, 1.0);
        QCOMPARE(readNcclKernelName("ncclDevKernel_Generic(x)").operation, std::string());
        QCOMPARE(readNcclKernelName("void dpsk::ep::internode::dispatch<9>(int)").operation, std::string("dispatch"));
    }

    void operatorsThatNameAStreamCountAsHtaCountsThem()
    {
        const auto recording = readText("a.json",
            trace({ kernel("gemm", "10", "5", "1"), span("cpu_op", "triton_poi_0", "0", "4", R"("stream": 7)", "1") }));
        QCOMPARE(summarizeRank(*recording, recording->ranks[0], SummaryRule::Hta).breakdown->kernelTime, 15.0);
    }

    void namesWithQuotesAndControlCharactersAreReadAsTheyWereMeant()
    {
        const std::string bad =
            "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a \"quoted\" name\n\x01\", \"pid\": 0, "
            "\"tid\": 7, \"ts\": 3, \"dur\": 1, \"args\": {\"stream\": 7, \"x\": NaN, \"y\": -Infinity}}";
        const auto recording =
            readText("a.json", trace({ kernel("gemm", "1", "2", "1"), bad, kernel("after", "9", "2", "3") }));
        QCOMPARE(recording->spanCount(), std::size_t(3));
        QVERIFY(!recording->sources[0].isTruncated);
        QCOMPARE(recording->sources[0].notes.size(), std::size_t(3)); // no rank, no base, one mended
        const RecordedSpans &spans = gpuStream(*recording, 7)->spans;
        QCOMPARE(recording->names[spans.name[1]], std::string("a \"quoted\" name\n\x01"));
    }

    void whatNobodyCanReadIsLeftOutAlone()
    {
        const auto recording = readText("a.json",
            trace({ kernel("gemm", "1", "2", "1"), "{\"ph\": \"X\", \"cat\": [\"kernel\", \"ts\": }, 5}}",
                kernel("gemm", "9", "2", "3"), kernel("gemm", "x", "2", "3"), kernel("gemm", "5", "-2", "3") }));
        QCOMPARE(recording->spanCount(), std::size_t(2));
        QCOMPARE(droppedOf(*recording, "no JSON"), 1);
        QCOMPARE(droppedOf(*recording, "duration"), 2);
        QVERIFY(!recording->sources[0].isTruncated);
    }

    void bytesThatAreNoUtf8AreReplaced()
    {
        const auto recording = readText("a.json",
            trace({ kernel("a\xff"
                           "b\\u00e9\\ud83d\\ude00",
                "1", "2", "1") }));
        QCOMPARE(recording->names[gpuStream(*recording, 7)->spans.name[0]],
            std::string("a\xef\xbf\xbd"
                        "b\xc3\xa9\xf0\x9f\x98\x80"));
    }

    void eventsLongerThanAWindowAreRead()
    {
        const std::string huge(3 << 20, 'x');
        const auto recording = readText("a.json",
            trace({ kernel("gemm", "1", "2", "1", "\"x\": \"" + huge + "\""), kernel("gemm", "9", "2", "2") }));
        QCOMPARE(recording->spanCount(), std::size_t(2));
    }

    void aStopIsHeard()
    {
        std::stop_source stop;
        stop.request_stop();
        SourceOptions options;
        options.stop = stop.get_token();
        const auto recording = readText("a.json", trace({ kernel("gemm", "1", "2", "1") }), options);
        QVERIFY(!recording && recording.error().code == ErrorCode::Cancelled);
    }
};

TRAINYARD_GUILESS_TEST(TestKineto)
#include "tst_kineto.moc"
